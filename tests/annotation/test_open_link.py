"""An open link: nobody can take all places and rate nothing, and many raters behind one address all work."""

from datetime import UTC, datetime, timedelta

import pytest
import redis
from django.core.cache import caches
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from annotation.access.network_clients import name_client
from annotation.access.places import PATIENCE, UNSTARTED
from annotation.models import Assignment, Event
from annotation.monitoring.lists import get_access
from annotation.queries import get_assignment
from annotation.services.assignments import expire_leases, finish_assignment, start_assignment
from annotation.views import worker as worker_views
from campaigns.models import Campaign
from evalsite.accounts.models import User
from evalsite.lib.errors import DomainError
from evalsite.lib.rate_limits import count_use
from tests.annotation.open_campaigns import open_campaign, places_left, rate_items
from tests.annotation.worker_pages import answers, form_of, personal_query, url, welcome_url
from tests.databases import on_both, on_sqlite
from tests.lib.test_rate_limits import redis_cache
from tests.services import free_port

pytestmark = [pytest.mark.django_db, on_both]
State = Assignment.State
ATTACKER, HONEST, LAB = "192.0.2.66", "198.51.100.7", "203.0.113.30"
N_RATERS = 30
# More than there are places, so that some of an attack are refused.
N_POSTS = 14


def arrive(client: Client, campaign: Campaign, address: str = HONEST) -> HttpResponse:
    """Open the link as somebody new and press the button; return the answer."""
    page = client.get(welcome_url(campaign), REMOTE_ADDR=address)
    return client.post(welcome_url(campaign), form_of(page).hidden, REMOTE_ADDR=address)


def rate_whole_hit(client: Client, at: str, address: str = HONEST) -> HttpResponse:
    """Rate every item at an address and finish; return the last page."""
    page = client.get(at, REMOTE_ADDR=address)
    while form_of(page).sliders:
        page = client.post(at, answers(page), REMOTE_ADDR=address)
    client.post(f"{at}feedback/", {"feedback": ""}, REMOTE_ADDR=address)
    return client.get(at, REMOTE_ADDR=address)


def start(campaign: Campaign, worker: str) -> Assignment:
    campaign.refresh_from_db()
    return start_assignment(campaign=campaign, worker_key=worker)


def waited(*assignments: Assignment, how_long: timedelta = PATIENCE) -> None:
    """Let some time pass in which nothing was seen of these workers."""
    for assignment in assignments:
        Assignment.objects.filter(pk=assignment.pk).update(seen_at=timezone.now() - how_long - timedelta(seconds=1))


def refused(code: str):
    return pytest.raises(DomainError, check=lambda error: error.code == code)


# --- One visitor who takes every place


@pytest.mark.parametrize(
    ("settings", "address"),
    [
        ({"n_hits": 4}, HONEST),
        ({"n_hits": 4}, ATTACKER),
        ({"n_hits": 4, "platform_settings": {"access": "open", "max_workers": 12}}, HONEST),
        ({"n_hits": 1}, HONEST),
    ],
    ids=["own address", "address of the attacker", "capped", "few places"],
)
def test_after_many_posts_that_rate_nothing_an_honest_visitor_gets_a_hit(
    owner: User, client: Client, settings: dict, address: str
) -> None:
    campaign = open_campaign(owner, workers_per_hit=3, **settings)
    for _ in range(N_POSTS):
        client.post(welcome_url(campaign), REMOTE_ADDR=ATTACKER)
    held = Assignment.objects.filter(state=State.ACTIVE)
    n_held = held.count()
    assert places_left(campaign) == [0] * settings["n_hits"]
    begun = arrive(client, campaign, address)
    assert begun.status_code == 303
    done = rate_whole_hit(client, begun["Location"], address)
    assert Assignment.objects.get(state=State.FINISHED).completion_code in done.text
    assert held.count() == n_held - 1


