"""A curious worker with the browser's developer tools: all that is served of a HIT is collected, then compared.

Compared are normalised pages with the names of their fields, headers, names, hashes, pixels and sizes of images, and
their order. Each comparison raises AssertionError if it finds a leak.
"""

import hashlib
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise, takewhile

import numpy as np
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from PIL import Image
from scipy.stats import kruskal

from annotation.access.tokens import token_of
from annotation.pages import text_images
from annotation.pages.contents import ANSWER
from annotation.pages.questions import Asked, asked_on
from annotation.queries import criteria_of, pages_of, replies_to_rate
from annotation.services.assignments import start_assignment
from campaigns.design.composition import Kind
from campaigns.models import Campaign, HitItem
from tests.annotation.images.pixels import CHUNKS, chunks_of
from tests.campaigns.cast import SYSTEMS

NAME = re.compile(r"[0-9a-f]{24}[a-z]")
# An image of a text, or a picture.
PICTURE = re.compile(r'<picture>.*?</picture>|<figure class="picture">.*?</figure>')
# One false alarm in ten thousand runs.
ALPHA = 1e-4
VOLATILE = {"Content-Length", "X-Request-ID"}
# What differs with the texts of a page: the texts themselves, and what is marked or written in them already.
_TEXTS = (
    (re.compile(r'(<p class="real-text"[^>]*>).*?(</p>)', re.DOTALL), r"\1\2"),
    (re.compile(r'(<div class="rich-text"[^>]*>)(?:(?!<div).)*?(</div>)', re.DOTALL), r"\1\2"),
    (re.compile(r"(<textarea[^>]*>).*?(</textarea>)", re.DOTALL), r"\1\2"),
    (re.compile(r"&quot;texts&quot;:\{.*?\}(?=,&quot;fields&quot;)"), "TEXTS"),
    (re.compile(r'(?<=value=")\[\{&quot;side&quot;.*?\}\](?=")'), "SPANS"),
    (re.compile(r'(<input type="checkbox" name="answer_\d+" value=)"[^"]*"(.*?<span>).*?(</span>)'), r"\1\2\3"),
    (re.compile(r"(<picture>.*?</picture>)"), lambda found: re.sub(r'height="\d+"', 'height="H"', found[0])),
)


@dataclass
class Served:
    """What a worker was sent of one page; `items` is what only the server knows."""

    number: int
    items: list[HitItem]
    html: str
    headers: dict[str, str]
    n_queries: int = 0
    names: list[str] = field(default_factory=list)
    webp: dict[str, bytes] = field(default_factory=dict)
    image_headers: list[dict[str, str]] = field(default_factory=list)

    @property
    def item(self) -> HitItem:
        """The first item, by whose position the page is known."""
        return self.items[0]

    @property
    def kind(self) -> Kind:
        """What the page is there for: beside a degraded output of a comparison, the others are shown again."""
        kinds = {Kind(item.kind) for item in self.items}
        return Kind.DEGRADED if Kind.DEGRADED in kinds else max(kinds)

    @property
    def rated(self) -> list[tuple[HitItem, bytes]]:
        """Each item and its image: the last of the blocks."""
        return list(zip(self.items, list(self.webp.values())[-len(self.items) :], strict=True))


@dataclass
class Walk:
    """One assignment from its first page to its last."""

    token: str
    served: list[Served]

    @property
    def inner(self) -> list[Served]:
        """All but the first page, which nothing was read before, and the last, after which nothing is loaded."""
        return self.served[1:-1]

    def twins(self) -> Iterator[tuple[HitItem, bytes, bytes]]:
        """Each copy, with its image and that of its twin."""
        images = {item.position: image for each in self.served for item, image in each.rated}
        for each in self.served:
            for item, image in each.rated:
                if item.twin_position is not None:
                    yield item, image, images[item.twin_position]


def walk(campaign: Campaign, name: str, *, n_blocks: int = 9) -> Walk:
    """Rate a whole HIT as a worker's browser does, looking at the widest light image of each of the last blocks."""
    client = Client()
    assignment = start_assignment(campaign=campaign, worker_key=f"{campaign.public_id}:{name}")
    address = reverse("rate:hit", args=[token_of(assignment)])
    items = {item.position: item for item in assignment.hit.items.all()}
    criteria = criteria_of(campaign)
    page, served = client.get(address), []
    for shown in pages_of(assignment).values():
        if shown.number % 10 == 0:
            assert client.get(address).content == page.content, "a reload shows what the form was answered with"
        found = Served(shown.number, [items[item.position] for item in shown.items], page.text, dict(page.headers))
        pictures = PICTURE.findall(page.text.split("<template data-ahead>")[0])
        found.names = NAME.findall(re.sub(r' src="[^"]*"', "", "".join(pictures)))  # it is in srcset, too
        for picture in pictures[-n_blocks:]:
            stem = re.findall(rf'<img src="({NAME.pattern})\.img"', picture)[0]
            image = client.get(f"{address}{stem}.img")
            assert image.status_code == 200
            found.webp[stem] = image.content
            found.image_headers.append(dict(image.headers))
        served.append(found)
        replies = replies_to_rate(campaign, assignment.pk, shown, criteria)
        answers = {f"{ANSWER}{each.key.suffix}": _answer(each) for each in asked_on(shown, criteria, replies)}
        with CaptureQueriesContext(connection) as queries:
            page = client.post(address, {"position": str(shown.position), **answers})
        found.n_queries = len(queries)
    assert assignment.hit.items.count() == sum(len(each.items) for each in served)
    assert not client.cookies
    return Walk(token_of(assignment), served)


