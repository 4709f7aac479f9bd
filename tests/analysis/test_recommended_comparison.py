"""The recommended comparison in words: on the page, in files, in print, beside the test of the studies."""

import io
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
from django.conf import settings as django_settings
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from analysis.data.ratings.loading import load_ratings
from analysis.methods.settings import from_json, from_protocol
from analysis.methods.study.report import report
from analysis.methods.study.study import run_study
from analysis.models import AnalysisRun
from analysis.results.procedures import ComparedPair
from analysis.results.sections import Output, Section
from analysis.stats import crossed
from tests.analysis.conftest import ratings_csv
from tests.results import sections_of, tables_of


def analysed(path: Path, content: bytes, **changes) -> dict:
    path.write_bytes(content)
    settings = from_protocol("mrc-adequacy")
    for name, value in changes.items():
        settings = type(settings)(**{**vars(settings), name: value})
    return report(run_study(load_ratings(path, criteria=settings.criterion_names), settings))


def section_of(document: dict) -> Section | None:
    return next((section for section in sections_of(document) if section.slug == "recommended"), None)


def rows_of(document: dict, name: str, output: Output = Output.FILES) -> list:
    return next(list(table.rows) for table in tables_of(document, output) if table.name == name)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ratings.csv"


def test_a_pair_has_a_conclusion_and_its_numbers(path: Path) -> None:
    document = analysed(path, ratings_csv(n_careful=6, n_sources=12))
    first, *_ = rows_of(document, "recommended")
    system, other, conclusion, difference, low, high, p, n_shared, in_studies = first
    assert (system, other, n_shared) == ("alder", "birch", 12)
    assert conclusion == "alder is better than birch" and in_studies == "the same"
    assert 0 < low < difference < high and p < 0.05
    assert rows_of(document, "rank-intervals") == [["alder", 1, 1], ["birch", 2, 2], ["cedar", 3, 3]]
    assert section_of(document).finding == (
        "3 of 3 pairs of systems differ. The test of the studies concludes the same of every pair."
    )
    assert rows_of(document, "recommended", Output.PAGE)[0] == [conclusion, difference, low, high, p, in_studies]


def three_workers() -> bytes:
    """Return ratings of which one worker of three likes birch: many, but of too few workers to show anything."""
    lines = ["worker,assignment,position,source,system,kind,criterion,score"]
    for w, liking in enumerate((0, 2, 26)):
        position = 0
        for source in range(30):
            for kind, system, score in (("ordinary", "alder", 50), ("ordinary", "birch", 50 + liking)):
                position += 1
                noisy = score + (17 * source + 7 * w + 5 * position) % 13
                lines.append(f"w{w},a{w},{position},s{source},{system},{kind},adequacy,{noisy}")
    return "\n".join(lines).encode()


def test_where_the_studies_test_concludes_otherwise_it_is_said(path: Path) -> None:
    document = analysed(path, three_workers(), preset="none")
    (row,) = rows_of(document, "recommended")
    assert row[2] == "birch and alder are not shown to differ"
    assert row[-1] == "birch is better"
    assert section_of(document).finding.endswith("The test of the studies concludes otherwise of 1.")
    assert rows_of(document, "rank-intervals") == [["birch", 1, 2], ["alder", 1, 2]]


def test_the_unit_changes_nothing(path: Path) -> None:
    by_rating, by_output = (
        analysed(path, ratings_csv(n_sources=6), unit=unit)["recommended"] for unit in ("rating", "output")
    )
    for mine, theirs in zip(by_rating["pairs"], by_output["pairs"], strict=True):
        assert mine["difference"] == pytest.approx(theirs["difference"]) and mine["p_holm"] == theirs["p_holm"]


def test_nobody_who_counts_leaves_pairs_that_cannot_be_compared(path: Path) -> None:
    content = ratings_csv(n_careful=1, n_sources=6)
    document = analysed(path, content)
    assert rows_of(document, "recommended")[0][2] == "alder and birch cannot be compared"
    assert section_of(document).finding.startswith("No two systems can be compared")


