"""Answers chosen from options: shares, good ones, paired tests, labels of items, and bad files."""

import csv
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from django.core.management import CommandError
from scipy.stats import binomtest

from analysis.methods import ResponsesFile
from analysis.methods.choice import Choice
from analysis.methods.settings import from_protocol
from analysis.results.stored import document_of
from evalsite.lib.errors import DomainError

HEADER = ("worker", "source", "system", "answer")
OWN = {"ash": 0.8, "elm": 0.5, "fir": 0.3}


@pytest.fixture
def answers(rng):
    """Answers of six workers about 40 sources and three systems: good, fair, bad or none."""
    names = ["bad", "fair", "good", "none"]
    return [
        (f"w{(k + j) % 6}", f"s{k}", system, str(rng.choice(names, p=[(1 - share) / 3] * 2 + [share, (1 - share) / 3])))
        for k in range(40)
        for system, share in OWN.items()
        for j in range(3)
    ]


@pytest.fixture
def choice_file(tmp_path):
    def write(rows, header=HEADER):
        path = tmp_path / "choices.csv"
        with path.open("w", newline="", encoding="utf-8") as stream:
            csv.writer(stream).writerows([header, *rows])
        return path

    return write


@pytest.fixture
def protocol(tmp_path):
    def write(**options):
        path = tmp_path / "own.json"
        path.write_text(json.dumps({"protocol": "option-selection", "options": options}))
        return str(path)

    return write


def test_systems_are_scored_by_good_answers_with_shares_pairs_and_labels(
    choice_file, protocol, answers, analyse, tmp_path
):
    out = analyse(choice_file(answers), protocol=protocol(good=["good", "Fair"]), format="json", out=tmp_path / "out")[
        0
    ]
    found = json.loads(out)
    assert (found["method"], found["higher_is_better"], found["good"]) == ("choice", True, ["good", "Fair"])
    given = {name: [row[3] for row in answers if row[2] == name] for name in OWN}
    for row in found["systems"]:
        own = given[row["system"]]
        assert row["score"] == pytest.approx(np.mean([answer in ("good", "fair") for answer in own]))
        assert row["n"] == 120 and row["interval"][0] < row["score"] < row["interval"][1]
        assert row["criteria"]["none"] == pytest.approx(own.count("none") / 120)
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    share = report["shares"][0]
    test = binomtest(share["count"], 120, 0.25)
    assert share["interval"] == pytest.approx(list(test.proportion_ci(method="exact")))
    assert share["p"] == pytest.approx(test.pvalue)
    assert report["paired"][0]["n"] == 120
    labels = report["labels"]
    lines = list(csv.DictReader((tmp_path / "out" / "labels.csv").read_text().splitlines()))
    settled = [line for line in lines if line["majority"]]
    assert (labels["n_items"], labels["n_without_majority"]) == (120, 120 - len(settled))
    same = np.mean([line["majority"] == line["mace"] for line in settled])
    assert labels["agreement"][1] == {"methods": ["majority", "MACE"], "share": pytest.approx(same)}
    for line in settled:
        of = [row[3] for row in answers if row[1:3] == (line["source"], line["system"])]
        assert of.count(line["majority"]) == max(map(of.count, of))
    assert "McNemar" in (tmp_path / "out" / "tables" / "paired.tex").read_text()


def test_yes_is_good_and_without_good_options_there_are_shares_alone(choice_file, analyse, answers):
    rows = [("w", "s1", "A", "Yes"), ("w", "s2", "A", "no"), ("v", "s1", "B", "yes"), ("v", "s2", "B", "yes")]
    found = json.loads(analyse(choice_file(rows), protocol="option-selection", format="json")[0])
    assert [(row["system"], row["score"]) for row in found["systems"]] == [("B", 1), ("A", 0.5)]
    out, err = analyse(choice_file(answers), protocol="option-selection", format="json")
    assert {row["score"] for row in json.loads(out)["systems"]} == {None}
    assert "name the good ones" in err


def test_answers_may_have_several_options_and_be_correct_by_item(choice_file, analyse, tmp_path):
    header = (*HEADER, "correct", "seconds")
    rows = [
        ("w", "s1", "A", "x; y", "x|y|z", 4),
        ("v", "s1", "A", '["x"]', "x|y|z", 6),
        ("w", "s2", "A", "x;none", "x", ""),
        ("w", "s1", "B", "y", "x;y;z", 10),
        ("v", "s2", "B", "z", "x", 2),
    ]
    found = json.loads(
        analyse(choice_file(rows, header), protocol="option-selection", format="json", out=tmp_path / "out")[0]
    )
    assert {row["system"]: row["score"] for row in found["systems"]} == {"A": pytest.approx(2 / 3), "B": 0.5}
    assert found["options"] == ["none", "x", "y", "z"]
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert report["seconds"] == {"A": [5.0, 5.0], "B": [6.0, 6.0]}
    assert report["shares"][0]["p"] is None
    assert report["labels"]["n_items"] == 16  # four outputs of a source, four options each


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (("w", "s", "A", ""), "row 3, column “answer”: the cell is empty"),
        (("w", "s", "A", "y"), "row 2 has the same worker, system and source and another answer"),
        (("", "s", "B", "x"), "row 3, column “worker”"),
    ],
)
def test_bad_rows_are_named(choice_file, analyse, row, said):
    with pytest.raises(CommandError, match=said):
        analyse(choice_file([("w", "s", "A", "x"), row]), protocol="option-selection")