# Those that follow go the same way more often, one request at a time.
@on_sqlite
def test_of_a_single_place_too(owner: User, client: Client) -> None:
    campaign = open_campaign(owner, n_hits=1)
    for _ in range(N_POSTS):
        client.post(welcome_url(campaign), REMOTE_ADDR=ATTACKER)
    assert arrive(client, campaign).status_code == 303


@on_sqlite
def test_every_honest_visitor_gets_a_hit_while_the_attack_goes_on(owner: User, client: Client) -> None:
    campaign = open_campaign(owner, n_hits=6)
    for k in range(6):
        for _ in range(7):
            client.post(welcome_url(campaign), REMOTE_ADDR=ATTACKER)
        begun = arrive(client, campaign, f"198.51.100.{k}")
        assert begun.status_code == 303
        rate_whole_hit(client, begun["Location"])
    campaign.refresh_from_db()
    assert campaign.status == Campaign.Status.CLOSED


@on_sqlite
def test_thirty_raters_behind_one_address_all_work(owner: User, client: Client) -> None:
    """As many as may come: a cap of workers counts each once, and keeps none of them from a second HIT."""
    capped = {"access": "open", "max_workers": N_RATERS}
    campaign = open_campaign(owner, n_hits=20, size=1, workers_per_hit=3, platform_settings=capped)
    begun = [arrive(client, campaign, LAB) for _ in range(N_RATERS)]
    assert [response.status_code for response in begun] == [303] * N_RATERS
    for number, response in enumerate(begun):
        finish(client, response["Location"], is_by_page=number == 0)
        onward = client.post(f"{response['Location']}next/", REMOTE_ADDR=LAB)
        assert onward.status_code == 303
        finish(client, onward["Location"], is_by_page=number == 0)
    campaign.refresh_from_db()
    assert campaign.status == Campaign.Status.CLOSED
    assert Assignment.objects.filter(state=State.FINISHED).count() == 2 * N_RATERS
    assert not Event.objects.filter(kind=Event.Kind.EXPIRED).exists(), "nobody lost a place"


def finish(client: Client, at: str, *, is_by_page: bool) -> None:
    """Rate the HIT at an address and finish it: by its pages, or as these do."""
    if is_by_page:
        assert "code" in rate_whole_hit(client, at, LAB).text
    else:
        assert finish_assignment(assignment_id=rate_items(get_assignment(at.split("/")[-2])).pk).completion_code


# --- Who may be displaced


def test_who_has_just_come_keeps_the_place(owner: User, client: Client) -> None:
    campaign = open_campaign(owner, n_hits=2)
    for address in (HONEST, LAB):
        assert arrive(client, campaign, address).status_code == 303
    assert client.get(welcome_url(campaign), REMOTE_ADDR="198.51.100.9").status_code == 409
    assert arrive(client, campaign, "198.51.100.9").status_code == 409


def test_while_places_are_scarce_the_one_longest_without_a_rating_is_offered(owner: User) -> None:
    campaign = open_campaign(owner, n_hits=3)
    ann, ben, cal = (start(campaign, name) for name in ("ann", "ben", "cal"))
    rate_items(ann, 1)
    waited(ann, ben, cal)
    waited(cal, how_long=2 * PATIENCE)
    assert start(campaign, "dee").hit == cal.hit
    assert start(campaign, "eve").hit == ben.hit
    with refused("no_work"):
        start(campaign, "fay")
    assert places_left(campaign) == [0, 0, 0]
    assert [each.state for each in (ann, ben, cal) if not each.refresh_from_db()] == ["active", "expired", "expired"]
    assert cal.events.get(kind=Event.Kind.EXPIRED).data == {"cause": "displaced"}


def test_while_a_place_is_free_nobody_is_displaced(owner: User) -> None:
    campaign = open_campaign(owner, n_hits=2)
    waited(ann := start(campaign, "ann"))
    assert start(campaign, "ben").hit != ann.hit
    ann.refresh_from_db()
    assert ann.state == State.ACTIVE


