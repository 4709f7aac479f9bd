"""The replication package: ratings, protocol and results, so that anyone can run the analysis again."""

import csv
import hashlib
import io
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
from numpy.typing import NDArray

from analysis.data.dialogues.rows import CHAT_COLUMNS, WEIGHT, WORK_COLUMNS, Chat, Work, cells_of
from analysis.data.ratings.sources import SOURCE_COLUMNS, SourceWords
from analysis.methods.study.study import Study
from analysis.metrics.loading import SegmentScores
from analysis.results.exports import dump_json, table_files
from analysis.results.reading import printed
from analysis.results.result import Result
from analysis.results.stored import document_of
from analysis.stats.ratings import Codes, Floats
from campaigns.contracts.columns import column
from campaigns.design.composition import KINDS
from campaigns.design.worker_test import NO_TEST, WORKER_TESTS
from evalsite.lib.tables import croissant
from evalsite.lib.tables.writing import neutralise, write_csv
from evalsite.lib.version import __version__

_README = """\
Replication package
===================

{responses:15} every response as the worker gave it, one a row
{more}protocol.json   how they are analysed: method, criteria, worker test and the other settings
summary.json    the results
report.json     everything that was computed
tables/         the results as CSV and LaTeX
croissant.json  what the columns of the tables of responses mean, as Croissant metadata for catalogues and loaders
{texts}
With evalsite {version} (pipx install evalsite=={version}) this command, in this folder, prints summary.json and writes
the tables again, both byte for byte (on another kind of processor some numbers may differ in their last digits):

    evalsite analyse {responses} --protocol protocol.json{options} --out again --no-figures --format json

    diff -r tables again/tables

{test}
Workers are named by a number and a keyed hash.
"""
TEXTS = {
    "datasheet.md": "the Human Evaluation Datasheet (HEDS), as far as it was answered",
    "datasheet.json": "the same as JSON",
    "paper.txt": "methods, results and data statement in sentences",
}
"""What the package of a campaign says in words, by file."""
_CHATS, _TIMES, _SOURCES, _METRICS = "dialogues.csv", "assignments.csv", "sources.csv", "metrics.csv"
_ABOUT = {
    _CHATS: ("--dialogues", "topic, opinion and length of every chat, one a row"),
    _TIMES: ("--assignments", "how many seconds each assignment took"),
    _SOURCES: ("--sources", "how many words the texts of each source have"),
    _METRICS: ("--metrics", "scores of metrics; without a source, of a whole system"),
}


@dataclass(frozen=True)
class Package:
    """The parts of a replication package.

    `result`: the anonymous one; `responses`: the name of the file that `write` writes; `texts`: what the package of a
    campaign says in words, a content for each name of `TEXTS`; `metrics`: what metrics say of outputs;
    `source_words`: how long the texts of sources are; `tables`: name, header and rows of further files; `settings`: how
    the responses are analysed, if that is not what the report says; `title`: what metadata call it.
    """

    result: Result
    responses: str
    write: Callable[[IO[bytes]], None]
    texts: Mapping[str, str]
    metrics: SegmentScores | None = None
    source_words: Sequence[SourceWords] = ()
    tables: Sequence[tuple[str, Sequence[str], Sequence[tuple[Any, ...]]]] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    title: str = ""

    def save(self, path: Path) -> None:
        """Write the package as a zip file."""
        document = document_of(self.result)
        settings = self.settings or document["settings"]
        tables = [*self.tables, *([(_SOURCES, SOURCE_COLUMNS, self.source_words)] if self.source_words else [])]
        described = [name for name, _, _ in tables] + [_METRICS] * (self.metrics is not None)
        readme = _README.format(
            responses=self.responses,
            version=__version__,
            more="".join(f"{name:15} {_ABOUT[name][1]}\n" for name in described),
            texts="".join(f"{name:15} {TEXTS[name]}\n" for name in self.texts),
            options="".join(f" {_ABOUT[name][0]} {name}" for name in described),
            test=_describe_test(settings["worker_test"]),
        )
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as package:
            package.writestr("README.txt", readme)
            for name, content in self.texts.items():
                package.writestr(name, content)
            package.writestr("protocol.json", dump_json(settings))
            package.writestr("summary.json", dump_json(printed(self.result)))
            package.writestr("report.json", dump_json(document))
            with package.open(self.responses, "w", force_zip64=True) as stream:
                self.write(stream)
            for name, header, rows in tables:
                text = io.StringIO(newline="")
                write_csv(text, header, rows)
                package.writestr(name, text.getvalue())
            if self.metrics:
                with package.open(_METRICS, "w", force_zip64=True) as stream:
                    _write_scores(stream, self.metrics)
            for name, content in table_files(self.result):
                package.writestr(f"tables/{name}", content)
        self._describe(path, [self.responses, *described])

    def _describe(self, path: Path, names: Sequence[str]) -> None:
        """Add the metadata of tables, as they are in the package."""
        with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as package:
            files = []
            for name in names:
                with package.open(name) as stream:
                    header = next(csv.reader(io.TextIOWrapper(stream, "utf-8", newline="")))
                with package.open(name) as stream:
                    digest = hashlib.file_digest(stream, "sha256").hexdigest()  # type: ignore[arg-type]  # it has readinto
                files.append(croissant.DescribedFile(name, [column(each) for each in header], digest))
            description = f"Responses and results of “{self.title}”." if self.title else "Responses and their results."
            about = croissant.About(self.title or "Replication package", description)
            package.writestr(croissant.FILE, dump_json(croissant.describe(about, files)))


