"""The rules of a campaign's chats."""

from collections.abc import Mapping
from typing import Any

from django import forms

from campaigns.contracts.chat import ChatRules
from campaigns.forms.partial import CheckboxWidget, PartialForm

_MOST_INPUTS, _LONGEST_INPUT = 1000, 20_000
_OPENINGS = [
    ("free", "Free: the worker types a topic of their own"),
    ("icebreaker", "Ice-breaker: the worker is given a statement of the chatbot's persona"),
]

_SENDS_TOPIC = (
    "Off, as in the studies: a chatbot sees the messages and its persona only. The ratings then tell how well it finds "
    "the topic and keeps to it. On: it is sent the current topic with each message. The ratings are then of chatbots "
    "that know the topic; with an ice-breaker those without a persona know the statement, too. The rule is kept with "
    "the chats: compare only campaigns that have the same."
)


class ChatForm(PartialForm):
    """How a chat opens, how long it and its messages may be, and what chatbots are sent of the topic."""

    field_of_code = {"few_inputs": "max_inputs"}

    opening = forms.ChoiceField(label="What a chat is about", choices=_OPENINGS, widget=forms.RadioSelect)
    sends_topic = forms.BooleanField(
        label="Send the topic to the chatbots", required=False, widget=CheckboxWidget, help_text=_SENDS_TOPIC
    )
    min_inputs = forms.IntegerField(
        label="Least messages of the worker",
        min_value=1,
        max_value=_MOST_INPUTS,
        help_text="Before them the worker cannot go on to rate the chatbot. The studies: 10.",
    )
    max_inputs = forms.IntegerField(
        label="Most messages of the worker",
        min_value=1,
        max_value=_MOST_INPUTS,
        help_text="Then the chat is full, and is rated.",
    )
    longest_input = forms.IntegerField(
        label="Longest message", min_value=1, max_value=_LONGEST_INPUT, help_text="In characters."
    )

    def __init__(self, rules: ChatRules, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(data, initial=rules.to_json())
