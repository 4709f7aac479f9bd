"""What does not fit between the platform and here: shown with both sides, and dismissed."""

import re

import pytest
from django.test import Client
from django.utils import timezone

from annotation.models import Assignment
from campaigns.models import Campaign
from crowd.models import Order, Submission
from crowd.services.syncing.discrepancies import dismiss_discrepancies
from evalsite.accounts.models import User
from tests.crowd.rated import submissions_of, url_of

State, Discrepancy = Submission.State, Submission.Discrepancy
KINDS = [kind for kind in Discrepancy if kind]


pytestmark = pytest.mark.usefixtures("rated_once")


@pytest.fixture
def campaign(rated: Campaign) -> Campaign:
    return rated


def bring_discrepancy(campaign: Campaign, discrepancy: str, **fields: object) -> Submission:
    """Return the first submission of a campaign, with a discrepancy."""
    submission = submissions_of(campaign)[0]
    Submission.objects.filter(pk=submission.pk).update(discrepancy=discrepancy, **fields)
    submission.refresh_from_db()
    return submission


def shown(client: Client, campaign: Campaign, query: str = "") -> list[str]:
    discrepancies = client.get(url_of(campaign, "discrepancies", query=query)).context["page_obj"]
    return [each.discrepancy for each in discrepancies]


@pytest.mark.parametrize("discrepancy", KINDS)
def test_each_discrepancy_is_explained_with_what_both_sides_know(
    campaign: Campaign, owner_client: Client, discrepancy: Discrepancy
) -> None:
    submission = bring_discrepancy(campaign, discrepancy, code="GUESSED7")
    campaign.assignments.update(consent_version="0123456789ab", consented_at=timezone.now())

    page = owner_client.get(url_of(campaign, "discrepancies"))

    assert f">{discrepancy.label}: <a" in page.text
    assert len(re.findall(r'<p class="prose">(.*?)</p>', page.text)[0]) > 100
    sides = page.text.partition("pay-sides")[2].split("<section>")[1:]
    there, here = (dict(re.findall(r"<dt>([^<]+)</dt><dd><bdi>([^<]+)</bdi>", side)) for side in sides)
    assert submission.assignment
    assert (there["Worker"], there["Code that came"], there["State"]) == ("worker-000", "GUESSED7", "Submitted")
    assert (here["Worker"], here["State"], here["Items rated"]) == ("worker-000", "Finished", "10 of 10")
    assert here["Version of the consent text"] == "0123456789ab"
    assert here["Completion code"] == submission.assignment.completion_code
    for name in ("approve", "message"):
        assert url_of(campaign, name, query=f"?submission={submission.pk}") in page.text
    for name in ("reject", "dismiss"):
        assert url_of(campaign, name, submission.pk) in page.text


def test_somebody_who_never_came_has_no_side_here(campaign: Campaign, owner_client: Client) -> None:
    bring_discrepancy(campaign, Discrepancy.UNKNOWN, assignment=None)
    assert "No worker came to this site with it." in owner_client.get(url_of(campaign, "discrepancies")).text


def test_what_was_not_submitted_cannot_be_decided(campaign: Campaign, owner_client: Client) -> None:
    submission = bring_discrepancy(campaign, Discrepancy.NOT_SUBMITTED, state=State.RETURNED)
    page = owner_client.get(url_of(campaign, "discrepancies")).text
    assert url_of(campaign, "approve", query=f"?submission={submission.pk}") not in page
    assert url_of(campaign, "reject", submission.pk) not in page
    assert url_of(campaign, "message", query=f"?submission={submission.pk}") in page


def test_discrepancies_are_told_on_the_payments_page(campaign: Campaign, owner_client: Client) -> None:
    bring_discrepancy(campaign, Discrepancy.WRONG_CODE)
    page = owner_client.get(url_of(campaign, "payments"))
    assert page.context["totals"].n_discrepancies == 1
    assert Discrepancy.WRONG_CODE.label in page.text


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", [Discrepancy.UNKNOWN]),
        ("?kind=unknown", [Discrepancy.UNKNOWN]),
        ("?kind=wrong-code", []),
        ("?dismissed=1", []),
    ],
)
def test_discrepancies_are_filtered(campaign: Campaign, owner_client: Client, query: str, found: list[str]) -> None:
    bring_discrepancy(campaign, Discrepancy.UNKNOWN)
    assert shown(owner_client, campaign, query) == found


