"""Who comes to the worker pages with an address that is not theirs, and what is left to the worker whose it is."""

import re
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.access.tokens import token_of
from annotation.models import Assignment, Worker
from annotation.services.assignments import expire_leases, return_assignment
from campaigns.models import Campaign
from campaigns.platforms import platforms
from crowd.services.account import store_account_data
from evalsite.accounts.models import User
from simulators.prolific import ProlificApi
from tests.annotation.open_campaigns import open_campaign, places_left, rate_items
from tests.crowd.campaigns import SITE, finish
from tests.simulators.prolific_cast import make_api, study_body

pytestmark = pytest.mark.django_db
State = Assignment.State
AMAZON = "https://workersandbox.mturk.com"
NAME = "Secret plan to rate chatbots"
ANN, EVE = "A1EXAMPLEANN", "A2EXAMPLEEVE"
ADA, BOB, STUDY = "a" * 24, "b" * 24, "5" * 24


@pytest.fixture
def browser() -> Client:
    """The caller has neither signed in nor a CSRF token."""
    return Client(enforce_csrf_checks=True)


@pytest.fixture
def mturk(owner: User) -> Campaign:
    return open_campaign(owner, n_hits=3, size=2, platform="mturk", name=NAME)


@pytest.fixture
def prolific(owner: User) -> Campaign:
    return open_campaign(owner, n_hits=3, size=2, platform="prolific", name=NAME)


def place_id(number: int) -> str:
    return f"3EXAMPLEASSIGNMENT{number:010}"


def from_mturk(campaign: Campaign, worker: str = ANN, *, hit: int = 1, place: int = 1, **changes: str) -> str:
    """Return the address with which a worker comes who has accepted a HIT."""
    query = dict(parse_qsl(platforms["mturk"]().arrival_query(campaign.ref, hit)))
    amazons = {"assignmentId": place_id(place), "hitId": "3EXAMPLEHIT00000000000000001", "workerId": worker}
    return _welcome(campaign, query | amazons | {"turkSubmitTo": AMAZON} | changes)


def from_prolific(campaign: Campaign, participant: str = ADA, *, session: str = "1", **changes: str) -> str:
    """Return the address with which a participant comes who has taken a place of the study."""
    query = dict(parse_qsl(platforms["prolific"]().arrival_query(campaign.ref, None)))
    ids = {"PROLIFIC_PID": participant, "STUDY_ID": STUDY, "SESSION_ID": session * 24}
    return _welcome(campaign, query | ids | changes)


def _welcome(campaign: Campaign, query: dict[str, str]) -> str:
    return f"{reverse('rate:welcome', args=[campaign.public_id])}?{urlencode(query)}"


def begin(browser: Client, address: str) -> Assignment:
    """Press the button of the first page; return what is begun, or found again."""
    answer = browser.post(address)
    assert answer.status_code == 303, answer.text
    token = answer["Location"].strip("/").split("/")[-1]
    return Assignment.objects.select_related("campaign", "hit").get(pk=int(re.split(r"[-.]", token)[0]))


def page_of(browser: Client, assignment: Assignment, name: str = "hit") -> HttpResponse:
    assignment.refresh_from_db()
    return browser.get(reverse(f"rate:{name}", args=[token_of(assignment)]))


def keeps_out(browser: Client, address: str) -> HttpResponse:
    """Assert that an address does not work, opened or posted to, and that nothing is stored; return the page."""
    before = _stored()
    looked, sent = browser.get(address), browser.post(address)
    assert (looked.status_code, sent.status_code) == (404, 404)
    assert _stored() == before
    assert NAME not in looked.text + sent.text
    return sent


def _stored() -> tuple[Any, ...]:
    """Return everything that an arrival could change."""
    places = list(Campaign.objects.order_by("pk").values_list("hits__n_places_left", flat=True))
    return list(Assignment.objects.order_by("pk").values()), Worker.objects.count(), places


# --- Mechanical Turk


