"""Many workers at once: real threads, real transactions, no HIT given to more workers than asked."""

import random
import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from functools import partial

import pytest
from django.db import connection, transaction
from django.test import Client
from django.utils import timezone

from annotation.access.network_clients import remember
from annotation.access.places import PATIENCE, taking_part
from annotation.chat.services import open_conversations
from annotation.models import Assignment, PlaceFreed, Worker
from annotation.services.assignments import (
    expire_leases,
    finish_assignment,
    release_assignment,
    return_assignment,
    start_assignment,
)
from annotation.services.leases import take_place
from annotation.services.ratings import save_page
from campaigns.models import Campaign
from evalsite.accounts.models import User
from evalsite.jobs.models import Job
from evalsite.lib.errors import DomainError
from tests.annotation.chat.chat_campaigns import open_live_campaign
from tests.annotation.open_campaigns import open_campaign, places_left, rate_items, scores_for
from tests.annotation.worker_pages import answers, form_of, welcome_url
from tests.databases import at_once
from tests.services import wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.databases("sqlite", "postgresql")]
State = Assignment.State
N_WORKERS = 12


@pytest.mark.parametrize("is_adaptive", [False, True])
def test_each_place_is_given_out_once(owner: User, is_adaptive: bool) -> None:
    campaign = open_campaign(owner, n_hits=4, workers_per_hit=2, is_adaptive=is_adaptive)

    def start(k: int) -> None:
        with suppress(DomainError):
            start_assignment(campaign=campaign, worker_key=f"worker-{k}")

    at_once(N_WORKERS, start)
    assert places_left(campaign) == [0, 0, 0, 0]
    assert sorted(campaign.assignments.values_list("hit__number", flat=True)) == [1, 1, 2, 2, 3, 3, 4, 4]


def test_one_worker_in_many_tabs_gets_one_hit(owner: User) -> None:
    campaign = open_campaign(owner, n_hits=4)
    at_once(N_WORKERS, lambda _: start_assignment(campaign=campaign, worker_key="ann"))
    assert Assignment.objects.count() == 1


def test_one_item_sent_many_times_is_kept_once(owner: User) -> None:
    assignment = start_assignment(campaign=open_campaign(owner), worker_key="ann")
    scores = scores_for(assignment.campaign)
    at_once(N_WORKERS, lambda _: save_page(assignment_id=assignment.pk, position=1, answers=scores))
    assert assignment.responses.count() == 1


def test_of_many_who_finish_at_once_the_last_ends_the_campaign(owner: User) -> None:
    campaign = open_campaign(owner, n_hits=N_WORKERS)
    done = [rate_items(start_assignment(campaign=campaign, worker_key=f"worker-{k}")) for k in range(N_WORKERS)]
    at_once(N_WORKERS, lambda k: finish_assignment(assignment_id=done[k].pk))
    campaign.refresh_from_db()
    assert campaign.status == campaign.Status.CLOSED
    assert Job.objects.filter(kind="analysis.campaign").count() == 1


def test_a_cap_of_workers_holds_in_a_rush(owner: User) -> None:
    settings = {"access": "open", "max_workers": 3}
    campaign = open_campaign(owner, n_hits=N_WORKERS, platform_settings=settings)

    def start(k: int) -> None:
        with suppress(DomainError):
            start_assignment(campaign=campaign, worker_key=f"worker-{k}")

    at_once(N_WORKERS, start)
    assert Assignment.objects.count() == 3


def _make_late(campaign: Campaign) -> None:
    campaign.assignments.update(leased_until=timezone.now() - timedelta(minutes=1))


def test_a_worker_who_comes_back_late_in_many_tabs_goes_on(owner: User) -> None:
    campaign = open_campaign(owner)
    assignment = start_assignment(campaign=campaign, worker_key="ann")
    _make_late(campaign)
    at_once(N_WORKERS, lambda _: start_assignment(campaign=campaign, worker_key="ann"))
    assert campaign.assignments.get().pk == assignment.pk
    assert places_left(campaign) == [0, 1]


@pytest.mark.parametrize("settings", [{}, {"platform_settings": {"max_workers": 2 * N_WORKERS}}], ids=["", "capped"])
def test_many_who_come_back_late_while_others_come_never_wait_for_each_other_in_a_circle(
    owner: User, settings: dict
) -> None:
    campaign = open_campaign(owner, n_hits=N_WORKERS, **settings)
    late = [start_assignment(campaign=campaign, worker_key=f"late-{k}") for k in range(N_WORKERS)]
    for assignment in late[::3]:
        rate_items(assignment)
    _make_late(campaign)

    def act(k: int) -> None:
        with suppress(DomainError):
            if k % 4 == 0:
                start_assignment(campaign=campaign, worker_key=f"late-{k}")
            elif k % 4 == 1:
                start_assignment(campaign=campaign, worker_key=f"new-{k}")
            elif k % 4 == 2:
                expire_leases()
            elif late[k].n_rated:
                finish_assignment(assignment_id=late[k].pk)
            else:
                rate_items(late[k])

    at_once(N_WORKERS, act)
    check_places(campaign)


