"""Counts of facts: precision, recall and F, over all facts and over outputs, and bad files."""

import csv
import json

import numpy as np
import pytest
from django.core.management import CommandError

from analysis.methods import ResponsesFile
from analysis.methods.fact_count import FactCount
from analysis.methods.settings import from_protocol
from analysis.results.stored import document_of
from analysis.stats.segment_means import clustered_ratios
from evalsite.lib.errors import DomainError

HEADER = ("worker", "source", "system", "present", "correct", "missing")


@pytest.fixture
def count_file(tmp_path):
    def write(*rows, header=HEADER):
        path = tmp_path / "counts.csv"
        with path.open("w", newline="", encoding="utf-8") as stream:
            csv.writer(stream).writerows([header, *rows])
        return path

    return write


def test_precision_recall_and_their_averages_of_manning(count_file, analyse):
    # Manning, Raghavan & Schütze 2008: exercise 8.1 (8 of 18 found are relevant, 20 are), and Table 13.8, where
    # precisions of 10/20 and 90/100 are .83 together and .7 in the mean.
    rows = [
        ("w", "s1", "search", 18, 8, 12),
        ("w", "s2", "classes", 20, 10, 10),
        ("v", "s3", "classes", 100, 90, 10),
    ]
    found = json.loads(analyse(count_file(*rows), protocol="fact-count", format="json")[0])
    assert (found["method"], found["higher_is_better"], found["n_facts"]) == ("fact_count", True, 138)
    criteria = found["criteria"]
    assert criteria["precision"]["search"] == pytest.approx(8 / 18)
    assert criteria["recall"]["search"] == pytest.approx(8 / 20)
    assert criteria["F"]["search"] == pytest.approx(2 * 8 / 38)
    assert round(criteria["precision"]["classes"], 2) == 0.83
    assert criteria["precision (macro)"]["classes"] == pytest.approx(0.7)
    assert [row["system"] for row in found["systems"]] == ["classes", "search"]


def test_outputs_without_facts_have_no_rate_of_their_own(count_file, analyse, tmp_path):
    rows = [("w", "s1", "A", 0, 0, 0), ("w", "s2", "A", 4, 3, 1), ("v", "s1", "B", 0, 0, 2), ("v", "s2", "B", 0, 0, 1)]
    out, _ = analyse(count_file(*rows), protocol="fact-count", format="json", out=tmp_path / "out")
    found = json.loads(out)
    assert found["criteria"]["precision"] == {"A": 0.75, "B": None}
    assert found["criteria"]["recall"] == {"A": 0.75, "B": 0}
    assert found["criteria"]["F (macro)"] == {"A": 0.75, "B": 0}
    assert "micro precision" in (tmp_path / "out" / "tables" / "rates.csv").read_text()


def test_files_without_any_fact_are_analysed_without_scores(count_file, analyse):
    found = json.loads(analyse(count_file(("w", "s", "A", 0, 0, 0)), protocol="fact-count", format="json")[0])
    assert found["systems"][0]["score"] is None


def test_errors_of_a_ratio_are_those_of_workers_left_out_one_by_one():
    rng = np.random.default_rng(12)
    worker = np.repeat(np.arange(40), 10)
    b = rng.integers(1, 20, worker.size).astype(float)
    a = rng.binomial(b.astype(int), rng.beta(4, 2, 40)[worker]).astype(float)
    found = clustered_ratios(a, b, np.zeros(worker.size, int), 1, {"worker": worker})
    left = np.array([a[worker != w].sum() / b[worker != w].sum() for w in range(40)])
    jackknife = np.sqrt(39 / 40 * ((left - left.mean()) ** 2).sum())
    assert found.mean[0] == pytest.approx(a.sum() / b.sum())
    assert (found.high[0] - found.low[0]) / 2 / 2.0227 == pytest.approx(jackknife, rel=0.05)


def test_counts_that_cannot_be_are_left_out_and_counted(count_file, analyse):
    rows = [("w", "s1", "A", 4, 3, 1), ("w", "s2", "A", 3, 4, 0), ("v", "s1", "B", 4, 1, 1)]
    out, said = analyse(count_file(*rows), protocol="fact-count", format="json")
    found = json.loads(out)
    without = json.loads(analyse(count_file(rows[0], rows[2]), protocol="fact-count", format="json")[0])
    assert found["criteria"] == without["criteria"]
    assert (found["n_outputs"], found["n_facts"]) == (2, 8)
    assert "More facts are correct than present in 1 row. They are left out of the scores." in said


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (("w", "s", "A", 3, 4, 0), "More facts are correct than present in every row"),
        (("w", "s", "A", 3.5, 1, 0), "write a whole number of 0 or more"),
        (("w", "s", "A", 3, 1, ""), "column “missing”: the cell is empty"),
        (("w", "s", "A", 3, 1, "1e309"), "column “missing”"),
    ],
)
def test_bad_counts_are_named(count_file, analyse, row, said):
    with pytest.raises(CommandError, match=said):
        analyse(count_file(row), protocol="fact-count")


# --- Agreement of workers

KINDS = (*HEADER, "kind")


@pytest.fixture
def report_of(count_file):
    """What is found in rows of counts with kinds."""

    def find(rows, **options):
        method, settings = FactCount(), from_protocol("fact-count")
        data = method.read(ResponsesFile(count_file(*rows, header=KINDS)), settings)
        return document_of(method.analyse(data, settings, **options))

    return find


def test_repeats_of_counts_change_nothing_but_how_far_workers_agree(report_of):
    """Some repeats cannot be, another worker and another system are only in repeats, and some workers fail."""
    rng = np.random.default_rng(8)
    rows = []
    for worker in range(6):
        for n in range(12):
            present = int(rng.integers(6, 12))
            place = f"w{worker}", f"s{n}", "ABC"[(worker + n) % 3]
            rows.append((*place, present, present - int(rng.integers(0, 3)), 1, "ordinary"))
            lost = 5 if worker < 4 else 0
            rows.append((*place, present, max(present - lost - int(rng.integers(0, 2)), 0), 1, "degraded"))
    again = [(*row[:4], row[4] - k % 2, row[5], "repeat") for k, row in enumerate(rows[::6])]
    again += [("guest", "s0", "A", 5, 5, 0, "repeat"), ("w0", "s0", "D", 5, 5, 0, "repeat")]
    again += [("w1", "s1", "A", 5, 9, 0, "repeat")]
    before, after = report_of(rows), report_of([*again, *rows])
    assert {row["verdict"] for row in before["worker_table"]} == {"passed", "failed"}
    assert {name for name in before if after[name] != before[name]} == {"fingerprint"}


def test_a_possible_repeat_does_not_save_a_file_of_impossible_counts(report_of):
    with pytest.raises(DomainError, match="correct than present in every row"):
        report_of([("ann", "s1", "A", 1, 2, 0, ""), ("ann", "s1", "A", 2, 1, 0, "repeat")])
