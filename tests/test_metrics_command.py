"""`manage.py metrics`, as users run it."""

import json
from io import StringIO

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from scipy.stats import kendalltau, pearsonr

from analysis.stats.metrics import calibrate_ties
from tests.ratings.conftest import FORMATS, write_rows

SYSTEMS, SOURCES = ("ash", "birch", "cedar", "elm", "fir"), tuple(f"s{k:02}" for k in range(12))


def metrics(*arguments, **options):
    out, err = StringIO(), StringIO()
    call_command("metrics", *map(str, arguments), stdout=out, stderr=err, **options)
    return out.getvalue(), err.getvalue()


def rows_of(table, **extra):
    """A row for each number of a table, sources × systems."""
    return [
        extra | {"system": SYSTEMS[j], "source": SOURCES[i], "score": float(value)}
        for (i, j), value in np.ndenumerate(table)
        if not np.isnan(value)
    ]


@pytest.fixture
def people():
    """Human scores, sources × systems: whole numbers, so that some tie."""
    return np.random.default_rng(1).normal([50, 55, 60, 70, 72], 12, (12, 5)).round(-1)


@pytest.fixture
def good(people):
    """A metric that follows people closely."""
    return people / 100 + np.random.default_rng(2).normal(0, 0.02, people.shape)


@pytest.fixture
def poor(people):
    """A metric of chance."""
    return np.random.default_rng(3).normal(0, 1, people.shape)


@pytest.fixture
def files(tmp_path, people, good, poor):
    """Return a function that writes both files with changed rows, and returns their paths."""

    def write(human=None, metric=None, suffix="csv"):
        human = rows_of(people) if human is None else human
        metric = rows_of(good, metric="good") + rows_of(poor, metric="poor") if metric is None else metric
        return write_rows(human, tmp_path / f"human.{suffix}"), write_rows(metric, tmp_path / f"metrics.{suffix}")

    return write


def test_every_metric_is_compared_by_systems_and_by_segments(files, people, good):
    found = json.loads(metrics(*files(), format="json")[0])
    assert list(found) == ["n_systems", "n_segments", "n_permutations", "seed", "metrics", "williams"]
    assert (found["n_systems"], found["n_segments"], found["n_permutations"]) == (5, 60, 1000)
    of = found["metrics"]["good"]
    assert list(of["system"]) == ["pearson", "spearman", "kendall", "pairwise_accuracy", "soft_pairwise_accuracy"]
    assert list(of["segment"]) == ["pearson", "kendall", "acc_eq", "tie_threshold"]
    assert of["system"]["pearson"] == pytest.approx(pearsonr(people.mean(axis=0), good.mean(axis=0)).statistic)
    assert of["segment"]["pearson"] == pytest.approx(pearsonr(people.ravel(), good.ravel()).statistic)
    assert of["segment"]["kendall"] == pytest.approx(kendalltau(people.ravel(), good.ravel()).statistic)
    ties = calibrate_ties(people, good)
    assert (of["segment"]["acc_eq"], of["segment"]["tie_threshold"]) == pytest.approx((ties.accuracy, ties.threshold))
    assert ties.threshold > 0
    by_chance = found["metrics"]["poor"]
    assert of["system"]["soft_pairwise_accuracy"] > 0.9 > by_chance["system"]["soft_pairwise_accuracy"]
    williams = found["williams"]
    assert {a: list(others) for a, others in williams.items()} == {"good": ["poor"], "poor": ["good"]}
    assert williams["good"]["poor"]["p"] == pytest.approx(1 - williams["poor"]["good"]["p"])
    assert williams["good"]["poor"]["p"] < 0.05


def test_the_same_scores_give_the_same_bytes_in_any_format_and_order(files, people, good):
    expected = metrics(*files(metric=rows_of(good, metric="good")), format="json")
    for suffix in FORMATS:
        rows = rows_of(good, metric="good")[::-1]
        assert metrics(*files(rows_of(people)[::-1], rows, suffix), format="json") == expected, suffix
    other = json.loads(metrics(*files(metric=rows_of(good, metric="good")), format="json", seed=2)[0])
    assert other["metrics"]["good"]["segment"] == json.loads(expected[0])["metrics"]["good"]["segment"]
    assert other["seed"] == 2


