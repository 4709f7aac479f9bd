"""The paragraphs of a paper say the numbers of the stored report, for a published study and for designs of any kind."""

import json
from dataclasses import replace
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.test import Client, override_settings
from django.urls import reverse

from analysis.data.ratings.loading import load_ratings
from analysis.methods import DEFAULT, get_method
from analysis.methods.direct_assessment import StudyData
from analysis.methods.settings import from_protocol
from analysis.models import AnalysisRun
from analysis.results.paper.facts import CampaignFacts
from analysis.results.paper.statement import data_statement
from analysis.results.paper.texts import paper_texts, to_latex
from analysis.results.reading import read_result
from analysis.web.queries.facts import get_facts
from tests.analysis.campaigns import analysed, rated_campaign
from tests.conftest import make_owner
from tests.results import analyse_fully


def plain(document: dict[str, Any], facts: CampaignFacts | None = None) -> dict[str, str]:
    return {text.name: text.plain for text in paper_texts(read_result(document), facts)}


@pytest.fixture(scope="module")
def published(shared_data: Path) -> dict[str, Any]:
    """The report of the first run of free-topic dialogues, as it is stored."""
    settings = from_protocol("dialogue-free")
    criteria, statements = settings.criterion_names, settings.statements
    loaded = load_ratings(shared_data / "dialogue-run1/ratings.csv", criteria=criteria, statements=statements)
    return json.loads(json.dumps(analyse_fully(get_method(DEFAULT), StudyData(loaded), settings)))


def test_the_numbers_of_a_published_study(published: dict[str, Any], shared_data: Path) -> None:
    tables = json.loads((shared_data / "published_tables.json").read_text())["dialogue"]
    rows = tables["table_5_4_free_run1_z"]["rows"]
    scores = {name: row[1] for name, row in rows.items()}
    best, worst = max(scores, key=scores.__getitem__), min(scores, key=scores.__getitem__)
    texts = plain(published)
    assert "Of 248 workers, 173 passed and 75 failed." in texts["methods"]
    assert "10 systems" in texts["methods"] and "7 criteria" in texts["methods"]
    assert "ordinary ones (rank-sum test, one-sided, p < 0.05)" in texts["methods"]
    assert f"{sum(row[0] for row in rows.values()):,} ratings by 173 of 248 workers count" in texts["results"]
    low, high = (f"{scores[name]:.3f}".replace("-", "−") for name in (worst, best))
    assert f"Mean z lies between {low} ({worst}) and {high} ({best})." in texts["results"]
    decided = sum(pair["p_holm"] < 0.05 for pair in published["recommended"]["pairs"])
    assert f"Of 45 pairs of systems, {decided} differ" in texts["results"]
    assert "every two systems were compared by least squares" in texts["methods"]
    assert "Beside it stand one-sided rank-sum tests" in texts["methods"]
    halves = published["questions"]["halves"]
    assert f"by {halves['r']:.2f} in the median of 500 random divisions" in texts["results"]


