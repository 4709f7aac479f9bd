"""Settings of a campaign that are neither its data nor its HITs."""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from django import forms

from campaigns.contracts.platform import CrowdPlatform, Option
from campaigns.forms.partial import CheckboxWidget, PartialForm
from campaigns.models import LONGEST_NAME, Campaign
from campaigns.platforms import get_platform, list_platforms
from campaigns.services.campaigns import CHANGEABLE_AFTER_LAUNCH

_OPTION = "option_"
_GROUPS = (
    ("General", ("name", "is_accessible", "lease_minutes")),
    ("Worker test", ("worker_test", "alpha")),
    ("Payment", ("reward", "currency", "minutes_per_hit")),
)


class SettingsForm(PartialForm):
    """Name, worker test, payment, platform and its options."""

    name = forms.CharField(max_length=LONGEST_NAME, help_text="Workers do not see it.")
    is_accessible = forms.BooleanField(
        label="Accessible mode",
        required=False,
        widget=CheckboxWidget,
        help_text="Real text instead of images, for invited raters and screen readers. Recorded with the ratings.",
    )
    lease_minutes = forms.IntegerField(
        label="Minutes until an abandoned HIT is offered to others",
        min_value=1,
        max_value=10_080,
        help_text="Counted from the last item that was rated, or from when the worker came back.",
    )
    worker_test = forms.ChoiceField(
        choices=Campaign.WorkerTest.choices, help_text="Careful workers rate degraded items lower; others do not count."
    )
    alpha = forms.FloatField(
        label="α",
        min_value=0.0001,
        max_value=0.9999,
        help_text="A worker passes if the test's p lies below it.",
        error_messages=dict.fromkeys(("invalid", "min_value", "max_value"), "Give a number between 0 and 1."),
        widget=forms.NumberInput(attrs={"step": "any", "inputmode": "decimal"}),
    )
    reward = forms.DecimalField(
        label="Reward per HIT", min_value=Decimal(0), max_digits=8, decimal_places=2, help_text="0: unpaid volunteers."
    )
    currency = forms.RegexField(
        r"^[A-Za-z]{3}$",
        max_length=3,
        help_text="Three letters, such as USD or EUR.",
        error_messages={"invalid": "Give the three letters of the currency, such as USD or EUR."},
    )
    minutes_per_hit = forms.IntegerField(
        label="Expected minutes per HIT", min_value=1, max_value=1_440, required=False, help_text="Try one yourself."
    )
    platform = forms.ChoiceField(label="Crowd platform")

    def __init__(self, campaign: Campaign, data: Mapping[str, Any] | None = None) -> None:
        initial = {name: getattr(campaign, name) for name in self.base_fields}
        chosen = get_platform(campaign.platform)
        options = {
            option.name: campaign.platform_settings.get(option.name, option.default) for option in chosen.options
        }
        super().__init__(data, initial=initial | {_OPTION + name: value for name, value in options.items()})
        platforms = list_platforms()
        self.fields["platform"].choices = [(each.slug, each.title) for each in platforms]  # type: ignore[attr-defined]
        self.fields["platform"].help_text = chosen.summary
        if len(platforms) == 1:
            self.fields["platform"].widget.attrs["disabled"] = True
        for option in chosen.options:
            self.fields[_OPTION + option.name] = _field_of(option)
        self.chosen: CrowdPlatform = chosen

    def clean_currency(self) -> str:
        """Write it in capitals."""
        return str(self.cleaned_data["currency"]).upper()

    def changes(self) -> dict[str, Any]:
        """Return what was sent as fields of a campaign."""
        changes = super().changes()
        options = {name: changes.pop(name) for name in list(changes) if name.startswith(_OPTION)}
        if options:
            changes["platform_settings"] = {name.removeprefix(_OPTION): value for name, value in options.items()}
        return changes

    def groups(self) -> list[tuple[str, list[forms.BoundField]]]:
        """Return the fields as the page groups them."""
        option_names = [name for name in self.fields if name.startswith(_OPTION)]
        groups: Iterable[tuple[str, Iterable[str]]] = (*_GROUPS, ("Workers", ("platform", *option_names)))
        return [(title, [self[name] for name in names]) for title, names in groups]

    def freeze_launched(self) -> None:
        """Show what workers have seen as frozen."""
        self.freeze(name for name in self.fields if name.removeprefix(_OPTION) not in CHANGEABLE_AFTER_LAUNCH)


def _field_of(option: Option) -> forms.Field:
    """Return the form field of a platform's option."""
    if option.choices:
        return forms.ChoiceField(label=option.label, choices=option.choices, help_text=option.help)
    return forms.IntegerField(label=option.label, min_value=1, required=False, help_text=option.help)
