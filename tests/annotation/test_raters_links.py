"""Inviting raters and handing out links."""

import csv
import re
from urllib.parse import urlencode

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotation.access.tokens import token_of
from annotation.models import Assignment, Event, Invitation, Worker
from annotation.monitoring.lists import get_access
from annotation.raters.lists import RaterEntry, by_name
from annotation.raters.queries import count_raters, list_raters
from annotation.services.invitations import invite_raters
from campaigns.models import Campaign
from evalsite.accounts.models import User
from evalsite.lib.encryption import sign
from evalsite.lib.errors import DomainError
from tests.annotation.cast import build, launch, make_worker, rate_hit
from tests.annotation.open_campaigns import open_campaign
from tests.annotation.worker_pages import answers, personal_query, welcome_url
from tests.campaigns.cast import add_member, make_campaign
from tests.databases import migrated_back, on_both, on_sqlite

pytestmark = on_sqlite


@pytest.fixture
def campaign(owner: User) -> Campaign:
    return launch(make_campaign(owner))


@pytest.fixture
def personal(campaign: Campaign) -> Campaign:
    campaign.platform_settings = {"access": "personal", "max_workers": None}
    campaign.save()
    return campaign


def raters_of(campaign: Campaign) -> str:
    return reverse("monitoring:raters", args=[campaign.public_id])


def csv_of(campaign: Campaign) -> str:
    return reverse("monitoring:raters_csv", args=[campaign.public_id])


def names_of(campaign: Campaign) -> list[str]:
    return [invitation.worker.name for invitation in campaign.invitations.select_related("worker")]


def test_the_open_link_is_absolute_and_tells_its_cap(owner_client: Client, campaign: Campaign, rng) -> None:
    campaign.platform_settings = {"access": "open", "max_workers": 30}
    campaign.save()
    rate_hit(build(campaign)[0], make_worker(campaign, "somebody"), rng)

    page = owner_client.get(raters_of(campaign))

    assert page.context["open_link"] == f"http://testserver/rate/c/{campaign.public_id}/"
    assert page.context["open_link"] in page.text
    access = page.context["access"]
    assert (access.is_open, access.max_workers, access.n_workers, access.n_left) == (True, 30, 1, 29)


def test_personal_access_shows_no_open_link(owner_client: Client, personal: Campaign) -> None:
    assert not get_access(personal).is_open
    assert f"/rate/c/{personal.public_id}/" not in owner_client.get(raters_of(personal)).text


def add(client: Client, campaign: Campaign, names: str = "", **more) -> HttpResponse:
    url = reverse("monitoring:raters_add", args=[campaign.public_id])
    return client.post(url, {"names": names} | more, follow=True)


def invite(campaign: Campaign, *names: str) -> None:
    invite_raters(campaign=campaign, raters=by_name(names))


def rater_url(campaign: Campaign, name: str, page: str = "rater") -> str:
    invitation = list_raters(campaign).get(name=name)
    return reverse(f"monitoring:{page}", args=[campaign.public_id, invitation.pk])


def shown(text: str) -> list[tuple[str, ...]]:
    """Return name, state, finished HITs and HITs that can still be done, as the table says."""
    row = r'title="([^"]*)">.*?rater-\w+">([^<]*)<.*?num">(\d+)<.*?num">(\d+)<'
    return re.findall(row, text.partition("<tbody>")[2], flags=re.DOTALL)


# --- Adding


@on_both
def test_each_line_is_a_rater_with_a_link_that_identifies_them(
    owner_client: Client, client: Client, personal: Campaign
) -> None:
    build(personal, n_hits=5)
    text = "Ada Lovelace\r\n\r\n  grace@example.org \n李雷\nLovelace, Ada, ada@example.org\nEmmy <emmy@example.org>"

    page = add(owner_client, personal, text)

    names = ["Ada Lovelace", "grace@example.org", "李雷", "Lovelace, Ada", "Emmy"]
    assert names_of(personal) == names
    emails = [each.email for each in personal.invitations.all()]
    assert emails == ["", "grace@example.org", "", "ada@example.org", "emmy@example.org"]
    assert shown(page.text) == [(name, "Not begun", "0", "5") for name in names]
    links = re.findall(r'data-copy="([^"]+)"', page.text)
    for link, name in zip(links, names, strict=True):
        client.post(link)
        assert Assignment.objects.latest("pk").worker.name == name
        assert "@" not in link
        assert "lovelace" not in link.lower()  # the signature may have three letters in a row


def test_a_header_says_what_the_columns_are(owner_client: Client, personal: Campaign) -> None:
    add(owner_client, personal, "Email;Group;Name\nada@example.org;1;Ada\n;2;Grace\nemmy@example.org;3;\n")
    found = personal.invitations.values_list("worker__key", "email")
    assert [(key.partition(":")[2], email) for key, email in found] == [
        ("Ada", "ada@example.org"),
        ("Grace", ""),
        ("emmy@example.org", "emmy@example.org"),
    ]


