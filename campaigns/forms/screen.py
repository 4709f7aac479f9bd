"""What a worker is shown: fields of the source, and labels."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django import forms

from campaigns.contracts.protocol import Field, Screen
from campaigns.formats import get_format, list_formats
from campaigns.forms.partial import CheckboxWidget, PartialForm
from campaigns.models import Campaign
from campaigns.protocols import get_protocol

_LONGEST = 100
_NAME = r"^[A-Za-z_][\w .-]*$"
DRAWN = (
    "An image cannot be copied, and bots cannot read it without an effort; screen readers cannot either, and letters "
    "do not grow with the browser's. As text it is the reverse."
)
_NAME_ERROR = {"invalid": "Begin with a letter; go on with letters, digits, spaces, “_”, “-” and “.”."}


class ScreenForm(PartialForm):
    """The screen of a campaign. `is_open`: more than its labels may be changed; `can_rename`: names, too."""

    output_label = forms.CharField(max_length=_LONGEST, help_text="Heading of the text that is rated.")
    output_format = forms.ChoiceField(
        label="Format of the outputs", help_text="Data that are there already are read again, by the new format."
    )
    is_output_drawn = forms.BooleanField(
        label="Show it as an image", required=False, widget=CheckboxWidget, help_text=DRAWN
    )

    def __init__(
        self, screen: Screen, data: Mapping[str, Any] | None = None, *, is_open: bool, can_rename: bool
    ) -> None:
        own = ("output_label", "output_format", "is_output_drawn")
        super().__init__(data, initial={name: getattr(screen, name) for name in own})
        self.fields["output_format"].choices = formats_of_outputs()  # type: ignore[attr-defined]
        if not is_open:
            del self.fields["output_format"]
        if not get_format(screen.output_format).is_drawable:
            del self.fields["is_output_drawn"]
        self.screen, self.is_open = screen, is_open
        # A field is known by its name, not its place: another tab may have added or removed one.
        for place, field in enumerate(screen.fields):
            self._add(place, "label", field, forms.CharField(max_length=_LONGEST))
            if get_format(field.format).is_drawable and field.is_shown:
                self._add(place, "is_drawn", field, forms.BooleanField(required=False, widget=CheckboxWidget))
            if not is_open:
                continue
            if can_rename:
                self._add(place, "name", field, _name_field())
            self._add(place, "format", field, forms.ChoiceField(choices=formats_of_fields()))
            self._add(place, "is_shown", field, forms.BooleanField(required=False, widget=CheckboxWidget))
            self._add(place, "is_required", field, forms.BooleanField(required=False, widget=CheckboxWidget))
            marked = [("", "– nothing –"), *((name, name) for name in screen.field_names if name != field.name)]
            self._add(place, "marks", field, forms.ChoiceField(choices=marked, required=False))
        if is_open:
            names = [(name, name) for name in screen.field_names]
            self.fields["reference_field"] = forms.ChoiceField(
                choices=[("", "– none –"), *names],
                required=False,
                initial=screen.reference_field,
                help_text="Its text takes the place of the output in reference items.",
            )
            self.fields["donor_field"] = forms.ChoiceField(
                choices=[("", "– another source's output –"), *names],
                required=False,
                initial=screen.donor_field,
                help_text="Degraded outputs get a run of words from this field of another source.",
            )

    def _add(self, place: int, part: str, field: Field, shape: forms.Field) -> None:
        shape.initial = getattr(field, part)
        shape.widget.attrs["id"] = f"field-{place}-{part}"
        shape.label = f"{part.removeprefix('is_').capitalize()} of {field.name}"
        self.fields[f"{part}:{field.name}"] = shape

    def rows(self) -> list[dict[str, Any]]:
        """Return for each field of the source the bound fields that the page shows in one row."""
        parts = ("name", *_PARTS)
        return [
            {"field": field, **{part: self[key] for part in parts if (key := f"{part}:{field.name}") in self.fields}}
            for field in self.screen.fields
        ]

    def changes(self) -> dict[str, Any]:
        """Return the whole screen as it is to be; what names a field that was renamed follows it."""
        data = self.cleaned_data
        names = {name: data.get(f"name:{name}", name) for name in self.screen.field_names} | {"": ""}

        def changed(field: Field) -> Field:
            parts = {part: data.get(f"{part}:{field.name}", getattr(field, part)) for part in _PARTS}
            return replace(field, **parts | {"name": names[field.name], "marks": names[parts["marks"]]})

        screen = replace(
            self.screen,
            fields=tuple(map(changed, self.screen.fields)),
            output_label=data["output_label"],
            output_format=data.get("output_format", self.screen.output_format),
            is_output_drawn=data.get("is_output_drawn", self.screen.is_output_drawn),
            reference_field=names[data.get("reference_field", self.screen.reference_field)],
            donor_field=names[data.get("donor_field", self.screen.donor_field)],
        )
        return {"screen": screen}


def screen_form(campaign: Campaign, data: Mapping[str, Any] | None = None) -> ScreenForm:
    """Return the form of a campaign's screen. One query."""
    return ScreenForm(
        Screen.from_json(campaign.screen),
        data,
        is_open=get_protocol(campaign.protocol).has_open_screen,
        can_rename=not campaign.sources.exists(),
    )


def formats_of_fields() -> list[tuple[str, str]]:
    """Return what a field of a source may be, as choices."""
    return [(each.slug, each.title) for each in list_formats() if each.is_for_fields]


def formats_of_outputs() -> list[tuple[str, str]]:
    """Return what outputs may be, as choices."""
    return [(each.slug, each.title) for each in list_formats() if each.is_for_outputs]


_PARTS = ("label", "format", "is_drawn", "is_shown", "is_required", "marks")


class FieldForm(forms.Form):
    """A new field of the source."""

    name = forms.RegexField(
        _NAME, max_length=_LONGEST, error_messages=_NAME_ERROR, help_text="The column of the file that has it."
    )
    label = forms.CharField(max_length=_LONGEST, required=False, help_text="Its heading. Empty: the name.")
    format = forms.ChoiceField(required=False, choices=formats_of_fields, help_text="What it is. Empty: a text.")

    def field(self) -> Field:
        """Return the field, shown and required."""
        name = self.cleaned_data["name"]
        label, format = self.cleaned_data["label"] or name.capitalize(), self.cleaned_data["format"] or "text"
        return Field(name, label, format=format)


class FieldPlaceForm(forms.Form):
    """A field of the source, and where it goes: up, down or out."""

    name = forms.CharField(max_length=_LONGEST)
    step = forms.TypedChoiceField(choices=[("-1", "up"), ("1", "down"), ("0", "out")], coerce=int)

    def moved(self, screen: Screen) -> Screen:
        """Return the screen with the field moved or left out; what named a field left out names none."""
        name, step = self.cleaned_data["name"], self.cleaned_data["step"]
        fields = list(screen.fields)
        place = next((place for place, field in enumerate(fields) if field.name == name), None)
        if place is None:
            return screen
        field = fields.pop(place)
        if step:
            fields.insert(max(0, place + step), field)
            return replace(screen, fields=tuple(fields))
        return replace(
            screen,
            fields=tuple(replace(each, marks="") if each.marks == name else each for each in fields),
            reference_field="" if screen.reference_field == name else screen.reference_field,
            donor_field="" if screen.donor_field == name else screen.donor_field,
        )


def _name_field() -> forms.Field:
    return forms.RegexField(_NAME, max_length=_LONGEST, error_messages=_NAME_ERROR)
