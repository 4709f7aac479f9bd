"""Hostile names of systems, workers, sources, criteria and campaigns, and comments: no file or page runs them."""

import csv
import io
import re
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import openpyxl
import pytest
from django.test import Client, override_settings
from django.urls import reverse

from analysis.results.exports import escape_latex
from analysis.results.paper.heds import to_markdown
from analysis.results.paper.texts import to_latex
from annotation.models import Assignment, Worker
from campaigns.models import Campaign, Criterion, Source, System
from evalsite.accounts.models import User
from evalsite.lib.tables.writing import write_csv
from tests.analysis.campaigns import analysed, rated_campaign
from tests.conftest import make_owner

HOSTILE = (
    "=cmd|' /C calc'!A0",
    '@SUM(1+1)*HYPERLINK("http://evil.example")',
    "\t=1+1",
    "\r=1+1",
    "+1-2",
    "＝1+1",
    r"\input{/etc/passwd}",
    r"\write18{id}",
    "^^5cinput{x}",
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "[click](javascript:alert(1))",
    "![x](https://evil.example/p.png)",
    r"`\input{x}`{=latex}",
    "a\n\n\\input{x}",
)
_FORMULA = re.compile(r"[\t\r\n]|\s*[=+\-@＝＋－＠]")
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?(e[+-]?\d+)?")
_TEX = re.compile(r"\\(input|write|include|immediate|openout)\b|\^\^")
_HTML = re.compile(r"<script>alert|<img src=x|href=\"javascript:|src=\"https://evil", re.IGNORECASE)


def named(k: int, among: Sequence[str] = HOSTILE) -> str:
    """Return a hostile name of which each number has its own."""
    return f"{among[k % len(among)]} {k}"


def rename(rows: Iterable[Any], field: str, among: Sequence[str] = HOSTILE) -> None:
    for k, row in enumerate(rows):
        setattr(row, field, named(k, among))
        row.save(update_fields=[field])


# --- What must not be in a file


def csv_faults(content: bytes) -> Iterator[str]:
    for row in csv.reader(io.StringIO(content.decode("utf-8-sig"), newline="")):
        yield from (cell for cell in row if _FORMULA.match(cell) and not _NUMBER.fullmatch(cell))


def xlsx_faults(content: bytes) -> Iterator[str]:
    """Yield formulas and links; a cell of the type text is not run, whatever it begins with."""
    book = openpyxl.load_workbook(io.BytesIO(content))
    cells = [cell for sheet in book for row in sheet.iter_rows() for cell in row]
    yield from (f"{cell.coordinate}: {cell.value}" for cell in cells if cell.data_type == "f" or cell.hyperlink)


def markdown_faults(content: bytes) -> Iterator[str]:
    """Yield what Markdown of any kind would take for HTML, a link, an image, code, or raw TeX, and is not our own."""
    text = content.decode()
    for pattern in (r"(?<!\\)<(?!https://|/?br\b)", r"(?<!\\)\]\(", r"(?<!\\)`", r"(?<!\\)\\[A-Za-z]"):
        yield from (text[max(0, found.start() - 20) : found.end() + 30] for found in re.finditer(pattern, text))


def tex_faults(content: bytes) -> Iterator[str]:
    yield from (found[0] for found in _TEX.finditer(content.decode()))


def html_faults(content: bytes) -> Iterator[str]:
    yield from (found[0] for found in _HTML.finditer(content.decode()))


def zip_faults(content: bytes) -> Iterator[str]:
    with zipfile.ZipFile(io.BytesIO(content)) as package:
        for name in package.namelist():
            yield from (f"{name}: {fault}" for fault in faults(name, package.read(name)))


_CHECKS = {
    ".csv": csv_faults,
    ".xlsx": xlsx_faults,
    ".tex": tex_faults,
    ".md": markdown_faults,
    ".svg": html_faults,
    ".html": html_faults,
    ".zip": zip_faults,
}


def faults(name: str, content: bytes) -> list[str]:
    """Return what in a file would be run, by the kind of file that its name says."""
    check = _CHECKS.get(f".{name.rpartition('.')[2]}")
    return list(check(content)) if check else []


# --- A campaign in which every name is hostile


@pytest.fixture(scope="module")
def campaign(module_db: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Campaign]:
    with override_settings(MEDIA_ROOT=tmp_path_factory.mktemp("media")):
        campaign = rated_campaign(make_owner())
        trimmed = [name for name in HOSTILE if name == name.strip()]  # as forms and imports leave names
        rename(System.objects.filter(campaign=campaign).order_by("pk"), "name", trimmed)
        rename(Criterion.objects.filter(campaign=campaign).order_by("pk"), "name", trimmed)
        rename(Criterion.objects.filter(campaign=campaign).order_by("pk"), "statement")
        rename(Source.objects.filter(campaign=campaign).order_by("pk"), "name")
        for k, worker in enumerate(Worker.objects.order_by("pk")):
            Worker.objects.filter(pk=worker.pk).update(key=f"{campaign.public_id}:{named(k)}")
        rename(Assignment.objects.filter(campaign=campaign).order_by("pk"), "feedback")
        campaign.name, campaign.study_name = HOSTILE[0], r"\input{x} <script>alert(1)</script>"
        campaign.contact = HOSTILE[-2]
        campaign.save()
        analysed(campaign)
        yield campaign