def test_segments_without_both_scores_are_left_out(files, people, good):
    good[2, 1] = people[4, 3] = people[5] = np.nan
    found = json.loads(metrics(*files(rows_of(people), rows_of(good, metric="good")), format="json")[0])
    both = ~np.isnan(people + good)
    of = found["metrics"]["good"]
    assert found["n_segments"] == 54
    assert of["segment"]["pearson"] == pytest.approx(pearsonr(people[both], good[both]).statistic)
    # A system's score is the mean of all that its file has
    means = np.nanmean(people, axis=0), np.nanmean(good, axis=0)
    assert of["system"]["pearson"] == pytest.approx(pearsonr(*means).statistic)
    assert 0.8 < of["system"]["soft_pairwise_accuracy"] < 1


def test_metrics_of_different_systems_are_refused(files, good, poor):
    rows = rows_of(good, metric="good") + rows_of(poor[:, :4], metric="poor")
    with pytest.raises(CommandError, match="on the same systems, and “poor” has no scores of “fir”"):
        metrics(*files(metric=rows))


def test_systems_of_one_file_only_are_left_out_and_named(files, people, good):
    paths = files(rows_of(people), rows_of(good[:, :4], metric="good") + rows_of(good[:, :4] - 1, metric="same"))
    out, err = metrics(*paths, format="json")
    assert json.loads(out)["n_systems"] == 4
    assert err == "metrics.csv has no scores of “fir”, which human.csv has: left out.\n"
    assert json.loads(out)["williams"]["good"]["same"]["p"] is None
    strangers = [row | {"system": row["system"].upper()} for row in rows_of(good, metric="good")]
    with pytest.raises(CommandError, match="no system in common"):
        metrics(*files(metric=strangers))


def test_what_is_undefined_is_null(files):
    one = {"source": "s", "score": 1.0, "system": "ash"}
    found = json.loads(metrics(*files([one], [one | {"metric": "m"}]), format="json")[0])
    assert {value for level in found["metrics"]["m"].values() for value in level.values()} == {None}
    assert found["williams"] == {"m": {}}


def test_systems_whose_segments_have_the_same_scores_in_another_order_tie(files):
    table = np.array([[0.1, 0.3], [0.2, 0.2], [0.3, 0.1]])
    assert len(set(table.sum(axis=0))) == 2
    found = json.loads(metrics(*files(rows_of(table), rows_of(1 - 2 * table, metric="m")), format="json")[0])
    of = found["metrics"]["m"]["system"]
    assert (of["pairwise_accuracy"], of["kendall"]) == (1, None)


def test_what_is_wrong_with_both_files_is_said_at_once_by_row_and_column(files, people, good, tmp_path):
    human, metric = rows_of(people), rows_of(good, metric="good")
    human[1]["score"] = "well"
    human[3]["system"] = ""
    metric[5] = metric[4]
    with pytest.raises(CommandError) as error:
        metrics(*files(human, metric))
    assert [line.split(":")[0] for line in str(error.value).splitlines()] == [
        "human.csv, row 3, column “score”",
        "human.csv, row 5, column “system”",
        "metrics.csv, row 7, column “source”",
    ]
    assert "row 6 has a score of the same metric, system and source" in str(error.value)
    with pytest.raises(CommandError, match=r"human.csv, row 1, column “metric”: there is no such column"):
        metrics(files()[0], files()[0])
    with pytest.raises(CommandError, match=r"gone.csv: the file cannot be opened"):
        metrics(files()[0], tmp_path / "gone.csv")


def test_usual_other_names_of_the_columns_are_known(files, people, good):
    expected = metrics(*files(metric=rows_of(good, metric="good")), format="json")[0]
    names = {"system": "model", "source": "seg_id", "score": "Score", "metric": "metric_name"}
    renamed = [
        [{names[key]: value for key, value in row.items()} for row in rows]
        for rows in (rows_of(people), rows_of(good, metric="good"))
    ]
    assert metrics(*files(*renamed), format="json")[0] == expected


