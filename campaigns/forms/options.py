"""Fields made of the options of plug-ins."""

from django import forms

from campaigns.contracts.option import Option
from campaigns.forms.instructions import MarkdownField

_LONGEST, _LONGEST_OF_LONG, _LONGEST_SECRET = 2000, 50_000, 5000


def option_field(option: Option, *, least: int = 1) -> forms.Field:
    """Return the form field of an option; a number is at least `least`, or left out."""
    field = _bare_field(option, least)
    field.label, field.help_text = option.label, option.help
    field.required = field.widget.is_required = bool(option.choices) or option.is_required
    return field


def _bare_field(option: Option, least: int) -> forms.Field:
    if option.choices:
        return forms.ChoiceField(choices=option.choices)
    if option.kind == "number":
        return forms.IntegerField(min_value=least)
    if option.kind == "secret":
        widget = forms.PasswordInput(attrs={"autocomplete": "new-password", "spellcheck": "false"})
        return forms.CharField(max_length=_LONGEST_SECRET, widget=widget)
    if option.kind == "long_text":
        return MarkdownField(
            max_length=_LONGEST_OF_LONG, widget=forms.Textarea(attrs={"rows": 8 if option.default else 4})
        )
    return forms.CharField(max_length=_LONGEST)
