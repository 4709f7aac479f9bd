"""Q-BLEU: does a question ask for what its reference asks for (Nema & Khapra 2018)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from analysis.metrics.kinds import MetricKind, OnOutput, Scores, Texts
from analysis.metrics.kinds.bleu import ORDERS, sentence_bleu
from analysis.metrics.tokens import tokenise
from campaigns.contracts.options import OptionsForm, Percent

_QUESTION_WORDS = frozenset(tokenise("what which why who whom whose where when how"))
# English stop words without question words and the single letters of contractions, as in the authors' program.
_FUNCTION_WORDS = frozenset(
    tokenise(
        "a about above after again against all am an and any are as at be because been before being below between "
        "both but by can did do does doing down during each few for from further had has have having he her here hers "
        "herself him himself his i if in into is it its itself just me more most my myself no nor not now of off on "
        "once only or other our ours ourselves out over own same she should so some such than that the their theirs "
        "them themselves then there these they this those through to too under until up very was we were while will "
        "with you your yours yourself yourselves"
    )
)
_CLASSES = ("content", "name", "question", "function")


class QBleuOptions(OptionsForm):
    """The weights; those of the program that the authors published by default."""

    answerability = Percent(initial="70", label="Weight of answerability, %", help_text="The rest is BLEU's.")
    name = Percent(initial="60", label="Weight of names, %", help_text="Words with a capital letter.")
    question = Percent(initial="20", label="Weight of question words, %", help_text="What, who, when …")
    content = Percent(
        initial="10", label="Weight of content words, %", help_text="The rest of 100 % is of function words."
    )


class QBleu(MetricKind):
    """Answerability, a weighted overlap of four classes of words, mixed with BLEU."""

    slug = "q-bleu"
    title = "Q-BLEU"
    metrics = tuple(f"Q-BLEU{order}" for order in ORDERS)
    note = (
        "For questions in English. Names are words with a capital letter, but for a question word at the beginning; "
        "BLEU is of lower-cased texts. A system's score is the mean of its outputs."
    )
    is_default = False
    Options = QBleuOptions

    def score(self, texts: Texts, options: Mapping[str, Any], on_output: OnOutput) -> Sequence[Scores]:
        """Return Q-BLEU1 and Q-BLEU4, from 0 to 100."""
        weights = {name: float(_percent(options, name)) / 100 for name in ("name", "question", "content")}
        weights["function"] = max(1 - sum(weights.values()), 0.0)
        share = float(_percent(options, "answerability")) / 100
        outputs, references = (
            [" ".join(tokenise(text)) for text in each] for each in (texts.outputs, texts.references)
        )
        bleu = sentence_bleu(self, outputs, references, on_output)
        answerable = np.array(
            [
                100 * answerability(tokenise(output, keeps_case=True), tokenise(reference, keeps_case=True), weights)
                for output, reference in zip(texts.outputs, texts.references, strict=True)
            ],
            np.float64,
        )
        return [Scores(f"Q-BLEU{order}", share * answerable + (1 - share) * bleu[order]) for order in ORDERS]


def _percent(options: Mapping[str, Any], name: str) -> Decimal:
    found: Decimal = QBleuOptions.value_of(options, name)
    return found


def answerability(output: Sequence[str], reference: Sequence[str], weights: Mapping[str, float]) -> float:
    """Return 2PR/(P + R), from 0 to 1, of the weighted precision P and recall R of four classes of words.

    P = Σ w·c/n of the output's n words of a class, of which c are in the reference's; R likewise of the reference's
    words. A class that a text has no word of adds nothing. Tokens keep their case. It is the paper's formula; the
    authors' program adds up an F of each class, w·2cₚcᵣ/(cₚ + cᵣ), and lowers cₚ or cᵣ of the shorter text by BLEU's
    brevity penalty. Both are the same where the questions have equally many words of each class.

    Examples
    --------
    >>> weights = {"name": 0.6, "question": 0.2, "content": 0.1, "function": 0.1}
    >>> round(answerability("Is this a great question".split(), "Is this a good question".split(), weights), 3)
    0.75
    """
    theirs, ours = _classes(output), _classes(reference)
    precision = recall = 0.0
    for name in _CLASSES:
        n_common = (theirs[name] & ours[name]).total()
        precision += weights[name] * n_common / (theirs[name].total() or 1)
        recall += weights[name] * n_common / (ours[name].total() or 1)
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def _classes(tokens: Sequence[str]) -> dict[str, Counter[str]]:
    """Return the words of a question by class, lower-cased; what follows *what* or *which* belongs to the question.

    Function words count whether or not they have a capital letter. Punctuation marks are in no class.
    """
    found: dict[str, Counter[str]] = {name: Counter() for name in _CLASSES}
    asks = False
    for k, token in enumerate(tokens):
        word = token.lower()
        is_of_question = asks or word in _QUESTION_WORDS
        asks = word in ("what", "which")
        if not word[0].isalnum():
            continue
        if is_of_question:
            found["question"][word] += 1
        if word in _FUNCTION_WORDS:
            found["function"][word] += 1
        if token[0].isupper() and not (k == 0 and word in _QUESTION_WORDS):
            found["name"][word] += 1
        elif not is_of_question and word not in _FUNCTION_WORDS:
            found["content"][word] += 1
    return found
