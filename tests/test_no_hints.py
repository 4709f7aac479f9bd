"""Nothing that a worker reads mentions the quality control or makes them look for it (Ji's thesis, §5.2.2).

Checked are the default instructions of every protocol, every page of a campaign of texts and of one of live chats, all
sentences in the sources of these pages, and what the crowd platforms show before a worker accepts.
"""

import ast
import re
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pytest
from django.conf import settings
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from pytest_django.fixtures import Settings as SettingsWrapper

from annotation.models import Assignment
from campaigns.models import Campaign, Chatbot
from campaigns.platforms import platforms
from campaigns.protocols import list_protocols
from campaigns.services.campaigns import default_instructions
from crowd.queries.publishing import terms_of
from evalsite.accounts.models import User
from tests.annotation.cast import build, launch
from tests.annotation.chat.chat_campaigns import open_live_campaign
from tests.campaigns.cast import make_campaign

ROOT = Path(settings.BASE_DIR)
SCRIPTED = "tests.annotation.chat.bots.Scripted"
HINTS = re.compile(
    "|".join(
        (
            # What it is called.
            r"\bdegrad\w*|\bcorrupt\w*|\bgarbled|\bquality.?control\w*|\bworker.?test|\btwins?\b|\bdistract\w*",
            r"\b(attention|bot|sanity|quality) (check|test)\w*|\btrap\b|\bgold\b|\bcatch (trial|item|question)|\bdecoy",
            r"\bcareless\w*|\bhonest\w*|\bcheat\w*|\bspam\w*|\bat random|\brandomly\b",
            # That workers are tested.
            r"\b(test|check|monitor|verif|compar)\w* (you|your|workers|raters|people)\b",
            r"\b(pass|fail)\w* (the|a|our|this) (test|check)",
            # That some of it is bad, or bad on purpose.
            r"\bon purpose|\bdeliberate\w*|\bintentional\w*|\bnonsens\w*|\bmak\w+ (little|no) sense|\bnot good at all",
            r"\b(better|worse) than (the )?others|(?<!-)\bbad\b|\bstrange\b|\bodd\b",
            r"\bsome (of (the|these|them) )?\w+ (are|is|may|might|will|can|look|looks|seem|seems|make|do)\b",
            # That some of it comes twice.
            r"\balike\b|\bidentical\b|\bthe same (text|item|question|answer|dialogue|reply|translation|chatbot)\b",
            r"\b(look|sound|seem)\w* (very )?similar|\b(appear|shown|see|come|meet)\w* (twice|again|more than once)",
        )
    ),
    re.IGNORECASE,
)


def hints_in(text: str) -> list[str]:
    """Return the words of a text that hint at the quality control."""
    return [found[0] for found in HINTS.finditer(" ".join(text.split()))]


@pytest.mark.parametrize(
    "sentence",
    [
        "Some chatbots are better than others, and some are not good at all.",
        "Some dialogues may make little sense: say so with the sliders.",
        "Some questions look alike. Rate each as you find it.",
        "A few answers were made bad on purpose.",
        "You may be shown the same text twice.",
        "We check your answers for quality control.",
        '<div class="item-degraded">',
    ],
)
def test_a_hint_is_found(sentence: str) -> None:
    assert hints_in(sentence)


# --- Instructions and platforms


@pytest.mark.parametrize("protocol", list_protocols(), ids=lambda protocol: protocol.slug)
def test_default_instructions_say_what_to_do_and_do_not_hint(protocol) -> None:
    text = default_instructions(protocol)
    assert hints_in(text) == []
    assert "box for feedback" in text
    assert "You will " in text
    assert ("may take some seconds" in text) == (protocol.chat is not None)
    assert hints_in(" ".join(criterion.statement for criterion in protocol.criteria)) == []


