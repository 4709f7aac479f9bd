"""`manage.py demo`: example campaigns, an account that may see them, and a server to see them on."""

import os
import secrets
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.urls import reverse

from analysis.web.examples import EXAMPLES, load_examples
from evalsite.accounts.models import User
from evalsite.lib.errors import DomainError
from evalsite.serving import become, refuse_taken, server_command

EMAIL = "demo@evalsite.example"
THIS_MACHINE = ("localhost", "127.0.0.1", "[::1]")


class Command(BaseCommand):
    """Safe to run again: what is there already is kept."""

    help = "Load the examples and serve them on this machine, web and worker in one process."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare what to load and where to serve it."""
        parser.add_argument("--host", default="127.0.0.1", help="address to listen on")
        parser.add_argument("--port", type=int, default=8000, help="port to listen on")
        parser.add_argument(
            "--only",
            nargs="+",
            default=[],
            choices=sorted(example.protocol for example in EXAMPLES),
            metavar="PROTOCOL",
            help="load only the examples of these protocols: %(choices)s",
        )
        parser.add_argument("--no-serve", action="store_true", help="load the examples, print and end")

    def handle(self, *args: Any, **options: Any) -> None:
        """Migrate, load, print address and sign-in, become the server."""
        host, port = options["host"], options["port"]
        if not options["no_serve"]:
            refuse_taken(host, port)
        call_command("migrate", verbosity=0)
        call_command("collectstatic", interactive=False, verbosity=0)
        password = secrets.token_urlsafe(9)
        try:
            load_examples(_account(password), self._log, options["only"])
        except DomainError as error:
            raise CommandError(str(error)) from None
        self.stdout.write(
            f"\n  evalsite   http://{host}:{port}{reverse('campaigns:list')}\n  sign in    {EMAIL}\n  password   "
            f"{password}   (new at each start)\n\n"
        )
        self.stdout.flush()
        if not options["no_serve"]:
            # Chatbots of the user's own mostly run on this machine; what is set already stays.
            if not os.environ.get("CHATBOT_HOSTS"):
                os.environ["CHATBOT_HOSTS"] = ",".join([*settings.CHATBOT_HOSTS, *THIS_MACHINE])
            become(server_command(host, port, is_quiet=True))

    def _log(self, what: str) -> None:
        self.stderr.write(f"  {what} …")
        self.stderr.flush()


def _account(password: str) -> User:
    """Return the demo's account, an administrator's, with a new password."""
    user, _ = User.objects.get_or_create(email=EMAIL, defaults={"name": "Demo"})
    user.is_active = user.is_staff = user.is_superuser = True
    user.set_password(password)
    user.save(update_fields=["is_active", "is_staff", "is_superuser", "password"])
    return user
