"""What is kept of a worker's consent: which text, and when they agreed; with every HIT that they are given."""

import csv
import hashlib
import io
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qsl, urlencode

import pytest
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.access.tokens import token_of
from annotation.models import Assignment, PlaceFreed
from annotation.services.assignments import (
    expire_leases,
    finish_assignment,
    release_assignment,
    return_assignment,
    start_assignment,
)
from campaigns.models import Campaign
from campaigns.services.copies import duplicate_campaign
from evalsite.accounts.models import User
from tests.annotation.open_campaigns import open_campaign, rate_items
from tests.annotation.worker_pages import form_of, personal_query, url, welcome_url

pytestmark = pytest.mark.django_db
State = Assignment.State
TEXT = "We keep your ratings – and nothing else.\n\nYou may stop at any time."
VERSION = hashlib.sha256(TEXT.encode()).hexdigest()[:12]
TICKED = {"consent": "yes"}


@pytest.fixture
def campaign(owner: User) -> Campaign:
    return open_campaign(owner, n_hits=3, consent=TEXT, platform_settings={"access": "personal"})


@pytest.fixture
def link(campaign: Campaign) -> str:
    """Ann's personal link."""
    return welcome_url(campaign, personal_query(campaign, "Ann"))


def kept(assignment: Assignment) -> tuple[str, datetime | None]:
    assignment.refresh_from_db()
    return assignment.consent_version, assignment.consented_at


def begin(client: Client, address: str) -> Assignment:
    """Agree and press the button of the first page; return the newest assignment."""
    assert client.post(address, TICKED).status_code == 303
    return Assignment.objects.latest("pk")


def agreed_an_hour_ago(assignment: Assignment) -> datetime:
    """Move a consent to the past; return its time."""
    at = timezone.now() - timedelta(hours=1)
    Assignment.objects.filter(pk=assignment.pk).update(consented_at=at)
    return at


def finish(assignment: Assignment) -> Assignment:
    return finish_assignment(assignment_id=rate_items(assignment).pk)


# --- With which HIT


def test_a_tick_is_kept_with_the_version_and_the_time(client: Client, campaign: Campaign, link: str) -> None:
    before = timezone.now()
    assert client.post(link).status_code == 422
    assert not Assignment.objects.exists()
    version, at = kept(begin(client, link))
    assert version == campaign.consent_version == VERSION
    assert at and before <= at <= timezone.now()


def test_a_newcomer_who_presses_twice_agreed_once(owner: User, client: Client) -> None:
    address = welcome_url(open_campaign(owner, consent=TEXT))
    form = form_of(client.get(address)).hidden | TICKED
    client.post(address, form)
    first = kept(Assignment.objects.get())
    client.post(address, form)
    assert kept(Assignment.objects.get()) == first


@pytest.mark.parametrize("text", ["", " \n"])
def test_without_a_text_nothing_is_kept(owner: User, client: Client, text: str) -> None:
    campaign = open_campaign(owner, n_hits=2, consent=text)
    assignment = begin(client, welcome_url(campaign))
    assert client.post(url("next", finish(assignment))).status_code == 303
    assert campaign.consent_version == ""
    assert {kept(each) for each in Assignment.objects.all()} == {("", None)}


def test_another_hit_without_being_asked_again_has_the_time_of_the_consent(client: Client, link: str) -> None:
    assignment = begin(client, link)
    at = agreed_an_hour_ago(assignment)
    assert client.post(url("next", finish(assignment))).status_code == 303
    other = Assignment.objects.latest("pk")
    assert other.hit != assignment.hit
    assert kept(other) == (VERSION, at)


def test_whoever_is_asked_again_agrees_again(client: Client, link: str) -> None:
    assignment = begin(client, link)
    at = agreed_an_hour_ago(assignment)
    finish(assignment)
    assert client.post(link).status_code == 422, "the box was shown and not ticked"
    version, again = kept(begin(client, link))
    assert version == VERSION
    assert again and again > at
    assert kept(assignment) == (VERSION, at)


