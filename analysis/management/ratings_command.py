"""What commands that read a ratings file share: options, reading, and errors in plain words."""

from abc import ABC, abstractmethod
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from django.core.management.base import BaseCommand, CommandError

from analysis.data.choices import Choices, Twice
from analysis.data.describing import Reading
from analysis.data.finding import read_chosen
from analysis.data.layout import SHAPES
from analysis.data.ratings.scales import SCALE_CODES
from analysis.data.tasks import SeveralTasksError
from campaigns.design.worker_test import WORKER_TESTS
from evalsite.lib.errors import DomainError
from evalsite.lib.tables import WINDOWS_1252, Opening, TableError
from evalsite.lib.tables.archives import unpack
from evalsite.lib.tables.errors import shorten
from evalsite.library.data import Data, open_data

_SCALE_HINT = (
    "The option for it is --scale LOW HIGH, for instance --scale 1 5, or --scale 0 100 for scores as they are."
)


def add_choices(parser: ArgumentParser) -> None:
    """Declare what somebody may say of how files are read; what they leave out is guessed."""
    parser.add_argument(
        "--columns", nargs="+", default=(), metavar="NAME=COLUMN", help="which column is meant: system=model"
    )
    parser.add_argument("--items", type=Path, metavar="FILE", help="what was annotated, where the file has ids only")
    parser.add_argument("--encoding", choices=[WINDOWS_1252], help="of CSV files that are not UTF-8")
    parser.add_argument(
        "--shape",
        choices=list(SHAPES),
        help="what a file of scores has (" + "; ".join(f"{name}: {what}" for name, what in SHAPES.items()) + ")",
    )
    parser.add_argument("--words", nargs="+", default=(), metavar="WORD", help="the words of answers, lowest first")
    parser.add_argument("--missing", nargs="+", default=(), metavar="WORD", help="further words of missing answers")
    parser.add_argument("--delimiter", metavar="MARK", help="what is between cells: a comma, a semicolon, tab, …")
    parser.add_argument("--decimal", choices=[".", ","], help="the decimal mark of scores (of the whole file)")
    parser.add_argument("--sheet", metavar="NAME", help="the sheet of a workbook (the first one with rows)")
    parser.add_argument("--twice", choices=list(Twice), help="which counts of answers that stand twice (refused)")
    parser.add_argument("--by", nargs="+", default=(), metavar="COLUMN", help="the columns that say the task of a row")
    parser.add_argument("--all-problems", action="store_true", help="of a refused file, each of each row (grouped)")
    parser.add_argument("--pool", action="store_true", help="take several tasks, such as language pairs, as one")


def problems_of(error: DomainError, options: Mapping[str, Any]) -> str:
    """Return what is wrong: the same fault of many rows in a line, or each row of a file if that was asked for."""
    return "\n".join(error.every()) if options.get("all_problems") and isinstance(error, TableError) else str(error)


def choices_of(options: Mapping[str, Any], tell: Callable[[Reading], None] | None = None) -> Choices:
    """Return what the options say of how files are read; `tell` is called with how they were."""
    return Choices(
        encoding=_opening(options),
        columns=read_chosen(options.get("columns") or ()),
        items=options.get("items"),
        more=tuple(options.get("more") or ()),
        shape=options.get("shape") or "",
        words=tuple(options.get("words") or ()),
        missing=tuple(options.get("missing") or ()),
        decimal=options.get("decimal") or "",
        twice=options.get("twice") or "",
        by=tuple(options.get("by") or ()),
        groups=tuple(options.get("groups") or ()),
        task=options.get("task"),
        splits_tasks=not options.get("pool", True),
        tell=tell,
    )


def _opening(options: Mapping[str, Any]) -> Opening | None:
    """Return what the options say of how files are opened; None if that is nothing."""
    delimiter = options.get("delimiter") or ""
    delimiter = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";"}.get(delimiter.casefold(), delimiter)
    if len(delimiter) > 1:
        raise DomainError("bad_delimiter", f"“{shorten(delimiter)}” is no delimiter. Write one character, or tab.")
    opening = Opening(options["encoding"] or "", delimiter=delimiter, sheet=options.get("sheet") or "")
    return None if opening.says_nothing else opening


ALONE = ""
"""What the task of a file is called that has only one."""
_Found = TypeVar("_Found")


@contextmanager
def _explained(options: Mapping[str, Any]) -> Iterator[None]:
    """Say what is wrong in plain words."""
    try:
        yield
    except TableError as error:
        said = problems_of(error, options)
        is_scale = any(problem.code in SCALE_CODES for problem in error.problems)
        raise CommandError(f"{said}\n{_SCALE_HINT}" if is_scale else said) from None
    except DomainError as error:
        raise CommandError(str(error)) from None
    except OSError as error:
        raise CommandError(f"{error.filename or 'Writing'}: {error.strerror}") from None


class RatingsCommand(BaseCommand, ABC):
    """A command that analyses a ratings file without a database: a subclass overrides `run`.

    Results go to standard output, progress and warnings to standard error.
    """

    requires_system_checks = []
    requires_migrations_checks = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the file, and what changes how it is read and whose ratings count."""
        parser.add_argument("ratings", type=Path, nargs="+", help="the responses; several files, if a tool wrote them")
        parser.add_argument(
            "--protocol", metavar="NAME", help="a protocol's name, or a JSON file (what the file looks like)"
        )
        parser.add_argument("--alpha", type=float, metavar="A", help="a worker passes at p < A")
        parser.add_argument("--worker-test", choices=list(WORKER_TESTS), metavar="PRESET", help=", ".join(WORKER_TESTS))
        parser.add_argument(
            "--scale", type=float, nargs=2, metavar=("LOW", "HIGH"), help="the scale of the scores, mapped to 0–100"
        )
        parser.add_argument(
            "--score-columns", nargs="+", default=(), metavar="COLUMN", help="one for each criterion, with its name"
        )
        add_choices(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        """Run; exit 1 with a plain message if anything is wrong with the input."""
        with TemporaryDirectory(prefix="responses-") as folder, _explained(options):
            if given := options.get("ratings"):  # plans are made without
                options["ratings"], *options["more"] = (unpack(each, Path(folder), each.name)[0] for each in given)
            self.run(options)

    def data_of(self, options: dict[str, Any]) -> Data:
        """Return the responses that the options describe; say on standard error by which protocol they are read."""
        path, scale = options["ratings"], options["scale"]
        method = options["protocol"] or None
        data = open_data(
            path,
            choices_of(options, self.tell),
            method,
            scale=tuple(scale) if scale else None,
            score_columns=options["score_columns"],
        )
        if data.is_guessed and options.get("task") is None:
            self.stderr.write(f"{path.name}: analysed by the protocol {data.method}.")
        return data

    def by_task(self, options: dict[str, Any], do: Callable[[dict[str, Any]], _Found]) -> dict[str, _Found]:
        """Return what `do` returns of the options, by `ALONE`; of a file with several tasks, of each by itself."""
        try:
            return {ALONE: do(options)}
        except SeveralTasksError as error:
            self.stderr.write(f"{options['ratings'].name}: {error.message} (--pool)")
            return {task: do(options | {"task": task}) for task in error.tasks}

    def tell(self, reading: Reading) -> None:
        """Say how a file was read: on standard error, in a sentence."""
        self.stderr.write(f"{reading.file}: {reading.sentence}")

    @abstractmethod
    def run(self, options: dict[str, Any]) -> None:
        """Do what the command does."""

    def say(self, stage: str) -> None:
        """Tell a person who watches what is being done."""
        if self.stderr.isatty():
            self.stderr.write(f"{stage} …")
