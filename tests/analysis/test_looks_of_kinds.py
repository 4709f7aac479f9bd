"""Campaigns of every kind of response that close themselves: looks while workers answer, and the results afterwards."""

from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from analysis.models import AnalysisRun
from analysis.results.reading import printed
from analysis.web.services.looks import take_look
from annotation.models import Assignment
from annotation.services.assignments import finish_assignment, start_assignment
from annotation.services.ratings import save_page
from annotation.simulation.running import make_crowd
from annotation.simulation.visitor import answers_to, look_up_task
from annotation.views.pages import url_of
from campaigns.contracts.attributes import DRAW_WEIGHT
from campaigns.design.composition import Layout
from campaigns.design.paging import PageKind
from campaigns.models import Campaign
from campaigns.services.campaigns import change_campaign
from campaigns.services.hits import execute_build
from evalsite.accounts.models import User
from evalsite.lib.errors import DomainError
from tests.analysis.campaigns import analysed
from tests.annotation.cast import launch
from tests.campaigns.cast import add_outputs, make_campaign

pytestmark = pytest.mark.django_db
QUALITY = {"alpha": 1.5, "beta": 0.0, "gamma": -1.5}
N_PLACES, N_FEW, N_MANY = 12, 2, 9
FIELDS = {
    "option-selection": {"options": "a\nb\nc\nd", "correct": "a\nb"},
    "ssa": {"dialogue": "Person: I love tennis."},
}
IN_DOCUMENTS = ("esa", "mqm")
# What differences are in.
UNITS = {
    "qg": "z",
    "likert": "mean level",
    "esa": "points",
    "mqm": "mean penalty",
    "post-edit": "points of HTER",
    "fact-count": "F",
    "option-selection": "share of good answers",
    "magnitude": "mean log",
    "ssa": "mean share",
    "preference": "log strength",
    "ranking": "score",
    "best-worst": "score",
}


@pytest.fixture(autouse=True)
def no_questions(settings: Settings) -> None:
    """Compute what ranks the systems alone: tests here ask nothing else of results."""
    settings.EVALSITE_QUESTIONS = []


def watched(owner: User, protocol: str) -> Campaign:
    """Return a running campaign of one HIT for twelve workers that closes when the best system is decided."""
    campaign = make_campaign(owner, protocol)
    n_items = 24
    compares = campaign.page_kind == PageKind.COMPARISON
    n_sources = n_items if compares or protocol in IN_DOCUMENTS else n_items // len(QUALITY)
    add_outputs(campaign, n_sources, list(QUALITY))
    for n, source in enumerate(campaign.sources.order_by("name")):
        source.fields |= FIELDS.get(protocol, {})
        if protocol in IN_DOCUMENTS:
            source.document, source.place = f"doc-{n // 2}", n % 2 + 1
        source.save()
    campaign.n_ordinary, campaign.n_degraded, campaign.n_repeat, campaign.has_anchor = n_items, 0, 0, False
    campaign.layout = Layout.POOLED
    campaign.outputs_per_page = 2 if protocol == "preference" else len(QUALITY)
    campaign.n_hits, campaign.workers_per_hit, campaign.hits_per_worker = 1, N_PLACES, 1
    campaign.worker_test, campaign.seed, campaign.is_adaptive = "none", 1, True
    campaign.stopping_rule, campaign.stopping_systems = "against", ["alpha"]
    campaign.save()
    execute_build(campaign=campaign, on_progress=lambda *_: None, saving=transaction.atomic)
    return launch(campaign)


def answer(campaign: Campaign, n_workers: int, seed: int) -> None:
    """Have so many further simulated workers answer the HIT, as its pages would have them do: without the pages."""
    crowd = make_crowd(campaign, seed=seed, n_workers=n_workers, quality=QUALITY)
    for worker in map(crowd.worker, crowd.arrivals()):
        assignment = start_assignment(campaign=campaign, worker_key=f"{seed} {worker.name}")
        task = look_up_task(url_of("hit", assignment))
        for position in task.pages:
            answers = {
                key: [sent] if isinstance(sent, str) else sent
                for key, sent in answers_to(worker, task, position)[1].items()
            }
            save_page(assignment_id=assignment.pk, position=position, answers=answers)
        finish_assignment(assignment_id=assignment.pk)
    assert Assignment.objects.filter(campaign=campaign, state=Assignment.State.FINISHED).count() >= n_workers