def write_package(
    path: Path,
    result: Result,
    names: Mapping[str, str],
    texts: Mapping[str, str] | None = None,
    *,
    study: Study,
    source_words: Sequence[SourceWords] = (),
    title: str = "",
) -> None:
    """Write the replication package of a study; `names` has a name for every worker of the ratings and of the chats.

    The rest is as of `Package`.
    """
    settings = dict(result.own["settings"]) | {"criteria": [criterion.to_json() for criterion in study.asked]}
    tables, write = _more_files(study, names), partial(write_ratings, study=study, names=names)
    package = Package(result, "ratings.csv", write, texts or {}, study.metrics, source_words, tables, settings, title)
    package.save(path)


def _describe_test(test: Mapping[str, Any]) -> str:
    """Return by which test workers count."""
    if test["preset"] == NO_TEST:
        return "No worker test was applied: every worker counts, apart from those excluded by hand."
    return f"Workers count who pass the worker test ({WORKER_TESTS[test['preset']].name}) at α = {test['alpha']:g}."


def write_ratings(stream: IO[bytes], study: Study, names: Mapping[str, str]) -> None:
    """Write every rating as the long table of one row a rating, workers renamed, in CSV (UTF-8).

    Assignments are numbered, since their names may hold a worker's; positions count the items of an assignment.
    """
    loaded, ratings = study.loaded, study.loaded.ratings
    item, criterion, score, turn = _rated(study)
    starts = np.flatnonzero(np.diff(ratings.assignment, prepend=-1))
    position = np.arange(ratings.n_items) - np.repeat(starts, np.diff(starts, append=ratings.n_items)) + 1
    assignments = numbered(len(loaded.assignments))
    columns = {
        "worker": _labels(ratings.worker[item], [names[worker] for worker in loaded.workers]),
        "assignment": _labels(ratings.assignment[item], assignments),
        "position": pa.array(position[item]),
        "system": _labels(ratings.system[item], loaded.systems),
        "kind": _labels(ratings.kind[item], list(KINDS)),
        "criterion": _labels(criterion, [each.name for each in study.asked]),
        "score": pa.array(score),
    }
    if loaded.pools:
        pools = sorted(set(loaded.pools) - {""})
        of_worker = np.array([pools.index(name) if name else -1 for name in loaded.pools])
        columns["pool"] = _labels(of_worker[ratings.worker[item]], pools)
    if loaded.sources:
        columns["source"] = _labels(ratings.source[item], loaded.sources)
    if loaded.replies:
        columns["turn"] = _labels(turn, loaded.replies.turns)
    for name, attribute in loaded.attributes.items():
        if name not in columns:
            columns[name] = _labels(attribute.codes[item], attribute.labels)
    pyarrow.csv.write_csv(pa.table(columns), stream)


def _rated(study: Study) -> tuple[Codes, Codes, Floats, Codes]:
    """Return item, criterion (a code of `Study.asked`), score and turn, −1 for none, of every rating."""
    scores, replies = study.loaded.ratings.scores, study.loaded.replies
    item, column = np.nonzero(~np.isnan(scores))
    names = [each.name for each in study.asked]
    criterion = np.array([names.index(name) for name in study.loaded.criteria], np.int64)[column]
    whole = item, criterion, scores[item, column], np.full(item.size, -1)
    if replies is None:
        return whole
    of_replies = replies.item, replies.criterion, replies.score, replies.turn
    if replies.is_averaged:
        return of_replies
    item, criterion, score, turn = (np.concatenate(both) for both in zip(whole, of_replies, strict=True))
    return item, criterion, score, turn


def _write_scores(stream: IO[bytes], scores: SegmentScores) -> None:
    """Write scores of metrics as a table of one row a score, in CSV (UTF-8)."""
    columns = {
        "metric": _labels(scores.metric, scores.metrics),
        "system": _labels(scores.system, scores.systems),
        "source": _labels(scores.source, scores.sources),
        "score": pa.array(scores.scores),
    }
    pyarrow.csv.write_csv(pa.table(columns), stream)


def numbered(n: int) -> list[str]:
    """Return names of so many assignments, in the order of their numbers."""
    return [f"a{k:0{len(str(n))}d}" for k in range(1, n + 1)]


def _more_files(study: Study, names: Mapping[str, str]) -> list[tuple[str, Sequence[str], list[tuple[Any, ...]]]]:
    """Return file name, header and rows of chats and working times, as far as they are known.

    Assignments are numbered as in the ratings.
    """
    loaded, ratings = study.loaded, study.loaded.ratings
    chats = study.dialogues.chats if study.dialogues else ()
    worker_of = dict(zip(ratings.assignment.tolist(), ratings.worker.tolist(), strict=True))
    rated = [(loaded.workers[worker_of[code]], label) for code, label in enumerate(loaded.assignments)]
    others = {row[:2] for row in (*chats, *study.work)} - set(rated)
    order = [*rated, *sorted(others)]
    numbers = dict(zip(order, numbered(len(order)), strict=True))
    has_chats = study.dialogues is not None
    times = (*WORK_COLUMNS, WEIGHT) if any(row.weight is not None for row in study.work) else WORK_COLUMNS
    files: list[tuple[str, Sequence[str], Sequence[Chat | Work], bool]] = [
        (_CHATS, CHAT_COLUMNS, chats, has_chats),
        (_TIMES, times, study.work, has_chats or bool(study.work)),
    ]
    return [
        (name, header, [(names[row[0]], numbers[row[:2]], *cells_of(row)[2 : len(header)]) for row in rows])
        for name, header, rows, is_known in files
        if is_known
    ]


def _labels(codes: NDArray[np.integer], labels: Sequence[str]) -> pa.Array:
    """Return text for codes; −1 is an empty cell."""
    cells = pa.array([neutralise(label) for label in labels], pa.string())
    wanted = pa.array(codes, mask=codes < 0)
    return pa.DictionaryArray.from_arrays(wanted, cells).cast(pa.string())
