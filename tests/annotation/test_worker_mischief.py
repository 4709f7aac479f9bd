"""What a worker's browser should not send, and what happens to a worker in two tabs, through HTTP."""

import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from annotation.access.tokens import token_of
from annotation.models import Assignment, Response
from annotation.services.assignments import start_assignment
from evalsite.accounts.models import User
from tests.annotation.open_campaigns import open_campaign, rate_items
from tests.databases import on_both, on_sqlite

pytestmark = [pytest.mark.django_db, on_sqlite]


@pytest.fixture
def assignment(owner: User) -> Assignment:
    campaign = open_campaign(owner)
    return start_assignment(campaign=campaign, worker_key=f"{campaign.public_id}:ann")


def url(name: str, assignment: Assignment, *more: str) -> str:
    return reverse(f"rate:{name}", args=[token_of(assignment), *more])


def _odd_answers(assignment: Assignment, client: Client) -> dict[str, HttpResponse]:
    hit, welcome = url("hit", assignment), reverse("rate:welcome", args=[assignment.campaign.public_id])
    huge = {"position": "1", "feedback": "x" * 3_000_000}
    return {
        "image that is none": client.get(url("image", assignment, "0" * 24 + "a")),
        "huge form": client.post(hit, huge),
        "huge feedback": client.post(url("feedback", assignment), huge),
        "huge welcome": client.post(welcome, huge),
        "many fields": client.post(hit, {f"answer_{k}": "1" for k in range(2000)}),
        "broken parts": client.post(hit, b"--x", content_type="multipart/form-data; boundary="),
        "cut link": client.get(f"/rate/c/{str(assignment.campaign.public_id)[:-3]}/"),
        "no such page": client.get(f"{hit}more/and/more/"),
        "head": client.head(hit),
        "forged": client.get(reverse("rate:hit", args=["1.forged"])),
    }


@on_both
def test_no_answer_sets_a_cookie_or_fails(assignment: Assignment, owner_client: Client) -> None:
    for name, response in _odd_answers(assignment, owner_client).items():
        assert response.status_code < 500, name
        assert not response.cookies, name
        assert "Set-Cookie" not in response, name
        assert "Vary" not in response, (name, "the session was read")
        assert "sign" not in response.text.lower(), (name, "a page of the site, not of its workers")
        assert "frame-ancestors 'self'" in response["Content-Security-Policy"], name
        assert response["Cache-Control"] == "no-store", name
    assert not Response.objects.exists()


@pytest.mark.parametrize("method", ["options", "put", "delete"])
def test_other_methods(assignment: Assignment, owner_client: Client, method: str) -> None:
    response = getattr(owner_client, method)(url("hit", assignment))
    assert (response.status_code, dict(response.cookies)) == (405, {})
    assert "Vary" not in response


def test_a_file_is_not_taken(assignment: Assignment, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def keep(*args: object, **options: object) -> None:
        raise AssertionError("nobody's file is kept")

    monkeypatch.setattr("evalsite.web.SizeLimit.new_file", keep)
    file = SimpleUploadedFile("large.bin", b"x" * 100_000)
    page = client.post(url("hit", assignment), {"position": "1", "file": file})
    assert page.status_code == 422


@on_both
def test_feedback_may_hold_what_a_database_does_not(assignment: Assignment, client: Client) -> None:
    rate_items(assignment)
    assert client.post(url("feedback", assignment), {"feedback": " fine\0 👍 "}).status_code == 303
    assignment.refresh_from_db()
    assert (assignment.state, assignment.feedback) == ("finished", "fine 👍")


@pytest.mark.parametrize("position", [None, "", "0", "-1", "1.0", "1e0", "one", "１"])
def test_without_a_position_nothing_is_kept_nor_said_to_be(
    assignment: Assignment, client: Client, position: str | None
) -> None:
    page = client.get(url("hit", assignment))
    sent = dict.fromkeys(re.findall(r'data-name="(answer_\d+)"', page.text), "50")
    if position is not None:
        sent["position"] = position
    answer = client.post(url("hit", assignment), sent)
    assert answer.status_code == 409
    assert "already rated" not in answer.text
    assert not Response.objects.exists()
