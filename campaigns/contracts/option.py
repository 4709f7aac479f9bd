"""One setting of a plug-in, from which the form for it is made, and how what was set is read."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class Option:
    """One setting of a plug-in: a choice, a whole number (None: no limit), or a text.

    `kind` is that of options without choices. A secret is kept encrypted, never shown again, and forgotten when an
    address comes to name another host. After the launch only options that are `is_operational` may change: where a
    chatbot runs, not what it is.
    """

    name: str
    label: str
    help: str = ""
    choices: tuple[tuple[str, str], ...] = ()
    default: str | int | None = None
    kind: Literal["number", "text", "long_text", "secret", "address"] = "number"
    is_required: bool = False
    is_operational: bool = False

    @property
    def is_secret(self) -> bool:
        """Whether it is kept encrypted."""
        return self.kind == "secret"


class OptionReader:
    """Reads the options of a plug-in from what was set; one that is not set, or empty, has its default."""

    def __init__(self, options: Iterable[Option]) -> None:
        self._defaults = {option.name: option.default for option in options}

    def value_of(self, settings: Mapping[str, Any], name: str) -> Any:
        """Return an option as it is set, or else its default; None if there is no such option."""
        value = settings.get(name)
        return self._defaults.get(name) if value is None or value == "" else value

    def text_of(self, settings: Mapping[str, Any], name: str) -> str:
        """Return an option that is a text, without blanks around it."""
        return str(self.value_of(settings, name) or "").strip()

    def number_of(self, settings: Mapping[str, Any], name: str) -> int | None:
        """Return an option that is a whole number; None if it is empty and has no default."""
        value = self.value_of(settings, name)
        return None if value is None or value == "" else int(value)
