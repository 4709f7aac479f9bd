"""A file of sources and outputs, and what its columns are used for."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import uuid4

from django import forms

from campaigns.contracts.protocol import Screen
from campaigns.formats import has_file_format
from campaigns.forms.partial import PartialForm
from campaigns.importing.layout import (
    ALTERNATIVE,
    ATTRIBUTE,
    DEGRADED,
    DOCUMENT,
    FIELD,
    NEW_FIELD,
    OUTPUT,
    SOURCE,
    SYSTEM,
    SYSTEM_OUTPUT,
    FileLayout,
    default_label,
)
from campaigns.models import LONGEST_NAME, System
from evalsite.lib.tables.formats import READABLE, SUFFIXES
from evalsite.web import FilesInput, SizedFilesField

_LONGEST_BLANK = 500


class UploadForm(forms.Form):
    """A file of sources and outputs."""

    file = SizedFilesField(
        label="File of sources and outputs",
        help_text=f"{READABLE}; batches of Appraise (JSON); or text files with a line for each segment, one for each "
        "system, together or in a zip: source.txt, reference.txt, system-a.txt …",
        advice="Leave out columns that are not needed, or split it: a second file can be added to the first.",
        widget=FilesInput(attrs={"accept": f"{SUFFIXES},image/*", "multiple": True}),
    )


class StartForm(UploadForm):
    """A file to start from. The id comes with the form, so that sending it twice makes one campaign."""

    form_id = forms.UUIDField(widget=forms.HiddenInput, initial=uuid4, required=False)


class ColumnsForm(forms.Form):
    """What each column of a table is used for, and whether the file replaces what is there.

    Fields go by the place of the column: `role-0`, `label-0`. Where the protocol leaves the screen open, a column may
    become a new field; once it is chosen so, its label may be changed. `blank-0` … are blanks of the
    instructions.
    """

    mode = forms.ChoiceField(
        label="What is in the campaign already",
        choices=[
            ("replace", "Replace it: sources, outputs and systems, and HITs made of them, are deleted."),
            ("add", "Add to it: further sources, or outputs of further systems."),
        ],
        widget=forms.RadioSelect,
        required=False,
    )

    def __init__(
        self,
        layout: FileLayout,
        screen: Screen,
        data: Any = None,
        *,
        is_open: bool,
        can_add: bool,
        blanks: Sequence[str] = (),
    ) -> None:
        super().__init__(data, initial={"mode": "replace"})
        self._layout, self._blanks = layout, blanks
        for place, blank in enumerate(blanks):
            label = blank.strip("[]")
            self.fields[f"blank-{place}"] = forms.CharField(
                label=label[:1].upper() + label[1:], max_length=_LONGEST_BLANK, required=False
            )
        if not can_add:
            del self.fields["mode"]
        choices = _roles(screen, is_open)
        for place, column in enumerate(layout.columns):
            self.fields[f"role-{place}"] = forms.ChoiceField(
                label=column, choices=choices, required=False, initial=layout.roles.get(column, "")
            )
            if is_open:
                self.fields[f"label-{place}"] = forms.CharField(
                    label=f"Label of {column}",
                    max_length=100,
                    required=False,
                    initial=layout.labels.get(column, default_label(column)[:100]),
                )

    def blanks(self) -> list[forms.BoundField]:
        """Return the fields of what the instructions leave open."""
        return [self[f"blank-{place}"] for place in range(len(self._blanks))]

    def words(self) -> dict[str, str]:
        """Return what was written into them, by blank."""
        return {blank: self.cleaned_data[f"blank-{place}"] for place, blank in enumerate(self._blanks)}

    def rows(self, samples: Sequence[Sequence[str]], names: Sequence[str]) -> Iterator[dict[str, Any]]:
        """Yield each column with its first cells and its fields, for the page."""
        for place, column in enumerate(self._layout.columns):
            at = names.index(column) if column in names else -1
            role = self[f"role-{place}"]
            yield {
                "column": column,
                "role": role,
                "label": self[name]
                if (name := f"label-{place}") in self.fields and role.value() == NEW_FIELD
                else None,
                "cells": [row[at] for row in samples if 0 <= at < len(row)],
            }

    def layout(self) -> FileLayout:
        """Return the layout as it was chosen."""
        data, columns = self.cleaned_data, self._layout.columns
        roles = {column: data[f"role-{place}"] for place, column in enumerate(columns)}
        labels = {column: data.get(f"label-{place}", "") for place, column in enumerate(columns)}
        return replace(
            self._layout,
            roles={column: role for column, role in roles.items() if role},
            labels={column: label for column, label in labels.items() if label and roles[column] == NEW_FIELD},
        )


def _roles(screen: Screen, is_open: bool) -> list[tuple[str, Any]]:
    """Return what a column may be used for, as choices of a select."""
    long = [(SYSTEM, "Name of the system"), (OUTPUT, f"Output ({screen.output_label})")]
    fields = [
        (FIELD + field.name, field.label if field.is_required else f"{field.label} (optional)")
        for field in screen.fields
    ]
    return [
        ("", "– not used –"),
        (
            "Source",
            [
                (SOURCE, "Source id"),
                (DOCUMENT, "Document it is of"),
                *fields,
                *([(NEW_FIELD, "A new field")] if is_open else []),
                (ATTRIBUTE, "Attribute, not shown"),
                *([(ALTERNATIVE, "Alternative text of NAME, in NAME_alt")] if has_file_format(screen.formats) else []),
            ],
        ),
        ("One output a row", [*long, (DEGRADED, "The same output, degraded by you")]),
        ("One source a row", [(SYSTEM_OUTPUT, f"One system's outputs ({screen.output_label})")]),
    ]


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
