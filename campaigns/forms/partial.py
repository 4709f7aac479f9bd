"""Forms of which any part may be sent, and fields that can no longer be changed."""

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from django import forms
from django.utils.datastructures import MultiValueDict
from django.utils.html import format_html
from django.utils.safestring import SafeString

from evalsite.lib.errors import DomainError


class CheckboxWidget(forms.CheckboxInput):
    """A check box that is sent when it is empty, too: as `false`."""

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        """Put a hidden field before the box; the last value of a name counts. A box that is disabled sends nothing."""
        box = super().render(name, value, attrs, renderer)
        if (attrs or {}).get("disabled") or self.attrs.get("disabled"):
            return box
        return format_html('<input type="hidden" name="{}" value="false">{}', name, box)


class PartialForm(forms.Form):
    """A form in which fields that were not sent keep their initial value.

    So two tabs, or two people, do not overwrite what they did not touch. `changes()` has what was sent only.
    `field_of_code` says at which field the message of a DomainError with that code belongs.
    """

    field_of_code: ClassVar[dict[str, str]] = {}

    def __init__(
        self, data: Mapping[str, Any] | None = None, *, initial: Mapping[str, Any], id_prefix: str = "id"
    ) -> None:
        super().__init__(initial=dict(initial), auto_id=f"{id_prefix}_%s")
        self.sent: frozenset[str] = frozenset()
        if data is not None:
            self.is_bound = True
            self._sent_data = data

    def full_clean(self) -> None:
        """Fill in what was not sent, then clean as usual."""
        if self.is_bound:
            self.sent = frozenset(name for name in self.fields if name in self._sent_data)
            whole: MultiValueDict[str, Any] = MultiValueDict()
            for name in self.fields:
                sent = self._sent_data
                if name not in sent:
                    whole[name] = self.get_initial_for_field(self.fields[name], name)
                elif isinstance(sent, MultiValueDict):
                    whole.setlist(name, sent.getlist(name))
                else:
                    whole[name] = sent[name]
            self.data = whole
        super().full_clean()

    def changes(self) -> dict[str, Any]:
        """Return the cleaned values of the fields that were sent."""
        return {name: value for name, value in self.cleaned_data.items() if name in self.sent}

    def freeze(self, names: Iterable[str] | None = None) -> None:
        """Show these fields, or all, as ones that cannot be changed. A service must refuse them: this is paint."""
        for name in self.fields if names is None else names:
            self.fields[name].widget.attrs["disabled"] = True

    def refuse(self, error: DomainError) -> None:
        """Add what a service refused, at its field or for the form as a whole."""
        self.add_error(self.field_of_code.get(error.code), forms.ValidationError(error.message, code=error.code))
