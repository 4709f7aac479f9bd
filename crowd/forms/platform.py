"""Which crowd platform, and its options but for its keys."""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from django import forms

from campaigns.contracts.options import Choice, Option
from campaigns.forms.partial import PartialForm
from campaigns.models import Campaign
from campaigns.platforms import get_platform, list_platforms
from campaigns.queries import proposed_settings
from evalsite.lib.errors import DomainError

_OPTION = "option_"
_PROPOSED = "Proposed from the design; it applies from the launch unless you change it."


class PlatformForm(PartialForm):
    """The platform and its options. An option that was not sent is not complained about."""

    platform = forms.ChoiceField(label="Crowd platform")

    def __init__(self, campaign: Campaign, data: Mapping[str, Any] | None = None) -> None:
        chosen = get_platform(campaign.platform)
        options = chosen.options.plain()
        proposed = proposed_settings(campaign)
        settings = {**campaign.platform_settings, **proposed}
        initial = {_OPTION + name: _value(each, settings.get(name, each.default)) for name, each in options.items()}
        super().__init__(data, initial={"platform": campaign.platform} | initial)
        field = self.fields["platform"]
        field.choices = [(each.slug, each.title) for each in list_platforms()]  # type: ignore[attr-defined]
        self.fields |= {_OPTION + name: deepcopy(option) for name, option in options.items()}
        for name in proposed:
            self.fields[_OPTION + name].help_text = f"{_PROPOSED} {self.fields[_OPTION + name].help_text}"
        self._operational = {_OPTION + name for name in chosen.options.operational()}

    def full_clean(self) -> None:
        """Judge what was sent only: what a platform still lacks is told before anything is published."""
        super().full_clean()
        if self.is_bound:
            for name in self.fields.keys() - self.sent:
                self.errors.pop(name, None)

    def changes(self) -> dict[str, Any]:
        """Return what was sent as `change_platform` takes it."""
        changes = super().changes()
        options = {name: changes.pop(name) for name in list(changes) if name.startswith(_OPTION)}
        if options:
            changes["platform_settings"] = {name.removeprefix(_OPTION): value for name, value in options.items()}
        return changes

    def refuse(self, error: DomainError) -> None:
        """Add what a service refused: at the option that was sent, if it was one."""
        options = [name for name in self.sent if name.startswith(_OPTION)]
        if error.code == "bad_option" and len(options) == 1:
            self.add_error(options[0], forms.ValidationError(error.message, code=error.code))
        else:
            super().refuse(error)

    def option_fields(self) -> list[forms.BoundField]:
        """Return the fields of the options."""
        return [self[name] for name in self.fields if name.startswith(_OPTION)]

    def freeze_launched(self) -> None:
        """Show what workers have seen as frozen."""
        self.freeze(name for name in self.fields if name not in self._operational)


def _value(option: Option, value: Any) -> Any:
    """Return what is set; another platform may have had an option of this name with other choices."""
    return option.default if isinstance(option, Choice) and value not in option.labels() else value
