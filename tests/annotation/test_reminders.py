"""Reminding invited raters by mail."""

import re
import smtplib
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.core import mail
from django.core.mail.backends.locmem import EmailBackend
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.models import Invitation, Reminder
from annotation.raters.lists import RaterEntry
from annotation.raters.queries import list_raters
from annotation.services.erasing import erase_worker
from annotation.services.invitations import invite_raters
from annotation.services.reminders import REMIND
from campaigns.models import Campaign
from evalsite.accounts.models import Scope, User
from evalsite.accounts.tokens import create_token
from evalsite.jobs.failures import record_failure
from evalsite.jobs.handlers import JobContext, get_handler
from evalsite.jobs.models import Job
from evalsite.jobs.running import claim_job
from evalsite.jobs.services import retry_job
from evalsite.lib.errors import DomainError
from tests.annotation.cast import build, launch, make_worker, rate_hit
from tests.campaigns.cast import add_member, make_campaign
from tests.databases import on_both, on_sqlite

pytestmark = on_sqlite
FAULTS: dict[str, Any] = {}
NO_MAIL = "django.core.mail.backends.dummy.EmailBackend"


class FaultyServer(EmailBackend):
    """Takes mail, except to the addresses that have a fault: an error, or what happens meanwhile."""

    def send_messages(self, messages: list[mail.EmailMessage]) -> int:
        for message in messages:
            fault = FAULTS.get(message.to[0])
            if isinstance(fault, BaseException):
                raise fault
            if fault:
                fault()
        return super().send_messages(messages)


@pytest.fixture
def faults(settings) -> Iterator[dict[str, Any]]:
    settings.EMAIL_BACKEND = f"{__name__}.FaultyServer"
    FAULTS.clear()
    yield FAULTS
    FAULTS.clear()


@pytest.fixture
def campaign(owner: User) -> Campaign:
    """Ada and Ben have not begun, Cleo is in progress, Dora has finished, Eve is revoked, Finn has no address."""
    campaign = launch(make_campaign(owner))
    campaign.platform_settings = {"access": "personal", "max_workers": None}
    campaign.study_name, campaign.contact = "Fluency of answers", "lab@example.org"
    campaign.hits_per_worker, campaign.workers_per_hit = 2, 4
    campaign.save()
    names = ("Ada", "Ben", "Cleo", "Dora", "Eve")
    raters = [RaterEntry(name, f"{name.lower()}@example.org") for name in names]
    invite_raters(campaign=campaign, raters=[*raters, RaterEntry("Finn")])
    return campaign


@pytest.fixture
def at_work(campaign: Campaign, rng) -> Campaign:
    first, second, *_ = build(campaign)
    rate_hit(first, make_worker(campaign, "Cleo"), rng)
    for hit in (first, second):
        rate_hit(hit, make_worker(campaign, "Dora"), rng)
    campaign.invitations.filter(worker__key__endswith="Eve").update(revoked_at=timezone.now())
    return campaign


@pytest.fixture
def idle(campaign: Campaign) -> Campaign:
    build(campaign)
    campaign.invitations.filter(worker__key__iregex="(Dora|Eve)$").update(revoked_at=timezone.now())
    return campaign


def page_of(campaign: Campaign) -> str:
    return reverse("monitoring:raters_remind", args=[campaign.public_id])


def send(client: Client, campaign: Campaign, query: str = "", **changes: str) -> HttpResponse:
    sent = {"token": str(uuid4()), "subject": "For {name}", "text": "{study}: {link}"} | changes
    return client.post(page_of(campaign) + query, sent)


def run_jobs() -> None:
    """Run what is queued as a worker does, in the transaction of the test."""
    for queued in Job.objects.filter(kind=REMIND, status="queued"):
        job = claim_job(queued.pk)
        assert job
        found = Job.objects.filter(pk=job.pk)
        try:
            get_handler(REMIND)(JobContext(), **job.args)
        except DomainError as error:
            record_failure(job, found, timezone.now(), error_code=error.code, error_message=error.message)
        else:
            found.update(status="succeeded", lease_token=None, lease_until=None, finished_at=timezone.now())


