"""Reminders by mail to invited raters: queueing one, and sending it to each rater at most once."""

import logging
import smtplib
from collections.abc import Callable
from uuid import UUID

from django.core.mail import EmailMessage, get_connection
from django.core.mail.backends.base import BaseEmailBackend
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from annotation.models import Invitation, Reminder
from annotation.raters.lists import is_email
from annotation.raters.queries import REMINDER_PAUSE, InvitedRater, get_latest_reminder, plan_reminder
from annotation.raters.reminder_text import fill_in
from campaigns.models import Campaign
from evalsite.accounts.attempts import is_mail_set_up
from evalsite.accounts.mails import explain_mail_error
from evalsite.accounts.models import User
from evalsite.jobs.handlers import enqueue
from evalsite.lib.env import ask_to_set
from evalsite.lib.errors import DomainError
from evalsite.lib.words import counted

logger = logging.getLogger(__name__)
REMIND = "annotation.remind"
"""The kind of job that sends a reminder."""
MAIL_SETTINGS = (("EMAIL_URL", "smtp://user:password@host:587"), ("DEFAULT_FROM_EMAIL", "evalsite@example.org"))
"""What an administrator sets so that the site sends mail: names and examples."""


@transaction.atomic
def remind_raters(
    *, campaign: Campaign, user: User, subject: str, text: str, arrival_url: str, token: UUID, state: str, search: str
) -> Reminder:
    """Queue a mail to the raters that match and have not finished; of one token, once.

    Raises DomainError `no_mail`, `not_running`, `under_way` while another reminder of the campaign is being sent, or
    `nobody` where nobody would get it.
    """
    locked = Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
    if before := Reminder.objects.filter(campaign=locked, token=token).first():
        return before
    _refuse_now(locked)
    latest = get_latest_reminder(locked)
    if latest and latest.job and not latest.job.is_finished:
        raise DomainError("under_way", "A reminder is being sent. Wait until it is done, then look who gets another.")
    now = timezone.now()
    plan = plan_reminder(locked, now=now, state=state, search=search)
    if not plan.reached:
        raise DomainError("nobody", "Nobody would get this reminder. Nothing was sent.")
    reminder = Reminder.objects.create(
        campaign=locked,
        token=token,
        subject=subject,
        text=text,
        arrival_url=arrival_url,
        invitations=[rater.id for rater in plan.reached],
        created_by=user,
        created_at=now,
    )
    reminder.job = enqueue(REMIND, owner=user, args={"reminder": reminder.pk})
    reminder.save(update_fields=["job"])
    return reminder


def send_reminder(*, reminder: Reminder, on_progress: Callable[[int, int, str], None]) -> None:
    """Send a reminder to its raters who have not had it and are still unfinished.

    Each is claimed before the mail is handed over, and given back only where the mail server says that it did not take
    the mail. So a run that crashed, or runs twice, sends nobody a second mail. Raises DomainError `mail_failed`, which
    names the raters who got none or may have got none.
    """
    campaign = reminder.campaign
    _refuse_now(campaign)
    plan, wanted = plan_reminder(campaign, now=reminder.created_at), set(reminder.invitations)
    raters = [rater for rater in plan.reached if rater.id in wanted]
    n_before = len(wanted) - len(raters)
    refused: list[str] = []
    stopped = ""
    connection = get_connection()
    try:
        if raters:
            connection.open()
        for k, rater in enumerate(raters):
            on_progress(n_before + k, len(wanted), "Sending reminders")
            if not _claim(reminder, rater):
                continue
            try:
                _message(reminder, rater, connection).send()
            except smtplib.SMTPRecipientsRefused as error:
                _give_back(rater)
                refused.append(f"{rater.name} ({explain_mail_error(error)})")
            except smtplib.SMTPResponseException:  # it answered that it did not take the mail
                _give_back(rater)
                raise
            else:
                Invitation.objects.filter(pk=rater.id).update(is_reminder_sent=True)
    except OSError as error:  # those of SMTP and TLS are among them
        logger.warning("Reminders were not sent: %s: %s", type(error).__name__, error)
        stopped = explain_mail_error(error)
    finally:
        connection.close()
    on_progress(len(wanted), len(wanted), "")
    if message := _describe_failure(reminder, stopped, refused):
        raise DomainError("mail_failed", message)


