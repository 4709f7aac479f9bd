"""A campaign is set up by a script, from the first request to the launch."""

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.test.client import MULTIPART_CONTENT
from django.utils import timezone

from campaigns.models import Campaign, HitItem
from evalsite.accounts.models import User
from evalsite.jobs.running import run_job
from tests.api.conftest import Api
from tests.campaigns.cast import add_member

pytestmark = pytest.mark.django_db(transaction=True)
ROOT = "/api/v1/campaigns/"
SYSTEMS = ("Bench", "Cedar", "Human")
LONG = "id,system,text,source\n" + "".join(
    f"s{k},{system},Sentence {k} as {system} writes it for all of us.,Satz {k}\n"
    for k in range(40)
    for system in SYSTEMS
)


@pytest.fixture
def script(api: Api, owner: User) -> Client:
    return api(owner)


@pytest.fixture
def address(script: Client) -> str:
    made = script.post(ROOT, {"protocol": "custom", "name": "Sentences"}).json()
    return f"{ROOT}{made['public_id']}/"


def _done(script: Client, response: Any) -> dict[str, Any]:
    assert response.status_code == 202, response.content
    job = response.json()
    run_job(job["id"])
    return script.get(f"/api/v1/jobs/{job['id']}/").json()


def _patch(script: Client, address: str, **changes: Any) -> Any:
    return script.patch(address, changes, "application/json")


def _upload(script: Client, address: str, content: str = LONG) -> dict[str, Any]:
    file = SimpleUploadedFile("outputs.csv", content.encode())
    return script.post(f"{address}uploads/", {"file": file}, MULTIPART_CONTENT).json()


def test_a_campaign_is_made_filled_built_and_launched(script: Client, address: str) -> None:
    upload = _upload(script, address)
    assert upload["layout"]["roles"] == {"id": "source", "system": "system", "text": "output", "source": "field:source"}
    assert _done(script, script.post(f"{address}uploads/{upload['id']}/import/"))["status"] == "succeeded"
    assert script.get(f"{address}uploads/{upload['id']}/").json()["state"] == "imported"
    assert [each["name"] for each in script.get(f"{address}systems/").json()] == list(SYSTEMS)

    criterion = {"name": "Fluency", "statement": "The sentence is fluent."}
    assert script.post(f"{address}criteria/", criterion).status_code == 201
    assert (
        _patch(script, f"{address}design/", n_ordinary=20, n_degraded=10, n_repeat=5, n_reference=0).status_code == 200
    )
    estimate = script.get(f"{address}hits/estimate/").json()
    assert _done(script, script.post(f"{address}hits/"))["status"] == "succeeded"
    hits = script.get(f"{address}hits/").json()["results"]
    assert len(hits) == estimate["n_hits"]
    items = script.get(f"{address}hits/1/items/").json()
    assert [item["text"] for item in items] == list(
        HitItem.objects.filter(hit__number=1).values_list("text", flat=True)
    )

    todo = [step["key"] for step in script.get(f"{address}checklist/").json() if step["state"] == "todo"]
    assert todo == ["instructions"]
    _patch(script, f"{address}instructions/", instructions="Rate each sentence.")
    launched = script.post(f"{address}launch/", {"is_confirmed": True})
    assert (launched.status_code, launched.json()["status"]) == (200, "running")


def test_rows_are_uploaded_without_a_file(script: Client, address: str) -> None:
    rows = [
        {"id": f"s{k}", "system": system, "text": "A text.", "source": "Ein Text."}
        for k in range(3)
        for system in SYSTEMS
    ]
    upload = script.post(f"{address}uploads/rows/", {"rows": rows, "name": "from a notebook"}).json()
    assert _done(script, script.post(f"{address}uploads/{upload['id']}/import/"))["status"] == "succeeded"
    sources = script.get(f"{address}sources/?limit=2").json()
    assert [source["name"] for source in sources["results"]] == ["s0", "s1"]
    assert len(sources["results"][0]["outputs"]) == len(SYSTEMS)


def test_columns_are_named_by_the_script(script: Client, address: str) -> None:
    upload = _upload(script, address, LONG.replace("id,system,text,source", "a,b,c,d"))
    here = f"{address}uploads/{upload['id']}/"
    roles = {"a": "source", "b": "system", "c": "output", "d": "field:source"}
    sample = script.get(f"{here}sample/").json()
    assert (sample["columns"], sample["rows"][0][:2]) == (["a", "b", "c", "d"], ["s0", "Bench"])
    changed = _patch(script, here, roles=roles)
    assert changed.json()["layout"]["roles"] == roles
    assert _done(script, script.post(f"{here}import/"))["status"] == "succeeded"
    refused = _patch(script, here, roles={"a": "nonsense"})
    assert (refused.status_code, list(refused.json()["errors"])) == (422, ["roles"])


