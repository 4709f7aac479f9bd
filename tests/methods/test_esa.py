"""ESA: how far raters agree on the scores of the same segments."""

import csv
from dataclasses import replace

import numpy as np
import pytest

from analysis.methods import ResponsesFile
from analysis.methods.esa import Esa
from analysis.methods.settings import from_protocol
from campaigns.design.worker_test import NO_TEST

HEADER = ("rater", "doc", "seg_id", "system", "score", "kind")


@pytest.fixture
def report_of(tmp_path):
    """What is found in rows of scores."""

    def find(rows, *, brief=False, **changes):
        path = tmp_path / "scores.csv"
        with path.open("w", newline="", encoding="utf-8") as stream:
            csv.writer(stream).writerows([HEADER, *rows])
        settings = replace(from_protocol("esa"), **changes)
        return Esa().analyse(Esa().read(ResponsesFile(path), settings), settings, brief=brief)

    return find


def section_of(report):
    return next(each for each in Esa().sections(report) if each.slug == "worker-agreement")


TWO_RATERS = [
    ("ann", "d", "1", "A", 60, ""),
    ("bob", "d", "1", "A", 70, ""),
    ("ann", "d", "2", "A", 80, ""),
    ("bob", "d", "2", "A", 80, ""),
]


def test_raters_agree_with_each_other_and_with_themselves(report_of):
    """Of one output two raters say 60 and 70, of another 80 and 80; ann scores the latter again, as 90.

    Difference: (10 + 0)/2 = 5 points. D_o = (10² + 0)/2 = 50; D_e, of the six pairs of 60, 70, 80 and 80, is
    (10² + 2 · 20² + 2 · 10² + 0)/6 = 1100/6; α = 1 − 50 · 6/1100 = 8/11.
    """
    report = report_of([*TWO_RATERS, ("ann", "d", "2", "A", 90, "repeat")])
    [found] = report["agreement"].values()
    assert found["between"] == {
        "n_items": 2,
        "n_judgements": 4,
        "same": 0.5,
        "difference": 5,
        "alpha": pytest.approx(8 / 11),
    }
    assert (found["within"]["n_items"], found["within"]["difference"]) == (1, 10)
    assert report["summary"]["systems"][0]["score"] == pytest.approx((65 + 82.5) / 2), "the repeat is averaged"
    section = section_of(report)
    assert section.finding == (
        "Two raters’ scores of an output are 5.0 points apart in the mean. "
        "Two scores that one rater gave an output are 10.0 points apart in the mean."
    )
    [table] = section.tables
    assert [column.name for column in table.columns][3:] == ["difference", "Krippendorff’s α"]
    assert table.rows[0] == ["with each other", 2, 4, 5, pytest.approx(8 / 11)]
    assert "raters who count" in table.caption


def test_segments_of_different_documents_are_different_outputs(report_of):
    rows = [*TWO_RATERS, ("ann", "e", "1", "A", 0, ""), ("bob", "e", "2", "A", 100, "")]
    assert report_of(rows)["agreement"] == report_of(TWO_RATERS)["agreement"]


def test_raters_who_fail_the_worker_test_are_not_compared(report_of):
    rng = np.random.default_rng(3)
    rows = []
    for rater, drop in (("ann", 30), ("bob", 25), ("careless", -5)):
        for n in range(12):
            score = int(rng.integers(40, 95))
            rows += [(rater, "d", str(n), "A", score, "ordinary"), (rater, "d", str(n), "A", score - drop, "degraded")]
    report = report_of(rows)
    assert {row["worker"]: row["verdict"] for row in report["worker_table"]}["careless"] == "failed"
    assert report["agreement"]["score"]["between"]["n_judgements"] == 24
    assert report["agreement"] == report_of([row for row in rows if row[0] != "careless"])["agreement"]
    assert report_of(rows, preset=NO_TEST)["agreement"]["score"]["between"]["n_judgements"] == 36


def test_brief_reports_and_those_of_before_have_no_agreement(report_of):
    assert report_of(TWO_RATERS, brief=True)["agreement"] == {}
    report = report_of(TWO_RATERS)
    del report["agreement"]
    assert section_of(report).tables == []
