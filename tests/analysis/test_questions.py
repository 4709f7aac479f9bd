"""Questions are asked of every kind of response: answered from a file and a campaign, or refused in a sentence."""

import csv
import io
import json
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from analysis.data.ratings.sources import SourceWords
from analysis.methods import DEFAULT, ResponsesFile, get_method, list_response_methods
from analysis.methods.settings import AnalysisSettings, from_protocol
from analysis.metrics.loading import SegmentScores, load_segment_scores
from analysis.models import AnalysisRun
from analysis.questions import Asked, Question, list_questions
from analysis.results.sections import Column, Section, Table
from analysis.results.stored import document_of, result_of
from analysis.stats.reliability import spearman_brown
from analysis.web.services.runs import change_run
from campaigns.design.worker_test import NO_TEST
from evalsite.accounts.models import User
from tests.analysis.conftest import finish
from tests.analysis.test_stored_order import edits_in, responses_of, simulated
from tests.results import analyse_fully, sections_of

KINDS = [method.slug for method in list_response_methods()]
SIMULATED = [slug for slug in KINDS if slug != DEFAULT]
PROTOCOLS = {"ordinal": "likert", "preference": "preference", DEFAULT: "mrc-adequacy"}
EXAMPLES = Path(__file__).parents[2] / "examples"
Write = Callable[..., Path]


@dataclass(frozen=True)
class LeadOfBest:
    system: str
    lead: float


class Lead(Question[LeadOfBest]):
    """How far the best system is ahead of the second: all that a question needs."""

    slug = "lead"
    title = "How far ahead is the best?"
    answer = LeadOfBest

    def compute(self, asked: Asked) -> LeadOfBest:
        first, second = asked.scores_in(asked.result)[:2]
        return LeadOfBest(asked.order[0], abs(first - second))

    def sections(self, answer: LeadOfBest) -> list[Section]:
        columns, row = [Column("system"), Column("lead", 3)], [answer.system, answer.lead]
        table = Table("lead", "Lead", "The score less that of the second.", columns, [row])
        return [Section(self.slug, self.title, f"{answer.system} is the best.", [table])]


@pytest.fixture
def written(tmp_path: Path) -> Write:
    """Write levels, or votes, of six workers on twenty outputs of three systems, with degraded copies of the first."""

    def write(kind: str, *, without: str = "", n_sources: int = 20) -> Path:
        rng, rows = np.random.default_rng(7), []
        for worker in ("ann", "bob", "cem", "dia", "eli", "fay"):
            for source in range(20):
                if kind == "preference":
                    left, right = rng.permutation(3)[:2]
                    winner = "ab"[int(rng.random() < (0.3 if left < right else 0.7))]
                    rows.append((worker, f"q{source}", f"s{left}", f"s{right}", winner))
                else:
                    for system in range(3):
                        level = int(np.clip(rng.integers(2, 5) + system - 1, 1, 5))
                        rows.append((worker, f"q{source}", f"s{system}", level * 20 if kind == DEFAULT else level))
        names = ("worker", "source", "system_a", "system_b", "winner")
        header = names if kind == "preference" else ("worker", "source", "system", "score")
        path = tmp_path / f"{kind}-{without}{n_sources}.csv"
        kept = [row for row in rows if row[0] != without and int(row[1][1:]) < n_sources]
        with path.open("w", newline="") as stream:
            csv.writer(stream).writerows([header, *kept])
        return path

    return write


def settings_for(kind: str, **changes: Any) -> AnalysisSettings:
    """Return the settings of a kind without a worker test."""
    return replace(from_protocol(PROTOCOLS[kind]), **{"preset": NO_TEST, **changes})


def analysed(path: Path, kind: str, words: Sequence[SourceWords] = (), **changes: Any) -> dict[str, Any]:
    method, settings = get_method(kind), settings_for(kind, **changes)
    return analyse_fully(method, method.read(ResponsesFile(path), settings), settings, source_words=words)


def scores_of(report: Mapping[str, Any]) -> dict[str, float]:
    return result_of(report).scores


