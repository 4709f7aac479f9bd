"""Files of segment scores to arrays: everything wrong is said at once, and nothing is half read."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.data.choices import GUESSED
from analysis.data.coding import combined, first_rows, sorted_codes
from analysis.data.layout import Answers, Layout, Shape, answer_columns, unfold
from analysis.data.ratings.columns import guess_mapping
from analysis.data.scores import PREVIEWED, relabel
from analysis.data.values import is_number
from analysis.stats.codes import dense_ranks
from evalsite.lib.tables import CellProblems, Preview, Problem, Table, TableError, TextColumn, preview, read_columns
from evalsite.lib.tables.errors import listing
from evalsite.lib.tables.table import refuse_empty

DECIMALS = 10
"""Of means: those that differ only by the rounding of their sums must tie."""
_METRIC = re.compile(r"metric([\W_]*(id|name))?", re.IGNORECASE)


@dataclass(frozen=True)
class SegmentScores:
    """Scores, a row a segment: one system's output for one source. A row of a metric may be of a whole system.

    `metric`, `system`, `source`: int, (n_rows,), codes of `metrics`, `systems` and `sources`, whose labels are sorted;
    the metric is "" where the file has none; the source is −1 of a whole system's score. No metric has two scores of a
    segment, or of a system. `scores`: float64, no NaN.
    """

    file: str
    metrics: list[str]
    systems: list[str]
    sources: list[str]
    metric: NDArray[np.integer]
    system: NDArray[np.integer]
    source: NDArray[np.integer]
    scores: NDArray[np.float64]

    def matrix(self, metric: str, systems: Sequence[str], sources: Sequence[str]) -> NDArray[np.float64]:
        """Return a metric's scores, (n_sources, n_systems), NaN where there is none; other labels are left out."""
        row = np.append(_places(self.sources, sources), -1)[self.source]  # of a whole system: the last, −1
        column = _places(self.systems, systems)[self.system]
        used = np.flatnonzero((self.metric == self.metrics.index(metric)) & (row >= 0) & (column >= 0))
        matrix = np.full((len(sources), len(systems)), np.nan)
        matrix[row[used], column[used]] = self.scores[used]
        return matrix

    def system_scores(self, metric: str, systems: Sequence[str]) -> NDArray[np.float64]:
        """Return a metric's score of each system, (n_systems,): its own if there is one, else the mean of its segments.

        NaN where there is neither. Means are rounded, since those that differ only by the rounding of sums must tie.
        """
        of_metric = self.metric == self.metrics.index(metric)
        column = _places(self.systems, systems)[self.system]
        segments = np.flatnonzero(of_metric & (self.source >= 0) & (column >= 0))
        total = np.bincount(column[segments], weights=self.scores[segments], minlength=len(systems))
        with np.errstate(invalid="ignore"):
            found = np.round(total / np.bincount(column[segments], minlength=len(systems)), DECIMALS)
        whole = np.flatnonzero(of_metric & (self.source < 0) & (column >= 0))
        found[column[whole]] = self.scores[whole]
        return found

    def systems_of(self, metric: str) -> set[str]:
        """Return the systems that a metric has scores of."""
        return {self.systems[code] for code in np.unique(self.system[self.metric == self.metrics.index(metric)])}


def _places(labels: Sequence[str], wanted: Sequence[str]) -> NDArray[np.int64]:
    place = {label: k for k, label in enumerate(wanted)}
    return np.array([place.get(label, -1) for label in labels], np.int64)


def load_segment_scores(path: Path, *, has_metrics: bool, name: str = "", encoding: str | None = None) -> SegmentScores:
    """Return the scores of a file in any format that `evalsite.lib.tables` reads.

    Columns are `system`, `source`, `score` and, where it `has_metrics`, `metric`, or have usual other names of these;
    others are ignored. Without columns `metric` and `score`, each other column of numbers is a metric, where it
    `has_metrics`. A metric's score without a source is of the whole system. `name` is what the person calls the file;
    `encoding` is that of a CSV file that is not UTF-8.
    Raises TableError with up to 50 problems: a column that is missing, cells that are empty or no numbers, a second
    score of a segment.
    """
    problems = CellProblems()
    table, found = _read(path, name or path.name, has_metrics, encoding, problems)
    labels = [label for label in ("metric", "system", "source") if label in found]
    for label in labels:
        if label == "source" and has_metrics:
            continue
        refuse_empty(table.text[found[label]], found[label], problems)
    coded = {label: sorted_codes(table.text[found[label]]) for label in labels}
    key, n_keys = dense_ranks(*combined([(codes, len(names)) for codes, names in coded.values()]))
    earlier = first_rows(key, n_keys)[key]
    again = np.flatnonzero(earlier != np.arange(earlier.size))
    again = np.setdiff1d(again, np.concatenate([problems.rows_in(found[label]) for label in labels]))
    same = f"{', '.join(labels[:-1])} and {labels[-1]}"
    problems.add(
        again,
        found[labels[-1]],
        "row_twice",
        lambda row, other: f"row {other} has a score of the same {same}. Delete one of the two, or average them.",
        earlier[again],
    )
    problems.raise_for(table)
    metric, metrics = coded.get("metric", (np.zeros(earlier.size, np.int32), [""]))
    system, systems = coded["system"]
    source, sources = coded.get("source", (np.zeros(earlier.size, np.int32), [""]))
    if has_metrics and sources[:1] == [""]:  # sorted first: the score of a whole system
        source, sources = source - 1, sources[1:]
    return SegmentScores(table.file, metrics, systems, sources, metric, system, source, table.numbers[found["score"]])