def reached() -> list[str]:
    return [to for message in mail.outbox for to in message.to]


def job_of(campaign: Campaign) -> Job:
    return Reminder.objects.get(campaign=campaign).job


def link_of(client: Client, campaign: Campaign, name: str) -> str:
    rater = list_raters(campaign).get(name=name)
    page = client.get(reverse("monitoring:rater", args=[campaign.public_id, rater.pk]))
    return page.context["link"]


@on_both
def test_those_who_have_not_finished_get_a_mail_with_their_own_link(owner_client: Client, at_work: Campaign) -> None:
    page = owner_client.get(page_of(at_work))
    assert [rater.name for rater in page.context["plan"].reached] == ["Ada", "Ben", "Cleo"]
    assert [rater.name for rater in page.context["plan"].without_email] == ["Finn"]
    assert page.context["preview"]["to"] == "ada@example.org"
    assert link_of(owner_client, at_work, "Ada") in page.context["preview"]["text"]

    assert send(owner_client, at_work).status_code == 302
    assert mail.outbox == []
    run_jobs()

    assert reached() == ["ada@example.org", "ben@example.org", "cleo@example.org"]
    for message, name in zip(mail.outbox, ["Ada", "Ben", "Cleo"], strict=True):
        assert message.subject == f"For {name}"
        assert message.body == f"Fluency of answers: {link_of(owner_client, at_work, name)}"
        assert message.reply_to == ["lab@example.org"]
    reminded = list_raters(at_work).exclude(reminded_at=None).filter(is_reminder_sent=True)
    assert [each.name for each in reminded] == ["Ada", "Ben", "Cleo"]
    assert job_of(at_work).status == "succeeded"


def test_the_filter_of_the_list_narrows_who_is_reminded(owner_client: Client, at_work: Campaign) -> None:
    send(owner_client, at_work, "?state=started")
    run_jobs()
    assert reached() == ["cleo@example.org"]
    assert owner_client.get(f"{page_of(at_work)}?state=finished").text.count("Nobody to remind") == 1
    for response in (owner_client.get(f"{page_of(at_work)}?state=x"), send(owner_client, at_work, "?state=x")):
        assert response.status_code == 302
    assert Reminder.objects.count() == 1


@on_both
def test_a_form_that_is_sent_twice_is_one_reminder(owner_client: Client, idle: Campaign) -> None:
    token = str(uuid4())
    for _ in range(2):
        assert send(owner_client, idle, token=token).status_code == 302
    run_jobs()
    assert send(owner_client, idle, token=token).status_code == 302  # the browser's back and send
    run_jobs()
    assert Job.objects.filter(kind=REMIND).count() == 1
    assert len(reached()) == 3


def test_a_job_that_runs_again_sends_nobody_a_second_mail(owner_client: Client, idle: Campaign) -> None:
    send(owner_client, idle)
    run_jobs()
    Job.objects.filter(pk=job_of(idle).pk).update(status="queued", finished_at=None)
    run_jobs()
    assert job_of(idle).status == "succeeded"
    assert len(reached()) == 3


def test_two_runs_of_a_job_at_once_send_each_mail_once(
    owner_client: Client, idle: Campaign, faults: dict[str, Any]
) -> None:
    """The second begins while the first, which has read whom to remind, hands over its first mail."""
    send(owner_client, idle)
    job = job_of(idle)

    def run_too() -> None:
        with pytest.raises(DomainError) as failed:
            get_handler(REMIND)(JobContext(), **job.args)
        assert "reached Ada:" in failed.value.message

    faults["ada@example.org"] = run_too
    run_jobs()
    assert sorted(reached()) == ["ada@example.org", "ben@example.org", "cleo@example.org"]
    assert job_of(idle).status == "succeeded"


def test_a_rater_gets_one_reminder_in_a_day(owner_client: Client, idle: Campaign) -> None:
    send(owner_client, idle)
    assert "A reminder is being sent" in send(owner_client, idle).text
    run_jobs()
    page = send(owner_client, idle)
    assert (page.status_code, len(page.context["plan"].reminded)) == (422, 3)
    idle.invitations.filter(worker__key__endswith="Ben").update(reminded_at=timezone.now() - timedelta(hours=25))

    assert send(owner_client, idle).status_code == 302
    run_jobs()
    assert sorted(reached()) == ["ada@example.org", "ben@example.org", "ben@example.org", "cleo@example.org"]