def scores_in(path: Path, kind: str) -> dict[str, float]:
    """Return the scores of a file, without asking any question."""
    method, settings = get_method(kind), settings_for(kind)
    return method.analyse(method.read(ResponsesFile(path), settings), settings, brief=True).scores


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], dict[str, Any]]:
    """Return the report of a campaign of each kind, as it is stored."""
    folder = tmp_path_factory.mktemp("reports")

    @cache
    def report_of(kind: str) -> dict[str, Any]:
        tested = {"preset": from_protocol("mrc-adequacy").preset}
        of_kind = analysed(EXAMPLES / "ratings.csv", kind, **tested) if kind == DEFAULT else simulated(kind, folder)
        return json.loads(json.dumps(of_kind))

    return report_of


@pytest.mark.parametrize(
    ("kind", "question"), [*((kind, "sensitivity") for kind in KINDS), *product(SIMULATED, ("procedures", "halves"))]
)
def test_each_kind_answers_each_question_or_says_why_not(kind: str, question: str, reports) -> None:
    report = reports(kind)
    answer = report["questions"][question]
    asked = next(each for each in list_questions() if each.slug == question)
    shown = [section for section in sections_of(report, asked.page) if section.finding]
    assert shown, "a page says something"
    if refused := answer.get("refused"):
        assert refused.endswith(".") and any(section.finding == refused for section in shown)
    else:
        assert any(section.tables for section in shown)


@pytest.mark.parametrize("kind", PROTOCOLS)
def test_without_a_worker_scores_are_those_of_a_file_without_them(kind: str, written: Write) -> None:
    found = analysed(written(kind), kind)["questions"]["sensitivity"]
    each = [scores_in(written(kind, without=worker), kind) for worker in ("ann", "bob", "cem", "dia", "eli", "fay")]
    for place, system in enumerate(found["order"]):
        scores = [of[system] for of in each]
        without = found["without_worker"]
        assert without["low"][place] == pytest.approx(min(scores))
        assert without["high"][place] == pytest.approx(max(scores))
        assert without["change"][place] == pytest.approx(max(abs(score - found["score"][place]) for score in scores))
    assert found["without_worker"]["n_workers"] == 6


@pytest.mark.parametrize("kind", ["ordinal", "preference"])
def test_short_texts_are_those_of_a_file_without_the_long_ones(kind: str, written: Write) -> None:
    words = [SourceWords(f"q{k}", reference=k + 1) for k in range(20)]
    found = analysed(written(kind), kind, words)["questions"]["sensitivity"]
    lengths = found["lengths"]["reference"]
    assert lengths["most_words"] == list(range(1, 21)) and list(found["lengths"]) == ["reference"]
    for bound in (5, 12, 20):
        scores = scores_in(written(kind, n_sources=bound), kind)
        at_bound = [of_system[bound - 1] for of_system in lengths["score"]]
        assert at_bound == pytest.approx([scores[system] for system in found["order"]])


@pytest.mark.parametrize("kind", [kind for kind in SIMULATED if kind not in ("choice", "preference")])
def test_with_all_lengths_a_ranking_is_the_result_itself(kind: str, tmp_path: Path, monkeypatch) -> None:
    def with_lengths(method: Any, data: Any, settings: Any) -> dict[str, Any]:
        names, _ = method.sources_of(data)
        words = [SourceWords(name, input=30 + k % 9) for k, name in enumerate(sorted(set(names)))]
        return analyse_fully(method, data, settings, source_words=words)

    monkeypatch.setattr("tests.analysis.test_stored_order.analyse_fully", with_lengths)
    report = simulated(kind, tmp_path)
    found = report["questions"]["sensitivity"]
    lengths = found["lengths"]["input"]
    assert [scores[-1] for scores in lengths["score"]] == pytest.approx(found["score"])
    assert 0 < lengths["n_observations"][0] < lengths["n_observations"][-1]
    assert "Only items with a short source text" in {section.title for section in sections_of(report, "sensitivity")}


@pytest.mark.parametrize("kind", ["ordinal", "preference"])
def test_halves_of_the_workers_say_how_reliable_all_are(kind: str, written: Write, monkeypatch) -> None:
    monkeypatch.setattr("analysis.questions._MOST_TIMES", 100)
    found = analysed(written(kind), kind)["questions"]["halves"]
    assert (found["n_workers"], found["n_splits"]) == (6, 50)
    assert found["range"][0] <= found["r"] <= found["range"][1]
    assert found["whole"] == pytest.approx(float(spearman_brown(np.array([found["r"]]))[0]))
    rising = list(found["by_raters"].values())
    assert rising == sorted(rising)


