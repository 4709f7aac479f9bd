"""Webhooks: what is announced, how it is signed, sent and tried again, and where nothing is sent to."""

import logging
import re
import socket
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone
from pytest_django import Settings

from campaigns.contracts.events import CampaignLaunched, FinishedHit, HitsFinished
from campaigns.models import Campaign, Delivery, Webhook
from campaigns.services import deliveries
from campaigns.services.copies import duplicate_campaign
from campaigns.services.deliveries import enqueue_due_deliveries, send_due_deliveries
from campaigns.services.webhooks import (
    SEND,
    add_webhook,
    announce,
    change_webhook,
    delete_old_deliveries,
    remove_webhook,
    rotate_secret,
    send_again,
)
from evalsite.accounts.models import User
from evalsite.jobs.handlers import JobContext
from evalsite.jobs.models import Job
from evalsite.lib.encryption import decrypt_secrets
from evalsite.lib.errors import DomainError
from tests.campaigns.cast import make_campaign
from tests.campaigns.receiver import Receiver
from tests.databases import at_once
from tests.services import wait_until

pytestmark = pytest.mark.django_db
both_databases = pytest.mark.databases("sqlite", "postgresql")
NOW = datetime(2026, 5, 1, 9, 30, tzinfo=UTC)
LAUNCHED = CampaignLaunched(launched_at=NOW, n_hits=2, n_places=4)
MINUTE = timedelta(minutes=1)
State = Delivery.State


@pytest.fixture
def campaign(owner: User) -> Campaign:
    return make_campaign(owner, "qg", "Questions")


@pytest.fixture
def webhook(campaign: Campaign, receiver: Receiver) -> Webhook:
    events = ["campaign.launched", "hits.finished"]
    return add_webhook(campaign=campaign, url=receiver.url, events=events)[0]


def send(now: datetime) -> None:
    send_due_deliveries(JobContext(), now)


def announced(campaign: Campaign, now: datetime = NOW) -> Delivery:
    announce(campaign_id=campaign.pk, data=LAUNCHED, now=now)
    return Delivery.objects.latest("pk")


def finish_hits(campaign: Campaign, now: datetime, *numbers: int) -> None:
    hits = tuple(FinishedHit(assignment=100 + number, hit=number, finished_at=now) for number in numbers)
    announce(campaign_id=campaign.pk, data=HitsFinished(finished=hits), now=now)


def documented_check() -> Any:
    """Return the function of the documents that checks a signature."""
    text = (Path(__file__).parents[2] / "docs" / "webhooks.md").read_text()
    code: dict[str, Any] = {}
    exec(re.findall(r"```python\n(.*?)```", text, re.DOTALL)[0], code)
    return code["is_genuine"]


# --- What is sent


def test_an_event_is_sent_signed_as_documented(campaign: Campaign, receiver: Receiver) -> None:
    is_genuine = documented_check()
    _, secret = add_webhook(campaign=campaign, url=receiver.url, events=["campaign.launched"])
    now = timezone.now()
    delivery = announced(campaign, now)
    send(now)
    (got,) = receiver.received
    assert got.event == {
        "id": str(delivery.event_id),
        "event": "campaign.launched",
        "at": f"{now:%Y-%m-%dT%H:%M:%SZ}",
        "campaign": str(campaign.public_id),
        "data": {"launched_at": "2026-05-01T09:30:00Z", "n_hits": 2, "n_places": 4},
    }
    assert got.headers["Evalsite-Id"] == str(delivery.event_id)
    assert is_genuine(secret, got.headers, got.body)
    assert not is_genuine(secret, got.headers, got.body + b" ")
    assert not is_genuine("another", got.headers, got.body)
    assert not is_genuine(secret, got.headers | {"Evalsite-Timestamp": "1"}, got.body)
    delivery.refresh_from_db()
    assert (delivery.state, delivery.status, delivery.answer) == (State.DELIVERED, 200, "thank you")


