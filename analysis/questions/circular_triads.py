"""Circular triads: do workers, or all of them together, prefer A to B, B to C, and C to A (METHOD §6)?"""

from typing import Any

import numpy as np

from analysis.data.coding import combined, first_rows
from analysis.data.compared import ComparedPairs
from analysis.questions import Asked, Question
from analysis.results.sections import Cell, Column, Output, Section, Table, in_percent
from analysis.results.stored import Report
from analysis.stats.circular_triads import Triads, count_triads, share_by_chance
from analysis.stats.codes import dense_ranks
from analysis.stats.ratings import Codes, or_none
from evalsite.lib.words import counted

SEED = 1940
_MOST_DRAWN = 2_000_000  # pairs in all draws together
_FEWEST_DRAWS, _MOST_DRAWS = 5, 200
_PAGE, _TITLE = "reliability", "Do preferences contradict each other?"
_WHO = {
    "source": "a worker, on one source",
    "worker": "a worker, over all sources",
    "all": "all workers, by majority",
}
_WHERE = {"source": "On one source", "worker": "Over all the sources that a worker judged"}
_CAPTION = (
    "Triads of systems whose three pairs were compared on one criterion. Undecided: some pair is tied. Circular: of "
    "the decided triads, those in which A beats B, B beats C, and C beats A; by chance: if all judgements were random. "
    "ζ: coefficient of consistence (Kendall & Babington Smith 1940), 1 without circular triads and 0 with as many as "
    "there can be; mean over those who decided all pairs of three systems or more."
)


class CircularTriads(Question):
    """How often single workers, and the majority of all, contradict themselves."""

    slug = "circular_triads"
    title = _TITLE
    page = _PAGE

    def is_asked(self, asked: Asked) -> bool:
        """Whether systems were compared with each other."""
        return asked.comparisons() is not None

    def refuse(self, asked: Asked) -> str:
        """Return that it takes three systems."""
        return "" if len(asked.order) > 2 else "Fewer than three systems have a score, so no triads can be circular."

    def compute(self, asked: Asked) -> dict[str, Any]:
        """Return what is circular `on` each level, and of single `workers`.

        Levels are "all" workers, and one of workers: what each judged of one "source", or, where no triads of that
        could be circular, all that a "worker" judged. `has_rankings`: whether several pairs were judged at once.
        """
        pairs = asked.comparisons()
        if pairs is None:
            return {}
        rng = np.random.default_rng(SEED)
        criterion = (pairs.criterion, len(pairs.criteria))
        of_worker = [criterion, (pairs.worker, len(pairs.workers))]
        levels: dict[str, list[tuple[Codes, int]]] = {"worker": of_worker}
        if pairs.sources:
            levels = {"source": [*of_worker, (pairs.source, len(pairs.sources))], **levels}
        for level in levels:
            found, worker_of, own = _on_level(pairs, levels[level], rng)
            if own["by_chance"]:
                break
        return {
            "has_rankings": bool((np.bincount(pairs.judgement) > 1).any()),
            "on": {level: own, "all": _on_level(pairs, [criterion], rng)[2]},
            "workers": [
                {"worker": pairs.workers[worker_of[rows[0]]], **_describe(found, rows)}
                for rows in _rows_of(worker_of, np.flatnonzero(found.n_compared))
            ],
        }

    def sections(self, found: Report) -> list[Section]:
        """Return how much is circular, of workers and of all together; nothing of those who could not be so."""
        levels = [(key, found["on"][key]) for key in _WHO if key in found["on"]]
        (level, own), _ = levels
        known = [_row(_WHO[key], one) for key, one in levels if one["by_chance"]]
        each = [_row(one["worker"], one) for one in found["workers"] if own["by_chance"]]
        name, title = "circular-triads", "Circular triads"
        of_workers = Table(
            f"{name}-of-workers", f"{title} of each worker", _CAPTION, _columns("worker"), each, output=Output.FILES
        )
        of_levels = Table(name, title, _CAPTION, _columns("who"), known, output=Output.FILES | Output.PAGE)
        finding = _finding(found, own, _WHERE[level])
        return [
            Section(self.slug, _TITLE, finding, [table for table in (of_levels, of_workers) if table.rows], page=_PAGE)
        ]


