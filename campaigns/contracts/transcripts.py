"""Dialogues as texts: a turn on each line, or JSON; who says what, in words that name no system."""

import json
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from evalsite.lib.caches import byte_cache
from evalsite.lib.errors import DomainError
from evalsite.lib.words import counted

Speaker = Literal["person", "chatbot"]
# What workers are told of who speaks: a name in a file could tell which system it is.
SPEAKERS: dict[Speaker, str] = {"person": "Person", "chatbot": "Chatbot"}
MOST_TURNS = 200
_N_SPEAKERS = 2

_CHATBOTS = {"chatbot", "bot", "system", "assistant", "model", "ai", "agent"}
_PEOPLE = {"person", "human", "user", "worker", "customer", "me", "you"}
# What files call the two parts of a turn.
_KEYS = (("speaker", "text"), ("role", "content"), ("from", "value"))
# At most three words before a colon that ends the line or is followed by a space: 12:30 and https:// are none.
_NAME = re.compile(r"([^\s:：,;!?]+(?: [^\s:：,;!?]+){0,2}) ?(?:：|:(?=\s|$))\s*")
_LONGEST_NAME = 40
# NUL and halves of surrogate pairs, which JSON can spell: no database stores them.
_NOT_TEXT = re.compile("[\x00\ud800-\udfff]")
_INDENT = "  "


@dataclass(frozen=True)
class Spoken:
    """One turn of a dialogue: who says what."""

    speaker: Speaker
    text: str


def write_transcript(turns: Iterable[Spoken]) -> str:
    """Return a dialogue as text: `Person: …` or `Chatbot: …`, further lines of a turn indented.

    `parse_transcript` reads it back, as it was.
    """
    return "\n".join(f"{SPEAKERS[turn.speaker]}: {turn.text}".replace("\n", f"\n{_INDENT}") for turn in turns)


# The turns take as many bytes as the text again.
@byte_cache(16 * 2**20, lambda turns, text: 2 * sys.getsizeof(text) + 1000)
def parse_transcript(text: str, *, is_before_reply: bool = False) -> tuple[Spoken, ...]:
    """Return the turns of a dialogue; raise DomainError `bad_transcript`, with what is wrong.

    The text has a turn on each line, `Speaker: text`; a line that is indented, or does not begin with a speaker, goes
    on with the turn before it. Or it is a JSON list of objects with `speaker` and `text` (`role` and `content`, `from`
    and `value`), or of texts, which the two say in turn.

    There are two speakers. The chatbot is whoever is called so (chatbot, bot, system, assistant, model …), or speaks
    with somebody called person, human, user …; otherwise it is who speaks second. `is_before_reply`: a reply of the
    chatbot follows, so that of two who are not called so, it is who does not speak last.
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
    if garbled := next((n for n, (_, words) in enumerate(turns, 1) if _NOT_TEXT.search(words)), None):
        raise _bad(f"turn {garbled} holds characters that are no text. Type it again")
    chatbot = _find_chatbot([name for name, _ in turns], is_before_reply=is_before_reply)
    return tuple(Spoken("chatbot" if _plain(name) == chatbot else "person", words) for name, words in turns)


def _find_chatbot(names: Sequence[str], *, is_before_reply: bool) -> str | None:
    """Return the plain name of the chatbot among those who speak, in order; None if only the person does."""
    known: dict[str, str] = {}
    for name in names:
        known.setdefault(_plain(name), name)
    if len(known) > _N_SPEAKERS:
        quoted = ", ".join(f"“{_shorten(name)}”" for name in list(known.values())[:5])
        raise _bad(
            f"it has {counted(len(known), 'speaker')} ({quoted}), and a dialogue has two. Leave out what neither says, "
            "and indent lines that go on with a turn"
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
    # Where both are called what they are, a word before a colon is no third speaker.
    known = names & (_CHATBOTS | _PEOPLE)
    is_known = len(known) == _N_SPEAKERS and len(known & _CHATBOTS) == 1
    turns: list[tuple[str, list[str]]] = []
    for line, name in lines:
        if name and not (is_known and _plain(name) not in known):
            turns.append((name, [_NAME.sub("", line, count=1)]))
        elif turns:
            turns[-1][1].append(line)
        else:
            raise _bad(f"its first line does not begin with who speaks: “{_shorten(line)}”. Write “Person: …”")
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
        raise _bad(f"it begins like a JSON list and is none ({error})") from None
    if not isinstance(entries, list):
        return None
    if all(isinstance(entry, str) for entry in entries):
        # They take turns: a person begins or, before a reply, speaks last.
        begins = len(entries) % 2 == 0 if is_before_reply else False
        return [("chatbot" if (n % 2 == 0) == begins else "person", entry) for n, entry in enumerate(entries)]
    return [_entry(n, entry) for n, entry in enumerate(entries, 1)]


def _entry(number: int, entry: Any) -> tuple[str, str]:
    if isinstance(entry, dict):
        for who, what in _KEYS:
            if isinstance(entry.get(who), str) and isinstance(entry.get(what), str) and entry[who].strip():
                return entry[who], entry[what]
    raise _bad(f"turn {number} is no object with a text as “speaker” and a text as “text”")


def _tidy(text: str) -> str:
    """Return a turn without white space around it and its lines."""
    return "\n".join(line.strip() for line in text.splitlines()).strip()


def _plain(name: str) -> str:
    return name.strip(" *[]()<>_").casefold()


def _shorten(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:39]}…"


def _bad(message: str) -> DomainError:
    return DomainError("bad_transcript", message)
