"""The shape of what a researcher sends to the pages of judges."""

from collections.abc import Iterator, Sequence
from copy import deepcopy
from decimal import Decimal
from typing import Any

from django import forms

from analysis.models import Judge
from analysis.web.queries.judges import KnownModel
from analysis.web.services.judges import CAPS, LIMITS, PRICES
from campaigns.contracts.connector import Connector
from campaigns.forms.money import cap_field, price_field, typed_amount
from campaigns.forms.partial import pop_named
from campaigns.models import Criterion


class JudgeLimitsForm(forms.Form):
    """What calls of a judge cost, and how many there may be."""

    price_in = price_field("Price of a million tokens read", required=False)
    price_out = price_field("Price of a million tokens written", required=False)
    price_per_call = price_field("Price of a call", "What a call costs besides its tokens.", required=False)
    max_cost = cap_field(
        "Cap in money", "No call is made that could pass it, in the currency of the prices. Empty: no cap in money."
    )
    max_calls = forms.IntegerField(
        label="Cap in calls",
        min_value=1,
        max_value=10_000_000,
        required=False,
        help_text="Calls that failed count, too. Empty: no cap in calls.",
    )
    max_tokens = forms.IntegerField(
        label="Longest answer in tokens",
        min_value=16,
        max_value=100_000,
        initial=300,
        required=False,
        help_text="Sent to servers that take a limit. Models that think first need a few thousand. Empty: 300.",
    )
    timeout_s = forms.IntegerField(
        label="Seconds to wait for an answer",
        min_value=1,
        max_value=600,
        initial=60,
        required=False,
        help_text="Empty: 60.",
    )
    max_parallel = forms.IntegerField(
        label="Calls at once", min_value=1, max_value=32, initial=4, required=False, help_text="Empty: 4."
    )

    def limits(self) -> dict[str, Any]:
        """Return the values as services take them: a price that is empty is none, a limit the usual one."""
        data = {name: self.cleaned_data[name] for name in (*PRICES, *CAPS, *LIMITS)}
        data |= {name: data[name] or Decimal(0) for name in PRICES}
        return data | {name: data[name] or self.base_fields[name].initial for name in LIMITS}


def limits_of(judge: Judge) -> dict[str, Any]:
    """Return what the form of a judge's limits begins with."""
    values = {name: getattr(judge, name) for name in (*PRICES, *CAPS, *LIMITS)}
    return values | {name: typed_amount(values[name]) for name in PRICES}


class NewJudgeForm(JudgeLimitsForm):
    """A new judge: its name, its connector's options but for those that are fixed, criteria, prices and caps."""

    name = forms.CharField(max_length=100, help_text="What its metrics are called, such as the model's name.")
    criteria = forms.MultipleChoiceField(
        label="Criteria to judge", widget=forms.CheckboxSelectMultiple, help_text="All in one call."
    )

    like = forms.ChoiceField(required=False, widget=forms.HiddenInput)

    def __init__(
        self,
        connector: type[Connector],
        criteria: Sequence[Criterion],
        data: Any = None,
        *,
        known: Sequence[KnownModel] = (),
        like: str = "",
    ) -> None:
        super().__init__(data)
        self.known = {each.value: each for each in known}
        found = self.known.get(like)
        like_field = self.fields["like"]
        assert isinstance(like_field, forms.ChoiceField)
        like_field.choices, like_field.initial = [("", ""), *((each, each) for each in self.known)], like
        fixed = connector.judge_settings or {}
        self.option_names = []
        for name, option in connector.options.named().items():
            if name not in fixed:
                field = deepcopy(option)
                if found and field.is_secret:
                    field.help_text = f"Empty: that of {found.label}."
                elif found and name in found.settings:
                    field.initial = found.settings[name]
                self.option_names.append(("secret_" if field.is_secret else "option_") + name)
                self.fields[self.option_names[-1]] = field
        chosen = self.fields["criteria"]
        assert isinstance(chosen, forms.MultipleChoiceField)
        chosen.choices = [(str(each.pk), f"{each.name}: {each.statement}") for each in criteria]
        chosen.initial = [str(each.pk) for each in criteria]

    def groups(self) -> Iterator[tuple[str, list[forms.BoundField], str]]:
        """Yield the fields as the page groups them: title, fields, and the class of their frame."""
        for title, names, frame in (
            ("Judge", ["name", *self.option_names], ""),
            ("Criteria", ["criteria"], ""),
            ("Prices", PRICES, "numbers"),
            ("Caps and limits", (*CAPS, *LIMITS), "numbers"),
        ):
            yield title, [self[name] for name in names], frame

    def values(self) -> dict[str, Any]:
        """Return what was sent as `add_judge` takes it."""
        data = dict(self.cleaned_data)
        secrets, settings = pop_named(data, "secret_"), pop_named(data, "option_")
        return self.limits() | {
            "name": data["name"],
            "criteria": [int(key) for key in data["criteria"]],
            "settings": settings,
            "like": self.known.get(data["like"]),
            "secrets": {name: value for name, value in secrets.items() if value},
        }
