"""The pages of errors, the parts of pages that a browser is not needed for, and the hashed style sheet."""

import re
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.staticfiles.storage import StaticFilesStorage
from django.core.paginator import Paginator
from django.template.loader import render_to_string
from django.test import Client, RequestFactory

from evalsite.web import ManifestStaticStorage

STATIC = Path(settings.BASE_DIR) / "static"
pytestmark = pytest.mark.urls("tests.web.gallery")


def test_500_needs_no_context_and_no_working_tag() -> None:
    text = render_to_string("500.html")
    assert "Error 500" in text
    source = (Path(settings.BASE_DIR) / "templates/500.html").read_text()
    assert set(re.findall(r"{%\s*(\w+)", source)) == {"comment", "endcomment"}
    for address in re.findall(r'(?:src|href)="/static/([^"]+)"', source):
        assert (STATIC / address).is_file()


@pytest.mark.parametrize("name", ["400.html", "403.html", "403_csrf.html", "404.html"])
def test_errors_render_without_request_or_user(name: str) -> None:
    text = render_to_string(name)
    assert name[:3] in text
    assert 'href="/"' in text


@pytest.mark.django_db
def test_a_missing_page_has_a_way_out(client: Client) -> None:
    response = client.get("/nothing/here/")
    assert response.status_code == 404
    assert "To the start page" in response.text


def test_pagination_keeps_the_query_string() -> None:
    request = RequestFactory().get("/", {"q": "a b", "page": "2"})
    page = Paginator(range(50), 10).page(2)
    text = render_to_string("components/pagination.html", {"page_obj": page}, request)
    assert "q=a+b&amp;page=3" in text
    assert "q=a+b&amp;page=1" in text
    assert (
        render_to_string("components/pagination.html", {"page_obj": Paginator([1], 10).page(1)}, request).strip() == ""
    )


@pytest.mark.parametrize(
    ("n_given", "n_all", "rows", "more"),
    [(1, None, 1, None), (50, None, 50, None), (53, None, 50, 3), (20, 120, 20, 100)],
)
def test_problems_lists_fifty_and_counts_the_rest(n_given: int, n_all: int | None, rows: int, more: int | None) -> None:
    problems = [{"row": n, "column": "score", "message": "<b>"} for n in range(n_given)]
    text = render_to_string("components/problems.html", {"problems": problems, "n_problems": n_all})
    assert text.count("&lt;b&gt;") == rows
    assert (f"and {more} more." in text) if more else ("more." not in text)


def test_no_page_or_part_has_inline_script_or_style() -> None:
    for path in (Path(settings.BASE_DIR) / "templates").rglob("*.html"):
        # Its hash is in the policy of the page.
        text = path.read_text().replace("<script>{{ head_script|safe }}</script>", "")
        assert not re.search(r"\sstyle=|<style|\son\w+=\"|javascript:|<script(?![^>]*\bsrc=)", text), path


def test_modules_keep_the_house_rules() -> None:
    for path in (STATIC / "js").glob("*.js"):
        text = path.read_text()
        assert text.startswith("// @ts-check\n"), path
        assert "innerHTML" not in text, path
        is_mounted = re.search(r"^export (async )?function mount\(", text, re.MULTILINE)
        others = {
            "main.js",
            "rate.js",
            "theme.js",
            "rate_head.js",
            "rate_reading.js",
            "spans_text.js",
            "elements.js",
            "pictures.js",
        }
        assert is_mounted or path.name in others, path
        assert all(line.count("`") % 2 == 0 for line in text.splitlines()), (path, "lines are stripped when served")
    for path in (STATIC / "css").glob("*.css"):
        assert "!important" not in path.read_text(), path
        assert path.name == "tokens.css" or not re.search(r"#[0-9a-f]{3,8}\b", path.read_text()), path


@pytest.fixture(scope="module")
def collected(tmp_path_factory: pytest.TempPathFactory) -> ManifestStaticStorage:
    """The storage of our static files, collected as an installation does."""
    folder = tmp_path_factory.mktemp("static")
    storage = ManifestStaticStorage(location=folder)
    files = [p.relative_to(STATIC).as_posix() for p in STATIC.rglob("*") if p.suffix in {".css", ".js", ".svg"}]
    source = StaticFilesStorage(location=STATIC)
    for name in files:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes((STATIC / name).read_bytes())
    for name, _, done in storage.post_process({name: (source, name) for name in files}):
        assert not isinstance(done, Exception), (name, done)
    return storage


def test_what_pages_ask_for_is_compressed(collected: ManifestStaticStorage) -> None:
    folder = Path(collected.location)
    compressed = {path.relative_to(folder).as_posix().removesuffix(".br") for path in folder.rglob("*.br")}
    assert {collected.stored_name(name) for name in ("css/site.css", "js/main.js", "js/rate.js")} <= compressed
    assert compressed <= {*collected.hashed_files.values()}


def test_hashed_names_reach_into_the_style_sheet_and_the_modules(collected: ManifestStaticStorage) -> None:
    css = Path(collected.path(collected.stored_name("css/site.css"))).read_text()
    assert len(re.findall(r'@import url\("[^"]+\.[0-9a-f]{12}\.css"\) layer\(\w+\);', css)) == css.count("@import url")
    js = Path(collected.path(collected.stored_name("js/main.js"))).read_text()
    assert len(re.findall(r'from "[./\w]+\.[0-9a-f]{12}\.js";', js)) == js.count(' from "')