def test_who_has_finished_a_hit_waits_longer_for_another_than_a_newcomer(owner: User, client: Client) -> None:
    campaign = open_campaign(owner, n_hits=4)
    begun = arrive(client, campaign)
    for _ in range(3):
        client.post(welcome_url(campaign), REMOTE_ADDR=ATTACKER)
    rate_whole_hit(client, begun["Location"])
    assert client.post(f"{begun['Location']}next/").status_code == 409
    assert arrive(client, campaign).status_code == 303
    waited(*Assignment.objects.filter(state=State.ACTIVE))
    assert client.post(f"{begun['Location']}next/").status_code == 303


def test_an_invited_rater_is_not_displaced(owner: User, client: Client) -> None:
    campaign = open_campaign(owner, n_hits=1)
    query = personal_query(campaign, "Ann")
    begun = client.post(welcome_url(campaign, query), REMOTE_ADDR=LAB)
    waited(Assignment.objects.get())
    assert arrive(client, campaign).status_code == 409
    rate_whole_hit(client, begun["Location"], LAB)
    assert Assignment.objects.get().state == State.FINISHED


def test_a_worker_of_a_platform_is_not_displaced(owner: User) -> None:
    campaign = open_campaign(owner, n_hits=1, platform="mturk")
    waited(start(campaign, "ann"))
    with refused("no_work"):
        start(campaign, "ben")
    assert expire_leases(now=timezone.now() + timedelta(minutes=campaign.lease_minutes - 1)) == 0


def test_who_has_done_all_they_may_displaces_nobody(owner: User) -> None:
    campaign = open_campaign(owner, n_hits=2, hits_per_worker=1)
    finish_assignment(assignment_id=rate_items(start(campaign, "ann")).pk)
    waited(start(campaign, "ben"))
    with refused("enough_hits"):
        start(campaign, "ann")


# --- Who was displaced and comes back


def displaced(client: Client, *, n_hits: int = 1) -> tuple[Campaign, str, str]:
    """Return the campaign and the addresses of one who was displaced, and of one who has the place now."""
    owner = User.objects.create_user("owner@lab.example")
    campaign = open_campaign(owner, n_hits=n_hits)
    first = arrive(client, campaign)["Location"]
    waited(Assignment.objects.get())
    for k in range(n_hits - 1):
        start(campaign, f"other-{k}")
    return campaign, first, arrive(client, campaign, LAB)["Location"]


def test_what_the_displaced_then_rates_is_kept_and_takes_the_place_back(client: Client) -> None:
    campaign, first, second = displaced(client)
    held = client.get(second)
    assert client.get(first).status_code == 409
    ann, ben = Assignment.objects.order_by("pk")
    page = client.post(first, {"position": "1"} | dict.fromkeys(form_of(held).sliders, "40"))
    assert (page.status_code, form_of(page).hidden["position"]) == (200, "2")
    for assignment in (ann, ben):
        assignment.refresh_from_db()
    assert (ann.state, ann.n_rated, ann.responses.count(), ben.state) == (State.ACTIVE, 1, 1, State.EXPIRED)
    assert places_left(campaign) == [0]
    assert "offered to others" in client.get(second).text


def test_who_comes_back_when_somebody_else_has_begun_is_led_to_another_hit(client: Client) -> None:
    campaign, first, second = displaced(client)
    held = client.get(second)
    sent = {"position": "1"} | dict.fromkeys(form_of(held).sliders, "40")
    client.post(second, sent)
    page = client.post(first, sent)
    ann = Assignment.objects.order_by("pk")[0]
    assert (page.status_code, ann.state, ann.responses.count()) == (409, State.EXPIRED, 1), "kept all the same"
    assert client.post(f"{first}next/").status_code == 409, "nothing is left"
    return_place = Assignment.objects.order_by("pk")[1]
    client.post(url("return", return_place))
    assert client.post(f"{first}next/")["Location"] == first
    assert form_of(client.get(first)).hidden["position"] == "2"
    assert places_left(campaign) == [0]


