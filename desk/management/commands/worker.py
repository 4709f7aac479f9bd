"""`evalsite worker`: jobs and periodic tasks in a process of their own."""

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import connections


class Command(BaseCommand):
    """Celery's worker, with the scheduler of the periodic tasks unless another process is that."""

    help = "Run jobs and periodic tasks in a process of its own; it needs REDIS_URL."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare how many jobs run at once."""
        parser.add_argument("--concurrency", type=int, default=2, help="jobs at once (%(default)s)")
        parser.add_argument("--no-scheduler", action="store_true", help="leave periodic tasks to another process")

    def handle(self, *args: Any, **options: Any) -> None:
        """Become the worker, until it is stopped."""
        if not settings.REDIS_URL:
            text = "Without REDIS_URL jobs run in the web process (evalsite serve), and there is nothing to do here."
            raise CommandError(f"{text} Set REDIS_URL for both to run them in a worker.")
        from evalsite.celery import app  # large

        connections.close_all()
        scheduler = [] if options["no_scheduler"] else ["--beat"]
        app.worker_main(["worker", "--loglevel", "INFO", "--concurrency", str(options["concurrency"]), *scheduler])
