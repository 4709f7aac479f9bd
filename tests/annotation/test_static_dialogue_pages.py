"""Dialogues collected before, from the file to the ranking; how a worker is shown them, and what it gives away."""

import io
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from html.parser import HTMLParser
from io import StringIO
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import call_command
from django.db import transaction
from django.test import Client
from django.urls import reverse
from PIL import Image

from annotation.access.tokens import token_of
from annotation.export.rows import RATING_COLUMNS, rating_blocks
from annotation.images import DARK, LIGHT
from annotation.models import Assignment, Response
from annotation.pages import text_images
from annotation.pages.text_images import VARIANTS, WIDTHS, Part, draw, sizes_of
from annotation.services.assignments import start_assignment
from annotation.views import pages
from campaigns.blocks import blocks_of
from campaigns.contracts.protocol import Field, Screen
from campaigns.design.composition import Kind
from campaigns.models import Campaign, HitItem
from campaigns.services.hits import execute_build
from campaigns.services.lifecycle import launch_campaign
from evalsite.lib.tables.blocks import in_rows
from evalsite.lib.tables.writing import write_csv
from tests.annotation.leaks import (
    Served,
    Walk,
    check_bytes,
    check_headers,
    check_names,
    check_pages,
    check_work,
    walk,
)
from tests.campaigns.cast import make_campaign
from tests.campaigns.data.files import bring_in
from tests.campaigns.dialogues import SYSTEMS, single_replies, whole_dialogues
from tests.conftest import make_owner, signed_in

pytestmark = pytest.mark.django_db

FILES = {"dialogue-static": whole_dialogues, "dialogue-turn": single_replies}
CHATBOTS_GROUND = {"light": (0xE1, 0xEE, 0xF0), "dark": (0x1C, 0x34, 0x39)}


@pytest.fixture(scope="module")
def launched(module_db: None) -> dict[str, Campaign]:
    """A campaign of each protocol on its way through the pages: created, imported, built, launched."""
    owner = make_owner()
    client, campaigns = signed_in(owner), {}
    for protocol, content in FILES.items():
        campaigns[protocol] = campaign = make_campaign(owner, protocol)
        assert bring_in(client, campaign, content()).imported_at
        Campaign.objects.filter(pk=campaign.pk).update(workers_per_hit=2)
        execute_build(campaign=campaign, on_progress=lambda *_: None, saving=transaction.atomic)
        launch_campaign(campaign=campaign)
    return campaigns


Opened = Callable[..., Campaign]


@pytest.fixture
def opened(launched: dict[str, Campaign], db: None) -> Opened:
    """Return the campaign of a protocol with changed fields; what a test changes is undone."""

    def change(protocol: str, **fields: object) -> Campaign:
        found = Campaign.objects.filter(pk=launched[protocol].pk)
        found.update(**fields)
        return found.get()

    return change


def page_of(campaign: Campaign, name: str = "ann") -> str:
    assignment = start_assignment(campaign=campaign, worker_key=f"{campaign.public_id}:{name}")
    return Client().get(reverse("rate:hit", args=[token_of(assignment)])).text