def test_who_was_away_goes_on_with_the_consent_of_their_hit(client: Client, campaign: Campaign, link: str) -> None:
    assignment = begin(client, link)
    at = agreed_an_hour_ago(assignment)
    for come_back in (lambda: client.post(link, TICKED), lambda: client.post(url("next", assignment))):
        expire_leases(now=timezone.now() + timedelta(days=1))
        assignment.refresh_from_db()
        assert assignment.state == State.EXPIRED
        assert come_back().status_code == 303
        assert kept(assignment) == (VERSION, at)
        assert assignment.state == State.ACTIVE


def test_whose_hit_was_given_to_another_has_the_consent_with_the_next_one(
    client: Client, campaign: Campaign, link: str
) -> None:
    assignment = begin(client, link)
    at = agreed_an_hour_ago(assignment)
    release_assignment(assignment=assignment, cause=PlaceFreed.RESEARCHER)
    other = start_assignment(campaign=campaign, worker_key=f"{campaign.public_id}:Ben", consented=True)
    assert other.hit == assignment.hit
    assert client.post(url("next", assignment)).status_code == 303
    assert kept(Assignment.objects.get(state=State.ACTIVE, worker=assignment.worker)) == (VERSION, at)


def test_who_agreed_before_consents_were_kept_goes_on_without_a_record(client: Client, link: str) -> None:
    assignment = begin(client, link)
    Assignment.objects.update(consent_version="", consented_at=None)
    finish(assignment)
    assert client.post(url("next", assignment)).status_code == 303
    assert kept(Assignment.objects.latest("pk")) == ("", None)


def test_a_version_without_a_time_is_none(client: Client, link: str) -> None:
    assignment = begin(client, link)
    for field, value in (("consented_at", None), ("consent_version", "")):
        with pytest.raises(IntegrityError), transaction.atomic():
            Assignment.objects.filter(pk=assignment.pk).update(**{field: value})


# --- From a crowd platform


def _from(campaign: Campaign, hit: int, **ids: str) -> str:
    query = dict(parse_qsl(campaign.crowd_platform.arrival_query(campaign.ref, hit)))
    return welcome_url(campaign, urlencode(query | ids))


def _mturk(campaign: Campaign, hit: int) -> str:
    ids = {"assignmentId": f"3EXAMPLEASSIGNMENT{hit:010}", "hitId": "3EXAMPLEHIT00000000000000001"}
    return _from(campaign, hit, workerId="A1EXAMPLEWORKER", turkSubmitTo="https://www.mturk.com", **ids)


def _prolific(campaign: Campaign, hit: int) -> str:
    return _from(campaign, hit, PROLIFIC_PID="a" * 24, STUDY_ID="b" * 24, SESSION_ID=str(hit) * 24)


@pytest.mark.parametrize(("platform", "arrive"), [("mturk", _mturk), ("prolific", _prolific)])
def test_workers_of_a_platform_agree_with_each_hit_that_they_accept(
    owner: User, client: Client, platform: str, arrive
) -> None:
    campaign = open_campaign(owner, n_hits=2, consent=TEXT, platform=platform)
    assert client.post(_from(campaign, 1), TICKED).status_code == 200
    assert not Assignment.objects.exists(), "a preview"
    assert client.post(arrive(campaign, 1)).status_code == 422
    first = begin(client, arrive(campaign, 1))
    at = agreed_an_hour_ago(first)
    assert begin(client, arrive(campaign, 1)) == first, "pressed twice"
    assert kept(first) == (VERSION, at)
    finish(first)
    assert client.post(arrive(campaign, 2)).status_code == 422
    version, again = kept(begin(client, arrive(campaign, 2)))
    assert version == VERSION
    assert again and again > at