@pytest.fixture(scope="module")
def files(module_db: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("paper")
    with override_settings(MEDIA_ROOT=folder):
        analysed(rated_campaign(make_owner()))
    return folder


@pytest.fixture
def run(files: Path, settings, db: None) -> AnalysisRun:
    settings.MEDIA_ROOT = files
    return AnalysisRun.objects.select_related("ratings_file__campaign").get()


def test_a_campaigns_design_is_said_and_shown(run: AnalysisRun, owner: Any) -> None:
    campaign = run.ratings_file.campaign
    assert campaign is not None
    facts = get_facts(campaign)
    said = plain(run.report, facts)["methods"]
    assert f"{facts.n_outputs} outputs of" in said and f"for {facts.n_sources} sources" in said
    assert "A HIT had 20 items in random order: 11 outputs, 6 degraded items and 3 exact repeats." in said
    assert f"There were {facts.n_hits} HITs, each to be rated by" in said
    assert "lower than their twins (Wilcoxon signed-rank test, one-sided, p < 0.05)" in said
    client = Client()
    client.force_login(campaign.memberships.get().user)
    page = client.get(reverse("analysis:campaign_downloads", args=[campaign.public_id])).text
    assert "A HIT had 20 items" in page and "to be completed" in page and "Annotator demographic" in page


def test_sentences_follow_the_design(run: AnalysisRun) -> None:
    assert run.ratings_file.campaign
    facts = replace(get_facts(run.ratings_file.campaign), started=date(2026, 3, 2), ended=date(2026, 3, 9))
    crowd = replace(
        facts, platform="Prolific", reward=Decimal("1.50"), currency="GBP", minutes_per_hit=9,
        hourly_reward=Decimal("10.00"), hits_per_worker=2, workers_per_hit=3,
    )  # fmt: skip
    said = plain(run.report, crowd)["methods"]
    assert "Workers were recruited on Prolific. The reward was GBP 1.50 per HIT, which is GBP 10.00 per hour" in said
    assert "each to be rated by 3 workers; a worker did at most 2 HITs" in said
    assert "Ratings were collected from 2 March 2026 to 9 March 2026." in said
    lab = replace(facts, n_copies=(0, 0, 0), n_ordinary=12, is_invited=True, ended=None)
    untested = run.report | {
        "settings": run.report["settings"] | {"worker_test": {"preset": "none", "alpha": 0.05}},
        "summary": run.report["summary"] | {"worker_test": {"preset": "none", "alpha": 0.05}},
    }
    said = plain(untested, lab)["methods"]
    assert "A HIT had 12 outputs in random order and no quality-control items." in said
    assert "Raters were invited by personal links. They were not paid by the HIT." in said
    assert "No worker test was applied: all ratings count" in said and "degraded" not in said
    assert "Ratings have been collected since 2 March 2026." in said
    chats = replace(facts, is_live=True, n_ordinary=5, n_copies=(1, 0, 0), opening="icebreaker", min_inputs=10)
    said = plain(run.report, chats)["methods"]
    assert "were given an ice-breaker and wrote at least 10 messages a chat" in said
    assert "A HIT had 6 items in random order: 5 chats and 1 degraded item." in said


def test_a_result_without_scores_says_so(run: AnalysisRun) -> None:
    empty = run.report["summary"] | {"systems": [], "clusters": [], "significance": {"order": [], "p": []}}
    report = run.report | {"summary": empty, "recommended": {"pairs": []}, "questions": {}, "version": 2}
    texts = plain({name: part for name, part in report.items() if name != "sections"})
    assert texts["results"].startswith("No system has a score")


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("50 % of A&B_1 {x}", r"50 \% of A\&B\_1 \{x\}"),
        ("z = −0.5, “so” – κ", r"z = $-$0.5, ``so'' -- $\kappa$"),
        ("\u2068مترجم\u2069 wins", "مترجم wins"),
    ],
)
def test_latex_prints_what_the_text_says(text: str, latex: str) -> None:
    assert to_latex(text) == latex


def test_a_data_statement_knows_what_the_campaign_knows_and_keeps_what_is_written(run: AnalysisRun) -> None:
    assert run.ratings_file.campaign
    found = data_statement(
        run.result, get_facts(run.ratings_file.campaign), {"statement-b": "en-US", "statement-c": " "}
    )
    assert [each.number for each in found] == list("ABCDEFGHI")
    origin = {each.number: each.origin for each in found}
    assert (origin["A"], origin["B"], origin["C"], origin["D"]) == ("campaign", "researcher", "open", "open")
    assert all(each.hint for each in found if each.is_open) and all(each.answer for each in found if not each.is_open)
    assert "collected in order to compare" in found[0].answer


def test_looks_while_ratings_came_are_said(published: dict[str, Any]) -> None:
    recommended = published["recommended"]
    assert "confidence sequences" not in plain(published)["methods"]
    watched = published | {"recommended": recommended | {"workers_planned": 200, "is_weighted": True}}
    methods = plain(watched)["methods"]
    assert "which hold at all looks together" in methods and "inverse of the probabilities" in methods