def test_text_has_a_row_for_each_metric_and_the_tests_of_every_two(files, good):
    out, _ = metrics(*files())
    assert [line.split()[0] for line in out.splitlines() if line.startswith(("good", "poor"))] == ["good", "poor"] * 2
    assert "5 systems, 60 segments" in out and "Williams' test" in out
    assert "Williams" not in metrics(*files(metric=rows_of(good, metric="good")))[0]


def score_list(path, table):
    """Write scores as mt-metrics-eval keeps them: systems one after the other, segments in their order."""
    cells = [(system, value) for system, column in zip(SYSTEMS, table.T, strict=True) for value in column.tolist()]
    path.write_text("".join(f"{system}\t{'None' if np.isnan(value) else value}\n" for system, value in cells))
    return path


def test_score_lists_of_a_folder_are_metrics(tmp_path, people, good):
    folder = tmp_path / "en-de"
    folder.mkdir()
    people[3, 2] = np.nan
    score_list(folder / "Good-refA.seg.score", good)
    score_list(folder / "Bad-src.seg.score", -good)
    found = json.loads(metrics(score_list(tmp_path / "en-de.mqm.seg.score", people), folder, format="json")[0])
    assert set(found["metrics"]) == {"Good-refA", "Bad-src"}
    long = write_rows(rows_of(people), tmp_path / "people.csv")
    as_rows = write_rows(rows_of(good, metric="Good-refA"), tmp_path / "good.csv")
    alone = json.loads(metrics(long, as_rows, format="json")[0])
    for each in ("pearson", "spearman", "kendall"):
        one, other = (of["metrics"]["Good-refA"]["system"][each] for of in (found, alone))
        assert one == pytest.approx(other)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a\t1\nb\tgood\n", "Write both, with a tab between them"),
        ("a\t1\na\t2\nb\t1\n", "a 2, b 1"),
        ("", "the file is empty"),
    ],
)
def test_what_is_no_score_list_is_refused(tmp_path, people, text, said):
    path = tmp_path / "bad.seg.score"
    path.write_text(text)
    with pytest.raises(CommandError, match=said):
        metrics(score_list(tmp_path / "human.seg.score", people), path)


def test_a_folder_without_scores_is_refused(tmp_path, people):
    (tmp_path / "empty").mkdir()
    with pytest.raises(CommandError, match=r"no file “….seg\.score” of metrics in the folder, but nothing"):
        metrics(score_list(tmp_path / "human.seg.score", people), tmp_path / "empty")


def test_marked_errors_are_what_they_weigh(tmp_path):
    """A major error weighs 5, a minor one 1: the metric that is highest where the fewest are agrees fully."""
    marks = ["system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity"]
    scores = ["metric,system,source,score"]
    for place, (system, severity) in enumerate((("ash", "No-error"), ("elm", "Minor"), ("oak", "Major"))):
        for seg in range(4):
            said = severity if seg else "No-error"
            text = "some <v>words</v>" if said != "No-error" else "some words"
            marks += [f"{system}\td\t1\t{seg}\tr{k}\tquelle {seg}\t{text}\tFluency\t{said}" for k in range(2)]
            scores.append(f"COMET,{system},{seg},{1 - place / 2 if seg else 1}")
    (tmp_path / "marks.tsv").write_text("\n".join(marks))
    (tmp_path / "scores.csv").write_text("\n".join(scores))
    out = StringIO()
    call_command("metrics", str(tmp_path / "marks.tsv"), str(tmp_path / "scores.csv"), format="json", stdout=out)
    found = json.loads(out.getvalue())
    assert (found["n_systems"], found["n_segments"]) == (3, 12)
    of = found["metrics"]["COMET"]
    assert of["system"]["spearman"] == pytest.approx(1) and of["segment"]["kendall"] == pytest.approx(1)
