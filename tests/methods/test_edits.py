"""Post-edited outputs: HTER, edit distance, time and keystrokes, and bad files."""

import csv
import itertools
import json
import random
import sys

import numpy as np
import pytest
from django.core.management import CommandError

from analysis.methods import ResponsesFile
from analysis.methods import edits as edits_module
from analysis.methods.edits import PostEdits
from analysis.methods.settings import from_protocol
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


# --- Agreement of workers


@pytest.fixture
def report_of(edit_file):
    """What is found in rows of edited texts with kinds."""

    def find(rows, **options):
        method, settings = PostEdits(), from_protocol("post-edit")
        path = edit_file(*rows, header=("worker", "source", "system", "output", "edited", "kind"))
        return method.analyse(method.read(ResponsesFile(path), settings), settings, **options)

    return find


EDITED = [
    ("ann", "s1", "A", "a b c d", "a b c d", ""),
    ("bob", "s1", "A", "a b c d", "a b c x", ""),
    ("ann", "s2", "A", "a b c d", "a b c x", ""),
    ("bob", "s2", "A", "a b c d", "a b c x", ""),
]


def test_workers_make_the_same_of_an_output_or_something_else(report_of):
    """Bob replaces one of four words in both outputs, ann in one of them, which she leaves as it is the second time.

    Distances: 1 of 7 characters, and 0: (100/7 + 0)/2. HTER: 0 and 25, then 25 and 25; D_o = (25² + 0)/2, and D_e, of
    six pairs of which three are 25 apart, is the same: α = 0.
    """
    report = report_of([*EDITED, ("ann", "s2", "A", "a b c d", "a b c d", "repeat")])
    found = report["agreement"]["edits"]
    assert found["between"] == {
        "n_items": 2,
        "n_judgements": 4,
        "same": 0.5,
        "difference": pytest.approx(50 / 7),
        "alpha": pytest.approx(0),
    }
    assert (found["within"]["n_items"], found["within"]["same"]) == (1, 0)
    assert found["within"]["difference"] == pytest.approx(100 / 7)
    section = next(each for each in PostEdits().sections(report) if each.slug == "worker-agreement")
    assert section.finding == (
        "Two workers edit an output to the same text in 50 % of cases. "
        "A worker who edits an output again makes the same text in 0 % of cases."
    )
    assert section.tables[0].rows[0] == ["with each other", 2, 4, 50, pytest.approx(50 / 7), pytest.approx(0)]
    assert "workers who count" in section.tables[0].caption


def some_texts(n_sources, n_workers, seed=5):
    draw = random.Random(seed)
    texts = ["a b c d", "a b c e", "a b", "x y z", "a bb c d e"]
    return [
        (f"w{w}", f"s{n}", "AB"[n % 2], "a b c d", draw.choice(texts), "ordinary")
        for n in range(n_sources)
        for w in range(n_workers)
    ]


@pytest.fixture
def compared(monkeypatch):
    """The pairs of edited texts that are compared for agreement."""
    calls = []

    def count(text, other):
        calls.append((text, other))
        return edit_distance(text, other)

    agreement = edits_module._mean_distance

    def watched(*arguments):
        with monkeypatch.context() as patch:
            patch.setattr(edits_module, "edit_distance", count)
            return agreement(*arguments)

    monkeypatch.setattr(edits_module, "_mean_distance", watched)
    return calls


def test_distances_are_those_of_every_two_workers_and_each_two_texts_are_compared_once(report_of, compared):
    rows = some_texts(9, 4)
    found = report_of(rows)["agreement"]["edits"]["between"]

    def mean_over_outputs(of_pair):
        outputs = [[row[4] for row in rows if row[1] == f"s{n}"] for n in range(9)]
        return np.mean([np.mean([of_pair(*pair) for pair in itertools.combinations(own, 2)]) for own in outputs])

    assert found["same"] == pytest.approx(mean_over_outputs(lambda one, other: one == other))
    expected = mean_over_outputs(lambda one, other: 200 * edit_distance(one, other) / (len(one) + len(other)))
    assert found["difference"] == pytest.approx(expected)
    assert len(compared) == len({frozenset(pair) for pair in compared}) <= 15


def test_of_many_pairs_some_are_compared_evenly_over_the_outputs(report_of, compared, monkeypatch):
    monkeypatch.setattr(edits_module, "_MOST_PAIRS", 200)
    rows = [(*row[:4], f"{row[4]} {row[1]} {row[0]}", "") for row in some_texts(150, 4)]
    some = report_of(rows)["agreement"]["edits"]["between"]["difference"]
    assert len(compared) == 200
    monkeypatch.setattr(edits_module, "_MOST_PAIRS", 10_000)
    assert some == pytest.approx(report_of(rows)["agreement"]["edits"]["between"]["difference"], rel=0.1)
    assert len(compared) == 200 + 150 * 6


def test_repeats_of_edits_change_nothing_but_how_far_workers_agree(report_of):
    """Another worker and another system are only in repeats, and one worker leaves degraded outputs as they are."""
    rows = some_texts(12, 3)
    rows += [(*row[:4], "a b c d" if row[0] == "w2" else "qq", "degraded") for row in rows]
    again = [(*row[:4], "a b c d", "repeat") for row in rows[:36:5]]
    again += [("guest", "s0", "A", "a b", "a c", "repeat"), ("w0", "s0", "D", "a b", "b", "repeat")]
    before, after = report_of(rows), report_of([*again, *rows])
    verdicts = {row["worker"]: row["verdict"] for row in before["worker_table"]}
    assert verdicts == {"w0": "passed", "w1": "passed", "w2": "failed"}
    assert {name for name in before if after[name] != before[name]} == {"agreement", "fingerprint"}
    kept = [row[4] == "a b c d" for row in rows[:36:5] if row[0] != "w2"]
    within = after["agreement"]["edits"]["within"]
    assert before["agreement"]["edits"]["within"]["n_items"] == 0
    assert (within["n_items"], within["same"]) == (len(kept), pytest.approx(np.mean(kept)))


def test_edits_have_no_agreement_in_brief_without_sources_and_in_results_of_before(report_of):
    assert "agreement" not in report_of(EDITED, brief=True)
    one_source = [(row[0], "s", row[1], *row[3:]) for row in EDITED]
    assert report_of(one_source)["agreement"] == {"edits": None}
    report = report_of(EDITED)
    del report["agreement"]
    assert not any(each.tables for each in PostEdits().sections(report) if each.slug == "worker-agreement")