def test_a_secret_is_encrypted_and_a_new_one_signs_from_then_on(campaign: Campaign, receiver: Receiver) -> None:
    is_genuine = documented_check()
    webhook, first = add_webhook(campaign=campaign, url=receiver.url, events=["campaign.launched"])
    assert first not in webhook.secret
    assert decrypt_secrets(webhook.secret) == {"secret": first}
    now = timezone.now()
    announced(campaign, now)
    second = rotate_secret(webhook=webhook)
    send(now)
    (got,) = receiver.received
    assert is_genuine(second, got.headers, got.body)
    assert not is_genuine(first, got.headers, got.body)


def test_a_secret_of_another_key_is_said(webhook: Webhook, receiver: Receiver, settings: Settings) -> None:
    delivery = announced(webhook.campaign)
    settings.SECRET_KEY = "another key of this installation, long enough"
    send(NOW)
    delivery.refresh_from_db()
    assert (delivery.state, receiver.received) == (State.FAILED, [])
    assert "SECRET_KEY" in delivery.answer


def test_only_active_webhooks_that_want_an_event_get_it(webhook: Webhook, receiver: Receiver) -> None:
    campaign = webhook.campaign
    add_webhook(campaign=campaign, url=f"{receiver.url}/other", events=["job.failed"])
    add_webhook(campaign=campaign, url=f"{receiver.url}/off", events=["campaign.launched"], is_active=False)
    add_webhook(campaign=campaign, url=f"{receiver.url}/too", events=["campaign.launched"])
    announced(campaign)
    send(NOW)
    assert sorted(got.path for got in receiver.received) == ["/events", "/events/too"]
    assert len({got.event["id"] for got in receiver.received}) == 1


@both_databases
def test_hits_that_finish_soon_after_each_other_are_one_delivery(webhook: Webhook, receiver: Receiver) -> None:
    campaign = webhook.campaign
    finish_hits(campaign, NOW, 1)
    finish_hits(campaign, NOW + timedelta(seconds=20), 2, 3)
    send(NOW + timedelta(seconds=20))
    assert receiver.received == []
    send(NOW + timedelta(seconds=31))
    finish_hits(campaign, NOW + timedelta(seconds=32), 4)
    send(NOW + 2 * MINUTE)
    found = [[hit["hit"] for hit in event["data"]["finished"]] for event in receiver.events("hits.finished")]
    assert found == [[1, 2, 3], [4]]
    assert receiver.events()[0]["data"]["finished"][0] == {
        "assignment": 101,
        "hit": 1,
        "finished_at": "2026-05-01T09:30:00Z",
    }


def test_a_delivery_of_hits_stays_small(webhook: Webhook) -> None:
    finish_hits(webhook.campaign, NOW, *range(90))
    finish_hits(webhook.campaign, NOW, *range(20))
    finish_hits(webhook.campaign, NOW, *range(10))
    assert sorted(len(each.data["finished"]) for each in Delivery.objects.all()) == [20, 100]


def test_a_copy_has_no_webhooks(webhook: Webhook, owner: User) -> None:
    copy = duplicate_campaign(campaign=webhook.campaign, owner=owner, as_replication=True)
    assert not copy.webhooks.exists()


# --- Tries


@pytest.mark.parametrize("status", [500, 503, 429, 0])
def test_without_an_answer_it_is_tried_again_later_and_later(webhook: Webhook, receiver: Receiver, status: int) -> None:
    receiver.status, at = status, NOW
    delivery = announced(webhook.campaign)
    for n_tries, minutes in enumerate((1, 5, 30, 120, 720), start=1):
        send(at)
        delivery.refresh_from_db()
        assert (delivery.state, delivery.n_tries) == (State.WAITING, n_tries)
        assert delivery.try_at == at + timedelta(minutes=minutes)
        send(delivery.try_at - timedelta(seconds=1))
        assert len(receiver.received) == n_tries
        at = delivery.try_at
    send(at)
    delivery.refresh_from_db()
    assert (delivery.state, delivery.n_tries, delivery.try_at) == (State.FAILED, 6, None)
    assert delivery.status == (status or None)
    assert len({got.headers["Evalsite-Id"] for got in receiver.received}) == 1
    send_again(delivery=delivery)
    receiver.status = 204
    send(timezone.now())
    delivery.refresh_from_db()
    assert (delivery.state, delivery.n_tries) == (State.DELIVERED, 1)


