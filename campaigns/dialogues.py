"""Dialogues as files and cells have them: transcripts that are rated, and files from which chatbots speak.

A transcript is a text with a turn on each line, or a JSON list of turns; it says who speaks, in words that name no
system. A file of dialogues is JSON Lines, a dialogue on each line (README of `retrieval`).
"""

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from campaigns.contracts.chat import Speaker, Utterance
from campaigns.design.words import segment, unit_of
from evalsite.lib.caches import FileCache, byte_cache
from evalsite.lib.errors import DomainError
from evalsite.lib.tables.errors import MAX_SHOWN, shorten
from evalsite.lib.words import counted

# What workers read of who speaks: a name in a file could say which system it is.
SPEAKERS: dict[Speaker, str] = {"worker": "Person", "chatbot": "Chatbot"}
MOST_TURNS = 200
"""Of a transcript, which is shown whole."""
MAX_MEGABYTES = 100
MAX_TURNS = 1_000_000
"""Of a file from which chatbots speak."""
FEWEST_TURNS = 2
_BYTES_PER_MEGABYTE = 1_000_000

Places = NDArray[np.intp]

_N_SPEAKERS = 2
_MORE_THAN_TWO = 2

_CHATBOTS = {"chatbot", "bot", "system", "assistant", "model", "ai", "agent"}
_PEOPLE = {"person", "human", "user", "worker", "customer", "me", "you"}
# What files call the two parts of a turn.
_KEYS = (("speaker", "text"), ("role", "content"), ("from", "value"))
# At most three words before a colon that ends the line or is followed by a space: 12:30 and https:// are none.
_NAME = re.compile(r"([^\s:：,;!?]+(?: [^\s:：,;!?]+){0,2}) ?(?:：|:(?=\s|$))\s*")
_LONGEST_NAME = 40
# NUL and halves of surrogate pairs, which JSON can spell: no database stores them.
NOT_TEXT = re.compile("[\x00\ud800-\udfff]")
_INDENT = "  "


# --- Transcripts


def write_transcript(turns: Iterable[Utterance]) -> str:
    """Return a dialogue as text: `Person: …` or `Chatbot: …`, further lines of a turn indented.

    `parse_transcript` reads it back, as it was.
    """
    return "\n".join(f"{SPEAKERS[turn.by]}: {turn.text}".replace("\n", f"\n{_INDENT}") for turn in turns)


# The turns take as many bytes as the text again.
@byte_cache(16 * 2**20, lambda turns, text: 2 * sys.getsizeof(text) + 1000)
def parse_transcript(text: str, *, is_before_reply: bool = False) -> tuple[Utterance, ...]:
    """Return the turns of a dialogue; raise DomainError `bad_transcript`, with what is wrong.

    The text has a turn on each line, `Speaker: text`; a line that is indented, or does not begin with a speaker, goes
    on with the turn before it. Or it is a JSON list of objects with `speaker` and `text` (`role` and `content`, `from`
    and `value`), or of texts, which the two say in turn.

    There are two speakers. The chatbot is the one that is called so (chatbot, bot, system, assistant, model …), or
    speaks with somebody called person, human, user …; otherwise the one that speaks second. `is_before_reply`: a reply
    of the chatbot follows, so that of two who are not called so, it is the one that does not speak last.
    """
    said = _read_json(text, is_before_reply=is_before_reply)
    said = _read_lines(text) if said is None else said
    turns = [(name, _tidy(words)) for name, words in said]
    if not turns:
        raise _bad("nobody says anything")
    if len(turns) > MOST_TURNS:
        raise _bad(f"it has {len(turns)} turns, and at most {MOST_TURNS} are shown")
    if silent := next((n for n, (_, words) in enumerate(turns, 1) if not words), None):
        raise _bad(f"turn {silent} says nothing. Write it, or leave it out")
    if garbled := next((n for n, (_, words) in enumerate(turns, 1) if NOT_TEXT.search(words)), None):
        raise _bad(f"turn {garbled} holds characters that are not text. Type it again")
    chatbot = _find_chatbot([name for name, _ in turns], is_before_reply=is_before_reply)
    return tuple(Utterance("chatbot" if _plain(name) == chatbot else "worker", words) for name, words in turns)


def _find_chatbot(names: Sequence[str], *, is_before_reply: bool) -> str | None:
    """Return the plain name of the chatbot among those who speak, in order; None if only the person does."""
    known: dict[str, str] = {}
    for name in names:
        known.setdefault(_plain(name), name)
    if len(known) > _N_SPEAKERS:
        quoted = ", ".join(f"“{shorten(name)}”" for name in list(known.values())[:5])
        raise _bad(
            f"it has {counted(len(known), 'speaker')} ({quoted}), and a dialogue has two. Leave out what neither says, "
            "and indent lines that continue a turn"
        )
    chatbots, people = [name for name in known if name in _CHATBOTS], [name for name in known if name in _PEOPLE]
    if _N_SPEAKERS in (len(chatbots), len(people)):
        raise _bad("its speakers' names do not tell which of the two is the chatbot. Call one Person, one Chatbot")
    if chatbots:
        return chatbots[0]
    person = people[0] if people else _plain(names[-1] if is_before_reply else names[0])
    return next((name for name in known if name != person), None)


