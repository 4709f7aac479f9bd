"""`manage.py models`: the folders of neural models, what each can be used for, and what is wrong with one."""

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from analysis.metrics.folders import list_folders, missing_libraries, what_is_missing
from analysis.metrics.models import load_model
from evalsite.lib.errors import DomainError
from evalsite.lib.words import counted


class Command(BaseCommand):
    """A line for each folder: how long a text its model reads, and what the model returns."""

    help = "List the model folders of EVALSITE_MODELS and load each: say what is missing or cannot be used."
    requires_system_checks = []
    requires_migrations_checks = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare what the command takes."""
        parser.add_argument("names", nargs="*", metavar="NAME", help="folders to load (all)")

    def handle(self, *args: Any, **options: Any) -> None:
        """Load the models and print what they are; exit 1 if anything is missing or cannot be used."""
        wanted = options["names"] or [folder.name for folder in list_folders()]
        if missing := missing_libraries() or ("" if wanted else what_is_missing()):
            raise CommandError(f"{missing} EVALSITE_MODELS is {settings.EVALSITE_MODELS}.")
        wrong = []
        for name in wanted:
            try:
                model = load_model(name)
            except DomainError as error:
                wrong.append(str(error))
                continue
            self.stdout.write(f"{name}: reads {counted(model.longest, 'token')}, returns {', '.join(model.outputs)}")
        if wrong:
            raise CommandError("\n".join(wrong))
