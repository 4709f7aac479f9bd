"""The documents name files, headings, modules and pages of the site that exist."""

import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import count, pairwise
from pathlib import Path
from statistics import mean
from urllib.parse import unquote

import pytest
from django.core.exceptions import ValidationError
from django.core.validators import URLValidator
from django.urls import Resolver404, resolve
from markdown_it import MarkdownIt

from campaigns.contracts.result_pages import RESULT_PAGES
from campaigns.models import Campaign
from campaigns.navigation import side_bar
from evalsite.lib.plugins import name_of
from evalsite.lib.version import __version__
from tests.test_permission_matrix import ADDRESSES, TABLE

ROOT = Path(__file__).parent.parent
APPS = (
    "analysis",
    "annotation",
    "benchmarks",
    "campaigns",
    "crowd",
    "desk",
    "docs",
    "evalsite",
    "examples",
    "simulators",
)
FOLDERS = (*APPS, "static", "templates", "tests")
DOCUMENTS = sorted(
    path for pattern in ("*.md", *(f"{name}/**/*.md" for name in APPS)) for path in ROOT.glob(pattern) if path.is_file()
)
# `crowd/models.py`, `templates/rate/`; `campaigns.design`, `annotation.access.places`.
_PATH = re.compile(rf"`((?:{'|'.join(FOLDERS)})(?:/[\w.-]+)*/?)`")
_MODULE = re.compile(rf"`((?:{'|'.join(APPS)})(?:\.[a-z_]+)+)`")


# `/api/v1/docs/`, a path of the site.
_SITE_PATH = re.compile(r"`(/[a-z][\w/.-]*/)`")
_MARKDOWN = MarkdownIt("commonmark").enable("table")
_is_url = URLValidator(schemes=["http", "https"])


def wrong_in(document: Path, text: str) -> Iterator[str]:
    """Yield each link, path and module of a document that leads nowhere."""
    yield from (link for link in links_in(text) if not leads_somewhere(document, link))
    yield from (path for path in _PATH.findall(text) if not (ROOT / path).exists())
    yield from (path for path in _SITE_PATH.findall(text) if not is_of_site(path))
    for name in _MODULE.findall(text):
        path = ROOT / name_of(name).replace(".", "/")  # packages call apps as a wheel does
        # The last part may be a name in the module.
        if not any(each.is_dir() or each.with_suffix(".py").exists() for each in (path, path.parent)):
            yield name


def links_in(text: str) -> Iterator[str]:
    """Yield where the links and images of a document lead; a link to a name that is not defined stays in the text."""
    for token in (child for block in _MARKDOWN.parse(text) for child in block.children or ()):
        if token.type in ("link_open", "image"):
            yield str(token.attrGet("href") or token.attrGet("src"))
        elif token.type == "text":
            yield from re.findall(r"\]\[.*?\]|\]\(", token.content)


def leads_somewhere(document: Path, link: str) -> bool:
    """Whether a link leads to a file, a heading or a page of the site; of other sites, whether it is an address."""
    if link.startswith(("http:", "https:")):
        with suppress(ValidationError):
            _is_url(link)
            return True
        return False
    if link.startswith("mailto:"):
        return "@" in link
    name, _, heading = unquote(link).partition("#")
    if name.startswith("/"):
        return is_of_site(name)
    target = (document.parent / name).resolve() if name else document
    return target.exists() and (not heading or heading in anchors(target.read_text()))


def is_of_site(path: str) -> bool:
    """Whether pages of the site have this path, or begin with it."""
    if any(f"/{address.route}".startswith(path) for address in ADDRESSES):
        return True
    with suppress(Resolver404):
        # Where nothing is, the API answers by itself.
        return resolve(path).view_name not in {row.address for row in TABLE if row.who == "nobody"}
    return False


def anchors(text: str) -> set[str]:
    """Return the anchors of a document's headings, as GitHub makes them: of two that are alike the second has -1."""
    found: set[str] = set()
    tokens = _MARKDOWN.parse(text)
    for opening, inline in pairwise(tokens):
        if opening.type == "heading_open":
            shown = "".join(each.content for each in inline.children or () if each.type in ("text", "code_inline"))
            anchor = re.sub(r"[^\w\- ]", "", shown.strip().lower()).replace(" ", "-")
            found.add(next(each for n in count() if (each := f"{anchor}-{n}" if n else anchor) not in found))
    return found


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_paths_and_modules_exist(document: Path) -> None:
    assert list(wrong_in(document, document.read_text())) == []