def test_the_receiver_may_ask_for_a_longer_pause(webhook: Webhook, receiver: Receiver) -> None:
    receiver.status, receiver.headers = 429, {"Retry-After": "600"}
    delivery = announced(webhook.campaign)
    send(NOW)
    delivery.refresh_from_db()
    assert delivery.try_at == NOW + 10 * MINUTE


@pytest.mark.parametrize("status", [301, 307, 400, 404])
def test_other_answers_are_final_and_redirects_are_not_followed(
    webhook: Webhook, receiver: Receiver, status: int
) -> None:
    receiver.status, receiver.headers = status, {"Location": "/elsewhere"}
    delivery = announced(webhook.campaign)
    send(NOW)
    delivery.refresh_from_db()
    assert (delivery.state, delivery.status, len(receiver.received)) == (State.FAILED, status, 1)


@both_databases
def test_410_turns_the_webhook_off(webhook: Webhook, receiver: Receiver) -> None:
    receiver.status = 410
    gone, waiting = announced(webhook.campaign), announced(webhook.campaign)
    send(NOW)
    webhook.refresh_from_db()
    gone.refresh_from_db()
    waiting.refresh_from_db()
    assert (webhook.is_active, webhook.gone_at, gone.state, waiting.state) == (False, NOW, "failed", "waiting")
    with pytest.raises(DomainError, check=lambda error: error.code == "not_active"):
        send_again(delivery=gone)
    receiver.status = 200
    change_webhook(webhook=webhook, changes={"is_active": True})
    send(NOW + MINUTE)
    waiting.refresh_from_db()
    assert waiting.state == State.DELIVERED
    assert Webhook.objects.get().gone_at is None


def test_the_beginning_of_an_answer_is_kept(webhook: Webhook, receiver: Receiver) -> None:
    receiver.body = b"\0" + "ä".encode() * 100_000
    delivery = announced(webhook.campaign)
    send(NOW)
    delivery.refresh_from_db()
    assert delivery.answer.startswith("ää")
    assert len(delivery.answer) < 1024


@both_databases
@pytest.mark.parametrize("dies", ["before the answer is stored", "before it is sent"])
def test_after_a_crash_it_is_sent_again_with_the_same_id(
    webhook: Webhook, receiver: Receiver, monkeypatch: pytest.MonkeyPatch, dies: str
) -> None:
    delivery = announced(webhook.campaign)
    with monkeypatch.context() as patch:
        patch.setattr(deliveries, "_post" if dies == "before it is sent" else "_store", None)
        with pytest.raises(TypeError):  # not callable: the process dies there
            send(NOW)
    delivery.refresh_from_db()
    assert delivery.state == State.SENDING
    send(NOW + timedelta(seconds=30))  # it may still be under way
    send(NOW + 2 * MINUTE)
    delivery.refresh_from_db()
    assert (delivery.state, delivery.n_tries) == (State.DELIVERED, 2)
    ids = [got.event["id"] for got in receiver.received]
    assert ids == [str(delivery.event_id)] * (1 if dies == "before it is sent" else 2)


