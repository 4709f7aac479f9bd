"""ROUGE-L: the longest sequence of words that an output and its reference share."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from analysis.metrics.kinds import MetricKind, OnOutput, Scores, Texts
from analysis.metrics.tokens import TOKENS, tokenise


class RougeL(MetricKind):
    """ROUGE-L (Lin 2004): the F measure, with equal weight of precision and recall, of the longest common sequence."""

    slug = "rouge-l"
    title = "ROUGE-L"
    metrics = ("ROUGE-L",)
    note = (
        f"{TOKENS} Precision and recall of the longest common sequence have equal weight (β = 1). A system's score is "
        "the mean of its outputs."
    )

    def score(self, texts: Texts, options: Mapping[str, Any], on_output: OnOutput) -> Sequence[Scores]:
        """Return ROUGE-L, from 0 to 100."""
        segments = np.empty(len(texts.outputs))
        for k, (output, reference) in enumerate(zip(texts.outputs, texts.references, strict=True)):
            segments[k] = 100 * rouge_l(tokenise(output), tokenise(reference))
            on_output()
        return [Scores("ROUGE-L", segments)]


def rouge_l(output: Sequence[str], reference: Sequence[str]) -> float:
    """Return 2·LCS/(m + n) of m and n tokens, from 0 to 1; 0 where either has none.

    Examples
    --------
    >>> rouge_l("police killed the gunman".split(), "police kill the gunman".split())
    0.75
    """
    n_tokens = len(output) + len(reference)
    return 2 * longest_common(output, reference) / n_tokens if output and reference else 0.0


def longest_common(first: Sequence[str], second: Sequence[str]) -> int:
    """Return the length of the longest common subsequence, a row of the table at a time as the bits of one number.

    References
    ----------
    Hyyrö 2004, Bit-parallel LCS-length computation revisited.
    """
    places: dict[str, int] = defaultdict(int)
    for k, token in enumerate(second):
        places[token] |= 1 << k
    everything = (1 << len(second)) - 1
    row = everything
    for token in first:
        matches = row & places.get(token, 0)
        row = ((row + matches) | (row - matches)) & everything
    return len(second) - row.bit_count()
