"""The audit log: what people do is in it, without secrets; what is refused is not; nothing in it changes."""

import csv
import io
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from annotation.models import Worker
from campaigns.models import Campaign, Webhook
from evalsite.accounts.models import Scope, User
from evalsite.accounts.services import make_password_link
from evalsite.accounts.tokens import create_token
from evalsite.audit.models import AuditEntry
from evalsite.audit.queries import delete_old_entries, iter_rows, list_entries
from evalsite.audit.recording import network_of
from tests.analysis.campaigns import analysed, rated_campaign
from tests.annotation.open_campaigns import open_campaign
from tests.annotation.worker_pages import answers, started, url
from tests.campaigns.cast import add_member, make_campaign

pytestmark = pytest.mark.django_db
PASSWORD, SECRET = "a password of five words", "sk-secret-0123456789"


def said() -> list[tuple[str, str]]:
    """Return who did what, in the order of time."""
    return [(row[1], row[3]) for row in iter_rows(AuditEntry.objects.order_by("pk"))]


def everything() -> str:
    """Return all that the log holds."""
    return str([*iter_rows(AuditEntry.objects.all()), *AuditEntry.objects.values()])


def rows_of(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text)))[1:]


def page_of(campaign: Campaign, name: str, *arguments: Any) -> str:
    return reverse(name, args=[campaign.public_id, *arguments])


# --- What is in it


def test_signing_in_and_out_and_wrong_passwords(client: Client, owner: User) -> None:
    owner.set_password(PASSWORD)
    owner.save()
    for username, password in ((owner.email, "wrong"), (PASSWORD, PASSWORD), (owner.email, PASSWORD)):
        client.post(reverse("accounts:sign_in"), {"username": username, "password": password})
    client.post(reverse("accounts:sign_out"))
    failed = "did not sign in: the password was wrong"
    assert said() == [(owner.email, failed), ("", failed), (owner.email, "signed in"), (owner.email, "signed out")]
    text = everything()
    assert PASSWORD not in text and "wrong" not in text.replace(failed, ""), "not even one in the wrong place"
    assert AuditEntry.objects.filter(is_failed=True, user=None).count() == 2
    assert {entry.network for entry in AuditEntry.objects.all()} == {"127.0.0.0/24"}


def test_a_password_chosen_by_a_link_is_its_owners_act(client: Client, owner: User) -> None:
    link = make_password_link(user=owner, now=timezone.now(), by=owner).path
    form = client.get(link)["Location"]
    client.post(form, {"new_password1": "x", "new_password2": "x"})
    assert said() == []
    client.post(form, {"new_password1": PASSWORD, "new_password2": PASSWORD})
    assert said() == [(owner.email, "chose a new password")]


def test_members_and_roles_are_named(owner: User, owner_client: Client, stranger: User) -> None:
    campaign = make_campaign(owner)
    owner_client.post(page_of(campaign, "campaigns:members"), {"email": stranger.email, "role": "viewer"})
    membership = add_member(campaign, stranger, "viewer")
    owner_client.post(page_of(campaign, "campaigns:member", membership.pk), {"role": "editor"})
    owner_client.post(page_of(campaign, "campaigns:member_remove", membership.pk))
    assert [title for _, title in said()] == [
        "invited somebody to be a member",
        "changed the role of a member",
        "removed a member",
    ]
    added, changed, removed = AuditEntry.objects.order_by("pk")
    assert added.details["email"] == stranger.email and changed.details["role"] == "editor"
    assert changed.about == removed.about == stranger.email
    assert {each.campaign for each in (added, changed, removed)} == {campaign.public_id}


def test_what_is_refused_is_no_act(owner: User, owner_client: Client, stranger: User) -> None:
    campaign = make_campaign(owner)
    owner_client.post(page_of(campaign, "campaigns:members"), {"email": owner.email, "role": "viewer"})
    owner_client.post(page_of(campaign, "campaigns:launch"))
    last = campaign.memberships.get(user=owner)
    owner_client.post(page_of(campaign, "campaigns:member_remove", last.pk))
    refused = owner_client.post(page_of(campaign, "analysis:share"), {"ends_on": "never"})
    assert refused.status_code == 302, "led back, with a message"
    Client().post(page_of(campaign, "campaigns:launch"))
    browser = Client()
    browser.force_login(stranger)
    browser.post(page_of(campaign, "campaigns:close"))
    assert said() == []