def test_who_comes_back_gets_another_place_in_which_nothing_was_rated(client: Client) -> None:
    campaign, first, _ = displaced(client, n_hits=2)
    waited(other := Assignment.objects.get(worker__key="other-0"))
    onward = client.post(f"{first}next/")
    assert onward.status_code == 303
    assert (
        Assignment.objects.get(state=State.ACTIVE, hit=other.hit).worker_id
        == Assignment.objects.order_by("pk")[0].worker_id
    )
    assert places_left(campaign) == [0, 0]


def test_the_last_item_sent_after_the_place_went_on_earns_the_code_if_nobody_else_has_begun(owner: User) -> None:
    campaign = open_campaign(owner, n_hits=1)
    ann = rate_items(start(campaign, "ann"), 2)
    expire_leases(now=timezone.now() + timedelta(days=1))
    ben = start(campaign, "ben")
    assert finish_assignment(assignment_id=rate_items(ann, 1).pk).completion_code
    ben.refresh_from_db()
    assert ben.state == State.EXPIRED


# --- The first lease


def test_a_place_in_which_nothing_is_rated_is_offered_again_after_some_minutes(owner: User) -> None:
    campaign = open_campaign(owner, n_hits=2)
    ann, ben = start(campaign, "ann"), start(campaign, "ben")
    rate_items(ben, 1)
    assert expire_leases(now=timezone.now() + UNSTARTED - timedelta(minutes=1)) == 0
    assert expire_leases(now=timezone.now() + UNSTARTED + timedelta(minutes=1)) == 1
    assert places_left(campaign) == [1, 0]
    after = rate_items(ann, 1)
    assert (after.state, after.leased_until > timezone.now() + UNSTARTED) == (State.ACTIVE, True)


def test_an_invited_rater_has_the_whole_lease_to_begin(owner: User, client: Client) -> None:
    campaign = open_campaign(owner, n_hits=1, lease_minutes=60)
    client.post(welcome_url(campaign, personal_query(campaign, "Ann")))
    assert expire_leases(now=timezone.now() + timedelta(minutes=59)) == 0


def test_a_lease_that_is_shorter_stays_as_it_is(owner: User) -> None:
    campaign = open_campaign(owner, n_hits=1, lease_minutes=5)
    start(campaign, "ann")
    assert expire_leases(now=timezone.now() + timedelta(minutes=6)) == 1


# --- The cap of workers


def test_who_rates_nothing_does_not_use_up_the_cap(owner: User) -> None:
    campaign = open_campaign(owner, n_hits=4, platform_settings={"access": "open", "max_workers": 2})
    rate_items(start(campaign, "ann"), 1)
    waited(ben := start(campaign, "ben"))
    assert start(campaign, "cal").hit == ben.hit, "there is no room but ben's"
    with refused("enough_workers"):
        start(campaign, "dee")
    with refused("enough_workers"):
        start(campaign, "ben")
    expire_leases(now=timezone.now() + UNSTARTED + timedelta(minutes=1))
    assert start(campaign, "ben").state == State.ACTIVE
    assert get_access(campaign).n_workers == 2


def test_a_full_campaign_gains_no_room_by_displacing_who_takes_part_anyway(owner: User) -> None:
    campaign = open_campaign(owner, n_hits=4, platform_settings={"access": "open", "max_workers": 1})
    finish_assignment(assignment_id=rate_items(start(campaign, "ann")).pk)
    waited(start(campaign, "ann"))
    with refused("enough_workers"):
        start(campaign, "ben")


# --- Clients


def test_a_client_gets_hits_that_it_has_not_had_first(owner: User, client: Client) -> None:
    campaign = open_campaign(owner, n_hits=3, workers_per_hit=2)
    addresses = [LAB, HONEST, LAB, LAB, LAB, LAB]
    assert [arrive(client, campaign, address).status_code for address in addresses] == [303] * 6
    assert [each.hit.number for each in Assignment.objects.order_by("pk")] == [1, 1, 2, 3, 2, 3]


