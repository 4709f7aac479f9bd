"""The worker pages through HTTP, as a browser without script would use them: no sign-in, no cookie."""

import re
from datetime import timedelta

import pytest
from django.http import QueryDict
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.forms import read_page
from annotation.models import Assignment, Event, Response, Worker
from annotation.pages.questions import AnswerKey
from annotation.services.assignments import expire_leases, finish_assignment, return_assignment
from campaigns.models import Campaign
from campaigns.platforms.mturk.plugin import MTurk
from evalsite.accounts.models import User
from tests.annotation.open_campaigns import open_campaign, rate_items
from tests.annotation.worker_pages import answers, form_of, personal_query, position_in, started, url, welcome_url

pytestmark = pytest.mark.django_db
State = Assignment.State


@pytest.fixture
def browser_client() -> Client:
    """A client that must never be given a cookie, and whose forms have no CSRF token."""
    return Client(enforce_csrf_checks=True)


# --- Arriving


def test_a_whole_hit_from_the_link_to_the_code_without_a_cookie(owner: User, browser_client: Client) -> None:
    campaign = open_campaign(owner, n_hits=1, size=3)
    page = browser_client.get(welcome_url(campaign))
    assert page.status_code == 200
    assert Assignment.objects.count() == Worker.objects.count() == 0, "looking writes nothing"

    begun = browser_client.post(welcome_url(campaign), form_of(page).hidden)
    assert begun.status_code == 303
    address = begun["Location"]
    page = browser_client.get(address)
    for position in (1, 2, 3):
        assert position_in(page) == position
        page = browser_client.post(address, answers(page, 10 * position))
        assert page.status_code == 200
    done = browser_client.post(f"{address}feedback/", {"feedback": "All clear."})
    assert (done.status_code, done["Location"]) == (303, address)

    assignment = Assignment.objects.get()
    assert (assignment.state, assignment.feedback) == (State.FINISHED, "All clear.")
    assert list(Response.objects.order_by("item__position").values_list("score", flat=True)) == [10, 20, 30]
    for _ in range(2):
        assert assignment.completion_code in browser_client.get(address).text
    assert not browser_client.cookies


def test_pressing_the_button_twice_takes_one_hit(owner: User, client: Client) -> None:
    campaign = open_campaign(owner)
    form = form_of(client.get(welcome_url(campaign))).hidden
    first, again = (client.post(welcome_url(campaign), form)["Location"] for _ in range(2))
    assert first == again
    assert Assignment.objects.count() == 1
    assert client.post(welcome_url(campaign))["Location"] != first, "without the field it is somebody new"


def test_a_forged_newcomer_is_nobody_in_particular(owner: User, client: Client) -> None:
    campaign = open_campaign(owner)
    mine = started(campaign, "invited")
    client.post(welcome_url(campaign), {"newcomer": f"{mine.worker.key}/forged"})
    assert Assignment.objects.exclude(pk=mine.pk).get().worker != mine.worker


def test_a_personal_link_leads_back_to_what_was_begun(owner: User, client: Client) -> None:
    campaign = open_campaign(owner, platform_settings={"access": "personal"})
    query = personal_query(campaign, "Ann")
    address = client.post(welcome_url(campaign, query))["Location"]
    client.post(address, answers(client.get(address)))
    assert "item 2 of 3" in client.get(welcome_url(campaign, query)).text
    assert client.post(welcome_url(campaign, query))["Location"] == address

    rate_items(Assignment.objects.get())
    finish_assignment(assignment_id=Assignment.objects.get().pk)
    campaign.status = Campaign.Status.CLOSED
    campaign.save()
    page = client.get(welcome_url(campaign, query))
    assert page.status_code == 410
    assert Assignment.objects.get().completion_code in page.text, "a code can be looked up later"


@pytest.mark.parametrize("query", ["", "rater=Ann&key=forged", "invitation=abc.forged", "invitation=abc"])
def test_a_study_for_invited_raters_lets_nobody_else_in(owner: User, client: Client, query: str) -> None:
    campaign = open_campaign(owner, platform_settings={"access": "personal"})
    assert client.get(welcome_url(campaign, query)).status_code == 404
    assert client.post(welcome_url(campaign, query)).status_code == 404
    assert not Worker.objects.exists()


@pytest.mark.parametrize(("status", "code"), [("draft", 404), ("ready", 404), ("paused", 503), ("closed", 410)])
def test_a_campaign_that_is_not_open_says_so(owner: User, client: Client, status: str, code: int) -> None:
    campaign = open_campaign(owner, status=status)
    assert client.get(welcome_url(campaign)).status_code == code
    assert client.post(welcome_url(campaign)).status_code == code
    assert not Assignment.objects.exists()


