"""Marked errors: what is kept, which are refused and why, what is marked already, and what simulated workers mark."""

import json
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from campaigns.contracts.response import BadAnswerError, Subject
from campaigns.responses.spans import MQM, Spans
from evalsite.lib.errors import DomainError

TEXT = "A 🚂 runs to Cafe\u0301 Bahn."
SUBJECT = Subject((TEXT,), {"source": "Ein Zug fährt.", "hidden": "x" * 99})
ESA = {"severities": "minor\nmajor", "categories": ""}
WIDE = {**ESA, "source_field": "source", "has_comments": "yes"}


def error(start: Any = 2, end: Any = 3, **changes: Any) -> dict[str, Any]:
    whole = {"side": "target", "start": start, "end": end, "severity": "minor", "category": "", "comment": ""}
    return {**whole, **changes}


def clean(*errors: Any, settings: dict[str, Any] = WIDE, subject: Subject = SUBJECT) -> Any:
    return Spans.clean([json.dumps(errors)], settings, subject)


def test_errors_are_kept_in_the_order_of_the_text_and_places_count_characters() -> None:
    missing, in_source = error(None, None, side="missing", severity="major"), error(4, 7, side="source")
    found = clean(missing, error(12, 17, comment=" An\0 accent. "), in_source, error())
    assert [(each["side"], each["start"]) for each in found] == [
        ("target", 2), ("target", 12), ("source", 4), ("missing", None)
    ]  # fmt: skip
    assert [TEXT[each["start"] : each["end"]] for each in found[:2]] == ["🚂", "Cafe\u0301"]
    assert found[1]["comment"] == "An accent."


def test_no_error_is_an_answer_and_nothing_sent_is_none() -> None:
    assert Spans.clean(["[]"], ESA, SUBJECT) == []
    assert Spans.clean([], ESA, SUBJECT) is None
    assert Spans.score([], ESA) is None


@pytest.mark.parametrize(
    ("errors", "said"),
    [
        ([error(3, 2)], "Error 1 begins at character 3 and ends at 2"),
        ([error(2, 2)], "must end after its beginning"),
        ([error(-1, 2)], "reaches from character -1 to 2, and the text has 23"),
        ([error(), error(20, 24)], "Error 2 reaches from character 20 to 24, and the text has 23"),
        ([error(0, 15, side="source")], "the text has 14"),
        ([error(2, 6), error(5, 7)], "overlap: one reaches from character 2 to 6, the other from 5 to 7"),
        ([error(side="hidden")], "is in “hidden”, where none can be marked"),
        ([error(side=["target"])], "is in “…”, where none can be marked"),
        ([error(side="missing")], "what is missing is nowhere"),
        ([error(True, 3)], "does not say from which character"),
        ([error(2.0, 3)], "does not say from which character"),
        ([error(1e309, 3)], "no JSON"),
        ([error(float("nan"), 3)], "no JSON"),
        ([error(10**400, 10**401)], "and the text has 23"),
        ([error(severity="critical")], "has the severity “critical”. It may be minor, major."),
        ([error(severity={})], "has the severity “…”"),
        ([error(category="Accuracy/Addition")], "has the category “Accuracy/Addition”"),
        ([error(comment="x" * 1001)], "has a comment of 1,001 characters"),
        ([error(comment=5)], "has a comment"),
        ([error() | {"rater": "ann"}], "does not have what an error has"),
        ([{"start": 2}], "does not have what an error has"),
        (["nonsense"], "does not have what an error has"),
        ([error()] * 201, "201 errors are marked, and at most 200 may be"),
    ],
)
def test_what_cannot_be_is_refused_with_what_and_where(errors: list[Any], said: str) -> None:
    with pytest.raises(BadAnswerError, match=re.escape(said)):
        clean(*errors)


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ("{}", "as a list"),
        ("[", "no JSON"),
        ("[" * 100_000, "no JSON"),
        ("[1" + "0" * 5000 + "]", "no JSON"),
        ("x" * 10_000_000, "has 10,000,000 characters"),
    ],
)
def test_nonsense_is_refused(sent: str, said: str) -> None:
    with pytest.raises(BadAnswerError, match=said):
        Spans.clean([sent], ESA, SUBJECT)


@pytest.mark.parametrize(
    ("settings", "found", "said"),
    [
        ({"most": 1}, [error(), error(4, 8)], "2 errors are marked, and at most 1 may be"),
        ({"has_missing": "no"}, [error(None, None, side="missing")], "where none can be marked"),
        ({"source_field": ""}, [error(0, 3, side="source")], "where none can be marked"),
        ({"has_comments": "no"}, [error(comment="why")], "has a comment, and none is asked for"),
        ({"categories": MQM}, [error()], "has the category “”"),
    ],
)
def test_settings_say_what_may_be_marked(settings: dict[str, Any], found: list[Any], said: str) -> None:
    with pytest.raises(BadAnswerError, match=re.escape(said)):
        clean(*found, settings=WIDE | settings)
    allowed = {"most": 2, "has_missing": "yes", "source_field": "source", "has_comments": "yes", "categories": ""}
    assert len(clean(*found, settings=WIDE | {key: allowed[key] for key in settings})) == len(found)


