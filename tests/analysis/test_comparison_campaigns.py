"""Campaigns whose workers compare outputs, from their design to their results: votes, rankings, choices, magnitudes."""

import csv
import io
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.db import transaction
from django.test import Client
from django.urls import reverse

from annotation.export.tables import TABLES
from annotation.simulation.running import make_crowd, open_site, run_crowd
from annotation.worker_names import hashed_name
from campaigns.checklist import checklist, passing_of
from campaigns.design.worker_test import WORKER_TESTS
from campaigns.hit_queries import compared_in_hit
from campaigns.methods import methods
from campaigns.models import Campaign, Output
from campaigns.services.hits import execute_build
from evalsite.accounts.models import User
from evalsite.lib.errors import DomainError
from evalsite.lib.tables.blocks import in_rows
from tests.analysis.campaigns import analysed, assert_download_has_what_was_analysed, assert_listed_as_in
from tests.analysis.test_downloads import replicated
from tests.annotation.cast import launch
from tests.campaigns.cast import add_outputs, make_campaign
from tests.conftest import make_owner

pytestmark = pytest.mark.django_db
QUALITY = {"alpha": 1.2, "beta": 0.4, "gamma": -0.4, "delta": -1.2}
# Workers, of whom a share clicks at random, and the mix of a HIT.
DESIGNS = {
    "preference": (6, 1 / 3, (20, 16, 2)),
    "ranking": (4, 1 / 4, (12, 10, 2)),
    "best-worst": (4, 1 / 4, (14, 12, 2)),
    "rank-me": (4, 1 / 4, (9, 7, 2)),
}
IN_ORDER = ["ranking", "best-worst"]
Opened = Callable[[str], Campaign]


@pytest.fixture(scope="module")
def made(module_db: None) -> dict[str, Campaign]:
    """Campaigns of four systems that a simulated crowd has compared."""
    owner = make_owner()
    return {protocol: _answered(owner, protocol) for protocol in DESIGNS}


def _answered(owner: User, protocol: str) -> Campaign:
    n_workers, careless, mix = DESIGNS[protocol]
    campaign = make_campaign(owner, protocol, name=f"Campaign of {protocol}")
    campaign.n_ordinary, campaign.n_degraded, campaign.n_repeat = mix
    campaign.n_hits, campaign.workers_per_hit, campaign.hits_per_worker = 1, n_workers, 1
    campaign.seed, campaign.instructions = 2, "Compare."
    campaign.save()
    add_outputs(campaign, n_sources=campaign.n_ordinary, systems=list(QUALITY))
    execute_build(campaign=campaign, on_progress=lambda *_: None, saving=transaction.atomic)
    launch(campaign)
    with open_site(None) as client:
        crowd = make_crowd(campaign, seed=5, n_workers=n_workers, careless=careless, quality=QUALITY)
        outcome = run_crowd(campaign, crowd, client)
    assert (outcome.errors, outcome.n_hits) == ([], n_workers)
    return campaign


@pytest.fixture
def opened(made: dict[str, Campaign], db: None) -> Opened:
    return lambda protocol: Campaign.objects.get(pk=made[protocol].pk)


def rows_of(campaign: Campaign) -> list[dict[str, Any]]:
    columns, blocks = TABLES[methods[campaign.method].table]
    return [dict(zip(columns, row, strict=True)) for row in in_rows(blocks(campaign, names=hashed_name))]


def of_kinds(rows: list[dict[str, Any]]) -> dict[str, int]:
    return dict(Counter(row["kind"] for row in rows))