def test_a_downloaded_list_can_be_uploaded_again(owner_client: Client, personal: Campaign) -> None:
    add(owner_client, personal, "=Ada,ada@example.org\nGrace")
    file = SimpleUploadedFile("raters.csv", owner_client.get(csv_of(personal)).content)
    before = list(Invitation.objects.values_list())

    page = add(owner_client, personal, file=file)

    assert "Nobody new. 2 had a link already." in page.text
    assert list(Invitation.objects.values_list()) == before


def test_a_file_from_excel_is_shown_before_it_is_taken(owner_client: Client, personal: Campaign) -> None:
    content = "name;email\nJürgen Groß;j@example.org\n".encode("windows-1252")

    page = add(owner_client, personal, file=SimpleUploadedFile("raters.csv", content))

    assert page.status_code == 422
    assert not Invitation.objects.exists()
    text = page.context["form"]["names"].value()
    add(owner_client, personal, text)
    assert names_of(personal) == ["Jürgen Groß"]


def test_what_is_wrong_in_a_file_is_put_into_the_field(owner_client: Client, personal: Campaign) -> None:
    page = add(owner_client, personal, file=SimpleUploadedFile("raters.csv", b"Ada\nAda\n"))
    assert page.status_code == 422
    assert "Line 2: “Ada” is on line 1 already." in page.text
    assert page.context["form"]["names"].value() == "Ada\nAda\n"


@pytest.mark.parametrize("content", [b"%PDF-1.7 ...", b'{"name": "Ada"}', b"", b"x" * 2**21])
def test_a_file_that_is_no_list_is_refused(owner_client: Client, personal: Campaign, content: bytes) -> None:
    page = add(owner_client, personal, file=SimpleUploadedFile("raters.csv", content))
    assert page.status_code == 422
    assert "file" in page.context["form"].errors


@on_both
def test_adding_again_is_harmless(owner_client: Client, personal: Campaign) -> None:
    add(owner_client, personal, "Ada\nGrace")
    before = owner_client.get(csv_of(personal)).text
    add(owner_client, personal, "ADA\nGrace")

    assert owner_client.get(csv_of(personal)).text == before
    done = invite_raters(campaign=personal, raters=[RaterEntry("Ada", "ada@example.org"), RaterEntry("Emmy")])
    assert (done.n_new, done.n_known, done.n_emails) == (1, 1, 1)
    assert names_of(personal) == ["Ada", "Grace", "Emmy"]
    assert list_raters(personal).get(name="Ada").email == "ada@example.org"


def test_one_address_is_not_given_to_two_raters(owner_client: Client, personal: Campaign) -> None:
    add(owner_client, personal, "Ada,ada@example.org")
    for text in ("Grace\nEve,ADA@example.org", "Grace\nAda,other@example.org"):
        page = add(owner_client, personal, text)
        assert page.status_code == 422
        assert "Line 2: " in page.text
        assert page.context["form"]["names"].value() == text
    assert names_of(personal) == ["Ada"]


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("", ["required"]),
        (" \n ", ["required"]),
        ("x" * 101, ["too_long"]),
        ("a:b", ["colon"]),
        ("a@example.org, b@example.org", ["several"]),
        ("Ada;ada(at)example.org", ["bad_email"]),
        ("name,email\nAda,ada", ["bad_email"]),
        ("Ada\nGrace\nADA", ["duplicate"]),
        ("Ada,a@example.org\nGrace,A@example.org", ["duplicate"]),
        ("fine\nx:y\n" + "z" * 120, ["colon", "too_long"]),
        ("\n".join(f"rater {k}" for k in range(2001)), ["too_many"]),
        ("\n".join(f"a:{k}" for k in range(30)), ["colon"] * 10 + ["more"]),
    ],
)
def test_lines_that_are_no_rater_are_refused_by_number(
    owner_client: Client, personal: Campaign, text: str, codes: list[str]
) -> None:
    response = add(owner_client, personal, text)

    assert response.status_code == 422
    assert [error.code for error in response.context["form"].errors.as_data()["names"]] == codes
    assert not Invitation.objects.exists()
    assert response.context["form"]["names"].value() == text


@on_both
def test_a_name_of_a_hundred_characters_in_any_script_is_possible(personal: Campaign) -> None:
    invite(personal, "語" * 100)
    assert names_of(personal) == ["語" * 100]