def test_an_act_of_a_script_says_its_token(owner: User) -> None:
    campaign = make_campaign(owner)
    _, text = create_token(user=owner, name="nightly", scopes=Scope.values, now=timezone.now())
    headers = {"Authorization": f"Bearer {text}"}
    address = reverse("api:settings", args=[campaign.public_id])
    sent = {"name": "Autumn"}
    assert Client().patch(address, sent, "application/json", headers=headers).status_code == 200
    assert Client().patch(address, {"no": 1}, "application/json", headers=headers).status_code == 422
    made = Client().post(
        reverse("api:campaigns"), {"name": "Spring", "protocol": "qg"}, "application/json", headers=headers
    )
    changed, created = AuditEntry.objects.order_by("pk")
    assert (changed.who, changed.token, changed.act) == (owner.email, "nightly", "api:settings")
    assert changed.details == {"fields": ["name"]} and changed.campaign == campaign.public_id
    assert str(created.campaign) == made.json()["public_id"]
    assert text not in everything()


def test_keys_are_not_in_it(owner: User, owner_client: Client) -> None:
    campaign = open_campaign(owner)
    Campaign.objects.filter(pk=campaign.pk).update(platform="prolific")
    owner_client.post(page_of(campaign, "crowd:keys"), {"secret_token": SECRET, "token": SECRET})
    owner_client.post(
        page_of(campaign, "campaigns:webhooks"),
        {"url": "https://hooks.example.org/?key=hunter2", "events": ["job.failed"]},
    )
    owner_client.post(page_of(campaign, "campaigns:webhook_secret", Webhook.objects.get().pk))
    titles = [title for _, title in said()]
    assert titles == ["set keys of the platform's account", "added a webhook", "made a new secret of a webhook"]
    stored = everything()
    assert SECRET not in stored and "hunter2" not in stored


def test_every_file_with_workers_own_ids_is_an_act(owner: User, owner_client: Client) -> None:
    campaign = rated_campaign(owner)
    run = analysed(campaign, owner)
    _, text = create_token(user=owner, name="nightly", scopes=Scope.values, now=timezone.now())
    headers = {"Authorization": f"Bearer {text}"}
    worker = Worker.objects.first()
    assert worker
    with_ids = [
        page_of(campaign, "monitoring:export_file", "ratings.csv") + "?ids=real",
        page_of(campaign, "crowd:payments_csv") + "?ids=real",
        page_of(campaign, "monitoring:worker_data", worker.pk),
        reverse("analysis:workers_csv", args=[run.pk]) + "?ids=own",
    ]
    for address in with_ids:
        assert owner_client.get(address).status_code == 200, address
        assert owner_client.get(address.partition("?")[0]).status_code == 200
    for name, arguments in (("api:export", ["ratings.csv"]), ("api:payments_file", []), ("api:assignments", [])):
        address = page_of(campaign, name, *arguments)
        for query in ("?ids=real", ""):
            found = Client().get(address + (query if name != "api:assignments" else ""), headers=headers)
            assert found.status_code == 200, address
    assert [title for _, title in said()] == [
        "took out responses with workers' own ids",
        "took out payments with workers' own ids",
        *["took out what is stored on a worker"] * 2,
        "took out the worker table with workers' own ids",
        "took out responses with workers' own ids",
        "took out payments with workers' own ids",
        *["read workers' own ids"] * 2,
    ]
    assert {entry.campaign for entry in AuditEntry.objects.all()} == {campaign.public_id}


def test_acts_on_results_are_of_their_campaign(owner: User, owner_client: Client) -> None:
    campaign = rated_campaign(owner)
    run = analysed(campaign, owner)
    assert owner_client.post(reverse("analysis:delete_run", args=[run.pk])).status_code == 302
    [entry] = AuditEntry.objects.all()
    assert entry.campaign == campaign.public_id and entry.about == run.ratings_file.title


def test_workers_are_not_in_it_and_no_session_of_theirs_is_read(owner: User, owner_client: Client) -> None:
    assignment = started(open_campaign(owner))
    page = owner_client.get(url("hit", assignment))
    with CaptureQueriesContext(connection) as queries:
        assert owner_client.post(url("hit", assignment), answers(page)).status_code == 200
    assert said() == []
    assert not [query for query in queries if "django_session" in query["sql"]]


def test_no_address_of_a_worker_is_in_it(owner: User, owner_client: Client) -> None:
    """They may want to be erased, and entries stay."""
    campaign = open_campaign(owner)
    owner_client.post(page_of(campaign, "monitoring:raters_add"), {"names": "Ada,ada@workers.example"})
    rater = campaign.invitations.get()
    owner_client.post(page_of(campaign, "monitoring:rater", rater.pk), {"email": "lovelace@workers.example"})
    assert [title for _, title in said()] == ["invited raters", "changed a rater"]
    assert "workers.example" not in everything() and "Ada" not in everything()


