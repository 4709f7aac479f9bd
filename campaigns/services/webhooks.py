"""Webhooks: adding and changing them, writing down what they are sent. How it is sent is `deliveries`."""

import secrets
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.views.decorators.debug import sensitive_variables

from campaigns.contracts.events import EventData, HitsFinished, JobFailed
from campaigns.models import Campaign, Delivery, Webhook
from evalsite.jobs.handlers import enqueue
from evalsite.jobs.models import Job
from evalsite.lib.encryption import encrypt_secrets
from evalsite.lib.errors import DomainError
from evalsite.undo.acts import put_aside, restore_rows
from evalsite.undo.models import Act

State = Delivery.State
SEND = "campaigns.webhooks"
"""The kind of job that sends deliveries."""
SECRET = "secret"
"""The name of a webhook's secret among those that are encrypted."""
SETTING = "WEBHOOK_HOSTS"
MOST_WEBHOOKS = 10
KEPT_FOR = timedelta(days=30)
"""How long deliveries are kept."""
# For so long HITs that finish are gathered, and so many at most are sent together.
GATHERED_FOR, GATHERED_AT_MOST = timedelta(seconds=30), 100
_SECRET_START, _SECRET_BYTES = "evalsite_webhook_", 32


# --- What happens


def announce(*, campaign_id: int, data: EventData, now: datetime | None = None) -> None:
    """Write an event down for each active webhook of a campaign that wants it, in the caller's transaction.

    A job sends it once that is committed. One query where there is no webhook. Of HITs that finish, the deliveries wait
    for more; the caller has locked the campaign.
    """
    active = Webhook.objects.filter(campaign=campaign_id, is_active=True)
    if not active.exists():
        return
    now = now or timezone.now()
    with transaction.atomic():
        # Locked, so that none is removed before this is committed: what happened would be undone.
        locked = active.select_for_update(no_key=True).order_by("pk")
        webhooks = {webhook.pk for webhook in locked if data.event in webhook.events}
        if not webhooks:
            return
        try_at = now
        if isinstance(data, HitsFinished):
            webhooks -= _add_to_waiting(webhooks, data, now)
            try_at += GATHERED_FOR
        event_id, content = uuid4(), data.to_json()
        Delivery.objects.bulk_create(
            Delivery(webhook_id=pk, event_id=event_id, event=data.event, at=now, data=content, try_at=try_at)
            for pk in sorted(webhooks)
        )
        if try_at == now:
            enqueue_sending()


def _add_to_waiting(webhooks: set[int], data: HitsFinished, now: datetime) -> set[int]:
    """Add HITs to deliveries that were never tried; return the webhooks that had one."""
    untried = Delivery.objects.filter(
        webhook__in=webhooks, event=data.event, state=State.WAITING, n_tries=0, try_at__gt=now
    )
    added = {}
    for delivery in untried.select_for_update(no_key=True).order_by("pk"):
        finished = delivery.data["finished"] + data.to_json()["finished"]
        if delivery.webhook_id not in added and len(finished) <= GATHERED_AT_MOST:
            delivery.data = {"finished": finished}
            added[delivery.webhook_id] = delivery
    Delivery.objects.bulk_update(added.values(), ["data"])
    return set(added)


def announce_failure(*, campaign_id: int, job: Job, is_repeated: bool = False) -> None:
    """Announce that a job of a campaign has failed, in the transaction that says so.

    Of a job that `is_repeated` by itself, another failure with the error of the one before is not announced.
    """
    if is_repeated:
        others = Job.objects.filter(kind=job.kind, args=job.args, finished_at__isnull=False).exclude(pk=job.pk)
        before = others.order_by("-finished_at").first()
        if before and before.error_code == job.error_code:
            return
    assert job.finished_at
    data = JobFailed(job=job.pk, kind=job.kind, code=job.error_code, failed_at=job.finished_at)
    announce(campaign_id=campaign_id, data=data)


def enqueue_sending() -> None:
    """Have deliveries sent that are due, in the caller's transaction, unless a job is about to."""
    if not Job.objects.filter(kind=SEND, status=Job.Status.QUEUED).exists():
        enqueue(SEND)


# --- What a researcher sets


