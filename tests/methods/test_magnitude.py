"""Magnitude estimation: geometric means over a reference, units of each worker, and bad files."""

import csv
import json
from dataclasses import replace

import numpy as np
import pytest
from django.core.management import CommandError
from scipy.stats import gmean, sem, t

from analysis.methods import ResponsesFile
from analysis.methods.magnitude import Magnitude
from analysis.methods.settings import RatedCriterion, from_protocol
from analysis.results.stored import document_of
from evalsite.lib.errors import DomainError

HEADER = ("worker", "source", "system", "value")


@pytest.fixture
def value_file(tmp_path):
    def write(rows, header=HEADER):
        path = tmp_path / "values.csv"
        with path.open("w", newline="", encoding="utf-8") as stream:
            csv.writer(stream).writerows([header, *rows])
        return path

    return write


@pytest.fixture
def protocol(tmp_path):
    def write(**options):
        path = tmp_path / "own.json"
        path.write_text(json.dumps({"protocol": "rank-me", "options": options}))
        return str(path)

    return write


def scores(out):
    return {row["system"]: row["score"] for row in json.loads(out)["systems"]}


def test_scores_are_geometric_means_over_the_reference(value_file, protocol, analyse):
    # SciPy's documentation: gmean([1, 4]) is 2, gmean([1, 2, 3, 4, 5, 6, 7]) is 3.3800151591412964.
    rows = [(f"w{k}", "s", "A", 100 * value) for k, value in enumerate((1, 4))]
    rows += [(f"w{k}", "s", "B", 100 * value) for k, value in enumerate(range(1, 8))]
    found = json.loads(analyse(value_file(rows), protocol=protocol(reference=100), format="json")[0])
    assert (found["method"], found["higher_is_better"]) == ("magnitude", True)
    assert [(row["system"], row["score"]) for row in found["systems"]] == [
        ("B", pytest.approx(3.3800151591412964)),
        ("A", pytest.approx(2)),
    ]


def test_intervals_are_those_of_logs_of_the_workers(value_file, analyse):
    log = np.random.default_rng(4).normal(0.3, 0.5, 9)
    rows = [(f"w{k}", "s", "A", 50 * np.exp(value), 50) for k, value in enumerate(log)]
    found = json.loads(analyse(value_file(rows, (*HEADER, "reference")), protocol="rank-me", format="json")[0])
    low, high = t.interval(0.95, 8, log.mean(), sem(log))
    assert found["systems"][0]["score"] == pytest.approx(gmean(np.exp(log)))
    assert found["systems"][0]["interval"] == pytest.approx([np.exp(low), np.exp(high)])


def test_a_system_may_be_the_reference_and_criteria_are_averaged(value_file, protocol, analyse):
    header = ("worker", "source", "system", "criterion", "value")
    rows = [("w", "s", "human", "fluent", 40), ("w", "s", "A", "fluent", 80), ("w", "s", "human", "true", 10)]
    rows += [("w", "s", "A", "true", 5), ("v", "s", "human", "fluent", 7), ("v", "s", "A", "fluent", 14)]
    rows += [("v", "s", "A", "true", 99)]
    out, err = analyse(value_file(rows, header), protocol=protocol(reference="Human"), format="json")
    found = json.loads(out)
    assert scores(out) == {"A": pytest.approx(1), "human": pytest.approx(1)}
    assert found["criteria"]["fluent"]["A"] == pytest.approx(2) and found["criteria"]["true"]["A"] == pytest.approx(0.5)
    assert "Left out, as their worker gave human no value for the source: 1" in err


def test_repeats_change_no_score(value_file, protocol, analyse):
    header = (*HEADER, "kind")
    rows = [(worker, source, "A", 100, "ordinary") for worker, source in (("w", "s1"), ("v", "s1"), ("w", "s2"))]
    rows.append(("v", "s2", "A", 200, "ordinary"))
    before = scores(analyse(value_file(rows, header), protocol=protocol(reference=100), format="json")[0])
    rows.append(("w", "s2", "A", 200, "repeat"))
    out, _ = analyse(value_file(rows, header), protocol=protocol(reference=100), format="json")
    assert scores(out) == before == {"A": pytest.approx(2**0.25)}