@both_databases
def test_a_slow_receiver_does_not_keep_others_waiting(
    webhook: Webhook, receiver: Receiver, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deliveries, "TIMEOUT_S", 0.3)
    other = make_campaign(owner, "qg", "Another")
    with Receiver() as slow:
        slow.go_on.clear()
        add_webhook(campaign=other, url=slow.url, events=["campaign.launched"])
        held = [announced(other) for _ in range(3)]
        prompt = [announced(webhook.campaign) for _ in range(3)]
        send(NOW)
        assert (len(slow.received), len(receiver.received)) == (1, 3)
    for delivery in (*held, *prompt):
        delivery.refresh_from_db()
    assert {each.state for each in prompt} == {State.DELIVERED}
    assert [(each.n_tries, each.try_at) for each in held] == [(n, NOW + MINUTE) for n in (1, 0, 0)]
    assert "within" in held[0].answer


@both_databases
@pytest.mark.django_db(transaction=True)
def test_of_two_jobs_at_once_one_sends_a_delivery(webhook: Webhook, receiver: Receiver) -> None:
    for _ in range(4):
        announced(webhook.campaign)
    at_once(2, lambda _: send(NOW))
    assert len(receiver.received) == len({got.event["id"] for got in receiver.received}) == 4
    assert set(Delivery.objects.values_list("state", "n_tries")) == {("delivered", 1)}


