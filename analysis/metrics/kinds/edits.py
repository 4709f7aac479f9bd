"""chrF, of characters, and TER, of edits: as sacrebleu computes them."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from analysis.metrics.kinds import MetricKind, OnOutput, Scores, Texts, missing_library
from analysis.metrics.tokens import TOKENS, tokenise


def _score(
    kind: MetricKind, name: str, texts: Texts, outputs: Sequence[str], references: Sequence[str], on_output: OnOutput
) -> tuple[np.ndarray, np.ndarray]:
    """Return a metric of sacrebleu for each output and, of all of its outputs together, for each system."""
    try:
        from sacrebleu import metrics
    except ImportError:
        raise missing_library(kind, "sacrebleu") from None

    scorer = getattr(metrics, name)()
    segments = np.empty(len(outputs))
    for k, (output, reference) in enumerate(zip(outputs, references, strict=True)):
        segments[k] = scorer.sentence_score(output, [reference]).score
        on_output()
    systems = texts.of_systems(
        lambda places: scorer.corpus_score([outputs[k] for k in places], [[references[k] for k in places]]).score
    )
    return segments, systems


class Chrf(MetricKind):
    """chrF2 (Popović 2015): runs of one to six characters, recall counting twice as much as precision."""

    slug = "chrf"
    title = "chrF"
    metrics = ("chrF",)
    note = (
        "Characters without spaces, in their case as written. A system's score is of all its outputs together, not the "
        "mean of their scores."
    )

    def score(self, texts: Texts, options: Mapping[str, Any], on_output: OnOutput) -> Sequence[Scores]:
        """Return chrF2, from 0 to 100."""
        return [Scores("chrF", *_score(self, "CHRF", texts, texts.outputs, texts.references, on_output))]


class Ter(MetricKind):
    """Translation edit rate (Snover et al. 2006), negative: 0 is the reference itself, −100 as many edits as words."""

    slug = "ter"
    title = "TER"
    metrics = ("TER (negative)",)
    note = (
        f"{TOKENS} The sign is changed, so that higher is better. A system's score is of all its outputs together, not "
        "the mean of their scores."
    )

    def score(self, texts: Texts, options: Mapping[str, Any], on_output: OnOutput) -> Sequence[Scores]:
        """Return the negative TER in per cent."""
        outputs, references = (
            [" ".join(tokenise(text)) for text in each] for each in (texts.outputs, texts.references)
        )
        segments, systems = _score(self, "TER", texts, outputs, references, on_output)
        return [Scores(self.metrics[0], 0 - segments, 0 - systems)]
