"""Attributes of invited raters: from a list to their page, to files of what they answered, and gone with the person."""

import csv
import io
from collections.abc import Iterator

import numpy as np
import pyarrow.parquet as pq
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from annotation.export.downloads import ExportChoice, find_download
from annotation.export.rows import RATING_COLUMNS
from annotation.export.tables import _REPLY_SCORES, TABLES, table_of
from annotation.models import Invitation
from annotation.raters.lists import RaterEntry
from annotation.raters.queries import list_raters
from annotation.services.erasing import erase_worker, stored_data
from annotation.services.invitations import invite_raters
from annotation.worker_names import hashed_name, real_name
from campaigns.contracts.attributes import TAKEN_ATTRIBUTES, plain_attribute
from campaigns.models import Campaign
from evalsite.accounts.models import User
from evalsite.lib.errors import DomainError
from evalsite.lib.tables.blocks import in_rows
from tests.annotation.cast import build, launch, make_worker, rate_hit
from tests.campaigns.cast import make_campaign
from tests.databases import on_both, on_sqlite

pytestmark = on_sqlite

KEPT = "pool, native language"
LIST = "name;email;pool;Native language\nAda;ada@example.org;lab;English\nGrace;;crowd;\nEmmy;;;"


@pytest.fixture
def personal(owner: User) -> Campaign:
    campaign = launch(make_campaign(owner))
    campaign.platform_settings = {"access": "personal", "max_workers": None}
    campaign.save()
    return campaign


def add(client: Client, campaign: Campaign, names: str = "", kept: str = KEPT, **more) -> HttpResponse:
    url = reverse("monitoring:raters_add", args=[campaign.public_id])
    return client.post(url, {"names": names, "attributes": kept} | more, follow=True)


def attributes(campaign: Campaign) -> dict[str, dict[str, str]]:
    return {each.worker.name: each.attribute_values for each in campaign.invitations.select_related("worker")}


@on_both
def test_further_columns_of_a_list_are_attributes(owner_client: Client, personal: Campaign) -> None:
    page = add(owner_client, personal, LIST)
    assert attributes(personal) == {
        "Ada": {"pool": "lab", "Native language": "English"},
        "Grace": {"pool": "crowd"},
        "Emmy": {},
    }
    for text in ("Native language: English, pool: lab</bdi>", "pool: crowd</bdi>"):
        assert text in page.text
    ada = list_raters(personal).get(name="Ada")
    assert "<bdi>English</bdi>" in owner_client.get(reverse("monitoring:rater", args=[personal.public_id, ada.pk])).text


@on_both
def test_sent_again_a_list_changes_what_it_has_and_deletes_by_an_empty_cell(
    owner_client: Client, personal: Campaign
) -> None:
    add(owner_client, personal, LIST)
    before = Invitation.objects.get(worker__key__endswith="Grace").attributes_at
    page = add(owner_client, personal, "NAME,POOL,years\nADA,,7\nGrace,crowd,\nTuring,lab,3", "pool,years")
    assert "1 rater added. 2 had a link already. Attributes of 1 rater changed." in page.text
    assert attributes(personal) == {
        "Ada": {"Native language": "English", "years": "7"},
        "Grace": {"pool": "crowd"},
        "Emmy": {},
        "Turing": {"pool": "lab", "years": "3"},
    }, "under the names that the campaign has"
    assert Invitation.objects.get(worker__key__endswith="Grace").attributes_at == before


def test_a_downloaded_list_has_them_and_changes_nothing_when_it_comes_back(
    owner_client: Client, personal: Campaign
) -> None:
    add(owner_client, personal, LIST.replace("English", "=1+1"))
    content = owner_client.get(reverse("monitoring:raters_csv", args=[personal.public_id])).content
    header, ada, *_ = csv.reader(io.StringIO(content.decode("utf-8-sig")))
    assert header[-2:] == ["Native language", "pool"] and ada[-1] == "lab"
    before = list(Invitation.objects.values_list())
    page = add(owner_client, personal, kept="", file=SimpleUploadedFile("raters.csv", content))
    assert "Nobody new. 3 had a link already." in page.text and "Attributes of" not in page.text
    assert list(Invitation.objects.values_list()) == before


def test_columns_that_nobody_asked_to_keep_are_not_kept(owner_client: Client, personal: Campaign) -> None:
    """A list may have telephone numbers, comments and what else a lab notes."""
    add(owner_client, personal, "name,phone,comment,pool\nAda,+353 1 234,late,lab", "Pool")
    assert attributes(personal) == {"Ada": {"pool": "lab"}}
    page = add(owner_client, personal, "name,phone\nEve,+353 1 234", "")
    assert "1 rater added." in page.text and attributes(personal)["Eve"] == {}
    page = add(owner_client, personal, "name,phone\nZoe,+353 1 234", "pool")
    assert page.status_code == 422 and not Invitation.objects.filter(worker__key__endswith="Zoe").exists()
    assert "The list has no column “pool” to keep. Its further columns are: “phone”." in page.text


def test_a_list_from_excel_in_windows_1252_is_shown_with_them_and_then_taken(
    owner_client: Client, personal: Campaign
) -> None:
    content = "name;pool;Herkunft\nJürgen Groß;Köln;Österreich, Süd\n".encode("windows-1252")
    page = add(owner_client, personal, "", "pool, Herkunft", file=SimpleUploadedFile("raters.csv", content))
    assert page.status_code == 422 and not Invitation.objects.exists()
    add(owner_client, personal, page.context["form"]["names"].value(), page.context["form"]["attributes"].value())
    assert attributes(personal) == {"Jürgen Groß": {"pool": "Köln", "Herkunft": "Österreich, Süd"}}


