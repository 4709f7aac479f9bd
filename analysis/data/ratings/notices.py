"""What a person should know about ratings of items that could be read."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.data.notices import N_EXAMPLES, ResponsesWarning
from analysis.data.ratings.columns import ColumnMapping, columns_of
from analysis.stats.ratings import Ratings, match_twins
from campaigns.design.composition import Kind


@dataclass(frozen=True)
class Names:
    """The labels behind the codes, for examples."""

    workers: list[str]
    systems: list[str]
    sources: list[str]
    assignments: list[str]
    criteria: list[str]


def column_warnings(mapping: ColumnMapping, guess: ColumnMapping, *, has_source: bool) -> list[ResponsesWarning]:
    """Return what the analysis has to do without; `guess` is what the file's columns look like."""
    warnings = []
    unused = [name for column, name in guess.items() if column not in mapping and name not in columns_of(mapping)]
    if unused:
        message = f"{len(unused)} columns look as if they belonged to the ratings and were not chosen."
        warnings.append(ResponsesWarning("column_not_used", len(unused), message, tuple(unused[:N_EXAMPLES])))
    if "kind" not in mapping:
        warnings.append(
            ResponsesWarning("no_kind", 1, "No column was used for the kind of item: every item counts as ordinary.")
        )
    if not has_source:
        warnings.append(
            ResponsesWarning(
                "no_source",
                1,
                "The file does not say the source of an item: degraded and repeat items have no twins, so paired "
                "worker tests and scores by output are not possible.",
            )
        )
    return warnings


def rating_warnings(ratings: Ratings, names: Names, hit: NDArray[np.integer] | None) -> list[ResponsesWarning]:
    """Return the warnings about assignments, twins and criteria.

    `hit` is the HIT of each assignment, (n_assignments,), None where it is not known.
    """
    return [*_unfinished(ratings, names, hit), *_without_twin(ratings, names), *_missing_criteria(ratings, names)]


def _unfinished(ratings: Ratings, names: Names, hit: NDArray[np.integer] | None) -> list[ResponsesWarning]:
    n_items = np.bincount(ratings.assignment, minlength=len(names.assignments))
    times = np.bincount(n_items)
    # Of equally common sizes the largest
    expected = np.full(n_items.size, np.flatnonzero(times == times.max())[-1])
    if hit is not None:
        expected = _expected_by_hit(n_items, hit, expected)
    short = np.flatnonzero(n_items < expected)
    if not short.size:
        return []
    examples = tuple(f"{names.assignments[a]}: {n_items[a]} of {expected[a]}" for a in short[:N_EXAMPLES])
    message = f"{short.size:,} assignments have fewer items than is usual for their HIT; they are kept."
    return [ResponsesWarning("unfinished_hit", short.size, message, examples)]


def _expected_by_hit(
    n_items: NDArray[np.integer], hit: NDArray[np.integer], overall: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the most common size among each HIT's assignments; a HIT with one assignment keeps the
    overall one."""
    pairs, times = np.unique(np.stack([hit, n_items]), axis=1, return_counts=True)
    order = np.lexsort((pairs[1], times, pairs[0]))
    hits = pairs[0][order]
    is_last = np.append(hits[1:] != hits[:-1], True)
    usual = np.zeros(int(hit.max()) + 1, np.int64)
    usual[hits[is_last]] = pairs[1][order][is_last]
    n_assignments = np.bincount(hit)
    return np.where(n_assignments[hit] > 1, usual[hit], overall)


def _without_twin(ratings: Ratings, names: Names) -> list[ResponsesWarning]:
    if not names.sources:
        return []
    twin = match_twins(ratings)
    # Live chats have one source, and a degraded chatbot, which has no ordinary items, is nobody's copy.
    is_copy = ratings.has_outputs[ratings.system] | (len(names.sources) > 1)
    warnings = []
    for kind in (Kind.DEGRADED, Kind.REPEAT):
        alone = np.flatnonzero((ratings.kind == kind) & (twin < 0) & is_copy)
        if alone.size:
            message = (
                f"{alone.size:,} {kind.name.lower()} items have no ordinary item of the same assignment, source and "
                "system; they enter no paired test."
            )
            warnings.append(
                ResponsesWarning("twin_missing", alone.size, message, _item_examples(alone, ratings, names))
            )
    return warnings


def _missing_criteria(ratings: Ratings, names: Names) -> list[ResponsesWarning]:
    warnings = []
    is_missing = np.isnan(ratings.scores)
    never = is_missing.all(axis=0)
    if never.any():
        unrated = [names.criteria[place] for place in np.flatnonzero(never).tolist()]
        message = f"{len(unrated)} criteria of the protocol have no rating at all."
        warnings.append(ResponsesWarning("criterion_never_rated", len(unrated), message, tuple(unrated[:N_EXAMPLES])))
    partly = np.flatnonzero(is_missing[:, ~never].any(axis=1))
    if partly.size:
        message = f"{partly.size:,} items lack a rating for some criterion."
        warnings.append(
            ResponsesWarning("criterion_missing", partly.size, message, _item_examples(partly, ratings, names))
        )
    return warnings


def _item_examples(items: NDArray[np.int64], ratings: Ratings, names: Names) -> tuple[str, ...]:
    examples = []
    for item in items[:N_EXAMPLES].tolist():
        source = int(ratings.source[item])
        parts = [f"assignment {names.assignments[ratings.assignment[item]]}"]
        parts += [f"source {names.sources[source]}"] if source >= 0 else []
        examples.append(", ".join([*parts, f"system {names.systems[ratings.system[item]]}"]))
    return tuple(examples)