@pytest.mark.parametrize(
    "forged",
    [
        {"turkSubmitTo": "https://evil.example"},
        {"turkSubmitTo": "https://workersandbox.mturk.com.evil.example"},
        {"turkSubmitTo": ""},
        {"workerId": "' OR 1=1 --"},
        {"workerId": "A1EXAMPLE\0ANN"},
        {"key": "forged"},
    ],
)
def test_a_forged_address_gives_no_hit(browser: Client, mturk: Campaign, forged: dict[str, str]) -> None:
    page = keeps_out(browser, from_mturk(mturk, **forged))
    assert "evil.example" not in page.text + str(page.headers)


def test_the_address_of_another_campaign_gives_no_hit(browser: Client, mturk: Campaign, owner: User) -> None:
    other = open_campaign(owner, platform="mturk")
    keeps_out(browser, from_mturk(mturk).replace(str(mturk.public_id), str(other.public_id)))


def test_a_preview_stores_nothing_and_offers_nothing(browser: Client, mturk: Campaign) -> None:
    address = from_mturk(mturk, assignmentId="ASSIGNMENT_ID_NOT_AVAILABLE")
    for page in (browser.get(address), browser.post(address)):
        assert page.status_code == 200
        assert "<form" not in page.text
        assert NAME not in page.text
    assert _stored()[:2] == ([], 0)


@pytest.mark.parametrize("is_finished", [False, True])
def test_another_workers_place_is_not_taken_over(browser: Client, mturk: Campaign, is_finished: bool) -> None:
    hers = begin(browser, from_mturk(mturk, ANN))
    if is_finished:
        finish(hers)
    before = _stored()[0]
    for hit in (1, 2):
        answer = browser.post(from_mturk(mturk, EVE, hit=hit, place=1))
        assert answer.status_code == 403
        assert "Somebody else" in answer.text
    assert _stored()[0] == before


def test_an_address_that_is_opened_again_takes_no_second_place(browser: Client, mturk: Campaign) -> None:
    assert len({begin(browser, from_mturk(mturk)).pk for _ in range(3)}) == 1
    assert places_left(mturk) == [0, 1, 1]


def test_one_place_of_the_platform_is_not_spent_on_two_hits(browser: Client, mturk: Campaign) -> None:
    done = finish(begin(browser, from_mturk(mturk, hit=1, place=1)))
    answer = browser.post(from_mturk(mturk, hit=2, place=1))
    assert answer.status_code == 409
    assert places_left(mturk) == [0, 1, 1]
    assert place_id(1) in page_of(browser, done).text, "what is finished can be handed in still"


def test_a_token_of_before_the_hit_was_accepted_again_is_worth_nothing(browser: Client, mturk: Campaign) -> None:
    assignment = begin(browser, from_mturk(mturk, place=1))
    page = page_of(browser, assignment)
    old, sent = token_of(assignment), _answers(page)
    return_assignment(assignment_id=assignment.pk)
    begin(browser, from_mturk(mturk, place=2))
    assignment.refresh_from_db()
    before = _stored()
    for name, form in {"hit": sent, "feedback": {"feedback": "x"}, "return": {}, "next": {}}.items():
        answer = browser.post(reverse(f"rate:{name}", args=[old]), form)
        assert answer.status_code == 409, name
        assert "This page was replaced" in answer.text
    assert _stored() == before
    assert page_of(browser, assignment).status_code == 200


def _answers(page: HttpResponse) -> dict[str, str]:
    """Return what a browser sends of an item's page."""
    sliders = re.findall(r'data-name="([^"]+)"', page.text)
    assert sliders
    return {"position": "1", **dict.fromkeys(sliders, "70")}