def test_the_name_of_a_campaign_is_nobody_elses_business(owner: User, client: Client) -> None:
    campaign = open_campaign(owner, name="Our system against theirs")
    address = client.post(welcome_url(campaign))["Location"]
    for page in (client.get(welcome_url(campaign)), client.get(address), client.get(f"{address}return/")):
        assert campaign.name not in page.text
        assert not any(criterion.name in page.text for criterion in campaign.criteria.all())


def test_every_page_says_which_study_it_is_and_whom_to_ask(owner: User, client: Client) -> None:
    campaign = open_campaign(owner, n_hits=1, study_name="Reading & rating", contact="help@example.org")
    assignment = started(campaign)
    pages = {
        "stop": client.get(welcome_url(campaign)),
        "item": client.get(url("hit", assignment)),
        "return": client.get(url("return", assignment)),
        "refused": client.post(url("hit", assignment), {"position": "1"}),
        "bad link": client.get(welcome_url(campaign, "rater=Ann&key=forged")),
    }
    rate_items(assignment)
    pages |= {"feedback": client.get(url("hit", assignment))}
    finish_assignment(assignment_id=assignment.pk)
    pages |= {"finished": client.get(url("hit", assignment))}
    pages |= {"welcome": client.get(welcome_url(open_campaign(owner, study_name="Reading & rating", contact="Ada")))}
    for name, page in pages.items():
        assert page.text.count("Reading &amp; rating") == 1, name
        assert page.text.count("Questions or problems?") == 1, name
        assert ('href="mailto:help@example.org" target="_blank"' in page.text) == (name != "welcome"), name
    Campaign.objects.filter(pk=campaign.pk).update(contact="https://example.org/new")
    assert 'href="https://example.org/new"' in client.get(url("hit", assignment)).text, "at once"


def test_where_no_study_is_named_no_page_has_room_for_it(owner: User, client: Client) -> None:
    campaign = open_campaign(owner)
    assignment = started(campaign)
    for address in (welcome_url(campaign), url("hit", assignment), url("return", assignment)):
        text = client.get(address).text
        assert "Questions or problems?" not in text
        assert "Study:" not in text
        assert 'class="study' not in text


@pytest.mark.parametrize(
    ("settings", "others"),
    [({"workers_per_hit": 1}, 2), ({"platform_settings": {"max_workers": 1}}, 1)],
    ids=["no work", "enough workers"],
)
def test_a_worker_who_comes_too_late_is_warned_before_and_after(
    owner: User, client: Client, settings: dict, others: int
) -> None:
    campaign = open_campaign(owner, n_hits=2, **settings)
    for k in range(others):
        started(campaign, f"other-{k}")
    assert client.get(welcome_url(campaign)).status_code == 409
    assert client.post(welcome_url(campaign)).status_code == 409


def test_consent_is_asked_and_needed(owner: User, client: Client) -> None:
    campaign = open_campaign(owner, consent="We keep your **ratings**.")
    assert "<strong>ratings</strong>" in client.get(welcome_url(campaign)).text
    refused = client.post(welcome_url(campaign))
    assert refused.status_code == 422
    assert not Assignment.objects.exists()
    assert client.post(welcome_url(campaign), {"consent": "yes"}).status_code == 303


def test_unknown_addresses(owner: User, client: Client) -> None:
    nobody = "00000000-0000-4000-8000-000000000000"
    assert client.get(reverse("rate:welcome", args=[nobody])).status_code == 404
    for name in ("hit", "return", "feedback"):
        assert client.get(reverse(f"rate:{name}", args=["1.forged"])).status_code == 404
        assert client.post(reverse(f"rate:{name}", args=["1.forged"]), {"position": "1"}).status_code == 404
    assert client.get(reverse("rate:image", args=["1.forged", "abc"])).status_code == 404
    assert client.get(reverse("rate:next", args=["1.forged"])).status_code == 405


# --- Rating


def test_an_item_sent_twice_is_kept_once(owner: User, client: Client) -> None:
    address = url("hit", started(open_campaign(owner)))
    sent = answers(client.get(address), 30)
    first, again = client.post(address, sent), client.post(address, sent | {"answer_1": "99"})
    assert position_in(first) == position_in(again) == 2
    assert "already rated" not in first.text
    assert "already rated" in again.text
    assert [rating.score for rating in Response.objects.all()] == [30]