@pytest.mark.parametrize(
    "text",
    [
        "[a](docs/gone.md)",
        "[a](README.md#gone)",
        "[a](#gone)",
        "[a](docs/glossary.md#chats-1)",
        "![a](docs/images/gone.png)",
        "[a][gone]",
        "[a](/api/v1/gone/)",
        "[a](https://no host/)",
        "[a](https://nohost)",
        "`crowd/gone.py`",
        "`campaigns.gone.gone`",
        "`/gone/`",
    ],
)
def test_a_wrong_one_is_noticed(text: str) -> None:
    assert len(list(wrong_in(ROOT / "README.md", text))) == 1


def test_right_ones_pass() -> None:
    text = (
        "[a](docs/glossary.md#chats) [b](https://example.org/x?y=1#z) [c](/api/v1/docs/) <mailto:a@example.org> [d]\n\n"
        "`/rate/` `[e](gone.md)`\n\n```\n[f](gone.md)\n# No heading\n```\n\n[d]: docs/method.md\n"
    )
    assert list(wrong_in(ROOT / "README.md", text)) == []
    assert anchors("## Same\n\n```\n# No heading\n```\n\n## Same\n\n## `a_b` *&* c\n") == {"same", "same-1", "a_b--c"}


def test_a_plug_in_is_shown_as_it_is() -> None:
    """A test runs a campaign with it."""
    code = (ROOT / "examples/plugin/evalsite_thumbs/poem.py").read_text()
    assert f"```python\n{code}```" in (ROOT / "docs" / "plugins.md").read_text()


# `*Design → HITs*`, and pages below such as `*Recruit → Payment → Reward*`.
_WAY = re.compile(
    r"\*(Design|Questions|Chatbots|Recruit|Monitor|Results|Paper and downloads) → ([^*→]+?)(?: →[^*]*)?\*"
)
NO_PAGES = {"Share these results"}
"""What is on a page, which guides name as pages are."""


def ways_in_side_bars() -> set[tuple[str, str]]:
    """Return what is below what in the side bars of campaigns of every kind."""
    ways = set()
    for campaign in (
        Campaign(protocol="custom", platform="prolific"),
        Campaign(protocol="ssa-chat", chat={"opening": "free"}, platform="link"),
    ):
        for group in side_bar(campaign, "").groups:
            ways |= {(group.title, link.title) for link in group.links}
            ways |= {(link.title, part.title) for link in group.links for part in link.parts}
    return ways | {("Results", page.title) for page in RESULT_PAGES if page.title}


def test_ways_through_side_bars_exist() -> None:
    guides = "\n".join(path.read_text() for path in DOCUMENTS if path.parent.name == "docs")
    found = {(stage, page.split(",")[0].strip()) for stage, page in _WAY.findall(guides)}
    assert len(found) > 20
    ways = ways_in_side_bars()
    assert {way for way in found if way[1] not in NO_PAGES} <= ways
    assert ("Results", "Export") not in ways  # a wrong way is noticed


def sentences_in(text: str) -> Iterator[str]:
    """Yield the sentences of paragraphs, items of lists and cells of tables."""
    for block in _MARKDOWN.parse(text):
        parts = [each.content for each in block.children or () if each.type in ("text", "code_inline", "softbreak")]
        yield from re.split(r"(?<=[.!?])\s+(?=[^a-z\s])", " ".join(parts))


def words_per_sentence(text: str) -> float:
    """Return the mean number of words of the sentences with more than two words."""
    numbers = [len(re.findall(r"\S*\w\S*", sentence)) for sentence in sentences_in(text)]
    return mean(n for n in numbers if n > 2)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_sentences_are_short(document: Path) -> None:
    assert words_per_sentence(document.read_text()) <= 20


def test_a_long_sentence_is_noticed() -> None:
    assert words_per_sentence("It is short. " + "It is " + "very " * 40 + "long.") == 23


@pytest.mark.parametrize("name", ["pyproject.toml", "CITATION.cff"])
def test_the_version_is_written_alike(name: str) -> None:
    [written] = re.findall(r'^version(?: =|:) "?([^"\n]+)', (ROOT / name).read_text(), re.MULTILINE)
    assert written == __version__
