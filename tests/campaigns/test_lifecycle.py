"""Launching, pausing, resuming, closing, duplicating and deleting."""

import html
from pathlib import Path
from uuid import uuid4

import pytest
from django.core.files.base import ContentFile
from django.test import Client
from django.urls import reverse

from campaigns.checklist import Step, checklist, passing_of
from campaigns.design.composition import Kind
from campaigns.models import Campaign, Criterion, Hit, HitItem, Output, Source, System, Upload
from campaigns.services.copies import duplicate_campaign
from campaigns.services.deletion import delete_campaign
from campaigns.services.lifecycle import close_campaign, launch_campaign
from evalsite.accounts.models import User
from evalsite.lib.errors import DomainError
from tests.campaigns.cast import SYSTEMS, add_outputs, make_campaign
from tests.databases import on_both, on_sqlite

pytestmark = on_sqlite


def post(client: Client, name: str, campaign: Campaign, **sent: object):
    return client.post(reverse(f"campaigns:{name}", args=[campaign.public_id]), sent)


def test_launch(owner_client: Client, ready: Campaign) -> None:
    assert post(owner_client, "launch", ready).status_code == 302
    ready.refresh_from_db()
    assert ready.is_open
    assert ready.is_launched


@on_both
def test_launching_twice_is_launching_once(owner_client: Client, ready: Campaign) -> None:
    post(owner_client, "launch", ready)
    before = Campaign.objects.get()
    assert post(owner_client, "launch", ready).status_code == 302
    after = Campaign.objects.get()
    assert (after.status, after.launched_at) == (before.status, before.launched_at)


def test_a_launch_is_refused_with_all_that_is_missing(owner_client: Client, campaign: Campaign) -> None:
    response = post(owner_client, "launch", campaign)
    assert response.status_code == 409
    assert response.context["refused"].code == "not_ready"
    for title in ("Outputs", "Human system", "HITs"):
        assert title in response.context["refused"].message
    assert not Campaign.objects.get().is_launched


@on_both
def test_hits_that_are_out_of_date_are_not_launched(ready: Campaign) -> None:
    Campaign.objects.update(status=Campaign.Status.DRAFT)
    with pytest.raises(DomainError, match="Build them again"):
        launch_campaign(campaign=ready)


@pytest.mark.parametrize(
    ("protocol", "design", "said"),
    [
        ("qg", {"page_kind": "comparison"}, "is about the text of one output: have it asked of each output"),
        ("qg", {}, ""),
        ("dialogue-free", {}, "is about the text of an output, and chats have none"),
    ],
)
def test_a_text_is_corrected_where_there_is_one(owner, protocol: str, design: dict[str, str], said: str) -> None:
    campaign = make_campaign(owner, protocol)
    campaign.criteria.update(response="edit", scope="page", settings={})
    Campaign.objects.update(**design)
    step = next(step for step in checklist(Campaign.objects.get()) if step.key == "criteria")
    assert (said in step.text, step.state) == (True, "todo" if said else "ok")


@pytest.mark.parametrize("watched", [{"stopping_rule": "all"}, {"is_adaptive": True}])
def test_what_looks_at_scores_is_not_launched_without_scores(ready: Campaign, watched: dict[str, object]) -> None:
    Campaign.objects.update(worker_test="none", **watched)
    campaign = Campaign.objects.get()
    assert "stopping" not in {step.key for step in checklist(campaign)}
    campaign.criteria.update(response="text", settings={})
    with pytest.raises(DomainError, match="no pair of systems is ever decided"):
        launch_campaign(campaign=campaign)


# Of a QG HIT, 6 degraded items on 4 criteria are 24 pairs; `ready` has three HITs.
UNPASSABLE = {
    "no degraded items": {"n_degraded": 0, "n_repeat": 0, "has_anchor": False},
    "too few pairs": {"n_degraded": 1, "worker_test": "paired-t", "hits_per_worker": 1},
    "a small α": {"alpha": 1e-9, "hits_per_worker": 1},
    "few unpaired ratings": {"n_degraded": 1, "n_ordinary": 3, "worker_test": "unpaired-ranksum", "hits_per_worker": 1},
}
PASSABLE = {
    "several HITs pool their pairs": {"n_degraded": 1, "worker_test": "paired-t", "hits_per_worker": 2},
    "no limit of HITs": {"n_degraded": 1, "worker_test": "paired-t"},
    "unpaired ratings of several HITs": {"n_degraded": 1, "n_ordinary": 3, "worker_test": "unpaired-ranksum"},
    "no worker test": {"n_degraded": 0, "worker_test": "none"},
}


