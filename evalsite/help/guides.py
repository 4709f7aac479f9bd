"""Which guides there are, and a guide as HTML: headings and terms have anchors, links lead to pages of the site."""

import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import count, pairwise
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from django.conf import settings
from django.templatetags.static import static
from django.urls import reverse
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.renderer import RendererHTML
    from markdown_it.token import Token
    from markdown_it.utils import EnvType, OptionsDict


@dataclass(frozen=True)
class Guide:
    """A file of docs/: its path there without the ending, a title for lists, and what it is for."""

    name: str
    title: str
    text: str


@dataclass(frozen=True)
class GuideGroup:
    """Guides that are listed together."""

    title: str
    guides: tuple[Guide, ...]


GROUPS = (
    GuideGroup(
        "Guides",
        (
            Guide("first-campaign", "Your first campaign", "From the outputs of your systems to a ranking."),
            Guide("protocols", "Which protocol for what", "What people do, what is preset, each page as a picture."),
            Guide("lab-mates", "With lab mates", "A link for each rater, reminders, colleagues who edit."),
            Guide("prolific", "On Prolific", "Paid participants: keys, studies, decisions."),
            Guide("mturk", "On Mechanical Turk", "Keys, the sandbox, and sites that frame questions as it did."),
            Guide("chatbots", "Chatbots", "Live chats, two chatbots side by side, dialogues from a file."),
            Guide("translations", "Translations: DA, ESA, MQM", "Documents, marked errors, batches of Appraise."),
            Guide("compare-two", "Compare two models", "Votes, rankings, best and worst."),
            Guide(
                "analyse", "Analyse ratings you have", "Files of other tools, groups, agreement; without a site, too."
            ),
            Guide("library", "Python", "The analysis in a notebook or a script: tables, figures, plans."),
            Guide("metrics", "Metrics and judges", "How far metrics and language models rate as people do."),
            Guide("planning", "Plan and pay", "How many workers, what they cost; waves, approvals, bonuses."),
            Guide("paper", "For the paper", "Sentences, tables, figures, the datasheet, a link for reviewers."),
            Guide("ethics", "For the ethics board", "Consent, what workers are promised, what is stored, erasing it."),
            Guide("server", "Run a server", "Installation, backups, upgrades, what to watch."),
            Guide("people", "People and sign-in", "Accounts, second factor, single sign-on, the audit log."),
            Guide("scripts", "Scripts", "The API in Python, commands, simulated workers, webhooks."),
        ),
    ),
    GuideGroup(
        "Reference",
        (
            Guide("glossary", "Glossary", "Each term once, with the term that papers use."),
            Guide("design", "Design and rules", "Options of HITs, places, closing early, what the launch freezes."),
            Guide("outputs", "Files of outputs", "What you upload to a campaign: sources, outputs, dialogues."),
            Guide("ratings", "Files of ratings", "Ratings that are analysed: shapes, other tools, the protocol file."),
            Guide("exports", "Exports and results", "The columns of exports, the keys of results as JSON."),
            Guide("commands", "Commands", "Options of analyse, agreement, metrics, plan and simulate."),
            Guide("settings", "Settings", "Settings of an installation: keys, databases, mail, limits and hosts."),
            Guide("performance", "Performance", "What one machine carries, and how several share the work."),
            Guide("api", "REST API", "What the pages do, done by a script: tokens and an example."),
            Guide("webhooks", "Webhooks", "Messages to a server of yours when something happens in a campaign."),
            Guide("plugins", "Plug-ins", "A protocol, response kind, platform, metric or analysis of your own."),
            Guide("architecture", "Architecture", "How the parts of the code fit together, and where to change what."),
        ),
    ),
    GuideGroup(
        "Method",
        (
            Guide("method", "Method", "All topics, each with its question."),
            Guide("method/worker-test", "Worker test", "Which workers rate with care?"),
            Guide("method/scores", "Scores", "How do ratings become the score of a system?"),
            Guide("method/conclusions", "What is concluded", "Which differences does a result name?"),
            Guide("method/recommended-comparison", "Recommended comparison", "Is one system better than another?"),
            Guide("method/groups", "Groups", "Do differences of systems depend on a domain, a length or the workers?"),
            Guide("method/looking-early", "Looking early", "What may you conclude while ratings still come?"),
            Guide("method/sensitivity", "Sensitivity", "Does the ranking survive other settings?"),
            Guide("method/two-runs", "Two runs", "Do two results of the same systems agree?"),
            Guide("method/agreement", "Agreement", "Do workers agree with each other, and with themselves?"),
            Guide("method/metrics", "Metrics", "Do metrics judge as people do, and what do they add?"),
            Guide("method/metric-scores", "Scores of metrics", "How are BLEU, QAScore, judges and others computed?"),
            Guide("method/error-spans", "Error spans and segments", "Marked errors (MQM), scores of segments (ESA)."),
            Guide("method/levels", "Levels", "Likert levels, and yes or no."),
            Guide("method/options", "Options", "Chosen options."),
            Guide("method/edits-and-counts", "Edits, counts and magnitudes", "HTER, facts and RankME."),
            Guide("method/comparisons", "Votes and rankings", "Votes, rankings, best and worst."),
            Guide("method/chats", "Chats", "Live chats, and their replies."),
            Guide("method/planning", "Planning", "How many workers and ratings find a difference?"),
            Guide("method/tested", "Tested against", "Which published numbers does the code meet?"),
        ),
    ),
)
GUIDES = {guide.name: guide for group in GROUPS for guide in group.guides}
MOVED = {
    "administration": "server",
    "agreement": "analyse",
    "campaigns": "first-campaign",
    "platforms": "planning",
    "publishing": "paper",
    "scaling": "performance",
    "workers": "ethics",
}
"""Guides that have another name now, by their old one."""


