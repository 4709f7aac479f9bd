"""Pictures on workers' pages: opaque, other bytes for each copy, of one length, and the same for who reads texts."""

import csv
import io
import re
from pathlib import Path

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse
from PIL import Image

from annotation.access.tokens import token_of
from annotation.models import Assignment, Response
from annotation.services.assignments import finish_assignment, start_assignment
from annotation.simulation.running import make_crowd, open_site, run_crowd
from campaigns.checklist import checklist
from campaigns.design.composition import Kind
from campaigns.models import Campaign, HitItem
from campaigns.services.deletion import execute_deletion
from campaigns.stored_files import read_file
from evalsite.accounts.models import User
from evalsite.lib.pictures import open_kept, served
from tests.annotation.cast import launch
from tests.annotation.leaks import (
    check_bytes,
    check_fields,
    check_headers,
    check_lengths,
    check_names,
    check_pages,
    check_words,
    check_work,
    walk,
)
from tests.buckets import Bucket
from tests.campaigns.formats.pictures import (
    build,
    drawn,
    file_of,
    import_files,
    picture_campaign,
    pictures,
    table,
    zipped,
)

pytestmark = pytest.mark.django_db
IMG = re.compile(r'<figure class="picture">.*?<img src="([0-9a-f]{24})([a-z])\.img"')


@pytest.fixture(autouse=True)
def media(settings, tmp_path: Path) -> Path:
    settings.MEDIA_ROOT = tmp_path / "media"
    return settings.MEDIA_ROOT


def running(client: Client, owner: User, n: int = 8, **mix: int) -> Campaign:
    """Return a running campaign whose outputs are pictures of two systems."""
    campaign = picture_campaign(owner)
    import_files(client, campaign, ("a.csv", table(n).encode()), ("p.zip", zipped(pictures(n))))
    campaign.workers_per_hit = 2
    campaign.save()
    build(campaign, **mix)
    return launch(campaign)


def test_nothing_tells_kinds_of_pictures_apart(owner_client: Client, owner: User) -> None:
    campaign = running(owner_client, owner, n_ordinary=8, n_degraded=4, n_repeat=4)
    walks = [walk(campaign, name, n_blocks=1) for name in ("ann", "ben")]
    kinds = [each.kind for each in walks[0].served]
    assert [kinds.count(kind) for kind in (Kind.ORDINARY, Kind.DEGRADED, Kind.REPEAT)] == [8, 4, 4]
    check_pages(walks)
    check_fields(walks)
    check_headers(walks)
    check_words(walks, campaign)
    check_names(walks, is_source_shared=True)
    check_bytes(walks, is_source_shared=True)
    check_lengths(walks)
    check_work(walks)
    assert Response.objects.filter(assignment__campaign=campaign).count() >= 32
    for item, copy, twin in walks[0].twins():
        one, other = (np.asarray(open_kept(webp), np.int16) for webp in (copy, twin))
        difference = np.abs(one - other).mean()
        assert (difference < 4) == (item.kind == Kind.REPEAT), "a repeat looks as its twin, a degraded one does not"


def test_a_hundred_and_twenty_pictures_have_one_length_and_no_two_are_equal() -> None:
    rng = np.random.default_rng(1)
    files = set()
    for n in range(120):
        image = Image.new("RGB", (160, 120), tuple(rng.integers(0, 255, 3).tolist())) if n % 3 else drawn(n, (160, 120))
        kept = file_of(image, "WEBP", lossless=True)
        files |= {served(kept, 160, f"{n} {k}".encode()) for k in range(2)}
    assert len(files) == 240
    assert len({len(each) for each in files}) == 1, "the area under the curve of any guess by length is ½"
    assert len({open_kept(each).tobytes() for each in files}) == 240


def test_a_page_reserves_the_room_names_files_for_all_screens_and_loads_those_ahead(
    owner_client: Client, owner: User
) -> None:
    campaign = running(owner_client, owner, n_ordinary=6)
    address = reverse("rate:hit", args=[token_of(start_assignment(campaign=campaign, worker_key="k:ann"))])
    client = Client()
    page = client.get(address).text
    here, ahead = page.split("<template data-ahead>")
    [(stem, letter)] = IMG.findall(here)
    assert 'width="96" height="64"' in here and 'alt="Picture"' in here
    assert f"{stem}a.img 96w" in here, "no larger than it is"
    assert "js/pictures" in here and "css/rate_pictures" in here
    [(next_stem, _)] = IMG.findall(ahead)
    for name in (f"{stem}{letter}", f"{next_stem}a"):
        image = client.get(f"{address}{name}.img")
        assert (image.status_code, image["Content-Type"]) == (200, "image/webp")
        assert image["Content-Security-Policy"] == "default-src 'none'"
    for name in (f"{stem}z", "0" * 24 + "a", stem):
        assert client.get(f"{address}{name}.img").status_code == 404
    campaign.files.all().delete()
    assert client.get(f"{address}{stem}a.img").status_code == 404, "a lost file is no error of the server"


def test_accessible_pages_have_the_picture_and_what_describes_it(owner_client: Client, owner: User) -> None:
    campaign = picture_campaign(owner)
    campaign.is_accessible = True
    campaign.save()
    content = b'source_id,prompt,system,output,output_alt\np,Draw,alder,a.png,"A <b>fox</b>"\n'
    import_files(owner_client, campaign, ("a.csv", content), ("a.png", file_of(drawn(1))))
    build(campaign, n_ordinary=1)
    launch(campaign)
    address = reverse("rate:hit", args=[token_of(start_assignment(campaign=campaign, worker_key="k:ann"))])
    page = Client().get(address).text
    assert 'alt="A &lt;b&gt;fox&lt;/b&gt;"' in page
    assert '<figcaption dir="auto">A &lt;b&gt;fox&lt;/b&gt;</figcaption>' in page
    [(stem, letter)] = IMG.findall(page)
    assert Client().get(f"{address}{stem}{letter}.img").status_code == 200


