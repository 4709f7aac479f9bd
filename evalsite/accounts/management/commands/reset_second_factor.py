"""`evalsite reset_second_factor EMAIL`: somebody who has lost phone and recovery codes signs in by password alone."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from evalsite.accounts.models import User
from evalsite.accounts.second_factors import reset


class Command(BaseCommand):
    """Take a second factor away."""

    help = "Take a user's second factor away. Make sure first that it is they who ask."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare what the command takes."""
        parser.add_argument("email", help="of the user")

    def handle(self, *args: Any, **options: Any) -> None:
        """Take it away."""
        try:
            user = User.objects.get_by_natural_key(options["email"])
        except User.DoesNotExist:
            raise CommandError(f"There is no user with the address {options['email']}.") from None
        if not reset(user=user):
            raise CommandError(f"{user.email} has no second factor.")
        self.stdout.write(f"{user.email} signs in by password alone now, and can set up another second factor.")
