"""Pictures from an upload to the campaign: found by name, told by content, kept as pixels, and deleted with it."""

import io
import json
import stat
import zipfile
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from PIL import Image, ImageOps

from campaigns.design_file import design_pieces
from campaigns.forms.design_file import DesignFileForm
from campaigns.models import Campaign, Output, Source, StoredFile
from campaigns.services.copies import create_from_design, duplicate_campaign
from campaigns.services.deletion import delete_campaign, execute_deletion, request_deletion
from campaigns.stored_files import read_file
from evalsite.accounts.models import User
from evalsite.lib.errors import DomainError
from evalsite.lib.pictures import LONGEST_SIDE, normalise, open_kept
from evalsite.undo.models import Act
from tests.campaigns.data.files import url
from tests.campaigns.formats.pictures import (
    SCRIPT,
    build,
    drawn,
    file_of,
    honest,
    hostile,
    import_files,
    picture_campaign,
    pictures,
    send_files,
    table,
    zipped,
)
from tests.databases import on_both, on_sqlite

pytestmark = on_sqlite


@pytest.fixture(autouse=True)
def media(settings, tmp_path: Path) -> Path:
    settings.MEDIA_ROOT = tmp_path / "media"
    return settings.MEDIA_ROOT


@pytest.fixture
def campaign(owner: User) -> Campaign:
    return picture_campaign(owner)


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


# --- What is in a file


@pytest.mark.parametrize("name", honest())
def test_each_kind_of_picture_is_kept_as_pixels_alone(name: str) -> None:
    content = honest()[name]
    picture = normalise(content)
    assert SCRIPT not in picture.webp and b"EXIF" not in picture.webp and b"ICCP" not in picture.webp
    with Image.open(io.BytesIO(picture.webp)) as kept:
        assert (kept.format, kept.mode, kept.size) == ("WEBP", "RGB", (picture.width, picture.height))
        assert not {"exif", "icc_profile", "comment", "xmp"} & kept.info.keys()
    assert picture.is_animated == name.startswith("animated")
    assert normalise(picture.webp).width == picture.width, "what is kept is read again"


def test_a_picture_is_upright_over_white_and_not_too_large() -> None:
    kept = open_kept(normalise(honest()["jpeg"]).webp)
    assert kept.size == (64, 96), "its orientation is that of its EXIF data"
    clear = Image.new("RGBA", (4, 4), (255, 0, 0, 0))
    assert open_kept(normalise(file_of(clear)).webp).getextrema() == ((255, 255),) * 3
    large = normalise(file_of(drawn(1, (3000, 1000)), "JPEG"))
    assert (large.width, large.height) == (LONGEST_SIDE, round(LONGEST_SIDE / 3))
    assert normalise(file_of(Image.new("RGB", (9000, 2)))).height == 1
    exact = drawn(3)
    assert open_kept(normalise(file_of(exact)).webp).tobytes() == exact.tobytes(), "PNG is kept without loss"


@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_picture_is_turned_as_its_camera_was(orientation: int) -> None:
    exif = Image.Exif()
    exif[0x0112] = orientation
    content = file_of(drawn(1), exif=exif)
    upright = ImageOps.exif_transpose(Image.open(io.BytesIO(content)))
    assert open_kept(normalise(content).webp).tobytes() == upright.tobytes()


def test_sixteen_bits_and_cmyk_look_as_they_did() -> None:
    plain = drawn(1)
    for name in ("16 bits", "cmyk"):
        kept = open_kept(normalise(honest()[name]).webp)
        grey, wanted = (image.convert("L").resize((4, 4)).tobytes() for image in (kept, plain))
        assert max(abs(one - other) for one, other in zip(grey, wanted, strict=True)) < 25, name


@pytest.mark.parametrize("name", hostile())
def test_what_is_no_picture_is_refused_with_the_reason(name: str) -> None:
    content, reason = hostile()[name]
    with pytest.raises(DomainError) as refused:
        normalise(content)
    assert refused.value.code == "bad_picture"
    assert reason in refused.value.message


# --- From a zip to the campaign