def test_a_stale_tab_is_led_to_what_is_next(owner: User, client: Client) -> None:
    assignment = started(open_campaign(owner))
    stale = answers(client.get(url("hit", assignment)), 1)
    rate_items(assignment, 2)
    page = client.post(url("hit", assignment), stale)
    assert (page.status_code, position_in(page)) == (200, 3)
    assert "already rated" in page.text
    assert Response.objects.filter(score=1).count() == 0


@pytest.mark.parametrize("position", ["2", "3", "99"])
def test_nothing_is_skipped(owner: User, client: Client, position: str) -> None:
    address = url("hit", started(open_campaign(owner)))
    page = client.post(address, answers(client.get(address), position=position))
    assert (page.status_code, position_in(page)) == (409, 1)
    assert not Response.objects.exists()


@pytest.mark.parametrize("score", ["", "101", "-1", "7.5", "x", "٣", "9" * 5000])
def test_a_score_is_a_whole_number_from_0_to_100(owner: User, client: Client, score: str) -> None:
    address = url("hit", started(open_campaign(owner)))
    sent = answers(client.get(address))
    slider = next(name for name in sent if name.startswith("answer_"))
    page = client.post(address, sent | {slider: score})
    assert (page.status_code, position_in(page)) == (422, 1)
    assert not Response.objects.exists()


def test_an_untouched_slider_is_no_rating(owner: User, client: Client) -> None:
    address = url("hit", started(open_campaign(owner)))
    page = client.post(address, form_of(client.get(address)).hidden)
    assert (page.status_code, position_in(page)) == (422, 1)


def test_telemetry_is_kept_if_it_is_sane(owner: User, client: Client) -> None:
    assignment = started(open_campaign(owner))
    page = client.get(url("hit", assignment))
    reported = {
        "shown_ms": "8000",
        "first_touch_ms": "",
        "n_moves": "1e9",
        "n_focus_lost": "999999999",
        "n_pastes": "0",
    }
    client.post(url("hit", assignment), answers(page, **reported, unknown="1"))
    event = Event.objects.get(assignment=assignment, kind=Event.Kind.RATED)
    assert event.data == {"shown_ms": 8000, "n_focus_lost": 10_000, "n_pastes": 0}


def test_a_form_of_rubbish_is_read_as_nothing() -> None:
    sent = read_page(QueryDict("position=x&answer_=5&answer_a=5&answer_7=&answer_8=3&answer_8=4&abstained_9="))
    assert (sent.position, sent.answers, sent.abstained, sent.telemetry) == (0, {AnswerKey(8): ["3", "4"]}, {}, {})
    sent = read_page(QueryDict("answer_8_2=5&answer_8_2_1_1=5&answer_8_x=5&answer__2=5&abstained_8_1=why"))
    assert (sent.answers, sent.abstained) == ({AnswerKey(8, 2): ["5"]}, {AnswerKey(8, 1): "why"})


def test_instructions_and_statements_are_at_hand_but_no_criterion_is_named(owner: User, client: Client) -> None:
    campaign = open_campaign(owner, instructions="Read *slowly*.")
    criterion = campaign.criteria.get()
    page = client.get(url("hit", started(campaign)))
    assert "<em>slowly</em>" in page.text
    assert criterion.statement in page.text
    assert f'data-left="{criterion.settings["left_label"]}"' in page.text
    assert re.search(r'aria-valuetext="[^"0-9]*"', page.text)


# --- Leaving and coming back


def test_returning_is_asked_twice_and_frees_the_hit(owner: User, client: Client) -> None:
    campaign = open_campaign(owner, n_hits=1, reward="0.99")
    assignment = rate_items(started(campaign), 1)
    asked = client.get(url("return", assignment))
    assert asked.status_code == 200
    assert "reward" in asked.text.lower()
    assignment.refresh_from_db()
    assert assignment.state == State.ACTIVE
    assert client.post(url("return", assignment)).status_code == 303
    assert client.get(url("hit", assignment)).status_code == 410
    assert client.post(url("return", assignment)).status_code == 303
    assert Response.objects.count() == 1
    assert campaign.hits.get().n_places_left == 1
    assert client.get(welcome_url(campaign)).status_code == 200


def test_ratings_of_a_returned_hit_are_refused(owner: User, client: Client) -> None:
    assignment = started(open_campaign(owner))
    sent = answers(client.get(url("hit", assignment)))
    return_assignment(assignment_id=assignment.pk)
    assert client.post(url("hit", assignment), sent).status_code == 410
    assert not Response.objects.exists()


def _expire(assignment: Assignment) -> None:
    expire_leases(now=timezone.now() + timedelta(days=1))
    assignment.refresh_from_db()
    assert assignment.state == State.EXPIRED


