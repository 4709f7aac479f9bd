"""People and a metric together, of scores and of comparisons: what people alone say, and intervals that hold."""

from pathlib import Path

import numpy as np
import pytest

from analysis.data.compared import ComparedPairs
from analysis.data.output_scores import OutputScores
from analysis.methods import ResponsesFile, get_method
from analysis.methods.settings import from_protocol
from analysis.metrics.assistance import AloneByPeople, AssistedPair, PeoplesScores, assist_scores, assist_votes
from analysis.metrics.loading import SegmentScores, load_segment_scores
from analysis.stats.davidson import Outcome
from analysis.stats.inference import compare_clustered
from tests.results import analyse_fully, sections_of

N_SOURCES, N_JUDGED, N_WORKERS = 300, 60, 12


def metric_of(scores: np.ndarray) -> SegmentScores:
    """Return a metric's scores of two systems' outputs, (n_sources, 2)."""
    source, system = (each.ravel() for each in np.indices(scores.shape))
    labels = ["m"], ["A", "B"], [f"q{n}" for n in range(len(scores))]
    return SegmentScores("", *labels, np.zeros(source.size, int), system, source, scores.ravel())


def drawn(rng: np.random.Generator, *, of_metric: float) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return how much better A's output of each source is, a metric's scores, and sources and workers of answers."""
    better = rng.normal(0.3, 1, N_SOURCES)
    seen = of_metric * better + np.sqrt(1 - of_metric**2) * rng.normal(0, 1, N_SOURCES)
    scores = np.stack([seen + 0.5, np.zeros(N_SOURCES)], axis=1)  # it prefers A
    source = np.repeat(rng.permutation(N_SOURCES)[:N_JUDGED], 2)
    return better, scores, source, rng.integers(0, N_WORKERS, source.size)


def votes_on(better: np.ndarray, source: np.ndarray, worker: np.ndarray, noise: np.ndarray) -> ComparedPairs:
    """Return votes between A and B, shown in either order."""
    margin = better[source] + noise
    is_turned = np.arange(source.size) % 2 == 1
    won = np.where(np.abs(margin) < 0.2, Outcome.TIE, np.where((margin > 0) != is_turned, Outcome.LEFT, Outcome.RIGHT))
    labels = ["A", "B"], [f"q{n}" for n in range(N_SOURCES)], [f"w{n}" for n in range(N_WORKERS)], [""]
    zero = np.zeros(source.size, int)
    return ComparedPairs(
        *labels, zero + is_turned, zero + ~is_turned, won, worker, source, zero, np.arange(source.size)
    )


def scores_of(better: np.ndarray, source: np.ndarray, worker: np.ndarray, noise: np.ndarray) -> OutputScores:
    """Return penalties, with their sign changed, of both outputs of each source on two criteria."""
    n = source.size
    both = np.concatenate([np.minimum(better[source], 0) + noise, -np.maximum(better[source], 0)])
    system, criterion = np.tile(np.repeat([0, 1], n), 2), np.repeat([0, 1], 2 * n)
    labels = ["A", "B"], [f"q{n}" for n in range(N_SOURCES)], [f"w{n}" for n in range(N_WORKERS)]
    score = np.concatenate([both + 1, both - 1])
    return OutputScores(*labels, system, np.tile(source, 4), np.tile(worker, 4), criterion, score)


def by(kind: str, rng: np.random.Generator, *, of_metric: float) -> tuple[AloneByPeople, AssistedPair, float]:
    """Return the pair by people alone and with the metric, and what holds of all sources."""
    better, scores, source, worker = drawn(rng, of_metric=of_metric)
    noise = rng.normal(0, 0.5, source.size)
    if kind == "votes":
        found = assist_votes(votes_on(better, source, worker, noise), ["A", "B"], metric_of(scores))
        every = better[:, None] + np.random.default_rng(0).normal(0, 0.5, 400)
        truth = float(np.where(np.abs(every) < 0.2, 0.5, every > 0).mean())
    else:
        people = PeoplesScores.of(scores_of(better, source, worker, noise), ["A", "B"])
        found, truth = assist_scores(people, metric_of(scores)), float(better.mean())
    return found.pairs[0], found.metrics[0].pairs[0], truth


@pytest.mark.parametrize("kind", ["votes", "scores"])
def test_intervals_with_a_metric_hold_and_are_narrower(kind: str) -> None:
    """Of all outputs with a score: what is estimated is what people would say of each. Two in ten are judged."""
    held, width = [], []
    for seed in range(150):
        alone, assisted, truth = by(kind, np.random.default_rng(seed), of_metric=0.9)
        held.append(assisted.low <= truth <= assisted.high)
        width.append((assisted.high - assisted.low) / (alone.high - alone.low))
    assert np.mean(held) > 0.91
    assert np.median(width) < 0.9


@pytest.mark.parametrize("kind", ["votes", "scores"])
def test_a_metric_that_says_nothing_leaves_people_alone(kind: str) -> None:
    rng = np.random.default_rng(1)
    better, scores, source, worker = drawn(rng, of_metric=0.9)
    noise, constant = rng.normal(0, 0.5, source.size), metric_of(np.full_like(scores, 3.0))
    if kind == "votes":
        pairs = votes_on(better, source, worker, noise)
        found = assist_votes(pairs, ["A", "B"], constant)
        is_first = (pairs.outcome == Outcome.LEFT) == (pairs.first == 0)
        plain = np.where(pairs.outcome == Outcome.TIE, 0.5, is_first).mean()
        assert found.pairs[0].difference == pytest.approx(plain)
        assert found.pairs[0].low < plain < found.pairs[0].high
    else:
        people = PeoplesScores.of(scores_of(better, source, worker, noise), ["A", "B"])
        found = assist_scores(people, constant)
        plain = compare_clustered(people.score, people.system, people.worker, people.source, 2)
        expected = [plain.difference[0, 1], plain.low[0, 1], plain.high[0, 1]]
        assert [getattr(found.pairs[0], key) for key in ("difference", "low", "high")] == pytest.approx(expected)
    [metric], [pair] = found.metrics, found.pairs
    for key in ("difference", "low", "high"):
        assert getattr(metric.pairs[0], key) == getattr(pair, key)
    assert not metric.pairs[0].weight and not metric.saving


def test_criteria_of_one_answer_are_one_score() -> None:
    rng = np.random.default_rng(2)
    better, _, source, worker = drawn(rng, of_metric=0.5)
    outputs = scores_of(better, source, worker, np.zeros(source.size))
    people = PeoplesScores.of(outputs, ["B", "A"])
    assert people.score.size == np.unique(np.stack([source, worker]), axis=1).shape[1] * 2
    assert people.order == [1, 0]
    first = (outputs.source == people.source[0]) & (outputs.system == people.system[0])
    first &= outputs.worker == people.worker[0]
    assert people.score[0] == pytest.approx(outputs.score[first].mean())


@pytest.mark.parametrize("protocol", ["likert", "mqm", "preference"])
def test_the_page_of_each_kind_says_what_a_metric_adds(protocol: str, tmp_path: Path) -> None:
    rng, path, metrics = np.random.default_rng(5), tmp_path / "responses.csv", tmp_path / "metrics.csv"
    quality = rng.normal([0.8, 0.4, 0], 1, (60, 3))
    lines = [f"m,s{k},q{n},{quality[n, k] + rng.normal(0, 0.2):.3f}" for n in range(60) for k in range(3)]
    metrics.write_text("\n".join(["metric,system,source,score", *lines]) + "\n")
    header, rows = "worker,source,system,score", []
    for worker, n in ((f"w{w}", n) for n in range(20) for w in rng.permutation(6)[:3]):
        levels = np.clip(np.rint(3 + quality[n] + rng.normal(0, 0.5, 3)), 1, 5).astype(int)
        if protocol == "likert":
            rows += [f"{worker},q{n},s{k},{levels[k]}" for k in range(3)]
        elif protocol == "mqm":
            header = "system\tdoc\tseg_id\trater\tsource\ttarget\tcategory\tseverity"
            said = ["No-error" if level >= 4 else "Minor" if level >= 2 else "Major" for level in levels]
            rows += [f"s{k}\td\tq{n}\t{worker}\ttext\ttext {k}\tAccuracy\t{said[k]}" for k in range(3)]
        else:
            header = "worker,source,system_a,system_b,winner"
            one, other = rng.permutation(3)[:2]
            rows.append(f"{worker},q{n},s{one},s{other},{'ab'[int(levels[one] < levels[other])]}")
    path = path.with_suffix(".tsv") if protocol == "mqm" else path
    path.write_text("\n".join([header, *rows]) + "\n")
    settings = from_protocol(protocol)
    method, scores = get_method(settings.method), load_segment_scores(metrics, has_metrics=True)
    report = analyse_fully(method, method.read(ResponsesFile(path), settings), settings, metrics=scores)
    section = next(each for each in sections_of(report, "metrics") if each.slug == "metric-savings")
    assert section.tables and section.finding
    shown = section.tables[1]
    assert len(shown.rows) == 3
    measure = "wins, ties counted half" if protocol == "preference" else "Difference in score"
    assert measure in shown.caption
    assert all(row[4].low < row[3] < row[4].high for row in shown.rows)
