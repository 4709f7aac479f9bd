"""Computing metrics of outputs: kinds and texts to a table of scores."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from analysis.metrics.kinds import MetricKind, Scores, Texts
from analysis.metrics.loading import DECIMALS

COLUMNS = ("metric", "system", "source", "score")
Row = tuple[str, str, str, float]


def compute_scores(
    kinds: Sequence[MetricKind],
    texts: Texts,
    options: Mapping[str, Mapping[str, Any]],
    on_progress: Callable[[int, int, str], None],
) -> list[tuple[Texts, Scores]]:
    """Return the scores of each kind, with the texts that they are of; `options` are those of each kind, by slug.

    Kinds that need references get only the outputs that have one. `on_progress` is called with how many texts were
    scored, of how many, and by what.
    """
    with_references = texts.with_references()
    wanted = [(kind, with_references if kind.needs_reference else texts) for kind in kinds]
    total, done, found = sum(len(own.outputs) for _, own in wanted), 0, []
    for kind, own in wanted:

        def count(title: str = kind.title) -> None:
            nonlocal done
            done += 1
            on_progress(done, total, title)

        found += [(own, scores) for scores in kind.score(own, options.get(kind.slug, {}), count)]
    return found


def rows_of(found: Sequence[tuple[Texts, Scores]]) -> Iterator[Row]:
    """Yield the rows of a table of scores: of whole systems first, with an empty source, then of single outputs."""
    for texts, scores in found:
        for system, score in zip(texts.systems, [] if scores.systems is None else scores.systems, strict=False):
            if not np.isnan(score):
                yield scores.metric, system, "", round(float(score), DECIMALS)
        for system, source, score in zip(texts.system, texts.source, scores.segments, strict=True):
            if not np.isnan(score):
                yield scores.metric, texts.systems[system], texts.sources[source], round(float(score), DECIMALS)
