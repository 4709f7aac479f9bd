"""What is sent again with its key is done once: at the same time, while it is being done, and after a crash."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as site_settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.client import MULTIPART_CONTENT
from pytest_django import Settings

from api import idempotency
from api.models import KeyedRequest
from api.urls import urlpatterns
from campaigns.models import Campaign
from campaigns.services.campaigns import create_campaign
from crowd.models import Order, Posting, Wave
from evalsite.accounts.models import User
from evalsite.jobs.models import Job
from tests.annotation.servers import ROOT as FOLDER
from tests.annotation.servers import database_url
from tests.api.conftest import Api
from tests.api.dying import MOMENTS
from tests.crowd.campaigns import make_crowd_campaign
from tests.crowd.paying import THANKS, paid_campaign

pytestmark = pytest.mark.django_db(transaction=True)
ROOT = "/api/v1/campaigns/"
KEY = {"Idempotency-Key": "mine"}


@pytest.mark.databases("sqlite", "postgresql")
def test_a_request_that_is_still_being_done_is_to_be_sent_again(
    api: Api, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = api(owner)
    client.get(ROOT)  # the use of the token is noted
    begun, may_end, save = threading.Event(), threading.Event(), KeyedRequest.save
    first: list[Any] = []

    def save_late(self: KeyedRequest, *args: Any, **more: Any) -> None:
        save(self, *args, **more)
        if "update_fields" in more:
            begun.set()
            may_end.wait()

    def send() -> None:
        try:
            first.append(client.post(ROOT, {"protocol": "qg"}, headers=KEY))
        finally:
            connection.close()

    monkeypatch.setattr(KeyedRequest, "save", save_late)
    monkeypatch.setattr(idempotency, "LONGEST_WAIT_MS", 100)
    thread = threading.Thread(target=send)
    thread.start()
    begun.wait()
    try:
        if connection.vendor == "sqlite":
            with connection.cursor() as cursor:
                cursor.execute("PRAGMA busy_timeout=100")
        second = client.post(ROOT, {"protocol": "qg"}, headers=KEY)
    finally:
        may_end.set()
        thread.join()
    connection.close()
    assert (second.status_code, second.json()["code"]) == (409, "in_progress")
    assert int(second["Retry-After"]) > 0
    third = client.post(ROOT, {"protocol": "qg"}, headers=KEY)
    assert third["Idempotent-Replayed"] == "true"
    assert third.json() == first[0].json()
    assert Campaign.objects.count() == 1


def test_a_key_is_heeded_with_a_condition(api: Api, owner: User) -> None:
    client, campaign = api(owner), create_campaign(owner=owner, protocol="qg")
    address = f"{ROOT}{campaign.public_id}/criteria/"
    headers = KEY | {"If-Match": client.get(address)["ETag"]}
    sent = {"name": "Clear", "statement": "It is clear."}
    first, second = (client.post(address, sent, headers=headers) for _ in range(2))
    assert (first.status_code, second.status_code) == (201, 201)
    assert second["Idempotent-Replayed"] == "true"
    assert campaign.criteria.filter(name="Clear").count() == 1
    assert (
        client.post(address, sent | {"name": "Short"}, headers=headers | {"Idempotency-Key": "new"}).status_code == 412
    )


def test_a_key_is_of_every_file_that_is_sent(api: Api, owner: User) -> None:
    """Text files of one upload have one name: another one among them is another request."""
    campaign = create_campaign(owner=owner, protocol="da-translation")
    address, client = f"{ROOT}{campaign.public_id}/uploads/", api(owner)

    def send(text: bytes) -> int:
        files = [SimpleUploadedFile("alder.txt", text), SimpleUploadedFile("source.txt", b"One.\n")]
        return client.post(address, {"file": files}, MULTIPART_CONTENT, headers=KEY).status_code

    assert [send(b"Eins.\n"), send(b"Eins.\n"), send(b"Uno.\n")] == [201, 201, 422]
    assert campaign.uploads.count() == 1


def test_every_post_takes_a_key_but_what_answers_with_a_secret_calls_the_network_or_deletes() -> None:
    posts = {each.name: each.callback.cls for each in urlpatterns if hasattr(each.callback, "cls")}
    without = {name for name, view in posts.items() if hasattr(view, "post") and not view.post.operation.takes_key}
    assert without == {"tokens", "webhooks", "webhook_secret", "chatbot_test", "platform_check", "deletion", "erasure"}


@dataclass
class Act:
    """Something that is done once: where it is sent, what, and how often it has happened."""

    address: str
    sent: dict[str, Any]
    count: Callable[[], int]


@pytest.fixture
def acts(owner: User, settings: Settings) -> list[Act]:
    """A bonus, the publication of a wave, and a launch."""
    settings.PROLIFIC_TOKEN = "key-of-the-site"
    settings.SITE_URL = "https://rate.example"
    paid = paid_campaign(owner, n_hits=1, n_workers=1)
    ready = {"n_hits": 2, "n_workers": 1, "status": Campaign.Status.READY, "launched_at": None}
    published, launched = (make_crowd_campaign(owner, platform, **ready) for platform in ("prolific", "link"))
    waves, is_launched = Wave.objects.filter(campaign=published), Campaign.objects.filter(pk=launched.pk)

    def count_waves() -> int:
        assert Posting.objects.filter(wave__in=waves).count() == Job.objects.filter(kind="crowd.publish").count()
        return waves.count()

    return [
        Act(
            f"{ROOT}{paid.public_id}/payments/bonus/?submission={paid.submissions.get().pk}",
            {"amount": "0.50", "message": THANKS, "agreed": "0.60"},
            Order.objects.filter(kind=Order.Kind.BONUS).count,
        ),
        Act(
            f"{ROOT}{published.public_id}/waves/",
            {"n_hits": 1, "max_cost": "100.00", "is_confirmed": True},
            count_waves,
        ),
        Act(
            f"{ROOT}{launched.public_id}/launch/",
            {"is_confirmed": True},
            is_launched.exclude(launched_at=None).count,
        ),
    ]


@pytest.mark.databases("sqlite", "postgresql")
def test_of_payments_publications_and_launches_at_the_same_time_one_is_done(
    api: Api, owner: User, acts: list[Act]
) -> None:
    client, answers = api(owner), []
    client.get(ROOT)  # the use of the token is noted
    barrier = threading.Barrier(2 * len(acts))

    def send(act: Act) -> None:
        try:
            barrier.wait()
            response = client.post(act.address, act.sent, headers={"Idempotency-Key": act.address})
            answers.append((act.address, response.status_code, json.dumps(response.json(), sort_keys=True)))
        finally:
            connection.close()

    threads = [threading.Thread(target=send, args=[act]) for act in acts * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [act.count() for act in acts] == [1, 1, 1]
    assert {status for _, status, _ in answers} == {202, 200}
    assert len(answers) == 2 * len(set(answers)) == 2 * len(acts)


@pytest.mark.databases("sqlite", "postgresql")
def test_what_was_paid_published_or_launched_when_the_process_died_is_done_once(
    api: Api, owner: User, acts: list[Act], tmp_path: Path
) -> None:
    client = api(owner)
    client.get(ROOT)
    die_sending(client, acts, tmp_path)
    assert [act.count() for act in acts] == [1, 1, 1]
    assert set(KeyedRequest.objects.values_list("key", "user")) == {("after " + act.address, owner.pk) for act in acts}
    for act in acts:
        before, after = (
            client.post(act.address, act.sent, headers={"Idempotency-Key": f"{each} {act.address}"}) for each in MOMENTS
        )
        assert before.status_code == after.status_code < 300, (before.content, after.content)
        assert after["Idempotent-Replayed"] == "true"
        assert "Idempotent-Replayed" not in before
    assert [act.count() for act in acts] == [2, 2, 1]


def die_sending(client: Client, acts: list[Act], folder: Path) -> None:
    """Send all in processes that die, each once before its work is committed and once after."""
    token = client.defaults["HTTP_AUTHORIZATION"].partition(" ")[2]
    environment = os.environ | {
        "DJANGO_SETTINGS_MODULE": "evalsite.settings",
        "EVALSITE_DATA": str(folder),
        "SECRET_KEY": site_settings.SECRET_KEY,
        "DATABASE_URL": database_url(),
        "PROLIFIC_TOKEN": "key-of-the-site",
        "SITE_URL": "https://rate.example",
    }
    command = [sys.executable, "-m", "tests.api.dying", token, json.dumps([[act.address, act.sent] for act in acts])]
    done = subprocess.run(command, cwd=FOLDER, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
