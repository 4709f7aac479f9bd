"""Fields of forms."""

from typing import Any

from django import forms


class MarkdownField(forms.CharField):
    """A text in Markdown; its lines end in one way, whatever sends it."""

    def to_python(self, value: Any) -> str:
        """Return the text with the line ends of a text, not of a form."""
        return (super().to_python(value) or "").replace("\r\n", "\n")