@pytest.fixture
def browser(campaign: Campaign) -> Client:
    client = Client()
    client.force_login(User.objects.get(memberships__campaign=campaign))
    return client


def body(response: Any) -> bytes:
    return b"".join(response.streaming_content) if response.streaming else response.content


def links_on(browser: Client, *pages: str) -> set[str]:
    """Return the addresses of files that pages link to, with those by workers' own ids."""
    texts = [browser.get(page).text for page in pages]
    found = {link.replace("&amp;", "&") for text in texts for link in re.findall(r'href="(/[^"#]+)"', text)}
    return {link for link in found if re.search(r"\.(csv|xlsx|tex|md|json|jsonl|zip|svg|txt|tsv)(\?|$)", link)}


def test_no_file_of_a_campaign_runs_what_names_say(browser: Client, campaign: Campaign) -> None:
    names = ("monitoring:export", "analysis:campaign_downloads", "analysis:campaign_datasheet", "crowd:payments")
    pages = [reverse(name, args=[campaign.public_id]) for name in names]
    found = links_on(browser, *pages)
    found |= {reverse(f"{name}_file", args=[campaign.public_id]) for name in ("campaigns:audit",)}
    suffixes = {re.search(r"\.(\w+)(?:\?|$)", link)[1] for link in found}  # type: ignore[index]
    assert {"csv", "xlsx", "md", "zip"} <= suffixes, suffixes
    drawings = sorted(link for link in found if ".svg" in link)
    for link in sorted(found - {*drawings[2:]}):  # each takes long, and all are drawn alike
        response = browser.get(link)
        assert response.status_code == 200, link
        assert not (wrong := faults(link.partition("?")[0], body(response))), (link, wrong[:3])
        assert response["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(
    "name",
    [
        "campaigns:campaign",
        "campaigns:systems",
        "campaigns:criteria",
        "monitoring:progress",
        "monitoring:assignments",
        "monitoring:feedback",
        "analysis:campaign_results",
        "analysis:campaign_pairs",
        "analysis:campaign_live_workers",
        "analysis:campaign_workers",
        "analysis:campaign_downloads",
        "analysis:campaign_datasheet",
        "analysis:campaign_downloads",
        "crowd:payments",
    ],
)
def test_no_page_runs_them(browser: Client, campaign: Campaign, name: str) -> None:
    response = browser.get(reverse(name, args=[campaign.public_id]))
    assert response.status_code == 200
    assert not list(html_faults(response.content))
    if name == "analysis:campaign_downloads":
        assert not [
            text for text in re.findall(r"<(?:pre|textarea)[^>]*>(.*?)</", response.text, re.S) if _TEX.search(text)
        ]


# --- Writers alone, with each of them


@pytest.mark.parametrize("name", HOSTILE)
def test_every_writer_says_a_hostile_name_as_text(name: str) -> None:
    text = io.StringIO(newline="")
    write_csv(text, [name, "n"], [[name, 1], [f" {name}", -1.5]])
    assert not list(csv_faults(text.getvalue().encode()))
    for written in (escape_latex(name), to_latex(name)):
        assert not list(tex_faults(written.encode()))
        assert not re.search(r"(?<!\\)[%$#_&]", written.replace(r"$\alpha$", "")), written
    assert not list(markdown_faults(to_markdown(name, []).encode()))


# --- The checks can fail


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", b"x\n=cmd\n"),
        ("a.csv", b'x\n"\t=1+1"\n'),
        ("a.csv", "x\n＝1+1\n".encode()),
        ("a.tex", rb"\begin{tabular}{l}\input{x}"),
        ("a.tex", b"^^5cinput"),
        ("a.md", b"# [x](javascript:alert(1))"),
        ("a.md", b"# <script>"),
        ("a.md", rb"# \input{x}"),
        ("a.svg", b"<svg><script>alert(1)</script></svg>"),
    ],
)
def test_what_would_run_is_found(name: str, content: bytes) -> None:
    assert faults(name, content)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as package:
        package.writestr(name, content)
    assert faults("a.zip", stream.getvalue())


def test_a_formula_in_a_workbook_is_found() -> None:
    book = openpyxl.Workbook()
    book.active["A1"] = "=1+1"
    stream = io.BytesIO()
    book.save(stream)
    assert faults("a.xlsx", stream.getvalue())
