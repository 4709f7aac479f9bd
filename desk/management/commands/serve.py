"""`evalsite serve`: the site as an installation serves it, ready to answer."""

from argparse import ArgumentParser
from ipaddress import ip_address
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand

from evalsite.serving import NEEDS_PROXY, become, refuse_taken, server_command


class Command(BaseCommand):
    """Prepare the database and the static files, then become the web server."""

    help = "Prepare the database and serve the site; without Redis, jobs run in the same process."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare where to serve."""
        parser.add_argument(
            "--host", default="127.0.0.1", help="address to listen on; 0.0.0.0: every one (%(default)s)"
        )
        parser.add_argument("--port", type=int, default=8000, help="port to listen on (%(default)s)")
        parser.add_argument(
            "--no-migrate", action="store_true", help="leave the database and the static files as they are"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Migrate, collect static files, say what the server needs, become it."""
        host, port = options["host"], options["port"]
        refuse_taken(host, port)
        if not options["no_migrate"]:
            call_command("migrate", verbosity=0, interactive=False)
            call_command("collectstatic", interactive=False, verbosity=0)
        self.stderr.write(f"Data are in {settings.DATA_DIR}.")
        if not (settings.BEHIND_PROXY or _is_loopback(host)):
            self.stderr.write(self.style.WARNING(NEEDS_PROXY))
        become(server_command(host, port))


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
