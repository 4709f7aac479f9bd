"""The page of a campaign's HIT design, and HITs as researchers see them."""

import html
import re
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from campaigns.design.composition import Kind
from campaigns.models import Campaign, HitItem
from campaigns.services.deletion import delete_campaign
from campaigns.services.hits import build_hits, execute_build
from evalsite.accounts.models import User
from evalsite.jobs.handlers import JobContext, get_handler
from evalsite.jobs.models import Job
from tests.campaigns.cast import add_member, add_outputs, make_campaign

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign(owner: User) -> Campaign:
    """A draft of a QG campaign with 150 outputs of 15 systems."""
    campaign = make_campaign(owner, "qg")
    add_outputs(campaign, n_sources=10)
    return campaign


def url(campaign: Campaign, name: str = "design", *args: Any) -> str:
    return reverse(f"campaigns:{name}", args=[campaign.public_id, *args])


def build(campaign: Campaign) -> None:
    execute_build(campaign=campaign, on_progress=lambda *_: None, saving=transaction.atomic)
    campaign.refresh_from_db()


def launch(campaign: Campaign) -> None:
    campaign.status, campaign.launched_at = Campaign.Status.RUNNING, timezone.now()
    campaign.save()


def autosave(client: Client, campaign: Campaign, **fields: Any) -> Any:
    return client.post(url(campaign), fields, headers={"X-Autosave": "1"})


# --- Looking


def test_the_page_shows_the_design_a_hit_and_what_it_comes_to(owner_client: Client, campaign: Campaign) -> None:
    page = owner_client.get(url(campaign))

    assert page.status_code == 200
    assert page.context["estimate"].n_hits == 20  # 14 systems beside the human one need two HITs of 10
    kinds = [cell.kind.name for cell in page.context["cells"]]
    assert (kinds.count("ORDINARY"), kinds.count("DEGRADED"), kinds.count("REPEAT")) == (11, 6, 3)
    assert "The studies aim at 385 ratings per system or more" in page.text
    assert url(campaign, "build") in page.content.decode()


def test_the_drawing_says_in_words_what_its_colours_say(owner_client: Client, campaign: Campaign) -> None:
    html = owner_client.get(url(campaign)).content.decode()

    assert len(re.findall(r"\d+: degraded, twin of \d+", html)) == 2 * 6  # hidden text and title
    assert "style=" not in html.partition("<main")[2].partition("</main>")[0]


def test_a_campaign_without_outputs_asks_for_some(owner_client: Client, owner: User) -> None:
    campaign = make_campaign(owner, "mrc-adequacy")
    page = owner_client.get(url(campaign))

    assert page.context["problem"].code == "no_outputs"
    assert url(campaign, "build") not in page.content.decode()
    assert len(page.context["cells"]) == 100


def test_a_design_that_cannot_be_built_is_explained(owner_client: Client, campaign: Campaign) -> None:
    campaign.systems.update(is_human=False)
    page = owner_client.get(url(campaign))

    assert page.context["problem"].code == "no_anchor"
    assert url(campaign, "build") not in page.content.decode()


def test_a_viewer_sees_and_does_not_change(colleague_client: Client, colleague: User, campaign: Campaign) -> None:
    add_member(campaign, colleague, "viewer")
    build(campaign)

    html = colleague_client.get(url(campaign)).content.decode()
    assert url(campaign, "build") not in html and "data-autosave" not in html
    assert colleague_client.get(url(campaign, "hit", 1)).status_code == 200
    for name in ("design", "build", "design_preset", "design_seed", "design_no_test", "own_hits"):
        assert colleague_client.post(url(campaign, name), {"n_hits": "1"}).status_code == 403


def test_an_editor_changes(colleague_client: Client, colleague: User, campaign: Campaign) -> None:
    add_member(campaign, colleague, "editor")

    assert colleague_client.post(url(campaign), {"workers_per_hit": "3"}).status_code == 302
    campaign.refresh_from_db()
    assert campaign.workers_per_hit == 3