@sensitive_variables()
def add_webhook(*, campaign: Campaign, url: str, events: list[str], is_active: bool = True) -> tuple[Webhook, str]:
    """Add a webhook; return it with its secret, which is shown this once.

    Raises DomainError `bad_address`, `host_refused`, `address_taken` or `too_many_webhooks`.
    """
    check_address(url)
    secret = _new_secret()
    with transaction.atomic():
        locked = Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
        _check_free(locked, url)
        _check_number(locked)
        kept = encrypt_secrets({SECRET: secret})
        made = Webhook.objects.create(campaign=locked, url=url, events=events, is_active=is_active, secret=kept)
    return made, secret


@transaction.atomic
def change_webhook(*, webhook: Webhook, changes: Mapping[str, Any]) -> None:
    """Set `url`, `events` or `is_active`. What waits is sent to the new address, or once it is active again.

    Raises DomainError `bad_address`, `host_refused` or `address_taken`.
    """
    if unknown := changes.keys() - {"url", "events", "is_active"}:
        raise ValueError(f"not to be changed so: {sorted(unknown)}")
    campaign = Campaign.objects.select_for_update(no_key=True).get(pk=webhook.campaign_id)
    locked = Webhook.objects.select_for_update().get(pk=webhook.pk)
    if (url := changes.get("url", locked.url)) != locked.url:
        check_address(url)
        _check_free(campaign, url)
    for name, value in changes.items():
        setattr(locked, name, value)
    if locked.is_active:
        locked.gone_at = None
    locked.save(update_fields=["url", "events", "is_active", "gone_at"])


@sensitive_variables()
def rotate_secret(*, webhook: Webhook) -> str:
    """Give a webhook another secret, which signs everything from now on; return it: it is shown this once."""
    secret = _new_secret()
    Webhook.objects.filter(pk=webhook.pk).update(secret=encrypt_secrets({SECRET: secret}))
    return secret


@transaction.atomic
def remove_webhook(*, webhook: Webhook, act: Act | None = None) -> None:
    """Delete a webhook with its deliveries, also those that wait; once is enough."""
    Webhook.objects.select_for_update().filter(pk=webhook.pk).first()  # those who announce something end first
    found = Webhook.objects.filter(pk=webhook.pk)
    put_aside(act, found)
    put_aside(act, Delivery.objects.filter(webhook=webhook.pk))
    found.delete()


@transaction.atomic
def restore_webhook(*, campaign: Campaign, act: Act) -> None:
    """Take `remove_webhook` back: what waited is sent. Raises DomainError `address_taken` or `too_many_webhooks`."""
    locked = Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
    _check_free(locked, act.rows[0]["fields"]["url"])
    _check_number(locked)
    restore_rows(act)
    enqueue_sending()


@transaction.atomic
def send_again(*, delivery: Delivery) -> None:
    """Have a delivery sent now, with all its tries, under the id that it has.

    Raises DomainError `being_sent` or `not_active`.
    """
    locked = Delivery.objects.select_for_update(of=("self",)).select_related("webhook").get(pk=delivery.pk)
    if locked.state == State.SENDING:
        raise DomainError("being_sent", "It is being sent now.")
    if not locked.webhook.is_active:
        raise DomainError("not_active", "The webhook is turned off. Turn it on first.")
    Delivery.objects.filter(pk=locked.pk).update(state=State.WAITING, n_tries=0, try_at=timezone.now())
    enqueue_sending()


def check_address(url: str) -> None:
    """Raise DomainError `bad_address` or `host_refused` if nothing may be sent to an address; call no network."""
    from evalsite.lib import http  # it is large, and seldom needed

    try:
        http.check_address(url, allowed=settings.WEBHOOK_HOSTS, setting=SETTING, needs_https=True)
    except http.HostRefusedError as error:
        raise DomainError("host_refused", str(error)) from None
    except ValueError as error:
        raise DomainError("bad_address", str(error)) from None


def delete_old_deliveries(now: datetime | None = None) -> int:
    """Delete deliveries of events that are a month old; return how many."""
    old = Delivery.objects.filter(at__lt=(now or timezone.now()) - KEPT_FOR)
    # Mostly there are none: on SQLite even an empty transaction stops all who write.
    return old.delete()[0] if old.exists() else 0


def _check_free(campaign: Campaign, url: str) -> None:
    if campaign.webhooks.filter(url=url).exists():
        raise DomainError("address_taken", "Another webhook of this campaign has this address.")


def _check_number(campaign: Campaign) -> None:
    if campaign.webhooks.count() >= MOST_WEBHOOKS:
        raise DomainError("too_many_webhooks", f"A campaign has at most {MOST_WEBHOOKS} webhooks: remove one.")


def _new_secret() -> str:
    return _SECRET_START + secrets.token_urlsafe(_SECRET_BYTES)
