"""Which crowd platform, and its options but for its keys."""

from collections.abc import Mapping
from typing import Any

from django import forms

from campaigns.contracts.option import Option
from campaigns.forms.options import option_field
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
        options = [option for option in chosen.options if not option.is_secret]
        proposed = proposed_settings(campaign)
        settings = {**campaign.platform_settings, **proposed}
        initial = {_OPTION + each.name: _value(each, settings) for each in options}
        super().__init__(data, initial={"platform": campaign.platform} | initial)
        field = self.fields["platform"]
        field.choices = [(each.slug, each.title) for each in list_platforms()]  # type: ignore[attr-defined]
        for option in options:
            self.fields[_OPTION + option.name] = option_field(option)
        for name in proposed:
            self.fields[_OPTION + name].help_text = f"{_PROPOSED} {self.fields[_OPTION + name].help_text}"
        self._operational = {_OPTION + each.name for each in options if each.is_operational}

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


def _value(option: Option, settings: Mapping[str, Any]) -> Any:
    """Return what is set; another platform may have had an option of this name with other choices."""
    value = settings.get(option.name, option.default)
    return option.default if option.choices and value not in dict(option.choices) else value
