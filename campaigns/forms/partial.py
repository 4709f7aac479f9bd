"""Forms of which any part may be sent, and forms with the options of a plug-in."""

from collections.abc import Mapping, Set
from copy import deepcopy
from typing import Any, ClassVar

from django import forms
from django.utils.datastructures import MultiValueDict
from django.utils.html import format_html
from django.utils.safestring import SafeString

from campaigns.contracts.options import Option
from evalsite.lib.errors import DomainError
from evalsite.lib.markdown import MarkdownField

_OPTION = "option_"


class LinesField(MarkdownField):
    """A list of texts, one a line, each once; refused if they are many or one is long."""

    noun: ClassVar[str]
    longest: ClassVar[int]
    most: ClassVar[int]

    def clean(self, value: Any) -> list[str]:
        """Return the texts with single spaces."""
        lines = [" ".join(line.split()) for line in super().clean(value).splitlines()]
        texts = list(dict.fromkeys(filter(None, lines)))
        if len(texts) > self.most:
            raise forms.ValidationError(f"These are {len(texts)} {self.noun}s; at most {self.most} are kept.")
        if long := next((each for each in texts if len(each) > self.longest), ""):
            text = f"“{long[:40]}…” has {len(long)} characters; a {self.noun} has at most {self.longest}."
            raise forms.ValidationError(text, code=f"long_{self.noun}")
        return texts


class NamesField(forms.MultipleChoiceField):
    """Some of the names that there are in a campaign or a file, which the form alone knows."""


class CheckboxWidget(forms.CheckboxInput):
    """A check box that is sent when it is empty, too: as `false`."""

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        """Put a hidden field before the box; the last value of a name counts. A box that is disabled sends nothing."""
        box = super().render(name, value, attrs, renderer)
        if (attrs or {}).get("disabled") or self.attrs.get("disabled"):
            return box
        return format_html('<input type="hidden" name="{}" value="false">{}', name, box)


class CheckboxesWidget(forms.CheckboxSelectMultiple):
    """Check boxes that are sent when none is ticked, too: with an empty value, which does not count."""

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        """Put a hidden field before the boxes."""
        boxes = super().render(name, value, attrs, renderer)
        return format_html('<input type="hidden" name="{}" value="">{}', name, boxes)

    def value_from_datadict(self, data: Any, files: Any, name: str) -> list[str]:
        """Return what is ticked."""
        return [value for value in super().value_from_datadict(data, files, name) or [] if value]


class PartialForm(forms.Form):
    """A form in which fields that were not sent keep their initial value.

    So two tabs, or two people, do not overwrite what they did not touch. `changes()` has what was sent only.
    `field_of_code` says at which field the message of a DomainError with that code belongs, `after_launch` which fields
    may be changed once workers have seen the campaign.
    """

    field_of_code: ClassVar[dict[str, str]] = {}
    after_launch: Set[str] = frozenset()

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
            for name, field in self.fields.items():
                sent = self._sent_data
                if name in sent and isinstance(sent, MultiValueDict):
                    whole.setlist(name, sent.getlist(name))
                    continue
                value = sent[name] if name in sent else self.get_initial_for_field(field, name)
                whole.setlist(name, value if isinstance(field, forms.MultipleChoiceField) else [value])
            self.data = whole
        super().full_clean()

    @property
    def unknown(self) -> list[str]:
        """The names that were sent and are no fields of this form, as it is for this campaign."""
        return [name for name in self._sent_data if name not in self.fields] if self.is_bound else []

    def changes(self) -> dict[str, Any]:
        """Return the cleaned values of the fields that were sent."""
        return {name: value for name, value in self.cleaned_data.items() if name in self.sent}

    def freeze(self, rights: Mapping[str, Any]) -> None:
        """Show as disabled what the user may not change, or nobody any more, as `campaign_context` says.

        A service must refuse them, too: this is only what the page shows.
        """
        if not rights["can_change"]:
            for name in self.fields.keys() - (self.after_launch if rights["can_edit"] else frozenset()):
                self.fields[name].widget.attrs["disabled"] = True

    def refuse(self, error: DomainError) -> None:
        """Add what a service refused, at its field or for the form as a whole."""
        self.add_error(self.field_of_code.get(error.code), forms.ValidationError(error.message, code=error.code))


class OptionsPartialForm(PartialForm):
    """A form that ends with the options of a plug-in that are no secrets, called `option_…`.

    `changes()` has those that were sent together, as `settings_name`.
    """

    settings_name: ClassVar[str]

    def add_options(self, options: Mapping[str, Option], values: Mapping[str, Any]) -> None:
        """Add the options, with what is set or else their defaults."""
        for name, option in options.items():
            self.fields[_OPTION + name] = deepcopy(option)
            self.initial[_OPTION + name] = values.get(name, option.initial)
        self.after_launch |= {_OPTION + name for name, option in options.items() if option.is_operational}

    def option_fields(self) -> list[forms.BoundField]:
        """Return the fields of the options."""
        return [self[name] for name in self.fields if name.startswith(_OPTION)]

    def changes(self) -> dict[str, Any]:
        """Return the cleaned values of what was sent, the options in one dict."""
        changes = super().changes()
        options = pop_named(changes, _OPTION)
        return changes | ({self.settings_name: options} if options else {})

    def refuse(self, error: DomainError) -> None:
        """Add what a service refused: of options at the one that was sent, if it was one."""
        options = [name for name in self.sent if name.startswith(_OPTION)]
        if error.code == "bad_option" and len(options) == 1:
            self.add_error(options[0], forms.ValidationError(error.message, code=error.code))
        else:
            super().refuse(error)


def pop_named(values: dict[str, Any], start: str) -> dict[str, Any]:
    """Take the values out whose names begin with `start`, and return them by the rest of their names."""
    return {name.removeprefix(start): values.pop(name) for name in list(values) if name.startswith(start)}


class SecretsForm(forms.Form):
    """The secret options of a plug-in: never shown again. One that is left empty stays as it is."""

    name_start = "secret_"

    def __init__(self, options: Mapping[str, Option], data: Any = None) -> None:
        super().__init__(data)
        self.fields |= {self.name_start + name: deepcopy(option) for name, option in options.items()}

    def changes(self) -> dict[str, str | None]:
        """Return what was entered by the name of the option or, where a button clears one, None for that."""
        if cleared := self.data.get("clear"):
            return {cleared: None}
        return {name: value for name, value in pop_named(dict(self.cleaned_data), self.name_start).items() if value}
