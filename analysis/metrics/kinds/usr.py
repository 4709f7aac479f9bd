"""USR's parts: is a reply likely in its dialogue, and is it the one that was said? (Mehri & Eskenazi 2020a)."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from analysis.metrics.kinds import Data, Floats, OnOutput, Scores, Texts
from analysis.metrics.models import Model, TokenRow
from analysis.metrics.neural import (
    Collected,
    ModelChoice,
    NeuralKind,
    Part,
    Reply,
    SourceField,
    answer_parts,
    lacks_dialogue,
    masked_words,
    replies_of,
)
from campaigns.contracts.options import OptionsForm

_OF_DIALOGUES = "A dialogue's score is the mean over the chatbot's replies, a system's the mean of its outputs."


class MaskedOptions(OptionsForm):
    """The model."""

    model = ModelChoice(help_text="A masked language model such as RoBERTa, exported with --task fill-mask.")


class RetrievalOptions(OptionsForm):
    """The model."""

    model = ModelChoice(
        help_text="A classifier trained to tell true replies from others, exported with --task text-classification."
    )


class FactOptions(RetrievalOptions):
    """The model, and what the reply should use."""

    fact = SourceField(initial="fact", label="Fact", help_text="What the reply should use.")


class _Usr(NeuralKind):
    def lacks_in(self, data: Data) -> str:
        """Return what is missing in the data."""
        return lacks_dialogue(data)


class UsrMasked(_Usr):
    """USR's masked-LM part: Σ ln P(word of the reply), each word masked by itself, after the dialogue."""

    slug = "usr-mlm"
    title = "USR-MLM"
    metrics = ("USR-MLM",)
    note = (
        "For replies in dialogues: needs no reference. A masked language model reads the dialogue and the reply with "
        "one word of the reply masked at a time; the natural logarithms of the probabilities of the true words are "
        f"added. A long dialogue is read in windows: their mean. {_OF_DIALOGUES}"
    )
    task = "fill-mask"
    Options = MaskedOptions

    def score(self, texts: Texts, options: Mapping[str, Any], on_output: OnOutput) -> Sequence[Scores]:
        """Return USR-MLM, at most 0."""
        model = self.load(options)
        model.require("logits", self.task)
        begin, end = model.special("cls_token"), model.special("sep_token")

        def asked() -> Iterator[list[Part]]:
            for place in range(len(texts.outputs)):
                yield [
                    masked_words(model, _history(model, reply, begin, end), reply.text, last=(end,))
                    for reply in replies_of(texts, place)
                ]

        found = Collected()
        for parts in answer_parts(asked(), model.log_likelihoods):
            found.add([_mean_of([part.sum(axis=1) for part in parts])], parts, on_output)
        return found.scores(self.metrics, model)


def _history(model: Model, reply: Reply, begin: int, end: int) -> list[int]:
    return [begin, *(token for turn in reply.history for token in (*model.encode(turn.text), end))]


def _mean_of(parts: Sequence[Floats]) -> float:
    """Return the mean over replies of their means over windows; NaN if there is none, or one cannot be scored."""
    return float(np.mean([part.mean() if part.size else np.nan for part in parts])) if parts else float("nan")


class UsrRetrieval(_Usr):
    """USR's dialogue retrieval with the dialogue as context: P(the reply is the one that was said)."""

    slug = "usr-dr-c"
    title = "USR-DR, dialogue"
    metrics = ("USR-DR(c)",)
    note = (
        "For replies in dialogues: needs no reference. A classifier that was trained to tell the true next reply from "
        "others reads the dialogue and the reply: the probability of its last class, from 0 to 1. A long dialogue is "
        f"read in windows: their mean. {_OF_DIALOGUES}"
    )
    task = "text-classification"
    Options = RetrievalOptions

    def score(self, texts: Texts, options: Mapping[str, Any], on_output: OnOutput) -> Sequence[Scores]:
        """Return the probability, from 0 to 1."""
        model = self.load(options)
        model.require("logits", self.task)

        def asked() -> Iterator[list[Part]]:
            for place in range(len(texts.outputs)):
                yield [
                    [[row] for row in model.encode_pair(context, reply.text)]
                    for context, reply in self.pairs(texts, place, options)
                ]

        found = Collected()
        for parts in answer_parts(asked(), lambda rows: _probabilities(model, rows)):
            found.add([_mean_of(parts)], parts, on_output)
        return found.scores(self.metrics, model)

    def pairs(self, texts: Texts, place: int, options: Mapping[str, Any]) -> list[tuple[str, Reply]]:
        """Return each reply of an output with what the classifier compares it with: here the turns before it."""
        return [("\n".join(turn.text for turn in reply.history), reply) for reply in replies_of(texts, place)]


class UsrFact(UsrRetrieval):
    """USR's dialogue retrieval with a fact as context: P(the reply is the one that was said with it)."""

    slug = "usr-dr-f"
    title = "USR-DR, fact"
    metrics = ("USR-DR(f)",)
    note = (
        "As USR-DR with the dialogue, but the classifier reads a fact that the reply should use, a text of the source. "
        "Replies without a fact are left out."
    )
    Options = FactOptions

    def lacks_in(self, data: Data) -> str:
        """Return what is missing in the data: dialogues, and a text that can be the fact."""
        return super().lacks_in(data) or (
            "" if data.fields else "It needs a fact of each source, and no text is there."
        )

    def pairs(self, texts: Texts, place: int, options: Mapping[str, Any]) -> list[tuple[str, Reply]]:
        """Return each reply with the fact."""
        fact = texts.field_of(place, self.field_of(options, "fact"))
        return [(fact, reply) for reply in replies_of(texts, place)] if fact else []


def _probabilities(model: Model, rows: Iterator[TokenRow]) -> Iterator[float]:
    """Yield P of the last of two or more classes, or of the only one."""
    for logits in model.run(rows, "logits"):
        if logits.ndim != 1:
            raise model.folder.error("it is no classifier: its logits are not one number a class.")
        found = logits.astype(np.float64)
        against = np.concatenate(([0.0], found)) if found.size == 1 else found
        yield float(np.exp(found[-1] - np.logaddexp.reduce(against)))