def test_who_returns_a_hit_there_and_accepts_it_again_keeps_the_consent(owner: User, client: Client) -> None:
    campaign = open_campaign(owner, n_hits=1, consent=TEXT, platform="mturk")
    assignment = begin(client, _mturk(campaign, 1))
    at = agreed_an_hour_ago(assignment)
    return_assignment(assignment_id=assignment.pk)
    assert begin(client, _mturk(campaign, 1)) == assignment
    assert kept(assignment) == (VERSION, at)


# --- Where it is found


def _rows(client: Client, campaign: Campaign) -> list[dict[str, str]]:
    sent = client.get(reverse("monitoring:export_file", args=[campaign.public_id, "assignments.csv"]))
    return list(csv.DictReader(io.StringIO(b"".join(sent.streaming_content).decode())))


def test_the_table_of_assignments_has_version_and_time(
    owner_client: Client, client: Client, campaign: Campaign, link: str
) -> None:
    first = begin(client, link)
    at = datetime(2026, 3, 1, 12, 30, 15, tzinfo=UTC)
    Assignment.objects.update(consented_at=at)
    client.post(url("next", finish(first)))
    Assignment.objects.exclude(pk=first.pk).update(consent_version="", consented_at=None)
    [agreed, unrecorded] = _rows(owner_client, campaign)
    assert (agreed["consent_version"], agreed["consented_at"]) == (VERSION, "2026-03-01T12:30:15.000Z")
    assert (unrecorded["consent_version"], unrecorded["consented_at"]) == ("", "")
    page = owner_client.get(reverse("monitoring:assignments", args=[campaign.public_id])).text
    assert VERSION in page
    assert "1 Mar, 12:30" in page
    assert "not recorded" in page


def test_the_text_of_a_version_is_a_file_of_the_export(
    owner: User, owner_client: Client, stranger_client: Client, campaign: Campaign
) -> None:
    address = reverse("monitoring:export_file", args=[campaign.public_id, f"consent-{VERSION}.md"])
    assert address in owner_client.get(reverse("monitoring:export", args=[campaign.public_id])).text
    sent = owner_client.get(address)
    content = b"".join(sent.streaming_content)
    assert content.decode() == TEXT
    assert hashlib.sha256(content).hexdigest().startswith(VERSION)
    assert f"consent-{VERSION}.md" in sent["Content-Disposition"]
    assert stranger_client.get(address).status_code == 404

    copy = duplicate_campaign(campaign=campaign, owner=owner, as_replication=True)
    assert copy.consent_version == VERSION
    copy.consent = "Another text."
    assert copy.consent_version != VERSION
    without = open_campaign(owner)
    for name in ("consent-.md", f"consent-{VERSION}.md"):
        address = reverse("monitoring:export_file", args=[without.public_id, name])
        assert owner_client.get(address).status_code == 404
    assert "consent-" not in owner_client.get(reverse("monitoring:export", args=[without.public_id])).text


def test_admins_find_assignments_by_their_consent(client: Client, link: str) -> None:
    assignment = begin(client, link)
    admin = Client()
    admin.force_login(User.objects.create_superuser("admin@example.org"))
    listed = admin.get(reverse("admin:annotation_assignment_changelist"), {"q": VERSION})
    assert listed.context["cl"].result_list.get() == assignment
    assert VERSION in admin.get(reverse("admin:annotation_assignment_change", args=[assignment.pk])).text


# --- Installations that exist


def test_assignments_from_before_have_no_record_and_go_on(client: Client, owner: User) -> None:
    campaign = open_campaign(owner, n_hits=2, consent=TEXT)
    assignment = begin(client, welcome_url(campaign))
    new = {name: Assignment._meta.get_field(name).get_default() for name in ("consent_version", "consented_at")}
    Assignment.objects.update(**new)  # as a migration adds them
    assert kept(assignment) == ("", None)
    finish(assignment)
    assert client.post(reverse("rate:next", args=[token_of(assignment)])).status_code == 303