def check_places(campaign: Campaign) -> None:
    """Each HIT's free places are those wanted less those held by active or finished workers."""
    for hit in campaign.hits.all():
        held = hit.assignments.filter(state__in=[State.ACTIVE, State.FINISHED]).count()
        assert hit.n_places_left == campaign.workers_per_hit - held >= 0


@pytest.mark.parametrize(
    "settings", [{}, {"hits_per_worker": 2}, {"platform_settings": {"max_workers": 4}}, {"n_hits": 2}]
)
def test_in_a_storm_of_all_requests_none_fails(owner: User, settings: dict) -> None:
    """A few workers in many tabs do everything at once, for any HIT they ever had, while leases end."""
    campaign = open_campaign(owner, **({"n_hits": 6, "workers_per_hit": 2} | settings))
    scores = scores_for(campaign)

    def ask(verb: str, one: Assignment) -> None:
        if verb == "save":
            save_page(assignment_id=one.pk, position=one.position, answers=scores)
        elif verb == "be late":
            Assignment.objects.filter(pk=one.pk).update(leased_until=one.started_at)
        elif verb == "be quiet":
            Assignment.objects.filter(pk=one.pk).update(seen_at=timezone.now() - 2 * PATIENCE)
        elif verb == "expire":
            expire_leases()
        elif verb == "finish":
            finish_assignment(assignment_id=one.pk)
        elif verb == "return":
            return_assignment(assignment_id=one.pk)
        else:
            release_assignment(assignment=one, cause=PlaceFreed.RESEARCHER)

    def act(k: int) -> None:
        rng = random.Random(k)
        for _ in range(10):
            key = f"worker-{rng.randrange(6)}"
            mine = list(campaign.assignments.filter(worker__key=key))
            with suppress(DomainError):
                if not mine or rng.random() < 0.3:
                    start_assignment(campaign=campaign, worker_key=key)
                else:
                    verbs = ["be late", "be quiet", "expire", "finish", "return", "release"] + ["save"] * 5
                    ask(rng.choice(verbs), rng.choice(mine))

    at_once(N_WORKERS, act)
    check_places(campaign)
    assert all(each.responses.count() == each.n_rated for each in campaign.assignments.all())


@pytest.mark.databases("postgresql")  # SQLite lets one write at a time
def test_clients_that_prefer_other_hits_never_wait_for_each_other_in_a_circle(owner: User) -> None:
    campaign = open_campaign(owner, n_hits=2)
    first, second = campaign.hits.all()
    remember("one-client", assignment_id=0, hit_id=second.pk)
    remember("other-client", assignment_id=0, hit_id=first.pk)
    codes = []

    def start(client: str) -> None:
        try:
            start_assignment(campaign=campaign, worker_key=client, client=client)
        except Exception as error:
            codes.append(getattr(error, "code", repr(error)))
        finally:
            connection.close()

    def fill_second() -> None:
        with transaction.atomic():
            campaign.hits.filter(pk=second.pk).update(n_places_left=0)
            is_held.set()
            may_commit.wait(60)
        connection.close()

    is_held, may_commit = threading.Event(), threading.Event()
    clients = [threading.Thread(target=start, args=(client,)) for client in ("one-client", "other-client")]
    others = threading.Thread(target=fill_second)
    with transaction.atomic():
        campaign.hits.filter(pk=first.pk).update(n_places_left=0)
        others.start()
        is_held.wait(60)
        for thread in clients:
            thread.start()
        wait_until(lambda: _n_waiting() == 2, 60, "both wait for a HIT")
    wait_until(lambda: _n_waiting() == 2, 60, "both wait again")
    may_commit.set()
    for thread in (others, *clients):
        thread.join()
    assert codes == ["no_work"] * 2


@pytest.mark.databases("postgresql")  # SQLite lets one write at a time
def test_who_comes_back_to_a_hit_that_fills_up_never_waits_in_a_circle_with_leases_that_end(owner: User) -> None:
    campaign = open_campaign(owner, n_hits=2, workers_per_hit=2)
    first, second = campaign.hits.all()
    begin = partial(Assignment.objects.create, campaign=campaign, n_items=3, leased_until=timezone.now() + PATIENCE)
    ann, bob, cat = (Worker.objects.create(platform=campaign.platform, key=key) for key in ("ann", "bob", "cat"))
    for hit in (second, first):
        begin(worker=ann, hit=hit, state=State.EXPIRED, ended_at=timezone.now())
    for worker, hit in ((bob, first), (cat, second)):
        begin(worker=worker, hit=hit)
        take_place(hit.pk)
    outcomes: dict[str, object] = {}

    def start(who: str, act: Callable[[], object]) -> threading.Thread:
        def run() -> None:
            try:
                outcomes[who] = act()
            except Exception as error:
                outcomes[who] = repr(error)
            finally:
                connection.close()

        thread = threading.Thread(target=run)
        thread.start()
        return thread

    with transaction.atomic():
        take_place(second.pk)
        back = start("ann", lambda: start_assignment(campaign=campaign, worker_key="ann").hit_id)
        wait_until(lambda: _n_waiting() == 1, 60, "one who comes back waits for a HIT")
        leases = start("leases", lambda: expire_leases(now=timezone.now() + 2 * PATIENCE))
        wait_until(lambda: _n_waiting() == 2, 60, "leases that end wait for it, too")
    for thread in (back, leases):
        thread.join()
    # Of two who wait for a HIT either may be first; if the leases are, they have freed a place of it.
    assert (outcomes["leases"], outcomes["ann"] in (first.pk, second.pk)) == (2, True), outcomes
    assert min(places_left(campaign)) >= 0


