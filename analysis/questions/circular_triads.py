"""Circular triads: do workers, or all of them together, prefer A to B, B to C, and C to A (METHOD §6)?"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from analysis.data.coding import combined, first_rows
from analysis.data.compared import ComparedPairs
from analysis.questions import Asked, Question
from analysis.results.sections import Cell, Column, Output, Section, Table, in_percent
from analysis.stats.circular_triads import Triads, count_triads, share_by_chance
from analysis.stats.codes import dense_ranks
from analysis.stats.ratings import Codes, Mask, or_none
from evalsite.lib.words import counted

SEED = 1940
_MOST_DRAWN = 1_000_000  # pairs in all draws together
_FEWEST_DRAWS, _MOST_DRAWS = 5, 2000
_MANY_GROUPS = 1000  # so many that some of them say what all do
_MANY_ON_A_PAIR = 100  # so many judgements that majorities of more are circular as often
_PAGE, _TITLE = "reliability", "Do preferences contradict each other?"
_ALL = "all"
_WHO = {"source": "a worker, on one source", "worker": "a worker, over all sources", _ALL: "all workers, by majority"}
_WHERE = {"source": "On one source", "worker": "Over all the sources that a worker judged"}
_CAPTION = (
    "Triads of systems whose three pairs were compared on one criterion. Undecided: some pair is tied. Circular: of "
    "the decided triads, those in which A beats B, B beats C, and C beats A; by chance: if all judgements were random. "
    "ζ: coefficient of consistence (Kendall & Babington Smith 1940), 1 without circular triads and 0 with as many as "
    "there can be; mean over those who decided all pairs of three systems or more."
)


@dataclass(frozen=True, kw_only=True)
class CountedTriads:
    """Triads that were compared, decided and circular, and the mean of ζ over those who decided all pairs."""

    n_compared: int
    n_decided: int
    n_circular: int
    share: float | None
    n_complete: int
    consistence: float | None


@dataclass(frozen=True, kw_only=True)
class TriadsOnLevel(CountedTriads):
    """The same with the share that would be circular by chance; None where none could be."""

    by_chance: float | None


@dataclass(frozen=True, kw_only=True)
class TriadsOfWorker(CountedTriads):
    """The same of a worker."""

    worker: str


@dataclass(frozen=True)
class Contradictions:
    """What is circular on each level, and of single workers; `has_rankings`: several pairs were judged at once.

    Levels are "all" workers, and one of workers: what each judged of one "source", or, where no triads of that could be
    circular, all that a "worker" judged.
    """

    has_rankings: bool
    on: Mapping[str, TriadsOnLevel]
    workers: Sequence[TriadsOfWorker]


class CircularTriads(Question[Contradictions]):
    """How often single workers, and the majority of all, contradict themselves."""

    slug = "circular_triads"
    title = _TITLE
    page = _PAGE
    answer = Contradictions

    def is_asked(self, asked: Asked) -> bool:
        """Whether systems were compared with each other."""
        return asked.comparisons() is not None

    def refuse(self, asked: Asked) -> str:
        """Return that it takes three systems."""
        return "" if len(asked.order) > 2 else "Fewer than three systems have a score, so no triads can be circular."

    def compute(self, asked: Asked) -> Contradictions:
        """Return what is circular, of workers on the first level that could be so."""
        pairs = asked.comparisons()
        assert pairs is not None, "not asked"
        rng = np.random.default_rng(SEED)
        criterion = (pairs.criterion, len(pairs.criteria))
        of_worker = [criterion, (pairs.worker, len(pairs.workers))]
        levels: dict[str, list[tuple[Codes, int]]] = {"worker": of_worker}
        if pairs.sources:
            levels = {"source": [*of_worker, (pairs.source, len(pairs.sources))], **levels}
        for level in levels:
            triads, worker_of, of_workers = _on_level(pairs, levels[level], rng)
            if of_workers.by_chance:
                break
        return Contradictions(
            bool((np.bincount(pairs.judgement) > 1).any()),
            {level: of_workers, _ALL: _on_level(pairs, [criterion], rng)[2]},
            [
                TriadsOfWorker(worker=pairs.workers[worker_of[rows[0]]], **asdict(_count(triads, rows)))
                for rows in _rows_of(worker_of, np.flatnonzero(triads.n_compared))
            ],
        )

    def sections(self, answer: Contradictions) -> list[Section]:
        """Return how much is circular, of workers and of all together; nothing of those who could not be so."""
        level = next(level for level in _WHERE if level in answer.on)
        known = [(key, answer.on[key]) for key in (level, _ALL) if answer.on[key].by_chance]
        workers = answer.workers if answer.on[level].by_chance else []
        of_levels = Table(
            "circular-triads",
            "Circular triads",
            _CAPTION,
            [Column("who"), *_COLUMNS, Column("by chance, %", 1), *_CONSISTENCE],
            [
                [_WHO[key], *_cells(triads), in_percent(triads.by_chance), triads.consistence, triads.n_complete]
                for key, triads in known
            ],
            output=Output.FILES | Output.PAGE,
        )
        of_workers = Table(
            "circular-triads-of-workers",
            "Circular triads of each worker",
            _CAPTION,
            [Column("worker", is_worker=True), *_COLUMNS, *_CONSISTENCE],
            [[triads.worker, *_cells(triads), triads.consistence, triads.n_complete] for triads in workers],
            output=Output.FILES,
        )
        tables = [table for table in (of_levels, of_workers) if table.rows]
        return [Section(self.slug, _TITLE, _finding(answer, level), tables, page=_PAGE)]


def _on_level(
    pairs: ComparedPairs, parts: list[tuple[Codes, int]], rng: np.random.Generator
) -> tuple[Triads, Codes, TriadsOnLevel]:
    """Return the triads of the groups that codes and their numbers make, some worker of each group, and how many.

    Of groups of three judgements or more: two votes are no triad, and two rankings never contradict each other in a
    circle.
    """
    group, n_groups = dense_ranks(*combined(parts))
    first = first_rows(*dense_ranks(pairs.judgement, int(pairs.judgement.max(initial=-1)) + 1))
    kept = np.bincount(group[first], minlength=n_groups)[group] > 2
    pairs = pairs.take(kept)
    group, n_groups = dense_ranks(group[kept], n_groups)
    worker_of = np.zeros(n_groups, np.int64)
    worker_of[group] = pairs.worker
    triads = count_triads(pairs.first, pairs.second, pairs.outcome, group, n_groups)
    counts, by_chance = _count(triads), None
    if counts.n_decided:
        rows = _drawn_from(pairs, group, n_groups, rng)
        some, group = pairs.take(rows), group[rows]
        n_draws = int(np.clip(_MOST_DRAWN // group.size, _FEWEST_DRAWS, _MOST_DRAWS))
        drawn = some.first, some.second, some.outcome, group, n_groups
        by_chance = or_none(share_by_chance(*drawn, judgement=some.judgement, n_draws=n_draws, rng=rng))
    return triads, worker_of, TriadsOnLevel(**asdict(counts), by_chance=by_chance)


def _drawn_from(pairs: ComparedPairs, group: Codes, n_groups: int, rng: np.random.Generator) -> Mask:
    """Return which pairs are drawn from, (n_pairs,): of many groups those of some, else some judgements of each.

    All, where they are fewer than can be drawn.
    """
    if n_groups > _MANY_GROUPS:
        n_drawn = _MOST_DRAWN // _FEWEST_DRAWS * n_groups // group.size
        return np.isin(group, rng.permutation(n_groups)[: max(n_drawn, 1)])
    ends = np.sort([pairs.first, pairs.second], axis=0)
    n_systems = int(ends.max()) + 1
    pair, n_different = dense_ranks(*combined([(group, n_groups), *((end, n_systems) for end in ends)]))
    of_group = np.bincount(group[first_rows(pair, n_different)], minlength=n_groups)
    share = _MANY_ON_A_PAIR * of_group / np.bincount(group, minlength=n_groups)
    is_drawn: Mask = rng.random(int(pairs.judgement.max()) + 1)[pairs.judgement] < share[group]
    return is_drawn


def _rows_of(worker: Codes, rows: Codes) -> list[Codes]:
    """Return those of the rows that each worker has."""
    ordered = rows[np.argsort(worker[rows], kind="stable")]
    starts = np.flatnonzero(np.diff(worker[ordered])) + 1
    return np.split(ordered, starts) if ordered.size else []


def _count(triads: Triads, rows: Any = slice(None)) -> CountedTriads:
    """Return how many triads some groups have together."""
    n_decided, n_circular = int(triads.n_decided[rows].sum()), int(triads.n_circular[rows].sum())
    consistence = triads.consistence[rows]
    known = consistence[~np.isnan(consistence)]
    return CountedTriads(
        n_compared=int(triads.n_compared[rows].sum()),
        n_decided=n_decided,
        n_circular=n_circular,
        share=n_circular / n_decided if n_decided else None,
        n_complete=int(known.size),
        consistence=float(known.mean()) if known.size else None,
    )


_COLUMNS = [Column("triads"), Column("undecided"), Column("circular"), Column("circular, %", 1)]
_CONSISTENCE = [
    Column("ζ", 2, hint="coefficient of consistence"),
    Column("of", hint="how many decided all pairs"),
]


def _cells(triads: CountedTriads) -> list[Cell]:
    n_undecided = triads.n_compared - triads.n_decided
    return [triads.n_compared, n_undecided, triads.n_circular, in_percent(triads.share)]


def _finding(answer: Contradictions, level: str) -> str:
    own, everyone, said = answer.on[level], answer.on[_ALL], []
    if answer.has_rankings:
        others = "but several together can be" if own.by_chance else "and no worker gave several that could be"
        said.append(f"A ranking is never circular in itself, {others}.")
    elif not own.n_decided:
        said.append("No worker decided between all of three systems.")
    if own.by_chance:
        said.append(
            f"{_WHERE[level]}, {100 * (own.share or 0):.0f} % of {counted(own.n_decided, 'triad')} that a worker "
            f"decided are circular; {100 * own.by_chance:.0f} % would be by chance."
        )
        if n_tied := own.n_compared - own.n_decided:
            said.append(f"{counted(n_tied, 'triad')} with a tie {'are' if n_tied > 1 else 'is'} not counted.")
    if everyone.by_chance:
        n = everyone.n_circular
        said.append(
            f"By the majority of all workers {n or 'none'} of {counted(everyone.n_decided, 'triad')} "
            f"{'are' if n > 1 else 'is'} circular."
        )
    return " ".join(said)
