"""Looks at responses while they come: after how many workers which systems would have been known to differ."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from analysis.methods.settings import LEAST_PLANNED
from analysis.results.procedures import PairAtLook, pairs_at_look
from analysis.results.result import Result
from evalsite.lib.errors import DomainError
from evalsite.lib.tables import TableError, read_columns
from evalsite.lib.words import counted
from evalsite.library.data import Data, response_method
from evalsite.library.frames import Frame

MOST_LOOKS = 50
_HOLDS = "valid at every look and for all pairs together (Holm)"


class Looks:
    """What `Analysis.looks` returns: how far the pairs of systems were decided, look after look."""

    def __init__(self, n_workers: Sequence[int], n_counted: Sequence[int], pairs: Sequence[list[PairAtLook]]) -> None:
        self._n_workers, self._n_counted, self._pairs = n_workers, n_counted, pairs

    def __repr__(self) -> str:
        return f"{self.finding}\n\n{self.course!r}"

    def _repr_html_(self) -> str:
        return f"<p>{self.finding}</p>{self.course._repr_html_()}"

    @property
    def _n_decided(self) -> list[int]:
        return [sum(pair.better is not None for pair in pairs) for pairs in self._pairs]

    @property
    def n_needed(self) -> int | None:
        """After how many workers every pair was decided for the first time; None where that never was."""
        done = zip(self._n_workers, self._n_decided, self._pairs, strict=True)
        return next((n for n, n_decided, pairs in done if n_decided == len(pairs)), None)

    @property
    def finding(self) -> str:
        """It in a sentence."""
        n_last, n_pairs = self._n_workers[-1], len(self._pairs[-1])
        if self.n_needed is not None:
            return (
                f"After {self.n_needed:,} of {counted(n_last, 'worker')} {counted(n_pairs, 'pair')} of systems "
                f"{'was' if n_pairs == 1 else 'were'} decided, {_HOLDS}."
            )
        n = self._n_decided[-1]
        return (
            f"After {counted(n_last, 'worker')} {n:,} of {counted(n_pairs, 'pair')} of systems "
            f"{'is' if n == 1 else 'are'} decided, {_HOLDS}."
        )

    @property
    def course(self) -> Frame:
        """The looks, a row each: how many workers had answered, how many of them count, how many pairs are decided."""
        columns: dict[str, list[int]] = {
            "n_workers": list(self._n_workers),
            "n_counted": list(self._n_counted),
            "n_decided": self._n_decided,
            "n_pairs": [len(pairs) for pairs in self._pairs],
        }
        return Frame.of("looks", columns, f"Pairs of systems that are decided, {_HOLDS}.")

    @property
    def pairs(self) -> Frame:
        """Every two systems at every look: the difference, first less second, with bounds and p that hold at every
        look; `better` is the better system, None while the pair is undecided.
        """
        rows = [(n, pair) for n, pairs in zip(self._n_workers, self._pairs, strict=True) for pair in pairs]
        return Frame.of(
            "look-pairs",
            {
                "n_workers": [n for n, _ in rows],
                "first": [pair.systems[0] for _, pair in rows],
                "second": [pair.systems[1] for _, pair in rows],
                "difference": [pair.difference for _, pair in rows],
                "low": [pair.low for _, pair in rows],
                "high": [pair.high for _, pair in rows],
                "p_holm": [pair.p_holm for _, pair in rows],
                "better": [pair.better for _, pair in rows],
            },
            f"Pairs of systems at every look, {_HOLDS}.",
        )


def take_looks(data: Data, responses: object, result: Result, order: Sequence[str], every: int | None) -> Looks:
    """Return what was decided at each look at responses that were analysed by the settings of `data`.

    `order`, `every`: as of `Analysis.looks`.
    """
    settings = data.settings
    rated = [row.worker for row in result.workers if row.excluded is None]
    came = _in_order(data, rated, order)
    step = every if every is not None else -(-len(came) // MOST_LOOKS)
    if step < 1:
        raise DomainError("bad_step", f"A look is taken after every {step} workers; it must be 1 or more.")
    planned = settings.workers_planned or max(len(came), LEAST_PLANNED)
    method = response_method(settings)
    n_workers = sorted({*range(step, len(came), step), len(came)})
    n_counted, pairs = [], []
    for n in n_workers:
        excluded = {**settings.excluded, **dict.fromkeys(came[n:], "later")}
        so_far = replace(settings, groups=(), workers_planned=planned, excluded=excluded)
        found = method.analyse(responses, so_far, brief=True)
        n_counted.append(sum(row.is_counted for row in found.workers))
        pairs.append(pairs_at_look(found.pairs, sorted(row.system for row in result.summary.systems)))
    return Looks(n_workers, n_counted, pairs)


def _in_order(data: Data, rated: Sequence[str], order: Sequence[str]) -> list[str]:
    """Return the workers as they came; raise DomainError where somebody is named who did not answer, or left out."""
    given = list(dict.fromkeys(map(str, order))) if len(order) else _order_of_file(data)
    if not len(order) and not set(rated) <= set(given):
        raise DomainError(
            "no_order", f"{data.path.name}: no column says in which order workers came. Name them: looks(order=[…])."
        )
    known = set(rated)
    unknown, missing = [name for name in given if name not in known], known - set(given)
    if len(order) and (unknown or missing):
        wrong = f"“{unknown[0]}” did not answer" if unknown else f"“{min(missing)}” is left out"
        raise DomainError("bad_order", f"The order of workers: {wrong}. Name everybody who answered once.")
    return [name for name in given if name in known]


def _order_of_file(data: Data) -> list[str]:
    """Return the workers of a file by their first rows; nobody where it has no column of workers."""
    columns = data.reading.columns if data.reading else {}
    column = columns.get("worker", columns.get("rater"))
    if column is None:
        return []
    found: dict[str, None] = {}
    for path in (data.path, *data.choices.more):
        try:
            cells = read_columns(path, [column], encoding=data.choices.for_file(path).encoding).text[column]
        except TableError:
            return []
        codes, first = np.unique(cells.codes, return_index=True)
        found |= dict.fromkeys(str(cells.labels[code]) for code in codes[np.argsort(first)])
    return list(found)
