"""The text of reminders to raters: their placeholders, and what each rater reads."""

import re
from collections.abc import Mapping

PLACEHOLDERS = ("name", "link", "study")
SUBJECT = "Reminder: {study}"
TEXT = """Hello {name},

you were invited to take part in {study}, and you have not finished yet.

This is your personal link. With it you begin, or continue where you stopped:
{link}

Please do not pass the link on: it identifies you.
"""
# Braces that no placeholder is between, as in “{ }”, are text.
_PLACEHOLDER = re.compile(r"\{\s*(\w+)\s*\}")


def find_unknown_placeholders(text: str) -> list[str]:
    """Return the names in braces that are no placeholder, each once."""
    return [name for name in dict.fromkeys(_PLACEHOLDER.findall(text)) if name not in PLACEHOLDERS]


def has_placeholder(text: str, name: str) -> bool:
    """Return whether a text has this placeholder."""
    return name in _PLACEHOLDER.findall(text)


def fill_in(text: str, values: Mapping[str, str]) -> str:
    """Return a text with its placeholders replaced. A name that looks like a placeholder stays as it is."""
    return _PLACEHOLDER.sub(lambda found: values.get(found[1], found[0]), text)