def test_a_token_is_changed_for_no_other_workers(browser: Client, mturk: Campaign) -> None:
    anns, eves = begin(browser, from_mturk(mturk, ANN)), begin(browser, from_mturk(mturk, EVE, hit=2, place=2))
    (ann, signature), eve = token_of(anns).rsplit(".", 1), token_of(eves).rsplit(".", 1)[0]
    form, before = _answers(page_of(browser, eves)), _stored()
    forged = [f"{eve}.{signature}", ann, f"{ann}.", str(eves.pk), f"{eves.pk}-.{signature}", f"{ann}.{signature[:-1]}"]
    for token in forged:
        address = reverse("rate:hit", args=[token])
        assert (browser.get(address).status_code, browser.post(address, form).status_code) == (404, 404), token
    assert _stored() == before


# --- Prolific


class Secure:
    """A secure study of a campaign: Prolific signs who comes."""

    def __init__(self, campaign: Campaign) -> None:
        self.api: ProlificApi = make_api()
        campaign.platform_settings = {"secure_url": "yes"}
        campaign.save()
        store_account_data(campaign=campaign, data={"jwks": self.api.people.jwks(), "site_url": SITE})
        path = reverse("rate:welcome", args=[campaign.public_id])
        url = f"{SITE}{path}?{platforms['prolific']().arrival_query(campaign.ref, None)}"
        study = self.api.studies.create(
            study_body(external_study_url=url, is_external_study_url_secure=True, internal_name="secure")
        )
        self.api.studies.move(study["id"], "PUBLISH")
        self._study = study["id"]

    def come(self) -> tuple[str, dict[str, str]]:
        """Return the path and the query with which the next participant comes."""
        session = self.api.reserve(self._study, self.api.add_participant())
        parts = urlsplit(self.api.external_url(self._study, session))
        return parts.path, dict(parse_qsl(parts.query))

    def sign(self, token: str, key: Any = None, **changes: Any) -> str:
        claims = jwt.decode(token, options={"verify_signature": False})
        return jwt.encode({**claims, **changes}, key or self.api.people._key(), "RS256", headers={"kid": "simulated"})


def _expired(secure: Secure, query: dict[str, str]) -> dict[str, str]:
    return query | {"prolific_token": secure.sign(query["prolific_token"], exp=int(time.time()) - 3600)}


def _signed_by_another(secure: Secure, query: dict[str, str]) -> dict[str, str]:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    return query | {"prolific_token": secure.sign(query["prolific_token"], key)}


def _replayed(secure: Secure, query: dict[str, str]) -> dict[str, str]:
    """Another participant's token, with one's own ids."""
    return query | {"prolific_token": secure.come()[1]["prolific_token"]}


def _of_somebody_else(secure: Secure, query: dict[str, str]) -> dict[str, str]:
    return query | {"PROLIFIC_PID": ADA}


def _without_token(secure: Secure, query: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in query.items() if name != "prolific_token"}


@pytest.mark.parametrize("forge", [_expired, _signed_by_another, _replayed, _of_somebody_else, _without_token])
def test_an_arrival_that_prolific_has_not_signed_gives_no_hit(
    browser: Client, prolific: Campaign, forge: Callable[[Secure, dict[str, str]], dict[str, str]]
) -> None:
    secure = Secure(prolific)
    path, query = secure.come()
    page = keeps_out(browser, f"{path}?{urlencode(forge(secure, query))}")
    assert query["prolific_token"] not in page.text
    assert begin(browser, f"{path}?{urlencode(query)}").state == State.ACTIVE


def test_another_participants_session_is_not_taken_over(browser: Client, prolific: Campaign) -> None:
    begin(browser, from_prolific(prolific, ADA))
    assert browser.post(from_prolific(prolific, BOB)).status_code == 403
    assert places_left(prolific) == [0, 1, 1]


def test_an_old_session_takes_nothing_from_what_was_finished_with_it(browser: Client, prolific: Campaign) -> None:
    done = finish(begin(browser, from_prolific(prolific, session="1")))
    going_on = begin(browser, from_prolific(prolific, session="2"))
    assert going_on.pk != done.pk
    assert "Submit what you have finished" in browser.get(from_prolific(prolific, session="1")).text
    assert begin(browser, from_prolific(prolific, session="1")).pk == done.pk
    assert "complete?cc=" in page_of(browser, done).text
    going_on.refresh_from_db()
    assert (going_on.state, going_on.platform_id) == (State.ACTIVE, "2" * 24)


