"""Pictures for the guides: each protocol's page, and pages of researchers; `make pictures` draws them as they are."""

import io
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from django.conf import settings
from django.db import transaction
from django.urls import reverse
from PIL import Image, ImageDraw
from playwright.sync_api import Browser, Page

from analysis.web.examples import load_examples
from annotation.pages.previews import SAMPLE_HIT
from annotation.raters.lists import RaterEntry
from annotation.services.invitations import invite_raters
from campaigns.contracts.protocol import Protocol
from campaigns.design.composition import Layout
from campaigns.formats import get_format
from campaigns.models import Campaign, Output, Source, System
from campaigns.protocols import get_protocol, list_protocols
from campaigns.services.hits import execute_build
from evalsite.accounts.models import User
from evalsite.lib.pictures import normalise
from tests.annotation.chat.chat_campaigns import make_live_campaign
from tests.campaigns.cast import make_campaign
from tests.campaigns.formats.pictures import keep
from tests.conftest import signed_in

IMAGES = Path(settings.BASE_DIR) / "docs" / "images"
CARDS = Path(settings.BASE_DIR) / "static"
LARGEST, LARGEST_CARD = 60 << 10, 20 << 10
CARD_SIZE = (480, 300)
COLOURS = 64
# A file of another name, where the protocol's own is another picture.
NAMES = {"ranking": "ranking-item"}
_CHATS = ("compare-chats", "ssa-chat")
PICTURES = {
    each.slug: NAMES.get(each.slug, each.slug) for each in list_protocols() if each.chat is None or each.slug in _CHATS
}
"""The name of each protocol's picture; of live chats only those have one whose page differs."""

FIRST = "Der Zug nach Basel fährt heute von Gleis 5."
SECOND = "Fahrgäste nach Bern steigen bitte in Olten um."
TRANSLATIONS = (
    ("The train to Basel leaves from platform 5 today.", "Passengers for Bern please change in Olten."),
    ("The train after Basel drives today of track 5.", "Passengers to Bern rise please in Olten."),
    ("Today’s train to Basel departs from platform 5.", "If you are going to Bern, change trains in Olten."),
    ("The tram to Basel leaves from platform 6.", "Passengers to Bern get on in Olten."),
)
DIALOGUE = (
    "Person: I have started to play tennis.\nChatbot: How nice! Where do you play?\n"
    "Person: In the park near the station."
)
FIELDS = {
    "source": (FIRST, SECOND),
    "context": ("What should I see in Basel in one day?", "Where do I change for Bern?"),
    "reference": ("From platform 5, today only.", "In Olten."),
    "document": (f"{FIRST} Grund sind Bauarbeiten. {SECOND}", FIRST),
    "question": ("From which platform does the train to Basel leave?", "Where do you change for Bern?"),
    "passage": ("The train to Basel leaves from platform 5 today, because of building works.", SECOND),
    "answer": ("platform 5", "Olten"),
    "options": ("Platform 5\nPlatform 6\nOlten", "Olten\nBasel\nBern"),
    "correct": ("Platform 5", "Olten"),
    "topic": ("tennis", "tennis"),
    "prompt": ("Name two ways to keep bread fresh.", "How do I make tea for two?"),
    "task": ("Say what the weather is in Basel.", "Book the cheapest train to Basel that arrives before **10:00**."),
    "before": ("", "```python\ndef mean(numbers):\n    return sum(numbers) / len(numbers)\n```"),
    "goal": ("The weather.", "A train to Basel before ten."),
    "dialogue": (DIALOGUE, DIALOGUE),
}
ANSWER = """\
Boil water and warm the pot. Then:

1. Put in **two spoons** of tea.
2. Pour on the water, and wait *4 minutes*.

| tea | minutes |
|---|---|
| green | 2 |
| black | 4 |
"""
CHANGE = """\
--- a/numbers.py
+++ b/numbers.py
@@ -1,2 +1,4 @@
 def mean(numbers):
-    return sum(numbers) / len(numbers)
+    if not numbers:
+        raise ValueError("there is no number")
+    return sum(numbers) / len(numbers)
"""
TALK = [
    {"role": "user", "content": "I have to be in Basel before ten."},
    {
        "role": "assistant",
        "content": "Let me look.",
        "tool_calls": [{"id": "1", "function": {"name": "timetable", "arguments": '{"to": "Basel"}'}}],
    },
    {"role": "tool", "tool_call_id": "1", "content": "08:02–09:12, 08:32–09:42"},
    {"role": "assistant", "content": "The train at 8:32 arrives at 9:42, from platform 5."},
]
STEPS = [
    {
        "thought": "I need the timetable.",
        "call": {"tool": "timetable", "arguments": {"to": "Basel"}},
        "result": "08:02–09:12, 22 €; 08:32–09:42, 19 €",
        "seconds": 1.2,
        "cost": 0.002,
    },
    {"call": {"tool": "book", "arguments": {"train": "08:32"}}, "result": "booked", "seconds": 2.1, "cost": 0.003},
    {"answer": "I booked the train at 8:32 for 19 €."},
]
TEXTS: dict[str, list[str | tuple[str, ...]]] = {
    "caption": ["A boat.", "A white house with a red roof stands by the sea, and a boat sails past in the sun."],
    "llm-answer": ["In a bag, or frozen in slices.", ANSWER],
    "llm-pair": ["In a bag, or frozen in slices.", (ANSWER, "Pour boiling water on **two spoons** of tea, and wait.")],
    "conversation": [json.dumps(TALK[:1] + TALK[-1:]), json.dumps(TALK)],
    "agent-trace": [json.dumps(STEPS[-1:]), json.dumps(STEPS)],
    "code-review": [CHANGE.replace("ValueError", "TypeError"), CHANGE],
    "dialogue-static": [DIALOGUE, DIALOGUE],
    "dialogue-turn": ["The courts there are lovely in the evening.", "Yes."],
    "ssa": ["The courts there are lovely in the evening.", "I like it."],
    "qg": ["From which platform does the train to Basel leave today?", "Where do I change?"],
    "mrc-adequacy": ["It leaves from platform 5 today.", "You change in Olten."],
    "da-summary": ["Because of building works, the train to Basel leaves from platform 5.", "Platform 5."],
}