def printed_pairs(run: AnalysisRun) -> list[dict[str, Any]]:
    """Return the pairs of a result as scripts get them, in the order of names."""
    pairs = printed(run.result)["pairs"]
    return sorted(pairs, key=lambda pair: (pair["better"], pair["worse"]))


def _give_unequal_probabilities(campaign: Campaign) -> None:
    for n, assignment in enumerate(campaign.assignments.order_by("started_at", "pk")):
        assignment.draw_probability, assignment.even_probability = (0.1, 0.8)[n % 2], 0.4
        assignment.save()


@pytest.mark.parametrize("protocol", UNITS)
def test_a_campaign_of_any_kind_closes_when_its_pairs_are_decided(
    owner: User, owner_client: Client, protocol: str
) -> None:
    campaign = watched(owner, protocol)
    answer(campaign, N_FEW, seed=1)
    early = take_look(campaign=campaign)
    assert (early.n_workers, early.n_pairs, early.n_decided, early.has_closed) == (N_FEW, 3, 0, False)
    answer(campaign, N_MANY, seed=2)
    look = take_look(campaign=campaign)
    assert [(*pair["systems"], pair["better"]) for pair in look.pairs if pair["is_wanted"]] == [
        ("alpha", "beta", "alpha"),
        ("alpha", "gamma", "alpha"),
    ]
    campaign.refresh_from_db()
    assert (look.has_closed, campaign.status) == (True, Campaign.Status.CLOSED)

    _give_unequal_probabilities(campaign)
    weighted = analysed(campaign)
    Assignment.objects.filter(campaign=campaign).update(draw_probability=None, even_probability=None)
    final = analysed(campaign)
    is_study = final.result.is_study
    assert weighted.settings.get("weights") == (None if is_study else DRAW_WEIGHT) and "weights" not in final.settings
    notes = " ".join(weighted.report["notes"])
    said = weighted.report["recommended"]["is_weighted"] if is_study else "HITs of undecided pairs" in notes
    assert said
    differences = [[pair["difference"] for pair in printed_pairs(run)] for run in (weighted, final)]
    assert (differences[0] == pytest.approx(differences[1], rel=1e-9)) == (protocol == "preference")
    assert final.settings["workers_planned"] == N_PLACES, "when it ended depends on the answers"
    shown = printed(final.result)
    assert "valid whenever you look" in " ".join(final.result.findings)
    compared = {frozenset((pair["better"], pair["worse"])): pair for pair in shown["pairs"]}
    for pair in look.pairs:
        result = compared[frozenset(pair["systems"])]
        assert result["differs"] == (pair["better"] is not None)
        assert result["p_holm"] == pytest.approx(pair["p_holm"])
        bounds = sorted(abs(pair[bound]) for bound in ("low", "high"))
        assert sorted(abs(result[bound]) for bound in ("low", "high")) == pytest.approx(bounds)
    page = owner_client.get(reverse("analysis:campaign_results", args=[campaign.public_id])).text
    assert "The campaign closed itself then" in page
    assert f"{UNITS[protocol][0].upper()}{UNITS[protocol][1:]}, first system less second." in page
    assert owner_client.get(reverse("campaigns:settings", args=[campaign.public_id])).text.count("Not in this") == 0


def test_a_campaign_of_options_without_good_ones_is_refused_in_a_sentence(owner: User, owner_client: Client) -> None:
    campaign = make_campaign(owner, "option-selection")
    criterion = campaign.criteria.get()
    criterion.settings |= {"field": "", "correct": "", "options": "red\ngreen"}
    criterion.save()
    why = "Which options are good is not known"
    assert why in owner_client.get(reverse("campaigns:settings", args=[campaign.public_id])).text
    for change in ({"stopping_rule": "all"}, {"is_adaptive": True}):
        with pytest.raises(DomainError, match=why):
            change_campaign(campaign=campaign, changes=change)
    changed = change_campaign(
        campaign=campaign, changes={"method_options": {"good": ["green"]}, "stopping_rule": "all"}
    )
    assert changed.stopping_rule == "all"
