"""Naming systems, and saying which one is human."""

from collections.abc import Iterable, Mapping
from typing import Any

from django import forms

from campaigns.forms.partial import PartialForm
from campaigns.models import LONGEST_NAME, System


class SystemForm(PartialForm):
    """The name of a system."""

    field_of_code = {"name_taken": "name"}

    name = forms.CharField(max_length=LONGEST_NAME)

    def __init__(self, system: System, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(data, initial={"name": system.name}, id_prefix=f"system-{system.pk}")
        self.system = system


class HumanForm(PartialForm):
    """Which system is human, if one is."""

    human = forms.TypedChoiceField(
        label="Human system",
        required=False,
        coerce=int,
        empty_value=None,
        help_text="The system whose outputs people wrote. Where a HIT has an anchor, this is it.",
    )

    def __init__(self, systems: Iterable[System], data: Mapping[str, Any] | None = None) -> None:
        self.systems = {system.pk: system for system in systems}
        human = next((pk for pk, system in self.systems.items() if system.is_human), "")
        super().__init__(data, initial={"human": human})
        choices = [("", "– none –"), *((pk, system.name) for pk, system in self.systems.items())]
        self.fields["human"].choices = choices  # type: ignore[attr-defined]

    def chosen(self) -> System | None:
        """Return the system that was chosen."""
        return self.systems.get(self.cleaned_data["human"])