def one_tested_criterion(campaign: Campaign, **design: object) -> None:
    campaign.criteria.exclude(pk=campaign.criteria.all()[0].pk).update(is_in_worker_test=False)
    Campaign.objects.filter(pk=campaign.pk).update(**design)


def hits_step(client: Client, campaign: Campaign) -> Step:
    page = client.get(reverse("campaigns:campaign", args=[campaign.public_id]))
    return next(step for step in page.context["steps"] if step.key == "hits")


@on_both
@pytest.mark.parametrize("design", UNPASSABLE.values(), ids=UNPASSABLE)
def test_a_design_that_no_worker_can_pass_needs_a_confirmation(
    owner_client: Client, ready: Campaign, design: dict[str, object]
) -> None:
    one_tested_criterion(ready, **design)
    step = hits_step(owner_client, ready)
    assert step.state == "error" and "no worker can pass" in step.text
    page = owner_client.get(reverse("campaigns:campaign", args=[ready.public_id]))
    assert 'name="is_confirmed"' in page.text
    assert step.text in html.unescape(owner_client.get(reverse("campaigns:design", args=[ready.public_id])).text)

    refused = post(owner_client, "launch", ready)
    assert refused.status_code == 409 and refused.context["refused"].code == "no_worker_can_pass"
    assert not Campaign.objects.get().is_launched

    assert post(owner_client, "launch", ready, is_confirmed="on").status_code == 302
    assert Campaign.objects.get().is_open


@pytest.mark.parametrize("design", PASSABLE.values(), ids=PASSABLE)
def test_a_design_that_a_worker_can_pass_is_launched_without_one(
    owner_client: Client, ready: Campaign, design: dict[str, object]
) -> None:
    one_tested_criterion(ready, **design)
    assert hits_step(owner_client, ready).state in ("ok", "optional")
    page = owner_client.get(reverse("campaigns:campaign", args=[ready.public_id]))
    assert 'name="is_confirmed"' not in page.text
    assert post(owner_client, "launch", ready).status_code == 302
    assert Campaign.objects.get().is_open


@on_both
def test_of_given_hits_the_items_of_the_file_count_not_the_design(owner_client: Client, ready: Campaign) -> None:
    outputs = list(Output.objects.filter(source__campaign=ready)[:5])
    one_tested_criterion(ready, has_given_hits=True, worker_test="paired-t", hits_per_worker=1)
    for hit in ready.hits.all():
        HitItem.objects.bulk_create(
            HitItem(hit=hit, position=k, kind=Kind.ORDINARY, output=output) for k, output in enumerate(outputs, start=1)
        )
    assert hits_step(owner_client, ready).state == "error"

    HitItem.objects.bulk_create(
        HitItem(hit=hit, position=10 + k, kind=Kind.DEGRADED, output=outputs[k]) for k in range(2)
    )
    assert hits_step(owner_client, ready).state == "ok"


def test_a_degraded_chatbot_has_no_twin_for_a_paired_test(owner: User) -> None:
    live = make_campaign(owner, "dialogue-free")
    assert not passing_of(live, n_hits=100, n_tested=5).problem
    live.worker_test = "paired-wilcoxon"
    assert "no twin" in passing_of(live, n_hits=100, n_tested=5).problem


@on_both
@pytest.mark.parametrize(
    ("verb", "before", "after"),
    [
        ("pause", "running", "paused"),
        ("resume", "paused", "running"),
        ("close", "running", "closed"),
        ("close", "paused", "closed"),
        # a second click
        ("pause", "paused", "paused"),
        ("resume", "running", "running"),
        ("close", "closed", "closed"),
    ],
)
def test_changes_of_status(owner_client: Client, running: Campaign, verb: str, before: str, after: str) -> None:
    Campaign.objects.update(status=before)
    assert post(owner_client, verb, running).status_code == 302
    assert Campaign.objects.get().status == after


@pytest.mark.parametrize(
    ("verb", "before"),
    [
        *(("pause", before) for before in ("draft", "ready", "closed")),
        *(("resume", before) for before in ("draft", "ready", "closed")),
        *(("close", before) for before in ("draft", "ready")),
    ],
)
def test_changes_that_cannot_be(owner_client: Client, ready: Campaign, verb: str, before: str) -> None:
    Campaign.objects.update(status=before)
    response = post(owner_client, verb, ready)
    assert response.status_code == 409
    assert response.context["refused"].code == "wrong_status"
    assert Campaign.objects.get().status == before