@on_both
@pytest.mark.parametrize("packed", ["one zip", "zip beside", "all beside", "wide"])
def test_pictures_come_with_the_table(owner_client: Client, campaign: Campaign, packed: str, media: Path) -> None:
    files, content = pictures(2), table(2).encode()
    if packed == "one zip":
        done = import_files(owner_client, campaign, ("all.zip", zipped({**files, "data/outputs.csv": content})))
    elif packed == "zip beside":
        done = import_files(owner_client, campaign, ("outputs.csv", content), ("p.zip", zipped(files)))
    elif packed == "all beside":
        loose = [(name.replace("/", "-"), picture) for name, picture in files.items()]
        csv = table(2).replace("r/", "r-").replace("h/", "h-").encode()
        done = import_files(owner_client, campaign, *loose, ("outputs.csv", csv))
    else:
        csv = b"source_id,prompt,alder,birch\np0,Draw 0,alder/0.png,birch/0.png\np1,Draw 1,alder/1.png,birch/1.png\n"
        done = import_files(owner_client, campaign, ("outputs.csv", csv), ("p.zip", zipped(files)))
    assert (done.problems, done.summary["n_outputs"], done.summary["notices"]) == (None, 4, [])
    assert campaign.files.count() == 4
    for output in Output.objects.filter(source__campaign=campaign).select_related("source", "system"):
        value = json.loads(output.text)
        kept = open_kept(read_file(campaign, value["sha256"]))
        assert (value["width"], value["height"], value["alt"]) == (*kept.size, "")
        own = Image.open(io.BytesIO(files[f"{output.system.name}/{output.source.name[1:]}.png"]))
        assert kept.tobytes() == own.tobytes()
    assert len(names_in(media)) == 6, "four pictures, the table, and the zip that came with it"


@pytest.mark.parametrize(
    "cell",
    ["IMG/Red Fox.PNG", "img\\Red Fox.PNG", "red fox.png", "./IMG/red fox.png", "top/IMG/Red Fox.PNG", " Red Fox.PNG"],
)
def test_a_cell_names_a_file_as_people_write_names(owner_client: Client, campaign: Campaign, cell: str) -> None:
    content = f"source_id,prompt,system,output\np,Draw,alder,{cell}\n".encode()
    done = import_files(
        owner_client, campaign, ("a.csv", content), ("p.zip", zipped({"IMG/Red Fox.PNG": file_of(drawn(1))}))
    )
    assert done.problems is None
    assert campaign.files.count() == 1


def test_each_bad_cell_is_named_with_what_is_near_and_extra_files_are_a_notice(
    owner_client: Client, campaign: Campaign
) -> None:
    names = ("fox.png", "foks.png", "z/cat.png", "page.png", "draw.png")
    content = "source_id,prompt,system,output\n" + "".join(f"{n},Draw,alder,{name}\n" for n, name in enumerate(names))
    svg = hostile()["SVG"][0]
    picture = file_of(drawn(1))
    files = {"fox.png": picture, "x/cat.png": picture, "y/cat.png": picture, "page.png": SCRIPT, "draw.png": svg}
    done = import_files(owner_client, campaign, ("a.csv", content.encode()), ("p.zip", zipped(files)))
    said = {row: message for row, _, message in done.problems["rows"]}
    assert said.keys() == {3, 4, 5, 6}
    assert "“fox.png”" in said[3]
    assert "no file “z/cat.png”" in said[4]
    assert "no picture" in said[5] and "SVG" in said[6]
    assert campaign.files.count() == 0

    content = (
        content.replace("foks.png", "FOX.png").replace("z/cat", "x/cat").replace("page", "fox").replace("draw", "fox")
    )
    done = import_files(owner_client, campaign, ("a.csv", content.encode()), ("p.zip", zipped(files)))
    assert done.problems is None
    [extra] = done.summary["notices"]
    assert extra["code"] == "extra_files" and all(name in extra["message"] for name in ("y/cat.png", "page.png"))


def test_several_files_of_one_name_are_told_apart_by_their_folders(owner_client: Client, campaign: Campaign) -> None:
    content = b"source_id,prompt,system,output\np,Draw,alder,cat.png\n"
    files = {"x/cat.png": file_of(drawn(1)), "y/cat.png": file_of(drawn(2))}
    done = import_files(owner_client, campaign, ("a.csv", content), ("p.zip", zipped(files)))
    assert "x/cat.png" in str(done.problems) and "y/cat.png" in str(done.problems)


def test_the_first_frame_is_kept_and_said(owner_client: Client, campaign: Campaign) -> None:
    content = b"source_id,prompt,system,output\np,Draw,alder,a.gif\n"
    done = import_files(owner_client, campaign, ("a.csv", content), ("a.gif", honest()["animated"]))
    assert [each["message"] for each in done.summary["notices"]] == ["“a.gif”: only its first frame is kept."]


