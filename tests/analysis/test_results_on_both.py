"""Pages and the API show the numbers of a stored result under their headings, on both databases."""

import html
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from django.conf import settings as django_settings
from django.test import Client
from django.urls import reverse

from analysis.methods.settings import Cost, from_protocol
from analysis.models import AnalysisRun
from analysis.templatetags.results import cell as cell_text
from tests.analysis.conftest import Start, finish, ratings_csv
from tests.databases import on_both
from tests.metrics.test_pages import scores_csv, send
from tests.results import sections_of

pytestmark = on_both


@pytest.fixture
def run(upload, start: Start, owner_client: Client) -> AnalysisRun:
    """A result with costs and scores of two metrics."""
    settings = replace(from_protocol("mrc-adequacy"), cost=Cost(0.99, "USD"))
    first = start(upload(ratings_csv(n_sources=8)), settings)
    send(owner_client, first, scores_csv())
    newest = AnalysisRun.objects.filter(ratings_file=first.ratings_file).select_related("ratings_file").first()
    return newest if newest.report else finish(newest)


def fresh(run: AnalysisRun) -> dict:
    """Return the report as it was written before it was stored."""
    return json.loads((Path(django_settings.MEDIA_ROOT) / run.folder / "report.json").read_text())


@pytest.mark.parametrize(
    ("page", "table"),
    [("reliability", "agreement"), ("metrics", "metrics"), ("metrics", "metric-segments"), ("workers", "cost")],
)
def test_a_page_shows_numbers_under_their_headings(
    run: AnalysisRun, owner_client: Client, page: str, table: str
) -> None:
    tables = [each for section in sections_of(fresh(run), page) for each in section.tables_shown]
    (expected,) = [each for each in tables if each.name == table]
    text = owner_client.get(reverse(f"analysis:{page}", args=[run.pk]), follow=True).text
    shown = html.unescape(text).split(f'aria-label="Table: {expected.title}"')[1].split("</table>")[0]
    cells = re.findall(r'<td class="num" data-label="([^"]*)">([^<]*)', shown)
    others = [place for place in range(len(expected.columns)) if place != expected.row_name]
    assert cells == [
        (expected.columns[place].name, cell_text(row[place], expected.columns[place]))
        for row in expected.rows
        for place in others
    ]


def test_the_api_gives_the_sections_of_the_fresh_report(run: AnalysisRun, owner_client: Client) -> None:
    expected: dict[str, list[object]] = {}
    for section in sections_of(fresh(run)):
        for table in section.tables:
            expected.setdefault(table.name, []).append(json.loads(json.dumps(table.rows)))
    given = [
        (table["name"], table["rows"])
        for section in owner_client.get(f"/api/v1/runs/{run.pk}/sections/").json()
        for table in section["tables"]
    ]
    assert {"agreement", "cost", "metrics", "metric-segments"} <= {name for name, _ in given}
    # Files name workers by hashes.
    assert [name for name, rows in given if name != "workers" and rows not in expected[name]] == []
