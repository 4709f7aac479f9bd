"""What workers do, as a script reads it."""

import csv
import io

import numpy as np
import pytest

from annotation.models import Assignment, Response
from campaigns.models import Campaign
from evalsite.accounts.models import Scope, User
from tests.annotation.cast import build, launch, make_worker, rate, rate_hit
from tests.api.conftest import Api
from tests.campaigns.cast import add_member, make_campaign


@pytest.fixture
def campaign(owner: User) -> Campaign:
    campaign = make_campaign(owner, "qg")
    rate(campaign, 3, np.random.default_rng(1))
    return launch(campaign)


@pytest.fixture
def address(campaign: Campaign) -> str:
    return f"/api/v1/campaigns/{campaign.public_id}/"


def test_progress_has_the_numbers_of_the_page(api: Api, owner: User, campaign: Campaign, address: str) -> None:
    progress = api(owner).get(f"{address}progress/").json()
    assert progress["totals"]["n_finished"] == campaign.hits.count() == 4
    assert {each["name"] for each in progress["systems"]} == {each.name for each in campaign.systems.all()}
    hits = api(owner).get(f"{address}progress/hits/").json()["results"]
    assert [(hit["number"], hit["n_finished"]) for hit in hits] == [(1, 1), (2, 1), (3, 1), (4, 1)]


def test_workers_own_ids_are_for_owners_with_their_scope(
    api: Api, owner: User, colleague: User, campaign: Campaign, address: str
) -> None:
    add_member(campaign, colleague, "editor")

    def workers(user: User, *scopes: str) -> set[str]:
        rows = api(user, *scopes).get(f"{address}assignments/").json()["results"]
        return {row["worker"] for row in rows}

    own = {"worker-000", "worker-001", "worker-002"}
    assert workers(owner) == own
    hashed = workers(owner, Scope.READ)
    assert len(hashed) == 3 and all(name.startswith("w-") for name in hashed)
    assert workers(colleague) == hashed

    def exported(user: User, *scopes: str) -> int:
        return api(user, *scopes).get(f"{address}exports/ratings.csv?ids=real").status_code

    assert (exported(owner), exported(owner, Scope.READ), exported(colleague)) == (200, 403, 403)


def test_an_export_is_the_page_s(api: Api, owner: User, address: str) -> None:
    response = api(owner, Scope.READ).get(f"{address}exports/ratings.csv")
    rows = list(csv.DictReader(io.StringIO(b"".join(response.streaming_content).decode())))
    assert len(rows) == Response.objects.count()
    assert api(owner).get(f"{address}exports/passwords.csv").status_code == 404


def test_the_files_of_a_campaign_are_listed(api: Api, owner: User, stranger: User, address: str) -> None:
    script = api(owner)
    found = script.get(f"{address}exports/").json()
    assert found["n_ratings"] == Response.objects.count()
    assert "ratings.csv" in found["files"]
    assert "transcripts.jsonl" not in found["files"]
    for name in found["files"]:
        assert script.get(f"{address}exports/{name}").status_code == 200
    assert api(stranger).get(f"{address}exports/").status_code == 404


def test_assignments_are_filtered(api: Api, owner: User, address: str) -> None:
    script = api(owner)
    assert len(script.get(f"{address}assignments/?hit=2").json()["results"]) == 1
    assert script.get(f"{address}assignments/?state=active").json()["results"] == []
    refused = script.get(f"{address}assignments/?state=sleeping")
    assert (refused.status_code, list(refused.json()["errors"])) == (422, ["state"])
    assert len(script.get(f"{address}feedback/").json()["results"]) == 2


def test_a_place_is_freed(api: Api, owner: User) -> None:
    campaign = launch(make_campaign(owner, "qg"))
    hit = build(campaign, 1)[0]
    rng = np.random.default_rng(1)
    assignment = rate_hit(hit, make_worker(campaign, "ann"), rng, n_rated=2, state=Assignment.State.ACTIVE)
    released = api(owner).post(f"/api/v1/campaigns/{campaign.public_id}/assignments/{assignment.pk}/release/")
    assert released.json()["state"] == "expired"
    hit.refresh_from_db()
    assert hit.n_places_left == 1


def test_raters_are_invited_and_get_links(api: Api, owner: User, address: str, campaign: Campaign) -> None:
    script = api(owner)
    assert script.post(f"{address}raters/", {"names": ["ann", "ben"]}).status_code == 201
    raters = script.get(f"{address}raters/").json()["results"]
    assert [rater["name"] for rater in raters] == ["ann", "ben"]
    assert str(campaign.public_id) in raters[0]["link"]
    wrong = (["a:b"], ["eve", "Eve"], [{"name": "eve", "mail": "x"}], [{"name": "Eve", "email": "eve"}], "eve", [7])
    for names in wrong:
        refused = script.post(f"{address}raters/", {"names": names})
        assert (refused.status_code, list(refused.json()["errors"])) == (422, ["names"])
    assert script.get(f"{address}raters/counts/").json()["n_invited"] == 2
    assert api(owner, Scope.READ).get(f"{address}raters/").status_code == 403


def test_raters_have_attributes(api: Api, owner: User, address: str) -> None:
    script = api(owner)
    ann = {"name": "ann", "attributes": {"pool": "lab", "native  language": "English"}}
    assert script.post(f"{address}raters/", {"names": [ann, "ben"]}).status_code == 201
    found = [rater["attributes"] for rater in script.get(f"{address}raters/").json()["results"]]
    assert found == [{"native language": "English", "pool": "lab"}, {}]
    script.post(f"{address}raters/", {"names": [{"name": "ann", "attributes": {"pool": ""}}]})
    first = script.get(f"{address}raters/").json()["results"][0]
    assert first["attributes"] == {"native language": "English"}
    for wrong in ({"score": "3"}, {"years": 3}, {"": "x"}, ["lab"], {f"a{k}": "x" for k in range(20)}):
        refused = script.post(f"{address}raters/", {"names": [{"name": "ann", "attributes": wrong}]})
        assert (refused.status_code, list(refused.json()["errors"])) == (422, ["names"])


def test_a_link_is_revoked_and_restored(api: Api, owner: User, address: str, campaign: Campaign) -> None:
    script = api(owner)
    script.post(f"{address}raters/", {"names": [{"name": "ann", "email": "ann@example.org"}, "ben"]})
    ann, ben = script.get(f"{address}raters/").json()["results"]
    assert (ann["email"], ann["state"], "ann" in ann["link"]) == ("ann@example.org", "not_begun", False)

    revoked = script.post(f"{address}raters/{ann['id']}/revoke/").json()
    assert (revoked["state"], revoked["revoked_at"] is None) == ("revoked", False)
    assert [row["name"] for row in script.get(f"{address}raters/?state=revoked").json()["results"]] == ["ann"]
    assert script.post(f"{address}raters/{ann['id']}/restore/").json() == ann

    taken = script.patch(f"{address}raters/{ben['id']}/", {"email": "Ann@example.org"}, "application/json")
    assert (taken.status_code, list(taken.json()["errors"])) == (422, ["email"])
    changed = script.patch(f"{address}raters/{ben['id']}/", {"email": "ben@example.org"}, "application/json")
    assert changed.json()["email"] == "ben@example.org"
