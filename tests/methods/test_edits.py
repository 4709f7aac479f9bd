"""Post-edited outputs: HTER, edit distance, time and keystrokes, and bad files."""

import csv
import json
import random
import sys

import pytest
from django.core.management import CommandError

from evalsite.lib.edits import edit_distance

HEADER = ("worker", "source", "system", "output", "edited", "seconds", "keystrokes")
# Snover et al. 2006, §3.1: four edits of 13 words, one of them a shift of “THIS WEEK”.
HYPOTHESIS = "THIS WEEK THE SAUDIS denied information published in the new york times"
REFERENCE = "SAUDI ARABIA denied THIS WEEK information published in the AMERICAN new york times"


@pytest.fixture
def edit_file(tmp_path):
    def write(*rows, header=HEADER):
        path = tmp_path / "edits.csv"
        with path.open("w", newline="", encoding="utf-8") as stream:
            csv.writer(stream).writerows([header, *rows])
        return path

    return write


def test_hter_of_snovers_example(edit_file, analyse):
    path = edit_file(("w", "s1", "A", HYPOTHESIS, REFERENCE, 26, 39))
    found = json.loads(analyse(path, protocol="post-edit", format="json")[0])
    assert (found["method"], found["higher_is_better"]) == ("edits", False)
    row = found["systems"][0]
    assert row["score"] == pytest.approx(100 * 4 / 13)
    assert row["interval"] is None and row["n"] == 1
    assert (row["criteria"]["seconds per word"], row["criteria"]["keystrokes per word"]) == (2, 3)


def test_rates_are_over_all_texts_of_a_system(edit_file, analyse, tmp_path):
    rows = [
        ("w", "s1", "A", "a b c d", "a b c d", 4, ""),
        ("v", "s2", "A", "a x", "a b", 6, 2),
        ("w", "s1", "B", "one", "uno dos", "", ""),
        ("v", "s2", "B", "three", "tres", "", ""),
    ]
    out, _ = analyse(edit_file(*rows), protocol="post-edit", format="json", out=tmp_path / "out")
    found = json.loads(out)
    assert [(row["system"], row["rank"]) for row in found["systems"]] == [("A", 1), ("B", 2)]
    of_a, of_b = (row["criteria"] for row in found["systems"])
    assert of_a["HTER"] == pytest.approx(100 * 1 / 6) and of_b["HTER"] == pytest.approx(100 * 3 / 3)
    assert of_a["edit distance"] == pytest.approx(100 * 1 / 10)
    assert of_a["seconds per word"] == pytest.approx(10 / 6) and of_a["keystrokes per word"] == pytest.approx(1)
    assert of_b["seconds per word"] is None
    rates = json.loads((tmp_path / "out" / "report.json").read_text())["rates"]
    assert [row["unchanged"] for row in rates] == [0.5, 0]
    assert "keystrokes" in (tmp_path / "out" / "tables" / "rates.csv").read_text()


def test_edit_distance_is_that_of_the_table():
    def slow(one, other):
        row = list(range(len(other) + 1))
        for i, x in enumerate(one, 1):
            before, row[0] = row[0], i
            for j, y in enumerate(other, 1):
                before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (x != y))
        return row[-1]

    draw = random.Random(3)
    for _ in range(500):
        one, other = ("".join(draw.choices("abc", k=draw.randrange(9))) for _ in range(2))
        assert edit_distance(one, other) == slow(one, other)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (("w", "s1", "A", "a", "", 1, 1), "column “edited”: the cell is empty"),
        (("w", "s1", "A", "a", "b", -1, 1), "-1 cannot be: write a number of 0 or more"),
        (("w", "s1", "A", "a", "b", "1e309", 1), "column “seconds”"),
        (("w", "s1", "A", "a", "b", 1, "many"), "“many” is not a number"),
    ],
)
def test_bad_cells_are_named(edit_file, analyse, row, said):
    with pytest.raises(CommandError, match=said):
        analyse(edit_file(row), protocol="post-edit")


def test_without_the_library_of_ter_it_says_what_to_install(edit_file, analyse, monkeypatch):
    monkeypatch.setitem(sys.modules, "sacrebleu.metrics", None)
    with pytest.raises(CommandError, match="needs the library sacrebleu"):
        analyse(edit_file(("w", "s", "A", "a", "b", 1, 1)), protocol="post-edit")


@pytest.mark.parametrize(("is_careful", "passed"), [(True, 1), (False, 0)])
def test_workers_who_leave_degraded_outputs_as_they_are_do_not_count(edit_file, analyse, is_careful, passed):
    header = (*HEADER, "kind", "assignment")
    rows = [("w", f"s{k}", "A", "a b c d", "a b c x", "", "", "ordinary", 1) for k in range(5)]
    edited = "e f g h" if is_careful else "a b c d"
    rows += [("w", f"s{k}", "A", "a b c d", edited, "", "", "degraded", 1) for k in range(5)]
    out, _ = analyse(edit_file(*rows, header=header), protocol="post-edit", format="json")
    found = json.loads(out)
    assert found["workers"] == {"total": 1, "passed": passed, "failed": 1 - passed, "untested": 0}
    assert found["systems"][0]["score"] == (pytest.approx(25) if is_careful else None)
    assert found["n_outputs"] == 5 * passed
    assert analyse(edit_file(*rows, header=header), protocol="post-edit")[0], "as a table, too"