class Bubbles(HTMLParser):
    """The turns of a page's dialogue: who speaks, what is noted, alternative and real text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.turns: list[dict[str, str]] = []
        self._reading = ""
        self.feed(html.split("<ol")[1].split("</ol>")[0])

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if tag == "li":
            self.turns.append({"class": found["class"] or "", "by": "", "note": "", "alt": "", "text": ""})
        if tag == "img":
            self.turns[-1]["alt"] = found["alt"] or ""
        classes = {"spoken-by": "by", "real-text": "text"}
        self._reading = "note" if tag == "strong" else classes.get(found.get("class") or "", "")

    def handle_endtag(self, tag: str) -> None:
        self._reading = ""

    def handle_data(self, data: str) -> None:
        if self._reading:
            self.turns[-1][self._reading] += data.strip()


# --- All the way


@pytest.mark.parametrize("protocol", FILES)
def test_a_campaign_from_the_file_to_the_ranking(opened: Opened, tmp_path: Path, protocol: str) -> None:
    campaign = opened(protocol)
    call_command("simulate", str(campaign.public_id), workers=6, stdout=StringIO(), stderr=StringIO())
    campaign.refresh_from_db()
    assert campaign.status == Campaign.Status.CLOSED
    n_items = HitItem.objects.filter(hit__campaign=campaign).count()
    assert Response.objects.filter(assignment__campaign=campaign).count() == 2 * n_items * campaign.criteria.count()

    ratings, results = tmp_path / "ratings.csv", StringIO()
    with ratings.open("w") as stream:
        write_csv(stream, list(RATING_COLUMNS), in_rows(rating_blocks(campaign)))
    call_command("analyse", str(ratings), protocol=protocol, stdout=results, stderr=StringIO())
    assert all(system in results.getvalue() for system in SYSTEMS)


# --- What a worker is shown


def test_a_whole_dialogue_is_a_list_of_turns_under_one_heading(opened: Opened) -> None:
    html = page_of(opened("dialogue-static"))
    assert re.findall(r'<h2 class="text-label".*?>(.*?)</h2>', html) == ["Topic", "Dialogue"]
    assert html.count("text-output") == 1
    turns = Bubbles(html).turns
    assert [turn["by"] for turn in turns] == ["Person", "Chatbot"] * 4 + ["Person"]
    assert all(turn["alt"] == turn["by"] and not turn["note"] and not turn["text"] for turn in turns)
    assert [turn["class"] for turn in turns] == [f"spoken spoken-{turn['by'].lower()}" for turn in turns]


def test_the_reply_to_rate_is_marked_at_the_end_of_its_dialogue(opened: Opened) -> None:
    campaign = opened("dialogue-turn", is_accessible=True)
    html = page_of(campaign)
    assert re.findall(r'<h2 class="text-label".*?>(.*?)</h2>', html) == ["Dialogue"]
    *before, reply = Bubbles(html).turns
    assert [turn["by"] for turn in before[-2:]] == ["Chatbot", "Person"] and reply["by"] == "Chatbot"
    assert reply["note"] == "The reply to rate" and "spoken-rated" in reply["class"]
    assert not any(turn["note"] or "spoken-rated" in turn["class"] for turn in before)
    first = HitItem.objects.filter(hit__campaign=campaign, position=1).values_list("text", flat=True)
    assert reply["text"] in first


def test_a_screen_reader_hears_who_says_what(opened: Opened) -> None:
    turns = Bubbles(page_of(opened("dialogue-static", is_accessible=True))).turns
    assert [turn["by"] for turn in turns] == ["Person", "Chatbot"] * 4 + ["Person"]
    assert turns[1]["text"].startswith("I") and turns[-1]["text"] == "Bye!"
    assert "\n" in turns[4]["text"]


@pytest.mark.parametrize("protocol", FILES)
def test_every_turn_has_an_image_of_its_own_as_large_as_the_page_says(opened: Opened, protocol: str) -> None:
    campaign = opened(protocol)
    html = page_of(campaign)
    assignment = Assignment.objects.get(campaign=campaign)
    address = reverse("rate:hit", args=[token_of(assignment)])
    pictures = re.findall(r"<picture>.*?</picture>", html.split("<ol")[1].split("</ol>")[0])
    assert len(pictures) == len(Bubbles(html).turns)
    names = re.findall(r'(?:srcset|src)="(\w+)\.img[^>]*?width="(\d+)" height="(\d+)"', "".join(pictures))
    assert len({name for name, _, _ in names}) == len(names) == 2 * len(WIDTHS) * len(pictures)
    for name, width, height in names:
        response = Client().get(f"{address}{name}.img")
        image = Image.open(io.BytesIO(response.content)).convert("RGB")
        assert image.size == (int(width), int(height)) and int(width) in (600, 360, 280, 192)
    ahead = html.split("<template data-ahead>")[1]
    assert len(re.findall("<picture>", ahead)) >= len(pictures) - 2, "the next dialogue is fetched meanwhile"


def test_what_the_chatbot_says_stands_on_the_ground_of_its_bubble() -> None:
    grounds = {"worker": {"light": LIGHT, "dark": DARK}, "chatbot": CHATBOTS_GROUND}
    for speaker, themes in grounds.items():
        for variant in VARIANTS.values():
            part = Part("k", "Hello", speaker=speaker)
            image = Image.open(io.BytesIO(draw(part, variant)[0])).convert("RGB")
            wanted = themes[variant.theme]
            if not isinstance(wanted, tuple):
                wanted = tuple(bytes.fromhex(wanted.background[1:]))
            assert image.getpixel((0, 0)) == wanted


def test_images_and_style_sheet_agree_on_the_chatbots_ground() -> None:
    tokens = (Path(settings.BASE_DIR) / "static/css/tokens.css").read_text()
    soft = re.findall(r"--accent-soft: #(\w{6});", tokens)
    assert [tuple(bytes.fromhex(each)) for each in soft] == [CHATBOTS_GROUND["light"], CHATBOTS_GROUND["dark"]]


def test_a_turn_that_is_too_tall_for_one_image_has_several() -> None:
    screen = Screen(output_format="dialogue")
    text = "Person: Say it.\nChatbot: " + "word " * 6000
    [_, said] = blocks_of(screen, {}, text)
    parts = text_images._split(said, "item 1")
    assert len(parts) > 1 and "".join(part.text for part in parts).split() == said.text.split()
    assert all(sizes_of(part) for part in parts)


def test_a_reply_follows_the_dialogue_that_is_shown_before_it() -> None:
    fields = (Field("dialogue", "Before", format="dialogue"), Field("note", "Note", is_shown=False))
    screen = Screen(fields, output_label="Reply", output_format="reply")
    blocks = blocks_of(screen, {"dialogue": "Ann: Hi\nBen: Hello", "note": "n"}, "Ben: is my name")
    assert [(block.speaker, block.text, block.is_output) for block in blocks] == [
        ("chatbot", "Hi", False),
        ("worker", "Hello", False),
        ("chatbot", "Ben: is my name", True),
    ]
    assert {block.dialogue for block in blocks} == {"Before"}
    [alone] = blocks_of(screen, {}, "Hello")
    assert (alone.dialogue, alone.is_output) == ("Reply", True)


def test_other_texts_are_as_wide_as_they_were() -> None:
    assert [Part("k", "Hello").width_on(width) for width in (720, 328)] == [720, 328]


# --- What is given away: nothing (compare test_leak_hit)


def walks_of(campaign: Campaign, n_blocks: int = 10) -> list[Walk]:
    return [walk(campaign, name, n_blocks=n_blocks) for name in ("ann", "ben")]


def twins(walk: Walk) -> Iterator[tuple[Served, Served]]:
    """Yield the page of each copy with that of its twin."""
    pages_by_position = {each.item.position: each for each in walk.served}
    for each in walk.served:
        if each.item.twin_position is not None:
            yield each, pages_by_position[each.item.twin_position]


def check_twins(walks: list[Walk]) -> None:
    """A copy's page has the form of its twin's: turns, labels, classes, in order; and as long files as chance gives."""
    for one in walks:
        for copy, twin in twins(one):
            assert form_of(copy) == form_of(twin)
            if copy.kind == Kind.REPEAT:
                assert not {*copy.webp} & {*twin.webp}
                assert not {*copy.webp.values()} & {*twin.webp.values()}


def check_places(walks: list[Walk]) -> None:
    """Every image has a name of its own, wherever it is in its dialogue."""
    names = [name for one in walks for each in one.served for name in each.names]
    assert len(set(names)) == len(names)


def form_of(served: Served) -> str:
    """Return the tags of what is rated, without names, heights and real texts."""
    texts = served.html.partition("<section")[2].partition('<div class="answers">')[0]
    texts = re.sub(r'(<p class="real-text" dir="auto">).*?</p>', r"\1</p>", texts, flags=re.DOTALL)
    return re.sub(r'height="\d+"|[0-9a-f]{24}', "", texts)


def check_words(walks: list[Walk], campaign: Campaign) -> None:
    """Neither a system, nor what a file calls it, nor a kind is anywhere in what was served."""
    words = [*SYSTEMS, *(f"{system}-7b" for system in SYSTEMS), *(kind.name for kind in Kind), "twin", campaign.name]
    pattern = re.compile("|".join(rf"\b{re.escape(word)}\b" for word in words), re.IGNORECASE)
    for each in (each for one in walks for each in one.served):
        for text in (each.html, str(each.headers), str(each.image_headers)):
            assert not pattern.search(text), pattern.search(text)


@pytest.mark.parametrize("is_accessible", [False, True])
def test_leak_nothing_tells_kinds_of_dialogues_apart(opened: Opened, is_accessible: bool) -> None:
    campaign = opened("dialogue-static", is_accessible=is_accessible)
    walks = walks_of(campaign)
    assert [each.item.pk for each in walks[0].served] == [each.item.pk for each in walks[1].served]
    assert {each.kind for each in walks[0].served} == {Kind.ORDINARY, Kind.DEGRADED, Kind.REPEAT}
    assert len(list(twins(walks[0]))) == 3
    assert [len(Bubbles(each.html).turns) for each in walks[0].served] == [9] * 10

    check_words(walks, campaign)
    check_work(walks)
    check_twins(walks)
    check_places(walks)
    if not is_accessible:
        check_headers(walks)
        check_pages(walks)
        check_names(walks, False)
        check_bytes(walks, False)


def test_leak_nothing_tells_kinds_of_replies_apart(opened: Opened) -> None:
    campaign = opened("dialogue-turn")
    walks = walks_of(campaign)
    check_headers(walks)
    check_words(walks, campaign)
    check_work(walks)
    check_twins(walks)
    check_places(walks)
    check_names(walks, False)
    check_bytes(walks, False)


def _class_of_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the turns of degraded dialogues a class of their own."""
    honest = pages.make_item_page

    def leaking(campaign, shown, following, criteria, **options):
        page = honest(campaign, shown, following, criteria, **options)
        if HitItem.objects.get(pk=shown.items[0].id).kind == Kind.DEGRADED:
            last = page.sections[-1]
            return replace(page, sections=[*page.sections[:-1], replace(last, is_output=False)])
        return page

    monkeypatch.setattr(pages, "make_item_page", leaking)