def test_raters_without_a_hit_to_do_get_no_reminder(owner_client: Client, idle: Campaign) -> None:
    idle.hits.update(n_places_left=0)
    page = send(owner_client, idle)
    assert (page.status_code, len(page.context["plan"].without_work)) == (422, 4)
    assert not Reminder.objects.exists()


def test_who_is_revoked_or_finishes_before_the_job_runs_gets_no_mail(owner_client: Client, idle: Campaign, rng) -> None:
    send(owner_client, idle)
    idle.invitations.filter(worker__key__endswith="Ada").update(revoked_at=timezone.now())
    for hit in idle.hits.order_by("number")[:2]:
        rate_hit(hit, make_worker(idle, "Ben"), rng)
    run_jobs()
    assert reached() == ["cleo@example.org"]


# --- Mail servers that fail


def test_a_retry_sends_to_the_rest_and_names_whom_the_mail_may_have_reached(
    owner: User, owner_client: Client, idle: Campaign, faults: dict[str, Any]
) -> None:
    faults["ben@example.org"] = smtplib.SMTPServerDisconnected("gone")
    send(owner_client, idle)
    run_jobs()

    job = job_of(idle)
    assert (job.status, job.error_code, reached()) == ("failed", "mail_failed", ["ada@example.org"])
    assert "Ben" in job.error_message
    assert "Cleo" not in job.error_message
    assert job.error_message in re.sub(
        "&#x27;", "'", owner_client.get(reverse("monitoring:raters", args=[idle.public_id])).text
    )

    faults.clear()
    retry_job(job)
    run_jobs()
    assert reached() == ["ada@example.org", "cleo@example.org"]
    assert "Ben" in job_of(idle).error_message, "is not known to have the mail"
    ben = list_raters(idle).get(name="Ben")
    assert (ben.reminded_at is not None, ben.is_reminder_sent) == (True, False)
    erase_worker(campaign=idle, worker=ben.worker, wants=[], user=owner)
    assert "Ben" not in job_of(idle).error_message


def test_an_address_that_is_refused_keeps_nobody_else_from_the_mail(
    owner_client: Client, idle: Campaign, faults: dict[str, Any]
) -> None:
    faults["ada@example.org"] = smtplib.SMTPRecipientsRefused({"ada@example.org": (550, b"no such user")})
    send(owner_client, idle)
    run_jobs()
    assert reached() == ["ben@example.org", "cleo@example.org"]
    assert "Ada" in job_of(idle).error_message
    assert "no such user" in job_of(idle).error_message

    Invitation.objects.filter(email="ada@example.org").update(email="ada.l@example.org")
    retry_job(job_of(idle))
    run_jobs()
    assert reached() == ["ben@example.org", "cleo@example.org", "ada.l@example.org"]
    assert job_of(idle).status == "succeeded"


def test_a_server_that_takes_no_mail_costs_nobody_the_reminder(
    owner_client: Client, idle: Campaign, faults: dict[str, Any]
) -> None:
    faults["ada@example.org"] = smtplib.SMTPDataError(451, b"try later")
    send(owner_client, idle)
    run_jobs()
    assert "try later" in job_of(idle).error_message
    assert not idle.invitations.exclude(reminded_at=None).exists()
    faults.clear()
    retry_job(job_of(idle))
    run_jobs()
    assert len(reached()) == 3


def test_who_was_claimed_when_the_worker_died_is_named_and_gets_no_second_mail(
    owner_client: Client, idle: Campaign, faults: dict[str, Any]
) -> None:
    faults["ben@example.org"] = SystemExit()  # the process ends in the middle of a mail
    send(owner_client, idle)
    with pytest.raises(SystemExit):
        run_jobs()
    faults.clear()
    Job.objects.update(status="queued", lease_token=None, lease_until=None)
    run_jobs()
    assert reached() == ["ada@example.org", "cleo@example.org"]
    assert (job_of(idle).status, "reached Ben:" in job_of(idle).error_message) == ("failed", True)