@pytest.mark.django_db
def test_what_platforms_show_before_a_worker_accepts(owner: User) -> None:
    for protocol in ("mrc-adequacy", "dialogue-free"):
        terms = terms_of(make_campaign(owner, protocol), "https://rate.example.org")
        assert hints_in(f"{terms.title}. {terms.description}") == []
    shown = {"title", "description", "keywords"}
    options = [item for each in platforms.all().values() for item in each.options.named().items()]
    defaults = [str(option.initial) for name, option in options if name in shown]
    assert len(defaults) == 5
    assert hints_in(" ".join(defaults)) == []


# --- Pages


class Walk:
    """A worker's way through a campaign by its forms; `pages` are the texts that they were sent."""

    def __init__(self, campaign: Campaign, client: Client) -> None:
        self.campaign, self.client = campaign, client
        self.pages: list[str] = []
        self.show(reverse("rate:welcome", args=[campaign.public_id]))
        # Without a tick, then with one.
        for sent in ({}, {"consent": "yes"}):
            begun = self.show(reverse("rate:welcome", args=[campaign.public_id]), sent)
        self.address = begun["Location"]

    def show(self, url: str, sent: dict | None = None) -> HttpResponse:
        """Fetch a page or send a form, and follow where it leads."""
        response = self.client.get(url) if sent is None else self.client.post(url, sent)
        self.pages.append(response.text)
        if response.status_code == 303 and sent != {"consent": "yes"}:
            self.show(response["Location"])
        return response

    def chat(self, position: int) -> None:
        """Hold a chat, with all that can be refused in it."""
        say = {"position": position, "text": "I went to the sea"}
        self.show(f"{self.address}topic/", {"position": position, "topic": "the sea"})  # without an opinion
        self.show(f"{self.address}topic/", {"position": position, "topic": "the sea", "opinion": "like"})
        self.show(f"{self.address}say/", say | {"number": 1})
        self.show(f"{self.address}end/", say)  # too early, then with a text that is not sent
        self.show(f"{self.address}say/", say | {"number": 3})
        self.show(f"{self.address}end/", say)
        self.show(f"{self.address}end/", {"position": position})

    def rate(self, position: int, scores: dict[str, int]) -> None:
        """Rate an item; first without its sliders."""
        self.show(self.address, {"position": position})
        self.show(self.address, {"position": position, **scores})

    def finish(self) -> None:
        """Go through a whole HIT."""
        scores = {f"answer_{criterion.pk}": 60 for criterion in self.campaign.criteria.all()}
        for position in range(1, Assignment.objects.latest("pk").n_items + 1):
            self.show(self.address)
            if self.campaign.is_live:
                self.chat(position)
            self.rate(position, scores)
        self.show(f"{self.address}return/")
        self.show(f"{self.address}feedback/", {"feedback": "All clear."})
        self.show(self.address)


def _text_campaign(owner: User) -> Campaign:
    campaign = launch(make_campaign(owner, "mrc-adequacy"))
    build(campaign, n_hits=2)
    return campaign


def _live_campaign(owner: User) -> Campaign:
    campaign = open_live_campaign(owner)
    Chatbot.objects.update(connector="python", settings={"class_path": SCRIPTED})
    campaign.chat |= {"min_inputs": 2}
    return campaign


def _walk_through(campaign: Campaign, client: Client) -> list[str]:
    """Return all pages of a campaign of which one HIT is finished and one returned, then no more are given."""
    campaign.consent, campaign.reward = "You may stop at any time.", Decimal(2)
    campaign.study_name, campaign.contact = "Reading answers", "help@example.org"

    campaign.save()
    walk = Walk(campaign, client)
    walk.finish()
    back = Walk(campaign, client)
    back.show(f"{back.address}return/")
    back.show(f"{back.address}return/", {})
    Campaign.objects.update(status="closed")
    walk.show(reverse("rate:welcome", args=[campaign.public_id]))
    return walk.pages + back.pages


