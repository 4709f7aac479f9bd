"""`manage.py demo`: example campaigns, an account that may see them, and a server to see them on."""

import os
import secrets
import socket
import sys
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.urls import reverse

from analysis.examples import load_examples
from evalsite.accounts.models import User
from evalsite.lib.errors import DomainError

EMAIL = "demo@evalsite.example"
THIS_MACHINE = ("localhost", "127.0.0.1", "[::1]")


class Command(BaseCommand):
    """Safe to run again: what is there already is kept."""

    help = "Load the examples and serve them on this machine, web and worker in one process."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare where to serve."""
        parser.add_argument("--host", default="127.0.0.1", help="address to listen on")
        parser.add_argument("--port", type=int, default=8000, help="port to listen on")
        parser.add_argument("--no-serve", action="store_true", help="load the examples, print and end")

    def handle(self, *args: Any, **options: Any) -> None:
        """Migrate, load, print address and sign-in, become the server."""
        host, port = options["host"], options["port"]
        if not options["no_serve"]:
            _refuse_taken(host, port)
        call_command("migrate", verbosity=0)
        call_command("collectstatic", interactive=False, verbosity=0)
        password = secrets.token_urlsafe(9)
        try:
            load_examples(_account(password), self._log)
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
            command = server_command(host, port)
            os.execv(command[0], command)

    def _log(self, what: str) -> None:
        self.stderr.write(f"  {what} …")
        self.stderr.flush()


def server_command(host: str, port: int) -> list[str]:
    """Return the command that serves the site as an installation does, without a line for each request."""
    serve = ["gunicorn", "--config", "python:evalsite.gunicorn_conf", "--bind", f"{host}:{port}"]
    return [sys.executable, "-m", *serve, "--log-level", "warning", "--access-logfile", os.devnull]


def _refuse_taken(host: str, port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise CommandError(
                f"Cannot listen on {host}:{port}: {error.strerror}. Choose another port: make demo PORT={port + 1}"
            ) from None


def _account(password: str) -> User:
    """Return the demo's account, an administrator's, with a new password."""
    user, _ = User.objects.get_or_create(email=EMAIL, defaults={"name": "Demo"})
    user.is_active = user.is_staff = user.is_superuser = True
    user.set_password(password)
    user.save(update_fields=["is_active", "is_staff", "is_superuser", "password"])
    return user