@pytest.mark.parametrize("query", ["?kind=bad-weather", "?dismissed=2"])
def test_a_filter_that_cannot_be_is_refused(campaign: Campaign, owner_client: Client, query: str) -> None:
    assert owner_client.get(url_of(campaign, "discrepancies", query=query)).status_code == 422


# --- Ways out


def test_a_discrepancy_is_dismissed_by_somebody_and_not_forgotten(
    campaign: Campaign, owner: User, owner_client: Client
) -> None:
    submission = bring_discrepancy(campaign, Discrepancy.NOT_SUBMITTED)

    assert owner_client.post(url_of(campaign, "dismiss", submission.pk)).status_code == 302

    submission.refresh_from_db()
    assert (submission.dismissed_by, submission.discrepancy) == (owner, Discrepancy.NOT_SUBMITTED)
    assert shown(owner_client, campaign) == []
    page = owner_client.get(url_of(campaign, "discrepancies", query="?dismissed=1")).text
    assert "Dismissed by Olu Owner" in page
    assert not Order.objects.exists()


def test_who_dismissed_it_first_stays(campaign: Campaign, owner: User, owner_client: Client, colleague: User) -> None:
    submission = bring_discrepancy(campaign, Discrepancy.WRONG_CODE)
    owner_client.post(url_of(campaign, "dismiss", submission.pk))
    assert dismiss_discrepancies(submissions=[submission], user=colleague) == 0
    submission.refresh_from_db()
    assert submission.dismissed_by == owner


def test_without_discrepancy_nothing_is_dismissed(campaign: Campaign, owner_client: Client) -> None:
    submission = submissions_of(campaign)[0]
    page = owner_client.post(url_of(campaign, "dismiss", submission.pk), follow=True)
    assert "message-error" in page.text
    submission.refresh_from_db()
    assert submission.dismissed_at is None


def test_dismissed_discrepancy_is_paid_with_the_rest(campaign: Campaign, owner_client: Client) -> None:
    submission = bring_discrepancy(campaign, Discrepancy.WRONG_CODE)
    assert owner_client.get(url_of(campaign, "approve")).context["n_chosen"] == 3
    owner_client.post(url_of(campaign, "dismiss", submission.pk))
    assert owner_client.get(url_of(campaign, "approve")).context["n_chosen"] == 4


def test_the_place_of_an_assignment_that_hangs_is_freed(campaign: Campaign, owner_client: Client) -> None:
    submission = bring_discrepancy(campaign, Discrepancy.NOT_FINISHED)
    hit = submission.posting.hit
    assert hit
    Assignment.objects.filter(pk=submission.assignment_id).update(state="active", ended_at=None, n_rated=3)
    assert url_of(campaign, "free", submission.pk) in owner_client.get(url_of(campaign, "discrepancies")).text

    owner_client.post(url_of(campaign, "free", submission.pk))

    hit.refresh_from_db()
    assert Assignment.objects.get(pk=submission.assignment_id).state == "expired"
    assert hit.n_places_left == 1


def test_a_place_that_nobody_holds_cannot_be_freed(campaign: Campaign, owner_client: Client) -> None:
    submission = bring_discrepancy(campaign, Discrepancy.UNKNOWN, assignment=None)
    page = owner_client.post(url_of(campaign, "free", submission.pk), follow=True)
    assert "message-error" in page.text


def test_a_bookmark_of_the_former_address_leads_to_the_discrepancies(campaign: Campaign, owner_client: Client) -> None:
    discrepancies = url_of(campaign, "discrepancies", query="?is_dismissed=on")
    former = discrepancies.replace("/discrepancies/", "/troubles/")
    answer = owner_client.get(former)
    assert (answer.status_code, answer["Location"]) == (301, discrepancies)
    assert owner_client.post(former).status_code == 405
