"""Chatbots of a live campaign, set up by a script."""

import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart
from django.views.debug import ExceptionReporter
from pytest_django import DjangoAssertNumQueries

from api.models import KeyedRequest
from campaigns.models import Campaign, Chatbot
from evalsite.accounts.models import Scope, User
from evalsite.lib import encryption
from evalsite.lib.encryption import decrypt_secrets
from simulators.chat_completions import ChatServer
from tests.api.conftest import Api
from tests.campaigns.cast import add_member, make_campaign
from tests.campaigns.live import KEY, PERSONA, launch, make_live

pytestmark = pytest.mark.django_db


@pytest.fixture
def live(owner: User) -> Campaign:
    return make_campaign(owner, "dialogue-free")


@pytest.fixture
def script(api: Api, owner: User) -> Client:
    return api(owner)


@pytest.fixture
def address(live: Campaign) -> str:
    return f"/api/v1/campaigns/{live.public_id}/chatbots/"


def _patch(script: Client, address: str, **changes: Any) -> Any:
    return script.patch(address, changes, "application/json")


def _remote(server: ChatServer, **more: Any) -> dict[str, Any]:
    settings = {"base_url": server.base_url, "model": "small", "max_tokens": 50, "is_streaming": False}
    return {"connector": "openai-chat", "name": "Remote", "settings": settings, "secrets": {"api_key": KEY}} | more


def _file(*lines: object) -> SimpleUploadedFile:
    return SimpleUploadedFile("mine.jsonl", "".join(json.dumps(line) + "\n" for line in lines).encode())


def test_connectors_say_what_can_be_set(script: Client) -> None:
    found = {each["slug"]: each for each in script.get("/api/v1/connectors/").json()}
    assert {"openai-chat", "http-json", "python", "retrieval", "degraded"} <= found.keys()
    options = {each["name"]: each for each in found["openai-chat"]["options"]}
    assert options["api_key"]["is_secret"]
    assert options["model"]["is_required"]
    assert (options["max_tokens"]["kind"], options["is_streaming"]["kind"]) == ("number", "choice")


def test_a_chatbot_is_added_asked_changed_copied_and_removed(
    script: Client, address: str, live: Campaign, server: ChatServer
) -> None:
    added = script.post(address, _remote(server))
    assert added.status_code == 201, added.content
    remote = f"{address}{added.json()['id']}/"
    assert added.json()["settings"]["is_streaming"] == "no"
    server.say("Hi there.")
    result = script.post(f"{remote}test/", {"then": "And now?"}).json()
    assert (result["ok"], result["turns"][1]) == (True, {"by": "chatbot", "text": "Hi there."})
    assert len(result["turns"]) == 4
    assert server.received[0].headers["Authorization"] == f"Bearer {KEY}"

    changed = _patch(script, remote, name="Far", persona=PERSONA, settings={"model": "large"}, price_per_reply="0.001")
    assert changed.status_code == 200, changed.content
    found = changed.json()
    assert (found["name"], found["persona"], found["price_per_reply"]) == ("Far", PERSONA, "0.001000")
    assert (found["settings"]["model"], found["settings"]["max_tokens"]) == ("large", 50)
    assert found["tested"]["is_outdated"]
    assert script.get(remote).json() == found

    copy = script.post(f"{remote}copies/").json()
    assert (copy["family"], copy["persona"], copy["secrets"]) == ("Far", PERSONA, {"api_key": True})
    assert script.delete(remote).status_code == 204
    names = [each["name"] for each in script.get(address).json()]
    assert names == ["Far (2)", "degraded"]


def test_a_secret_is_written_and_never_read(
    api: Api, script: Client, owner: User, address: str, server: ChatServer
) -> None:
    added = script.post(address, _remote(server), headers={"Idempotency-Key": "mine"})
    remote = f"{address}{added.json()['id']}/"
    assert added.json()["secrets"] == {"api_key": True}
    assert decrypt_secrets(Chatbot.objects.get(pk=added.json()["id"]).secrets) == {"api_key": KEY}
    assert _patch(script, f"{remote}secrets/", secrets={"api_key": "sk-new"}).json()["secrets"] == {"api_key": True}
    assert _patch(script, f"{remote}secrets/", secrets={"api_key": None}).json()["secrets"] == {"api_key": False}
    refused = _patch(script, f"{remote}secrets/", secrets={"password": "x"})
    assert (refused.status_code, list(refused.json()["errors"])) == (422, ["secrets.password"])
    answers = [script.get(each).content.decode() for each in (address, remote)]
    assert not any(KEY in each for each in [*answers, str(list(KeyedRequest.objects.values_list("content")))])
    assert _patch(api(owner, Scope.READ), f"{remote}secrets/", secrets={"api_key": "x"}).status_code == 403