def test_errors_may_overlap_where_that_is_set() -> None:
    assert len(clean(error(2, 6), error(5, 7), settings=WIDE | {"may_overlap": "yes"})) == 2


@given(st.data())
def test_places_of_any_text_come_back_as_they_were(data: st.DataObject) -> None:
    alphabet = st.sampled_from(["a", " ", "é", "e\u0301", "🚂", "👩‍👩‍👧", "字", "\u202eא", "\r\n", "<", '"'])
    text = "".join(data.draw(st.lists(alphabet, min_size=1, max_size=30)))
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=8)))
    errors = [error(a, b) for a, b in zip(cuts[::2], cuts[1::2], strict=False)]
    subject = Subject((text,))
    found = clean(*errors, subject=subject)
    assert found == errors
    assert Spans.clean(Spans.sent(found), WIDE, subject) == found
    page = json.loads(Spans.shown_with(WIDE, subject)["page"])
    assert page["texts"] == {"target": text}


@given(st.recursive(st.none() | st.booleans() | st.floats() | st.integers() | st.text(), st.lists, max_leaves=9))
def test_whatever_is_sent_is_kept_or_refused(sent: Any) -> None:
    for each in (sent, [sent], [error(sent, 3)], [error(side=sent)], [error(severity=sent, comment=sent)]):
        try:
            found = clean(*(each if isinstance(each, list) else [each]))
        except BadAnswerError:
            continue
        json.dumps(found).encode()


def test_a_comment_can_always_be_stored() -> None:
    sent = json.dumps([error(comment="a!b")]).replace("!", "\\ud800")
    (found,) = Spans.clean([sent], WIDE, SUBJECT)
    assert found["comment"] == "ab"


def test_own_words_can_be_taken_out() -> None:
    assert Spans.without_words([error(comment="I, Ann")]) == [error()]


@pytest.mark.parametrize(
    ("settings", "word"),
    [
        ({"severities": ""}, "Severities"),
        ({"severities": "minor\nminor"}, "Severities"),
        ({"severities": "\n".join("abcdefghij")}, "Severities"),
        ({"categories": "Style\nStyle"}, "Categories"),
        ({"most": 0}, "Errors, at most"),
    ],
)
def test_settings_that_cannot_be_meant_are_refused(settings: dict[str, Any], word: str) -> None:
    with pytest.raises(DomainError, match=f"^{word}"):
        Spans.check(Spans.options.check(Spans.options.defaults() | settings))


class TestMarkedAlready:
    SETTINGS = {**ESA, "given_field": "given"}

    def given_for(self, text: str, field: Any) -> list[Any]:
        subject = Subject((text,), {"given": field if isinstance(field, str) else json.dumps(field)})
        return json.loads(Spans.shown_with(self.SETTINGS, subject)["page"])["given"]

    def test_each_output_has_its_own(self) -> None:
        field = [
            {"text": "one two three", "spans": [error(0, 3), error(8, 13, severity="major")]},
            {"text": "uno dos tres", "spans": [{"start": 4, "end": 7, "severity": "minor"}]},
        ]
        assert self.given_for("uno dos tres", field) == [error(4, 7)]
        assert self.given_for("one two three", field) == [error(0, 3), error(8, 13, severity="major")]

    def test_a_copy_with_other_words_in_the_middle_has_those_of_the_rest(self) -> None:
        """Of a degraded item nothing tells that it is one."""
        field = [{"text": "one two three four", "spans": [error(0, 3), error(4, 7), error(14, 18)]}]
        found = self.given_for("one twelve times four", field)
        assert [(each["start"], each["end"]) for each in found] == [(0, 3), (17, 21)]

    @pytest.mark.parametrize(
        "field",
        [
            "",
            "nonsense",
            "{}",
            "[1]",
            '[{"text": "a b", "spans": 5}]',
            [{"text": "a b", "spans": [error(0, 9), error(1e9, 2)]}],
        ],
    )
    def test_what_cannot_be_is_left_out(self, field: Any) -> None:
        assert self.given_for("a b", field) == []

    def test_where_a_score_follows_they_are_the_answer_unless_they_are_changed(self) -> None:
        settings = {**self.SETTINGS, "must_say_none": "no"}
        field = json.dumps([{"text": "a b", "spans": [error(0, 1)]}])
        shown = Spans.shown_with(settings, Subject(("a b",), {"given": field}))
        assert json.loads(shown["value"]) == [error(0, 1)]


def test_a_lower_level_has_more_and_graver_errors() -> None:
    subject = Subject((" ".join(["word"] * 40),))

    def penalty(level: int) -> float:
        found = (
            Spans.clean(Spans.simulate([level], {}, np.random.default_rng(seed), subject), {}, subject)
            for seed in range(200)
        )
        return float(
            np.mean([sum({"neutral": 0, "minor": 1, "major": 5}[each["severity"]] for each in one) for one in found])
        )

    assert penalty(100) == 0
    assert penalty(80) < penalty(50) < penalty(20)
