"""Watching a campaign: progress, assignments, feedback."""

from datetime import timedelta

import numpy as np
import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotation.models import Assignment, Event, PlaceFreed
from annotation.monitoring.lists import describe_assignments, list_assignments
from annotation.monitoring.progress import (
    count_by_hit,
    count_by_system,
    get_totals,
    list_hits,
    seconds_per_item,
    shown_seconds,
)
from annotation.worker_names import hashed_name
from campaigns.models import Campaign
from campaigns.queries import get_campaign_for
from campaigns.templatetags.charts import share_bar
from evalsite.accounts.models import User
from evalsite.lib.words import long_duration
from tests.annotation.cast import build, launch, make_worker, rate, rate_hit
from tests.campaigns.cast import add_member, make_campaign

State = Assignment.State
PAGES = ["progress", "assignments", "feedback", "export", "raters"]


def page_of(campaign: Campaign, name: str, query: str = "") -> str:
    return reverse(f"monitoring:{name}", args=[campaign.public_id]) + query


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(7)


@pytest.fixture
def campaign(owner: User) -> Campaign:
    return launch(make_campaign(owner, name="Questions <of> all kinds"))


@pytest.fixture
def busy(campaign: Campaign, rng: np.random.Generator) -> Campaign:
    """Four HITs of 10 items for one worker each: one finished, one half done, one returned, one expired."""
    hits = build(campaign)
    for hit, state, n_rated in zip(hits, State.values[:4], (5, None, 2, 3), strict=True):
        rate_hit(hit, make_worker(campaign, f"{state}-rater"), rng, state=state, n_rated=n_rated)
    return campaign


# --- Who may


@pytest.mark.parametrize("name", PAGES)
def test_members_see_every_page_and_strangers_none(
    campaign: Campaign, busy, colleague: User, owner_client: Client, colleague_client, stranger_client, name: str
) -> None:
    add_member(campaign, colleague, "viewer")
    assert owner_client.get(page_of(campaign, name)).status_code == 200
    assert colleague_client.get(page_of(campaign, name)).status_code == 200
    assert stranger_client.get(page_of(campaign, name)).status_code == 404


@pytest.mark.parametrize("name", PAGES)
def test_pages_of_a_draft_say_what_to_do(owner: User, owner_client: Client, name: str) -> None:
    draft = make_campaign(owner)
    assert owner_client.get(page_of(draft, name)).status_code == 200


# --- Progress


def test_totals_count_each_state_and_what_is_wanted(busy: Campaign) -> None:
    totals = get_totals(busy, timezone.now())

    assert (totals.n_finished, totals.n_active, totals.n_returned, totals.n_expired) == (1, 1, 1, 1)
    assert (totals.n_hits, totals.n_wanted, totals.n_left, totals.n_workers) == (4, 4, 2, 4)
    assert (totals.n_items_rated, totals.n_items_finished, totals.n_items_wanted) == (15, 10, 40)


def test_systems_count_ordinary_items_of_finished_and_active_assignments(busy: Campaign) -> None:
    counts = {count.name: (count.n_rated, count.n_planned) for count in count_by_system(busy)}

    # The active assignment has rated five of the six ordinary items, which come first and in the order of the systems.
    assert counts == {
        "human": (2, 4),
        **{f"system-{letter}": (2, 4) for letter in "abcd"[:4]},
        "system-e": (1, 4),
    }


def test_each_hit_tells_places_and_last_activity(busy: Campaign) -> None:
    counts = count_by_hit(list(list_hits(busy)))

    assert [(each.n_wanted, each.n_finished, each.n_active, each.n_left) for each in counts] == [
        (1, 0, 1, 0),
        (1, 1, 0, 0),
        (1, 0, 0, 1),
        (1, 0, 0, 1),
    ]
    assert all(each.last_seen_at for each in counts)


def test_the_page_tells_how_far_the_campaign_is(owner_client: Client, busy: Campaign) -> None:
    page = owner_client.get(page_of(busy, "progress"))

    assert page.context["progress"].totals.n_finished == 1
    assert [count.name for count in page.context["progress"].systems][:2] == ["human", "system-a"]
    assert len(page.context["hits"]) == 4
    assert "Questions &lt;of&gt; all kinds" in page.text
    assert "data-refresh" in page.text


def test_a_closed_campaign_is_not_asked_for_again(owner_client: Client, campaign: Campaign, rng) -> None:
    rate(campaign, 2, rng)
    launch(campaign, Campaign.Status.CLOSED)
    assert 'id="progress" data-refresh' not in owner_client.get(page_of(campaign, "progress")).text


