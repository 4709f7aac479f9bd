"""A text that workers correct: what it became, how, and with how much work (post-editing)."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from numpy.random import Generator

from campaigns.contracts.options import OptionsForm, Switch, Text
from campaigns.contracts.response import NOTHING, BadAnswerError, ResponseKind, Settings, Subject, mean_level
from evalsite.lib.edits import edit_distance

LONGEST = 20_000
"""In characters; a text may always become twice as long as the output."""
RECORD, UNCHANGED = "[record]", "[unchanged]"
"""What a form sends after the text: this, and what the script recorded; this where there is nothing to change."""
MOST_CHANGES = 2000
_LONGEST_RECORD = 1_000_000
_DAY_MS = 86_400_000
_MOST_KEYS = 1_000_000
Change = list[Any]
"""[milliseconds, start, deleted, inserted]: `deleted` characters from `start` on gave way to the text `inserted`."""


class EditOptions(OptionsForm):
    """What is kept, and how a worker says that nothing is to be changed."""

    is_empty_default = True
    unchanged_label = Text(label="Nothing to change", required=True, max_length=100, initial="Nothing to change")
    keeps_history = Switch(
        label="Keep each change", initial="yes", help_text="When it was made, where, and what was typed or deleted."
    )


class Edit(ResponseKind):
    """What the output became: {"text", "is_unchanged", "changed", "seconds", "keystrokes", "history"}.

    `changed`: characters that were inserted, deleted or replaced, per 100 of the longer of both texts. The score is the
    rest: 100 for an output that was left as it is, and less is expected for a degraded one. `seconds`: in the box,
    without pauses of more than half a minute. `history`: the changes that lead from the output to the text, counted in
    characters, and milliseconds in the box. The last three are None where the page's script did not run; `history` also
    where the changes do not lead to the text, and where it is not to be kept.
    """

    slug = "edit"
    title = "Corrected text"
    summary = "Workers correct the output in a box; edits, time and keystrokes are kept (post-editing)."
    ask = "Correct the text, or confirm that there is nothing to change"
    template = "rate/responses/edit.html"
    instrument = "4. N/A (there is no rating instrument)"
    elicitation = "6. Evaluation through post-editing/annotation"
    is_written = True
    is_of_text = True
    marks_text = True
    table = "edits"
    script = "js/edits.js"
    style = "css/rate_edit.css"
    options = EditOptions

    @classmethod
    def shown(cls, settings: Settings) -> dict[str, Any]:
        """Return the words of the confirmation and the bounds of what is recorded."""
        return {
            "unchanged_label": EditOptions.value_of(settings, "unchanged_label"),
            "unchanged": UNCHANGED,
            "most_changes": MOST_CHANGES if EditOptions.value_of(settings, "keeps_history") else 0,
        }

    @classmethod
    def clean(cls, sent: Sequence[str], settings: Settings, subject: Subject = NOTHING) -> dict[str, Any] | None:
        """Return the edited text and its record; None if it is empty, or the output without a confirmation."""
        text, record, confirmed = _parts(sent)
        output = _plain(subject.outputs[0] if subject.outputs else "")
        longest = max(LONGEST, 2 * len(output))
        if len(text) > longest:
            raise BadAnswerError(f"The text has {len(text):,} characters, at most {longest:,} are kept. Shorten it.")
        is_unchanged = text == output
        if confirmed and not is_unchanged:
            raise BadAnswerError("You changed the text, and ticked that there is nothing to change. Undo one of both.")
        if not confirmed and (is_unchanged or not text.strip()):
            return None
        recorded = _read_record(record)
        history = recorded.pop("history")
        is_whole = history is not None and replay(output, history) == text
        is_kept = is_whole and EditOptions.value_of(settings, "keeps_history")
        changed = 100 * edit_distance(output, text) / max(len(output), len(text), 1)
        kept = {"text": text, "is_unchanged": is_unchanged, "changed": round(changed, 2)}
        return {**kept, **recorded, "history": history if is_kept else None}

    @classmethod
    def sent(cls, value: Any) -> list[str]:
        """Return the text, its record and the confirmation."""
        confirmed = [UNCHANGED] if value["is_unchanged"] else []
        if value["seconds"] is None:
            return [value["text"], "", *confirmed]
        ms, changes = round(value["seconds"] * 1000), value["history"] or []
        return [value["text"], _record(ms, value["keystrokes"], changes), *confirmed]

    @classmethod
    def without_words(cls, value: Any) -> Any:
        """Return how much was changed and how long that took, without what was written."""
        return value if value["is_unchanged"] else value | {"text": "", "history": None}

    @classmethod
    def cells(cls, value: Any, settings: Settings, subject: Subject) -> tuple[Any, ...] | None:
        """Return the output, what it became, seconds and keystrokes; None where the text was erased."""
        if not value["text"]:
            return None
        return *subject.outputs, value["text"], value["seconds"], value["keystrokes"]

    @classmethod
    def score(cls, value: Mapping[str, Any], settings: Settings) -> float:
        """Return how much of the output was left as it is, in per cent."""
        return float(100 - value["changed"])

    @classmethod
    def bounds(cls, settings: Settings) -> tuple[float, float]:
        """Return the scores of a text that has nothing of the output, and of the output itself."""
        return 0, 100

    @classmethod
    def ends(cls, settings: Settings) -> tuple[str, str]:
        """Return what they are."""
        return "all changed", "nothing changed"

    @classmethod
    def describe(cls, settings: Settings) -> str:
        """Return what workers do."""
        return "correcting the text itself in a box that begins with it (post-editing)"

    @classmethod
    def simulate(
        cls, levels: Sequence[int], settings: Settings, rng: Generator, subject: Subject = NOTHING
    ) -> list[str]:
        """Return the output with a share of its words replaced, all of them at level 0, none at 100."""
        output = _plain(subject.outputs[0] if subject.outputs else "")
        words = output.split(" ")
        n = round(len(words) * (100 - mean_level(levels)) / 100)
        if not n:
            return [output, "", UNCHANGED]
        if n == len(words):
            words = [output]  # the spaces, too
        changes: list[Change] = []
        for place in sorted(rng.permutation(len(words))[:n].tolist()):
            start = sum(len(word) + 1 for word in words[:place])
            typed = "§" * max(len(words[place]), 1)
            changes.append([1500 * (len(changes) + 1), start, len(words[place]), typed])
            words[place] = typed
        keys = sum(change[2] + len(change[3]) for change in changes)
        return [" ".join(words), _record(changes[-1][0], keys, changes)]


def replay(text: str, history: Sequence[Change]) -> str | None:
    """Return what a text becomes by changes one after another; None if one lies outside the text.

    >>> replay("the cat", [[0, 4, 3, "dog"], [900, 0, 1, "T"]])
    'The dog'
    """
    for _, start, deleted, inserted in history:
        if start + deleted > len(text):
            return None
        text = text[:start] + inserted + text[start + deleted :]
    return text


def _record(ms: int, keys: int, changes: Sequence[Change]) -> str:
    return RECORD + json.dumps({"ms": ms, "keys": keys, "changes": changes}, ensure_ascii=False)


def _plain(text: str) -> str:
    """Return a text as a browser's box has it."""
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")