def test_an_alternative_text_is_kept_with_its_picture(owner_client: Client, campaign: Campaign) -> None:
    content = b"source_id,prompt,system,output,output_alt\np,Draw,alder,a.png,A fox\nq,Draw,alder,a.png,A red fox\n"
    done = import_files(owner_client, campaign, ("a.csv", content), ("a.png", file_of(drawn(1))))
    assert done.layout["roles"]["output_alt"] == "alt"
    outputs = Output.objects.filter(source__campaign=campaign).order_by("source__name")
    assert [json.loads(output.text)["alt"] for output in outputs] == ["A fox", "A red fox"]
    assert campaign.files.count() == 1


def _zip_with(change) -> bytes:
    with zipfile.ZipFile(made := io.BytesIO(), "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("fox.png", file_of(drawn(1)))
        change(archive)
    return made.getvalue()


def _link(archive: zipfile.ZipFile) -> None:
    info = zipfile.ZipInfo("link.png")
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    archive.writestr(info, "/etc/passwd")


def _twice(archive: zipfile.ZipFile) -> None:
    with pytest.warns(UserWarning):
        archive.writestr("fox.png", b"again")


EVIL = {
    "/etc/cron.d/a.png": lambda archive: archive.writestr("/etc/cron.d/a.png", b"a"),
    "../../a.png": lambda archive: archive.writestr("../../a.png", b"a"),
    "..\\a.png": lambda archive: archive.writestr("..\\a.png", b"a"),
    "C:\\a.png": lambda archive: archive.writestr("C:\\a.png", b"a"),
    "link.png": _link,
    "fox.png": _twice,
    "bomb.png": lambda archive: archive.writestr("bomb.png", bytes(5_000_000)),
}


@pytest.mark.parametrize("name", EVIL)
def test_what_no_honest_zip_holds_is_refused_by_name(
    owner_client: Client, campaign: Campaign, name: str, media: Path
) -> None:
    packed = _zip_with(EVIL[name])
    response = send_files(owner_client, campaign, ("a.csv", table(1).encode()), ("p.zip", packed))
    assert response.status_code == 422
    assert f"“{name}”" in response.text
    assert not campaign.uploads.exists() and names_in(media) == []


def test_a_locked_picture_is_refused_by_name(owner_client: Client, campaign: Campaign) -> None:
    packed = bytearray(zipped({"fox.png": file_of(drawn(1))}))
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        packed[packed.index(mark) + place] |= 1
    response = send_files(owner_client, campaign, ("a.csv", table(1).encode()), ("p.zip", bytes(packed)))
    assert response.status_code == 422 and "“fox.png” has a password" in response.text


def test_pictures_need_one_table(owner_client: Client, campaign: Campaign) -> None:
    picture = ("a.png", file_of(drawn(1)))
    assert "no table" in send_files(owner_client, campaign, picture).text
    two = send_files(owner_client, campaign, picture, ("a.csv", b"a\n1\n"), ("b.csv", b"a\n1\n"))
    assert "several tables" in two.text
    of_texts = picture_campaign(campaign.memberships.get().user, output_format="text")
    assert "Choose Image under Layout" in send_files(owner_client, of_texts, picture, ("a.csv", table(1).encode())).text
    without = import_files(owner_client, campaign, ("a.csv", table(1).encode()))
    assert "no file was uploaded with the table" in str(without.problems)


# --- Adding, replacing, copying, deleting


@on_both
def test_no_picture_outlives_what_names_it(
    owner_client: Client, owner: User, media: Path, django_capture_on_commit_callbacks
) -> None:
    campaign = picture_campaign(owner)
    first = [("a.csv", table(2).encode()), ("p.zip", zipped(pictures(2)))]
    import_files(owner_client, campaign, *first)
    more = table(3).replace("p0,Draw 0", "x0,Draw 0").replace("p1,Draw 1", "x1,Draw 1")
    with django_capture_on_commit_callbacks(execute=True):
        added = [("b.csv", more.encode()), ("p.zip", zipped(pictures(3)))]
        done = import_files(owner_client, campaign, *added, mode="add")
    assert (done.problems, campaign.files.count()) == (None, 6), "those of before are not stored again"
    build(campaign, n_ordinary=4, n_degraded=2, n_repeat=1)
    assert campaign.files.filter(is_made=True).count() == 2
    copy = duplicate_campaign(campaign=campaign, owner=owner, as_replication=False)
    assert set(copy.files.values_list("file", flat=True)) == set(campaign.files.values_list("file", flat=True))
    kept = {path.name for path in (media / "files").iterdir()}

    with django_capture_on_commit_callbacks(execute=True):
        import_files(owner_client, campaign, ("c.csv", table(1).encode()), ("p.zip", zipped(pictures(1))))
    assert campaign.files.count() == 2
    assert kept < {path.name for path in (media / "files").iterdir()}, "the copy's stay"
    with django_capture_on_commit_callbacks(execute=True):
        delete_campaign(campaign=campaign)
    assert {path.name for path in (media / "files").iterdir()} == kept
    assert read_file(copy, copy.files.first().digest)
    with django_capture_on_commit_callbacks(execute=True):
        copy.status = Campaign.Status.DELETING
        copy.save()
        execute_deletion(campaign=copy, on_progress=lambda *_: None)
    assert names_in(media) == []
    assert not StoredFile.objects.exists()


def test_a_failed_import_leaves_no_file(owner_client: Client, campaign: Campaign, media: Path, monkeypatch) -> None:
    def fail(*_: object) -> None:
        raise DomainError("seeded", "It fails.")

    monkeypatch.setattr("campaigns.services.imports.store_files", fail)
    import_files(owner_client, campaign, ("a.csv", table(1).encode()), ("p.zip", zipped(pictures(1))))
    assert not campaign.files.exists() and not any((media / "files").iterdir())


def test_a_deleted_upload_takes_its_zip_along(owner_client: Client, campaign: Campaign, media: Path) -> None:
    import_files(owner_client, campaign, ("a.csv", table(1).encode()), ("p.zip", zipped(pictures(1))))
    upload = campaign.uploads.get()
    assert (media / upload.packed.name).exists()
    owner_client.post(url("upload_delete", campaign, upload.pk))
    assert {upload.file.name, upload.packed.name} <= {*Act.objects.get().files}


def test_exported_values_are_taken_where_their_pictures_are(
    owner_client: Client, campaign: Campaign, owner: User
) -> None:
    import_files(owner_client, campaign, ("a.csv", table(1).encode()), ("p.zip", zipped(pictures(1))))
    rows = [
        json.dumps({"source_id": each.source.name, "prompt": "Draw 0", "system": each.system.name, "output": each.text})
        for each in Output.objects.filter(source__campaign=campaign).select_related("source", "system")
    ]
    lines = ("again.jsonl", "\n".join(rows).encode())
    assert import_files(owner_client, campaign, lines).problems is None
    assert campaign.files.count() == 2
    other = picture_campaign(owner)
    assert "not in this campaign" in str(import_files(owner_client, other, lines).problems)


def test_a_design_file_leaves_pictures_out_and_refuses_data_that_name_some(
    owner_client: Client, campaign: Campaign, owner: User
) -> None:
    import_files(owner_client, campaign, ("a.csv", table(1).encode()), ("p.zip", zipped(pictures(1))))
    text = "".join(design_pieces(campaign, has_outputs=True))
    assert "sha256" not in text
    form = DesignFileForm({}, {"file": SimpleUploadedFile("design.json", text.encode())})
    assert form.is_valid(), form.errors
    assert create_from_design(owner=owner, design=form.cleaned_data["file"]).pk
    assert form.cleaned_data["file"].campaign["screen"]["output_format"] == "image"
    source = {"name": "p0", "fields": {"prompt": "Draw"}, "outputs": {"alder": Output.objects.all()[0].text}}
    with_data = json.dumps(json.loads(text) | {"sources": [source]})
    refused = DesignFileForm({}, {"file": SimpleUploadedFile("design.json", with_data.encode())})
    assert not refused.is_valid() and "pictures, which are in no design file" in str(refused.errors)


def test_a_picture_may_be_what_outputs_are_made_of(owner_client: Client, owner: User) -> None:
    campaign = picture_campaign(owner, field_format="image", output_format="text")
    content = b"source_id,prompt,system,output\np,a.png,alder,A red fox\np,a.png,birch,Two cats\n"
    done = import_files(owner_client, campaign, ("a.csv", content), ("a.png", file_of(drawn(1))))
    assert done.problems is None
    assert json.loads(Source.objects.get(campaign=campaign).fields["prompt"])["width"] == 96
    assert request_deletion(campaign=campaign, user=owner) is None
