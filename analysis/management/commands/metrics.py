"""`manage.py metrics HUMAN METRICS`: how far metrics judge systems and segments as people do."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from analysis.exports import dump_json, to_text
from analysis.metrics.comparison import SEED, compare_metrics, comparison_tables
from analysis.metrics.loading import SegmentScores, load_segment_scores
from evalsite.lib.arguments import whole
from evalsite.lib.errors import DomainError
from evalsite.lib.tables import WINDOWS_1252, if_windows


class Command(BaseCommand):
    """Correlations, accuracies and Williams' tests on standard output, what was left out on standard error."""

    help = "Compare metrics with human scores (CSV, TSV, JSON, Excel, Parquet), one row a segment."
    requires_system_checks = []
    requires_migrations_checks = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare what the command takes."""
        parser.add_argument("human", type=Path, help="human scores: system, source, score")
        parser.add_argument("metrics", type=Path, help="scores of metrics: metric, system, source, score")
        parser.add_argument("--seed", type=whole(0), default=SEED, metavar="N", help=f"of the permutations ({SEED})")
        parser.add_argument("--encoding", choices=[WINDOWS_1252], help="of CSV files that are not UTF-8")
        parser.add_argument("--format", choices=["text", "json"], default="text")

    def handle(self, *args: Any, **options: Any) -> None:
        """Compare and print; exit 1 with what is wrong with either file."""
        errors: list[str] = []
        human = _read(options["human"], False, options["encoding"], errors)
        metrics = _read(options["metrics"], True, options["encoding"], errors)
        if human is None or metrics is None:
            raise CommandError("\n".join(errors))
        try:
            found = compare_metrics(human, metrics, seed=options["seed"])
        except DomainError as error:
            raise CommandError(str(error)) from None
        for note in found.notes:
            self.stderr.write(note)
        if options["format"] == "json":
            self.stdout.write(dump_json(found.document), ending="")
        else:
            self.stdout.write("\n".join(map(to_text, comparison_tables(found.document))), ending="")


def _read(path: Path, has_metrics: bool, encoding: str | None, errors: list[str]) -> SegmentScores | None:
    """Return the scores of a file; if it cannot be read, add why to `errors`, so that both files' are said at once."""
    try:
        return load_segment_scores(path, has_metrics=has_metrics, encoding=if_windows(path, encoding))
    except DomainError as error:
        errors.append(str(error))
        return None
