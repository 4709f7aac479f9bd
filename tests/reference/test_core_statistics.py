"""Tables 3.2, 4.2 and 5.3 of the thesis: from crowds with the printed numbers of workers and HITs, their rates.

The raw ratings of these runs are not public, but for one; what the tables compute from their counts is met here. In
Table 3.2, workers of the second run who failed have 1.14 HITs each as printed, and 40/36 = 1.11 by the ratings; the
ratings of the first run are no multiple of those of a HIT. These cells follow from no counts, and are not tested.
"""

import json
from dataclasses import asdict

import numpy as np
import pytest

from analysis.methods.study.core_statistics import CoreStatistics
from analysis.results.result import Result
from analysis.stats.core_statistics import cost_of, count_work
from analysis.stats.ratings import Ratings
from campaigns.design.composition import Kind

# Items of a HIT: (kind, number). Degraded and reference items are of quality control, and no table counts them.
MRC = [(Kind.ORDINARY, 70), (Kind.REPEAT, 10), (Kind.DEGRADED, 10), (Kind.REFERENCE, 10)]
QG = [(Kind.ORDINARY, 11), (Kind.REPEAT, 3), (Kind.DEGRADED, 6)]
CHATS = [(Kind.ORDINARY, 5), (Kind.DEGRADED, 1)]


@pytest.fixture(scope="module")
def tables(shared_data):
    return json.loads((shared_data / "published_tables.json").read_text())


def row_of(table, name):
    return dict(zip(table["columns"], table[name], strict=True))


def crowd(workers, hits, minutes, mix, n_criteria=1):
    """Ratings by so many workers who passed and who failed, in so many HITs of so many minutes each."""
    worker = np.concatenate(
        [offset + np.arange(n) % size for offset, n, size in zip((0, workers[0]), hits, workers, strict=True)]
    )
    kinds = np.concatenate([np.full(n, kind) for kind, n in mix])
    n_hits, of_hit = worker.size, kinds.size
    ratings = Ratings(
        scores=np.full((n_hits * of_hit, n_criteria), 50.0),
        worker=np.repeat(worker, of_hit),
        system=np.zeros(n_hits * of_hit, int),
        assignment=np.repeat(np.arange(n_hits), of_hit),
        source=np.full(n_hits * of_hit, -1),
        kind=np.tile(kinds, n_hits),
        n_workers=sum(workers),
        n_systems=1,
    )
    is_passed = np.arange(sum(workers)) < workers[0]
    seconds = 60 * np.repeat(minutes, hits).astype(float)
    return [count_work(ratings, group, seconds) for group in (is_passed, ~is_passed, is_passed | ~is_passed)]


def rate(part, whole):
    return round(100 * part / whole, 2)


@pytest.mark.parametrize("run", ["Run1", "Run2"])
def test_table_4_2_of_question_generation(tables, run):
    counts, effort = row_of(tables["qg"]["table_4_2a"], run), row_of(tables["qg"]["table_4_2b"], run)
    workers = counts["workers_passed"], counts["workers_total"] - counts["workers_passed"]
    hits = counts["hits_passed"], counts["hits_total"] - counts["hits_passed"]
    minutes = effort["elapsed_passed_min"], effort["elapsed_failed_min"]
    passed, failed, everyone = crowd(workers, hits, minutes, QG, n_criteria=4)
    assert (passed.n_assignments, everyone.n_assignments) == (counts["hits_passed"], counts["hits_total"])
    assert rate(passed.n_workers, everyone.n_workers) == counts["worker_pass_rate_pct"]
    assert rate(passed.n_assignments, everyone.n_assignments) == counts["hit_pass_rate_pct"]
    for found, group in ((passed, "passed"), (failed, "failed"), (everyone, "total")):
        assert round(found.assignments_per_worker, 2) == effort[f"hits_per_worker_{group}"]
        assert found.minutes_per_assignment == pytest.approx(effort[f"elapsed_{group}_min"], abs=0.006)
    if run == "Run1":
        text = tables["qg"]["counts_text"]
        assert passed.n_ratings == text["run1_valid_ratings"]
        costs = cost_of(passed.n_assignments, 1.0, 11, passed.n_ratings)
        assert (costs.total, round(costs.per_system, 1)) == (text["run1_cost_usd"], text["per_system_cost_usd"])


