"""Errors marked in a text, each with a severity and perhaps a category (Lommel et al. 2014; Kocmi et al. 2024)."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile
from typing import Any, NoReturn

from numpy.random import Generator

from campaigns.contracts.options import LongText, Number, OptionsForm, Switch, Text
from campaigns.contracts.response import (
    NOTHING,
    BadAnswerError,
    ResponseKind,
    Settings,
    Subject,
    check_lines,
    lines_of,
    mean_level,
    one_of,
    quoted,
)

TARGET, SOURCE, MISSING = "target", "source", "missing"
SIDES = (TARGET, SOURCE, MISSING)
"""Where an error is: in the output, in the text that it was made from, or nowhere, as what is missing is."""
MQM = """\
Accuracy/Addition
Accuracy/Omission
Accuracy/Mistranslation
Accuracy/Untranslated text
Fluency/Punctuation
Fluency/Spelling
Fluency/Grammar
Fluency/Register
Fluency/Inconsistency
Fluency/Character encoding
Terminology/Inappropriate for context
Terminology/Inconsistent use
Style/Awkward
Locale convention/Address format
Locale convention/Currency format
Locale convention/Date format
Locale convention/Name format
Locale convention/Telephone format
Locale convention/Time format
Non-translation
Source error
Other"""
"""The categories of Freitag et al. 2021."""
_MOST, _LONGEST_COMMENT, _LONGEST_SENT = 200, 1000, 400_000
_MOST_SEVERITIES, _MOST_CATEGORIES, _LONGEST_NAME = 9, 200, 100
_KEYS = {"side", "start", "end", "severity", "category", "comment"}
_PLACES = {"start", "end"}
# Of simulated workers: how many errors a text has at the lowest level, and how many words are enough for one.
_WORST, _WORDS_PER_ERROR = 6.0, 3


class SpansOptions(OptionsForm):
    """What may be marked, and how."""

    severities = LongText(
        label="Severities",
        required=True,
        max_length=1000,
        initial="neutral\nminor\nmajor",
        help_text=f"One a line, from the least to the gravest: up to {_MOST_SEVERITIES}.",
    )
    categories = LongText(
        label="Categories",
        max_length=20_000,
        initial=MQM,
        help_text="One a line; “Accuracy/Omission” is one of the group Accuracy. Empty: errors have a severity only.",
    )
    most = Number(
        label="Errors, at most",
        min_value=1,
        max_value=_MOST,
        help_text="Of one text. Empty: as many as there are.",
    )
    must_say_none = Switch(
        label="Who finds no error has to say so",
        initial="yes",
        help_text="“no” where a score follows: then a text without marks is one without errors.",
    )
    has_missing = Switch(
        label="Missing parts can be marked", initial="yes", help_text="For what the text leaves out: it has no place."
    )
    has_comments = Switch(label="Errors can have comments")
    may_overlap = Switch(label="Errors may overlap")
    source_field = Text(
        label="Field in which errors can be marked, too",
        max_length=_LONGEST_NAME,
        help_text="The name of a field that workers see, such as source. Empty: none.",
    )
    given_field = Text(
        label="Field with errors that are marked already",
        max_length=_LONGEST_NAME,
        help_text="Workers correct them. The field holds JSON, see the guide on protocols. Empty: none.",
    )


class Spans(ResponseKind):
    """A list of errors: side, start and end in characters (Unicode code points), severity, category and comment.

    In the order of the text; what is missing comes last, without start and end.
    """

    slug = "spans"
    title = "Error spans"
    summary = "Errors marked in the text, each with a severity and, if you like, a category."
    ask = "Mark the errors of every text, or say that there are none"
    template = "rate/responses/spans.html"
    script = "js/spans.js"
    style = "css/spans.css"
    needs_script = True
    marks_text = True
    instrument = "4. N/A (there is no rating instrument)"
    elicitation = "9. Post-editing/annotation"
    is_written = True
    table = "spans"
    options = SpansOptions

    @classmethod
    def check(cls, settings: Settings) -> None:
        """Refuse too few or too many severities or categories, long ones, and two of one name."""
        allowed = _Allowed.by(settings)
        check_lines("Severities", allowed.severities, fewest=1, most=_MOST_SEVERITIES, longest=_LONGEST_NAME)
        check_lines("Categories", allowed.categories, fewest=0, most=_MOST_CATEGORIES, longest=_LONGEST_NAME)

    @classmethod
    def shown_with(cls, settings: Settings, subject: Subject) -> dict[str, Any]:
        """Return what the page's script needs, as JSON, and what is answered before a worker does anything."""
        allowed = _Allowed.by(settings)
        given = _given(settings, allowed, subject)
        page = {
            "texts": allowed.texts(subject),
            "fields": {TARGET: "output", SOURCE: allowed.source_field},
            "severities": allowed.severities,
            "categories": allowed.categories,
            "most": allowed.most,
            "hasMissing": allowed.has_missing,
            "hasComments": allowed.has_comments,
            "mayOverlap": allowed.may_overlap,
            "mustSayNone": allowed.must_say_none,
            "longestComment": _LONGEST_COMMENT,
            "given": given,
        }
        return {"page": _to_json(page), "value": "" if allowed.must_say_none else _to_json(given)}

    @classmethod
    def marked_texts(cls, settings: Settings, subject: Subject) -> dict[str, str]:
        """Return the output and, where errors can be marked in it, too, the text that it was made from."""
        return _Allowed.by(settings).texts(subject)

    @classmethod
    def clean(cls, sent: Sequence[str], settings: Settings, subject: Subject = NOTHING) -> list[dict[str, Any]] | None:
        """Return the errors."""
        text = one_of(sent)
        if not text:
            return None
        allowed = _Allowed.by(settings)
        return allowed.read_all(_from_json(text), allowed.texts(subject))

    @classmethod
    def sent(cls, value: Any) -> list[str]:
        """Return the errors as JSON."""
        return [_to_json(value)]

    @classmethod
    def without_words(cls, value: Any) -> Any:
        """Return the errors without their comments."""
        return [{**each, "comment": ""} for each in value]

    @classmethod
    def is_testable(cls, settings: Settings) -> bool:
        """Return that it is: by what errors weigh."""
        return True

    @classmethod
    def describe(cls, settings: Settings) -> str:
        """Return which severities and how many categories there are."""
        allowed = _Allowed.by(settings)
        severities = quoted(allowed.severities)
        n = len(allowed.categories)
        categories = f" and one of {n} categories" if n else ""
        most = f", at most {allowed.most}" if allowed.most else ""
        return f"marking errors in the text{most}, each with a severity ({severities}){categories}"

    @classmethod
    def values(cls, settings: Settings) -> tuple[str, str]:
        """Return severities and categories."""
        allowed = _Allowed.by(settings)
        found = f"severity: {'; '.join(allowed.severities)}"
        if allowed.categories:
            found += f". Category: {'; '.join(allowed.categories)}"
        return "N/A", found

    @classmethod
    def simulate(
        cls, levels: Sequence[int], settings: Settings, rng: Generator, subject: Subject = NOTHING
    ) -> list[str]:
        """Return more and graver errors for a lower level, each on a word of its own."""
        allowed = _Allowed.by(settings)
        text = allowed.texts(subject)[TARGET]
        words = _words(text)
        bad = 1 - mean_level(levels) / 100
        n = min(int(_WORST * bad + rng.random()), -(-len(words) // _WORDS_PER_ERROR), allowed.most or _MOST)
        places = sorted(rng.choice(len(words), n, replace=False).tolist()) if n else []
        last = len(allowed.severities) - 1
        grades = (last * bad + rng.random(n)).astype(int).tolist()
        kinds = rng.integers(max(len(allowed.categories), 1), size=n).tolist()
        errors = [
            {
                "side": TARGET,
                "start": words[place][0],
                "end": words[place][1],
                "severity": allowed.severities[grade],
                "category": allowed.categories[kind] if allowed.categories else "",
                "comment": "",
            }
            for place, grade, kind in zip(places, grades, kinds, strict=True)
        ]
        return [_to_json(errors)]


@dataclass(frozen=True)
class _Allowed:
    """What the settings of a criterion allow."""

    severities: list[str]
    categories: list[str]
    most: int | None
    must_say_none: bool
    has_missing: bool
    has_comments: bool
    may_overlap: bool
    source_field: str

    @classmethod
    def by(cls, settings: Settings) -> "_Allowed":
        def value(name: str) -> Any:
            return SpansOptions.value_of(settings, name)

        return cls(
            lines_of(value("severities")),
            lines_of(value("categories")),
            value("most"),
            value("must_say_none"),
            value("has_missing"),
            value("has_comments"),
            value("may_overlap"),
            value("source_field").strip(),
        )

    def texts(self, subject: Subject) -> dict[str, str]:
        """Return the text of each side in which errors may be marked."""
        texts = {TARGET: subject.outputs[0] if subject.outputs else ""}
        if source := subject.source.get(self.source_field, ""):
            texts[SOURCE] = source
        return texts

    def read_all(self, found: Any, texts: Mapping[str, str]) -> list[dict[str, Any]]:
        """Return errors as they are kept; raise BadAnswerError that says which one cannot be, where and why."""
        if not isinstance(found, list):
            raise BadAnswerError("Errors are sent as a list.")
        most = self.most or _MOST
        if len(found) > most:
            raise BadAnswerError(f"{len(found)} errors are marked, and at most {most} may be. Remove some.")
        errors = sorted((self._read(k, each, texts) for k, each in enumerate(found, start=1)), key=_in_text)
        if not self.may_overlap:
            _refuse_overlaps(errors)
        return errors

    def _read(self, number: int, error: Any, texts: Mapping[str, str]) -> dict[str, Any]:
        def bad(what: str) -> NoReturn:
            raise BadAnswerError(f"Error {number} {what}")

        if not isinstance(error, dict) or error.keys() != _KEYS:
            bad(f"does not have what an error has: {', '.join(sorted(_KEYS))}.")
        side, severity, category, comment = (error[key] for key in ("side", "severity", "category", "comment"))
        if side not in (*texts, *([MISSING] if self.has_missing else [])):
            bad(f"is in “{_short(side)}”, where none can be marked.")
        if problem := _misplaced(error, texts.get(side)):
            bad(problem)
        if severity not in self.severities:
            bad(f"has the severity “{_short(severity)}”. It may be {', '.join(self.severities)}.")
        if category not in (self.categories or [""]):
            bad(f"has the category “{_short(category)}”, which is none of those that are offered.")
        if not isinstance(comment, str) or (comment and not self.has_comments):
            bad("has a comment, and none is asked for.")
        if len(comment) > _LONGEST_COMMENT:
            bad(f"has a comment of {len(comment):,} characters, at most {_LONGEST_COMMENT:,} are kept. Shorten it.")
        return {
            **{key: error[key] for key in ("side", "start", "end", "severity", "category")},
            "comment": _kept(comment),
        }


def _misplaced(error: Mapping[str, Any], text: str | None) -> str:
    """Return what is wrong with the place of an error, "" if nothing is; `text` is that of its side, if it has one."""
    start, end = error["start"], error["end"]
    if text is None:
        return "" if start is None and end is None else "says where it is, and what is missing is nowhere."
    if type(start) is not int or type(end) is not int:  # not True, and not 1.0
        return "does not say from which character to which it reaches."
    if start >= end:
        return f"begins at character {start} and ends at {end}: it must end after its beginning."
    if start < 0 or end > len(text):
        return f"reaches from character {start} to {end}, and the text has {len(text)}."
    return ""


def _refuse_overlaps(errors: Sequence[Mapping[str, Any]]) -> None:
    """Raise BadAnswerError if two of these errors, in the order of the text, have a character in common."""
    for one, other in pairwise(each for each in errors if each["side"] != MISSING):
        if one["side"] == other["side"] and other["start"] < one["end"]:
            raise BadAnswerError(
                f"Two errors overlap: one reaches from character {one['start']} to {one['end']}, the other from "
                f"{other['start']} to {other['end']}. Remove one, or change it."
            )


def _in_text(error: Mapping[str, Any]) -> tuple[int, int, int]:
    return SIDES.index(error["side"]), error["start"] or 0, error["end"] or 0


def _kept(comment: str) -> str:
    """Return a comment as databases can keep it: without NUL, and without halves of characters."""
    return comment.replace("\0", "").encode("utf-8", "ignore").decode().strip()


def _short(value: Any) -> str:
    return str(value)[:40] if isinstance(value, str) else "…"


def _to_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _from_json(text: str) -> Any:
    """Return what was sent; raise BadAnswerError if it is no JSON, or more than any text has errors."""
    if len(text) > _LONGEST_SENT:
        raise BadAnswerError(f"What was sent has {len(text):,} characters, and at most {_LONGEST_SENT:,} are read.")
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise BadAnswerError("What was sent cannot be read: it is no JSON.") from None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _words(text: str) -> list[tuple[int, int]]:
    """Return start and end of each word, as spaces divide them."""
    found, begin = [], 0
    for word in text.split():
        begin = text.index(word, begin)
        found.append((begin, begin + len(word)))
        begin += len(word)
    return found


# --- Errors that are marked already


def _given(settings: Settings, allowed: _Allowed, subject: Subject) -> list[dict[str, Any]]:
    """Return the errors that the source's field holds for this text, without those that cannot be.

    The field is JSON: `[{"text": …, "spans": [{"start": …, "end": …, "severity": …, "category": …}]}]`, with the text
    of each output. A text that is none of them gets the errors of the one most like it, where the two agree: a
    degraded item must not be known by what is marked.
    """
    field = SpansOptions.value_of(settings, "given_field").strip()
    texts = allowed.texts(subject)
    try:
        entries = _from_json(subject.source.get(field) or "[]")
    except BadAnswerError:
        return []
    found = [each for each in _dicts(entries) if isinstance(each.get("text"), str)]
    if not found:
        return []
    like = max(found, key=lambda each: sum(_agreeing(each["text"], texts[TARGET])))
    moved = (_moved(each, like["text"], texts[TARGET]) for each in _dicts(like.get("spans")))
    kept: list[dict[str, Any]] = []
    not_asked = {} if allowed.categories else {"category": ""}
    for error in (each | not_asked for each in moved if each):
        try:
            kept = allowed.read_all([*kept, error], texts)
        except (BadAnswerError, TypeError):
            continue
    return kept


def _dicts(found: Any) -> list[dict[str, Any]]:
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def _agreeing(one: str, other: str) -> tuple[int, int]:
    """Return how many characters two texts have in common at their beginning and, of the rest, at their end."""
    begin = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
    rest = min(len(one), len(other)) - begin
    ends = zip(one[::-1][:rest], other[::-1][:rest], strict=True)
    return begin, sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], ends))


def _moved(error: Mapping[str, Any], before: str, now: str) -> dict[str, Any] | None:
    """Return an error of one text where it is in another; None if the two differ there."""
    whole = {"side": TARGET, "category": "", "comment": ""} | {key: error[key] for key in _KEYS & error.keys()}
    start, end = whole.get("start"), whole.get("end")
    if whole["side"] != TARGET or type(start) is not int or type(end) is not int:
        return {"start": None, "end": None} | whole
    begin, ending = _agreeing(before, now)
    if end <= begin:
        return whole
    if start >= len(before) - ending:
        by = len(now) - len(before)
        return whole | {"start": start + by, "end": end + by}
    return None