@dataclass(frozen=True)
class Heading:
    """A heading of a guide, and those below it."""

    anchor: str
    text: str
    parts: list["Heading"] = field(default_factory=list)


@dataclass(frozen=True)
class Section:
    """What is below one heading of a guide, as lines of text; before the first one heading and anchor are empty."""

    anchor: str
    heading: str
    text: str


@dataclass(frozen=True)
class GuidePage:
    """A guide as it is shown, and its sections as they are searched."""

    title: str
    html: SafeString
    contents: list[Heading]
    anchors: frozenset[str]
    sections: tuple[Section, ...]


@cache
def read_guide(name: str) -> GuidePage:
    """Return a guide as HTML. It is read once a process."""
    parser = _parser()
    tokens = parser.parse((settings.GUIDES_DIR / f"{name}.md").read_text())
    anchors: set[str] = set()
    title, contents = _prepare_headings(tokens, anchors)
    _prepare_tables(tokens, anchors, title)
    for token in tokens:
        for child in token.children or ():
            _prepare_link(child, posixpath.dirname(name))
    # The renderer escapes everything, and raw HTML is off.
    html = mark_safe(parser.renderer.render(tokens, parser.options, {}))
    return GuidePage(title, html, contents, frozenset(anchors), tuple(_sections(tokens)))


def get_example(name: str) -> Path | None:
    """Return the path of a file in examples/ or a folder of it, of a kind that guides link to, if there is one."""
    folder = settings.EXAMPLES_DIR.resolve()
    path = (folder / name).resolve()
    return path if path.is_relative_to(folder) and path.suffix in _EXAMPLES and path.is_file() else None


# Scripts, notebooks and ratings; guides and pages name no other files of this folder.
_EXAMPLES = (".py", ".ipynb", ".csv")
_EXAMPLES_AT = "../examples/"