def _refuse_now(campaign: Campaign) -> None:
    """Refuse a reminder that cannot be sent, or whose links would lead to no HIT."""
    if not is_mail_set_up():
        raise DomainError("no_mail", f"This site sends no mail. {ask_to_set(*MAIL_SETTINGS[0])}")
    if not campaign.is_open:
        raise DomainError("not_running", "The campaign is not running, so links give out no HITs. No reminder is sent.")


def _claim(reminder: Reminder, rater: InvitedRater) -> bool:
    """Note that a rater is being reminded; return False if they were before, or their link was revoked."""
    due = Q(reminded_at=None) | Q(reminded_at__lte=reminder.created_at - REMINDER_PAUSE)
    # One UPDATE: of two runs of the job, one finds the row unclaimed. The address may just have been changed.
    found = Invitation.objects.filter(due, pk=rater.id, revoked_at=None, email=rater.email)
    return bool(found.update(reminded_at=timezone.now(), is_reminder_sent=False))


def _give_back(rater: InvitedRater) -> None:
    """Undo a claim: the mail was certainly not sent."""
    Invitation.objects.filter(pk=rater.id).update(
        reminded_at=rater.reminded_at, is_reminder_sent=rater.is_reminder_sent
    )


def _message(reminder: Reminder, rater: InvitedRater, connection: BaseEmailBackend) -> EmailMessage:
    subject, text = write_reminder(
        reminder.campaign, rater, subject=reminder.subject, text=reminder.text, arrival_url=reminder.arrival_url
    )
    contact = reminder.campaign.contact.strip()
    return EmailMessage(
        subject,
        text,
        to=[rater.email],
        reply_to=[contact] if is_email(contact) else None,
        headers={"Auto-Submitted": "auto-generated"},
        connection=connection,
    )


def write_reminder(
    campaign: Campaign, rater: InvitedRater, *, subject: str, text: str, arrival_url: str
) -> tuple[str, str]:
    """Return the subject and the text that a rater reads."""
    values = {
        "name": rater.name,
        "link": f"{arrival_url}?{rater.query}",
        "study": study_of(campaign),
    }
    return " ".join(fill_in(subject, values).split()), fill_in(text, values)


def study_of(campaign: Campaign) -> str:
    """Return what raters know the campaign by: never its own name, which may tell what is compared."""
    return campaign.study_name.strip() or "a study"


def _describe_failure(reminder: Reminder, stopped: str, refused: list[str]) -> str:
    """Return what went wrong and who has no mail; an empty text if nothing did."""
    unsure = Invitation.objects.filter(
        pk__in=reminder.invitations, reminded_at__gte=reminder.created_at, is_reminder_sent=False
    )
    names = [invitation.worker.name for invitation in unsure.select_related("worker")]
    parts = []
    if stopped:
        n_sent = Invitation.objects.filter(
            pk__in=reminder.invitations, reminded_at__gte=reminder.created_at, is_reminder_sent=True
        ).count()
        parts.append(
            f"Sending stopped after {counted(n_sent, 'reminder')} of {len(reminder.invitations)}: {stopped} "
            "Retry sends to those who have not had it."
        )
    if refused:
        parts.append(
            f"No reminder was sent to {'; '.join(refused)} Correct the address on the rater’s page, then retry."
        )
    if names:
        parts.append(
            f"It is not known whether the reminder reached {', '.join(names)}: the connection or the worker ended "
            "while it was being sent. Retry does not send it to them again. Write to them from their pages."
        )
    return " ".join(parts)