def test_unknown_options_and_texts_are_refused(choice_file, analyse, protocol):
    with pytest.raises(CommandError, match=r"“\[\[\[+…” is none of the options: a, b"):
        analyse(choice_file([("w", "s", "A", "[" * 5000)]), protocol=protocol(options=["a", "b"]))
    path = choice_file([("w", f"s{k}", "A", f"text {k}") for k in range(120)])
    with pytest.raises(CommandError, match="120 different answers"):
        analyse(path, protocol="option-selection")
    with pytest.raises(CommandError, match="“text 0” is none of the options: a, b"):
        analyse(path, protocol=protocol(options=["a", "b"]))
    with pytest.raises(CommandError, match="“good” names “c”"):
        analyse(choice_file([("w", "s", "A", "a")]), protocol=protocol(good=["c"]))


def test_one_question_of_a_file_of_another_tool_may_be_chosen(analyse):
    path = Path(__file__).parents[1] / "data" / "tools" / "label_studio.csv"
    out, _ = analyse(path, protocol="option-selection", columns=["score=verdict"], format="json")
    assert json.loads(out)["options"] == ["bad", "good"]


def test_degraded_items_and_repeats_are_left_out_and_counted(choice_file, analyse):
    rows = [("w", "s", "A", "yes", ""), ("w", "s", "A", "no", "degraded"), ("w", "s", "A", "no", "repeat")]
    out, err = analyse(choice_file(rows, (*HEADER, "kind")), protocol="option-selection", format="json")
    assert [json.loads(out)["systems"][0][name] for name in ("score", "n")] == [1, 1]
    assert "Rows of degraded and reference items, which are left out: 1" in err


@pytest.fixture
def report_of(choice_file):
    """What is found in rows of answers with kinds."""

    def find(rows, **options):
        method, settings = Choice(), replace(from_protocol("option-selection"), options=options)
        data = method.read(ResponsesFile(choice_file(rows, (*HEADER, "kind"))), settings)
        return document_of(method.analyse(data, settings)), method.files(data)

    return find


def test_repeats_change_nothing_but_how_far_workers_agree(answers, report_of):
    """Every worker answers some outputs again, another worker and another system are only in repeats."""
    rows = [(*row, "ordinary") for row in answers]
    again = [(*row[:3], "none", "repeat") for row in answers[::5]]
    again += [("guest", "s0", "ash", "good", "repeat"), ("w0", "s0", "oak", "bad", "repeat")]
    before, labels = report_of(rows, good=["good"])
    after, labels_after = report_of([*again, *rows], good=["good"])
    assert labels_after == labels
    of_workers = {"summary", "worker_table"}  # the guest is one of them
    assert {name for name in before if after[name] != before[name]} == {"fingerprint", *of_workers}
    assert {name for name in before["summary"] if after["summary"][name] != before["summary"][name]} == {"workers"}


@pytest.mark.parametrize("kind", ["repeat", "degraded"])
def test_options_that_no_ordinary_answer_names_change_neither_chance_nor_labels(report_of, kind):
    rows = [
        (worker, source, "A", "a" if source == "q1" else "b", "")
        for worker in ("ann", "bob")
        for source in ("q1", "q2")
    ]
    before, labels = report_of(rows)
    after, labels_after = report_of([*rows, ("ann", "q1", "A", "a; c", kind), ("bob", "q2", "A", "d", kind)])
    assert before["chance"] == after["chance"] == 0.5
    assert (after["summary"], after["shares"], labels_after) == (before["summary"], before["shares"], labels)


def test_options_that_are_named_stay_though_nobody_chose_them(report_of):
    report, _ = report_of([("ann", "q1", "A", "a", ""), ("bob", "q1", "A", "c", "repeat")], options=["a", "b", "c"])
    assert report["summary"]["options"] == ["a", "b", "c"] and report["chance"] == pytest.approx(1 / 3)


@pytest.mark.parametrize("options", [{"good": []}, {"good": "x"}, {"options": [1]}, {"chance": 0}, {"chance": True}])
def test_bad_options_are_refused(options):
    with pytest.raises(DomainError):
        Choice().check_options(options)