# --- What is refused


def test_a_site_without_mail_says_how_to_set_it_up(owner_client: Client, idle: Campaign, settings) -> None:
    settings.EMAIL_BACKEND = NO_MAIL
    page = owner_client.get(page_of(idle))
    assert "EMAIL_URL=smtp://user:password@host:587" in page.text
    assert "DEFAULT_FROM_EMAIL=evalsite@example.org" in page.text
    assert "restarts" in page.text
    assert "raters.csv?state=unfinished" in page.text
    assert 'href="mailto:ada@example.org?body=http' in page.text
    assert 'name="text"' not in page.text
    assert send(owner_client, idle).status_code == 422
    assert not Job.objects.filter(kind=REMIND).exists()


@pytest.mark.parametrize("status", ["paused", "closed", "ready"])
def test_a_campaign_that_is_not_running_sends_none(owner_client: Client, idle: Campaign, status: str) -> None:
    Campaign.objects.filter(pk=idle.pk).update(status=status)
    assert 'name="text"' not in owner_client.get(page_of(idle)).text
    page = send(owner_client, idle)
    assert (page.status_code, "not running" in page.text) == (422, True)
    assert not Reminder.objects.exists()


def test_a_campaign_that_is_paused_before_the_job_runs_sends_none(owner_client: Client, idle: Campaign) -> None:
    send(owner_client, idle)
    Campaign.objects.filter(pk=idle.pk).update(status="paused")
    run_jobs()
    assert (job_of(idle).error_code, reached()) == ("not_running", [])


@pytest.mark.parametrize(
    "wrong",
    [{"text": "no link"}, {"text": "{link} {nmae}"}, {"subject": "{link}"}, {"subject": ""}, {"token": "x"}],
)
def test_a_text_that_cannot_be_sent_is_kept_and_explained(
    owner_client: Client, idle: Campaign, wrong: dict[str, str]
) -> None:
    page = send(owner_client, idle, **wrong)
    assert page.status_code == 422
    assert list(page.context["form"].errors) == list(wrong)
    assert page.context["form"]["text"].value() == wrong.get("text", "{study}: {link}")
    assert not Reminder.objects.exists()


def test_a_preview_sends_nothing(owner_client: Client, idle: Campaign) -> None:
    page = send(owner_client, idle, preview="1", subject="Dear {name}")
    assert (page.status_code, page.context["preview"]["subject"]) == (200, "Dear Ada")
    assert not Reminder.objects.exists()


def test_scripts_remind_raters(owner: User, client: Client, at_work: Campaign) -> None:
    _, token = create_token(user=owner, name="script", scopes=[Scope.EDIT], now=timezone.now())

    def ask(**sent: str) -> HttpResponse:
        url, headers = reverse("api:raters_remind", args=[at_work.public_id]), {"Authorization": f"Bearer {token}"}
        return client.post(url, {"subject": "S", "text": "{link}"} | sent, "application/json", headers=headers)

    assert ask(text="no link").status_code == 422
    answer = ask(state="started")
    assert (answer.status_code, answer.json()["id"]) == (202, str(job_of(at_work).pk))
    run_jobs()
    assert reached() == ["cleo@example.org"]
    assert ask(state="started").status_code == 409


def test_names_are_not_read_as_placeholders(owner_client: Client, idle: Campaign) -> None:
    invite_raters(campaign=idle, raters=[RaterEntry("{link}", "x@example.org")])
    send(owner_client, idle, "?search=x@example.org")
    run_jobs()
    assert [message.subject for message in mail.outbox] == ["For {link}"]


def test_viewers_send_no_reminders(idle: Campaign, colleague: User, colleague_client: Client) -> None:
    add_member(idle, colleague, "viewer")
    assert colleague_client.get(page_of(idle)).status_code == 403
    assert send(colleague_client, idle).status_code == 403
    assert "raters/remind/" not in colleague_client.get(reverse("monitoring:raters", args=[idle.public_id])).text
