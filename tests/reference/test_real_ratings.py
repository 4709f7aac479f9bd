"""Published results from the published ratings, through the door that users use: `manage.py analyse`."""

import json
from io import StringIO

import pytest
from django.core.management import call_command

pytestmark = pytest.mark.usefixtures("no_database")


def analyse(*arguments, **options):
    out, err = StringIO(), StringIO()
    call_command("analyse", *map(str, arguments), stdout=out, stderr=err, **options)
    return json.loads(out.getvalue())


@pytest.fixture
def no_database(monkeypatch):
    """Fail whatever opens a database connection."""
    from django.db.backends.base.base import BaseDatabaseWrapper

    def refuse(self):
        raise AssertionError("the analysis of a file needs no database")

    monkeypatch.setattr(BaseDatabaseWrapper, "connect", refuse)


@pytest.fixture(scope="module")
def free_run_1(shared_data):
    return analyse(shared_data / "dialogue-run1" / "ratings.csv", protocol="dialogue-free", format="json")


@pytest.fixture(scope="module")
def tables(shared_data):
    return json.loads((shared_data / "published_tables.json").read_text())["dialogue"]


def test_173_of_248_workers_pass(free_run_1):
    assert free_run_1["workers"] == {"total": 248, "passed": 173, "failed": 75, "untested": 0}


@pytest.mark.parametrize(
    ("table", "score", "decimals"), [("table_5_4_free_run1_z", "z", 3), ("table_A2_free_run1_raw", "raw", 2)]
)
def test_every_printed_digit_of_tables_5_4_and_a_2(free_run_1, tables, table, score, decimals):
    published = tables[table]
    assert len(free_run_1["systems"]) == 10
    for found in free_run_1["systems"]:
        row = [found["n"], round(found[score], decimals)]
        row += [round(found["criteria"][name.lower()][score], decimals) for name in published["columns"][2:]]
        assert row == published["rows"][found["system"]], found["system"]


def test_systems_are_ranked_and_compared_in_that_order(free_run_1, tables):
    ranking = [row["system"] for row in free_run_1["systems"]]
    published = tables["table_5_4_free_run1_z"]["rows"]
    assert ranking == sorted(published, key=lambda name: -published[name][1])
    assert free_run_1["significance"]["order"] == ranking
    p = free_run_1["significance"]["p"]
    assert all(p[k][k] is None for k in range(10))
    assert [name for group in free_run_1["clusters"] for name in group] == ranking


def test_a_run_compared_with_itself_agrees_with_itself(shared_data):
    path = shared_data / "dialogue-run1" / "ratings.csv"
    found = analyse(path, protocol="dialogue-free", format="json", compare=path)["replication"]
    assert len(found["systems"]) == 10
    assert found["overall"] == {
        "pearson": pytest.approx(1),
        "spearman": pytest.approx(1),
        "kendall": pytest.approx(1),
    }
    assert set(found["criteria"]) == {
        "robotic",
        "interesting",
        "fun",
        "consistent",
        "fluent",
        "repetitive",
        "topic",
    }
    assert found["same_conclusions"] == {"0.1": 1.0, "0.05": 1.0}


def test_24_of_29_workers_of_the_direct_assessment_batch_pass(shared_data):
    found = analyse(shared_data / "da-batch" / "ratings.csv", protocol="mrc-adequacy", format="json")
    assert found["worker_test"] == {"preset": "paired-wilcoxon", "alpha": 0.05}
    assert found["workers"] == {"total": 29, "passed": 24, "failed": 5, "untested": 0}
    # 24 workers with a HIT of 70 ordinary and 10 repeat items each
    assert sum(row["n"] for row in found["systems"]) == 24 * 80


def test_with_outputs_as_the_unit_the_same_workers_and_ratings_count(shared_data):
    path = shared_data / "da-batch" / "ratings.csv"
    by_output = analyse(path, protocol="mrc-adequacy", format="json", unit="output")
    assert by_output["unit"] == "output"
    assert sum(row["n"] for row in by_output["systems"]) == 24 * 80
