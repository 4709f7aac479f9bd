"""Sensibleness and specificity: the published shares, replies that are not sensible, and bad files."""

import csv
import json

import pytest
from django.core.management import CommandError

HEADER = ("worker", "source", "system", "criterion", "score")


@pytest.fixture
def reply_file(tmp_path):
    def write(rows):
        path = tmp_path / "replies.csv"
        with path.open("w", newline="", encoding="utf-8") as stream:
            csv.writer(stream).writerows([HEADER, *rows])
        return path

    return write


def replies(system, sensible, specific):
    """A hundred replies, of which so many are sensible, and so many of these specific."""
    rows = []
    for k in range(100):
        rows.append((f"w{k % 5}", f"t{k}", system, "sensible", "yes" if k < sensible else "no"))
        if k < sensible:
            rows.append((f"w{k % 5}", f"t{k}", system, "specific", int(k < specific)))
    return rows


def test_the_average_of_people_and_meena(reply_file, analyse, tmp_path):
    # Adiwardana et al. 2020: people 97 % and 75 %, SSA 86 %; Meena 87 % and 70 %, SSA 79 %.
    rows = replies("people", 97, 75) + replies("Meena", 87, 70)
    out, err = analyse(reply_file(rows), protocol="ssa", format="json", out=tmp_path / "out")
    found = json.loads(out)
    assert (found["method"], found["higher_is_better"]) == ("ssa", True)
    assert [(row["system"], row["score"]) for row in found["systems"]] == [
        ("people", pytest.approx(0.86)),
        ("Meena", pytest.approx(0.785)),
    ]
    assert found["criteria"]["specific"] == pytest.approx({"people": 0.75, "Meena": 0.7})
    assert "without being asked: 16" in err
    assert (tmp_path / "out" / "figures" / "levels-sensible.svg").exists()


def test_specific_replies_that_are_not_sensible_do_not_count(reply_file, analyse):
    rows = [("w", "t", "A", "Sensibleness", 0), ("w", "t", "A", "Specificity", 1), ("w", "u", "A", "Sensibleness", 1)]
    rows += [("w", "u", "A", "Specificity", 1)]
    out, err = analyse(reply_file(rows), protocol="ssa", format="json")
    assert json.loads(out)["systems"][0]["score"] == 0.5
    assert "called specific and not sensible, which count as not specific: 1" in err


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([("w", "t", "A", "fun" * 9000, 1)], "they are “funfun[a-z]{33}…”"),
        ([("w", "t", "A", "fun", 1)], "must be “sensible” and “specific”; they are “fun”"),
        ([("w", "t", "A", "sensible", 2)], "It must be one of: 1, yes, true, 0, no, false"),
        (
            [("w", "t", "A", "sensible", 1), ("w", "t", "A", "sensible", 0), ("w", "t", "A", "specific", 1)],
            "another a",
        ),
    ],
)
def test_other_answers_are_refused(reply_file, analyse, rows, said):
    with pytest.raises(CommandError, match=said):
        analyse(reply_file(rows), protocol="ssa")