@pytest.mark.parametrize("name", ["", "a:b", "x" * 101])
def test_the_service_refuses_names_that_a_key_would_not_give_back(personal: Campaign, name: str) -> None:
    with pytest.raises(DomainError) as refused:
        invite(personal, "fine", name)
    assert refused.value.code == "bad_name"
    assert not Worker.objects.exists()


# --- How far they are


@on_both
def test_the_table_says_how_far_each_rater_is_and_what_they_can_still_do(
    owner_client: Client, personal: Campaign, rng
) -> None:
    Campaign.objects.filter(pk=personal.pk).update(workers_per_hit=2, hits_per_worker=3)
    personal.refresh_from_db()
    invite(personal, "idle", "done", "busy", "gone")
    first, second, third, fourth = build(personal)
    for hit in (first, second, third):
        rate_hit(hit, make_worker(personal, "done"), rng)
    rate_hit(second, make_worker(personal, "busy"), rng)  # which is full now
    rate_hit(third, make_worker(personal, "busy"), rng, state="active", n_rated=1)  # as is this
    rate_hit(fourth, make_worker(personal, "busy"), rng, state="expired", n_rated=1)
    owner_client.post(rater_url(personal, "gone", "rater_revoke"))

    page = owner_client.get(raters_of(personal))

    assert shown(page.text) == [
        ("idle", "Not begun", "0", "2"),  # the first and the fourth
        ("done", "Finished", "3", "0"),
        ("busy", "In progress", "1", "2"),  # what it is at, and one of the others
        ("gone", "Revoked", "0", "0"),
    ]
    counts = count_raters(personal)
    assert (counts.n_not_begun, counts.n_started, counts.n_finished, counts.n_revoked) == (1, 1, 1, 1)
    assert (counts.n_hits_finished, counts.n_left, counts.n_places, counts.has_too_few) == (4, 4, 4, False)

    def found(**filters: str) -> list[str]:
        return [row[0] for row in shown(owner_client.get(raters_of(personal), filters).text)]

    assert found(state="unfinished") == ["idle", "busy"]
    assert found(state="finished", search="DON") == ["done"]
    assert found(search=str(personal.public_id)[:8]) == []
    assert owner_client.get(raters_of(personal), {"state": "no such"}).status_code == 422


def test_raters_who_cannot_take_all_places_are_too_few(owner_client: Client, personal: Campaign) -> None:
    """Each of 4 HITs wants 3 raters, and there are 2."""
    Campaign.objects.filter(pk=personal.pk).update(workers_per_hit=3)
    personal.refresh_from_db()
    build(personal)
    invite(personal, "Ada", "Grace")
    text = "12 places of HITs are left, and the invited raters can take at most 8"
    assert text in owner_client.get(raters_of(personal)).text


def test_forty_raters_cost_as_many_queries_as_two(owner_client: Client, personal: Campaign) -> None:
    counts = []
    for n in (2, 40):
        invite(personal, *(f"rater {k}" for k in range(n)))
        with CaptureQueriesContext(connection) as queries:
            owner_client.get(raters_of(personal))
        counts.append(len(queries))
    assert counts[0] == counts[1] <= 12


# --- Links as files


def test_links_come_as_csv_that_excel_opens_without_formulas(owner_client: Client, personal: Campaign) -> None:
    add(owner_client, personal, "=HYPERLINK(1)\nAda,ada@example.org")

    response = owner_client.get(csv_of(personal))

    assert response.content.startswith(b"\xef\xbb\xbf"), "else Excel takes it for Windows-1252"
    rows = list(csv.DictReader(response.content.decode("utf-8-sig").splitlines()))
    assert [(row["name"], row["email"], row["state"]) for row in rows] == [
        ("'=HYPERLINK(1)", "", "Not begun"),
        ("Ada", "ada@example.org", "Not begun"),
    ]
    assert all(row["link"].startswith(f"http://testserver/rate/c/{personal.public_id}/?invitation=") for row in rows)
    assert "attachment" in response["Content-Disposition"]
    assert owner_client.get(csv_of(personal), {"search": "ada@"}).text.count("invitation=") == 1


def test_qr_codes_are_drawn_here_for_print_and_one_by_one(owner_client: Client, personal: Campaign) -> None:
    invite(personal, "Ada <script>", "Grace", "Eve")
    personal.invitations.filter(worker__key__endswith="Eve").update(revoked_at=timezone.now())

    page = owner_client.get(reverse("monitoring:rater_codes", args=[personal.public_id]))
    file = owner_client.get(rater_url(personal, "Ada <script>", "rater_code"))
    open_link = owner_client.get(reverse("monitoring:open_link_code", args=[personal.public_id]))

    assert (page.text.count('class="qr-code"'), page.text.count("code-name")) == (2, 2)
    assert "Eve" not in page.text
    assert file["Content-Type"] == open_link["Content-Type"] == "image/svg+xml"
    assert "<title>Ada &lt;script&gt;</title>" in file.text
    assert "attachment" in file["Content-Disposition"]


