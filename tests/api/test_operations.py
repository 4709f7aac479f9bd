"""What all operations have in common: who may, what is refused and how, keys, ETags, pages."""

from base64 import b64encode
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from api.models import KeyedRequest
from campaigns.models import Campaign
from campaigns.services.campaigns import create_campaign
from evalsite.accounts.models import ApiToken, Scope, User
from evalsite.accounts.tokens import revoke_token
from tests.api.conftest import Api
from tests.databases import at_once

ROOT = "/api/v1/campaigns/"
NEW = {"protocol": "qg", "name": "Questions"}


@pytest.fixture
def campaign(owner: User) -> Campaign:
    return create_campaign(owner=owner, protocol="qg", name="Questions")


def _problem(response: Any, status: int, code: str) -> dict[str, Any]:
    assert (response.status_code, response["Content-Type"]) == (status, "application/problem+json")
    problem = response.json()
    assert problem["code"] == code
    return problem


def test_without_a_token_one_is_asked_for(client: Client) -> None:
    response = client.get(ROOT)
    _problem(response, 401, "not_authenticated")
    assert response["WWW-Authenticate"].startswith("Bearer")


@pytest.mark.parametrize("change", ["revoked", "expired", "another", "of nobody active"])
def test_a_token_that_is_not_valid_opens_nothing(api: Api, owner: User, change: str) -> None:
    client, token = api(owner), owner.tokens.get()
    if change == "revoked":
        revoke_token(user=owner, token_id=token.pk, now=timezone.now())
    elif change == "expired":
        ApiToken.objects.update(expires_at=timezone.now())
    elif change == "another":
        ApiToken.objects.update(digest="0" * 64)
    else:
        User.objects.update(is_active=False)
    _problem(client.get(ROOT), 401, "bad_token")


def test_a_token_is_kept_as_a_hash_and_its_use_is_noted(api: Api, owner: User) -> None:
    api(owner).get(ROOT)
    token = owner.tokens.get()
    assert token.last_used_at
    assert len(token.digest) == 64
    assert not token.digest.startswith(token.start)


def test_a_token_does_what_its_scopes_say(api: Api, owner: User, campaign: Campaign) -> None:
    reader = api(owner, Scope.READ)
    assert reader.get(f"{ROOT}{campaign.public_id}/").status_code == 200
    _problem(reader.post(ROOT, NEW), 403, "no_scope")
    _problem(api(owner, Scope.EDIT).get(ROOT), 403, "no_scope")
    assert Campaign.objects.count() == 1


def test_a_browser_session_has_all_scopes_and_needs_its_csrf_token(owner: User) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(owner)
    assert client.get(ROOT).status_code == 200
    _problem(client.post(ROOT, NEW, "application/json"), 403, "permission_denied")


def test_what_is_not_yours_is_not_found(api: Api, stranger: User, campaign: Campaign) -> None:
    _problem(api(stranger).get(f"{ROOT}{campaign.public_id}/"), 404, "not_found")


@pytest.mark.parametrize("rest", ["lost/", "campaigns", "campaigns/example-%C3%84%0A.csv", "%0A"])
def test_an_address_without_an_operation_is_not_found(api: Api, owner: User, rest: str) -> None:
    _problem(api(owner).get(f"/api/v1/{rest}"), 404, "not_found")


def test_fields_are_checked_by_the_form_of_the_page(api: Api, owner: User) -> None:
    problem = _problem(api(owner).post(ROOT, {"protocol": "no such", "colour": "red"}), 422, "invalid")
    assert problem["errors"].keys() == {"protocol", "colour"}
    problem = _problem(api(owner).post(ROOT, {"protocol": "qg", "name": ["a list"]}), 422, "invalid")
    assert problem["errors"].keys() == {"name"}
    _problem(api(owner).post(ROOT, [1, 2]), 422, "invalid")
    _problem(api(owner).post(ROOT, "{", content_type="application/json"), 400, "parse_error")


def test_a_refusal_has_the_code_of_the_service(api: Api, owner: User, campaign: Campaign) -> None:
    problem = _problem(api(owner).post(f"{ROOT}{campaign.public_id}/launch/"), 409, "not_ready")
    assert "Outputs" in problem["detail"]


def test_a_request_sent_again_with_its_key_is_answered_and_not_done_again(api: Api, owner: User) -> None:
    client, key = api(owner), {"Idempotency-Key": str(uuid4())}
    first, second = (client.post(ROOT, NEW, headers=key) for _ in range(2))
    assert first.status_code == second.status_code == 201
    assert first.json() == second.json()
    assert second["Idempotent-Replayed"] == "true"
    assert Campaign.objects.count() == 1
    _problem(client.post(ROOT, NEW | {"name": "Another"}, headers=key), 422, "key_reused")


def test_a_refused_request_may_be_corrected_under_its_key(api: Api, owner: User) -> None:
    client, key = api(owner), {"Idempotency-Key": "mine"}
    _problem(client.post(ROOT, {"protocol": "no such"}, headers=key), 422, "invalid")
    assert client.post(ROOT, NEW, headers=key).status_code == 201