@pytest.mark.parametrize("protocol", DESIGNS)
def test_the_true_order_is_found_without_those_who_click_at_random(
    opened: Opened, owner_client: Client, tmp_path: Path, protocol: str
) -> None:
    n_workers, careless, (n_ordinary, n_degraded, _) = DESIGNS[protocol]
    campaign = opened(protocol)
    run = analysed(campaign)
    summary = run.report["summary"]
    assert [row["system"] for row in summary["systems"]] == list(QUALITY)
    test = "paired-wilcoxon" if protocol == "rank-me" else "sign"
    assert summary["worker_test"] == {"preset": test, "alpha": 0.05}
    assert summary["workers"]["total"] == n_workers
    verdicts = {row["worker"]: row["verdict"] for row in run.report["worker_table"]}
    crowd = make_crowd(campaign, seed=5, n_workers=n_workers, careless=careless, quality=QUALITY)
    came = dict(zip(crowd.arrivals(), campaign.assignments.order_by("pk"), strict=True))
    assert {verdicts[came[k].worker.name] for k in crowd.careless} == {"failed"}
    passed = [worker for worker, verdict in verdicts.items() if verdict == "passed"]
    assert summary["n_workers"] == len(passed) >= 2
    n_of_page = 4 if protocol == "rank-me" else 1
    n = next(summary[name] for name in ("n_votes", "n_judgements", "n_values") if name in summary)
    assert n == n_ordinary * n_of_page * len(passed)
    assert summary["n_left_out"] == n_ordinary * n_of_page * (n_workers - len(passed))
    compared = {row["n_compared"] for row in run.report["worker_table"]}
    assert compared == {n_degraded * (3 if protocol in IN_ORDER else 1)}
    page = owner_client.get(reverse("analysis:campaign_results", args=[campaign.public_id])).text
    assert f"{len(passed)} of {n_workers} workers passed the worker test ({WORKER_TESTS[test].name}" in page
    assert_listed_as_in(run, campaign)
    workers = owner_client.get(reverse("analysis:campaign_workers", args=[campaign.public_id])).text
    assert "failed" in workers
    files = Path(django_settings.MEDIA_ROOT) / run.folder
    table = (files / "tables/systems.csv").read_text()
    assert [row["system"] for row in csv.DictReader(io.StringIO(table))] == list(QUALITY)
    assert_download_has_what_was_analysed(owner_client, run, f"{methods[campaign.method].table}.csv")
    kept, again = replicated((files / "package.zip").read_bytes(), tmp_path)
    assert again == kept
    paper = owner_client.get(reverse("analysis:campaign_downloads", args=[campaign.public_id])).text
    assert f"{len(passed)} of {n_workers} workers passed" in paper


def test_a_snapshot_of_votes_has_the_length_of_outputs_and_strengths_without_it(
    opened: Opened, owner_client: Client, tmp_path: Path
) -> None:
    campaign = opened("preference")
    for k, output in enumerate(Output.objects.filter(source__campaign=campaign).order_by("pk")):
        output.text = "word " * (1 + 7 * k % 11)
        output.save()
    run = analysed(campaign)
    [length] = run.report["style"]["features"]
    assert (length["feature"], run.report["style"]["n_unknown"]) == ("words", 0)
    assert {row["system"] for row in run.report["style"]["systems"]} == set(QUALITY)
    page = owner_client.get(reverse("analysis:campaign_section", args=[campaign.public_id, "style"])).text
    assert "Length and style" in page and "What style does" in page
    assert_download_has_what_was_analysed(owner_client, run, "votes.csv")
    kept, again = replicated((Path(django_settings.MEDIA_ROOT) / run.folder / "package.zip").read_bytes(), tmp_path)
    assert again == kept and json.loads(kept)["style"] == run.report["style"]


def test_each_vote_says_which_output_was_degraded(opened: Opened) -> None:
    rows = rows_of(opened("preference"))
    assert of_kinds(rows) == {"ordinary": 120, "degraded": 96, "repeat": 12}
    assert all((row["degraded"] in ("a", "b")) == (row["kind"] == "degraded") for row in rows)
    sides = [row["degraded"] for row in rows if row["degraded"]]
    assert 0.25 < sides.count("a") / len(sides) < 0.75