@pytest.mark.parametrize("run", ["Adequacy run 2", "Fluency"])
def test_table_3_2_of_reading_comprehension(tables, run):
    counts, effort = row_of(tables["mrc"]["table_3_2a"], run), row_of(tables["mrc"]["table_3_2b"], run)
    workers = counts["workers_passed"], counts["workers_total"] - counts["workers_passed"]
    n_passed, n_all = (counts[f"ratings_{group}"] // 80 for group in ("passed", "total"))  # 80 of a HIT's 100 items
    minutes = effort["dur_passed_min"], effort["dur_failed_min"]
    passed, failed, everyone = crowd(workers, (n_passed, n_all - n_passed), minutes, MRC)
    assert (passed.n_ratings, everyone.n_ratings) == (counts["ratings_passed"], counts["ratings_total"])
    assert rate(passed.n_workers, everyone.n_workers) == counts["worker_pass_rate_pct"]
    assert rate(passed.n_ratings, everyone.n_ratings) == counts["rating_pass_rate_pct"]
    assert round(passed.assignments_per_worker, 2) == effort["hits_per_worker_passed"]
    assert everyone.minutes_per_assignment == pytest.approx(effort["dur_overall_min"], abs=0.1)
    if run == "Fluency":
        assert round(failed.assignments_per_worker, 2) == effort["hits_per_worker_failed"]
        assert round(everyone.assignments_per_worker, 2) == effort["hits_per_worker_overall"]


@pytest.mark.parametrize("run", ["Free Run 1", "Free Run 2", "Ice-breaker"])
def test_table_5_3_of_dialogue(tables, run):
    counts = row_of(tables["dialogue"]["table_5_3a"], run)
    workers = counts["workers_passed"], counts["workers_total"] - counts["workers_passed"]
    n_passed, n_all = (counts[f"dialogues_{group}"] // 5 for group in ("passed", "total"))
    passed, _, everyone = crowd(workers, (n_passed, n_all - n_passed), (30, 40), CHATS, n_criteria=7)
    assert (passed.n_outputs, everyone.n_outputs) == (counts["dialogues_passed"], counts["dialogues_total"])
    assert rate(passed.n_workers, everyone.n_workers) == counts["worker_pass_rate_pct"]
    assert rate(passed.n_outputs, everyone.n_outputs) == counts["dialogue_pass_rate_pct"]
    assert everyone.n_ratings == tables["dialogue"]["ratings_text"][run.lower()]


def test_nothing_is_defined_of_nobody():
    ratings = Ratings(*(np.zeros((0, 1)), *(np.zeros(0, int) for _ in range(5))), n_workers=0, n_systems=0)
    found = count_work(ratings, np.zeros(0, bool), np.zeros(0))
    assert (found.n_workers, found.n_ratings) == (0, 0)
    assert np.isnan([found.assignments_per_worker, found.minutes_per_assignment]).all()
    assert np.isnan(cost_of(0, 1.0, 0, 0).per_rating)


@pytest.mark.parametrize(
    ("minutes", "said"),
    [(0.004, "less than a second"), (1 / 60, "1 second"), (0.5, "30 seconds"), (12.34, "12.3 minutes")],
)
def test_short_hits_are_said_in_seconds(minutes, said):
    *_, everyone = crowd((2, 1), (2, 1), (minutes, minutes), QG)
    (section,) = CoreStatistics().sections(Result(own={"core": {"groups": {"all": asdict(everyone)}}}))
    assert f"A HIT took {said} in the mean." in section.finding