def test_a_webhook_that_is_removed_while_it_is_claimed_stops_no_other(
    campaign: Campaign, webhook: Webhook, receiver: Receiver
) -> None:
    other, _ = add_webhook(campaign=campaign, url=f"{receiver.url}other", events=["campaign.launched"])
    announced(campaign)

    def remove_after(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        found = execute(sql, params, many, context)
        if sql.startswith("UPDATE") and Delivery.objects.filter(webhook=other.pk, state=State.SENDING).exists():
            Webhook.objects.filter(pk=other.pk).delete()
        return found

    with connection.execute_wrapper(remove_after):
        send(NOW)
    assert set(Delivery.objects.values_list("webhook", "state")) == {(webhook.pk, State.DELIVERED)}


@pytest.mark.databases("postgresql")
@pytest.mark.django_db(transaction=True)
def test_removing_a_webhook_does_not_undo_what_is_announced_meanwhile(webhook: Webhook) -> None:
    def remove() -> None:
        try:
            remove_webhook(webhook=webhook)
        finally:
            connection.close()

    remover = threading.Thread(target=remove)
    with transaction.atomic():
        announced(webhook.campaign)
        remover.start()
        wait_until(_is_any_waiting_for_a_lock, 30, "the removal waits")
        Campaign.objects.filter(pk=webhook.campaign_id).update(name="What happened")
    remover.join()
    assert Campaign.objects.get().name == "What happened"
    assert not Webhook.objects.exists()


def _is_any_waiting_for_a_lock() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM pg_locks WHERE NOT granted")
        return cursor.fetchone() is not None


def test_what_is_due_has_one_job(webhook: Webhook, receiver: Receiver) -> None:
    for _ in range(2):
        announced(webhook.campaign, timezone.now())
    assert Job.objects.filter(kind=SEND).count() == 1
    Job.objects.all().delete()
    enqueue_due_deliveries()
    enqueue_due_deliveries()
    assert Job.objects.filter(kind=SEND).count() == 1
    Job.objects.all().delete()
    send_due_deliveries(JobContext())
    enqueue_due_deliveries()
    assert (len(receiver.received), Job.objects.count()) == (2, 0)


def test_deliveries_are_kept_for_a_month(webhook: Webhook) -> None:
    old, new = announced(webhook.campaign, NOW), announced(webhook.campaign, NOW + timedelta(days=2))
    assert delete_old_deliveries(NOW + timedelta(days=31)) == 1
    assert list(Delivery.objects.all()) == [new]
    assert old != new


# --- Addresses

BAD = {
    "http://hooks.example.org/": "https",
    "https://user:pass@hooks.example.org/": "password",
    "https://127.0.0.1/": "not public",
    "https://127.1/": "not public",
    "https://2130706433/": "not public",
    "https://0x7f000001/": "not public",
    "https://[::1]/": "not public",
    "https://[::ffff:10.0.0.1]/": "not public",
    "https://localhost:8000/": "not public",
    "https://db.localhost/": "not public",
    "https://10.1.2.3/": "not public",
    "https://192.168.0.1/": "not public",
    "https://169.254.169.254/latest/meta-data/": "not public",
    "https://[fe80::1]/": "not public",
    "ftp://hooks.example.org/": "https?://",
    "hooks.example.org": "https?://",
    "https://": "https?://",
    "https://hooks.example.org:99999/": "port",
}


@pytest.mark.parametrize("url", BAD)
def test_bad_addresses_are_refused_when_they_are_saved_and_when_they_are_sent_to(
    campaign: Campaign, settings: Settings, url: str
) -> None:
    settings.WEBHOOK_HOSTS = ["*"]
    with pytest.raises(DomainError, match=BAD[url]) as refused:
        add_webhook(campaign=campaign, url=url, events=["campaign.launched"])
    webhook, _ = add_webhook(campaign=campaign, url="https://hooks.example.org/", events=["campaign.launched"])
    with pytest.raises(DomainError, match=BAD[url]):
        change_webhook(webhook=webhook, changes={"url": url})
    Webhook.objects.update(url=url)  # allowed when it was saved
    delivery = announced(campaign)
    send(NOW)
    delivery.refresh_from_db()
    assert (delivery.state, delivery.n_tries) == (State.FAILED, 1)
    assert delivery.answer == refused.value.message


@pytest.mark.parametrize("address", ["127.0.0.1", "10.0.0.7", "169.254.169.254"])
def test_a_name_that_leads_to_another_address_by_then_is_refused(
    campaign: Campaign, settings: Settings, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    settings.WEBHOOK_HOSTS = ["*"]
    add_webhook(campaign=campaign, url="https://rebound.example.org/", events=["campaign.launched"])
    look_up = socket.getaddrinfo
    monkeypatch.setattr(socket, "getaddrinfo", lambda host, port, **more: look_up(address, port, **more))
    delivery = announced(campaign)
    send(NOW)
    delivery.refresh_from_db()
    assert delivery.state == State.FAILED
    assert "WEBHOOK_HOSTS" in delivery.answer


def test_hosts_that_the_admin_does_not_name_are_refused(campaign: Campaign, settings: Settings) -> None:
    settings.WEBHOOK_HOSTS = ["*.example.org", "10.0.0.7:8000"]
    add_webhook(campaign=campaign, url="https://hooks.example.org/", events=["job.failed"])
    add_webhook(campaign=campaign, url="http://10.0.0.7:8000/", events=["job.failed"])
    for url in ("https://hooks.example.com/", "http://10.0.0.7:9000/"):
        with pytest.raises(DomainError, match="WEBHOOK_HOSTS"):
            add_webhook(campaign=campaign, url=url, events=["job.failed"])


def test_no_address_twice_and_not_too_many(campaign: Campaign) -> None:
    for number in range(10):
        add_webhook(campaign=campaign, url=f"https://hooks.example.org/{number}", events=["job.failed"])
    for url, code in (("https://hooks.example.org/3", "address_taken"), ("https://b.org/", "too_many_webhooks")):
        with pytest.raises(DomainError, check=lambda error, code=code: error.code == code):
            add_webhook(campaign=campaign, url=url, events=["job.failed"])


def test_no_log_shows_a_secret(
    webhook: Webhook, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setattr("evalsite.lib.http.open_guarded_client", None)  # not callable: a fault of this server
    delivery = announced(webhook.campaign)
    send(NOW)
    delivery.refresh_from_db()
    assert (delivery.state, delivery.n_tries) == (State.WAITING, 1)
    assert "a delivery to a webhook was not sent" in caplog.text
    assert decrypt_secrets(webhook.secret)["secret"] not in caplog.text
