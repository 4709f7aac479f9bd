"""What a worker's browser sends of a chat, and by what researchers filter chats."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django import forms
from django.http import QueryDict

from annotation.chat.flags import FLAGS
from annotation.forms import LARGEST_HIT, FilterForm, read_telemetry, read_whole
from annotation.models import Conversation
from campaigns.models import Chatbot

# The largest value that is believed of each.
TELEMETRY = {"typed_ms": 86_400_000, "n_pastes": 10_000, "n_pasted_chars": 1_000_000, "n_focus_lost": 10_000}


@dataclass(frozen=True)
class SentInput:
    """What a worker says. Numbers that were not sent are 0."""

    position: int
    number: int
    text: str
    telemetry: dict[str, int] = field(default_factory=dict)


def read_input(sent: QueryDict) -> SentInput:
    """Return what was sent; whether it can be kept is for `keep_input` to say."""
    return SentInput(
        position=read_position(sent),
        number=read_whole(sent.get("number")) or 0,
        text=sent.get("text", ""),
        telemetry=read_telemetry(sent, TELEMETRY),
    )


def read_position(sent: QueryDict) -> int:
    """Return the position of the item that a form is about; 0 if it names none."""
    return read_whole(sent.get("position")) or 0


def read_place(sent: QueryDict) -> int:
    """Return the place of the chatbot that a request is about, of those on its page; 0 if it names none."""
    return read_whole(sent.get("place")) or 0


class ChatFilter(FilterForm):
    """Which chats to list; empty fields do not filter. Workers are found by the names that the user may see."""

    search = forms.CharField(
        label="Words", required=False, max_length=200, widget=forms.TextInput(attrs={"type": "search"})
    )
    chatbot = forms.TypedChoiceField(required=False, coerce=int, empty_value=None)
    worker = forms.CharField(required=False, max_length=255, widget=forms.TextInput(attrs={"type": "search"}))
    hit = forms.IntegerField(label="HIT", required=False, min_value=1, max_value=LARGEST_HIT)
    state = forms.ChoiceField(
        required=False, choices=[("", "all"), ("running", "Running now"), *Conversation.State.choices]
    )
    flag = forms.ChoiceField(
        required=False, choices=[("", "all"), *((flag.name, flag.title) for flag in FLAGS.values())]
    )

    def __init__(self, data: Mapping[str, Any], chatbots: Iterable[Chatbot]) -> None:
        super().__init__(data)
        self.fields["chatbot"].choices = [("", "all"), *((each.pk, str(each)) for each in chatbots)]  # type: ignore[attr-defined]
