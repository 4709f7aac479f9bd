"""Scores that people gave, as scores of segments: whatever `analyse` reads, the mean over workers and criteria."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np

from analysis.data.choices import Choices
from analysis.data.coding import first_rows
from analysis.data.layout import Shape
from analysis.data.loading import SCORE_NAMES, load_scores
from analysis.data.output_scores import OutputScores
from analysis.data.responses import Responses
from analysis.data.scores import DataFile, ScoreFile, Scores
from analysis.data.tools import find_made
from analysis.data.values import is_number
from analysis.methods import ResponsesFile, get_method
from analysis.methods.settings import from_protocol
from analysis.metrics.loading import SegmentScores, load_segment_scores
from analysis.metrics.score_lists import is_score_list, load_score_lists
from analysis.stats.codes import dense_ranks
from campaigns.design.worker_test import NO_TEST
from campaigns.protocols import list_protocols
from evalsite.lib.tables import preview


def load_human_scores(path: Path, choices: Choices) -> SegmentScores:
    """Return what people say of segments: of a file with a column of workers, the mean over criteria of the mean over
    workers, on ordinary items and repeats; of marked errors, what they weigh, with its sign changed; of any other, its
    scores as `load_segment_scores` reads them. Every worker counts.

    Raises TableError.
    """
    if is_score_list(path):
        return load_score_lists(path, has_metrics=False)
    own = choices.for_file(path)
    if not find_made(path, encoding=own.encoding, columns=choices.columns, items=choices.items):
        if outputs := _judged_without_scores(path, own):
            return _as_segments(path.name, outputs)
        look = ScoreFile(DataFile(path), SCORE_NAMES, own, Scores(is_number)).look()
        if look.nested is None and look.layout.shape is Shape.LONG and "worker" not in look.layout.roles:
            return load_segment_scores(path, has_metrics=False, encoding=own.encoding)
    data = load_scores(
        path, lambda cell: float(cell) if is_number(cell) else math.nan, "a number", criterion="score", choices=choices
    )
    n_systems = len(data.systems)
    key, n = dense_ranks(data.segment * n_systems + data.system, len(data.documents) * len(data.sources) * n_systems)
    cell, n_cells = key * len(data.criteria) + data.criterion, n * len(data.criteria)
    with np.errstate(invalid="ignore"):
        mean = np.bincount(cell, data.score, minlength=n_cells) / np.bincount(cell, minlength=n_cells)
    first = first_rows(key, n)
    labels = [_segment_name(data, row) for row in first.tolist()]
    sources = sorted(set(labels))
    place = {label: k for k, label in enumerate(sources)}
    return SegmentScores(
        path.name,
        [""],
        data.systems,
        sources,
        np.zeros(n, np.int64),
        data.system[first],
        np.array([place[label] for label in labels], np.int64),
        np.nanmean(mean.reshape(n, -1), axis=1),
    )


def _judged_without_scores(path: Path, choices: Choices) -> OutputScores | None:
    """Return what a file says of outputs that has no scores but columns of a response method; None of any other."""
    columns = preview(path, encoding=choices.encoding).columns
    for protocol in list_protocols():
        method = get_method(protocol.method)
        if "score" not in method.file_columns and method.fits(columns):
            settings = replace(from_protocol(protocol.slug), preset=NO_TEST)
            return method.outputs(method.read(ResponsesFile(path, choices), settings), settings)
    return None


def _as_segments(file: str, outputs: OutputScores) -> SegmentScores:
    means = outputs.means(outputs.systems)
    source, system = np.nonzero(~np.isnan(means))
    metric = np.zeros(source.size, np.int64)
    return SegmentScores(file, [""], outputs.systems, outputs.sources, metric, system, source, means[source, system])


def _segment_name(data: Responses, row: int) -> str:
    """Return a source's name, with that of its document where there are several."""
    source = data.sources[data.source[row]]
    return source if len(data.documents) < 2 else f"{data.documents[data.document[row]]} {source}"
