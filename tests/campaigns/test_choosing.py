"""Create campaign: which protocols fit, starting from a file, copying a campaign or an example."""

from pathlib import Path
from uuid import uuid4

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.test import Client
from django.urls import reverse

from campaigns.choosing import TASKS, WRITTEN, list_cards
from campaigns.contracts.protocol import Protocol
from campaigns.examples import EXAMPLES
from campaigns.importing.guessing import guess_layout, guess_written
from campaigns.models import Campaign, Upload
from campaigns.protocols import get_protocol, list_protocols
from campaigns.services.imports import choose_protocol, execute_import
from evalsite.lib.errors import DomainError
from evalsite.lib.tables import Preview, preview
from tests.campaigns.cast import add_outputs, make_campaign
from tests.databases import on_sqlite

pytestmark = on_sqlite

NEW = "/campaigns/new/"
SUMMARIES = "doc_id,document,system,summary\n" + "".join(
    f"d{k},The council of town {k} wants a bridge.,{system},A bridge for town {k}.\n"
    for k in range(4)
    for system in ("alder", "birch")
)


def titles(**wanted: object) -> list[str]:
    return [card.protocol.title for card in list_cards(**wanted) if not card.reason]  # type: ignore[arg-type]


def reason(slug: str, **wanted: object) -> str:
    return next(card.reason for card in list_cards(**wanted) if card.protocol.slug == slug)  # type: ignore[arg-type]


def look(path: Path, text: str) -> Preview:
    path.write_text(text)
    return preview(path, path.name)


# --- What protocols say of themselves


@pytest.mark.parametrize("protocol", list_protocols(), ids=lambda protocol: protocol.slug)
def test_each_protocol_says_what_it_is_for(protocol: type[Protocol]) -> None:
    assert protocol.writes and {*protocol.writes} <= {*WRITTEN}
    assert protocol.tasks and {*protocol.tasks} <= {*TASKS}
    assert protocol.good_for.endswith((".", "?"))
    assert protocol.names
    if paper := protocol.paper:
        assert paper.cite.rpartition(" ")[2].isdecimal()  # its year
        assert paper.url.startswith("https://") or not paper.url
    assert ("chats" in protocol.writes) == ("chat" in protocol.tasks) == bool(protocol.chat)


def test_every_answer_has_a_protocol() -> None:
    assert all(titles(written=each) for each in WRITTEN)
    assert all(titles(task=each) for each in TASKS)


