"""Published results from the published ratings, as users run it: `manage.py analyse`."""

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


def test_both_counts_are_there_of_dialogues_and_of_ratings(free_run_1):
    assert free_run_1["n_counts"] == "ratings"
    for found in free_run_1["systems"]:
        assert (found["n"], found["n_ratings"]) == (7 * found["n_outputs"], found["n"])
    assert sum(found["n_outputs"] for found in free_run_1["systems"]) == 1075  # dialogues, as the study counts them


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
    assert all(row["n"] == row["n_outputs"] == row["n_ratings"] for row in found["systems"])


def test_with_outputs_as_the_unit_the_same_workers_and_ratings_count(shared_data):
    path = shared_data / "da-batch" / "ratings.csv"
    by_output = analyse(path, protocol="mrc-adequacy", format="json", unit="output")
    assert by_output["unit"] == "output"
    assert sum(row["n"] for row in by_output["systems"]) == 24 * 80


QG = ["understandability", "relevancy", "answerability", "appropriateness"]


def qg_ratings(published, n_kept, n_passed, n_failed_hits, n_failed):
    """Yield invented ratings in the design of the question generation study, with its numbers of HITs and workers.

    A HIT has a question of each of eleven systems, six degraded ones and three repeats: the human one's and those of
    two other systems, chosen so that each system gets the N of the table. The study's ratings are not public.
    """
    yield "worker,hit,source,system,kind,criterion,score"
    others = [name for name in published if name != "Human"]
    left = {name: published[name][0] - n_kept for name in others}
    for hit in range(n_kept + n_failed_hits):
        is_kept = hit < n_kept
        worker = f"kept{hit % n_passed}" if is_kept else f"failed{hit % n_failed}"
        repeated = sorted(others, key=lambda name: -left[name])[:2]
        for name in repeated if is_kept else ():
            left[name] -= 1
        degraded = ["Human", *[name for name in others if name not in repeated][:5]]
        items = [(name, "ordinary") for name in published] + [(name, "degraded") for name in degraded]
        items += [(name, "repeat") for name in ("Human", *repeated)]
        for k, (name, kind) in enumerate(items):
            for c, criterion in enumerate(QG):
                score = 50 if not is_kept else (k + c) % 20 if kind == "degraded" else 60 + (7 * hit + 3 * k + c) % 40
                yield f"{worker},h{hit},s{hit},{name},{kind},{criterion},{score}"


def test_n_of_question_generation_is_that_of_table_4_3(shared_data, tmp_path):
    qg = json.loads((shared_data / "published_tables.json").read_text())["qg"]
    published, texts = qg["table_4_3_run1"]["rows"], qg["counts_text"]
    n_passed, n_workers, _, n_kept, n_hits, _ = qg["table_4_2a"]["Run1"]
    path = tmp_path / "qg.csv"
    path.write_text("\n".join(qg_ratings(published, n_kept, n_passed, n_hits - n_kept, n_workers - n_passed)))

    found = analyse(path, protocol="qg", format="json")

    assert found["workers"] == {"total": n_workers, "passed": n_passed, "failed": n_workers - n_passed, "untested": 0}
    assert {row["system"]: row["n"] for row in found["systems"]} == {name: row[0] for name, row in published.items()}
    human = next(row for row in found["systems"] if row["system"] == "Human")
    assert (human["n"], human["n_outputs"], human["n_ratings"]) == (668, 668, 2672)
    assert human["n_ratings"] == texts["human_ratings"]
    assert sum(row["n_ratings"] for row in found["systems"]) == texts["run1_valid_ratings"]
    others = [row["n_ratings"] for row in found["systems"] if row["system"] != "Human"]
    assert int(sum(others) / len(others)) == texts["nonhuman_avg_ratings"]  # 1,603.2