def test_a_crash_in_the_middle_leaves_nothing(api: Api, owner: User, monkeypatch: pytest.MonkeyPatch) -> None:
    client, key = api(owner), {"Idempotency-Key": "mine"}
    client.raise_request_exception = False
    with monkeypatch.context() as patch:
        patch.setattr(KeyedRequest, "save", None)  # not callable: the process dies after the work
        assert client.post(ROOT, NEW, headers=key).status_code == 500
    assert not Campaign.objects.exists()
    assert client.post(ROOT, NEW, headers=key).status_code == 201
    assert Campaign.objects.count() == 1


@pytest.mark.databases("sqlite", "postgresql")
@pytest.mark.django_db(transaction=True)
def test_of_requests_at_the_same_time_one_is_done(api: Api, owner: User) -> None:
    client, answers = api(owner), []

    def send(_: int) -> None:
        answers.append(client.post(ROOT, NEW, headers={"Idempotency-Key": "mine"}).json()["public_id"])

    at_once(4, send)
    assert len(answers) == 4
    assert len(set(answers)) == Campaign.objects.count() == 1


def test_of_two_people_the_second_is_told_that_the_first_was_faster(api: Api, owner: User, campaign: Campaign) -> None:
    client, address = api(owner), f"{ROOT}{campaign.public_id}/settings/"
    tag = client.get(address)["ETag"]

    def patch(**changes: Any) -> Any:
        return client.patch(address, changes, "application/json", headers={"If-Match": tag})

    first = patch(alpha=0.01)
    assert (first.status_code, first.json()["alpha"], first["ETag"] != tag) == (200, 0.01, True)
    _problem(patch(alpha=0.1), 412, "changed_meanwhile")
    campaign.refresh_from_db()
    assert campaign.alpha == 0.01


def test_an_id_that_another_campaign_has_is_refused(
    api: Api, owner: User, stranger: User, owner_client: Client, campaign: Campaign
) -> None:
    taken = {"public_id": str(create_campaign(owner=stranger, protocol="qg").public_id)}
    for address in (ROOT, f"{ROOT}{campaign.public_id}/copies/"):
        problem = _problem(api(owner).post(address, taken | (NEW if address == ROOT else {})), 422, "id_taken")
        assert [*problem["errors"]] == ["public_id"]
    assert owner_client.post(reverse("campaigns:new"), taken | NEW).status_code == 422
    assert Campaign.objects.filter(memberships__user=owner).get() == campaign


def test_a_condition_on_a_list_without_an_etag_is_refused(api: Api, owner: User) -> None:
    response = api(owner).post(ROOT, NEW, headers={"If-Match": '"any"'})
    _problem(response, 412, "no_etag")
    assert not Campaign.objects.exists()


def test_a_patch_leaves_alone_what_is_not_sent(api: Api, owner: User, campaign: Campaign) -> None:
    client, address = api(owner), f"{ROOT}{campaign.public_id}/settings/"
    before = client.get(address).json()
    after = client.patch(address, {"reward": "1.50", "currency": "eur"}, "application/json").json()
    assert after == before | {"reward": "1.50", "currency": "EUR"}


@pytest.mark.parametrize(
    ("name", "status", "code"),
    [
        ('"\\ud800"', 400, "parse_error"),
        ("1e400", 400, "parse_error"),
        ("[" * 5_000 + "]" * 5_000, 400, "parse_error"),
        ('"' + "x" * 3_000_000 + '"', 413, "too_large"),
    ],
    ids=["half of a pair", "infinite", "deep", "large"],
)
def test_json_that_cannot_be_kept_is_refused(api: Api, owner: User, name: str, status: int, code: str) -> None:
    body = f'{{"protocol": "qg", "settings": {name}}}'
    _problem(api(owner).post(ROOT, body), status, code)


@pytest.mark.parametrize("position", ["p=seven", "p=%00", "r=1&p=None", "p=[]"])
@pytest.mark.parametrize("address", ["", "{}/hits/", "{}/payments/"], ids=["by time", "by number", "of a union"])
def test_the_cursor_of_another_list_is_not_found(
    api: Api, owner: User, campaign: Campaign, address: str, position: str
) -> None:
    cursor = b64encode(position.encode()).decode()
    response = api(owner).get(f"{ROOT}{address.format(campaign.public_id)}", {"cursor": cursor})
    _problem(response, 404, "not_found")


@pytest.mark.parametrize("rows", ["[" * 5_000, '[{"output": NaN}]', "[" + "9" * 5_000 + "]"])
def test_json_within_a_text_is_refused(api: Api, owner: User, campaign: Campaign, rows: str) -> None:
    problem = _problem(api(owner).post(f"{ROOT}{campaign.public_id}/uploads/rows/", {"rows": rows}), 422, "invalid")
    assert set(problem["errors"]) == {"rows"}


def test_pages_of_a_list_have_cursors(api: Api, owner: User) -> None:
    made = [create_campaign(owner=owner, protocol="qg", name=f"{k}") for k in range(5)]
    client, names, address = api(owner), [], f"{ROOT}?limit=2"
    while address:
        page = client.get(address).json()
        names += [row["name"] for row in page["results"]]
        address = page["next"]
    assert names == [each.name for each in reversed(made)]


def test_too_many_requests_wait(api: Api, owner: User, settings: Any) -> None:
    settings.API_REQUESTS_PER_MINUTE = 3
    client = api(owner)
    assert [client.get(ROOT).status_code for _ in range(4)] == [200, 200, 200, 429]
    assert int(client.get(ROOT)["Retry-After"]) > 0
    assert api(owner).get(ROOT).status_code == 200  # another token
