"""Chatbots: a new one, its settings, its secrets, its dialogues, a test."""

from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any

from django import forms

from campaigns.contracts.connector import Connector
from campaigns.forms.money import cap_field, price_field, typed_amount
from campaigns.forms.partial import LinesField, OptionsPartialForm, pop_named
from campaigns.models import LONGEST_NAME, Chatbot
from campaigns.services.chatbots import OPERATIONAL
from evalsite.web import SizedFileField

# A statement is the topic of an ice-breaker chat, which has its limit.
_LONGEST_STATEMENT, _MOST_STATEMENTS = 500, 200
_MOST_REPLY_CHARS = 20_000
_OF_PERSONA = ("persona", "n_statements")
_LIMITS = ("timeout_s", "n_retries", "max_chars", "max_parallel")
_PRICES = ("price_per_reply", "price_in", "price_out", "spending_cap")
_FAMILY_HELP = "Chatbots of one family, such as one model with and without a persona, never meet in one HIT."


class StatementsField(LinesField):
    """Statements, one a line."""

    noun, longest, most = "statement", _LONGEST_STATEMENT, _MOST_STATEMENTS


class ChatbotForm(OptionsPartialForm):
    """Name, family, the connector's options except its secrets, persona, limits and prices."""

    field_of_code = {"name_taken": "name"}
    after_launch = OPERATIONAL
    settings_name = "settings"

    name = forms.CharField(max_length=LONGEST_NAME, help_text="It appears in results. Workers never see it.")
    family = forms.CharField(max_length=LONGEST_NAME, required=False, help_text=_FAMILY_HELP)
    persona = StatementsField(
        label="Statements",
        required=False,
        widget=forms.Textarea(attrs={"rows": 5}),
        help_text="One a line, such as “I have two dogs.” The chatbot gets them and should act on them; in "
        "ice-breaker campaigns one is what the chat is about.",
    )
    n_statements = forms.IntegerField(
        label="Statements drawn for each chat",
        min_value=1,
        max_value=_MOST_STATEMENTS,
        required=False,
        help_text="Empty: all of them.",
    )
    timeout_s = forms.IntegerField(label="Seconds to wait for a reply", min_value=1, max_value=300)
    n_retries = forms.IntegerField(
        label="Retries", min_value=0, max_value=10, help_text="After a failure that may be temporary."
    )
    max_chars = forms.IntegerField(
        label="Longest reply",
        min_value=1,
        max_value=_MOST_REPLY_CHARS,
        help_text="In characters; what is longer is cut, and the cut is recorded.",
    )
    max_parallel = forms.IntegerField(
        label="Replies at once, at most",
        min_value=1,
        max_value=1000,
        required=False,
        help_text="For a server that answers few at a time. Empty: no limit.",
    )
    price_per_reply = price_field("Price of a reply")
    price_in = price_field("Price of a million tokens read")
    price_out = price_field("Price of a million tokens written")
    spending_cap = cap_field("Spending cap", "Once it is reached, the chatbot is not called any more. Empty: no cap.")

    def __init__(
        self, chatbot: Chatbot, connector: type[Connector] | None, data: Mapping[str, Any] | None = None
    ) -> None:
        initial = {name: getattr(chatbot, name) for name in (*_OF_PERSONA, *_LIMITS, *_PRICES)}
        initial |= {"name": chatbot.system.name, "family": chatbot.system.family}
        initial |= {name: typed_amount(initial[name]) for name in _PRICES}
        initial["persona"] = "\n".join(chatbot.persona)
        super().__init__(data, initial=initial)
        self.add_options(connector.options.plain() if connector else {}, chatbot.settings)
        if chatbot.system.is_degraded:  # it is of no family, says anything, and runs here
            for name in ("family", *_OF_PERSONA, *_PRICES):
                del self.fields[name]

    def groups(self) -> Iterator[tuple[str, list[forms.BoundField], str]]:
        """Yield the fields as the page groups them: title, fields, and the class of their frame."""
        options = [each.name for each in self.option_fields()]
        for title, names, frame in (
            ("Chatbot", ("name", "family", *options), ""),
            ("Persona", _OF_PERSONA, ""),
            ("Replies", _LIMITS, "numbers"),
            ("Cost", _PRICES, "numbers"),
        ):
            if fields := [self[name] for name in names if name in self.fields]:
                yield title, fields, frame


class NewChatbotForm(forms.Form):
    """Name, family and all options of a connector; the rest begins with what is usual."""

    name = forms.CharField(max_length=LONGEST_NAME, help_text="It appears in results. Workers never see it.")
    family = forms.CharField(max_length=LONGEST_NAME, required=False, help_text=_FAMILY_HELP)

    def __init__(self, connector: type[Connector], data: Any = None, *, is_degraded: bool = False) -> None:
        super().__init__(data, initial={"name": connector.slug} if is_degraded else None)
        if is_degraded:
            del self.fields["family"]
        for name, option in connector.options.named().items():
            self.fields[("secret_" if option.is_secret else "option_") + name] = deepcopy(option)

    def values(self) -> dict[str, Any]:
        """Return what was sent as `add_chatbot` takes it."""
        values = dict(self.cleaned_data)
        secrets, settings = pop_named(values, "secret_"), pop_named(values, "option_")
        return values | {"settings": settings, "secrets": {name: value for name, value in secrets.items() if value}}


class DialoguesForm(forms.Form):
    """A file of dialogues to speak from."""

    file = SizedFileField(
        label="File of dialogues",
        help_text="JSON Lines: one dialogue a line.",
        advice="A few thousand dialogues are enough: leave some out.",
        widget=forms.FileInput(attrs={"accept": ".jsonl,.ndjson"}),
    )

    def clean_file(self) -> Any:
        """Refuse a file whose name says that it is something else."""
        file = self.cleaned_data["file"]
        if not str(file.name).lower().endswith((".jsonl", ".ndjson")):
            raise forms.ValidationError("This must be a file of JSON Lines (.jsonl).", code="bad_dialogues")
        return file


class TestForm(forms.Form):
    """What a chatbot is asked in a test: one turn or two."""

    __test__ = False

    text = forms.CharField(label="Say", max_length=2000, initial="Hello! How are you today?")
    then = forms.CharField(label="Then say", max_length=2000, required=False, help_text="Does it know what was said?")