@pytest.mark.django_db
@pytest.mark.parametrize("make", [_text_campaign, _live_campaign])
def test_no_page_of_a_campaign_hints(owner: User, client: Client, settings: SettingsWrapper, make) -> None:
    settings.CHATBOT_CLASSES = [SCRIPTED]
    campaign = make(owner)
    pages = _walk_through(campaign, client)
    for title in ("Instructions", "Almost done", "Thank you", "Return this task?", "You have returned", "Closed"):
        assert any(f"<h1>{title}" in page for page in pages), title
    assert len(pages) > 30
    assert {hint for page in pages for hint in hints_in(page)} == set()


@pytest.mark.django_db
def test_a_hint_on_a_page_is_found(owner: User, client: Client) -> None:
    campaign = _text_campaign(owner)
    campaign.instructions += "\n\nSome answers look **alike**."
    assert {hint for page in _walk_through(campaign, client) for hint in hints_in(page)}


# --- What pages are made of, whether a walk has met it or not


def _sentences(path: Path) -> Iterator[str]:
    """Yield what of a source may reach a worker: of a module its strings, of others everything but comments."""
    text = path.read_text("utf-8")
    if path.suffix == ".py":
        tree = ast.parse(text)
        prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        nodes = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in prose)
        yield from (node.value for node in nodes if isinstance(node.value, str))
    else:
        yield re.sub(r"{% comment %}.*?{% endcomment %}", "", text, flags=re.DOTALL)


SOURCES = [
    *(ROOT / "templates/rate").rglob("*.html"),
    *(ROOT / "static/css").glob("rate*.css"),
    *(ROOT / f"static/js/{name}.js" for name in ("rate", "rate_head", "answers", "corrections", "edits", "copy")),
    *(
        ROOT / f"static/js/{name}.js"
        for name in ("elements", "keys", "online", "rate_reading", "reading", "spans", "spans_text", "tools")
    ),
    *(ROOT / "static/js").glob("chat*.js"),
    *(ROOT / "annotation/services").glob("*.py"),
    *(ROOT / f"annotation/{name}.py" for name in ("access/visitors", "pages/contents", "queries", "models")),
    *(ROOT / f"annotation/chat/{name}.py" for name in ("queries", "replies", "services", "views")),
    *(ROOT / f"annotation/views/{name}.py" for name in ("framed", "pages", "worker")),
    ROOT / "annotation/templatetags/rating.py",
    *(ROOT / "campaigns/contracts" / f"{name}.py" for name in ("chat", "platform", "response")),
    *(ROOT / "campaigns/responses").glob("*.py"),
    ROOT / "campaigns/blocks.py",
    ROOT / "campaigns/dialogues.py",
    ROOT / "campaigns/platforms/link/plugin.py",
    ROOT / "campaigns/platforms/mturk/account.py",
    ROOT / "crowd/queries/publishing.py",
]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_no_source_of_worker_pages_hints(path: Path) -> None:
    assert [hint for text in _sentences(path) for hint in hints_in(text)] == []


def test_every_script_of_worker_pages_is_checked() -> None:
    checked = {path.name for path in SOURCES if path.suffix == ".js"}
    imported = {
        name
        for path in SOURCES
        if path.suffix in (".js", ".html")
        for name in re.findall(r"[\w./]*?(\w+\.js)\b", path.read_text("utf-8"))
    }
    assert imported <= checked


def test_a_hint_in_a_source_is_found(tmp_path: Path) -> None:
    page, module = tmp_path / "page.html", tmp_path / "module.py"
    page.write_text("{% comment %}Of degraded items.{% endcomment %}<p>Some texts are bad.</p>", "utf-8")
    module.write_text('"""Of degraded items."""\n\nMESSAGE = "Some texts are bad."\n', "utf-8")
    for path in (page, module):
        assert [hint.lower() for text in _sentences(path) for hint in hints_in(text)] == ["some texts are", "bad"]