def test_while_ratings_come_it_is_valid_at_every_look(path: Path) -> None:
    once, watched = (
        analysed(path, ratings_csv(n_careful=6, n_sources=12), workers_planned=planned) for planned in (None, 6)
    )
    assert section_of(watched).finding.startswith(
        "Valid whenever you look: 3 of 3 pairs of systems are decided so far."
    )
    assert "Intervals and p hold at every look" in section_of(watched).tables[0].caption
    assert "hold for one look" in section_of(once).tables[0].caption
    for wide, narrow in zip(watched["recommended"]["pairs"], once["recommended"]["pairs"], strict=True):
        assert wide["difference"] == narrow["difference"] and wide["p_holm"] > narrow["p_holm"]
        assert wide["low"] < narrow["low"] < narrow["high"] < wide["high"]
    assert any(note.startswith("Valid whenever you look") for note in watched["notes"])


def test_too_few_workers_leave_pairs_undecided_so_far(path: Path) -> None:
    document = analysed(path, ratings_csv(n_careful=2, n_sources=12), workers_planned=30)
    assert document["recommended"]["n_decided"] == 0 and document["recommended"]["pairs"][0]["low"] is None
    assert rows_of(document, "recommended")[0][2] == "alder and birch are undecided so far"


@pytest.mark.parametrize(
    ("chosen", "title", "how"),
    [
        ("crossed", "crossed random effects", "mixed model"),
        ("permuted", "labels exchanged within sources", "exchanged"),
    ],
)
def test_another_procedure_may_be_chosen(path: Path, chosen: str, title: str, how: str) -> None:
    content = ratings_csv(n_careful=6, n_sources=12)
    usual, other = analysed(path, content), analysed(path, content, comparison=chosen)
    section = section_of(other)
    assert section.title == f"Comparison of systems: {title}" and how in section.tables_shown[0].caption
    assert section_of(usual).title == "Recommended comparison"
    for mine, theirs in zip(other["recommended"]["pairs"], usual["recommended"]["pairs"], strict=True):
        assert mine["p_holm"] == theirs["others"][chosen]["p_holm"] != theirs["p_holm"]
        assert mine["others"]["clustered"]["p_holm"] == theirs["p_holm"]
    assert other["settings"]["comparison"] == chosen != usual["settings"]["comparison"] == "clustered"


def test_settings_that_an_earlier_version_wrote_conclude_as_it_did() -> None:
    written = from_protocol("mrc-adequacy").to_json()
    assert from_json(written).comparison == "clustered"
    del written["comparison"]
    assert from_json(written).comparison == "studies"
    assert from_json(written).to_json() == written
    assert from_json({"criteria": ["adequacy"]}).comparison == "clustered"


def test_where_procedures_disagree_is_shown(path: Path) -> None:
    """Three workers, of whom one likes birch: only the studies' test is sure of a difference."""
    document = analysed(path, three_workers(), preset="none")
    (row,) = rows_of(document, "procedures", Output.PAGE)
    assert row[2:4] == ["no difference", "birch is better"]
    assert len(row) == len(rows_of(document, "procedures")[0]) == 6
    agreed = analysed(path, ratings_csv(n_careful=6, n_sources=12))
    assert len({*rows_of(agreed, "procedures")[0][2:]}) == 1
    assert not [table for table in tables_of(agreed, Output.PAGE) if table.name == "procedures"]


def test_a_procedure_that_is_not_made_for_so_many_ratings_says_so(path: Path, monkeypatch) -> None:
    monkeypatch.setattr(crossed, "MOST_EFFECTS", 2)
    content = ratings_csv(n_careful=6, n_sources=12)
    document = analysed(path, content, comparison="crossed")
    assert "up to 2 effects" in section_of(document).finding
    assert rows_of(document, "recommended")[0][2] == "alder and birch cannot be compared"
    assert document["recommended"]["pairs"][0]["others"]["clustered"]["p_holm"] < 0.05
    assert "up to 2 effects" in analysed(path, content)["recommended"]["refused"]["crossed"]


