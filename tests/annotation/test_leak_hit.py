"""What is served to workers over whole HITs must not tell items of one kind from others', nor name a system.

A curious worker with the browser's developer tools is played: everything served is collected, then compared by
normalised page, header, name, hash, pixel, size and order. Seeded leaks show that each comparison can fail.
"""

import hashlib
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise, takewhile

import pytest
from django.db import connection, transaction
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from PIL import Image
from scipy.stats import kruskal

from annotation import text_images
from annotation.services.assignments import choose_text, start_assignment
from annotation.tokens import token_of
from annotation.views import pages, worker
from campaigns.design.composition import Kind
from campaigns.models import Campaign, HitItem
from campaigns.services.hits import execute_build
from evalsite.accounts.models import User
from tests.campaigns.cast import SYSTEMS, add_outputs, make_campaign
from tests.conftest import make_owner

pytestmark = pytest.mark.django_db

NAME = re.compile(r"[0-9a-f]{24}[a-z]")
# One false alarm in ten thousand runs.
ALPHA = 1e-4
VOLATILE = {"Content-Length"}


@dataclass
class Served:
    """What a worker was sent of one item; `item` is what only the server knows."""

    item: HitItem
    html: str
    headers: dict[str, str]
    n_queries: int = 0
    names: list[str] = field(default_factory=list)
    webp: dict[str, bytes] = field(default_factory=dict)
    image_headers: list[dict[str, str]] = field(default_factory=list)

    @property
    def position(self) -> int:
        return self.item.position

    @property
    def kind(self) -> Kind:
        return Kind(self.item.kind)

    @property
    def output(self) -> bytes:
        """The image of what is rated: the last of the blocks."""
        return list(self.webp.values())[-1]


@dataclass
class Walk:
    """One assignment from its first item to its last."""

    token: str
    served: list[Served]

    @property
    def inner(self) -> list[Served]:
        """All but the first item, which nothing was read before, and the last, after which nothing is loaded."""
        return self.served[1:-1]

    def twins(self) -> Iterator[tuple[Served, Served]]:
        """Each copy and its twin."""
        for each in self.served:
            if each.item.twin_position is not None:
                yield each, self.served[each.item.twin_position - 1]


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


def walk(campaign: Campaign, name: str, *, n_blocks: int = 9) -> Walk:
    """Rate a whole HIT as a worker's browser does, looking at the widest light image of each of the last blocks."""
    client = Client()
    assignment = start_assignment(campaign=campaign, worker_key=f"{campaign.public_id}:{name}")
    address = reverse("rate:hit", args=[token_of(assignment)])
    items = list(assignment.hit.items.order_by("position"))
    page, served = client.get(address), []
    for item in items:
        if item.position % 10 == 0:
            assert client.get(address).content == page.content, "a reload shows what the form was answered with"
        found = Served(item, page.text, dict(page.headers))
        pictures = re.findall(r"<picture>.*?</picture>", page.text.split("<template data-ahead>")[0])
        found.names = NAME.findall(re.sub(r' src="[^"]*"', "", "".join(pictures)))  # it is in srcset, too
        for picture in pictures[-n_blocks:]:
            name = re.findall(rf'<img src="({NAME.pattern})\.webp"', picture)[0]
            image = client.get(f"{address}{name}.webp")
            assert image.status_code == 200
            found.webp[name] = image.content
            found.image_headers.append(dict(image.headers))
        served.append(found)
        with CaptureQueriesContext(connection) as queries:
            page = client.post(address, _answers(page, item))
        found.n_queries = len(queries)
    assert not client.cookies
    return Walk(token_of(assignment), served)


def _answers(page: HttpResponse, item: HitItem) -> dict[str, str]:
    sliders = re.findall(r'data-name="(answer_\d+)"', page.text)
    return {"position": str(item.position), **dict.fromkeys(sliders, "50")}


# --- The comparisons: each raises AssertionError if it finds a leak


def normalised(served: Served, token: str) -> str:
    """Return a page without what differs by position and by the number of lines that a text has."""
    text = NAME.sub("NAME", served.html.replace(token, "TOKEN"))
    text = re.sub(r'data-kept="[0-9a-f]{16}"', 'data-kept="KEPT"', text)
    text = re.sub(r"(<picture>.*?</picture>)", lambda found: re.sub(r'height="\d+"', 'height="H"', found[0]), text)
    k = served.position
    for place in (
        f"Item {k} of",
        f'value="{k - 1}" aria-labelledby="progress-label"',
        f'name="position" value="{k}"',
        f"item {k}",
    ):
        assert place in text
        text = text.replace(place, re.sub(r"\d+", "K", place))
    return text


