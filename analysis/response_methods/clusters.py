"""By what the errors of intervals and tests are clustered: choosing the groupings, and naming them."""

from collections.abc import Mapping

import numpy as np

from analysis.stats.ratings import Codes
from analysis.stored import in_order
from evalsite.lib.words import counted, listed

_ENOUGH_DOCUMENTS = 20
_KINDS = ("rater", "worker", "document", "source", "segment", "chat")
"""What errors may be clustered by, in the order of sentences."""


def with_several(groups: Mapping[str, Codes]) -> dict[str, Codes]:
    """Return the groupings, codes of int, (n,), that have two groups or more; the first one if none has."""
    several = {name: codes for name, codes in groups.items() if np.unique(codes).size > 1}
    return several or dict(list(groups.items())[:1])


def choose_document_or_segment(n_documents: int) -> str:
    """Return by what scores of segments are clustered: `document` if there are enough of them, else `segment`."""
    return "document" if n_documents >= _ENOUGH_DOCUMENTS else "segment"


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