def test_what_is_wrong_with_a_file_is_said_by_row(script: Client, address: str) -> None:
    problem = _upload(script, address, "id,id\n1,2\n")
    assert problem["status"] == 422
    assert problem["rows"][0]["message"]
    upload = _upload(script, address, LONG + "s1,Bench,Once more.,Satz\n")
    assert _done(script, script.post(f"{address}uploads/{upload['id']}/import/"))["status"] == "failed"
    found = script.get(f"{address}uploads/{upload['id']}/").json()
    assert found["state"] == "problems"
    assert found["problems"]["rows"]


def test_criteria_are_changed_ordered_and_deleted(script: Client, address: str) -> None:
    for each in script.get(f"{address}criteria/").json():
        script.delete(f"{address}criteria/{each['id']}/")
    names = [
        script.post(f"{address}criteria/", {"name": name, "statement": f"It is {name}."}).json()["id"]
        for name in ("clear", "short", "kind")
    ]
    taken = script.post(f"{address}criteria/", {"name": "Clear", "statement": "It is very clear."})
    assert (taken.status_code, list(taken.json()["errors"])) == (422, ["name"])
    _patch(script, f"{address}criteria/{names[0]}/", is_negative=True)
    order = script.put(f"{address}criteria/order/", {"order": names[::-1]}, "application/json")
    assert order.status_code == 200, order.content
    order = order.json()
    assert [each["name"] for each in order] == ["kind", "short", "clear"]
    assert order[2]["is_negative"]
    deleted = script.delete(f"{address}criteria/{names[1]}/")
    assert [each["name"] for each in script.get(f"{address}criteria/").json()] == ["kind", "clear"]
    for _ in range(2):  # sent twice, it is there once
        assert script.post(f"{address}criteria/", deleted.json()).status_code == 201
    assert [each["name"] for each in script.get(f"{address}criteria/").json()] == ["kind", "short", "clear"]
    moved = script.put(f"{address}criteria/order/", {"criterion": names[0], "step": "-1"}, "application/json")
    assert [each["name"] for each in moved.json()] == ["kind", "clear", "short"]
    assert script.put(f"{address}criteria/order/", {"order": names[:1]}, "application/json").status_code == 422


def test_a_system_is_renamed_and_human(script: Client, address: str) -> None:
    upload = _upload(script, address)
    _done(script, script.post(f"{address}uploads/{upload['id']}/import/"))
    first = script.get(f"{address}systems/").json()[0]
    changed = _patch(script, f"{address}systems/{first['id']}/", name="Bank", is_human=True).json()
    assert (changed["name"], changed["is_human"]) == ("Bank", True)
    assert [each["is_human"] for each in script.get(f"{address}systems/").json()] == [True, False, False]


def _campaign(address: str) -> Campaign:
    return Campaign.objects.get(public_id=address.rstrip("/").split("/")[-1])


def test_members_are_managed_by_owners(api: Api, script: Client, address: str, colleague: User) -> None:
    assert script.post(f"{address}members/", {"email": colleague.email, "role": "viewer"}).status_code == 201
    assert api(colleague).get(address).status_code == 404, "is invited"
    added = add_member(_campaign(address), colleague)
    assert api(colleague).get(address).json()["my_role"] == "viewer"
    assert api(colleague).post(f"{address}members/", {"email": "a@example.org", "role": "owner"}).status_code == 403
    member = f"{address}members/{added.pk}/"
    assert script.put(member, {"role": "editor"}, "application/json").json()["role"] == "editor"
    assert script.delete(member).status_code == 204
    assert api(colleague).get(address).status_code == 404


def test_a_draft_is_copied_and_deleted(script: Client, address: str) -> None:
    copy = script.post(f"{address}copies/", {"as_replication": False})
    assert copy.status_code == 201
    assert script.delete(address).status_code == 204
    assert Campaign.objects.count() == 1


def test_the_protocol_s_design_is_taken_and_a_seed_drawn(script: Client, address: str) -> None:
    preset = script.get(f"{address}design/preset/").json()
    changed = _patch(script, f"{address}design/", n_ordinary=5, seed=1).json()
    assert (changed["n_ordinary"], changed["seed"]) == (5, 1)
    assert script.post(f"{address}design/preset/").json() == preset | {"seed": 1}
    assert script.post(f"{address}design/seed/").json()["seed"] != 1
    assert _patch(script, f"{address}settings/", worker_test="none").json()["worker_test"] == "none"


def test_systems_that_must_be_decided_are_named(script: Client, address: str) -> None:
    upload = _upload(script, address)
    _done(script, script.post(f"{address}uploads/{upload['id']}/import/"))
    names = list(Campaign.objects.get().systems.order_by("name").values_list("name", flat=True))[:2]
    sent = {"stopping_rule": "among", "stopping_systems": names}
    assert _patch(script, f"{address}settings/", **sent).json()["stopping_systems"] == names
    refused = _patch(script, f"{address}settings/", stopping_systems=["nobody's"])
    assert (refused.status_code, list(refused.json()["errors"])) == (422, ["stopping_systems"])


