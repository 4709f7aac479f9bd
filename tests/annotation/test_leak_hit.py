"""What is served to workers over whole HITs must not tell items of one kind from others', nor name a system.

`tests.annotation.leaks` says what is compared. Seeded leaks show that each comparison can fail.
"""

import hashlib
import re
from dataclasses import replace

import pytest
from django.db import transaction

from annotation.pages import text_images
from annotation.services.assignments import choose_text, start_assignment
from annotation.views import pages, worker
from campaigns.design.composition import Kind
from campaigns.models import Campaign, HitItem
from campaigns.services.hits import execute_build
from evalsite.accounts.models import User
from tests.annotation.leaks import (
    check_bytes,
    check_fields,
    check_headers,
    check_names,
    check_pages,
    check_sizes,
    check_words,
    check_work,
    walk,
)
from tests.campaigns.cast import add_outputs, make_campaign
from tests.conftest import make_owner

pytestmark = pytest.mark.django_db


def built(owner: User, protocol: str, **mix: int) -> Campaign:
    campaign = make_campaign(owner, protocol)
    add_outputs(campaign, n_sources=10)
    for name, n_items in mix.items():
        setattr(campaign, name, n_items)
    campaign.workers_per_hit = 2
    campaign.save()
    execute_build(campaign=campaign, on_progress=lambda done, total, stage: None, saving=transaction.atomic)
    Campaign.objects.filter(pk=campaign.pk).update(status=Campaign.Status.RUNNING, launched_at=campaign.created_at)
    campaign.refresh_from_db()
    return campaign


@pytest.fixture(scope="module")
def of_passages(module_db: None) -> Campaign:
    return built(make_owner(), "qg")


@pytest.fixture
def qg(of_passages: Campaign, db: None) -> Campaign:
    """A campaign with HITs of 20 items of a passage each; what a test changes is undone."""
    return Campaign.objects.get(pk=of_passages.pk)


HALF = {"n_ordinary": 35, "n_degraded": 5, "n_repeat": 5, "n_reference": 5}


@pytest.mark.parametrize(("protocol", "mix", "size"), [("mrc-adequacy", HALF, 50), ("qg", {}, 20)])
def test_leak_nothing_tells_kinds_apart_over_a_whole_hit(
    owner: User, protocol: str, mix: dict[str, int], size: int
) -> None:
    campaign = built(owner, protocol, **mix)
    walks = [walk(campaign, "ann"), walk(campaign, "ben", n_blocks=1)]
    assert [len(each.served) for each in walks] == [size, size]
    first, second = ([each.item.pk for each in one.served] for one in walks)
    assert first == second, "the same HIT twice"
    kinds = {each.kind for each in walks[0].served}
    assert {Kind.ORDINARY, Kind.DEGRADED, Kind.REPEAT} <= kinds
    assert len(list(walks[0].twins())) == campaign.n_degraded + campaign.n_repeat + campaign.n_reference
    is_source_shared = campaign.layout == "by-source"

    check_pages(walks)
    check_fields(walks)
    check_headers(walks)
    check_words(walks, campaign)
    check_names(walks, is_source_shared)
    check_bytes(walks, is_source_shared)
    check_sizes(walks)
    check_work(walks)


def test_leak_nothing_tells_one_hit_from_another(qg: Campaign) -> None:
    qg.hits.update(n_places_left=1)
    walks = [walk(qg, name) for name in ("ann", "ben")]
    assert walks[0].served[0].item.hit_id != walks[1].served[0].item.hit_id
    check_pages(walks)
    check_headers(walks)


def test_leak_nothing_tells_kinds_apart_where_text_is_offered(qg: Campaign) -> None:
    qg.offers_text = True
    qg.save()
    walks = [walk(qg, name) for name in ("ann", "ben")]
    assert all("Show texts as text" in each.html for each in walks[0].served)
    check_pages(walks)
    check_headers(walks)
    check_work(walks)


@pytest.mark.parametrize("is_chosen", [False, True], ids=["by the campaign", "by the worker"])
def test_leak_accessible_pages_differ_in_their_texts_alone(qg: Campaign, is_chosen: bool) -> None:
    qg.is_accessible, qg.offers_text = not is_chosen, is_chosen
    qg.save()
    if is_chosen:
        choose_text(assignment_id=start_assignment(campaign=qg, worker_key=f"{qg.public_id}:ann").pk)
    pages = set()
    for each in walk(qg, "ann").inner:
        text = re.sub(r'(<p class="real-text" dir="auto">).*?</p>', r"\1</p>", each.html, flags=re.DOTALL)
        assert not each.webp
        pages.add(re.sub(rf"\b({each.number}|{each.number - 1})\b", "K", text.split("<main")[1].split("statement")[0]))
    assert len(pages) == 1


# --- Seeded leaks


def _page_of_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    """Mark degraded items in the page, ever so slightly."""
    honest = pages.make_item_page

    def leaking(campaign, shown, following, criteria, **options):
        page = honest(campaign, shown, following, criteria, **options)
        kind, last = HitItem.objects.get(pk=shown.items[0].id).kind, page.sections[-1]
        leaked = replace(last, label=last.label + " " * (kind == Kind.DEGRADED))
        return replace(page, sections=[*page.sections[:-1], leaked])

    monkeypatch.setattr(pages, "make_item_page", leaking)


def _names_without_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """Call images by their text."""
    monkeypatch.setattr(
        text_images, "stems", lambda scope: lambda part: hashlib.sha256(part.text.encode()).hexdigest()[:24]
    )


def _files_without_salt(monkeypatch: pytest.MonkeyPatch) -> None:
    """Send the same file for the same text."""
    honest = worker.draw
    monkeypatch.setattr(worker, "draw", lambda part, variant, secret: honest(part, variant))


def _files_of_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    """Send longer files for copies."""
    honest = worker.draw

    def leaking(part, variant, secret):
        place = re.match(r"item (\d+) ", part.key)
        copies = HitItem.objects.filter(text=part.text).exclude(kind=Kind.ORDINARY)
        is_copy = place is not None and copies.filter(position=int(place[1])).exists()
        content, content_type = honest(part, variant, secret=secret)
        return content + bytes(4000 * is_copy), content_type

    monkeypatch.setattr(worker, "draw", leaking)


@pytest.mark.parametrize(
    ("seed", "check"),
    [
        (_page_of_kind, check_pages),
        (_names_without_place, lambda walks: check_names(walks, True)),
        (_files_without_salt, lambda walks: check_bytes(walks, True)),
        (_files_of_kind, check_sizes),
    ],
)
def test_leak_seeded_ones_are_noticed(qg: Campaign, monkeypatch: pytest.MonkeyPatch, seed, check) -> None:
    seed(monkeypatch)
    walks = [walk(qg, name, n_blocks=1) for name in ("ann", "ben")]
    with pytest.raises(AssertionError):
        check(walks)