# --- Revoking


@on_both
def test_a_revoked_link_says_so_and_gives_no_hit_until_it_is_restored(
    owner: User, owner_client: Client, client: Client
) -> None:
    campaign = open_campaign(owner, n_hits=2, platform_settings={"access": "personal"})
    link = welcome_url(campaign, personal_query(campaign, "Ann"))
    address = client.post(link)["Location"]
    item = client.get(address)
    client.post(address, answers(item))

    for _ in range(2):  # again, it changes nothing
        page = owner_client.post(rater_url(campaign, "Ann", "rater_revoke"), follow=True)
        assert page.status_code == 200
    at_work = Assignment.objects.get()
    assert (at_work.state, at_work.n_rated, at_work.hit.n_places_left) == ("expired", 1, 1)
    assert Event.objects.get(kind="expired").data == {"cause": "revoked"}
    answered = [client.get(link), client.post(link), client.get(address), client.post(address, answers(item))]
    answered.append(client.post(f"{address}next/"))
    for answer in answered:
        assert (answer.status_code, "This link was withdrawn" in answer.text) == (403, True)
    assert Assignment.objects.get().n_rated >= 1

    owner_client.post(rater_url(campaign, "Ann", "rater_restore"))
    assert client.post(link)["Location"] == address
    assert Assignment.objects.get().state == "active"


def test_a_revoked_link_still_shows_the_codes_of_finished_hits(
    campaign: Campaign, owner_client: Client, client: Client, rng
) -> None:
    query = personal_query(campaign, "Ann")
    done = rate_hit(build(campaign)[0], make_worker(campaign, "Ann"), rng)
    owner_client.post(rater_url(campaign, "Ann", "rater_revoke"))
    assert done.completion_code in client.get(welcome_url(campaign, query)).text
    assert f"/{token_of(done)}/next/" not in client.get(reverse("rate:hit", args=[token_of(done)])).text


def test_an_address_is_changed_and_refused_where_it_is_wrong(owner_client: Client, personal: Campaign) -> None:
    add(owner_client, personal, "Ada\nGrace,grace@example.org")
    url = rater_url(personal, "Ada")
    for email in ("ada", "Grace@example.org"):
        assert owner_client.post(url, {"email": email}).status_code == 422
    assert owner_client.post(url, {"email": "ada@example.org"}).status_code == 302
    assert list_raters(personal).get(name="Ada").email == "ada@example.org"


# --- Who may


def test_a_viewer_gets_no_links(personal: Campaign, colleague: User, colleague_client: Client) -> None:
    add_member(personal, colleague, "viewer")
    invite(personal, "rater-17")

    page = colleague_client.get(raters_of(personal), {"search": "rater-17"})

    assert "rater-17" not in page.text.partition("</form>")[0]  # an address, perhaps
    assert '<dd class="stat-value">1' in page.text
    assert "invitation=" not in page.text
    assert f"/rate/c/{personal.public_id}/" not in page.text
    personal.platform_settings = {"access": "open"}
    personal.save()
    assert f"/rate/c/{personal.public_id}/" not in colleague_client.get(raters_of(personal)).text


def test_a_rater_of_another_campaign_is_not_found(owner: User, owner_client: Client, personal: Campaign) -> None:
    invite(personal, "Ada")
    elsewhere = reverse("monitoring:rater", args=[make_campaign(owner).public_id, personal.invitations.get().pk])
    assert owner_client.get(elsewhere).status_code == 404


# --- Installations that exist


def old_link(campaign: Campaign, name: str) -> str:
    """Return a personal link as it was made before invitations had keys."""
    return welcome_url(campaign, urlencode({"rater": name, "key": sign("link", str(campaign.public_id), name)}))


@pytest.mark.django_db(transaction=True)
def test_links_that_were_sent_before_still_work(owner: User, owner_client: Client, client: Client) -> None:
    campaign = open_campaign(owner, n_hits=2, platform_settings={"access": "personal"})
    invite(campaign, "Ann", "ben@example.org")
    with migrated_back(("annotation", "0008_erased")):
        pass

    ann, ben = campaign.invitations.all()
    assert (ann.email, ben.email) == ("", "ben@example.org")
    assert len({ann.key, ben.key}) == 2
    address = client.post(old_link(campaign, "Ann"))["Location"]
    assert client.post(welcome_url(campaign, personal_query(campaign, "Ann")))["Location"] == address
    owner_client.post(rater_url(campaign, "Ann", "rater_revoke"))
    assert client.get(old_link(campaign, "Ann")).status_code == 403
    assert client.get(old_link(campaign, "Ann").replace("Ann", "ben%40example.org")).status_code == 404
