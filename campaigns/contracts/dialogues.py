"""Files of dialogues, from which chatbots speak: JSON Lines, a dialogue on each line (README of `retrieval`)."""

import json
import threading
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Generic, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from campaigns.contracts.connector import ConnectorError, Setup
from evalsite.lib.errors import DomainError
from evalsite.lib.tables.errors import MAX_SHOWN, shorten

MAX_MEGABYTES = 100
MAX_TURNS = 1_000_000
FEWEST_TURNS = 2
_BYTES_PER_MEGABYTE = 1_000_000

Places = NDArray[np.intp]


class OfTurns(Protocol):
    """What is made of a file of dialogues."""

    @property
    def n_turns(self) -> int:
        """Number of turns of the file, which tells how much memory it takes."""


Made = TypeVar("Made", bound=OfTurns)


@dataclass(frozen=True, eq=False)
class Dialogues:
    """The dialogues of a file, their turns one after the other.

    Attributes
    ----------
    texts : tuple of str, (n_turns,)
        Every turn of every dialogue, in order. What one speaker says in a row is one turn.
    starts : intp, (n_dialogues + 1,)
        Where each dialogue begins in `texts`; the last is n_turns.
    ids, topics : tuple of str, (n_dialogues,)
        "" where the file has none.
    personas : tuple of tuples of str, (n_dialogues,)
    """

    texts: tuple[str, ...]
    starts: Places
    ids: tuple[str, ...]
    topics: tuple[str, ...]
    personas: tuple[tuple[str, ...], ...]

    @property
    def n_dialogues(self) -> int:
        """Number of dialogues, at least 1."""
        return len(self.topics)

    @property
    def n_turns(self) -> int:
        """Number of turns of all dialogues together."""
        return len(self.texts)

    @cached_property
    def dialogue_of(self) -> Places:
        """The dialogue of each turn, (n_turns,)."""
        return np.repeat(np.arange(self.n_dialogues, dtype=np.intp), np.diff(self.starts))

    @cached_property
    def replies(self) -> Places:
        """The turns that answer another one: all but the first of each dialogue."""
        return np.setdiff1d(np.arange(self.n_turns, dtype=np.intp), self.starts)

    def turns_of(self, dialogue: int) -> tuple[str, ...]:
        """Return the turns of one dialogue."""
        return self.texts[self.starts[dialogue] : self.starts[dialogue + 1]]


class BadDialoguesError(DomainError):
    """A file of dialogues cannot be read as it is. Code: `bad_dialogues`.

    `problems` are at most 50 of the reasons, each with its line (None: the whole file) and how to mend it; `n_more`
    counts the others.
    """

    def __init__(self, file: str, problems: Sequence[tuple[int | None, str]], n_more: int = 0) -> None:
        self.problems, self.n_more = tuple(problems), n_more
        lines = [f"{file}{'' if line is None else f', line {line:,}'}: {message}" for line, message in problems]
        super().__init__("bad_dialogues", "\n".join([*lines, *([f"… and {n_more:,} more."] if n_more else [])]))


# Path, time of the last change, size.
_Key = tuple[str, int, int]


class PerFile(Generic[Made]):
    """Makes something of a file and keeps it for the files that were asked for last, until they change.

    It keeps the last one, and as many before it as have no more than `most` turns together. Threads that ask for the
    same file at once wait for one of them. What `make` raises is raised each time.
    """

    def __init__(self, make: Callable[[Path], Made], *, most: int = MAX_TURNS) -> None:
        self._make, self._most = make, most
        self._kept: OrderedDict[_Key, Made] = OrderedDict()
        self._looking, self._making = threading.Lock(), defaultdict[_Key, threading.Lock](threading.Lock)

    def __call__(self, path: Path) -> Made:
        """Return what was made of the file as it is now; raise OSError, and what making it raises."""
        about = path.stat()
        key = (str(path), about.st_mtime_ns, about.st_size)
        if (kept := self._find(key)) is not None:
            return kept
        with self._looking:
            making = self._making[key]
        with making:
            try:
                if (kept := self._find(key)) is None:
                    kept = self._make(path)
                    self._keep(key, kept)
                return kept
            finally:
                with self._looking:
                    self._making.pop(key, None)

    def _keep(self, key: _Key, made: Made) -> None:
        with self._looking:
            for old in [old for old in self._kept if old[0] == key[0]]:
                del self._kept[old]
            self._kept[key] = made
            n_turns = sum(each.n_turns for each in self._kept.values())
            while n_turns > self._most and len(self._kept) > 1:
                n_turns -= self._kept.popitem(last=False)[1].n_turns

    def _find(self, key: _Key) -> Made | None:
        with self._looking:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)


def read_dialogues(path: Path) -> Dialogues:
    """Return the dialogues of a file; the files read last are kept. Raise BadDialoguesError."""
    try:
        return _dialogues(path)
    except OSError:
        raise BadDialoguesError(path.name, [(None, "The file cannot be read. Upload it again.")]) from None


def check_dialogues(path: Path, *, name: str) -> None:
    """Raise BadDialoguesError if a file cannot be read, which is kept nowhere; its uploader calls it `name`."""
    try:
        _read(path)
    except BadDialoguesError as error:
        raise BadDialoguesError(name, error.problems, error.n_more) from None