def test_while_ratings_come_the_recommended_one_is_used(path: Path) -> None:
    content = ratings_csv(n_careful=6, n_sources=12)
    one, other = (analysed(path, content, workers_planned=6, comparison=name) for name in ("clustered", "crossed"))
    assert one["recommended"] == other["recommended"]


def test_one_system_has_no_section(path: Path) -> None:
    assert section_of(analysed(path, ratings_csv(systems=("alder",)))) is None


def test_pages_and_print_have_the_first_pairs_of_many_systems_and_files_all(path: Path) -> None:
    document = analysed(path, ratings_csv(systems=[f"s{k:02}" for k in range(14)], n_sources=14))
    assert len(rows_of(document, "recommended")) == 91
    assert len(rows_of(document, "recommended", Output.PAGE)) == 66
    assert len(rows_of(document, "recommended", Output.TERMINAL)) == 66
    caption = section_of(document).tables_shown[0].caption
    assert caption.startswith("The first 66 of 91 pairs")


def test_who_wins_a_pair() -> None:
    pair = ComparedPair(systems=("a", "b"), difference=-0.4, p_holm=0.01, p_studies=(0.99, 0.01))
    assert pair.winner == pair.winner_in_studies == "b"
    assert replace(pair, difference=0.4).winner == "a"
    assert replace(pair, p_holm=0.05).winner is None and replace(pair, p_holm=None).winner is None
    assert replace(pair, p_studies=(None, None)).winner_in_studies is None


@pytest.fixture
def run(upload, start) -> AnalysisRun:
    return start(upload(ratings_csv(n_sources=7)))


def test_it_is_on_the_page_in_files_and_in_the_package(run: AnalysisRun, owner_client: Client) -> None:
    page = owner_client.get(reverse("analysis:pairs", args=[run.pk])).text
    assert '<h2 id="recommended">Recommended comparison' in page and "alder is better than cedar" in page
    assert "Ranks that each system may have" in page
    listed = owner_client.get(reverse("analysis:downloads", args=[run.pk])).text
    folder = Path(django_settings.MEDIA_ROOT) / run.folder
    for name in ("recommended", "rank-intervals"):
        assert reverse("analysis:run_file", args=[run.pk, f"tables/{name}.csv"]) in listed
        assert (folder / f"tables/{name}.tex").is_file()
    with zipfile.ZipFile(io.BytesIO((folder / "package.zip").read_bytes())) as package:
        assert package.read("tables/recommended.csv") == (folder / "tables/recommended.csv").read_bytes()
    assert "alder,cedar,alder is better than cedar," in (folder / "tables/recommended.csv").read_text()


def test_results_of_an_earlier_version_are_shown_without_it(run: AnalysisRun, owner_client: Client) -> None:
    del run.report["recommended"], run.report["sections"]
    run.save()
    page = owner_client.get(reverse("analysis:pairs", args=[run.pk]))
    assert page.status_code == 200 and "Recommended comparison" not in page.text
    assert "The tests of the studies" in page.text


def test_it_is_printed(path: Path) -> None:
    out = io.StringIO()
    path.write_bytes(ratings_csv(n_sources=6))
    call_command("analyse", path, protocol="mrc-adequacy", format="table", stdout=out, stderr=io.StringIO())
    assert "alder is better than cedar" in out.getvalue() and "best rank" in out.getvalue()
    options = {"protocol": "mrc-adequacy", "comparison": "permuted", "stderr": io.StringIO()}
    call_command("analyse", path, format="table", stdout=out, **options)
    assert "labels of the two systems are exchanged at random within sources" in out.getvalue()