def test_previews_and_the_api_show_pictures(owner_client: Client, owner: User) -> None:
    campaign = running(owner_client, owner, n_ordinary=4)
    address = reverse("monitoring:preview_item", args=[campaign.public_id, 1, 1])
    [(stem, letter)] = IMG.findall(owner_client.get(address).text)
    image = reverse("monitoring:preview_image", args=[campaign.public_id, 1, 1, f"{stem}{letter}"])
    assert owner_client.get(image)["Content-Type"] == "image/webp"


def test_degraded_pictures_differ_in_each_way_and_are_kept_once(owner_client: Client, owner: User) -> None:
    campaign = running(owner_client, owner, n_ordinary=8, n_degraded=8)
    items = HitItem.objects.filter(hit__campaign=campaign, kind=Kind.DEGRADED).select_related("output")
    made = campaign.files.filter(is_made=True)
    assert len(items) == 8 and made.count() == 8
    for item in items:
        assert item.text != item.output.text
        worse, own = (
            np.asarray(open_kept(read_file(campaign, re.findall(r"[0-9a-f]{64}", text)[0])), np.int16)
            for text in (item.text, item.output.text)
        )
        assert worse.shape == own.shape and np.abs(worse - own).mean() >= 3
    before = set(made.values_list("digest", flat=True))
    campaign.status, campaign.launched_at = Campaign.Status.READY, None
    campaign.save()
    build(campaign, n_ordinary=8, n_degraded=4)
    assert made.count() == 4 and not before <= set(made.values_list("digest", flat=True))


def test_a_rated_campaign_of_pictures_is_exported(owner_client: Client, owner: User) -> None:
    campaign = running(owner_client, owner, n_ordinary=4, n_degraded=2)
    walk(campaign, "ann", n_blocks=0)
    finish_assignment(assignment_id=Assignment.objects.get(campaign=campaign).pk, feedback="")
    sent = owner_client.get(reverse("monitoring:export_file", args=[campaign.public_id, "ratings.csv"]))
    rows = list(csv.DictReader(io.StringIO(b"".join(sent.streaming_content).decode())))  # type: ignore[arg-type]
    assert len(rows) == 6 and {row["system"] for row in rows} <= {"alder", "birch"}
    assert "sha256" not in str(rows)


def test_members_see_the_pictures_of_data_and_hits_and_strangers_none(
    owner_client: Client, owner: User, stranger_client: Client
) -> None:
    campaign = running(owner_client, owner, n_ordinary=4, n_degraded=1)
    for address in (reverse("campaigns:data", args=[campaign.public_id]), _hit_page(campaign)):
        page = owner_client.get(address).text
        found = re.findall(r'<img class="stored-picture" src="([^"]+)"', page)
        assert found and "sha256" not in page
        picture = owner_client.get(found[0])
        assert (picture["Content-Type"], picture["X-Content-Type-Options"]) == ("image/webp", "nosniff")
        assert stranger_client.get(found[0]).status_code == 404
    lost = reverse("campaigns:stored_file", args=[campaign.public_id, "0" * 64])
    assert owner_client.get(lost).status_code == 404


def _hit_page(campaign: Campaign) -> str:
    return reverse("campaigns:hit", args=[campaign.public_id, 1])


def test_a_simulated_crowd_rates_pictures(owner_client: Client, owner: User) -> None:
    campaign = running(owner_client, owner, n_ordinary=4, n_degraded=2)
    with open_site(None) as client:
        outcome = run_crowd(campaign, make_crowd(campaign, seed=5, n_workers=2), client)
    assert outcome.errors == []
    assert Response.objects.filter(assignment__campaign=campaign).count() == 2 * 6 * campaign.criteria.count()


def test_no_text_is_marked_or_corrected_where_outputs_are_pictures(owner_client: Client, owner: User) -> None:
    campaign = running(owner_client, owner, n_ordinary=4)
    for kind, is_fit in (("slider", True), ("edit", False), ("spans", False)):
        campaign.criteria.update(response=kind)
        said = next(step.text for step in checklist(campaign) if step.key == "criteria")
        assert ("these are pictures" not in said) == is_fit


def test_pictures_are_kept_in_a_bucket_as_on_the_disk(
    owner_client: Client, owner: User, bucket: Bucket, tmp_path: Path, settings, django_capture_on_commit_callbacks
) -> None:
    settings.DATA_DIR = tmp_path
    campaign = running(owner_client, owner, n=4, n_ordinary=4, n_degraded=2)
    assert sum(name.startswith("site/files/") for name in bucket.files()) == 10
    address = reverse("rate:hit", args=[token_of(start_assignment(campaign=campaign, worker_key="k:ann"))])
    client = Client()
    [(stem, letter)] = IMG.findall(client.get(address).text.split("<template data-ahead>")[0])
    assert client.get(f"{address}{stem}{letter}.img").status_code == 200
    with django_capture_on_commit_callbacks(execute=True):
        campaign.status = Campaign.Status.DELETING
        campaign.save()
        execute_deletion(campaign=campaign, on_progress=lambda *_: None)
    assert bucket.files() == {}