def painted() -> bytes:
    """Return a picture of a house by the sea, with the sun above."""
    picture = Image.new("RGB", (720, 420), "#bfe3f5")
    pen = ImageDraw.Draw(picture)
    pen.rectangle((0, 280, 720, 420), fill="#2f7fb5")
    pen.polygon([(0, 420), (0, 300), (300, 250), (520, 420)], fill="#79a95a")
    pen.rectangle((110, 190, 250, 300), fill="#f3e3c3")
    pen.polygon([(95, 195), (180, 125), (265, 195)], fill="#b5482f")
    pen.rectangle((165, 240, 200, 296), fill="#6b4a2b")
    pen.ellipse((560, 50, 640, 130), fill="#f7cf46")
    pen.polygon([(470, 300), (560, 300), (540, 325), (490, 325)], fill="#ffffff")
    pen.polygon([(515, 295), (515, 215), (560, 290)], fill="#ffffff")
    picture.save(content := io.BytesIO(), "PNG")
    return content.getvalue()


def picture_of(campaign: Campaign) -> str:
    """Return the value of a picture that is kept with the campaign."""
    picture = normalise(painted())
    kept = {"sha256": keep(campaign, picture.webp), "width": picture.width, "height": picture.height}
    return get_format("image").read(json.dumps(kept | {"alt": "A house by the sea."}), is_output=False)


