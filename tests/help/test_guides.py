"""The guides of docs/ on the site: all of them, with links and anchors that lead somewhere."""

import re
from pathlib import Path
from uuid import uuid4

import pytest
from django.conf import settings
from django.contrib.staticfiles import finders
from django.test import Client
from django.urls import resolve

from campaigns.contracts.result_pages import PAGE_OF
from campaigns.navigation import side_bar
from campaigns.queries import get_campaign_for
from desk.navigation import desk_context
from evalsite.accounts.models import User
from evalsite.help.guides import GUIDES, MOVED, read_guide
from evalsite.help.pages import SECTION_OF
from tests.annotation.chat.chat_campaigns import open_live_campaign
from tests.annotation.open_campaigns import open_campaign
from tests.campaigns.cast import make_campaign
from tests.test_docs import anchors
from tests.test_permission_matrix import ADDRESSES

ROOT = Path(__file__).parents[2]
# {% url 'help:guide' 'glossary' %}#hit
_TEMPLATE_LINK = re.compile(r"""{% url ['"]help:guide['"] ['"]([\w/-]+)['"](?: as \w+)? %}(?:#([\w-]+))?""")
_HREF = re.compile(r'<a [^>]*?href="([^"]*)"')


def wrong_links(name: str, html: str) -> list[str]:
    """Return the links of a guide that lead nowhere on the site."""
    wrong = []
    for href in _HREF.findall(html):
        path, _, anchor = href.partition("#")
        if path.startswith(("http://", "https://")):
            continue
        found = resolve(path).kwargs.get("name", "") if path else name
        if anchor and anchor not in read_guide(found).anchors:
            wrong.append(href)
    return wrong


def test_every_document_is_a_guide() -> None:
    files = settings.GUIDES_DIR.rglob("*.md")
    assert {*GUIDES} == {str(path.relative_to(settings.GUIDES_DIR).with_suffix("")) for path in files}


@pytest.mark.parametrize("name", GUIDES)
def test_a_guide_is_shown_to_everybody(client: Client, name: str) -> None:
    response = client.get(f"/help/{name}/")
    assert response.status_code == 200
    document = (settings.GUIDES_DIR / f"{name}.md").read_text()
    assert f"<h1>{read_guide(name).title}</h1>" in response.text
    assert anchors(document) <= read_guide(name).anchors, "as on GitHub"
    assert wrong_links(name, read_guide(name).html) == []
    assert " style=" not in read_guide(name).html
    for image in re.findall(r'<img src="/static/([^"]+)"', read_guide(name).html):
        assert finders.find(image), image


def test_the_index_leads_to_each(client: Client) -> None:
    page = client.get("/help/").text
    assert all(f'href="/help/{name}/"' in page for name in GUIDES)
    assert "API reference" in page
    assert client.get("/help/no-such/").status_code == 404


@pytest.mark.parametrize("name", MOVED)
def test_an_old_name_leads_to_the_guide(client: Client, name: str) -> None:
    assert name not in GUIDES
    response = client.get(f"/help/{name}/")
    assert response.status_code == 301
    assert client.get(response["Location"]).status_code == 200


def test_pages_of_a_folder_lead_out_of_it(client: Client) -> None:
    page = client.get("/help/method/scores/").text
    assert page.index('href="/help/"') < page.index('href="/help/method/"') < page.index("<h1>Scores</h1>")
    assert 'href="/help/settings/"' in read_guide("method/metric-scores").html
    assert 'href="/help/method/scores/"' in read_guide("method").html


def test_links_lead_to_pages_and_files_of_the_site(client: Client) -> None:
    html = read_guide("api").html
    assert 'href="/api/v1/schema/"' in html
    assert 'href="/help/examples/results.ipynb"' in read_guide("scripts").html
    sent = client.get("/help/examples/results.ipynb")
    assert b"".join(sent.streaming_content) == (ROOT / "examples/results.ipynb").read_bytes()  # type: ignore[attr-defined]
    sent.close()
    notebook = "/help/examples/notebooks/first-analysis.ipynb"
    assert f'href="{notebook}"' in read_guide("library").html
    client.get(notebook).close()
    assert client.get("/help/examples/mrc").status_code == 404
    assert client.get("/help/examples/..%2Fmanage.py").status_code == 404


