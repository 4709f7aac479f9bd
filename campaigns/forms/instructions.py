"""What workers read before they rate."""

from typing import Any

from django import forms

from campaigns.forms.partial import PartialForm

_LONGEST = 50_000


class MarkdownField(forms.CharField):
    """A text in Markdown; its lines end in one way, whoever sends it."""

    def to_python(self, value: Any) -> str:
        """Return the text with the line ends of a text, not of a form."""
        return (super().to_python(value) or "").replace("\r\n", "\n")


class InstructionsForm(PartialForm):
    """Instructions and consent text, in Markdown."""

    instructions = MarkdownField(
        required=False,
        max_length=_LONGEST,
        widget=forms.Textarea(attrs={"rows": 14}),
        help_text="Shown before the HIT and at any time in it. Markdown: **bold**, *italic*, lists with “- ”, "
        "[links](https://example.org).",
    )
    consent = MarkdownField(
        label="Consent text",
        required=False,
        max_length=_LONGEST,
        widget=forms.Textarea(attrs={"rows": 8}),
        help_text="Markdown. If there is one, a worker must agree to it before the first item.",
    )
