"""Files of dialogues that chatbots speak from: taking them in, and deleting those that nobody speaks from."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from campaigns import dialogues
from campaigns.chatbots import connector_of
from campaigns.models import Campaign
from campaigns.services.chatbots import remove_chatbot
from campaigns.services.copies import duplicate_campaign
from campaigns.services.deletion import delete_campaign
from evalsite.accounts.models import User
from tests.buckets import Bucket
from tests.campaigns.live import chatbot_of, launch, make_live, url_of

pytestmark = pytest.mark.django_db

GOOD = "\n".join(
    json.dumps([f"Do you like {what}?", f"Yes, I like {what} very much."]) for what in ("tea", "jam", "fog")
)


@pytest.fixture
def live(owner: User) -> Campaign:
    return make_live(owner, names=("Amber", "Birch"))


@pytest.fixture
def commits(django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks) -> Any:
    """What is left for the end of the transaction is done at the end of the block."""
    return lambda: django_capture_on_commit_callbacks(execute=True)


def send(client: Client, campaign: Campaign, text: str = GOOD, name: str = "Amber", file: str = "mine.jsonl") -> Any:
    upload = SimpleUploadedFile(file, text.encode())
    return client.post(url_of(campaign, "chatbot_dialogues", chatbot_of(campaign, name).pk), {"file": upload})


def file_of(campaign: Campaign, name: str = "Amber") -> str:
    return chatbot_of(campaign, name).dialogues.name or ""


@pytest.mark.parametrize("name", ["Amber", "degraded"])
def test_a_chatbot_speaks_from_the_file(owner_client: Client, live: Campaign, name: str) -> None:
    assert connector_of(chatbot_of(live, name)).setup.dialogues.is_file()  # the examples
    assert send(owner_client, live, name=name).status_code == 302
    spoken_from = connector_of(chatbot_of(live, name)).setup.dialogues
    assert spoken_from.read_text() == GOOD
    page = owner_client.get(url_of(live, "chatbot", chatbot_of(live, name).pk))
    assert page.context["dialogues"].startswith("mine")


def test_a_chatbot_speaks_from_a_file_in_a_bucket(
    owner_client: Client, live: Campaign, bucket: Bucket, commits: Any
) -> None:
    send(owner_client, live)
    assert connector_of(chatbot_of(live)).setup.dialogues.read_text() == GOOD
    page = owner_client.get(url_of(live, "chatbot", chatbot_of(live).pk))
    assert page.context["dialogues"] == "mine.jsonl"
    with commits():
        send(owner_client, live, text=f"{GOOD}\n{GOOD}")
    assert len(bucket.files()) == 1
    with commits():
        delete_campaign(campaign=live)
    assert bucket.files() == {}


def test_an_upload_that_is_read_displaces_no_file_in_use(
    owner_client: Client, live: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dialogues, "_dialogues", lambda path: pytest.fail("the upload is kept in the process"))
    assert send(owner_client, live).status_code == 302


@pytest.mark.parametrize(
    ("text", "file"),
    [("", "a.jsonl"), ("{}", "a.jsonl"), ("not json", "a.jsonl"), (GOOD, "a.csv"), ("[1, 2]", "a.jsonl")],
)
def test_a_file_that_cannot_be_read_changes_nothing(owner_client: Client, live: Campaign, text: str, file: str) -> None:
    send(owner_client, live)
    before = file_of(live)
    files = set(Path(default_storage.path("dialogues")).iterdir())
    answer = send(owner_client, live, text, file=file)
    assert answer.status_code == 422
    assert answer.context["dialogues_form"].errors["file"]
    assert file_of(live) == before
    assert set(Path(default_storage.path("dialogues")).iterdir()) == files


def test_a_file_may_be_too_large(owner_client: Client, live: Campaign, settings: Settings) -> None:
    settings.MAX_UPLOAD_MB = 0
    answer = send(owner_client, live)
    assert answer.context["dialogues_form"].has_error("file", "too_large")


def test_a_page_that_was_refused_can_be_reloaded(owner_client: Client, live: Campaign) -> None:
    url = url_of(live, "chatbot_dialogues", chatbot_of(live).pk)
    assert owner_client.get(url)["Location"].startswith(url_of(live, "chatbot", chatbot_of(live).pk))


def test_a_file_is_wanted(owner_client: Client, live: Campaign) -> None:
    answer = owner_client.post(url_of(live, "chatbot_dialogues", chatbot_of(live).pk), {})
    assert answer.status_code == 422


def test_back_to_the_examples(owner_client: Client, live: Campaign, commits: Any) -> None:
    send(owner_client, live)
    former = file_of(live)
    with commits():
        owner_client.post(url_of(live, "chatbot_dialogues", chatbot_of(live).pk), {"reset": "1"})
    assert file_of(live) == ""
    assert not default_storage.exists(former)


def test_another_file_takes_the_place_of_the_former(owner_client: Client, live: Campaign, commits: Any) -> None:
    send(owner_client, live)
    former = file_of(live)
    with commits():
        send(owner_client, live)
    assert file_of(live) != former
    assert default_storage.exists(file_of(live))
    assert not default_storage.exists(former)


def test_after_the_launch_the_file_stays(owner_client: Client, live: Campaign) -> None:
    send(owner_client, live)
    launch(live)
    before = file_of(live)
    assert send(owner_client, live).status_code == 422
    assert file_of(live) == before


def test_a_file_goes_with_the_last_chatbot_that_speaks_from_it(
    owner_client: Client, owner: User, live: Campaign, commits: Any
) -> None:
    send(owner_client, live)
    name = file_of(live)
    owner_client.post(url_of(live, "chatbot_duplicate", chatbot_of(live).pk))
    copy = duplicate_campaign(campaign=live, owner=owner, as_replication=False)
    assert file_of(copy) == file_of(copy, "Amber (2)") == name
    for campaign, chatbot in ((live, "Amber"), (live, "Amber (2)")):
        with commits():
            remove_chatbot(campaign=campaign, chatbot=chatbot_of(campaign, chatbot))
        assert default_storage.exists(name)
    with commits():
        delete_campaign(campaign=copy)
    assert not default_storage.exists(name)
