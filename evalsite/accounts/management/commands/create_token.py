"""`manage.py create_token EMAIL NAME`: an API token for a user."""

from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from evalsite.accounts.models import Scope, User
from evalsite.accounts.tokens import create_token
from evalsite.lib.arguments import whole
from evalsite.lib.errors import DomainError


class Command(BaseCommand):
    """The token alone on standard output, so that a script can keep it."""

    help = "Create an API token for a user, and print it. It cannot be shown again."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare what the command takes."""
        parser.add_argument("email", help="of the user who the token is for")
        parser.add_argument("name", help="what it is for; unique among the user's tokens")
        parser.add_argument(
            "--scope", action="append", choices=Scope.values, metavar="SCOPE", dest="scopes",
            help=f"what it may do, any of {', '.join(Scope.values)}; may be given several times (read)",
        )  # fmt: skip
        parser.add_argument("--days", type=whole(1), metavar="N", help="how long it is valid; without, until revoked")

    def handle(self, *args: Any, **options: Any) -> None:
        """Make and print it."""
        now, days = timezone.now(), options["days"]
        try:
            user = User.objects.get_by_natural_key(options["email"])
            _, text = create_token(
                user=user,
                name=options["name"],
                scopes=options["scopes"] or [Scope.READ],
                now=now,
                expires_at=now + timedelta(days=days) if days else None,
            )
        except User.DoesNotExist:
            raise CommandError(f"There is no user with the address {options['email']}.") from None
        except (DomainError, OverflowError) as error:
            raise CommandError(str(error)) from None
        self.stdout.write(text)
