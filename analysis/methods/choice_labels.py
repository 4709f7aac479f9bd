"""Labels of items that several workers answered by choosing: majority, Dawid & Skene and MACE, and what they say."""

import io
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.data.responses import Responses
from analysis.stats.labels import Labels, count_answers, dawid_skene, mace, majority
from analysis.stats.ratings import Codes, or_none
from evalsite.lib.tables.writing import write_csv

_COLUMNS = ("source", "system", "option", "n", "majority", "dawid_skene", "p_dawid_skene", "mace", "p_mace")


@dataclass(frozen=True)
class Labelled:
    """Items that are labelled: of one source and system, and where answers may have several options, each option.

    `source`, `system`: int, (n_items,), codes of `rows`, which were labelled. `option`: int, (n_items,), codes of
    `options`, −1 where the label is the option. `names` are those of labels.
    """

    rows: Responses
    options: list[str]
    source: Codes
    system: Codes
    option: Codes
    names: list[str]
    n_answers: NDArray[np.int64]
    majority: NDArray[np.int64]
    dawid_skene: Labels
    mace: Labels


def label_items(
    rows: Responses, options: list[str], chosen: NDArray[np.bool_], answer: Codes, *, has_several: bool
) -> Labelled | None:
    """Return labels of every output of a source; None unless some is answered by several workers.

    `chosen`: bool, (n_distinct, n_options), of the different answers; `answer`: int, (n,), the place of each row's in
    it. `has_several`: whether some answer has several options, or none.
    """
    output = rows.source.astype(np.int64) * len(rows.systems) + rows.system
    outputs, of_row = np.unique(output, return_inverse=True)
    if len(rows.workers) < 2 or outputs.size == rows.n:
        return None
    n_options = len(options)
    if has_several:
        item = (of_row[:, None] * n_options + np.arange(n_options)).ravel()
        label, worker = chosen[answer].ravel().astype(np.int64), np.repeat(rows.worker, n_options)
        names, n_items = ["no", "yes"], outputs.size * n_options
        first, option = np.divmod(np.arange(n_items), n_options)
    else:
        item, worker, names, n_items = of_row, rows.worker, options, outputs.size
        label = chosen.argmax(axis=1)[answer]
        first, option = np.arange(n_items), np.full(n_items, -1)
    counts = count_answers(item, label, n_items, len(names))
    arrays = (item, worker, label, n_items, len(rows.workers), len(names))
    source, system = np.divmod(outputs[first], len(rows.systems))
    labels = dawid_skene(*arrays), mace(*arrays)
    of_items = source, system, option
    return Labelled(rows, options, *of_items, names, counts.sum(axis=1), majority(counts), *labels)


def describe_labels(found: Labelled) -> dict[str, Any]:
    """Return how often the three agree, over items with a majority, and what they say of workers."""
    rows = found.rows
    of = {"majority": found.majority, "Dawid–Skene": found.dawid_skene.label, "MACE": found.mace.label}
    has_majority = found.majority >= 0
    return {
        "n_items": int(found.majority.size),
        "n_without_majority": int((~has_majority).sum()),
        "agreement": [
            {"methods": [a, b], "share": or_none((of[a] == of[b])[has_majority].mean()) if has_majority.any() else None}
            for a, b in combinations(of, 2)
        ],
        "workers": [
            {
                "worker": name,
                "n": int(n),
                "dawid_skene": or_none(found.dawid_skene.ability[code]),
                "mace": or_none(found.mace.ability[code]),
            }
            for code, (name, n) in enumerate(
                zip(rows.workers, np.bincount(rows.worker, minlength=len(rows.workers)), strict=True)
            )
        ],
    }


def write_labels(labels: Mapping[str, Labelled | None]) -> str | None:
    """Return a CSV file of the labels on criteria, by name; None without any. Of several, a column names them."""
    has_several = len(labels) > 1
    rows: list[list[Any]] = []
    for name, found in labels.items():
        if found is not None:
            beginning = [name] if has_several else []
            rows += [[*beginning, *row] for row in _rows(found)]
    if not rows:
        return None
    stream = io.StringIO()
    write_csv(stream, ("criterion", *_COLUMNS) if has_several else _COLUMNS, rows)
    return stream.getvalue()


def _rows(found: Labelled) -> list[list[Any]]:
    names = [*found.names, ""]  # −1, the last, is no majority
    several = [*found.options, ""]
    of_both = (found.dawid_skene, found.mace)
    probability = [each.posterior.max(axis=1) for each in of_both]
    rows = []
    for k in range(found.majority.size):
        row: list[Any] = [found.rows.sources[found.source[k]], found.rows.systems[found.system[k]]]
        row += [several[found.option[k]], int(found.n_answers[k]), names[found.majority[k]]]
        for each, p in zip(of_both, probability, strict=True):
            row += [names[each.label[k]], round(float(p[k]), 4)]
        rows.append(row)
    return rows
