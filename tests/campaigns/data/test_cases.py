"""Files of outputs as people have them, by the upload page and by the API, to their sources and systems."""

import io
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from campaigns.design.composition import Kind
from campaigns.models import Campaign, HitItem
from evalsite.accounts.models import User
from tests.campaigns.cast import make_campaign
from tests.campaigns.data.files import do_job, finish, post_import, url

Files = Mapping[str, bytes]


def sent(files: Files) -> list[SimpleUploadedFile]:
    return [SimpleUploadedFile(name, content) for name, content in files.items()]


def zipped(files: Files) -> Files:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in files.items():
            archive.writestr(f"outputs/{name}", content)
        archive.writestr("__MACOSX/outputs/._source.txt", b"\0")
    return {"outputs.zip": stream.getvalue()}


@pytest.fixture(params=["page", "API"])
def bring(request: pytest.FixtureRequest, owner_client: Client):
    """Return what uploads files to a campaign and imports them as they were guessed."""

    def bring_in(campaign: Campaign, files: Files) -> Campaign:
        if request.param == "page":
            response = owner_client.post(url("upload", campaign), {"file": sent(files)})
            assert response.status_code == 302
            found = campaign.uploads.get()
            assert post_import(owner_client, found).status_code == 302
        else:
            address = f"/api/v1/campaigns/{campaign.public_id}/uploads/"
            response = owner_client.post(address, {"file": sent(files)})
            assert response.status_code == 201
            assert (
                owner_client.post(
                    f"{address}{response.json()['id']}/import/", content_type="application/json"
                ).status_code
                == 202
            )
            found = campaign.uploads.get()
        done = finish(found)
        assert done.imported_at, done.problems or done.job.error
        return campaign

    return bring_in


@pytest.fixture(params=["page", "API"])
def build(request: pytest.FixtureRequest, owner_client: Client):
    """Return what proposes a design for a lab of three, builds its HITs and returns the systems that they judge."""

    def build_all(campaign: Campaign) -> list[str]:
        raters = {"raters": "lab", "n_raters": 3, "minutes": 30, "seconds_per_item": 20}
        assert owner_client.post(url("design_proposal", campaign), raters).status_code == 302
        if request.param == "page":
            assert owner_client.post(url("build", campaign)).status_code == 302
        else:
            assert owner_client.post(f"/api/v1/campaigns/{campaign.public_id}/hits/").status_code == 202
        campaign.refresh_from_db()
        do_job(campaign.build_job)
        campaign.refresh_from_db()
        assert campaign.status == Campaign.Status.READY, campaign.build_job.error
        items = HitItem.objects.filter(hit__campaign=campaign)
        return sorted(set(items.values_list("output__system__name", flat=True)))

    return build_all


def systems_of(campaign: Campaign) -> list[str]:
    return sorted(campaign.systems.values_list("name", flat=True))


FOLDER = "line_by_line/"


@pytest.mark.parametrize("name", ["array.json", "document_column.csv", "nested_outputs.json"])
def test_a_file_of_outputs_becomes_hits_as_it_is(cases: Path, expected, owner: User, bring, build, name: str) -> None:
    campaign = bring(make_campaign(owner, expected[name]["campaign"]), {name: (cases / name).read_bytes()})
    assert campaign.sources.count() == expected[name]["n_sources"]
    assert build(campaign) == systems_of(campaign) == expected[name]["systems"]


def test_batches_of_esa_tasks_keep_their_hits(cases: Path, expected, owner: User, bring) -> None:
    name = "appraise_batches_esa.json"
    right = expected[name]
    campaign = bring(make_campaign(owner, right["campaign"]), {name: (cases / name).read_bytes()})
    assert (campaign.sources.count(), campaign.hits.count()) == (right["n_sources"], right["n_hits"])
    assert systems_of(campaign) == right["systems"]
    assert HitItem.objects.filter(hit__campaign=campaign, kind=Kind.DEGRADED).count() == right["n_degraded"]
    said = [notice["message"] for notice in campaign.uploads.get().summary["notices"]]
    items = HitItem.objects.filter(hit__campaign=campaign, kind=Kind.TUTORIAL).order_by("hit", "position")
    places = list(items.values_list("hit__number", "position", "output"))
    first = range(1, right["n_tutorial"] + 1)
    assert places == [(hit, position, None) for hit in range(1, right["n_hits"] + 1) for position in first]
    assert items[0].fields == {"source": "Der Hund schläft."}
    assert any(f"never analysed: {len(places)}" in message for message in said)
    hit_size = campaign.hits.first().items.count()
    assert Campaign.objects.get(pk=campaign.pk).hit_size == hit_size