def _parts(sent: Sequence[str]) -> tuple[str, str, bool]:
    """Return the text, the record of the page's script and whether it is confirmed that nothing is to be changed."""
    rest = [each for each in sent if each]
    confirmed = rest[-1:] == [UNCHANGED]
    if confirmed:
        rest.pop()
    record = rest.pop().removeprefix(RECORD) if rest and rest[-1].startswith(RECORD) else ""
    if len(rest) > 1:
        raise BadAnswerError("One edited text was expected, and several were sent.")
    return _plain("".join(rest)), record, confirmed


def _read_record(record: str) -> dict[str, Any]:
    """Return seconds, keystrokes and history of what the page's script recorded; None for each without it."""
    if not record:
        return {"seconds": None, "keystrokes": None, "history": None}
    bad = BadAnswerError("What the page recorded of your changes cannot be read. Reload the page, and send it again.")
    if len(record) > _LONGEST_RECORD:
        raise bad
    try:
        found = json.loads(record)
    except (ValueError, RecursionError):
        raise bad from None
    if not isinstance(found, Mapping) or set(found) != {"ms", "keys", "changes"}:
        raise bad
    changes = found["changes"]
    if not (_is_count(found["ms"], _DAY_MS) and _is_count(found["keys"], _MOST_KEYS) and isinstance(changes, list)):
        raise bad
    if len(changes) > MOST_CHANGES or not all(_is_change(each) for each in changes):
        raise bad
    return {"seconds": found["ms"] / 1000, "keystrokes": found["keys"], "history": changes}


def _is_count(value: Any, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= most


def _is_change(change: Any) -> bool:
    if not isinstance(change, list) or len(change) != 4:
        return False
    *numbers, inserted = change
    return all(_is_count(each, _DAY_MS) for each in numbers) and isinstance(inserted, str)