# --- What is left to the worker


@pytest.mark.parametrize("status", [Campaign.Status.PAUSED, Campaign.Status.CLOSED])
@pytest.mark.parametrize("come", [from_mturk, from_prolific])
def test_who_has_finished_can_hand_in_whatever_became_of_the_campaign(
    browser: Client, owner: User, status: str, come: Callable[..., str]
) -> None:
    campaign = open_campaign(owner, platform=come.__name__.removeprefix("from_"))
    done = finish(begin(browser, come(campaign)))
    Campaign.objects.update(status=status)
    assert browser.get(come(campaign)).status_code == 200
    assert begin(browser, come(campaign)).pk == done.pk
    assert done.platform_id in page_of(browser, done).text or "complete?cc=" in page_of(browser, done).text


def test_no_code_is_shown_that_prolific_would_not_take(browser: Client, prolific: Campaign) -> None:
    done = finish(begin(browser, from_prolific(prolific)))
    Campaign.objects.update(status=Campaign.Status.PAUSED)
    page = browser.get(from_prolific(prolific, session="2"))
    assert page.status_code == 503
    assert done.completion_code not in page.text


def test_a_lease_that_ends_while_the_last_page_is_open_loses_nothing(browser: Client, mturk: Campaign) -> None:
    assignment = rate_items(begin(browser, from_mturk(mturk)))
    expire_leases(now=timezone.now() + timedelta(days=1))
    sent = browser.post(reverse("rate:feedback", args=[token_of(assignment)]), {"feedback": "All was clear."})
    assert f'value="{place_id(1)}"' in browser.get(sent["Location"]).text
    assignment.refresh_from_db()
    assert (assignment.state, assignment.feedback) == (State.FINISHED, "All was clear.")
    assert places_left(mturk) == [0, 1, 1]


def test_a_participant_whose_hit_was_given_away_goes_on_with_another(browser: Client, prolific: Campaign) -> None:
    first = rate_items(begin(browser, from_prolific(prolific, ADA)), 1)
    expire_leases(now=timezone.now() + timedelta(days=1))
    assert begin(browser, from_prolific(prolific, BOB, session="2")).hit == first.hit
    sent = browser.post(reverse("rate:next", args=[token_of(first)]))
    assert sent.status_code == 303
    assert browser.get(sent["Location"]).status_code == 200
    second = Assignment.objects.get(campaign=prolific, platform_id="1" * 24)
    assert (second.hit.number, second.state, second.worker) == (2, State.ACTIVE, first.worker)
    first.refresh_from_db()
    assert (first.state, first.n_rated, places_left(prolific)) == (State.EXPIRED, 1, [0, 0, 1])


def test_the_first_page_promises_no_hit_that_was_returned(browser: Client, prolific: Campaign) -> None:
    first = begin(browser, from_prolific(prolific))
    return_assignment(assignment_id=first.pk)
    assert "Welcome back" not in browser.get(from_prolific(prolific)).text
    assert begin(browser, from_prolific(prolific)).hit.number == 2


def test_what_is_finished_is_handed_in_while_another_hit_is_begun(browser: Client, mturk: Campaign) -> None:
    done = finish(begin(browser, from_mturk(mturk, hit=1, place=1)))
    going_on = begin(browser, from_mturk(mturk, hit=2, place=2))
    assert begin(browser, from_mturk(mturk, hit=1, place=1)).pk == done.pk
    assert f'value="{place_id(1)}"' in page_of(browser, done).text
    assert begin(browser, from_mturk(mturk, hit=2, place=2)).pk == going_on.pk
    assert browser.post(from_mturk(mturk, hit=3, place=3)).status_code == 409, "one HIT at a time"