def test_rankings_and_magnitudes_have_the_kind_of_each_output(opened: Opened) -> None:
    assert of_kinds(rows_of(opened("ranking"))) == {"ordinary": 12 * 16, "degraded": 10 * 4, "repeat": (10 * 3 + 8) * 4}
    rows = rows_of(opened("rank-me"))
    assert of_kinds(rows) == {"ordinary": 9 * 16, "degraded": 7 * 4, "repeat": (7 * 3 + 8) * 4}
    assert {row["reference"] for row in rows} == {100} and min(row["value"] for row in rows) >= 1


def test_each_choice_says_which_output_was_degraded(opened: Opened) -> None:
    rows = rows_of(opened("best-worst"))
    assert of_kinds(rows) == {"ordinary": 14 * 4, "degraded": 12 * 4, "repeat": 2 * 4}
    assert all((row["degraded"] in (1, 2, 3, 4)) == (row["kind"] == "degraded") for row in rows)
    assert all({row["best"], row["worst"]} < {row[f"system_{k}"] for k in range(1, 5)} for row in rows)
    assert {row["system_5"] for row in rows} == {""}


@pytest.mark.parametrize(
    ("protocol", "what"),
    [("preference", "Votes"), ("ranking", "Rankings"), ("best-worst", "Choices")],
)
def test_comparisons_are_tested_by_the_sign_test_or_not_at_all(
    opened: Opened, owner_client: Client, protocol: str, what: str
) -> None:
    campaign, (n_workers, _, (n_ordinary, *_)) = opened(protocol), DESIGNS[protocol]
    campaign.worker_test = "paired-wilcoxon"
    campaign.save()
    with pytest.raises(DomainError, match=f"{what} are tested by the sign test"):
        analysed(campaign)
    page = owner_client.get(reverse("analysis:campaign_live_workers", args=[campaign.public_id])).text
    assert f"{what} are tested by the sign test" in page and 'data-label="HITs"' in page
    campaign.worker_test = "none"
    campaign.save()
    summary = analysed(campaign).report["summary"]
    assert summary.get("n_votes", summary.get("n_judgements")) == n_ordinary * n_workers


def test_magnitudes_of_workers_who_chose_their_own_numbers_are_in_units_of_each(opened: Opened) -> None:
    campaign = opened("rank-me")
    criterion = campaign.criteria.get()
    criterion.settings = {"least": "1", "is_whole": "no"}
    criterion.save()
    assert {row["reference"] for row in rows_of(campaign)} == {None}
    assert any("No reference is known" in note for note in analysed(campaign).report["notes"])
    campaign.method_options = {"scale": "worker"}
    campaign.save()
    report = analysed(campaign).report
    assert [row["system"] for row in report["summary"]["systems"]] == list(QUALITY)
    assert not any("reference" in note for note in report["notes"])


def test_a_worker_can_pass_with_few_comparisons_of_many_outputs(opened: Opened) -> None:
    """A degraded output is the worst of four by chance in one of four pages, and of two in one of two."""
    campaign = opened("ranking")
    campaign.n_degraded = 3
    assert compared_in_hit(campaign).n_alike == 4
    assert passing_of(campaign, n_hits=1, n_tested=1).problem == ""  # p of 1/64
    campaign.n_degraded = 2
    assert "is 0.062" in passing_of(campaign, n_hits=1, n_tested=1).problem
    votes = opened("preference")
    votes.n_degraded = 4
    assert "is 0.062" in passing_of(votes, n_hits=1, n_tested=1).problem


def test_a_criterion_that_compares_needs_pages_with_so_many_outputs(owner: User) -> None:
    campaign = make_campaign(owner, "preference")
    add_outputs(campaign, n_sources=2, systems=["a", "b", "c"])

    def said() -> str:
        return next(step.text for step in checklist(campaign) if step.key == "criteria")

    assert "The worker test uses it" in said()
    campaign.outputs_per_page = 3
    assert "compares 2 outputs, and a page shows 3" in said()
    campaign.outputs_per_page, campaign.page_kind = 2, "output"
    assert "and a page shows 1" in said()
    campaign.criteria.update(scope="output")
    assert "have it asked of all that is shown at once" in said()