def test_queries_do_not_grow_with_the_campaign(owner_client: Client, owner: User, django_assert_num_queries) -> None:
    for n_sources in (2, 30):
        campaign = make_campaign(owner, "qg")
        add_outputs(campaign, n_sources=n_sources)
        build(campaign)
        with django_assert_num_queries(
            10
        ):  # session, user, campaign; HITs, systems, sources, outputs; criteria, some outputs
            owner_client.get(url(campaign))
        with django_assert_num_queries(5):  # session, user, campaign; items, HITs
            owner_client.get(url(campaign, "hit", 1))


# --- Changing


def test_the_whole_form_is_saved_by_its_button(owner_client: Client, campaign: Campaign) -> None:
    fields = {
        "n_ordinary": "12",
        "n_degraded": "4",
        "n_repeat": "2",
        "n_reference": "0",
        "layout": "by-source",
        "has_anchor": "false",
        "leftover": "drop",
        "n_hits": "8",
        "workers_per_hit": "2",
        "hits_per_worker": "5",
        "seed": "77",
    }
    answer = owner_client.post(url(campaign), fields)

    assert answer.status_code == 302 and answer.url == url(campaign)
    campaign.refresh_from_db()
    assert (campaign.mix.size, campaign.has_anchor, campaign.leftover) == (18, False, "drop")
    assert (campaign.n_hits, campaign.workers_per_hit, campaign.hits_per_worker, campaign.seed) == (8, 2, 5, 77)


def test_a_field_alone_changes_nothing_else(owner_client: Client, campaign: Campaign) -> None:
    before = Campaign.objects.values().get(pk=campaign.pk)
    answer = autosave(owner_client, campaign, n_repeat="2")

    assert answer.json()["saved"] and not answer.json()["errors"]
    assert "#estimate" in answer.json()["reload"].split(",")
    assert Campaign.objects.values().get(pk=campaign.pk) == before | {"n_repeat": 2}


def test_an_emptied_number_of_hits_means_each_output_once(owner_client: Client, campaign: Campaign) -> None:
    autosave(owner_client, campaign, n_hits="3")
    autosave(owner_client, campaign, n_hits="")

    campaign.refresh_from_db()
    assert campaign.n_hits is None


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("n_ordinary", "0"),
        ("n_ordinary", "many"),
        ("n_degraded", "-1"),
        ("n_repeat", "100000"),
        ("layout", "by-system"),
        ("leftover", "burn"),
        ("n_hits", "0"),
        ("workers_per_hit", ""),
        ("workers_per_hit", "0"),
        ("seed", "-1"),
    ],
)
def test_a_bad_value_is_refused_at_its_field(owner_client: Client, campaign: Campaign, field: str, value: str) -> None:
    before = Campaign.objects.values().get(pk=campaign.pk)
    answer = autosave(owner_client, campaign, **{field: value})

    assert answer.status_code == 422
    assert answer.json()["saved"] is False and list(answer.json()["errors"]) == [field]
    page = owner_client.post(url(campaign), {field: value})
    assert page.status_code == 422 and page.context["form"].errors.keys() == {field}
    assert Campaign.objects.values().get(pk=campaign.pk) == before


def test_a_mix_that_is_on_its_way_is_kept_and_explained(owner_client: Client, owner: User) -> None:
    campaign = make_campaign(owner, "mrc-adequacy")
    add_outputs(campaign, n_sources=10)

    assert autosave(owner_client, campaign, n_ordinary="11").json()["saved"]
    page = owner_client.get(url(campaign))
    assert page.context["problem"].code == "too_many_twins"
    assert "30" in page.context["problem"].message and "11" in page.context["problem"].message
    assert page.context["cells"] == []

    for field in ("n_degraded", "n_repeat", "n_reference"):
        autosave(owner_client, campaign, **{field: "3"})
    assert "problem" not in owner_client.get(url(campaign)).context


