"""From a campaign's ratings to a snapshot and its run: complete, once, by itself."""

from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse

from analysis.data.ratings.loading import load_ratings
from analysis.models import AnalysisRun, RatingsFile
from analysis.web.services.campaigns import analyse_campaign, request_analysis
from annotation.models import Assignment, Response
from annotation.services.assignments import finish_assignment
from campaigns.design.composition import Kind
from campaigns.models import Campaign, Delivery
from campaigns.services.lifecycle import close_campaign
from campaigns.services.webhooks import SEND, add_webhook
from evalsite.accounts.models import User
from evalsite.jobs.handlers import JobContext, LeaseLostError, get_handler
from evalsite.jobs.models import Job
from evalsite.jobs.running import run_job
from evalsite.lib.errors import DomainError
from tests.analysis.campaigns import analysed, rate_rest, rated_campaign
from tests.analysis.conftest import kept_files
from tests.annotation.cast import build, launch, make_worker, rate_hit
from tests.campaigns.cast import add_member, make_campaign
from tests.databases import on_both

pytestmark = on_both

State = Assignment.State


def test_a_snapshot_holds_every_rating_of_finished_assignments_as_given(owner: User) -> None:
    campaign = rated_campaign(owner, n_rated=3)
    open_hit = campaign.hits.get(number=4)
    rate_hit(open_hit, make_worker(campaign, "half-way"), np.random.default_rng(1), n_rated=2, state=State.ACTIVE)

    run = analyse_campaign(campaign=campaign)

    file = run.ratings_file
    loaded = load_ratings(file.file.path, criteria=[c.name for c in campaign.criteria.all()], mapping=file.mapping)
    ratings = loaded.ratings
    item, criterion = np.nonzero(~np.isnan(ratings.scores))
    found = {
        (
            loaded.workers[ratings.worker[i]],
            loaded.assignments[ratings.assignment[i]],
            loaded.sources[ratings.source[i]],
            loaded.systems[ratings.system[i]],
            int(ratings.kind[i]),
            loaded.criteria[c],
            int(ratings.scores[i, c]),
        )
        for i, c in zip(item, criterion, strict=True)
    }
    given = {
        (
            rating.assignment.worker.name,
            str(rating.assignment_id),
            rating.item.output.source.name,
            rating.item.output.system.name,
            rating.item.kind,
            rating.criterion.name,
            rating.score,
        )
        for rating in Response.objects.filter(assignment__state=State.FINISHED).select_related(
            "assignment__worker", "item__output__source", "item__output__system", "criterion"
        )
    }
    assert found == given
    assert len(item) == Response.objects.filter(assignment__state=State.FINISHED).count()
    assert np.count_nonzero(ratings.kind == Kind.DEGRADED) == 9
    assert (file.campaign, file.n_assignments, file.title) == (campaign, 3, campaign.name)


def test_the_run_gets_what_the_campaign_says(owner: User) -> None:
    campaign = rated_campaign(owner, alpha=0.1, worker_test="paired-t")
    campaign.criteria.filter(name="relevancy").update(is_negative=True, is_in_worker_test=False)

    settings = analyse_campaign(campaign=campaign).settings

    assert settings["protocol"] == "qg"
    assert settings["worker_test"] == {"preset": "paired-t", "alpha": 0.1}
    assert [c["name"] for c in settings["criteria"]] == [c.name for c in campaign.criteria.all()]
    assert [c["name"] for c in settings["criteria"] if c["is_negative"]] == ["relevancy"]
    assert [c["name"] for c in settings["criteria"] if not c["is_in_worker_test"]] == ["relevancy"]


def test_the_same_ratings_are_analysed_once(owner: User) -> None:
    campaign = rated_campaign(owner)
    handler = get_handler("analysis.campaign")

    for _ in range(3):
        handler(JobContext(), campaign=campaign.pk)

    assert RatingsFile.objects.count() == AnalysisRun.objects.count() == len(kept_files()) == 1
    first = analysed(campaign)
    assert analyse_campaign(campaign=campaign).pk == first.pk  # nor after it has finished


def test_new_ratings_give_a_new_snapshot_and_another_setting_only_a_new_run(owner: User) -> None:
    campaign = rated_campaign(owner, n_rated=2)
    first = analyse_campaign(campaign=campaign)

    campaign.alpha = 0.1
    campaign.save()
    second = analyse_campaign(campaign=campaign)
    rate_rest(campaign)
    third = analyse_campaign(campaign=campaign)

    assert len({first.pk, second.pk, third.pk}) == 3
    assert first.ratings_file == second.ratings_file != third.ratings_file
    assert (second.ratings_file.n_assignments, third.ratings_file.n_assignments) == (2, 4)


