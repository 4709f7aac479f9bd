"""`evalsite backup FILE`: database, uploads and key in one file."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from desk.backups.installation import save_backup
from evalsite.lib.errors import DomainError


class Command(BaseCommand):
    """Safe while the site runs."""

    help = "Write database, uploads and key into one file, also while the site runs.."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare where to write."""
        parser.add_argument("file", type=Path, help="a new file (.zip), or a folder: the file is named by the time")

    def handle(self, *args: Any, **options: Any) -> None:
        """Write the backup, and say what it holds."""
        try:
            saved = save_backup(options["file"], timezone.now())
        except DomainError as error:
            raise CommandError(error.message) from None
        self.stdout.write(f"{saved.path}: {saved.n_files} files, {saved.n_bytes / 2**20:.1f} MB")
        for note in saved.notes:
            self.stderr.write(note)