def slug(text: str) -> str:
    """Return the anchor that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-")


def _unique(anchor: str, anchors: set[str]) -> str:
    """Return the anchor, numbered if another place has it, and note it."""
    free = next(each for number in count() if (each := f"{anchor}-{number}" if number else anchor) not in anchors)
    anchors.add(free)
    return free


def _text(inline: "Token") -> str:
    """Return what a reader sees of a heading or a cell."""
    return "".join(child.content for child in inline.children or () if child.type in ("text", "code_inline"))


def _prepare_headings(tokens: "list[Token]", anchors: set[str]) -> tuple[str, list[Heading]]:
    """Give each heading its anchor; take the title out and return it, and the headings of two levels below it."""
    contents: list[Heading] = []
    title = ""
    for opening, inline in list(pairwise(tokens)):
        if opening.type != "heading_open":
            continue
        text = _text(inline)
        anchor = _unique(slug(text), anchors)
        if opening.tag == "h1" and not title:
            title = text
        else:
            opening.attrSet("id", anchor)
        if opening.tag == "h2":
            contents.append(Heading(anchor, text))
        elif opening.tag == "h3" and contents:
            contents[-1].parts.append(Heading(anchor, text))
    if tokens and tokens[0].tag == "h1":
        del tokens[:3]
    return title, contents


def _sections(tokens: "Sequence[Token]") -> Iterator[Section]:
    """Yield the sections of a guide, whose headings have their anchors; a row of a table is a line."""
    anchor, heading, lines = "", "", [""]
    in_row = False
    for before, token in pairwise(tokens):
        if before.type == "heading_open":
            yield Section(anchor, heading, "\n".join(lines).strip())
            anchor, heading, lines = str(before.attrGet("id") or ""), _text(token), []
        elif token.type == "tr_open":
            in_row = False
        elif token.type == "inline" and in_row:
            lines[-1] += f" · {_text(token)}"
        elif token.type in ("inline", "fence"):
            lines.append(_text(token) if token.children else token.content)
            in_row = before.type in ("td_open", "th_open")
        elif token.type == "table_close":
            in_row = False
    yield Section(anchor, heading, "\n".join(lines).strip())


def _prepare_tables(tokens: "list[Token]", anchors: set[str], title: str) -> None:
    """Name tables by headings and cells by columns, align columns by classes, give terms that begin rows anchors.

    A table whose columns have no names has no head: Markdown cannot leave it out.
    """
    _drop_empty_heads(tokens)
    heading, names, columns, n_cells = title, set[str](), list[str](), 0
    for before, token in pairwise(tokens):
        if before.type == "heading_open":
            heading = _text(token)
        if token.type == "table_open":
            token.attrs = {"class": "table table-blocks"}
            columns = []
            # Two regions of a page have two names.
            token.meta["label"] = next(
                each for n in count(1) if (each := f"{heading}, table {n}" if n > 1 else heading) not in names
            )
            names.add(token.meta["label"])
        elif token.type in ("th_open", "td_open"):
            # A style attribute would be against the site's policy.
            token.attrs = {"class": "num"} if "right" in str(token.attrs.get("style", "")) else {}
            if token.type == "th_open":
                token.attrs["scope"] = "col"
        elif token.type == "tr_open":
            n_cells = 0
        elif before.type == "th_open":
            columns.append(_text(token))
        elif before.type == "td_open":
            if n_cells and columns:  # the first cell is the row's name
                before.attrSet("data-label", columns[n_cells])
            n_cells += 1
            if token.content.startswith("**"):
                before.attrSet("id", _unique(slug(_text(token)), anchors))


def _drop_empty_heads(tokens: "list[Token]") -> None:
    places = {name: [n for n, each in enumerate(tokens) if each.type == name] for name in ("thead_open", "thead_close")}
    for start, end in reversed([*zip(*places.values(), strict=True)]):
        if not any(each.content for each in tokens[start:end]):
            del tokens[start : end + 1]


def _prepare_link(token: "Token", folder: str) -> None:
    """Let a link or an image of a guide in a folder lead to the page or file of the site; drop what leads out of it."""
    if token.type == "image":
        token.attrSet("src", static(f"guides/{posixpath.basename(str(token.attrGet('src')))}"))
    elif token.type == "link_open":
        href = str(token.attrGet("href"))
        if urlsplit(href).scheme in ("http", "https"):
            token.attrSet("rel", "noopener noreferrer")
        elif address := _address(href, folder):
            token.attrSet("href", address)
        else:
            token.attrs.pop("href")


def _address(href: str, folder: str) -> str | None:
    """Return where a relative link of a guide leads on the site; None if it has no such page."""
    path, _, anchor = href.partition("#")
    end = f"#{anchor}" if anchor else ""
    if not path or path.startswith("/"):
        return href
    path = posixpath.normpath(posixpath.join(folder, path))
    name, ending = posixpath.splitext(path)
    if ending == ".md" and name in GUIDES:
        return reverse("help:guide", args=[name]) + end
    if path == "openapi.json":
        return reverse("api:schema")
    if path.startswith(_EXAMPLES_AT) and get_example(name := path.removeprefix(_EXAMPLES_AT)):
        return reverse("help:example", args=[name])
    return None


def _render_table(
    self: "RendererHTML", tokens: "Sequence[Token]", place: int, options: "OptionsDict", env: "EnvType"
) -> str:
    label = escape(tokens[place].meta["label"])
    opening = f'<div class="table-scroll" tabindex="0" role="region" aria-label="{label}">'
    return opening + self.renderToken(tokens, place, options, env)


def _render_table_end(
    self: "RendererHTML", tokens: "Sequence[Token]", place: int, options: "OptionsDict", env: "EnvType"
) -> str:
    return self.renderToken(tokens, place, options, env) + "</div>"


def _render_code(
    self: "RendererHTML", tokens: "Sequence[Token]", place: int, options: "OptionsDict", env: "EnvType"
) -> str:
    return f'<pre class="guide-code" tabindex="0"><code>{escape(tokens[place].content)}</code></pre>'


@cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt  # seldom needed, and a command should not wait for it

    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    parser.add_render_rule("table_open", _render_table)
    parser.add_render_rule("table_close", _render_table_end)
    parser.add_render_rule("fence", _render_code)
    parser.add_render_rule("code_block", _render_code)
    return parser
