"""A statistic in one module is on the run's page, in CSV, LaTeX, JSON, figures, the package and the terminal."""

import io
import json
import re
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.conf import settings as django_settings
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from analysis.methods.study import Method, list_methods
from analysis.methods.study.study import Study
from analysis.models import AnalysisRun
from analysis.results.result import Result
from analysis.results.sections import Column, Figure, Output, Picture, Range, Section, Table, Theme
from tests.analysis.conftest import ratings_csv
from tests.results import sections_of, tables_of


class Spread(Method):
    """How far the scores of each system are apart."""

    slug = "spread"

    def summarise(self, study: Study) -> dict[str, Any]:
        of_system = [study.ratings.scores[study.ratings.system == code] for code in study.order]
        spread = [float(np.ptp(scores)) for scores in of_system]
        return {"spread": dict(zip([study.loaded.systems[code] for code in study.order], spread, strict=True))}

    def sections(self, result: Result) -> list[Section]:
        found = result.own_summary.get(self.slug)
        if not found:
            return []

        finding = f"The scores of {max(found, key=found.get)} are spread most."
        columns = [Column("system"), Column("spread & more", 1)]
        table = Table("spread", "Spread", "Largest less least score.", columns, [list(row) for row in found.items()])
        figure = Figure(
            "spread-bars", "Bars of spread", Picture.of(draw_bars, [*found.items()]), "A bar for each system."
        )
        return [Section(self.slug, "Spread of scores", finding, [table], [figure])]


def draw_bars(spread: list[tuple[str, float]], theme: Theme):
    figure, axes = theme.canvas(width=4, height=2)
    axes.barh([name for name, _ in spread], [size for _, size in spread], color=theme.accent)
    return figure


@pytest.fixture(autouse=True)
def with_spread(settings) -> None:
    settings.EVALSITE_METHODS = [*settings.EVALSITE_METHODS, f"{__name__}.Spread"]


@pytest.fixture
def run(upload, start) -> AnalysisRun:
    return start(upload(ratings_csv(n_sources=6)))


def test_a_section_is_on_the_page_and_in_every_download(run: AnalysisRun, owner_client: Client) -> None:
    found = run.report["summary"]["spread"]
    assert list(found) == ["alder", "birch", "cedar"]

    page = owner_client.get(reverse("analysis:section", args=[run.pk, "spread"])).text
    assert '<h2 id="spread">Spread of scores <a class="anchor" href="#spread"' in page and "are spread most." in page
    assert "spread &amp; more" in page and f">{found['alder']:.1f}</td>" in page
    assert reverse("analysis:run_file", args=[run.pk, "figures/spread-bars.svg"]) in page
    assert 'width="384" height="192"' in page, "4 by 2 inches, so that nothing moves when the figure comes"

    listed = owner_client.get(reverse("analysis:downloads", args=[run.pk])).text
    folder = Path(django_settings.MEDIA_ROOT) / run.folder
    for name in (
        "tables/spread.csv",
        "tables/spread.tex",
        *(f"figures/spread-bars.{s}" for s in ("svg", "pdf", "png")),
    ):
        url = reverse("analysis:run_file", args=[run.pk, name])
        assert url in listed, name
        assert len(owner_client.get(url).getvalue()) > 50
    rows = (folder / "tables/spread.csv").read_text().split()[-3:]
    assert rows == [f"{name},{value}" for name, value in found.items()]
    assert rf"alder & {found['alder']:.1f} \\" in (folder / "tables/spread.tex").read_text()
    assert r"spread \& more" in (folder / "tables/spread.tex").read_text()
    assert json.loads((folder / "report.json").read_text())["summary"]["spread"] == found

    with zipfile.ZipFile(io.BytesIO((folder / "package.zip").read_bytes())) as package:
        assert json.loads(package.read("summary.json"))["spread"] == found
        assert package.read("tables/spread.csv") == (folder / "tables/spread.csv").read_bytes()
        assert package.read("tables/spread.tex") == (folder / "tables/spread.tex").read_bytes()


@pytest.mark.parametrize(
    ("format_", "said"), [("table", "Largest less least"), ("latex", r"spread \& more"), ("json", '"spread": {')]
)
def test_a_section_is_printed(tmp_path: Path, format_: str, said: str) -> None:
    path, out = tmp_path / "ratings.csv", io.StringIO()
    path.write_bytes(ratings_csv(n_sources=6))
    call_command("analyse", path, protocol="mrc-adequacy", format=format_, stdout=out, stderr=io.StringIO())
    assert said in out.getvalue()


def test_results_without_the_section_are_shown(run: AnalysisRun, owner_client: Client) -> None:
    del run.report["summary"]["spread"], run.report["sections"]
    run.save()
    page = owner_client.get(reverse("analysis:run", args=[run.pk]))
    assert page.status_code == 200 and "Spread of scores" not in page.text


_AGREE = ("intra-rater", "inter-rater", "agreement", "tolerance", "halves")
_SURVIVE = ("survival", "alpha", "without-worker")
_SURVIVAL_TABLES = ("sensitivity", "z-by-alpha", "z-without-a-worker")
_CORE_TABLES = ("core-statistics", "hits-and-minutes")
_AGREEMENT_TABLES = ("inter-rater", "agreement", "tolerance", "reliability-by-raters")


def test_todays_results_are_sections_of_these_methods(run: AnalysisRun) -> None:
    assert [method.slug for method in list_methods()] == [
        "direct_assessment",
        "recommended",
        "core",
        "dialogue",
        "replies",
        "contrasts",
        "corpus",
        "pools",
        "between_criteria",
        "spread",
    ]
    slugs = [section.slug for section in sections_of(run.report)]
    assert slugs == [
        "ranking",
        "raw",
        "significance",
        "workers",
        "p-values",
        "boxes",
        "recommended",
        "core",
        "spread",
        *_AGREE,
        *_SURVIVE,
    ]
    names = [table.name for table in tables_of(run.report, Output.FILES)]
    in_files = ["systems", "systems-compact", "systems-raw", "significance-overall", "pairs", "workers"]
    assert names == [
        *in_files,
        "recommended",
        "procedures",
        "rank-intervals",
        *_CORE_TABLES,
        "spread",
        *_AGREEMENT_TABLES,
        *_SURVIVAL_TABLES,
    ]
    assert len(names) == len(set(names))


def test_a_page_shows_ranges_p_values_minus_and_dashes(run: AnalysisRun, owner_client: Client, monkeypatch) -> None:
    columns = [Column("system"), Column("p", 4, is_p=True), Column("z"), Column("range", 1), Column("n")]
    rows = [["<b>a</b>", 0.0312, -0.5, Range(1.0, 2.0), 1234], ["b", None, None, Range(None, None), None]]
    odd = Section("odd", "Odd", tables=[Table("odd", "Odd", "All kinds.", columns, rows, frozenset({0}))])
    monkeypatch.setattr(Spread, "sections", lambda self, result: [odd])
    del run.report["sections"]  # as an earlier version stored it
    run.save()
    page = owner_client.get(reverse("analysis:section", args=[run.pk, "odd"])).text
    table = page[page.index("All kinds.") :].split("</table>")[0]
    assert "&lt;b&gt;a&lt;/b&gt;" in table and 'class="cluster-end"' in table
    cells = [cell.split("</td>")[0] for cell in re.split(r'<td class="num" data-label="[^"]*">', table)[1:]]
    assert cells == [".0312", "−0.500", "1.0–2.0", "1,234", "–", "–", "–", "–"]