def test_what_cannot_be_is_refused_at_its_option(script: Client, address: str, server: ChatServer) -> None:
    for sent, field in (
        (_remote(server, connector="telepathy"), "connector"),
        (_remote(server, name="degraded"), "name"),
        (_remote(server, name=""), "name"),
        (_remote(server, settings={"base_url": server.base_url}), "settings.model"),
        (_remote(server, settings={"base_url": server.base_url, "model": "small", "max_tokens": -1}),
         "settings.max_tokens"),
        (_remote(server, settings={"colour": "red"}), "settings.colour"),
        (_remote(server, secrets=["x"]), "secrets"),
    ):  # fmt: skip
        refused = script.post(address, sent)
        assert (refused.status_code, list(refused.json()["errors"])) == (422, [field]), refused.content
    remote = f"{address}{script.post(address, _remote(server)).json()['id']}/"
    for changes, field in (
        ({"settings": {"max_tokens": "many"}}, "settings.max_tokens"),
        ({"settings": {"colour": "red"}}, "settings.colour"),
        ({"persona": "I live by the sea."}, "persona"),
        ({"timeout_s": 0}, "timeout_s"),
    ):
        refused = _patch(script, remote, **changes)
        assert (refused.status_code, list(refused.json()["errors"])) == (422, [field]), refused.content
    keyed = script.post(f"{remote}test/", {}, headers={"Idempotency-Key": "mine"})
    assert (keyed.status_code, keyed.json()["code"]) == (422, "key_not_taken")


def test_a_campaign_has_one_degraded_chatbot(script: Client, address: str) -> None:
    refused = script.post(address, {"connector": "degraded", "name": "second"})
    assert (refused.status_code, refused.json()["code"]) == (422, "has_degraded")
    degraded = script.get(address).json()[0]
    assert script.post(f"{address}{degraded['id']}/copies/").json()["code"] == "has_degraded"
    assert script.delete(f"{address}{degraded['id']}/").status_code == 204
    assert script.post(address, {"connector": "degraded"}).json()["is_degraded"]


def test_a_chatbot_speaks_from_a_file_of_dialogues(script: Client, address: str, server: ChatServer) -> None:
    one = script.post(address, {"connector": "retrieval", "name": "Found"}).json()
    here = f"{address}{one['id']}/dialogues/"

    def put(file: SimpleUploadedFile, to: str = here) -> Any:
        return script.put(to, encode_multipart(BOUNDARY, {"file": file}), MULTIPART_CONTENT)

    dialogue = {"turns": ["Hello!", "Hello to you.", "Do you fish?", "Every morning."]}
    kept = put(_file(dialogue))
    assert (kept.status_code, kept.json()["dialogues"][:4]) == (200, "mine"), kept.content
    refused = put(SimpleUploadedFile("mine.jsonl", b"{"))
    assert (refused.status_code, list(refused.json()["errors"])) == (422, ["file"])
    assert script.delete(here).json()["dialogues"] == ""
    remote = script.post(address, _remote(server)).json()
    assert put(_file(dialogue), f"{address}{remote['id']}/dialogues/").status_code == 404


def test_after_the_launch_only_where_it_runs_may_change(script: Client, owner: User) -> None:
    campaign = launch(make_live(owner, names=("Amber",)))
    address = f"/api/v1/campaigns/{campaign.public_id}/chatbots/"
    amber = f"{address}{script.get(address).json()[0]['id']}/"
    assert _patch(script, amber, timeout_s=20).json()["timeout_s"] == 20
    for refused in (
        _patch(script, amber, persona=PERSONA),
        script.post(address, {"connector": "retrieval", "name": "Late"}),
        script.delete(amber),
        script.post(f"{amber}copies/"),
    ):
        assert (refused.status_code, refused.json()["code"]) == (409, "frozen")


def test_who_may(
    api: Api,
    owner: User,
    colleague: User,
    stranger: User,
    live: Campaign,
    address: str,
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    add_member(live, colleague, "viewer")
    one = f"{address}{api(owner).get(address).json()[0]['id']}/"
    assert api(colleague).get(one).status_code == 200
    for client, status in ((api(colleague), 403), (api(owner, Scope.READ), 403), (api(stranger), 404)):
        assert client.post(address, {"connector": "retrieval", "name": "x"}).status_code == status
        assert client.post(f"{one}test/").status_code == status
        assert client.delete(one).status_code == status
    reader = api(colleague)
    reader.get(address)
    with django_assert_num_queries(3):  # the token, the campaign, its chatbots
        reader.get(address)
    other = make_campaign(owner, "qg")
    assert api(owner).get(f"/api/v1/campaigns/{other.public_id}/chatbots/").status_code == 404


@pytest.mark.parametrize("is_new", [True, False])
def test_no_report_of_an_error_shows_a_secret(
    script: Client,
    address: str,
    server: ChatServer,
    is_new: bool,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("the disk is full")

    script.raise_request_exception = False
    key = {"Idempotency-Key": "mine"}
    if is_new:
        monkeypatch.setattr(encryption, "_cipher", fail)
        answer = script.post(address, _remote(server), headers=key)
    else:
        remote = script.post(address, _remote(server, secrets={})).json()
        monkeypatch.setattr(encryption, "_cipher", fail)
        answer = _patch(script, f"{address}{remote['id']}/secrets/", secrets={"api_key": KEY})
    assert answer.status_code == 500
    found = next(record.exc_info for record in caplog.records if record.exc_info)
    reporter = ExceptionReporter(None, *found)
    for report in (reporter.get_traceback_html(), reporter.get_traceback_text()):
        assert "the disk is full" in report
        assert KEY not in report