def fill(campaign: Campaign) -> None:
    """Give a campaign two sources, of one document, with an output of four systems each."""
    names = campaign.screen["fields"]
    for place in (0, 1):
        fields = {each["name"]: FIELDS[each["name"]][place] for each in names if each["name"] in FIELDS}
        fields |= {each["name"]: picture_of(campaign) for each in names if each["format"] == "image"}
        Source.objects.create(campaign=campaign, name=f"s{place}", document="trains", place=place, fields=fields)
    for code, texts in enumerate(TRANSLATIONS):
        system = System.objects.create(campaign=campaign, name=f"system {code}")
        own = TEXTS.get(campaign.protocol)
        for place, source in enumerate(campaign.sources.order_by("name")):
            text = own[place] if own else texts[place]
            text = text if isinstance(text, str) else text[code % len(text)]
            text = get_format(campaign.screen["output_format"]).read(text, is_output=True)
            Output.objects.create(source=source, system=system, text=text)


def build(owner: User, slug: str, n_items: int = 1) -> Campaign:
    if get_protocol(slug).chat:
        return make_live_campaign(owner, slug)
    campaign = make_campaign(owner, slug)
    fill(campaign)
    campaign.n_ordinary, campaign.n_degraded, campaign.n_repeat, campaign.n_reference = n_items, 0, 0, 0
    campaign.layout, campaign.has_anchor, campaign.seed = Layout.POOLED, False, 3
    campaign.worker_test, campaign.instructions = "none", "Read the texts, then answer."
    campaign.save()
    execute_build(campaign=campaign, on_progress=lambda *_: None, saving=transaction.atomic)
    return campaign


def mark(page: Page) -> None:
    """Mark an error in the first text, and begin to mark one in the second."""
    texts = page.locator('[data-spans-text="target"]')
    for place in range(min(texts.count(), 2)):
        texts.nth(place).locator("[data-start]").nth(1).click()
        panel = page.locator(".spans-panel:not([hidden])")
        if place == 0:
            for category in panel.get_by_role("combobox").all():
                category.select_option(label="Mistranslation")
            panel.get_by_role("button", name="major", exact=True).click()


def answer(page: Page) -> None:
    """Answer some of what is asked, so that the picture shows how."""
    mark(page)
    sliders = page.locator("[data-slider] input")
    for place in range(sliders.count()):
        box = sliders.nth(place).bounding_box()
        assert box
        page.mouse.click(box["x"] + box["width"] * (0.8 - 0.3 * place % 0.6), box["y"] + box["height"] / 2)
    for radio in page.locator("main input[type=radio]:visible").all()[3:4]:
        radio.check(force=True)
    page.mouse.move(0, 0)


def as_small_png(content: bytes) -> bytes:
    """Return a picture in few colours."""
    image = Image.open(io.BytesIO(content)).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    small = io.BytesIO()
    image.save(small, "PNG", optimize=True)
    return small.getvalue()


def as_card(content: bytes) -> bytes:
    """Return the upper part of a picture in the size of a card."""
    image = Image.open(io.BytesIO(content)).convert("RGB")
    width, height = CARD_SIZE
    image = image.resize((width, round(image.height * width / image.width)), Image.Resampling.LANCZOS)
    card = Image.new("RGB", CARD_SIZE, image.getpixel((0, image.height - 1)))
    card.paste(image.crop((0, 0, width, min(height, image.height))))
    small = io.BytesIO()
    card.save(small, "WEBP", quality=60, method=6)
    return small.getvalue()


@pytest.mark.parametrize("protocol", list_protocols(), ids=lambda protocol: protocol.slug)
def test_the_card_of_each_protocol_has_a_small_picture_of_its_size(protocol: type[Protocol]) -> None:
    path = CARDS / protocol.picture
    assert path.stat().st_size <= LARGEST_CARD
    with Image.open(path) as image:
        assert image.size == CARD_SIZE


@pytest.mark.parametrize("slug", PICTURES)
def test_each_protocol_has_a_small_picture_in_the_guide(slug: str) -> None:
    path = IMAGES / f"{PICTURES[slug]}.png"
    assert path.stat().st_size <= LARGEST
    assert f"](images/{path.name})" in (IMAGES.parent / "protocols.md").read_text()


@pytest.fixture(scope="module")
def tab(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 900, "height": 900}, reduced_motion="reduce")
    yield context.new_page()
    context.close()


