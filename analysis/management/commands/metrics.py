"""`manage.py metrics HUMAN METRICS`: how far metrics judge systems and segments as people do."""

from argparse import ArgumentParser
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from analysis.data.choices import Choices
from analysis.data.describing import Reading
from analysis.management.ratings_command import add_choices, choices_of, problems_of
from analysis.metrics.comparison import SEED, compare_metrics, comparison_tables
from analysis.metrics.human import load_human_scores
from analysis.metrics.loading import SegmentScores, load_segment_scores
from analysis.metrics.score_lists import is_score_list, load_score_lists
from analysis.results.exports import dump_json, to_text
from evalsite.lib.arguments import whole
from evalsite.lib.errors import DomainError
from evalsite.lib.tables.archives import unpack


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
        errors: list[str] = []
        choices = choices_of(options | {"pool": True}, self._tell)
        with TemporaryDirectory(prefix="scores-") as folder:
            human = _read(load_human_scores, options["human"], Path(folder), choices, errors, options)
            metrics = _read(_load_metrics, options["metrics"], Path(folder), choices, errors, options)
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

    def _tell(self, reading: Reading) -> None:
        """Say on standard error how the human scores were read."""
        self.stderr.write("\n".join(f"{reading.file}: {each}" for each in [*reading.said, reading.sentence]))


def _unpacked(path: Path, folder: Path) -> Path:
    """Return the file that a packed one holds; any other path as it is."""
    return path if path.is_dir() else unpack(path, folder, path.name)[0]


def _load_metrics(path: Path, choices: Choices) -> SegmentScores:
    if is_score_list(path):
        return load_score_lists(path, has_metrics=True)
    return load_segment_scores(path, has_metrics=True, encoding=choices.for_file(path).encoding)


def _read(
    load: Callable[[Path, Choices], SegmentScores],
    path: Path,
    folder: Path,
    choices: Choices,
    errors: list[str],
    options: dict[str, Any],
) -> SegmentScores | None:
    """Return the scores of a file; if it cannot be read, add why to `errors`, so that both files' are said at once."""
    try:
        return load(_unpacked(path, folder), choices)
    except DomainError as error:
        errors.append(problems_of(error, options))
        return None