def _answer(asked: Asked) -> list[str]:
    """Return an answer that does not depend on what is asked about, but for the places of marked errors."""
    criterion, subject = asked.criterion, asked.subject
    levels = [50] * max(len(subject.outputs), 1)
    return criterion.response_kind.simulate(levels, criterion.settings, np.random.default_rng(1), subject)


# --- The comparisons


def normalised(served: Served, token: str) -> str:
    """Return a page without what differs by its place, by its texts, and by the number of lines that they have."""
    text = NAME.sub("NAME", served.html.replace(token, "TOKEN"))
    text = re.sub(r'data-kept="[0-9a-f]{16}"', 'data-kept="KEPT"', text)
    for pattern, instead in _TEXTS:
        text = pattern.sub(instead, text)
    k, position = served.number, served.item.position
    for place in (
        f"Item {k} of",
        f'value="{k - 1}" aria-labelledby="progress-label"',
        f'name="position" value="{position}"',
        f"item {position}",
    ):
        assert place in text, place
        text = text.replace(place, re.sub(r"\d+", "K", place))
    return text


def check_pages(walks: list[Walk]) -> None:
    """The pages of all inner items are one and the same, in both assignments."""
    assert len({normalised(each, walk.token) for walk in walks for each in walk.inner}) == 1


def check_fields(walks: list[Walk]) -> None:
    """Every page has the same fields in the same order, and their names say nothing but what is asked where."""
    fields = {
        tuple(re.findall(r'(?: name| data-name)="([^"]*)"', each.html.split("<main")[1]))
        for walk in walks
        for each in walk.inner
    }
    assert len(fields) == 1


def check_headers(walks: list[Walk]) -> None:
    """So are the headers, of pages and of images."""
    served = [each for walk in walks for each in walk.served]
    for headers in ([each.headers for each in served], [image for each in served for image in each.image_headers]):
        assert len({_comparable(each) for each in headers}) == bool(headers)
        names = {name for each in headers for name in each}
        assert not {"ETag", "Last-Modified", "Set-Cookie", "Content-Disposition"} & names


def _comparable(headers: dict[str, str]) -> tuple:
    return tuple(
        (name, tuple(sorted(value.split("; ")))) for name, value in sorted(headers.items()) if name not in VOLATILE
    )


def check_words(walks: list[Walk], campaign: Campaign) -> None:
    """No system, kind, document or name of a criterion is anywhere in what was served, nor the campaign's own name."""
    words = [*SYSTEMS, *(kind.name for kind in Kind), "twin", "hit_id", "system", campaign.name]
    words += campaign.criteria.values_list("name", flat=True)
    words += campaign.sources.exclude(document="").values_list("document", flat=True)
    pattern = re.compile("|".join(rf"\b{re.escape(word)}\b" for word in words), re.IGNORECASE)
    for each in (each for walk in walks for each in walk.served):
        for text in (each.html, str(each.headers), str(each.image_headers), *each.names):
            assert not pattern.search(text), pattern.search(text)
        for webp in each.webp.values():
            assert chunks_of(webp) in CHUNKS


def check_names(walks: list[Walk], is_source_shared: bool) -> None:
    """The names of images are all different, across assignments too, and no two begin alike, so twins do not either."""
    first, second = ({name for each in one.served for name in each.names} for one in walks)
    assert not first & second
    for one in walks:
        shown = [list(each.webp)[-len(each.items) :] if is_source_shared else list(each.webp) for each in one.served]
        stems = [name[:-1] for names in shown for name in names]
        assert len(set(stems)) == len(stems)
        assert max(_n_shared(*pair) for pair in pairwise(sorted(stems))) < 12


def _n_shared(one: str, other: str) -> int:
    """Return how many characters two names have in common at their beginning."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=True)))


def check_bytes(walks: list[Walk], is_source_shared: bool) -> None:
    """No two images are equal, as files or as pixels, in an assignment or across the two."""
    files = [image for walk in walks for each in walk.served for _, image in each.rated]
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
            for item, image in each.rated:
                plain, _ = text_images.draw(text_images.Part("", item.text), text_images.VARIANTS["a"])
                extra[Kind(item.kind)].append(len(image) - len(plain))
        alike += [abs(len(copy) - len(twin)) for item, copy, twin in one.twins() if item.kind == Kind.REPEAT]
    assert kruskal(*(sizes for sizes in extra.values() if sizes)).pvalue > ALPHA
    assert sum(difference < 8 for difference in alike) <= len(alike) // 2


def check_lengths(walks: list[Walk]) -> None:
    """Files of pictures of one size have one length, whatever is on them."""
    lengths = {
        (Image.open(io.BytesIO(webp)).size, len(webp)) for one in walks for each in one.served for _, webp in each.rated
    }
    assert len(lengths) == len({size for size, _ in lengths})


def check_work(walks: list[Walk]) -> None:
    """The server does the same for every item, so that the time it takes tells nothing either."""
    assert len({each.n_queries for walk in walks for each in walk.inner}) == 1