def _n_waiting() -> int:
    """Return how many transactions wait for a lock."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_clear_snapshot()")  # else one that connects later is not seen in a transaction
        cursor.execute(
            "SELECT count(DISTINCT pid) FROM pg_locks JOIN pg_stat_activity USING (pid)"
            " WHERE NOT granted AND datname = current_database()"
        )
        return cursor.fetchone()[0]


# --- Places that are taken over


def _make_quiet(campaign: Campaign) -> None:
    campaign.assignments.update(seen_at=timezone.now() - 2 * PATIENCE)


def test_raters_who_come_at_once_from_one_address_all_get_a_hit_and_finish(owner: User) -> None:
    """There is a place for each of them, and not one more."""
    campaign = open_campaign(owner, n_hits=N_WORKERS // 3, size=2, workers_per_hit=3)

    def work(_: int) -> None:
        client = Client(REMOTE_ADDR="203.0.113.30")
        page = client.get(welcome_url(campaign))
        begun = client.post(welcome_url(campaign), form_of(page).hidden)
        assert begun.status_code == 303, begun.text
        page = client.get(begun["Location"])
        while form_of(page).sliders:
            page = client.post(begun["Location"], answers(page))
        client.post(f"{begun['Location']}feedback/", {"feedback": ""})

    at_once(N_WORKERS, work)
    assert places_left(campaign) == [0] * (N_WORKERS // 3)
    assert campaign.assignments.filter(state=State.FINISHED).count() == campaign.assignments.count() == N_WORKERS


def test_each_place_in_which_nothing_was_rated_is_taken_over_once(owner: User) -> None:
    campaign = open_campaign(owner, n_hits=N_WORKERS // 2)
    for k in range(N_WORKERS // 2):
        start_assignment(campaign=campaign, worker_key=f"early-{k}")
    _make_quiet(campaign)

    def start(k: int) -> None:
        with suppress(DomainError):
            start_assignment(campaign=campaign, worker_key=f"new-{k}")

    at_once(N_WORKERS, start)
    check_places(campaign)
    held = campaign.assignments.filter(state=State.ACTIVE)
    assert [each.worker.key[:3] for each in held.select_related("worker")] == ["new"] * (N_WORKERS // 2)


def test_who_rates_while_newcomers_come_loses_nothing(owner: User) -> None:
    """All rate their first item at the moment at which as many others look for a place."""
    campaign = open_campaign(owner, n_hits=N_WORKERS // 2)
    early = [start_assignment(campaign=campaign, worker_key=f"early-{k}") for k in range(N_WORKERS // 2)]
    _make_quiet(campaign)
    scores = scores_for(campaign)

    def act(k: int) -> None:
        if k < len(early):
            save_page(assignment_id=early[k].pk, position=1, answers=scores)
            return
        with suppress(DomainError):
            start_assignment(campaign=campaign, worker_key=f"new-{k}")

    at_once(N_WORKERS, act)
    check_places(campaign)
    assert [each.state for each in campaign.assignments.filter(n_rated=1)] == [State.ACTIVE] * len(early)


def test_who_begins_a_chat_while_newcomers_come_loses_nothing(owner: User) -> None:
    campaign = open_live_campaign(owner, n_hits=N_WORKERS // 2)
    early = [start_assignment(campaign=campaign, worker_key=f"early-{k}") for k in range(N_WORKERS // 2)]
    _make_quiet(campaign)

    def act(k: int) -> None:
        if k < len(early):
            open_conversations(assignment_id=early[k].pk, position=1, topic="Tea", opinion="like")
            return
        with suppress(DomainError):
            start_assignment(campaign=campaign, worker_key=f"new-{k}")

    at_once(N_WORKERS, act)
    check_places(campaign)
    begun = campaign.assignments.filter(conversations__isnull=False)
    assert [each.state for each in begun] == [State.ACTIVE] * len(early)


def test_a_cap_of_workers_holds_while_places_are_taken_over(owner: User) -> None:
    campaign = open_campaign(owner, n_hits=N_WORKERS, platform_settings={"access": "open", "max_workers": 3})
    for k in range(3):
        start_assignment(campaign=campaign, worker_key=f"early-{k}")
    _make_quiet(campaign)

    def start(k: int) -> None:
        with suppress(DomainError):
            start_assignment(campaign=campaign, worker_key=f"new-{k}")

    at_once(N_WORKERS, start)
    check_places(campaign)
    assert taking_part(campaign).values("worker").distinct().count() == 3
    assert campaign.assignments.filter(state=State.ACTIVE, worker__key__startswith="new").count() == 3
