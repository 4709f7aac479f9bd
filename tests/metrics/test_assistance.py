"""What a metric adds to human ratings: on the page, in files, and where it adds nothing."""

from pathlib import Path

import numpy as np
import pytest

from analysis.data.ratings.loading import load_ratings
from analysis.methods import DEFAULT, get_method
from analysis.methods.direct_assessment import StudyData
from analysis.methods.settings import from_protocol
from analysis.metrics.loading import load_segment_scores
from analysis.results.sections import Output
from tests.results import analyse_fully, sections_of, tables_of

SYSTEMS = ("alder", "birch", "cedar")
N_RATED, N_MORE = 60, 400


@pytest.fixture(scope="module")
def outputs():
    """True quality of each output, 0–100: rated sources first, then those without a rating."""
    rng = np.random.default_rng(3)
    return 50 + np.array([8, 0, -8]) + rng.normal(0, 14, (N_RATED + N_MORE, len(SYSTEMS)))


@pytest.fixture(scope="module")
def ratings(outputs, tmp_path_factory) -> Path:
    rng = np.random.default_rng(4)
    lines = ["worker,assignment,position,source,system,kind,criterion,score"]
    for worker in range(12):
        order = rng.permutation(N_RATED * len(SYSTEMS))[:30]
        for position, (source, system) in enumerate(zip(*np.divmod(order, len(SYSTEMS)), strict=True)):
            score = np.clip(outputs[source, system] + rng.normal(0, 8), 0, 100)
            lines.append(
                f"w{worker},a{worker},{position + 1},q{source},{SYSTEMS[system]},ordinary,adequacy,{score:.1f}"
            )
    path = tmp_path_factory.mktemp("ratings") / "ratings.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def rows_of_metric(outputs, name, n_sources, noise, shift=0.0):
    scores = outputs + np.random.default_rng(5).normal(0, noise, outputs.shape)
    scores[N_RATED:, 0] -= shift
    return [
        f"{name},{system},q{source},{scores[source, s]:.3f}"
        for source in range(n_sources)
        for s, system in enumerate(SYSTEMS)
    ]


def analysed(ratings: Path, rows: list[str]) -> dict:
    path = ratings.with_name("metrics.csv")
    path.write_text("\n".join(["metric,system,source,score", *rows]) + "\n")
    settings = from_protocol("mrc-adequacy")
    settings = type(settings)(**{**vars(settings), "preset": "none"})
    loaded = load_ratings(ratings, criteria=settings.criterion_names)
    metrics = load_segment_scores(path, has_metrics=True)
    return analyse_fully(get_method(DEFAULT), StudyData(loaded, metrics=metrics), settings, metrics=metrics)


def section_of(document):
    return next(each for each in sections_of(document, "metrics") if each.slug == "metric-savings")


def rows_of(document, name):
    return next(list(table.rows) for table in tables_of(document, Output.FILES) if table.name == name)


def test_the_best_metric_is_told_with_measured_and_predicted_savings(ratings, outputs):
    every = N_RATED + N_MORE
    rows = rows_of_metric(outputs, "noise", every, 500) + rows_of_metric(outputs, "close", every, 5)
    document = analysed(ratings, [*rows, *(f"whole,{system},,1" for system in SYSTEMS)])
    found = document["questions"]["assistance"]
    close, noise = found["metrics"]
    assert (close["name"], noise["name"], found["whole_systems_only"]) == ("close", "noise", ["whole"])
    assert found["n_ratings"] == 360 and close["n_outputs"] == every * 3 and close["n_missing"] == 0
    assert close["saving"] > 0.3 > 0.1 > noise["saving"]
    assert close["predicted_by_half"] == pytest.approx(close["saving"], abs=0.25)
    now, twice, four = (each["saving"] for each in close["predicted"])
    assert close["limit"] > now > twice > four
    section = section_of(document)
    assert section.finding.startswith("close saves most. With it, differences of systems are as sure as ")
    assert f"{100 * close['saving']:.0f} % of the ratings could have been left out" in section.finding
    assert "predicted from every second worker" in section.finding
    savings, pairs = rows_of(document, "metric-savings"), rows_of(document, "metric-assisted")
    assert [row[0] for row in savings] == ["close", "noise"]
    assert savings[0][4] == pytest.approx(100 * close["saving"])
    assert [row[:3] for row in pairs[:3]] == [
        ["close", "alder", "birch"],
        ["close", "alder", "cedar"],
        ["close", "birch", "cedar"],
    ]
    truth = outputs.mean(axis=0)
    assert len(pairs) == 6 and all(row[7] < row[6] < row[8] for row in pairs)
    assert np.mean([row[8] - row[7] < row[5] - row[4] for row in pairs[:3]]) > 0.5
    assert truth[0] > truth[1] > truth[2] and all(row[6] > 0 for row in pairs[:3])


def test_the_difference_by_people_is_the_recommended_one(ratings, outputs):
    document = analysed(ratings, rows_of_metric(outputs, "close", N_RATED + N_MORE, 5))
    recommended = {tuple(pair["systems"]): pair for pair in document["recommended"]["pairs"]}
    for pair in document["questions"]["assistance"]["pairs"]:
        other = recommended[tuple(pair["systems"])]
        assert [pair[name] for name in ("difference", "low", "high")] == [
            other[name] for name in ("difference", "low", "high")
        ]


def test_where_all_outputs_are_rated_nothing_is_promised(ratings, outputs):
    rated = {(row.split(",")[4], row.split(",")[3]) for row in ratings.read_text().splitlines()[1:]}
    rows = rows_of_metric(outputs, "close", N_RATED, 5)
    document = analysed(ratings, rows)
    assert document["questions"]["assistance"]["metrics"][0]["share_rated"] == len(rated) / (3 * N_RATED) < 1
    document = analysed(ratings, [row for row in rows if tuple(row.split(",")[1:3]) in rated])
    metric = document["questions"]["assistance"]["metrics"][0]
    assert (metric["share_rated"], metric["saving"], metric["limit"]) == (1, 0, None)
    assert section_of(document).finding.startswith("Nothing: every output with a score was rated.")


def test_scores_of_whole_systems_add_nothing(ratings):
    document = analysed(ratings, [f"whole,{system},,{k}" for k, system in enumerate(SYSTEMS)])
    assert section_of(document).finding.startswith("Nothing: the scores are of whole systems")
    assert section_of(document).tables == []


def test_outputs_that_were_not_drawn_at_random_are_warned_of(ratings, outputs):
    document = analysed(ratings, rows_of_metric(outputs, "close", N_RATED + N_MORE, 5, shift=30))
    assert document["questions"]["assistance"]["metrics"][0]["sample_p"] < 0.001
    assert section_of(document).finding.startswith(
        "The rated outputs do not look like a random sample: close separates"
    )


def test_a_system_without_scores_and_gaps_are_told(ratings, outputs):
    rows = rows_of_metric(outputs, "close", N_RATED + N_MORE, 5)
    kept = [row for row in rows if ",birch," not in row and not row.startswith(("close,alder,q1,", "close,cedar,q2,"))]
    document = analysed(ratings, kept)
    metric, pairs = document["questions"]["assistance"]["metrics"][0], rows_of(document, "metric-assisted")
    assert metric["n_missing"] > 100
    of_birch = [row for row in pairs if "birch" in row]
    assert all(row[-2:] == [None, None] and row[3:6] == row[6:9] for row in of_birch)
    assert metric["saving"] is not None