def test_the_chosen_alpha_gives_the_result_itself_and_other_ways_are_other_analyses(tmp_path: Path) -> None:
    method, settings = get_method("preference"), from_protocol("preference")
    rng, rows = np.random.default_rng(2), ["worker,source,system_a,system_b,winner,degraded,kind"]
    for k in range(8):
        for source in range(30):
            is_copy = source >= 20
            winner = rng.choice(["a", "b"]) if k > 5 else ("b" if is_copy else rng.choice(["a", "a", "b", "both bad"]))
            left, right = rng.permutation(3)[:2]
            kind = "degraded" if is_copy else "ordinary"
            rows.append(f"w{k},q{source},s{left},s{right},{winner},{'a' if is_copy else ''},{kind}")
    path = tmp_path / "votes.csv"
    path.write_text("\n".join(rows) + "\n")
    data = method.read(ResponsesFile(path), settings)
    report = analyse_fully(method, data, settings)
    found = report["questions"]["sensitivity"]
    alpha = found["alpha"]
    assert alpha["n_workers"] == sorted(alpha["n_workers"]) and alpha["n_workers"][4] == 6
    assert [scores[4] for scores in alpha["score"]] == found["score"]
    ways = {each["name"]: each for each in found["settings"]}
    assert set(ways) == {"“both bad” is left out", "every worker counts"}
    everybody = scores_of(document_of(method.analyse(data, replace(settings, preset=NO_TEST), brief=True)))
    changes = [abs(everybody[name] - score) for name, score in zip(found["order"], found["score"], strict=True)]
    assert ways["every worker counts"]["largest_change"] == pytest.approx(max(changes))


def metrics_for(path: Path) -> SegmentScores:
    """Write and read scores of two metrics of three systems and twenty sources, one that follows the systems."""
    rng, rows = np.random.default_rng(3), ["metric,system,source,score"]
    for system in range(3):
        for source in range(20):
            rows.append(f"follows,s{system},q{source},{system + rng.normal():.4f}")
            rows.append(f"opposes,s{system},q{source},{-system + rng.normal():.4f}")
    path.write_text("\n".join(rows) + "\n")
    return load_segment_scores(path, has_metrics=True)


def outputs_in(path: Path, scores: str, *, sign: int = 1) -> dict[tuple[str, str], float]:
    """Return the mean of a column over workers of each system and source."""
    found: dict[tuple[str, str], list[float]] = {}
    with path.open(newline="") as stream:
        for row in csv.DictReader(stream):
            found.setdefault((row["system"], row["source"]), []).append(sign * float(row[scores]))
    return {output: float(np.mean(values)) for output, values in found.items()}


def test_metrics_are_compared_with_levels_of_single_outputs(written: Write, tmp_path: Path) -> None:
    path, metrics = written("ordinal"), metrics_for(tmp_path / "metrics.csv")
    method, settings = get_method("ordinal"), from_protocol("likert")
    report = analyse_fully(method, method.read(ResponsesFile(path), settings), settings, metrics=metrics)
    found = report["questions"]["metrics"]
    assert [each["name"] for each in found["metrics"]] == ["follows", "opposes"]
    people, follows = outputs_in(path, "score"), outputs_in(tmp_path / "metrics.csv", "score")
    assert found["n_segments"] == len(people) == 60
    with (tmp_path / "metrics.csv").open(newline="") as stream:
        rows = [row for row in csv.DictReader(stream) if row["metric"] == "follows"]
    follows = {(row["system"], row["source"]): float(row["score"]) for row in rows}
    pairs = np.array([(people[output], follows[output]) for output in people])
    assert found["metrics"][0]["segment"]["pearson"] == pytest.approx(np.corrcoef(pairs.T)[0, 1])
    assert {section.slug for section in sections_of(report, "metrics")} >= {"metrics", "metric-segments"}