def test_closing_keeps_the_first_time(running: Campaign) -> None:
    close_campaign(campaign=running)
    closed_at = Campaign.objects.get().closed_at
    assert closed_at
    close_campaign(campaign=running)
    assert Campaign.objects.get().closed_at == closed_at


# --- Copies


def contents(campaign: Campaign) -> dict[str, object]:
    """Return all that a copy takes over, without ids."""
    outputs = Output.objects.filter(source__campaign=campaign).order_by("source__name", "system__name")
    return {
        "sources": list(campaign.sources.values_list("name", "fields")),
        "systems": list(campaign.systems.values_list("name", "is_human")),
        "outputs": list(outputs.values_list("source__name", "system__name", "text")),
        "criteria": list(campaign.criteria.values_list("order", "name", "statement", "is_negative", "settings")),
        "settings": [
            getattr(campaign, name)
            for name in (
                *("protocol", "screen", "study_name", "contact", "instructions", "consent"),
                *("mix", "alpha", "reward", "workers_per_hit", "platform"),
            )
        ],
    }


@on_both
def test_a_replication_run_has_all_but_seed_hits_and_status(owner_client: Client, running: Campaign) -> None:
    Campaign.objects.update(reward="1.50", alpha=0.01, consent="Do you agree?", study_name="A", contact="a@b.org")
    Source.objects.update(attribute_values={"domain": "news"})
    response = post(owner_client, "duplicate", running, as_replication="1", public_id=uuid4())
    copy = Campaign.objects.get(replicates=running)
    assert all(source.attribute_values == {"domain": "news"} for source in copy.sources.all())
    assert response["Location"] == reverse("campaigns:campaign", args=[copy.public_id])
    running.refresh_from_db()
    assert contents(copy) == contents(running)
    assert (copy.status, copy.launched_at, copy.hits.count()) == ("draft", None, 0)
    assert copy.seed != running.seed
    assert copy.name == "Autumn questions (run 2)"
    assert copy.memberships.get().role == "owner"
    assert len(contents(running)["outputs"]) == 3 * len(SYSTEMS)  # type: ignore[arg-type]


def test_a_changed_version_replicates_nothing(owner_client: Client, ready: Campaign) -> None:
    post(owner_client, "duplicate", ready, as_replication="0", public_id=uuid4())
    copy = Campaign.objects.exclude(pk=ready.pk).get()
    assert copy.replicates is None
    assert copy.name == "Autumn questions (changed)"


def test_what_is_changed_in_a_copy_stays_in_it(owner, ready: Campaign) -> None:
    before = contents(ready)
    copy = duplicate_campaign(campaign=ready, owner=owner, as_replication=True)
    System.objects.filter(campaign=copy).update(is_human=False)
    Output.objects.filter(source__campaign=copy).update(text="other")
    Criterion.objects.filter(campaign=copy).delete()
    Source.objects.filter(campaign=copy).update(fields={})
    assert contents(ready) == before


def test_a_copy_asks_on_the_answers_to_its_own_criteria(owner) -> None:
    campaign = make_campaign(owner, "ssa")
    copy = duplicate_campaign(campaign=campaign, owner=owner, as_replication=False)
    for each in (campaign, copy):
        sensible, specific = each.criteria.all()
        assert (sensible.shown_on, specific.shown_on, specific.shown_values) == (None, sensible, ["1"])


def test_runs_are_numbered_and_names_do_not_grow(owner, ready: Campaign) -> None:
    second = duplicate_campaign(campaign=ready, owner=owner, as_replication=True)
    third = duplicate_campaign(campaign=ready, owner=owner, as_replication=True)
    assert (second.name, third.name) == ("Autumn questions (run 2)", "Autumn questions (run 3)")
    assert duplicate_campaign(campaign=third, owner=owner, as_replication=True).name == "Autumn questions (run 4)"
    assert duplicate_campaign(campaign=third, owner=owner, as_replication=False).name == "Autumn questions (changed)"
    ready.name = "x" * 200
    ready.save()
    assert len(duplicate_campaign(campaign=ready, owner=owner, as_replication=True).name) == 200


@on_both
def test_a_copy_sent_twice_is_made_once(owner_client: Client, ready: Campaign) -> None:
    sent = {"as_replication": "1", "public_id": uuid4()}
    first, second = (post(owner_client, "duplicate", ready, **sent) for _ in range(2))
    assert first["Location"] == second["Location"]
    assert Campaign.objects.count() == 2


def test_a_viewer_may_copy_and_owns_the_copy(colleague, viewer_client: Client, ready: Campaign) -> None:
    post(viewer_client, "duplicate", ready, as_replication="1")
    assert Campaign.objects.get(replicates=ready).memberships.get().user == colleague


