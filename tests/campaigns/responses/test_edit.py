"""Corrected texts: what is kept of them, what is refused, and that the changes lead from the output to the text."""

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from campaigns.contracts.response import BadAnswerError, Subject
from campaigns.responses.edit import LONGEST, MOST_CHANGES, RECORD, UNCHANGED, Edit, replay

OUTPUT = "The cat sat\r\non the mat."
SUBJECT = Subject((OUTPUT,), {})
AS_SHOWN = "The cat sat\non the mat."
EDITED = "A cat sat\non the mat!"
CHANGES = [[0, 0, 3, "A"], [2100, 20, 1, "!"]]


def record(**changes: Any) -> str:
    return RECORD + json.dumps({"ms": 4200, "keys": 5, "changes": CHANGES} | changes)


def clean(*sent: str, **settings: Any) -> dict[str, Any] | None:
    return Edit.clean(sent, settings, SUBJECT)


def test_what_is_kept_of_an_edited_text() -> None:
    found = clean(EDITED, record())
    assert found == {
        "text": EDITED,
        "is_unchanged": False,
        "changed": round(100 * 4 / 23, 2),  # “The” → “A” is three edits
        "seconds": 4.2,
        "keystrokes": 5,
        "history": CHANGES,
    }
    assert Edit.score(found, {}) == pytest.approx(82.61)
    assert clean(*Edit.sent(found)) == found, "a draft begins where it was left"
    assert clean(EDITED, record(), keeps_history="no")["history"] is None


def test_without_the_script_the_text_alone_is_kept() -> None:
    found = clean(EDITED.replace("\n", "\r\n"), "")
    assert (found["text"], found["seconds"], found["keystrokes"], found["history"]) == (EDITED, None, None, None)
    assert clean(*Edit.sent(found)) == found


def test_an_unchanged_text_is_an_answer_once_it_is_confirmed() -> None:
    assert clean(OUTPUT, "") is None
    found = clean(OUTPUT, record(changes=[]), UNCHANGED)
    assert (found["text"], found["is_unchanged"], Edit.score(found, {}), found["history"]) == (AS_SHOWN, True, 100, [])
    assert clean(*Edit.sent(found)) == found
    assert clean(" ", "") is clean(record()) is None, "an emptied text is none"
    with pytest.raises(BadAnswerError, match="Undo one of both"):
        clean(UNCHANGED)


@pytest.mark.parametrize("changes", [[[0, 0, 3, "B"]], [[0, 99, 0, "A"]], []])
def test_changes_that_do_not_lead_to_the_text_are_not_kept_and_the_text_is(changes: list) -> None:
    found = clean(EDITED, record(changes=changes))
    assert (found["text"], found["history"], found["seconds"]) == (EDITED, None, 4.2)


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        (["x" * (LONGEST + 1), ""], "20,001 characters, at most 20,000 are kept"),
        ([EDITED, "", UNCHANGED], "Undo one of both"),
        ([EDITED, "", "yes"], "several were sent"),
        ([EDITED, "", UNCHANGED, "x"], "several were sent"),
        ([EDITED, RECORD + "{"], "cannot be read"),
        ([EDITED, RECORD + "[" * 100_000], "cannot be read"),
        ([EDITED, RECORD + "5"], "cannot be read"),
        ([EDITED, record(ms=1e309)], "cannot be read"),
        ([EDITED, record(ms=-1)], "cannot be read"),
        ([EDITED, record(keys=True)], "cannot be read"),
        ([EDITED, record(changes=[[0, 0, 3]])], "cannot be read"),
        ([EDITED, record(changes=[[0, 0, -3, "A"]])], "cannot be read"),
        ([EDITED, record(changes=[[0, 0, 3, 7]])], "cannot be read"),
        ([EDITED, record(changes=[[0, 0, 0, "A"]] * (MOST_CHANGES + 1))], "cannot be read"),
        ([EDITED, record(changes="x" * 10_000_000)], "cannot be read"),
    ],
)
def test_what_the_page_cannot_have_sent_is_refused(sent: list[str], said: str) -> None:
    with pytest.raises(BadAnswerError, match=said):
        Edit.clean(sent, {}, SUBJECT)


def test_half_a_character_is_not_kept() -> None:
    """A script's text may have one half of a pair, which no database takes: in the box it became another character."""
    assert clean("A\ufffd", RECORD + '{"ms": 1, "keys": 1, "changes": [[0, 0, 23, "A\\ud83d"]]}')["history"] is None


@given(
    text=st.text(max_size=20), changes=st.lists(st.tuples(st.integers(0, 20), st.integers(0, 5), st.text(max_size=4)))
)
def test_changes_are_replayed_in_order(text: str, changes: list[tuple[int, int, str]]) -> None:
    wanted: list[str] | None = list(text)
    for start, deleted, inserted in changes:
        if wanted is None or start + deleted > len(wanted):
            wanted = None
            break
        wanted[start : start + deleted] = inserted
    found = replay(text, [[0, *each] for each in changes])
    assert found == (None if wanted is None else "".join(wanted))


def test_a_simulated_worker_changes_more_of_a_worse_output() -> None:
    scores = []
    for level in (0, 30, 60, 90, 100):
        value = Edit.clean(Edit.simulate([level], {}, np.random.default_rng(1), SUBJECT), {}, SUBJECT)
        assert value["is_unchanged"] or replay(AS_SHOWN, value["history"]) == value["text"]
        scores.append(Edit.score(value, {}))
    assert scores == sorted(scores)
    assert scores[0] < 40
    assert scores[-1] == 100


def test_what_a_worker_wrote_can_be_erased_and_what_it_is_worth_stays() -> None:
    found = clean(EDITED, record())
    erased = Edit.without_words(found)
    assert (erased["text"], erased["history"], Edit.score(erased, {})) == ("", None, Edit.score(found, {}))
    unchanged = clean(OUTPUT, "", UNCHANGED)
    assert Edit.without_words(unchanged) == unchanged