def check_pages(walks: list[Walk]) -> None:
    """The pages of all inner items are one and the same, in both assignments."""
    assert len({normalised(each, walk.token) for walk in walks for each in walk.inner}) == 1


def check_headers(walks: list[Walk]) -> None:
    """So are the headers, of pages and of images."""
    served = [each for walk in walks for each in walk.served]
    for headers in ([each.headers for each in served], [image for each in served for image in each.image_headers]):
        assert len({_comparable(each) for each in headers}) == 1
        assert not {"ETag", "Last-Modified", "Set-Cookie", "Content-Disposition"} & set(headers[0])


def _comparable(headers: dict[str, str]) -> tuple:
    return tuple(
        (name, tuple(sorted(value.split("; ")))) for name, value in sorted(headers.items()) if name not in VOLATILE
    )


def check_words(walks: list[Walk], campaign: Campaign) -> None:
    """No system, kind or name of a criterion is anywhere in what was served, nor the campaign's own name."""
    words = [*SYSTEMS, *(kind.name for kind in Kind), "twin", "hit_id", "system", campaign.name]
    words += campaign.criteria.values_list("name", flat=True)
    pattern = re.compile("|".join(rf"\b{re.escape(word)}\b" for word in words), re.IGNORECASE)
    for each in (each for walk in walks for each in walk.served):
        for text in (each.html, str(each.headers), str(each.image_headers), *each.names):
            assert not pattern.search(text), pattern.search(text)
        for webp in each.webp.values():
            assert _chunks(webp) == [b"VP8X", b"VP8L", b"paDd"]


def _chunks(webp: bytes) -> list[bytes]:
    """Return the names of a WebP file's chunks in order."""
    found, place = [], 12
    while place < len(webp):
        found.append(webp[place : place + 4])
        length = int.from_bytes(webp[place + 4 : place + 8], "little")
        place += 8 + length + length % 2
    return found


def check_names(walks: list[Walk], is_source_shared: bool) -> None:
    """The names of images are all different, across assignments too, and no two begin alike, so twins do not either."""
    first, second = ({name for each in one.served for name in each.names} for one in walks)
    assert not first & second
    for one in walks:
        stems = [name[:-1] for each in one.served for name in (list(each.webp)[-1:] if is_source_shared else each.webp)]
        assert len(set(stems)) == len(stems)
        assert max(_n_shared(*pair) for pair in pairwise(sorted(stems))) < 12


def _n_shared(one: str, other: str) -> int:
    """Return how many characters two names have in common at their beginning."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=True)))


def check_bytes(walks: list[Walk], is_source_shared: bool) -> None:
    """No two images are equal, as files or as pixels, in an assignment or across the two."""
    files = [each.output for walk in walks for each in walk.served]
    if not is_source_shared:
        files = [webp for walk in walks for each in walk.served for webp in each.webp.values()]
    assert len({hashlib.sha256(webp).digest() for webp in files}) == len(files)
    assert len({hashlib.sha256(_pixels(webp)).digest() for webp in files}) == len(files)


def _pixels(webp: bytes) -> bytes:
    return Image.open(io.BytesIO(webp)).convert("RGB").tobytes()


def check_sizes(walks: list[Walk]) -> None:
    """A file's size beyond what its text takes depends on the salt alone: the kinds are at chance, and so are twins."""
    extra: dict[Kind, list[int]] = {kind: [] for kind in Kind}
    alike = []
    for one in walks:
        for each in one.served:
            plain = text_images.draw(text_images.Part("", each.item.text), text_images.VARIANTS["a"])
            extra[each.kind].append(len(each.output) - len(plain))
        alike += [abs(len(copy.output) - len(twin.output)) for copy, twin in one.twins() if copy.kind == Kind.REPEAT]
    assert kruskal(*(sizes for sizes in extra.values() if sizes)).pvalue > ALPHA
    assert sum(difference < 8 for difference in alike) <= len(alike) // 2


def check_work(walks: list[Walk]) -> None:
    """The server does the same for every item, so that the time it takes tells nothing either."""
    assert len({each.n_queries for walk in walks for each in walk.inner}) == 1


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
        pages.add(
            re.sub(rf"\b({each.position}|{each.position - 1})\b", "K", text.split("<main")[1].split("statement")[0])
        )
    assert len(pages) == 1


# --- Seeded leaks


def _page_of_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    """Mark degraded items in the page, ever so slightly."""
    honest = pages.make_item_page

    def leaking(campaign, shown, following, criteria, **options):
        page = honest(campaign, shown, following, criteria, **options)
        kind, last = HitItem.objects.get(pk=shown.id).kind, page.sections[-1]
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
        return honest(part, variant, secret=secret) + bytes(4000 * is_copy)

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