def test_scripts_name_members_too(owner: User, stranger: User) -> None:
    campaign = make_campaign(owner)
    _, text = create_token(user=owner, name="nightly", scopes=Scope.values, now=timezone.now())
    script = Client(headers={"Authorization": f"Bearer {text}"})
    sent = {"email": stranger.email, "role": "viewer"}
    assert script.post(page_of(campaign, "api:members"), sent, "application/json").status_code == 201
    address = page_of(campaign, "api:member", add_member(campaign, stranger, "viewer").pk)
    assert script.put(address, {"role": "editor"}, "application/json").status_code == 200
    assert script.delete(address).status_code == 204
    entries = AuditEntry.objects.order_by("pk")
    assert [(title, entry.about) for (_, title), entry in zip(said(), entries, strict=True)] == [
        ("invited somebody to be a member", f"{stranger.email}, viewer"),
        ("changed the role of a member", f"{stranger.email}, editor"),
        ("removed a member", stranger.email),
    ]


# --- Nothing in it changes


def test_entries_are_neither_changed_nor_deleted(owner: User) -> None:
    entry = AuditEntry.objects.create(user=owner, who=owner.email, act="campaigns:launch", method="POST")
    entry.who = "somebody@example.org"
    for change in (
        entry.save,
        entry.delete,
        lambda: AuditEntry.objects.update(who=""),
        AuditEntry.objects.all().delete,
    ):
        with pytest.raises(TypeError, match="audit log"):
            change()
    assert list_entries().get().who == owner.email


def test_entries_are_kept_as_long_as_the_settings_say(settings: Settings) -> None:
    now = timezone.now()
    for days in (0, 29, 31):
        AuditEntry.objects.create(act="campaigns:launch", method="POST", at=now - timedelta(days=days))
    settings.AUDIT_LOG_DAYS = 0
    assert delete_old_entries(now) == 0
    settings.AUDIT_LOG_DAYS = 30
    assert delete_old_entries(now) == 1 and AuditEntry.objects.count() == 2


def test_an_entry_of_a_deleted_campaign_and_of_no_user_stays(owner: User) -> None:
    campaign = make_campaign(owner)
    AuditEntry.objects.create(
        act="campaigns:delete", method="POST", user=owner, who=owner.email, campaign=campaign.public_id
    )
    campaign.memberships.all().delete()
    campaign.delete()
    assert list_entries(campaign=campaign.public_id).count() == 1


# --- Who sees what


def test_owners_see_their_campaign_and_administrators_all(
    owner: User, owner_client: Client, admin_client: Client, stranger: User
) -> None:
    campaign, other = make_campaign(owner, name="Mine"), make_campaign(stranger, name="Theirs")
    for each, user in ((campaign, owner), (other, stranger)):
        AuditEntry.objects.create(
            act="campaigns:launch", method="POST", user=user, who=user.email, campaign=each.public_id, about="=1+1"
        )
    page = owner_client.get(page_of(campaign, "campaigns:audit"))
    assert "launched the campaign" in page.text and owner.email in page.text and stranger.email not in page.text
    file = b"".join(owner_client.get(page_of(campaign, "campaigns:audit_file")).streaming_content).decode()
    assert len(rows_of(file)) == 1 and rows_of(file)[0][5] == "'=1+1"
    page = admin_client.get(reverse("desk:audit"))
    assert "Mine" in page.text and "Theirs" in page.text
    for query, n in (("?search=stranger", 1), ("?group=payments", 0), ("?since=2999-01-01", 0), ("", 2)):
        found = admin_client.get(reverse("desk:audit_file") + query)
        assert len(rows_of(b"".join(found.streaming_content).decode())) == n, query
    assert admin_client.get(reverse("desk:audit") + "?group=no-such").status_code == 422
    assert admin_client.get(reverse("desk:audit_file") + "?group=no-such").status_code == 404


def test_an_editor_does_not_see_it(owner: User, stranger: User) -> None:
    campaign = make_campaign(owner)
    add_member(campaign, stranger, "editor")
    browser = Client()
    browser.force_login(stranger)
    assert browser.get(page_of(campaign, "campaigns:audit")).status_code == 403
    assert "Audit log" not in browser.get(page_of(campaign, "campaigns:members")).text


def test_the_page_takes_as_many_queries_however_many_entries(owner: User, admin_client: Client) -> None:
    def n_queries() -> int:
        with CaptureQueriesContext(connection) as queries:
            admin_client.get(reverse("desk:audit"))
        return len(queries)

    for k in range(2):
        campaign = make_campaign(owner, name=f"Campaign {k}")
        AuditEntry.objects.create(act="campaigns:launch", method="POST", who="a", campaign=campaign.public_id)
    few = n_queries()
    for k in range(20):
        campaign = make_campaign(owner, name=f"More {k}")
        AuditEntry.objects.create(act="campaigns:launch", method="POST", who="a", campaign=campaign.public_id)
    assert n_queries() == few


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("203.0.113.77", "203.0.113.0/24"),
        ("2001:db8:1:2::/64", "2001:db8:1::/48"),
        ("unknown", ""),
        ("", ""),
    ],
)
def test_a_network_tells_no_single_client(address: str, network: str) -> None:
    assert network_of(address) == network