def test_a_protocol_from_outside_that_says_nothing_fits_anything(
    owner_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Bare(Protocol):
        slug, title, summary = "bare", "Bare", "From another package."
        criteria, worker_test = get_protocol("likert").criteria, "none"

    monkeypatch.setattr("campaigns.choosing.list_protocols", lambda: [Bare])
    assert titles(written="replies", task="mark") == ["Bare"]
    assert "From another package." in owner_client.get(NEW).text


# --- What fits


@pytest.mark.parametrize(
    ("search", "found"),
    [("MQM", "MQM"), ("ssa", "Sensible and specific replies (SSA)"), ("RankME", "RankME"), ("hter", "Post-editing")],
)
def test_a_protocol_is_found_by_its_name(search: str, found: str) -> None:
    assert found in titles(search=search)
    assert len(titles(search=search)) < 4


def test_direct_assessment_is_found_under_all_its_titles() -> None:
    assert {"Direct Assessment, translation", "MRC adequacy", "Custom"} <= {*titles(search="direct assessment")}
    assert "MQM" not in titles(search="direct assessment")
    assert list_cards(search="no such thing") == []


def test_what_does_not_fit_comes_last_and_says_why() -> None:
    cards = list_cards(written="summaries", task="points")
    assert [card.protocol.slug for card in cards if not card.reason] == ["likert"]
    assert cards[0].protocol.slug == "likert"
    assert reason("mqm", written="summaries", task="points") == (
        "It is for translations and documents. Here people mark errors."
    )
    assert reason("dialogue-free", written="summaries") == "People chat with the systems themselves."


def test_more_questions_and_longer_texts_take_longer(tmp_path: Path) -> None:
    of = {card.protocol.slug: card.time for card in list_cards()}
    assert of["da-summary"] > of["mrc-fluency"]  # two statements, not one
    assert of["dialogue-free"].total_seconds() == 100 * 398  # as of a chat of ten messages and seven statements
    short = {card.protocol.slug: card.time for card in list_cards(preview=look(tmp_path / "s.csv", SUMMARIES))}
    assert short["da-summary"] < of["da-summary"]


# --- By a file


def test_a_file_of_summaries_brings_what_fits_its_columns(tmp_path: Path) -> None:
    seen = look(tmp_path / "summaries.csv", SUMMARIES)
    assert guess_written(seen) == "summaries"
    fitting = titles(preview=seen, written="summaries")
    assert fitting[0] == "Direct Assessment, summary"
    assert "Likert scales" in fitting
    assert reason("mrc-adequacy", preview=seen) == "Your file has no column for “Answer A”."
    assert reason("dialogue-free", preview=seen).startswith("People chat with the systems themselves: a file")
    assert not next(card for card in list_cards(preview=seen) if card.protocol.chat).can_use


@pytest.mark.parametrize("name", ["document", "article", "src"])
@pytest.mark.parametrize("id_column", ["doc_id", "id"])
def test_the_source_of_a_summary_is_found_by_its_names(tmp_path: Path, name: str, id_column: str) -> None:
    text = SUMMARIES.replace("doc_id,document", f"{id_column},{name}")
    layout = guess_layout(look(tmp_path / "summaries.csv", text), get_protocol("likert").screen)
    assert dict(layout.roles) == {id_column: "source", name: "field:source", "system": "system", "summary": "output"}


@pytest.mark.parametrize("protocol", ["preference", "ranking", "best-worst", "fact-count", "da-summary"])
def test_a_short_document_is_a_text_and_no_name(tmp_path: Path, protocol: str) -> None:
    layout = guess_layout(look(tmp_path / "summaries.csv", SUMMARIES), get_protocol(protocol).screen)
    assert layout.roles["document"].startswith("field:")


def test_the_text_that_was_summarised_is_no_reference(tmp_path: Path) -> None:
    assert (
        reason("rank-me", preview=look(tmp_path / "s.csv", SUMMARIES))
        == "Your file has no column for “Reference: 100”."
    )


def start(client: Client, text: str = SUMMARIES, name: str = "my_summaries.csv") -> Upload:
    answer = client.post(reverse("campaigns:new_file"), {"file": SimpleUploadedFile(name, text.encode())})
    upload = Upload.objects.get()
    assert answer["Location"] == reverse("campaigns:protocol", args=[upload.campaign.public_id, upload.pk])
    return upload


def test_a_file_becomes_a_campaign_without_a_second_upload(owner_client: Client) -> None:
    upload = start(owner_client)
    assert upload.campaign.name == "my summaries"
    page = reverse("campaigns:protocol", args=[upload.campaign.public_id, upload.pk])
    assert owner_client.get(page).context["choose"]["written"].value() == "summaries"
    answer = owner_client.post(page, {"protocol": "likert"})
    assert answer["Location"] == reverse("campaigns:columns", args=[upload.campaign.public_id, upload.pk])
    owner_client.post(answer["Location"], {"import": "1", "blank-0": "summaries of news", **roles(upload)})
    upload.refresh_from_db()
    execute_import(upload=upload, mode="replace", on_progress=lambda *_: None, saving=transaction.atomic)
    campaign = Campaign.objects.get()
    assert (campaign.protocol, campaign.name) == ("likert", "my summaries")
    assert [each.name for each in campaign.criteria.all()] == ["clarity", "usefulness"]
    assert (campaign.sources.count(), campaign.systems.count()) == (4, 2)
    assert "summaries of news" in campaign.instructions
    assert "[[" not in campaign.instructions


def test_a_form_sent_twice_makes_one_campaign_and_another_file_another(owner_client: Client) -> None:
    form_id = owner_client.get(reverse("campaigns:new")).context["upload_form"]["form_id"].value()

    def send(text: str) -> str:
        sent = {"form_id": form_id, "file": SimpleUploadedFile("my_summaries.csv", text.encode())}
        return owner_client.post(reverse("campaigns:new_file"), sent)["Location"]

    first = send(SUMMARIES)
    assert send(SUMMARIES) == first
    assert (Campaign.objects.count(), Upload.objects.count()) == (1, 1)
    assert send(SUMMARIES + SUMMARIES.splitlines()[-1]) != first
    assert Campaign.objects.count() == 2


def test_files_of_lines_sent_by_a_form_are_read_whole(owner_client: Client) -> None:
    form_id = owner_client.get(reverse("campaigns:new")).context["upload_form"]["form_id"].value()
    files = [SimpleUploadedFile(f"{name}.txt", b"One.\nTwo.\n") for name in ("source", "reference", "alpha")]
    assert owner_client.post(reverse("campaigns:new_file"), {"form_id": form_id, "file": files}).status_code == 302
    assert Upload.objects.get().problems is None


def roles(upload: Upload) -> dict[str, str]:
    upload.refresh_from_db()
    return {f"role-{k}": upload.layout["roles"].get(name, "") for k, name in enumerate(upload.layout["columns"])}


def test_a_file_that_cannot_be_read_makes_no_campaign(owner_client: Client) -> None:
    answer = owner_client.post(reverse("campaigns:new_file"), {"file": SimpleUploadedFile("a.csv", b"\x00\x01\x02")})
    assert answer.status_code == 422
    assert "The file was not kept" in answer.text
    assert not Campaign.objects.exists()


def test_the_protocol_of_a_campaign_with_outputs_stays(owner_client: Client) -> None:
    upload = start(owner_client)
    add_outputs(upload.campaign, 1, ["alder"])
    with pytest.raises(DomainError) as refused:
        choose_protocol(upload=upload, protocol="likert")
    assert refused.value.code == "has_contents"


def test_live_chats_take_no_file(owner_client: Client) -> None:
    with pytest.raises(DomainError) as refused:
        choose_protocol(upload=start(owner_client), protocol="dialogue-free")
    assert refused.value.code == "live"


# --- Copies


def copied(client: Client, what: object, public_id: object = None) -> Campaign:
    answer = client.post(reverse("campaigns:new_copy"), {"copied": str(what), "public_id": str(public_id or uuid4())})
    assert answer.status_code == 302
    return Campaign.objects.get(public_id=answer["Location"].rstrip("/").rpartition("/")[2])


def test_a_colleagues_campaign_is_copied(viewer_client: Client, ready: Campaign) -> None:
    copy = copied(viewer_client, ready.public_id)
    assert (copy.status, copy.memberships.get().role) == ("draft", "owner")
    assert copy.sources.count() == ready.sources.count() > 0


def test_a_strangers_campaign_is_not_among_them(owner_client: Client, stranger) -> None:
    other = make_campaign(stranger, "qg")
    answer = owner_client.post(reverse("campaigns:new_copy"), {"copied": str(other.public_id)})
    assert answer.status_code == 422
    assert Campaign.objects.count() == 1


@pytest.mark.django_db
@pytest.mark.parametrize("place", range(len(EXAMPLES)), ids=[example.protocol for example in EXAMPLES])
def test_every_example_can_be_copied(owner_client: Client, place: int) -> None:
    public_id = uuid4()
    copy = copied(owner_client, place, public_id)
    assert copied(owner_client, place, public_id) == copy
    assert copy.protocol == EXAMPLES[place].protocol
    assert copy.systems.filter(is_degraded=False).exists() == copy.is_live
    assert copy.uploads.filter(job__status="queued").exists() != copy.is_live
