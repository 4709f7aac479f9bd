"""FED: which follow-up utterances a dialogue model expects, such as “That makes no sense!” (Mehri & Eskenazi 2020b)."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from analysis.metrics.kinds import Data, Floats, OnOutput, Scores, Texts
from analysis.metrics.models import Model, Question, windows
from analysis.metrics.neural import (
    Collected,
    ModelChoice,
    NeuralKind,
    Part,
    answer_parts,
    dialogue_of,
    lacks_dialogue,
)
from campaigns.contracts.options import OptionsForm

# What a person would say after a good and after a bad reply, as published with the metric.
_SENSE = ("That makes sense!", "You have a good point.")
_OF_REPLIES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "interesting": (
        ("Wow that is really interesting.", "That's really interesting!", "Cool! That sounds super interesting."),
        ("That's not very interesting.", "That's really boring.", "That was a really boring response."),
    ),
    "engaging": (
        ("Wow! That's really cool!", "Tell me more!", "I'm really interested in learning more about this."),
        (
            "Let's change the topic.",
            "I don't really care. That's pretty boring.",
            "I want to talk about something else.",
        ),
    ),
    "specific": (
        ("That's good to know. Cool!", "I see, that's interesting.", "That's a good point."),
        ("That's a very generic response.", "Not really relevant here.", "That's not really relevant here."),
    ),
    "relevant": (
        (),
        ("That's not even related to what I said.", "Don't change the topic!", "Why are you changing the topic?"),
    ),
    "correct": (
        (),
        ("You're not understanding me!", "I am so confused right now!", "I don't understand what you're saying."),
    ),
    "semantically appropriate": (_SENSE, ("That makes no sense!",)),
    "understandable": (
        _SENSE,
        ("I don't understand at all!", "I'm so confused!", "That makes no sense!", "What does that even mean?"),
    ),
    "fluent": (_SENSE, ("Is that real English?", "I'm so confused right now!", "That makes no sense!")),
}
_OF_DIALOGUES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "coherent": (
        (),
        ("You're making no sense at all.", "You're changing the topic so much!", "You are so confusing."),
    ),
    "error recovery": (
        (),
        ("I am so confused right now.", "You're really confusing.", "I don't understand what you're saying."),
    ),
    "consistent": ((), ("That's not what you said earlier!", "Stop contradicting yourself!")),
    "diverse": (
        (),
        ("Stop saying the same thing repeatedly.", "Why are you repeating yourself?", "Stop repeating yourself!"),
    ),
    "depth": ((), ("Stop changing the topic so much.", "Don't change the topic!")),
    "likeable": (
        ("I like you!", "You're super polite and fun to talk to", "Great talking to you."),
        ("You're not very nice.", "You're not very fun to talk to.", "I don't like you."),
    ),
    "understanding": (
        (),
        ("You're not understanding me!", "What are you trying to say?", "I don't understand what you're saying."),
    ),
    "flexible": (
        ("You're very easy to talk to!", "Wow you can talk about a lot of things!"),
        ("I don't want to talk about that!", "Do you know how to talk about something else?"),
    ),
    "informative": (
        ("Thanks for all the information!", "Wow that's a lot of information.", "You know a lot of facts!"),
        ("You're really boring.", "You don't really know much."),
    ),
    "inquisitive": (
        ("You ask a lot of questions!", "That's a lot of questions!"),
        ("You don't ask many questions.", "You don't seem interested."),
    ),
}


class FedOptions(OptionsForm):
    """The model."""

    model = ModelChoice(help_text="A dialogue model such as DialoGPT, exported with --task text-generation.")


_NOTE = (
    "A dialogue model (DialoGPT) gives ln P of utterances that a person might say next; a quality is the mean over its "
    "positive ones minus the mean over its negative ones, where none count 0. Qualities without positive ones are high "
    "where complaints are unlikely. A system's score is the mean of its outputs."
)


class _Fed(NeuralKind):
    """FED of the qualities of `follow_ups`: positive and negative utterances by quality."""

    task = "text-generation"
    Options = FedOptions
    follow_ups: ClassVar[Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]]
    n_kept: ClassVar[int]
    """Last turns that every window has."""

    def score(self, texts: Texts, options: Mapping[str, Any], on_output: OnOutput) -> Sequence[Scores]:
        """Return each quality, in natural logarithms."""
        model = self.load(options)
        model.require("logits", self.task)
        said = list(dict.fromkeys(text for pair in self.follow_ups.values() for each in pair for text in each))
        tokens = [model.encode(text) for text in said]

        def asked() -> Iterator[list[Part]]:
            for place in range(len(texts.outputs)):
                yield [self._ask(model, [turn.text for turn in dialogue_of(texts, place)], tokens)]

        found = Collected()
        for parts in answer_parts(asked(), model.log_likelihoods):
            of_each = dict(zip(said, parts[0].mean(axis=0), strict=True)) if parts[0].size else {}
            found.add([_quality(pair, of_each) for pair in self.follow_ups.values()], parts, on_output)
        return found.scores(self.metrics, model)

    def _ask(self, model: Model, turns: Sequence[str], follow_ups: Sequence[Sequence[int]]) -> Part:
        """Return how likely each follow-up is after ⟨eos⟩ turn ⟨eos⟩ … turn ⟨eos⟩, whose beginning is in windows."""
        if not turns:
            return []
        end, split = model.special("eos_token"), len(turns) - self.n_kept
        before, kept = (
            [token for turn in part for token in (*model.encode(turn), end)] for part in (turns[:split], turns[split:])
        )
        room = model.longest - 1 - len(kept) - max(map(len, follow_ups))
        if room < 1:
            return []
        found = []
        for window in windows(len(before), room):
            start = [end, *before[window], *kept]
            at = len(start) - 1  # where the first token of what follows is predicted
            found.append([Question([*start, *own], range(at, at + len(own)), own) for own in follow_ups])
        return found


def _quality(pair: tuple[Sequence[str], Sequence[str]], likelihoods: Mapping[str, Floats]) -> float:
    if not likelihoods:
        return float("nan")
    positive, negative = (float(np.mean([likelihoods[text] for text in part])) if part else 0.0 for part in pair)
    return positive - negative


class FedReply(_Fed):
    """FED of single replies in their dialogue: eight qualities."""

    slug = "fed-reply"
    title = "FED of replies"
    metrics = tuple(f"FED {quality}" for quality in _OF_REPLIES)
    note = f"For single replies: needs no reference. {_NOTE} A long beginning is read in windows: their mean."
    follow_ups = _OF_REPLIES
    n_kept = 1

    def lacks_in(self, data: Data) -> str:
        """Return what is missing in the data."""
        if data.format.of_dialogue == "whole":
            return "It scores single replies, and these outputs are whole dialogues."
        return lacks_dialogue(data)


class FedDialogue(_Fed):
    """FED of whole dialogues: ten qualities."""

    slug = "fed-dialogue"
    title = "FED of dialogues"
    metrics = tuple(f"FED {quality}" for quality in _OF_DIALOGUES)
    note = f"For whole dialogues: needs no reference. {_NOTE} A long dialogue is read in windows: their mean."
    follow_ups = _OF_DIALOGUES
    n_kept = 0

    def lacks_in(self, data: Data) -> str:
        """Return what is missing in the data."""
        if data.format.of_dialogue == "reply":
            return "It scores whole dialogues, and these outputs are single replies."
        return lacks_dialogue(data)