def _on_level(
    pairs: ComparedPairs, parts: list[tuple[Codes, int]], rng: np.random.Generator
) -> tuple[Triads, Codes, dict[str, Any]]:
    """Return the triads of the groups that codes and their numbers make, some worker of each group, and both as JSON.

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
    arrays = pairs.first, pairs.second, pairs.outcome, group, n_groups
    found = count_triads(*arrays)
    described = _describe(found) | {"by_chance": None}
    if described["n_decided"]:
        n_draws = int(np.clip(_MOST_DRAWN // group.size, _FEWEST_DRAWS, _MOST_DRAWS))
        chance = share_by_chance(*arrays, judgement=pairs.judgement, n_draws=n_draws, rng=rng)
        described["by_chance"] = or_none(chance)
    return found, worker_of, described


def _rows_of(worker: Codes, rows: Codes) -> list[Codes]:
    """Return those of the rows that each worker has."""
    ordered = rows[np.argsort(worker[rows], kind="stable")]
    starts = np.flatnonzero(np.diff(worker[ordered])) + 1
    return np.split(ordered, starts) if ordered.size else []


def _describe(found: Triads, rows: Any = slice(None)) -> dict[str, Any]:
    """Return the triads of some groups together, as JSON."""
    n_decided, n_circular = int(found.n_decided[rows].sum()), int(found.n_circular[rows].sum())
    consistence = found.consistence[rows]
    known = consistence[~np.isnan(consistence)]
    return {
        "n_compared": int(found.n_compared[rows].sum()),
        "n_decided": n_decided,
        "n_circular": n_circular,
        "share": n_circular / n_decided if n_decided else None,
        "n_complete": int(known.size),
        "consistence": float(known.mean()) if known.size else None,
    }


def _columns(of: str) -> list[Column]:
    columns = [Column(of), Column("triads"), Column("undecided"), Column("circular"), Column("circular, %", 1)]
    columns += [Column("by chance, %", 1)] if of == "who" else []
    return [
        *columns,
        Column("ζ", 2, hint="coefficient of consistence"),
        Column("of", hint="how many decided all pairs"),
    ]


def _row(name: str, found: Report) -> list[Cell]:
    row: list[Cell] = [name, found["n_compared"], found["n_compared"] - found["n_decided"], found["n_circular"]]
    row.append(in_percent(found["share"]))
    row += [in_percent(found["by_chance"])] if "by_chance" in found else []
    return [*row, found["consistence"], found["n_complete"]]


def _finding(found: Report, own: Report, where: str) -> str:
    everyone, said = found["on"]["all"], []
    if found["has_rankings"]:
        others = "but several together can be" if own["by_chance"] else "and no worker gave several that could be"
        said.append(f"A ranking is never circular in itself, {others}.")
    elif not own["n_decided"]:
        said.append("No worker decided between all of three systems.")
    if own["by_chance"]:
        said.append(
            f"{where}, {100 * own['share']:.0f} % of {counted(own['n_decided'], 'triad')} that a worker decided are "
            f"circular; {100 * own['by_chance']:.0f} % would be by chance."
        )
        if n_tied := own["n_compared"] - own["n_decided"]:
            said.append(f"{counted(n_tied, 'triad')} with a tie {'are' if n_tied > 1 else 'is'} not counted.")
    if everyone["by_chance"]:
        n = everyone["n_circular"]
        said.append(
            f"By the majority of all workers {n or 'none'} of {counted(everyone['n_decided'], 'triad')} "
            f"{'are' if n > 1 else 'is'} circular."
        )
    return " ".join(said)
