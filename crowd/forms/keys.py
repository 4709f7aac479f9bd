"""Keys of an account at a crowd platform: entered, never shown again."""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from django import forms

from campaigns.contracts.options import Option

_KEY = "key_"


class KeysForm(forms.Form):
    """The keys of a platform. One that is left empty stays as it is."""

    def __init__(self, options: Mapping[str, Option], data: Any = None) -> None:
        super().__init__(data)
        self.fields |= {_KEY + name: deepcopy(option) for name, option in options.items()}

    def entered(self) -> dict[str, str]:
        """Return the keys that were entered, by the name of the option."""
        return {name.removeprefix(_KEY): value for name, value in self.cleaned_data.items() if value}