def dialogues_for(setup: Setup) -> Path:
    """Return the file from which a chatbot is to speak, which can be read; raise ConnectorError `misconfigured`."""
    if setup.dialogues is None:
        raise ConnectorError("misconfigured", "The chatbot needs a file of dialogues.", is_passing=False)
    try:
        read_dialogues(setup.dialogues)
    except DomainError as error:
        raise ConnectorError("misconfigured", error.message, is_passing=False) from error
    return setup.dialogues


class _Dialogue(NamedTuple):
    turns: list[str]
    id: str = ""
    topic: str = ""
    persona: tuple[str, ...] = ()


class _RefusedError(Exception):
    """What is wrong with one line, and how to mend it."""


def _read(path: Path) -> Dialogues:
    size = path.stat().st_size
    if size > MAX_MEGABYTES * _BYTES_PER_MEGABYTE:
        raise _error(path, f"It has {size / _BYTES_PER_MEGABYTE:,.0f} MB, and {MAX_MEGABYTES} are the most. Divide it.")
    texts: list[str] = []
    starts, dialogues, n_bad = [0], [], 0
    problems: list[tuple[int | None, str]] = []
    for number, line in _lines(path):
        try:
            dialogue = _dialogue_of(line)
        except _RefusedError as refusal:
            n_bad += 1
            if n_bad <= MAX_SHOWN:
                problems.append((number, str(refusal)))
            continue
        texts += dialogue.turns
        starts.append(len(texts))
        dialogues.append(dialogue._replace(turns=[]))
        if len(texts) > MAX_TURNS:
            raise _error(path, f"It has more than {MAX_TURNS:,} turns, the most there may be. Divide it.")
    if problems:
        raise BadDialoguesError(path.name, problems, n_bad - len(problems))
    if not dialogues:
        raise _error(path, "It is empty. Write a dialogue on each line, as a JSON list of texts.")
    ids, topics, personas = (tuple(getattr(each, name) for each in dialogues) for name in ("id", "topic", "persona"))
    return Dialogues(tuple(texts), np.array(starts, dtype=np.intp), ids, topics, personas)


_dialogues = PerFile(_read)


def _error(path: Path, message: str) -> BadDialoguesError:
    return BadDialoguesError(path.name, [(None, message)])


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that are not empty, with their numbers as an editor shows them."""
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            bare = line.removeprefix(b"\xef\xbb\xbf").strip() if number == 1 else line.strip()
            if bare:
                yield number, bare


def _dialogue_of(line: bytes) -> _Dialogue:
    """Return the dialogue of one line; raise _RefusedError."""
    try:
        found = json.loads(line.decode("utf-8"))
    except UnicodeDecodeError:
        raise _RefusedError("The line is not UTF-8. Save the file as UTF-8.") from None
    except (ValueError, RecursionError) as error:
        where = f", character {error.colno}" if isinstance(error, json.JSONDecodeError) else ""
        raise _RefusedError(
            f"The line is not JSON{where}: “{shorten(line.decode(errors='replace'))}”. Write a dialogue on each line, "
            "as a list of texts."
        ) from None
    if isinstance(found, list):
        return _Dialogue(_turns_of(found))
    if not isinstance(found, dict) or not isinstance(found.get("turns"), list):
        raise _RefusedError("A line must be a list of texts, or an object whose “turns” is one.")
    persona = found.get("persona") or []
    persona = [persona] if isinstance(persona, str) else persona
    if not isinstance(persona, list):
        raise _RefusedError("“persona” must be a text or a list of texts.")
    return _Dialogue(
        _turns_of(found["turns"]),
        _text_of(found.get("id") or "", "“id”"),
        _text_of(found.get("topic") or "", "“topic”"),
        tuple(_text_of(each, "a statement of “persona”") for each in persona),
    )


def _turns_of(found: Sequence[object]) -> list[str]:
    """Return the texts of turns, what one speaker says in a row as one; raise _RefusedError."""
    turns: list[str] = []
    last: object = None
    for number, each in enumerate(found, 1):
        speaker, text = (each.get("speaker"), each.get("text")) if isinstance(each, dict) else (None, each)
        bare = _text_of(text, f"turn {number}")
        if not bare:
            raise _RefusedError(f"Turn {number} is empty. Fill it, or leave it out.")
        if turns and speaker is not None and speaker == last:
            turns[-1] += f" {bare}"
        else:
            turns.append(bare)
        last = speaker
    if len(turns) < FEWEST_TURNS:
        n_turns = f"{len(turns)} turn{'s' if len(turns) != 1 else ''}"
        raise _RefusedError(f"A dialogue needs {FEWEST_TURNS} turns or more; this one has {n_turns}. Leave it out.")
    return turns


def _text_of(found: object, what: str) -> str:
    """Return a text without the white space around it; raise _RefusedError."""
    if isinstance(found, int) and not isinstance(found, bool) and what == "“id”":
        return str(found)
    if not isinstance(found, str):
        raise _RefusedError(f"{what[0].upper()}{what[1:]} must be a text; it is {shorten(json.dumps(found))}.")
    try:
        found.encode()
    except UnicodeEncodeError:
        raise _RefusedError(
            f"{what[0].upper()}{what[1:]} has half a character (a lone surrogate). Write it anew."
        ) from None
    return found.replace("\0", "").strip()