def _read_lines(text: str) -> list[tuple[str, str]]:
    """Return speaker and text of each turn that begins on a line of its own."""
    lines = [(line, _name_on(line)) for line in text.strip().splitlines()]
    names = {_plain(name) for _, name in lines if name}
    # Where both are called what they are, a word before a colon is not a third speaker.
    known = names & (_CHATBOTS | _PEOPLE)
    is_known = len(known) == _N_SPEAKERS and len(known & _CHATBOTS) == 1
    turns: list[tuple[str, list[str]]] = []
    for line, name in lines:
        if name and not (is_known and _plain(name) not in known):
            turns.append((name, [_NAME.sub("", line, count=1)]))
        elif turns:
            turns[-1][1].append(line)
        else:
            raise _bad(f"its first line does not begin with who speaks: “{shorten(line)}”. Write “Person: …”")
    return [(name, "\n".join(words)) for name, words in turns]


def _name_on(line: str) -> str:
    """Return the name that a line begins with; "" if it has none, or is indented."""
    match = _NAME.match(line)
    return match[1] if match and len(match[1]) <= _LONGEST_NAME else ""


def _read_json(text: str, *, is_before_reply: bool) -> list[tuple[str, str]] | None:
    """Return speaker and text of each turn of a JSON list; None if the text is not meant as one."""
    if not re.match(r'\s*\[\s*["{\]]', text):
        return None
    try:
        entries = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _bad(f"it begins like a JSON list and is not one ({error})") from None
    if not isinstance(entries, list):
        return None
    if all(isinstance(entry, str) for entry in entries):
        # They take turns: a person begins or, before a reply, speaks last.
        begins = len(entries) % 2 == 0 if is_before_reply else False
        return [("chatbot" if (n % 2 == 0) == begins else "person", entry) for n, entry in enumerate(entries)]
    return [_entry(n, entry) for n, entry in enumerate(entries, 1)]


def _entry(number: int, entry: object) -> tuple[str, str]:
    who, what = _speaker_and_text(entry)
    if isinstance(who, str) and isinstance(what, str) and who.strip():
        return who, what
    raise _bad(f"turn {number} is not an object with a text as “speaker” and a text as “text”")


def _speaker_and_text(entry: object) -> tuple[object, object]:
    """Return who speaks in an entry of a JSON list of turns, and what; None for what it does not have."""
    if not isinstance(entry, dict):
        return None, entry
    of_keys = [(entry.get(who), entry.get(what)) for who, what in _KEYS]
    return next((each for each in of_keys if all(isinstance(part, str) for part in each)), of_keys[0])


def _tidy(text: str) -> str:
    """Return a turn without white space around it and its lines."""
    return "\n".join(line.strip() for line in text.splitlines()).strip()


def _plain(name: str) -> str:
    return name.strip(" *[]()<>_").casefold()


def _bad(message: str) -> DomainError:
    return DomainError("bad_transcript", message)


def replies_in(text: str) -> list[str]:
    """Return what the chatbot says in a dialogue in more than two words: what may be degraded, and gives words."""
    return [turn.text for turn in parse_transcript(text) if _is_degradable(turn)]


def degrade_replies(text: str, degrade: Callable[[str], str]) -> str:
    """Return a dialogue with every reply of `replies_in`, or every one if there are none, as `degrade` gives it."""
    turns = parse_transcript(text)
    longer = {n for n, turn in enumerate(turns) if _is_degradable(turn)}
    chosen = longer or {n for n, turn in enumerate(turns) if turn.by == "chatbot"}
    return write_transcript(
        replace(turn, text=degrade(turn.text)) if n in chosen else turn for n, turn in enumerate(turns)
    )


def _is_degradable(turn: Utterance) -> bool:
    return turn.by == "chatbot" and len(segment(turn.text, unit_of(turn.text)).units) > _MORE_THAN_TWO


# --- Files from which chatbots speak


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

    `problems` are at most 50 of the reasons, each with its line (None: the whole file) and how to fix it; `n_more`
    counts the others.
    """

    def __init__(self, file: str, problems: Sequence[tuple[int | None, str]], n_more: int = 0) -> None:
        self.problems, self.n_more = tuple(problems), n_more
        lines = [f"{file}{'' if line is None else f', line {line:,}'}: {message}" for line, message in problems]
        super().__init__("bad_dialogues", "\n".join([*lines, *([f"… and {n_more:,} more."] if n_more else [])]))


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


class _Dialogue(NamedTuple):
    turns: list[str]
    id: str = ""
    topic: str = ""
    persona: tuple[str, ...] = ()


class _RefusedError(Exception):
    """What is wrong with one line, and how to fix it."""


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


_dialogues = FileCache(_read, size_of=lambda made: made.n_turns, max_size=MAX_TURNS)


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
        speaker, text = _speaker_and_text(each)
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
            f"{what[0].upper()}{what[1:]} has half a character (a lone surrogate). Write it again."
        ) from None
    return found.replace("\0", "").strip()