@pytest.mark.skipif(not os.environ.get("DRAW_PICTURES"), reason="make pictures draws them")
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("slug", [protocol.slug for protocol in list_protocols()])
def test_browser_draw(live_server, tab: Page, owner: User, slug: str) -> None:
    campaign = build(owner, slug)
    cookie = signed_in(owner).cookies[settings.SESSION_COOKIE_NAME].value
    tab.context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": cookie, "url": live_server.url}])
    name, hit = ("preview_chat", SAMPLE_HIT) if campaign.is_live else ("preview_item", 1)
    address = reverse(f"monitoring:{name}", args=[campaign.public_id, hit, 1])
    tab.set_viewport_size({"width": 1200 if campaign.outputs_per_page > 1 else 820, "height": 900})
    tab.goto(live_server.url + address)
    tab.wait_for_load_state("networkidle")
    answer(tab)
    content = tab.locator("main").screenshot()
    card = as_card(content)
    assert len(card) <= LARGEST_CARD
    (CARDS / get_protocol(slug).picture).write_bytes(card)
    if slug in PICTURES:
        if slug == "ssa-chat":  # what is asked of its replies is on the page after the chat
            tab.get_by_text("Rate this chatbot").click()
            tab.wait_for_load_state("networkidle")
            content = tab.locator("main").screenshot()
        content = as_small_png(content)
        assert len(content) <= LARGEST
        (IMAGES / f"{PICTURES[slug]}.png").write_bytes(content)


@dataclass(frozen=True)
class Shown:
    """A page of an example that a guide shows: the example's protocol, the page's address, how high the picture is."""

    protocol: str
    address: str
    height: int = 640


PAGES = {
    "create": Shown("", "campaigns:new", 760),
    "hits": Shown("mrc-fluency", "campaigns:design", 760),
    "findings": Shown("likert", "analysis:campaign_results", 900),
    "overview": Shown("mrc-fluency", "campaigns:campaign", 760),
    "raters": Shown("mrc-fluency", "monitoring:raters", 900),
}
"""Pages that guides show, by the name of the picture."""


def test_each_picture_is_in_a_guide_and_each_picture_of_a_page_is_drawn() -> None:
    """And small enough."""
    texts = "".join(path.read_text() for path in [*IMAGES.parent.glob("*.md"), IMAGES.parents[1] / "README.md"])
    assert {path.stem for path in IMAGES.iterdir()} == {*PICTURES.values(), *PAGES}
    assert [path.name for path in IMAGES.iterdir() if f"images/{path.name})" not in texts] == []
    assert [path.name for path in IMAGES.iterdir() if path.stat().st_size > LARGEST] == []


@pytest.fixture
def examples(owner: User) -> dict[str, Campaign]:
    """The examples whose pages guides show, and two raters of the draft."""
    protocols = {each.protocol for each in PAGES.values() if each.protocol}
    found = {campaign.protocol: campaign for campaign in load_examples(owner, lambda _: None, protocols)}
    invite_raters(
        campaign=found["mrc-fluency"], raters=[RaterEntry("Ada", "ada@example.org"), RaterEntry("Bo", "bo@example.org")]
    )
    return found


@pytest.mark.skipif(not os.environ.get("DRAW_PICTURES"), reason="make pictures draws them")
@pytest.mark.django_db(transaction=True)
def test_browser_draw_pages(live_server, tab: Page, owner: User, examples: dict[str, Campaign]) -> None:
    cookie = signed_in(owner).cookies[settings.SESSION_COOKIE_NAME].value
    tab.context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": cookie, "url": live_server.url}])
    for name, shown in PAGES.items():
        args = [examples[shown.protocol].public_id] if shown.protocol else []
        tab.set_viewport_size({"width": 1200, "height": shown.height})
        tab.goto(live_server.url + reverse(shown.address, args=args))
        tab.wait_for_load_state("networkidle")
        content = as_small_png(tab.screenshot())
        assert len(content) <= LARGEST, f"{name}: {len(content)} bytes"
        (IMAGES / f"{name}.png").write_bytes(content)