def test_metrics_that_follow_fewer_errors_agree_with_people(tmp_path: Path) -> None:
    rng, path = np.random.default_rng(5), tmp_path / "mqm.csv"
    rows = ["system,doc,seg_id,rater,source,target,category,severity"]
    for rater in ("ann", "bob", "cem"):
        for source in range(20):
            for system in range(3):
                n_errors = int(rng.integers(0, 4 - system))
                severity, category = ("Minor", "Accuracy") if n_errors else ("No-error", "No-error")
                rows += [f"s{system},d,q{source},{rater},text,text {system},{category},{severity}"] * max(n_errors, 1)
    path.write_text("\n".join(rows) + "\n")
    method, settings = get_method("spans"), from_protocol("mqm")
    metrics = metrics_for(tmp_path / "metrics.csv")
    report = analyse_fully(method, method.read(ResponsesFile(path), settings), settings, metrics=metrics)
    found = report["questions"]["metrics"]
    assert found["metrics"][0]["name"] == "follows" and found["metrics"][0]["system"][0]["pearson"][0] > 0.9
    assert found["human"][0] == [-row["score"] for row in report["summary"]["systems"]]
    assert found["metrics"][0]["segment"]["pearson"] > 0.2 > -0.2 > found["metrics"][1]["segment"]["pearson"]
    assert "score, its sign changed" in sections_of(report, "metrics")[0].tables[0].caption


def test_of_votes_metrics_are_compared_by_system_alone(written: Write, tmp_path: Path) -> None:
    method, settings = get_method("preference"), from_protocol("preference")
    data = method.read(ResponsesFile(written("preference")), settings)
    report = analyse_fully(method, data, settings, metrics=metrics_for(tmp_path / "metrics.csv"))
    shown = {section.slug: section for section in sections_of(report, "metrics")}
    assert shown["metrics"].tables and "metric-segments" not in shown


@pytest.mark.parametrize("kind", [kind for kind in SIMULATED if kind not in ("preference", "ranking", "best_worst")])
def test_kinds_with_scores_say_what_workers_think_of_single_outputs(kind: str, tmp_path: Path, monkeypatch) -> None:
    """In the mean over workers and sources it is nearly what the ranking says, which counts outputs otherwise."""
    seen: dict[str, Any] = {}

    def remember(method: Any, data: Any, settings: Any) -> dict[str, Any]:
        seen["outputs"] = method.outputs(data, settings)
        return document_of(method.analyse(data, settings))

    monkeypatch.setattr("tests.analysis.test_stored_order.analyse_fully", remember)
    report = simulated(kind, tmp_path)
    order = [row["system"] for row in report["summary"]["systems"] if row["score"] is not None]
    means = np.nanmean(seen["outputs"].means(order), axis=0)
    sign = 1 if report["summary"]["higher_is_better"] else -1
    scores = [sign * score for score in scores_of(report).values() if score is not None]
    assert np.corrcoef(means, scores)[0, 1] > 0.9


def test_few_workers_or_systems_are_said_to_be_too_few(tmp_path: Path) -> None:
    path = tmp_path / "few.csv"
    path.write_text("worker,source,system,score\nann,q1,s1,2\nann,q2,s2,3\nbob,q1,s1,1\nbob,q2,s2,5\n")
    found = analysed(path, "ordinal")["questions"]
    assert found["halves"] == {"refused": "Fewer than 3 systems have a score, and a correlation of fewer says nothing."}
    path.write_text("worker,source,system,score\nann,q1,s1,2\nbob,q2,s1,3\n")
    found = analysed(path, "ordinal")["questions"]
    assert found["sensitivity"] == {"refused": "There are fewer than two systems with a score."}


def test_of_very_many_responses_those_with_the_most_are_left_out(written: Write, monkeypatch) -> None:
    monkeypatch.setattr("analysis.questions._MOST_RESPONSES", 1)
    monkeypatch.setattr("analysis.questions._FEWEST_TIMES", 2)
    report = analysed(written("ordinal"), "ordinal")
    assert report["questions"]["sensitivity"]["without_worker"]["n_workers"] == 2
    survival = next(section for section in sections_of(report) if section.slug == "survival")
    assert "2 of 6 workers with the most responses" in survival.finding