def test_a_run_that_failed_is_made_again(owner: User) -> None:
    campaign = rated_campaign(owner)
    first = analyse_campaign(campaign=campaign)
    Job.objects.filter(pk=first.job_id).update(status="failed", error_code="lost", finished_at=first.created_at)

    again = analyse_campaign(campaign=campaign)

    assert again.pk != first.pk
    assert again.ratings_file == first.ratings_file


def test_a_worker_that_lost_its_lease_leaves_nothing_behind(owner: User) -> None:
    @contextmanager
    def refused():
        raise LeaseLostError
        yield

    with pytest.raises(LeaseLostError):
        analyse_campaign(campaign=rated_campaign(owner), saving=refused)
    assert not RatingsFile.objects.exists()
    assert kept_files() == []


def test_the_file_is_the_owner_s_and_the_run_whoever_asked_s(owner: User, colleague: User) -> None:
    campaign = rated_campaign(owner)
    add_member(campaign, colleague, "editor")

    run = analyse_campaign(campaign=campaign, user=colleague)

    assert (run.ratings_file.owner, run.created_by, run.job.owner) == (owner, colleague, colleague)


@pytest.mark.parametrize(
    "ask", [lambda c, u: analyse_campaign(campaign=c), lambda c, u: request_analysis(campaign=c, user=u)]
)
def test_without_a_finished_hit_there_is_nothing_to_analyse(owner: User, ask) -> None:
    campaign = make_campaign(owner)
    with pytest.raises(DomainError) as refused:
        ask(campaign, owner)
    assert refused.value.code == "no_ratings"
    assert not RatingsFile.objects.exists() and not Job.objects.exists()


def test_two_clicks_are_one_job_and_nothing_new_is_none(owner: User) -> None:
    campaign = rated_campaign(owner)
    assert request_analysis(campaign=campaign, user=owner) == request_analysis(campaign=campaign, user=owner)
    Job.objects.update(status="succeeded", finished_at=campaign.created_at)
    analysed(campaign)

    with pytest.raises(DomainError) as refused:
        request_analysis(campaign=campaign, user=owner)
    assert refused.value.code == "nothing_new"


@pytest.mark.django_db(transaction=True)
def test_when_the_last_assignment_ends_the_results_come_by_themselves(owner: User, owner_client: Client) -> None:
    campaign = make_campaign(owner, "qg")
    hits = build(campaign, 2)
    launch(campaign)
    rng = np.random.default_rng(5)
    add_webhook(campaign=campaign, url="https://hooks.example.org/", events=["results.ready"])
    rate_hit(hits[0], make_worker(campaign, "ann"), rng)
    last = rate_hit(hits[1], make_worker(campaign, "ben"), rng, state=State.ACTIVE)

    finish_assignment(assignment_id=last.pk, feedback="")
    waiting = owner_client.get(reverse("analysis:campaign_results", args=[campaign.public_id]))
    run_job(Job.objects.get(kind="analysis.campaign").pk)
    run_job(Job.objects.get(kind="analysis.run").pk)

    page = owner_client.get(reverse("analysis:campaign_results", args=[campaign.public_id]))
    assert "data-job-progress" in waiting.text and "data-job-progress" not in page.text
    assert Campaign.objects.get().status == Campaign.Status.CLOSED
    assert 'badge-ready">final</span>' in page.text
    assert page.context["ranking"].rows[0].system in ("human", "system-e")
    assert Path(page.context["run"].ratings_file.file.path).is_file()
    assert not Job.objects.exclude(status="succeeded").exclude(kind=SEND).exists()
    announced = Delivery.objects.get()
    assert announced.event == "results.ready"
    assert (announced.data["run"], announced.data["n_assignments"]) == (str(page.context["run"].pk), 2)


@pytest.mark.django_db(transaction=True)
def test_a_campaign_that_is_closed_without_ratings_has_no_failed_analysis(owner: User, owner_client: Client) -> None:
    campaign = make_campaign(owner, "qg")
    build(campaign, 2)
    launch(campaign)

    close_campaign(campaign=campaign)
    run_job(Job.objects.get(kind="analysis.campaign").pk)

    page = owner_client.get(reverse("analysis:campaign_results", args=[campaign.public_id]))
    assert Job.objects.get().status == Job.Status.SUCCEEDED
    assert page.context["new_job"] is None
    assert not RatingsFile.objects.exists()


def test_a_campaign_that_lost_its_owner_is_analysed_for_who_is_left(owner: User, colleague: User) -> None:
    campaign = rated_campaign(owner, n_rated=2)
    add_member(campaign, colleague, "editor")
    campaign.memberships.filter(user=owner).delete()
    assert analyse_campaign(campaign=campaign).ratings_file.owner == colleague
    campaign.memberships.all().delete()
    RatingsFile.objects.update(sha256="")
    with pytest.raises(DomainError, check=lambda error: error.code == "no_owner"):
        analyse_campaign(campaign=campaign)