def test_no_address_is_stored(owner: User, client: Client, settings: Settings, redis_url: str) -> None:
    settings.CACHES = redis_cache(redis_url)
    with redis.Redis.from_url(redis_url) as store:
        store.flushdb()
        arrive(client, open_campaign(owner), LAB)
        keys = store.keys()
        assert keys
        assert all(store.ttl(key) > 0 for key in keys), "all of it expires"
        stored = b" ".join([*keys, *(store.get(key) or b"" for key in keys)])
    assert LAB.encode() not in stored
    assert Assignment.objects.get().worker.key.count(LAB) == 0
    caches["rate_limits"].close()


def test_an_address_has_another_name_each_day() -> None:
    monday = datetime(2026, 5, 4, 12, tzinfo=UTC)
    names = [name_client(address, monday + timedelta(hours=h)) for address, h in ((LAB, 0), (LAB, 5), (LAB, 24))]
    assert names[0] == names[1] != names[2]
    assert name_client(HONEST, monday) != names[0]


def test_without_the_cache_everybody_works_and_nobody_is_told_apart(
    owner: User, client: Client, settings: Settings
) -> None:
    settings.CACHES = redis_cache(f"redis://127.0.0.1:{free_port()}/0")
    campaign = open_campaign(owner)
    assert [arrive(client, campaign, LAB).status_code for _ in range(2)] == [303, 303]
    waited(*Assignment.objects.all())
    assert arrive(client, campaign, LAB).status_code == 303


# --- Hundreds of newcomers from one address


def test_hundreds_of_newcomers_in_a_minute_from_one_address_are_limited(owner: User, client: Client) -> None:
    campaign = open_campaign(owner, n_hits=2)
    begun = arrive(client, campaign, ATTACKER)
    rate_items(Assignment.objects.get(), 1)
    n_before = 97  # of the 100, `begun` is one
    for _ in range(n_before):
        count_use(*((limit, ATTACKER) for limit in worker_views._NEWCOMERS), now=timezone.now())
    statuses = [client.post(welcome_url(campaign), REMOTE_ADDR=ATTACKER).status_code for _ in range(6)]
    assert [status == 429 for status in statuses] == [False] * 2 + [True] * 4
    n_assignments = Assignment.objects.count()
    limited = client.post(welcome_url(campaign), REMOTE_ADDR=ATTACKER)
    assert 0 < int(limited["Retry-After"]) <= 60
    assert "Many people have come from your network" in limited.text
    assert Assignment.objects.count() == n_assignments

    page = client.get(begun["Location"], REMOTE_ADDR=ATTACKER)
    assert client.post(begun["Location"], answers(page), REMOTE_ADDR=ATTACKER).status_code == 200, "work goes on"
    assert arrive(client, campaign, HONEST).status_code == 303


def test_personal_links_are_not_limited(owner: User, client: Client) -> None:
    campaign = open_campaign(owner, n_hits=2)
    for limit in worker_views._NEWCOMERS:
        for _ in range(limit.n):
            count_use((limit, LAB), now=timezone.now())
    assert arrive(client, campaign, LAB).status_code == 429
    query = personal_query(campaign, "Ann")
    assert client.post(welcome_url(campaign, query), REMOTE_ADDR=LAB).status_code == 303


def test_newcomers_read_that_a_place_is_for_those_who_begin_and_invited_raters_do_not(
    owner: User, client: Client, owner_client: Client
) -> None:
    campaign = open_campaign(owner, n_hits=2)
    query = personal_query(campaign, "Ann")
    assert "your place may be given to somebody else" in client.get(welcome_url(campaign)).text
    assert (
        "your place may be given to somebody else"
        in owner_client.get(reverse("monitoring:preview", args=[campaign.public_id])).text
    )
    assert "may be given to somebody else" not in client.get(welcome_url(campaign, query)).text