@pytest.mark.parametrize("is_zipped", [False, True])
def test_text_files_line_by_line_are_one_table(
    cases: Path, expected, owner: User, bring, build, is_zipped: bool
) -> None:
    files = {path.name: path.read_bytes() for path in sorted((cases / FOLDER).iterdir())}
    campaign = bring(make_campaign(owner, "da-translation"), zipped(files) if is_zipped else files)
    assert campaign.sources.count() == expected[FOLDER]["n_sources"]
    assert build(campaign) == systems_of(campaign) == expected[FOLDER]["systems"]
    source = campaign.sources.get(name="1")
    assert source.fields["source"].startswith("Source sentence number 0, with a “quotation”")
    assert source.fields["reference"] == "Reference 0."


def test_documents_are_between_blank_lines_or_in_a_file(owner: User, owner_client: Client, bring) -> None:
    blank = {
        "wmt.src.en": b"One.\nTwo.\n\nThree.\n",
        "wmt.hyp.alder.de": b"Eins.\r\nZwei.\r\n\r\nDrei.",
        "wmt.hyp.elm.de": b"1.\n2.\n\n3.\n",
    }
    campaign = bring(make_campaign(owner, "da-document"), blank)
    assert systems_of(campaign) == ["alder", "elm"]
    documents = campaign.sources.order_by("pk").values_list("document", flat=True)
    assert list(documents) == ["document 1", "document 1", "document 2"]


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"source.txt": b"a\nb\n", "alder.txt": b"a\n"}, ["alder.txt has 1 lines, and source.txt has 2"]),
        ({"alder.txt": b"a\n", "elm.txt": b"a\n"}, ["must hold the sources", "source.txt or src.txt"]),
        ({"source.txt": b"a\n", "ref.txt": b"a\n"}, ["must hold the sources"]),
        ({"source.txt": b"a\n", "alder.txt": b"\xff\xfe\xfa"}, ["alder.txt", "not UTF-8"]),
        ({"source.txt": b"a\n", "more.csv": b"a\n"}, ["more.csv", "is a table"]),
        ({"source.txt": b"", "alder.txt": b""}, ["empty"]),
    ],
)
@pytest.mark.parametrize("is_zipped", [False, True])
def test_files_that_do_not_belong_together_are_refused(
    owner: User, owner_client: Client, files: Files, words: Sequence[str], is_zipped: bool
) -> None:
    campaign = make_campaign(owner, "da-translation")
    response = owner_client.post(url("upload", campaign), {"file": sent(zipped(files) if is_zipped else files)})
    assert response.status_code == 422
    assert [word for word in words if word not in response.text] == []
    assert not campaign.uploads.exists()


@pytest.mark.parametrize("content", [b"PK\x03\x04 cut short", b"PK\x05\x06" + b"\0" * 18])
def test_archives_without_files_are_refused(owner: User, owner_client: Client, content: bytes) -> None:
    campaign = make_campaign(owner, "da-translation")
    assert owner_client.post(url("upload", campaign), {"file": sent({"x.zip": content})}).status_code == 422
    assert not campaign.uploads.exists()


def test_an_archive_that_unpacks_to_too_much_is_refused(owner: User, owner_client: Client, settings) -> None:
    settings.MAX_UPLOAD_MB = 1
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("../../source.txt", b"0" * 2**21)
    campaign = make_campaign(owner, "da-translation")
    response = owner_client.post(url("upload", campaign), {"file": sent({"x.zip": stream.getvalue()})})
    assert response.status_code == 422 and "unpacked it has more than 1 MB" in response.text


def test_a_system_may_be_called_like_a_role_and_more(owner: User, bring) -> None:
    files = {"source.txt": b"a\n", "ref-lm.txt": b"b\n", "docs-gpt.txt": b"c\n", "reference_1.txt": b"d\n"}
    assert systems_of(bring(make_campaign(owner, "da-translation"), files)) == ["docs-gpt", "ref-lm"]


def test_an_archive_of_one_table_is_that_table(owner: User, bring) -> None:
    table = b"id,source,system,output\n1,Eins.,alder,One.\n1,Eins.,elm,Won.\n"
    campaign = bring(make_campaign(owner, "da-translation"), zipped({"outputs.csv": table}))
    assert systems_of(campaign) == ["alder", "elm"]