def test_the_rest_takes_as_long_as_the_rate_of_the_last_day_says(campaign: Campaign, rng) -> None:
    now = timezone.now()
    hits = build(campaign)
    for k, hit in enumerate(hits[:2]):
        rate_hit(hit, make_worker(campaign, f"w{k}"), rng, started_at=now - timedelta(hours=10))

    totals = get_totals(campaign, now)

    assert not totals.was_quiet
    assert totals.time_left == timedelta(hours=10)  # two HITs in ten hours, two left


def test_a_quiet_day_is_said(owner_client: Client, campaign: Campaign, rng) -> None:
    rate_hit(build(campaign)[0], make_worker(campaign, "w"), rng, started_at=timezone.now() - timedelta(days=3))

    totals = get_totals(campaign, timezone.now())

    assert totals.was_quiet
    assert totals.time_left is None
    assert "last 24 hours" in owner_client.get(page_of(campaign, "progress")).text


def test_no_estimate_without_workers_or_after_the_end(owner_client: Client, campaign: Campaign, rng) -> None:
    build(campaign)
    assert owner_client.get(page_of(campaign, "progress")).text.count("last 24 hours") == 0
    rate(campaign, 2, rng)
    assert owner_client.get(page_of(campaign, "progress")).text.count("last 24 hours") == 0


def test_seconds_come_from_what_the_browser_reported(campaign: Campaign, rng) -> None:
    [assignment, *_] = rate(campaign, 1, rng)
    reported = [event.data["shown_ms"] / 1000 for event in assignment.events.filter(kind="rated")]
    assert set(reported) <= set(seconds_per_item(campaign))


@pytest.mark.parametrize(
    "reported", [None, {}, [], {"shown_ms": None}, {"shown_ms": "3"}, {"shown_ms": -1}, {"shown_ms": True}]
)
def test_what_cannot_be_a_time_is_none(reported: object) -> None:
    assert shown_seconds(reported) is None


def test_the_queries_of_every_page_do_not_grow(owner: User, owner_client: Client, rng) -> None:
    few, many = launch(make_campaign(owner)), launch(make_campaign(owner))
    build(few, n_hits=2)
    build(many, n_hits=40)
    rate(few, 2, rng)
    rate(many, 20, rng)
    for name in ["progress", "assignments", "feedback", "export"]:
        with CaptureQueriesContext(
            connection,
        ) as of_few:
            owner_client.get(page_of(few, name))
        with CaptureQueriesContext(connection) as of_many:
            owner_client.get(page_of(many, name))
        assert len(of_few) == len(of_many) <= {"progress": 14}.get(name, 9), name


@pytest.mark.parametrize(
    ("duration", "words"),
    [
        (timedelta(seconds=5), "1 minute"),
        (timedelta(minutes=90), "90 minutes"),
        (timedelta(hours=7), "7 hours"),
        (timedelta(days=12), "12 days"),
    ],
)
def test_durations_in_words(duration: timedelta, words: str) -> None:
    assert long_duration(duration) == words


def test_bars_never_leave_their_ground() -> None:
    assert share_bar(0, 0, 0)["parts"] == [{"x": 0.0, "width": 0.0}] * 2
    assert share_bar(4, 3, 2)["parts"] == [{"x": 0.0, "width": 75.0}, {"x": 75.0, "width": 25.0}]


# --- Assignments


def listed(client: Client, campaign: Campaign, query: str = "") -> list[str]:
    page = client.get(page_of(campaign, "assignments", query))
    return [row.assignment.worker.name for row in page.context["rows"]]


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("", ["expired-rater", "returned-rater", "finished-rater", "active-rater"]),
        ("?state=active", ["active-rater"]),
        ("?worker=FINISHED", ["finished-rater"]),
        ("?hit=3", ["returned-rater"]),
        ("?state=active&hit=3", []),
        ("?code=code 002", []),
    ],
)
def test_assignments_are_filtered(owner_client: Client, busy: Campaign, query: str, names: list[str]) -> None:
    assert listed(owner_client, busy, query) == names


def test_an_assignment_is_found_by_the_code_that_a_rater_mailed(owner_client: Client, busy: Campaign) -> None:
    code = busy.assignments.get(state=State.FINISHED).completion_code
    assert listed(owner_client, busy, f"?code=%20{code.lower()}.") == ["finished-rater"]


def test_the_id_of_the_campaign_in_a_key_is_not_a_name(owner_client: Client, busy: Campaign) -> None:
    assert listed(owner_client, busy, f"?worker={str(busy.public_id)[:8]}") == []


