"""What metrics by neural models share: the choice of a model folder, the counting of windows, masked words."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar

import numpy as np

from analysis.metrics.folders import get_folder, list_models, what_is_missing
from analysis.metrics.kinds import Data, Floats, MetricKind, OnOutput, Scores, Texts, missing_library
from analysis.metrics.models import Model, Question, load_model, windows
from campaigns.contracts.chat import Utterance
from campaigns.contracts.options import Choice, Text
from campaigns.dialogues import parse_transcript
from evalsite.lib.errors import DomainError
from evalsite.lib.tables.errors import listing


def _folders() -> list[tuple[str, str]]:
    return [("", "choose a model"), *((name, name) for name in list_models())]


class ModelChoice(Choice):
    """The name of a model folder."""

    is_needed = True  # by the metric, if that is chosen

    def __init__(self, **options: Any) -> None:
        super().__init__(label="Model", required=False, choices=_folders, initial="", **options)

    def valid_value(self, value: Any) -> bool:
        """Take any name: `NeuralKind.check` says what is wrong with it."""
        return True


class SourceField(Text):
    """The name of a field of the sources; pages offer those that the campaign has."""

    is_needed = True


class NeuralKind(MetricKind):
    """A metric by a model of a folder. `task` is that of Optimum with which the model is exported."""

    is_default = False
    needs_reference = False
    task: ClassVar[str]

    def lacks(self, data: Data) -> str:
        """Return what is missing: in the data, an installed library or a model folder."""
        return super().lacks(data) or self.lacks_in(data) or what_is_missing()

    def lacks_in(self, data: Data) -> str:
        """Return what is missing in the data; empty if nothing is."""
        return ""

    def check(self, data: Data, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options as they are stored.

        Raises DomainError `bad_option`, also if no model or a field that is not there is chosen, or `bad_model`.
        """
        checked = super().check(data, options)
        if not checked.get("model"):
            raise DomainError("bad_option", f"{self.title}: choose a model. There are {listing(list_models())}.")
        get_folder(checked["model"])
        for name, option in self.Options.plain().items():
            if isinstance(option, SourceField) and (chosen := self.Options.value_of(checked, name)) not in data.fields:
                raise DomainError(
                    "bad_option",
                    f"{self.title}, {option.label}: the sources have no text “{chosen}”. Choose one of "
                    f"{listing(data.fields)}.",
                )
        return checked

    def load(self, options: Mapping[str, Any]) -> Model:
        """Return the chosen model; raise DomainError `missing_library` or `bad_model`."""
        try:
            return load_model(options.get("model") or "")
        except ImportError:
            raise missing_library(self, "ONNX Runtime and tokenizers", "neural") from None

    def field_of(self, options: Mapping[str, Any], name: str) -> str:
        """Return which field of the sources an option names."""
        found: str = self.Options.value_of(options, name)
        return found


# --- What is asked of a model about outputs, and its answers

Asked = TypeVar("Asked")
Answer = TypeVar("Answer")
Part = list[list[Any]]
"""Of an output, or of one of its replies: for each window what is asked of it. Empty: it cannot be scored."""


def by_output(
    asked: Iterable[Sequence[Asked]], run: Callable[[Iterator[Asked]], Iterator[Answer]]
) -> Iterator[list[Answer]]:
    """Yield the answers of each output, in order, from one stream of requests that `run` divides into batches."""
    sizes: deque[int] = deque()

    def requests() -> Iterator[Asked]:
        for own in asked:
            sizes.append(len(own))
            yield from own

    found: list[Answer] = []
    for each in run(requests()):
        while not sizes[0]:
            sizes.popleft()
            yield []
        found.append(each)
        if len(found) == sizes[0]:
            sizes.popleft()
            yield found
            found = []
    for _ in sizes:
        yield []


def answer_parts(
    asked: Iterable[Sequence[Part]], run: Callable[[Iterator[Any]], Iterator[float]]
) -> Iterator[list[Floats]]:
    """Yield the numbers of each part of each output, (n_windows, n_requests), in order."""
    shapes: deque[list[tuple[int, int]]] = deque()

    def flat() -> Iterator[list[Any]]:
        for parts in asked:
            shapes.append([(len(part), len(part[0]) if part else 0) for part in parts])
            yield [request for part in parts for window in part for request in window]

    for numbers in by_output(flat(), run):
        own, begin = [], 0
        for shape in shapes.popleft():
            end = begin + shape[0] * shape[1]
            own.append(np.array(numbers[begin:end], np.float64).reshape(shape))
            begin = end
        yield own


def masked_words(
    model: Model, context: Sequence[int], text: str, *, first: Sequence[int] = (), last: Sequence[int] = ()
) -> Part:
    """Return questions for each word of a text, masked whole, after a context that is read in windows.

    What the model reads begins with a window of the context, goes on with `first` and the text, and ends with `last`.
    """
    ids, words = model.encode_words(text)
    room = model.longest - len(first) - len(ids) - len(last)
    if not words or room < 1:
        return []
    mask = model.special("mask_token")
    found = []
    for window in windows(len(context), room):
        start = [*context[window], *first]
        group = []
        for word in words:
            masked = [mask if place in word else token for place, token in enumerate(ids)]
            places = [len(start) + place for place in word]
            group.append(Question([*start, *masked, *last], places, [ids[place] for place in word]))
        found.append(group)
    return found


# --- Dialogues


@dataclass(frozen=True)
class Reply:
    """What a chatbot said, and everything before it."""

    history: tuple[Utterance, ...]
    text: str


def dialogue_of(texts: Texts, place: int) -> tuple[Utterance, ...]:
    """Return the turns up to and with the output at a place; empty where there is no dialogue before a reply."""
    output = texts.outputs[place]
    if texts.data.format.of_dialogue == "whole":
        return parse_transcript(output)
    before = texts.field_of(place, texts.data.dialogue_field)
    return (*parse_transcript(before, is_before_reply=True), Utterance("chatbot", output)) if before else ()


def replies_of(texts: Texts, place: int) -> list[Reply]:
    """Return the replies that are rated: the output itself, or each of a dialogue's that follows something."""
    turns = dialogue_of(texts, place)
    last = [len(turns) - 1] if texts.data.format.of_dialogue == "reply" else range(len(turns))
    return [
        Reply(turns[:k], turns[k].text) for k in last if k > 0 and turns[k].by == "chatbot" and turns[k].text.strip()
    ]


def lacks_dialogue(data: Data) -> str:
    """Return what is missing for a metric of dialogues; empty if outputs are dialogues or replies in one."""
    of_dialogue = data.format.of_dialogue
    if of_dialogue == "whole" or (of_dialogue and data.dialogue_field):
        return ""
    return "It scores dialogues, or replies with the dialogue before them, and these outputs are neither."


@dataclass
class Collected:
    """Scores of outputs as they come: NaN for those that have none, and how many needed windows."""

    segments: list[list[float]] = field(default_factory=list)
    n_windowed: int = 0

    def add(self, scores: Sequence[float], parts: Sequence[Sized], on_output: OnOutput) -> None:
        """Add what each metric says of the next output; each of `parts` is as long as it has windows."""
        self.segments.append(list(scores))
        self.n_windowed += any(len(part) > 1 for part in parts)
        on_output()

    def scores(self, metrics: Sequence[str], model: Model) -> list[Scores]:
        """Return the scores by metric."""
        columns = np.array(self.segments, np.float64).reshape(-1, len(metrics)).T
        return [
            Scores(name, column, model=model.name, n_windowed=self.n_windowed)
            for name, column in zip(metrics, columns, strict=True)
        ]
