"""One setting of a plug-in, from which the form for it is made."""

from dataclasses import dataclass
from typing import Literal


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