@pytest.mark.parametrize("query", ["?state=asleep", "?hit=x", "?hit=99999999999999999999", "?code=" + "x" * 50])
def test_a_filter_that_cannot_be_is_refused(owner_client: Client, busy: Campaign, query: str) -> None:
    page = owner_client.get(page_of(busy, "assignments", query))
    assert page.status_code == 422
    assert page.context["form"].errors


def test_assignments_of_another_campaign_are_not_listed(owner: User, owner_client: Client, busy: Campaign) -> None:
    assert listed(owner_client, make_campaign(owner)) == []


# --- Freeing a place


def test_an_assignment_that_came_back_is_described_by_its_last_end(owner: User, busy: Campaign) -> None:
    expired = busy.assignments.get(state=State.EXPIRED)
    for cause in (PlaceFreed.DISPLACED, PlaceFreed.LEASE_ENDED):
        Event.objects.create(assignment=expired, kind=Event.Kind.EXPIRED, data={"cause": cause})
    seen = get_campaign_for(owner, busy.public_id)
    with CaptureQueriesContext(connection) as queries:
        rows = describe_assignments(seen, list_assignments(busy))
    assert [row.cause for row in rows if row.assignment == expired] == ["lease ended"]
    assert {row.cause for row in rows if row.assignment != expired} == {""}
    assert len(queries) == 2


def release_of(campaign: Campaign, assignment: Assignment) -> str:
    return reverse("monitoring:release", args=[campaign.public_id, assignment.pk])


def test_an_editor_frees_the_place_of_an_active_assignment(
    busy: Campaign, colleague: User, colleague_client: Client
) -> None:
    add_member(busy, colleague, "editor")
    active = busy.assignments.get(state=State.ACTIVE)

    response = colleague_client.post(release_of(busy, active))

    assert response.status_code == 302
    active.refresh_from_db()
    assert (active.state, active.n_rated, active.responses.count() > 0) == (State.EXPIRED, 5, True)
    assert active.hit.n_places_left == 1
    assert "freed by a researcher" in colleague_client.get(page_of(busy, "assignments")).text
    again = colleague_client.post(release_of(busy, active), follow=True)
    assert [message.level_tag for message in again.context["messages"]][-1] == "error"
    active.hit.refresh_from_db()
    assert active.hit.n_places_left == 1


def test_a_viewer_frees_nothing(busy: Campaign, colleague: User, colleague_client: Client) -> None:
    add_member(busy, colleague, "viewer")
    active = busy.assignments.get(state=State.ACTIVE)

    assert colleague_client.post(release_of(busy, active)).status_code == 403
    assert "release/" not in colleague_client.get(page_of(busy, "assignments")).text
    active.refresh_from_db()
    assert active.state == State.ACTIVE


# --- Feedback


def test_feedback_is_listed_newest_first_and_searched(owner_client: Client, campaign: Campaign, rng) -> None:
    first, second, third, _ = rate(campaign, 2, rng)
    now = timezone.now()
    for k, (assignment, text) in enumerate([(first, "Too <b>long</b>"), (second, "Quite nice"), (third, "")]):
        assignment.feedback, assignment.ended_at = text, now + timedelta(minutes=k)
        assignment.save()
    campaign.assignments.exclude(pk__in=[first.pk, second.pk]).update(feedback="")

    page = owner_client.get(page_of(campaign, "feedback"))

    assert [each.feedback for each in page.context["page_obj"]] == ["Quite nice", "Too <b>long</b>"]
    assert "Too &lt;b&gt;long" in page.text
    found = owner_client.get(page_of(campaign, "feedback", "?search=NICE")).context["page_obj"]
    assert [each.feedback for each in found] == ["Quite nice"]


def test_viewers_see_hashes_of_workers_as_in_exports(
    busy: Campaign, colleague: User, owner_client: Client, colleague_client: Client
) -> None:
    add_member(busy, colleague, "viewer")
    busy.assignments.update(feedback="Quite nice")
    worker = make_worker(busy, "finished-rater")

    for name in ("assignments", "feedback"):
        assert "finished-rater" in owner_client.get(page_of(busy, name)).text
        page = colleague_client.get(page_of(busy, name))
        assert hashed_name(worker) in page.text
        assert "-rater" not in page.text
    # Nor can a name be guessed by looking for it.
    found = colleague_client.get(page_of(busy, "assignments", "?worker=nobody")).context["rows"]
    assert len(found) == 4