def test_a_copy_of_no_kind_is_refused(owner_client: Client, ready: Campaign) -> None:
    response = post(owner_client, "duplicate", ready)
    assert response.status_code == 422
    assert response.context["refused"].code == "bad_copy"


@on_both
def test_hits_that_came_with_the_file_are_copied(owner, running: Campaign) -> None:
    running.has_given_hits, running.workers_per_hit = True, 3
    running.save()
    given = add_items(running)
    copy = duplicate_campaign(campaign=running, owner=owner, as_replication=True)
    assert copy.status == Campaign.Status.READY
    assert items_of(copy) == items_of(running) != []
    assert len(items_of(copy)) == len(given)
    assert set(copy.hits.values_list("n_places_left", flat=True)) == {3}
    assert not HitItem.objects.filter(hit__campaign=copy).exclude(output__source__campaign=copy).exists()


def add_items(campaign: Campaign) -> list[HitItem]:
    outputs = list(Output.objects.filter(source__campaign=campaign))
    return HitItem.objects.bulk_create(
        HitItem(
            hit=hit,
            position=position,
            kind=Kind.REPEAT if position == 3 else Kind.ORDINARY,
            output=outputs[1 if position == 3 else position],
            twin_position=1 if position == 3 else None,
            text=f"{hit.number}/{position}",
        )
        for hit in campaign.hits.all()
        for position in (1, 2, 3)
    )


def items_of(campaign: Campaign) -> list[tuple]:
    names = ("hit__number", "position", "kind", "twin_position", "text", "output__source__name", "output__system__name")
    return list(HitItem.objects.filter(hit__campaign=campaign).order_by("hit__number", "position").values_list(*names))


# --- Deleting


@on_both
def test_delete_takes_everything_of_the_campaign_and_nothing_else(
    owner, owner_client: Client, ready: Campaign, settings, django_capture_on_commit_callbacks
) -> None:
    other = make_campaign(owner, "mrc-fluency")
    add_outputs(other, 2, ["a", "b"])
    add_items(ready)
    upload = Upload(campaign=ready, name="outputs.csv", size=1, uploaded_by=owner)
    upload.file.save("outputs.csv", ContentFile(b"x"))
    path = Path(upload.file.path)
    with django_capture_on_commit_callbacks(execute=True):
        assert post(owner_client, "delete", ready)["Location"] == reverse("campaigns:list")
    assert list(Campaign.objects.all()) == [other]
    assert not path.exists()
    assert not Hit.objects.exists()
    assert (Source.objects.count(), Output.objects.count(), System.objects.count()) == (2, 4, 2)
    assert post(owner_client, "delete", ready).status_code == 404


@pytest.mark.parametrize("status", ["running", "paused"])
def test_a_campaign_that_may_get_ratings_is_neither_deleted_nor_archived(
    owner_client: Client, running: Campaign, status: str
) -> None:
    Campaign.objects.update(status=status)
    response = post(owner_client, "delete", running)
    assert response.status_code == 409
    assert response.context["refused"].code == "not_now"
    assert "Close it first" in response.text
    assert post(owner_client, "archive", running, is_archived="1").status_code == 302
    assert Campaign.objects.get().archived_at is None


# --- Archiving


@on_both
def test_an_archived_campaign_is_listed_only_when_asked_for_and_nothing_is_lost(
    owner_client: Client, viewer_client: Client, ready: Campaign
) -> None:
    def listed(query: str) -> int:
        return len(viewer_client.get(f"/campaigns/{query}").context["rows"])

    assert post(viewer_client, "archive", ready, is_archived="1").status_code == 403
    for _ in range(2):
        answer = post(owner_client, "archive", ready, is_archived="1")
        assert answer["Location"] == reverse("campaigns:list")
    assert (listed(""), listed("?archived=on")) == (0, 1)
    assert "No campaign that is not archived" in viewer_client.get("/campaigns/").text
    with pytest.raises(DomainError) as refusal:
        launch_campaign(campaign=ready)
    assert refusal.value.code == "archived"
    post(owner_client, "archive", ready, is_archived="")
    assert (listed(""), listed("?archived=on")) == (1, 0)
    launch_campaign(campaign=ready)


@on_both
def test_delete_takes_a_constant_number_of_queries(owner, ready: Campaign, django_assert_max_num_queries) -> None:
    add_outputs(ready, 600, SYSTEMS[:3])
    with django_assert_max_num_queries(68):
        delete_campaign(campaign=ready)
