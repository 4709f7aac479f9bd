"""Scores as mt-metrics-eval keeps them: a file `NAME.seg.score` for each metric or kind of human score.

A line has a system and a score, without a header; the segments of a system stand in their order. `None` is missing.
"""

import math
from pathlib import Path

import numpy as np

from analysis.metrics.loading import SegmentScores, combine
from evalsite.lib.tables import Problem, TableError
from evalsite.lib.tables.errors import listing, whole_file_error

_ENDING = ".seg.score"
_MISSING = {"none", "nan", ""}


def is_score_list(path: Path) -> bool:
    """Return whether a path is such a file, or a folder of them."""
    return path.is_dir() or path.name.endswith(_ENDING)


def load_score_lists(path: Path, *, has_metrics: bool) -> SegmentScores:
    """Return the scores of such a file, or of all such files of a folder, of which each is a metric.

    `has_metrics`: whether files are metrics, which are called by the files. Segments are numbered from 1.
    Raises TableError for a folder without such files, a line that is no score, and systems with other numbers of lines.
    """
    if not path.is_dir():
        return _load(path, path.name.removesuffix(_ENDING) if has_metrics else "")
    files = sorted(each for each in path.iterdir() if each.name.endswith(_ENDING))
    if not files or not has_metrics:
        there = listing(sorted(each.name for each in path.iterdir()))
        message = f"there is no file “….seg.score” of metrics in the folder, but {there or 'nothing'}."
        raise whole_file_error(path.name, "no_scores", message)
    return combine([_load(each, each.name.removesuffix(_ENDING)) for each in files])


def _load(path: Path, metric: str) -> SegmentScores:
    given: dict[str, list[float]] = {}
    problems = []
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError as error:
        raise whole_file_error(path.name, "unreadable", f"the file cannot be opened ({error.strerror}).") from None
    for number, line in enumerate(lines, start=1):
        system, _, score = line.partition("\t" if "\t" in line else " ")
        value = _number(score.strip())
        if not system.strip() or value is None:
            message = "this is no system and its score. Write both, with a tab between them; None is missing."
            problems.append(Problem(number, None, message, "bad_score"))
        given.setdefault(system.strip(), []).append(math.nan if value is None else value)
    lengths = {system: len(scores) for system, scores in given.items()}
    if len(set(lengths.values())) > 1:
        said = ", ".join(f"{system} {n:,}" for system, n in lengths.items())
        message = f"systems have different numbers of segments: {said}. Each needs a line for each segment."
        problems.append(Problem(None, None, message, "different_lengths"))
    if problems or not given:
        raise TableError(path.name, problems or [Problem(None, None, "the file is empty.", "empty_file")])
    systems, n = sorted(given), next(iter(lengths.values()))
    scores = np.concatenate([given[system] for system in systems])
    sources = sorted(map(str, range(1, n + 1)))
    place = {name: k for k, name in enumerate(sources)}
    source = np.tile([place[str(k)] for k in range(1, n + 1)], len(systems))
    known = ~np.isnan(scores)
    system = np.repeat(np.arange(len(systems)), n)[known]
    return SegmentScores(
        path.name, [metric], systems, sources, np.zeros(system.size, np.int64), system, source[known], scores[known]
    )


def _number(text: str) -> float | None:
    """Return the number of a cell, NaN where it is missing, None if it is neither."""
    if text.casefold() in _MISSING:
        return math.nan
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
