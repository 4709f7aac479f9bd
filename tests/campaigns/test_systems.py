"""The page of systems."""

from django.test import Client
from django.urls import reverse

from campaigns.models import Campaign, System


def url(campaign: Campaign, system: System | None = None) -> str:
    if system:
        return reverse("campaigns:system", args=[campaign.public_id, system.pk])
    return reverse("campaigns:systems", args=[campaign.public_id])


def human(campaign: Campaign) -> list[str]:
    return list(campaign.systems.filter(is_human=True).values_list("name", flat=True))


def test_systems_are_listed_by_name_with_their_outputs(owner_client: Client, ready: Campaign) -> None:
    rows = owner_client.get(url(ready)).context["rows"]
    assert [form.system.name for form in rows] == sorted(form.system.name for form in rows)
    assert {form.system.n_outputs for form in rows} == {3}


def test_without_outputs_the_page_says_where_systems_come_from(owner_client: Client, campaign: Campaign) -> None:
    assert reverse("campaigns:data", args=[campaign.public_id]) in owner_client.get(url(campaign)).text


def test_another_human_system_makes_built_hits_stale(owner_client: Client, ready: Campaign) -> None:
    system = ready.systems.get(name="system-a")
    assert owner_client.post(url(ready), {"human": system.pk}).status_code == 302
    assert human(ready) == ["system-a"]
    assert Campaign.objects.get().status == "draft"


def test_the_same_human_system_again_changes_nothing(owner_client: Client, ready: Campaign) -> None:
    owner_client.post(url(ready), {"human": ready.systems.get(is_human=True).pk})
    assert Campaign.objects.get().status == "ready"


def test_none_may_be_human(owner_client: Client, ready: Campaign) -> None:
    owner_client.post(url(ready), {"human": ""})
    assert human(ready) == []


def test_a_system_of_another_campaign_cannot_be_human(owner_client: Client, ready: Campaign) -> None:
    response = owner_client.post(url(ready), {"human": "999999"})
    assert response.status_code == 422
    assert human(ready) == ["human"]


def test_a_new_name_leaves_built_hits_as_they_are(owner_client: Client, ready: Campaign) -> None:
    system = ready.systems.get(name="system-a")
    for _ in range(2):
        assert owner_client.post(url(ready, system), {"name": "GPT-2"}).status_code == 302
    assert ready.systems.get(pk=system.pk).name == "GPT-2"
    assert Campaign.objects.get().status == "ready"


def test_names_that_cannot_be(owner_client: Client, ready: Campaign) -> None:
    system = ready.systems.get(name="system-a")
    for name, code in (("", "required"), ("x" * 201, "max_length"), ("human", "name_taken")):
        response = owner_client.post(url(ready, system), {"name": name})
        assert response.status_code == 422
        [form] = [form for form in response.context["rows"] if form.system == system]
        assert form.has_error("name", code)
        assert form["name"].value() == name
    assert ready.systems.get(pk=system.pk).name == "system-a"


def test_systems_are_frozen_after_launch(owner_client: Client, running: Campaign) -> None:
    system = running.systems.get(name="system-a")
    answer = owner_client.post(url(running, system), {"name": "other"}, headers={"X-Autosave": "1"})
    assert (answer.status_code, answer.json()["saved"]) == (422, False)
    response = owner_client.post(url(running), {"human": system.pk})
    assert response.context["human"].has_error("__all__", "frozen")
    assert human(running) == ["human"]
    assert "disabled" in owner_client.get(url(running)).text


def test_another_human_system_keeps_hits_that_came_with_the_file(owner_client: Client, ready: Campaign) -> None:
    Campaign.objects.filter(pk=ready.pk).update(has_given_hits=True)
    owner_client.post(url(ready), {"human": ready.systems.get(name="system-b").pk})
    ready.refresh_from_db()
    assert human(ready) == ["system-b"]
    assert ready.status == Campaign.Status.READY
