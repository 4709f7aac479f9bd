"""METEOR: single words that an output shares with its reference, and how far they are in the same order."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from analysis.metrics.kinds import MetricKind, OnOutput, Scores, Texts, missing_library
from analysis.metrics.tokens import TOKENS, tokenise

ALPHA = 0.9
PENALTY, EXPONENT = 0.5, 3.0
"""The penalty is 0.5 · (chunks/matches)³: METHOD calls these β and γ, Lavie & Agarwal and NLTK γ and β."""


class _NoSynonyms:
    """Stands where NLTK expects WordNet, which is not installed with it."""

    def synsets(self, word: str) -> Iterable[Any]:
        """Return no synonyms."""
        return ()


class Meteor(MetricKind):
    """METEOR (Banerjee & Lavie 2005) in its stages *exact* and *stem*, by NLTK; without WordNet's synonyms."""

    slug = "meteor"
    title = "METEOR"
    metrics = ("METEOR",)
    note = (
        f"{TOKENS} Words match if they are the same or have the same stem (Porter, English); synonyms are not matched. "
        "A system's score is the mean of its outputs."
    )

    def score(self, texts: Texts, options: Mapping[str, Any], on_output: OnOutput) -> Sequence[Scores]:
        """Return METEOR, from 0 to 100."""
        try:
            from nltk.stem.porter import PorterStemmer
            from nltk.translate.meteor_score import single_meteor_score
        except ImportError:
            raise missing_library(self, "NLTK") from None

        stemmer, synonyms = PorterStemmer(), _NoSynonyms()
        stemmer.stem = cache(stemmer.stem)
        segments = np.zeros(len(texts.outputs))
        for k, (output, reference) in enumerate(zip(texts.outputs, texts.references, strict=True)):
            words = tokenise(reference), tokenise(output)
            if all(words):
                segments[k] = 100 * single_meteor_score(
                    *words, stemmer=stemmer, wordnet=synonyms, alpha=ALPHA, beta=EXPONENT, gamma=PENALTY
                )
            on_output()
        return [Scores("METEOR", segments)]