def test_a_worker_who_was_away_for_long_goes_on_if_the_hit_is_free(owner: User, client: Client) -> None:
    assignment = rate_items(started(open_campaign(owner)), 1)
    _expire(assignment)
    page = client.get(url("hit", assignment))
    assert page.status_code == 409
    assert url("next", assignment) in page.text
    back = client.post(url("next", assignment))
    assert back["Location"] == url("hit", assignment)
    assert position_in(client.get(url("hit", assignment))) == 2


def test_scores_that_come_late_are_kept_and_the_worker_goes_on(owner: User, client: Client) -> None:
    assignment = started(open_campaign(owner))
    sent = answers(client.get(url("hit", assignment)))
    _expire(assignment)
    assert position_in(client.post(url("hit", assignment), sent)) == 2
    assert Response.objects.count() == 1


def test_scores_that_come_too_late_are_kept_and_the_worker_is_given_another_hit(owner: User, client: Client) -> None:
    campaign = open_campaign(owner, n_hits=2)
    assignment = started(campaign)
    sent = answers(client.get(url("hit", assignment)))
    _expire(assignment)
    assert rate_items(started(campaign, "other"), 1).hit == assignment.hit
    page = client.post(url("hit", assignment), sent)
    assert page.status_code == 409
    assert assignment.responses.count() == 1
    campaign.refresh_from_db()
    other = client.post(url("next", assignment))
    assert other.status_code == 303
    assert other["Location"] != url("hit", assignment)


# --- The end


def test_no_code_before_every_item_is_rated(owner: User, client: Client) -> None:
    assignment = rate_items(started(open_campaign(owner)), 2)
    early = client.post(url("feedback", assignment), {"feedback": ""})
    assert early["Location"] == url("hit", assignment)
    assert position_in(client.get(url("feedback", assignment))) == 3
    assignment.refresh_from_db()
    assert assignment.state == State.ACTIVE


def test_another_hit_is_offered_only_while_there_is_one(owner: User, client: Client) -> None:
    campaign = open_campaign(owner, n_hits=2)
    addresses = []
    assignment = started(campaign)
    for more in (True, False):
        rate_items(assignment)
        client.post(url("feedback", assignment), {})
        page = client.get(url("hit", assignment))
        assert (url("next", assignment) in page.text) == more
        addresses.append(url("hit", assignment))
        answer = client.post(url("next", assignment))
        assert answer.status_code == (303 if more else 410)
        if more:
            assignment = Assignment.objects.get(state=State.ACTIVE)
            assert answer["Location"] == url("hit", assignment)
    assert len(set(addresses)) == 2


def test_very_long_feedback_is_cut(owner: User, client: Client) -> None:
    assignment = rate_items(started(open_campaign(owner, n_hits=2)))
    client.post(url("feedback", assignment), {"feedback": "é" * 100_000})
    assignment.refresh_from_db()
    assert len(assignment.feedback) == 10_000


# --- Reloads


def test_where_a_reload_would_send_the_form_again_it_is_answered_with_a_redirect(owner: User, client: Client) -> None:
    assignment = started(open_campaign(owner))
    address = url("hit", assignment)
    sent = answers(client.get(address), redirect="1")
    answer = client.post(address, sent)
    assert (answer.status_code, answer["Location"]) == (303, address)
    assert position_in(client.get(address)) == 2
    again = client.post(address, sent)
    assert (again.status_code, position_in(again)) == (200, 2)
    assert "already rated" in again.text
    assert Response.objects.count() == 1


# --- Words


def test_pages_call_the_work_as_its_platform_does(owner: User, client: Client) -> None:
    for platform, word, other in (("link", "task", "HIT"), ("mturk", "HIT", "task"), ("prolific", "task", "HIT")):
        campaign = open_campaign(owner, n_hits=1, platform=platform)
        assignment = started(campaign)
        pages = {
            "item": client.get(url("hit", assignment)).text,
            "return": client.get(url("return", assignment)).text,
        }
        client.post(url("return", assignment))
        pages |= {"returned": client.get(url("hit", assignment)).text}
        for name, page in pages.items():
            assert f"his {word}" in page, (platform, name)
            assert not re.search(rf"\b{other}\b", re.sub(r"<[^>]*>", "", page)), (platform, name)


def test_a_platforms_own_word_is_explained_where_it_comes_first(owner: User, client: Client) -> None:
    campaign = open_campaign(owner, platform="mturk")
    query = MTurk().arrival_query(campaign.ref, 1) + "&assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE&hitId=H"
    page = client.get(welcome_url(campaign, query)).text
    assert page.index("A HIT (Human Intelligence Task) is") < page.index("Accept the HIT")
    assert "Human Intelligence" not in client.get(welcome_url(open_campaign(owner))).text
