"""`manage.py metrics HUMAN METRICS`: how far metrics judge systems and segments as people do."""

from argparse import ArgumentParser
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from analysis.data.describing import Reading
from analysis.management.ratings_command import add_choices, choices_of, problems_of
from analysis.metrics.comparison import SEED
from analysis.results.exports import dump_json
from evalsite.lib.arguments import whole
from evalsite.lib.errors import DomainError
from evalsite.library.measures import BadFilesError, compare_files
from evalsite.library.sources import as_file


class Command(BaseCommand):
    """Correlations, accuracies and Williams' tests on standard output, what was left out on standard error."""

    help = "Compare metrics with human scores (CSV, TSV, JSON, Excel, Parquet), one row a segment."
    requires_system_checks = []
    requires_migrations_checks = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare what the command takes."""
        parser.add_argument("human", type=Path, help="what people say: whatever evalsite analyse reads, or segments")
        parser.add_argument(
            "metrics",
            type=Path,
            help="scores of metrics: metric, system, source, score; or a folder of .seg.score files",
        )
        add_choices(parser)
        parser.add_argument("--seed", type=whole(0), default=SEED, metavar="N", help=f"of the permutations ({SEED})")
        parser.add_argument("--format", choices=["text", "json"], default="text")

    def handle(self, *args: Any, **options: Any) -> None:
        """Compare and print; exit 1 with what is wrong with either file."""
        choices = choices_of(options | {"pool": True}, self._tell)
        try:
            with TemporaryDirectory(prefix="scores-") as folder:
                human, scores = (as_file(options[name], Path(folder), name) for name in ("human", "metrics"))
                found = compare_files(human, scores, choices, options["seed"])
        except DomainError as error:
            errors = error.errors if isinstance(error, BadFilesError) else [error]
            raise CommandError("\n".join(problems_of(each, options) for each in errors)) from None
        for note in found.notes:
            self.stderr.write(note)
        if options["format"] == "json":
            self.stdout.write(dump_json(found.document), ending="")
        else:
            self.stdout.write("\n".join(map(repr, found.tables)), ending="")

    def _tell(self, reading: Reading) -> None:
        """Say on standard error how the human scores were read."""
        self.stderr.write("\n".join(f"{reading.file}: {each}" for each in [*reading.said, reading.sentence]))