def test_logs_may_be_in_units_of_each_worker(value_file, protocol, analyse):
    rows = [("w", "s1", "A", 1), ("w", "s1", "B", 10), ("v", "s1", "A", 900), ("v", "s1", "B", 1000)]
    rows += [("u", "s1", "A", 5), ("u", "s1", "B", 5)]
    out, _ = analyse(value_file(rows), protocol=protocol(scale="worker"), format="json")
    assert scores(out) == {"B": pytest.approx(2 / 3 * np.sqrt(0.5)), "A": pytest.approx(-2 / 3 * np.sqrt(0.5))}


@pytest.mark.parametrize(
    ("value", "said"),
    [("0", "write a number of more than 0"), ("-3", "more than 0"), ("1e309", "row 3"), ("", "the cell is empty")],
)
def test_values_that_have_no_logarithm_are_named(value_file, analyse, value, said):
    with pytest.raises(CommandError, match=said):
        analyse(value_file([("w", "s", "A", 1), ("w", "s", "B", value)]), protocol="rank-me")


def test_an_unknown_reference_is_refused_and_none_is_said(value_file, protocol, analyse):
    path = value_file([("w", "s", "A", 1)])
    with pytest.raises(CommandError, match="“reference” names “gold”"):
        analyse(path, protocol=protocol(reference="gold"))
    assert "No reference is known" in analyse(path, protocol="rank-me")[1]
    assert (
        "No reference is known"
        in analyse(value_file([("w", "s", "A", 1, "")], (*HEADER, "reference")), protocol="rank-me")[1]
    )
    assert "No reference is known" not in analyse(path, protocol=protocol(scale="worker"))[1]


def answered(value_file, analyse, protocol, *factors):
    """Return the result of workers who give ordinary outputs 100, 200 … and each degraded copy of them a factor."""
    rows = []
    for k, factor in enumerate(factors):
        rows += [(f"w{k}", f"s{n}", "AB"[n % 2], 100 * (n + 1), "ordinary") for n in range(6)]
        rows += [(f"w{k}", f"s{n}", "AB"[n % 2], 100 * (n + 1) * factor, "degraded") for n in range(6)]
    return analyse(value_file(rows, (*HEADER, "kind")), protocol=protocol, format="json")


def test_workers_who_give_degraded_outputs_no_smaller_values_do_not_count(value_file, analyse, protocol):
    out, _ = answered(value_file, analyse, protocol(reference=100), 0.5, 1.5, 0.9)
    found = json.loads(out)
    assert found["worker_test"]["preset"] == "paired-wilcoxon"
    assert found["workers"] == {"total": 3, "passed": 2, "failed": 1, "untested": 0}
    assert (found["n_values"], found["n_left_out"]) == (12, 6)
    assert scores(out) == {"A": pytest.approx(gmean([1, 3, 5])), "B": pytest.approx(gmean([2, 4, 6]))}


@pytest.mark.parametrize("options", [{}, {"reference": "B"}, {"scale": "worker"}])
def test_where_no_worker_passes_no_system_has_a_score(value_file, analyse, protocol, options):
    out, err = answered(value_file, analyse, protocol(**options), 1)
    assert set(scores(out).values()) == {None}
    assert "No worker passed the worker test" in err or "Left out" in err


def test_magnitudes_on_negative_criteria_are_turned(value_file):
    header = ("worker", "source", "system", "criterion", "value", "kind")
    rows = [
        ("w", f"s{n}", "A", "awkward", value, kind)
        for n in range(5)
        for value, kind in ((50, "ordinary"), (90, "degraded"))
    ]
    settings = replace(
        from_protocol("rank-me"), criteria=(RatedCriterion("Awkward", is_negative=True),), options={"reference": 100}
    )
    method = Magnitude()
    report = document_of(method.analyse(method.read(ResponsesFile(value_file(rows, header)), settings), settings))
    assert report["summary"]["systems"][0]["score"] == pytest.approx(2)
    assert report["summary"]["workers"]["passed"] == 1, "a degraded output is more awkward"


@pytest.mark.parametrize("options", [{"reference": 0}, {"reference": True}, {"scale": "log"}, {"unit": 1}])
def test_bad_options_are_refused(options):
    with pytest.raises(DomainError):
        Magnitude().check_options(options)
