"""By what the errors of intervals and tests are clustered: choosing the groupings, and naming them."""

from collections.abc import Mapping

from analysis.results.stored import in_order
from analysis.stats.codes import n_distinct
from analysis.stats.ratings import Codes
from evalsite.lib.words import counted, listed

_ENOUGH_DOCUMENTS = 20
ENOUGH_RATERS = 6
"""So many may stand for others; errors are clustered by them, too."""
_KINDS = ("rater", "worker", "document", "source", "segment", "chat")
"""What errors may be clustered by, in the order of sentences."""


def with_several(groups: Mapping[str, Codes], n_planned: int | None = None) -> dict[str, Codes]:
    """Return the groupings, codes of int, (n,), that have two groups or more; the first one if none has.

    The first one, of workers, stays in any case where `n_planned` are still to come: one of them decides nothing.
    """
    first = dict(list(groups.items())[:1])
    several = {name: codes for name, codes in groups.items() if n_distinct(codes) > 1}
    return (first | several) if n_planned else (several or first)


def choose_groups(
    rater: Codes, document: Codes, segment: Codes, n_documents: int, n_planned: int | None = None
) -> dict[str, Codes]:
    """Return by what scores of segments are clustered, {name: int, (n,)}: documents if there are enough, else segments;
    and raters if there are six or more, or so many are planned: of fewer, a result is one for these raters (METHOD §5).
    """
    groups = {"document": document} if n_documents >= _ENOUGH_DOCUMENTS else {"segment": segment}
    n_raters = max(n_distinct(rater), n_planned or 0)
    return {"rater": rater, **groups} if n_raters >= ENOUGH_RATERS else groups


def in_words(n_clusters: Mapping[str, int]) -> str:
    """Return how many clusters of each kind there are.

    >>> in_words({"worker": 4, "source": 1})
    '4 workers and 1 source'
    """
    return listed([counted(n, name) for name, n in in_order(n_clusters, _KINDS)])


def explain_single(n_clusters: Mapping[str, int]) -> list[str]:
    """Return that nothing can be compared where all is of one worker and of one source; else nothing."""
    if max(n_clusters.values()) > 1:
        return []
    return ["There is one worker and one source: no interval or test is possible."]


def few_raters(n: int) -> str:
    """Return what a result is worth in which errors are not clustered by raters, of whom there are `n`."""
    said = "Intervals and tests take the raters as they are, and say nothing of how others would have judged."
    if n >= ENOUGH_RATERS:  # somebody chose other groupings
        return f"{said} With the option “clusters”: [“rater”, “segment”] they do."
    return f"{counted(n, 'rater')} judged: {said[0].lower()}{said[1:]} With {ENOUGH_RATERS} or more raters they do."