def test_each_term_of_the_glossary_has_an_anchor() -> None:
    assert {"hit", "z-score", "conversation-turn", "cluster-of-systems"} <= read_guide("glossary").anchors
    assert 'id="hit"' in read_guide("glossary").html


def test_pages_link_to_sections_that_exist() -> None:
    found = [
        (path, name, anchor)
        for path in (ROOT / "templates").rglob("*.html")
        for name, anchor in _TEMPLATE_LINK.findall(path.read_text())
    ]
    assert found
    assert [each for each in found if each[2] and each[2] not in read_guide(each[1]).anchors] == []


def test_pages_lead_to_sections_that_exist() -> None:
    assert [page for page in SECTION_OF if page not in {address.name for address in ADDRESSES}] == []
    sections = (section.partition("#") for section in SECTION_OF.values())
    assert [anchor for guide, mark, anchor in sections if mark and anchor not in read_guide(guide).anchors] == []


@pytest.mark.django_db
def test_every_page_of_a_side_bar_leads_to_its_section(owner: User) -> None:
    """Of campaigns, of results of a ratings file, and of administrators."""
    campaigns = [open_campaign(owner, platform="prolific"), open_live_campaign(owner), make_campaign(owner)]
    bars = [side_bar(get_campaign_for(owner, each.public_id), "") for each in campaigns]
    bars.append(desk_context("people")["side_bar"])
    pages = {resolve(link.url).view_name for bar in bars for link in bar.links}
    pages |= {f"analysis:{slug}" for slug in PAGE_OF}
    assert len(pages) > 40
    assert pages - {*SECTION_OF} == {"admin:index"}, "Django's own"


def test_a_page_has_one_link_to_its_section(owner_client: Client) -> None:
    page = owner_client.get("/accounts/tokens/").text
    assert page.count('<a class="page-guide" href="/help/api/#tokens">About this page</a>') == 1
    assert "page-guide" not in owner_client.get("/help/").text
    assert "page-guide" not in owner_client.get(f"/campaigns/{uuid4()}/").text, "there is no such page"


def test_a_wrong_link_is_noticed() -> None:
    assert wrong_links("api", '<a href="#gone">') == ["#gone"]
    assert wrong_links("api", '<a href="/help/glossary/#gone">') == ["/help/glossary/#gone"]


def test_a_table_without_names_of_columns_has_no_head(settings, tmp_path: Path) -> None:
    (tmp_path / "tables.md").write_text(
        "# One\n\nTwo tables.\n\n| | |\n|---|---|\n| a | b |\n\n| c | d |\n|---|---|\n| e | f |\n"
    )
    settings.GUIDES_DIR = tmp_path
    html = read_guide("tables").html
    assert html.count("<thead>") == 1
    assert "<td>b</td>" in html
    assert '<td data-label="d">f</td>' in html


def test_what_a_document_has_of_html_and_outside_the_site(settings, tmp_path: Path) -> None:
    text = (
        "# One & two\n\n![A picture](images/qg.png) <b>bold</b> [a file](../README.md)\n\n"
        "## Same\n\n## Same\n\n### `code` & *more*\n"
    )
    (tmp_path / "own.md").write_text(text)
    settings.GUIDES_DIR = tmp_path
    page = read_guide("own")
    assert page.title == "One & two"
    assert [each.anchor for each in page.contents] == ["same", "same-1"]
    assert page.contents[1].parts[0].anchor == "code--more"
    assert "&lt;b&gt;bold" in page.html
    assert "<a>a file</a>" in page.html
    assert 'src="/static/guides/qg.png" alt="A picture"' in page.html
