"""Keys of an account at a crowd platform: entered, never shown again."""

from collections.abc import Iterable
from typing import Any

from django import forms

from campaigns.contracts.option import Option
from campaigns.forms.options import option_field

_KEY = "key_"


class KeysForm(forms.Form):
    """The keys of a platform. One that is left empty stays as it is."""

    def __init__(self, options: Iterable[Option], data: Any = None) -> None:
        super().__init__(data)
        for option in options:
            field = self.fields[_KEY + option.name] = option_field(option)
            field.required = field.widget.is_required = False

    def entered(self) -> dict[str, str]:
        """Return the keys that were entered, by the name of the option."""
        return {name.removeprefix(_KEY): value for name, value in self.cleaned_data.items() if value}
