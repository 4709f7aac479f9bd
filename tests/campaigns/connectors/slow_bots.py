"""Classes for the connector “Python class”, good and bad."""

import threading
from collections.abc import Sequence
from typing import Any

from campaigns.contracts.chat import Utterance

MADE: list[dict[str, Any]] = []
RELEASE = threading.Event()


class Polite:
    """Says what it was told, and how it was made."""

    def __init__(self, *, greeting: str = "Hello", n: int = 1) -> None:
        MADE.append({"greeting": greeting, "n": n})
        self.greeting = greeting

    def reply(self, turns: Sequence[Utterance], *, persona: Sequence[str], topic: str, seed: int) -> str:
        return f" {self.greeting}: {turns[-1].text}, {' '.join(persona)}, {topic}, {seed} "


class Hanging:
    """Does not return until it is released; asked for “now”, it does."""

    def reply(self, turns: Sequence[Utterance], *, persona: Sequence[str], topic: str, seed: int) -> str:
        if turns[-1].text != "now":
            RELEASE.wait()
        return "Here"


class Says:
    """Returns what it was made with."""

    def __init__(self, what: Any) -> None:
        self.what = what

    def reply(self, turns: Sequence[Utterance], **about: Any) -> Any:
        return self.what


class Raises:
    """Raises what it is asked to."""

    def reply(self, turns: Sequence[Utterance], **about: Any) -> str:
        raise {"exit": SystemExit, "silent": ValueError}.get(turns[-1].text, RuntimeError)(
            *turns[-1].text.split("silent")
        )


class Unmakeable:
    """Cannot be made the first two times."""

    n_tries = 0

    def __init__(self) -> None:
        type(self).n_tries += 1
        if self.n_tries < 3:
            raise OSError("model.bin is missing")

    def reply(self, turns: Sequence[Utterance], **about: Any) -> str:
        return "At last"