def combine(files: Sequence[SegmentScores]) -> SegmentScores:
    """Return the scores of several files, of which no two have the same metric, as if they were one."""

    def merged(labels: Sequence[list[str]], codes: Sequence[NDArray[np.integer]]) -> tuple[list[str], Any]:
        every = sorted({label for each in labels for label in each})
        places = [np.append(_places(own, every), -1) for own in labels]
        return every, np.concatenate([place[code] for place, code in zip(places, codes, strict=True)])

    metrics, metric = merged([each.metrics for each in files], [each.metric for each in files])
    systems, system = merged([each.systems for each in files], [each.system for each in files])
    sources, source = merged([each.sources for each in files], [each.source for each in files])
    scores = np.concatenate([each.scores for each in files])
    names = ", ".join(each.file for each in files)
    return SegmentScores(names, metrics, systems, sources, metric, system, source, scores)


def _read(
    path: Path, name: str, has_metrics: bool, encoding: str | None, problems: CellProblems
) -> tuple[Table, dict[str, str]]:
    """Return the wanted columns of a file, and its name for each of them."""
    sample = preview(path, name, n_rows=PREVIEWED, encoding=encoding)
    if has_metrics and (layout := _find_wide(sample)):
        metrics = [each.column for each in layout.answers]
        about = {"blank": metrics, "encoding": encoding, "problems": problems, "convert": _as_numbers}
        found, table = unfold(read_columns(path, layout.columns, name, metrics, **about), layout)  # type: ignore[arg-type]
        return (table if problems.n else table.take(np.flatnonzero(~np.isnan(table.numbers["score"])))), found
    columns, before = sample.columns, dict[str, str]()
    # In JSON a column may first occur far down
    while (found := _find(name, columns, has_metrics)) != before:
        problems.clear()
        score = found["score"]
        table = read_columns(path, list(found.values()), name, numeric=[score], encoding=encoding, problems=problems)
        columns, before = table.columns, found
    return table, found


def _as_numbers(columns: Mapping[str, TextColumn]) -> Mapping[str, TextColumn]:
    return relabel(columns, GUESSED, is_number)[0]


def _find_wide(sample: Preview) -> Layout | None:
    """Return the layout of a file with a column for each metric; None for any other."""
    guessed = guess_mapping(sample.columns)
    if "score" in guessed or "system" not in guessed or any(_METRIC.fullmatch(each.strip()) for each in sample.columns):
        return None
    roles = {name: guessed[name] for name in ("system", "source") if name in guessed}
    metrics = answer_columns(sample.columns, sample.rows, roles.values())
    answers = tuple(Answers(name, {"metric": name}) for name in metrics)
    return Layout(Shape.CRITERIA, roles, answers) if answers else None


def _find(file: str, columns: Sequence[str], has_metrics: bool) -> dict[str, str]:
    """Return the file's column of each wanted one; raise TableError for those that it lacks."""
    wanted = ["metric", "system", "score"] if has_metrics else ["system", "source", "score"]
    metric = next((column for column in columns if _METRIC.fullmatch(column.strip())), None)
    guessed = dict(guess_mapping([column for column in columns if column != metric]))
    if metric:
        guessed["metric"] = metric
    there = listing(column for column in columns if column)
    missing = [
        Problem(1, name, f"there is no such column. The columns are {there}.", "missing_column")
        for name in wanted
        if name not in guessed
    ]
    if missing:
        raise TableError(file, missing)
    return {name: guessed[name] for name in (*wanted, "source") if name in guessed}