def test_another_composition_makes_the_hits_out_of_date(owner_client: Client, campaign: Campaign) -> None:
    build(campaign)
    autosave(owner_client, campaign, n_degraded="5")

    campaign.refresh_from_db()
    assert campaign.status == Campaign.Status.DRAFT
    assert owner_client.get(url(campaign)).context["is_stale"]


def test_the_value_that_it_has_already_changes_nothing(owner_client: Client, campaign: Campaign) -> None:
    build(campaign)
    autosave(owner_client, campaign, n_degraded="6", layout="by-source", has_anchor="true", n_hits="")

    campaign.refresh_from_db()
    assert campaign.status == Campaign.Status.READY


def test_more_workers_open_places_in_the_hits_that_are_there(owner_client: Client, campaign: Campaign) -> None:
    build(campaign)
    autosave(owner_client, campaign, workers_per_hit="3", hits_per_worker="2")

    campaign.refresh_from_db()
    assert campaign.status == Campaign.Status.READY
    assert set(campaign.hits.values_list("n_places_left", flat=True)) == {3}


def test_the_preset_and_a_new_seed_are_a_button_each(owner_client: Client, campaign: Campaign) -> None:
    autosave(owner_client, campaign, n_ordinary="15", layout="pooled", has_anchor="false")
    assert owner_client.get(url(campaign)).context["preset"]
    seed = campaign.seed
    owner_client.post(url(campaign, "design_preset"))
    owner_client.post(url(campaign, "design_seed"))

    campaign.refresh_from_db()
    assert (campaign.n_ordinary, campaign.layout, campaign.has_anchor) == (11, "by-source", True)
    assert campaign.seed != seed
    assert owner_client.get(url(campaign)).context["preset"] is None


def test_all_is_frozen_after_the_launch(owner_client: Client, campaign: Campaign) -> None:
    build(campaign)
    launch(campaign)
    before = Campaign.objects.values().get(pk=campaign.pk)

    page = owner_client.get(url(campaign))
    assert page.context["form"].fields["n_ordinary"].widget.attrs["disabled"]
    assert url(campaign, "build") not in page.content.decode()
    for name in ("build", "design_preset", "design_seed", "design_no_test", "own_hits"):
        page = owner_client.post(url(campaign, name))
        assert page.status_code == 422 and page.context["refused"].code == "frozen"
    assert autosave(owner_client, campaign, workers_per_hit="9").status_code == 422
    assert Campaign.objects.values().get(pk=campaign.pk) == before


# --- Building


def test_the_button_queues_a_build_and_the_page_shows_how_it_goes(owner_client: Client, campaign: Campaign) -> None:
    answer = owner_client.post(url(campaign, "build"))

    assert answer.status_code == 302 and answer.url == url(campaign)
    job = Job.objects.get(kind="campaigns.build_hits")
    assert job.args == {"campaign": campaign.pk}
    page = owner_client.get(url(campaign))
    assert page.context["progress"]["status"] == "queued"
    assert url(campaign, "build") not in page.content.decode()


def test_every_member_may_follow_a_build(
    colleague_client: Client, stranger_client: Client, colleague: User, owner: User, campaign: Campaign
) -> None:
    add_member(campaign, colleague, "viewer")
    job = build_hits(campaign=campaign, user=owner)

    page = colleague_client.get(url(campaign))
    followed = page.context["progress"]["url"]
    assert followed in page.text
    assert colleague_client.get(followed).json()["status"] == "queued"
    assert stranger_client.get(followed).status_code == 404
    assert colleague_client.post(followed).status_code == 405
    other = make_campaign(colleague)
    assert colleague_client.get(reverse("campaigns:job", args=[other.public_id, job.pk])).status_code == 404


def test_a_campaign_that_is_deleted_while_its_hits_are_built_is_no_failure(owner: User, campaign: Campaign) -> None:
    job = build_hits(campaign=campaign, user=owner)

    class Deleting(JobContext):
        def progress(self, done: int, total: int, stage: str = "") -> None:
            if stage == "Degrading texts" and Campaign.objects.exists():
                delete_campaign(campaign=campaign)

    get_handler(job.kind)(Deleting(), **job.args)
    assert not Campaign.objects.exists()


