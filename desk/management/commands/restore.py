"""`evalsite restore FILE`: what a backup holds, put back."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from desk.backups.installation import restore_backup
from evalsite.lib.errors import DomainError


class Command(BaseCommand):
    """For an installation that does not run."""

    help = "Put back what a backup holds, brought to this version. The site must not run."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare what to read, and whether what is there may go."""
        parser.add_argument("file", type=Path, help="a file that `evalsite backup` wrote")
        parser.add_argument(
            "--force", action="store_true", help="replace what is here, after a backup of it into the data folder"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Restore, and say what is to be done now."""
        try:
            done = restore_backup(options["file"], timezone.now(), replace=options["force"])
        except DomainError as error:
            raise CommandError(error.message) from None
        origin = done.origin
        self.stdout.write(f"Restored {done.n_files} files of {origin.made_at} (evalsite {origin.evalsite}).")
        if done.replaced:
            self.stdout.write(f"What was here before is in {done.replaced}.")
        for note in done.notes:
            self.stderr.write(note)