def _turns_of_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the last turn of repeats out."""
    honest = pages.make_item_page

    def leaking(campaign, shown, following, criteria, **options):
        page = honest(campaign, shown, following, criteria, **options)
        if HitItem.objects.get(pk=shown.items[0].id).kind == Kind.REPEAT:
            last = page.sections[-1]
            return replace(page, sections=[*page.sections[:-1], replace(last, turns=last.turns[:-1])])
        return page

    monkeypatch.setattr(pages, "make_item_page", leaking)


def _same_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """Call all turns of a place by one name."""
    honest = text_images.stems

    def leaking(scope):
        stem_of = honest(scope)
        return lambda part: stem_of(Part(" ".join(part.key.split()[:3]), part.text))

    monkeypatch.setattr(text_images, "stems", leaking)


@pytest.mark.parametrize(
    ("seed", "check"),
    [
        (_class_of_kind, check_twins),
        (_turns_of_kind, check_twins),
        (_same_names, check_places),
    ],
)
def test_leak_seeded_ones_are_noticed(opened: Opened, monkeypatch: pytest.MonkeyPatch, seed, check) -> None:
    campaign = opened("dialogue-static")
    seed(monkeypatch)
    walks = walks_of(campaign, n_blocks=1)
    with pytest.raises(AssertionError):
        check(walks)
