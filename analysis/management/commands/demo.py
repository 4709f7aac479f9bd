"""`manage.py demo`: example ratings, an account that may see them, and a server to see them on."""

import os
import secrets
import socket
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings as django_settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.urls import reverse

from analysis.models import AnalysisRun
from analysis.services.ratings_files import upload_ratings
from analysis.services.runs import start_run
from analysis.settings import from_protocol
from evalsite.accounts.models import User
from evalsite.jobs.running import run_job

EMAIL = "demo@evalsite.example"
TITLE = "Example: a simulated crowd"
RATINGS = Path(django_settings.BASE_DIR) / "examples" / "ratings.csv"


class Command(BaseCommand):
    """Safe to run again: what is there already is kept."""

    help = "Load the example and serve it on this machine, web and worker in one process."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare where to serve."""
        parser.add_argument("--host", default="127.0.0.1", help="address to listen on")
        parser.add_argument("--port", type=int, default=8000, help="port to listen on")
        parser.add_argument("--no-serve", action="store_true", help="load the example, print and end")

    def handle(self, *args: Any, **options: Any) -> None:
        """Migrate, load, print address and sign-in, become the server."""
        host, port = options["host"], options["port"]
        if not options["no_serve"]:
            _refuse_taken(host, port)
        call_command("migrate", verbosity=0)
        call_command("collectstatic", interactive=False, verbosity=0)
        password = secrets.token_urlsafe(9)
        run = load_example(password)
        self.stdout.write(
            f"\n  evalsite   http://{host}:{port}{reverse('analysis:run', args=[run.pk])}\n"
            f"  sign in    {EMAIL}\n"
            f"  password   {password}   (new at each start)\n\n"
        )
        self.stdout.flush()
        if not options["no_serve"]:
            serve = [
                "gunicorn",
                "evalsite.wsgi",
                "--bind",
                f"{host}:{port}",
                "--threads",
                "8",
                "--log-level",
                "warning",
            ]
            os.execv(sys.executable, [sys.executable, "-m", *serve])


def _refuse_taken(host: str, port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise CommandError(
                f"Cannot listen on {host}:{port}: {error.strerror}. Choose another port: make demo PORT={port + 1}"
            ) from None


def load_example(password: str) -> AnalysisRun:
    """Return the analysis of the example ratings, made if it is not there yet; set the demo account's password."""
    user, _ = User.objects.get_or_create(email=EMAIL, defaults={"name": "Demo"})
    user.set_password(password)
    user.save(update_fields=["password"])
    run = AnalysisRun.objects.filter(ratings_file__owner=user, ratings_file__title=TITLE, report__isnull=False).first()
    if run is None:
        upload = SimpleUploadedFile(RATINGS.name, RATINGS.read_bytes())
        file = upload_ratings(owner=user, upload=upload, title=TITLE)
        run = start_run(ratings_file=file, user=user, settings=from_protocol("mrc-adequacy"))
        assert run.job is not None
        run_job(run.job.pk)
        run.refresh_from_db()
    return run