def test_a_design_is_proposed_for_raters_and_their_time(script: Client, address: str) -> None:
    sent = {"raters": "lab", "n_raters": 6, "minutes": 15, "seconds_per_item": 30}
    empty = script.get(f"{address}design/proposals/", sent)
    assert (empty.status_code, empty.json()["code"]) == (409, "no_outputs")
    upload = _upload(script, address)
    _done(script, script.post(f"{address}uploads/{upload['id']}/import/"))
    proposal = script.get(f"{address}design/proposals/", sent).json()
    assert "6 raters × 15 minutes: 6 HITs of 30 items" in proposal["summary"]
    assert proposal["worker_test"] == "none"
    assert 0 < proposal["half_width"] < proposal["smallest_difference"]
    used = _patch(script, f"{address}design/", **proposal["design"]).json()
    assert used | proposal["design"] == used

    refused = script.get(f"{address}design/proposals/", sent | {"minutes": 0.1})
    assert (refused.status_code, refused.json()["code"]) == (409, "too_few_minutes")
    assert script.get(f"{address}design/proposals/").status_code == 422


def test_after_the_launch_what_workers_saw_is_frozen(script: Client, address: str) -> None:
    Campaign.objects.update(launched_at=timezone.now())
    for answer in (
        _patch(script, f"{address}design/", n_ordinary=5),
        script.post(f"{address}design/seed/"),
        script.post(f"{address}criteria/", {"name": "Fluency", "statement": "It is fluent."}),
        _patch(script, f"{address}screen/", output_label="Sentence"),
    ):
        assert (answer.status_code, answer.json()["code"]) == (409, "frozen")


def test_a_field_that_a_campaign_has_not_is_refused(script: Client) -> None:
    live = script.post(ROOT, {"protocol": "dialogue-free"}).json()["public_id"]
    refused = _patch(script, f"{ROOT}{live}/design/", n_repeat=5)
    assert (refused.status_code, list(refused.json()["errors"])) == (422, ["n_repeat"])
    assert script.get(f"{ROOT}{live}/screen/").status_code == 404
    degraded = script.get(f"{ROOT}{live}/systems/").json()[0]["id"]
    for changes in ({"is_human": True}, {"name": "Human"}):
        refused = _patch(script, f"{ROOT}{live}/systems/{degraded}/", **changes)
        assert (refused.status_code, refused.json()["code"]) == (409, "live")
    assert _upload(script, f"{ROOT}{live}/")["status"] == 409


def test_jobs_are_those_of_the_campaign_for_all_its_members(
    api: Api, script: Client, address: str, colleague: User, stranger: User, django_assert_num_queries: Any
) -> None:
    upload = _upload(script, address)
    job = script.post(f"{address}uploads/{upload['id']}/import/").json()["id"]
    assert script.post(f"{ROOT}", {"protocol": "qg"}).status_code == 201  # another campaign has none
    add_member(_campaign(address), colleague)
    reader = api(colleague)
    assert [each["id"] for each in reader.get(f"{address}jobs/").json()["results"]] == [job]
    assert reader.get(f"{address}jobs/{job}/").json()["kind"] == "campaigns.import"
    assert api(stranger).get(f"{address}jobs/{job}/").status_code == 404
    with django_assert_num_queries(3):  # the token, the campaign, the jobs
        reader.get(f"{address}jobs/")


def test_an_example_has_the_fields_of_the_campaign(script: Client, address: str) -> None:
    table = script.get(f"{address}uploads/example-long.csv").content.decode()
    assert table.startswith("source_id,source,system,output\r\n")
    upload = _upload(script, address, table)
    assert _done(script, script.post(f"{address}uploads/{upload['id']}/import/"))["status"] == "succeeded"
    assert script.get(f"{address}uploads/example-tall.csv").status_code == 404


def test_runs_of_a_study_are_shown_to_their_members(api: Api, script: Client, address: str, colleague: User) -> None:
    copy = script.post(f"{address}copies/", {"as_replication": True}).json()["public_id"]
    related = script.get(f"{address}related-runs/").json()
    assert [each["public_id"] for each in related["replications"]] == [copy]
    assert script.get(f"{ROOT}{copy}/related-runs/").json()["original"]["name"] == "Sentences"
    add_member(Campaign.objects.get(public_id=copy), colleague)
    assert api(colleague).get(f"{ROOT}{copy}/related-runs/").json()["original"] is None


def test_a_campaign_goes_to_another_site_as_a_file(script: Client, address: str) -> None:
    upload = _upload(script, address)
    _done(script, script.post(f"{address}uploads/{upload['id']}/import/"))
    content = script.get(f"{address}design-file/?outputs=true").getvalue()
    assert b"sources" not in script.get(f"{address}design-file/").getvalue()
    for public_id, file, status in (
        ("", content, 201),
        ("", b"{}", 422),
        (address.split("/")[-2], content, 201),  # sent twice
    ):
        sent = {"file": SimpleUploadedFile("design.json", file), "public_id": public_id}
        response = script.post("/api/v1/design-files/", sent, MULTIPART_CONTENT)
        assert response.status_code == status, response.content
    assert Campaign.objects.count() == 2
    copy = Campaign.objects.exclude(public_id=address.split("/")[-2]).get()
    assert script.get(f"{ROOT}{copy.public_id}/contents/").json() == script.get(f"{address}contents/").json()