def test_scores_of_metrics_are_uploaded_on_the_page_of_levels(
    written: Write, upload, start, owner: User, owner_client: Client, tmp_path: Path
) -> None:
    run = start(upload(written("ordinal").read_bytes()), from_protocol("likert"))
    page = reverse("analysis:metrics", args=[run.pk])
    assert "No metrics yet" in owner_client.get(page).text
    metrics_for(tmp_path / "metrics.csv")
    with (tmp_path / "metrics.csv").open("rb") as stream:
        owner_client.post(reverse("analysis:metric_upload", args=[run.pk]), {"file": stream})
    newer = finish(change_run(run=run, user=owner))
    shown = owner_client.get(reverse("analysis:metrics", args=[newer.pk])).text
    assert "follows agrees best with people over 3 systems" in shown and "Biggest disagreements" in shown
    package = owner_client.get(reverse("analysis:run_file", args=[newer.pk, "package.zip"])).getvalue()
    with zipfile.ZipFile(io.BytesIO(package)) as archive:
        archive.extractall(tmp_path / "package")
        readme = (tmp_path / "package" / "README.txt").read_text()
        assert "--metrics metrics.csv" in readme
    folder = tmp_path / "package"
    options = {"protocol": str(folder / "protocol.json"), "metrics": folder / "metrics.csv", "out": folder / "again"}
    call_command("analyse", folder / "responses.csv", no_figures=True, stdout=io.StringIO(), **options)
    for table in (folder / "tables").iterdir():
        assert (folder / "again" / "tables" / table.name).read_bytes() == table.read_bytes(), table.name


@pytest.mark.parametrize("kind", PROTOCOLS)
def test_a_question_of_one_file_is_on_its_page_and_in_every_export(
    kind: str, written: Write, upload, start, settings, owner_client: Client
) -> None:
    settings.EVALSITE_QUESTIONS = [*settings.EVALSITE_QUESTIONS, f"{__name__}.Lead"]
    asked = settings_for(kind, alpha=0.04, scale=(0, 100))  # results of other tests know no such question
    run: AnalysisRun = start(upload(written(kind).read_bytes()), asked)
    assert run.report["questions"]["lead"]["lead"] > 0
    page = reverse("analysis:section", args=[run.pk, "lead"])
    assert page in owner_client.get(reverse("analysis:run", args=[run.pk])).text
    assert "The score less that of the second." in owner_client.get(page).text
    for suffix in ("csv", "tex"):
        file = owner_client.get(reverse("analysis:run_file", args=[run.pk, f"tables/lead.{suffix}"]))
        assert file.status_code == 200 and b"lead" in file.getvalue()
    sections = owner_client.get(reverse("api:sections", args=[run.pk])).json()
    assert "lead" in {section["slug"] for section in sections}
    package = owner_client.get(reverse("analysis:run_file", args=[run.pk, "package.zip"])).getvalue()
    with zipfile.ZipFile(io.BytesIO(package)) as archive:
        assert "tables/lead.csv" in archive.namelist()
        assert json.loads(archive.read("report.json"))["questions"]["lead"] == run.report["questions"]["lead"]
    workbook = owner_client.get(reverse("analysis:run_file", args=[run.pk, "tables.xlsx"])).getvalue()
    assert "Lead" in openpyxl.load_workbook(io.BytesIO(workbook)).sheetnames


@pytest.mark.parametrize("kind", ["ordinal", "magnitude", "choice", "ranking", "best_worst", "fact_count", "edits"])
def test_scores_by_some_workers_are_those_of_an_analysis_without_the_others(kind: str, tmp_path: Path) -> None:
    method = get_method(kind)
    if kind == "edits":  # of texts, which plans do not simulate
        settings = from_protocol("post-edit")
        data = method.read(ResponsesFile(edits_in(tmp_path / "edits.csv")), settings)
    else:
        data, settings = responses_of(kind)
    assert method.values_by_worker(data, settings), "else both are analyses"
    asked = Asked(method, data, settings, method.analyse(data, settings))
    parts = np.random.default_rng(1).integers(0, 2, (6, len(asked.workers)))
    left_out = [[name for name, is_in in zip(asked.workers, part, strict=True) if not is_in] for part in parts]
    again = [asked.scores_in(asked.without(names)) for names in left_out]
    np.testing.assert_allclose(asked.scores_of(asked.workers, parts), again, atol=1e-12)
