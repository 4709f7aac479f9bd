"""BLEU and GLEU: which runs of up to four words an output shares with its reference."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from analysis.metrics.kinds import Floats, MetricKind, OnOutput, Scores, Texts, missing_library
from analysis.metrics.tokens import TOKENS, tokenise

ORDERS = (1, 4)


class Bleu(MetricKind):
    """BLEU with runs of one word, and of one to four (Papineni et al. 2002), by sacrebleu."""

    slug = "bleu"
    title = "BLEU"
    metrics = tuple(f"BLEU-{order}" for order in ORDERS)
    note = (
        f"{TOKENS} A system's score is the corpus BLEU of its outputs, not the mean of their scores; of a single "
        "output, runs that do not occur are smoothed exponentially."
    )

    def score(self, texts: Texts, options: Mapping[str, Any], on_output: OnOutput) -> Sequence[Scores]:
        """Return BLEU-1 and BLEU-4, from 0 to 100."""
        spaced = [" ".join(tokenise(text)) for text in texts.outputs]
        references = [" ".join(tokenise(text)) for text in texts.references]
        segments = sentence_bleu(self, spaced, references, on_output)
        return [
            Scores(f"BLEU-{order}", segments[order], _corpus_bleu(texts, order, spaced, references)) for order in ORDERS
        ]


def sentence_bleu(
    kind: MetricKind, outputs: Sequence[str], references: Sequence[str], on_output: OnOutput
) -> dict[int, Floats]:
    """Return BLEU of each output from 0 to 100, by the length of the longest runs; tokens are separated by spaces."""
    try:
        from sacrebleu.metrics import BLEU
    except ImportError:
        raise missing_library(kind, "sacrebleu") from None

    scorers = {
        order: BLEU(tokenize="none", force=True, max_ngram_order=order, effective_order=True) for order in ORDERS
    }
    found = {order: np.empty(len(outputs)) for order in ORDERS}
    for k, (output, reference) in enumerate(zip(outputs, references, strict=True)):
        for order, scorer in scorers.items():
            found[order][k] = scorer.sentence_score(output, [reference]).score
        on_output()
    return found


def _corpus_bleu(texts: Texts, order: int, outputs: Sequence[str], references: Sequence[str]) -> Floats:
    from sacrebleu.metrics import BLEU

    scorer = BLEU(tokenize="none", force=True, max_ngram_order=order, smooth_method="none")

    def of_system(places: list[int]) -> float:
        own = [outputs[k] for k in places], [references[k] for k in places]
        return float(scorer.corpus_score(own[0], [own[1]]).score)

    return texts.of_systems(of_system)


class Gleu(MetricKind):
    """Google's BLEU: the lower of precision and recall of runs of one to four words (Wu et al. 2016), by NLTK."""

    slug = "gleu"
    title = "GLEU"
    metrics = ("GLEU",)
    note = f"{TOKENS} A system's score is the corpus GLEU of its outputs, not the mean of their scores."

    def score(self, texts: Texts, options: Mapping[str, Any], on_output: OnOutput) -> Sequence[Scores]:
        """Return GLEU, from 0 to 100."""
        try:
            from nltk.translate.gleu_score import corpus_gleu, sentence_gleu
        except ImportError:
            raise missing_library(self, "NLTK") from None

        outputs = [tokenise(text) for text in texts.outputs]
        references = [[tokenise(text)] for text in texts.references]
        segments = np.empty(len(outputs))
        for k, output in enumerate(outputs):
            segments[k] = 100 * sentence_gleu(references[k], output)
            on_output()
        systems = texts.of_systems(
            lambda places: 100 * corpus_gleu([references[k] for k in places], [outputs[k] for k in places])
        )
        return [Scores("GLEU", segments, systems)]