def test_a_build_that_cannot_be_is_refused_on_the_page(owner_client: Client, campaign: Campaign) -> None:
    campaign.systems.update(is_human=False)
    page = owner_client.post(url(campaign, "build"))

    assert page.status_code == 422 and page.context["refused"].code == "no_anchor"
    assert not Job.objects.exists()


def test_a_build_that_failed_says_why_until_the_design_changes(owner_client: Client, campaign: Campaign) -> None:
    job = build_hits(campaign=campaign, user=campaign.memberships.get().user)
    Job.objects.filter(pk=job.pk).update(
        status=Job.Status.FAILED, finished_at=timezone.now(), error_code="no_donor", error_message="No other words."
    )
    assert "No other words." in owner_client.get(url(campaign)).content.decode()
    autosave(owner_client, campaign, n_degraded="5")

    assert "No other words." not in owner_client.get(url(campaign)).content.decode()


# --- HITs that came with a file


def test_given_hits_are_counted_and_given_up_by_a_button(owner_client: Client, campaign: Campaign) -> None:
    build(campaign)
    Campaign.objects.filter(pk=campaign.pk).update(has_given_hits=True)

    page = owner_client.get(url(campaign))
    assert set(page.context["form"].fields) == {"workers_per_hit", "hits_per_worker"}
    assert url(campaign, "build") not in page.content.decode()
    assert len(page.context["cells"]) == 20
    assert owner_client.post(url(campaign, "build")).context["refused"].code == "given_hits"
    autosave(owner_client, campaign, workers_per_hit="2")
    assert set(campaign.hits.values_list("n_places_left", flat=True)) == {2}

    assert owner_client.post(url(campaign, "own_hits")).status_code == 302
    campaign.refresh_from_db()
    assert (campaign.has_given_hits, campaign.status) == (False, Campaign.Status.DRAFT)


# --- One HIT


def row_of(page: Any, item: HitItem) -> str:
    """Return the row of an item in the table of its HIT."""
    return page.text.partition(f'<tr id="item-{item.position}">')[2].partition("</tr>")[0]


def text_in(row: str) -> str:
    """Return an item's text in its row, as HTML."""
    return row.partition('class="hit-text"><bdi>')[2].partition("</bdi>")[0]


def test_a_hit_is_shown_with_kinds_systems_and_twins(owner_client: Client, campaign: Campaign) -> None:
    build(campaign)
    page = owner_client.get(url(campaign, "hit", 2))

    items = HitItem.objects.filter(hit__campaign=campaign, hit__number=2).select_related("output__system")
    for item in items:
        row = row_of(page, item)
        kind = Kind(item.kind).name.lower()
        assert f'hit-{kind}">{kind}<' in row and item.output.system.name in row
        assert (f"twin of {item.twin_position}<" in row) == bool(item.twin_position)
        assert html.unescape(re.sub("</?mark>", "", text_in(row))) == item.text
    assert (page.context["previous"], page.context["next"]) == (1, 3)


def test_the_words_of_another_text_are_marked(owner_client: Client, campaign: Campaign) -> None:
    build(campaign)
    page = owner_client.get(url(campaign, "hit", 1))

    items = page.context["items"]
    for item in items:
        before, _, rest = text_in(row_of(page, item)).partition("<mark>")
        other, _, after = rest.partition("</mark>")
        assert bool(other) == (item.kind == Kind.DEGRADED)
        if other:
            twin = items[item.twin_position - 1].text
            assert twin.startswith(html.unescape(before)) and twin.endswith(html.unescape(after))
            assert 1 <= len(other.split()) <= 5


def test_there_is_no_hit_before_they_are_built_or_after_the_last(owner_client: Client, campaign: Campaign) -> None:
    assert owner_client.get(url(campaign, "hit", 1)).status_code == 404
    build(campaign)

    assert owner_client.get(url(campaign, "hit", 20)).context["next"] is None
    assert owner_client.get(url(campaign, "hit", 21)).status_code == 404