@pytest.mark.parametrize(
    ("text", "codes", "said"),
    [
        ("name,Score\nAda,3", ["attribute_taken"], "An attribute cannot be called “Score”"),
        ("name,rated at\nAda,3", ["attribute_taken"], "Give the column another name."),
        ("name,Output words\nAda,3", ["attribute_taken"], "Give the column another name."),
        ("name,pool,Pool\nAda,a,b", ["attribute_twice"], "“Pool” is there twice"),
        ("name,--\nAda,a", ["attribute_name"], "“--” of an attribute has no letter or digit"),
        (f"name,{'x' * 51}\nAda,a", ["attribute_name"], "at most 50 are possible"),
        (f"name,pool\nAda,{'x' * 101}", ["long_value"], "Line 2: “pool” has 101 characters"),
        ("name,boss\nAda,eve@example.org", ["email_value"], "Line 2: “eve@example.org” is an e-mail address"),
        ("name," + ",".join(f"a{k}" for k in range(21)), ["many_attributes"], "21 attributes; at most 20"),
    ],
)
def test_what_cannot_be_an_attribute_is_refused_in_a_sentence(
    owner_client: Client, personal: Campaign, text: str, codes: list[str], said: str
) -> None:
    page = add(owner_client, personal, text, text.splitlines()[0].removeprefix("name,"))
    assert [error.code for error in page.context["form"].errors.as_data()["names"]] == codes
    assert page.status_code == 422 and said in page.text
    assert not Invitation.objects.exists()


def test_a_line_without_end_is_refused_as_one_that_is_too_long(owner_client: Client, personal: Campaign) -> None:
    page = add(owner_client, personal, 'name;pool\n"' + "x" * 140_000 + ";lab", "pool")
    assert [error.code for error in page.context["form"].errors.as_data()["names"]] == ["too_long"]


def test_two_lists_have_no_more_of_them_than_one(owner_client: Client, personal: Campaign) -> None:
    for first in (0, 15):
        names = [f"a{k}" for k in range(first, first + 15)]
        text = "\n".join([",".join(["name", *names]), ",".join(["Ada", *names])])
        page = add(owner_client, personal, text, ",".join(names))
    assert page.status_code == 422 and "There would be 30 attributes" in page.text
    assert len(attributes(personal)["Ada"]) == 15
    with pytest.raises(DomainError) as refused:
        invite_raters(campaign=personal, raters=[RaterEntry("Eve", attributes={f"b{k}": "x" for k in range(6)})])
    assert refused.value.code == "many_attributes"


def test_no_attribute_can_be_called_like_a_column_of_any_table() -> None:
    columns = {*RATING_COLUMNS, *(column for table in (*TABLES.values(), _REPLY_SCORES) for column in table.columns)}
    assert {plain_attribute(column) for column in columns} <= TAKEN_ATTRIBUTES
    assert plain_attribute("pool") not in TAKEN_ATTRIBUTES


# --- In files


@pytest.fixture
def rated(personal: Campaign) -> Campaign:
    """A campaign with a HIT of Ada's and one of somebody without an invitation."""
    invite_raters(
        campaign=personal,
        raters=[
            RaterEntry("Ada", attributes={"pool": "lab", "years": "7"}),
            RaterEntry("Grace", attributes={"pool": "crowd"}),
        ],
    )
    for hit, name in zip(build(personal, 2), ["Ada", "somebody"], strict=True):
        rate_hit(hit, make_worker(personal, name), np.random.default_rng(1))
    return personal


def content(campaign: Campaign, name: str, *, has_real_ids: bool = False) -> bytes:
    download = find_download(campaign, name)
    assert download
    return b"".join(download.pieces(campaign, ExportChoice(has_real_ids=has_real_ids)))


def cells(rows: Iterator[dict[str, str]]) -> set[tuple[str, ...]]:
    return {(row["worker"], row["pool"], row["years"]) for row in rows}


@on_both
def test_files_have_them_at_the_end_and_empty_for_others(rated: Campaign) -> None:
    ada, other = (make_worker(rated, name) for name in ("Ada", "somebody"))
    for names, is_real in ((hashed_name, False), (real_name, True)):
        expected = {(names(ada), "lab", "7"), (names(other), "", "")}
        found = csv.DictReader(io.StringIO(content(rated, "ratings.csv", has_real_ids=is_real).decode()))
        assert cells(found) == expected
        assert found.fieldnames == [*RATING_COLUMNS, "output_words", "pool", "years"]
        table = table_of(rated, "scores")
        rows = (dict(zip(table.columns, row, strict=True)) for row in in_rows(table.blocks(rated, names=names)))
        assert cells(rows) == expected
    parquet = pq.read_table(io.BytesIO(content(rated, "ratings.parquet"))).to_pylist()
    assert cells(parquet) == {(hashed_name(ada), "lab", "7"), (hashed_name(other), "", "")}


def test_files_of_a_campaign_without_them_say_of_outputs_alone(rated: Campaign) -> None:
    Invitation.objects.update(attribute_values={})
    header = content(rated, "ratings.csv").splitlines()[0].decode()
    assert header == ",".join([*RATING_COLUMNS, "output_words"])
    assert table_of(rated, "scores").columns == (*TABLES["scores"].columns, "output_words")


# --- Gone with the person


def test_they_are_handed_out_and_erased_with_the_person(rated: Campaign, owner: User) -> None:
    ada = make_worker(rated, "Ada")
    [invitation] = stored_data(campaign=rated, worker=ada)["invitations"]
    assert invitation["attribute_values"] == {"pool": "lab", "years": "7"}
    erase_worker(campaign=rated, worker=ada, wants=(), user=owner)
    assert list(attributes(rated)) == ["Grace"]
    assert b"lab" not in content(rated, "ratings.csv") and b",crowd" not in content(rated, "ratings.csv")
