"""What is made of a stored report does not depend on the order of its keys, which PostgreSQL does not keep."""

import csv
import io
import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.apps import apps
from django.db import models
from matplotlib import rc_context
from matplotlib.figure import Figure as Drawing

from analysis.methods import DEFAULT, ResponsesFile, get_method, list_response_methods
from analysis.methods.settings import AnalysisSettings, Cost, RatedCriterion, from_protocol
from analysis.metrics.loading import SegmentScores, load_segment_scores
from analysis.planning.methods import PLANNED
from analysis.planning.methods.planned import SimulatedMethod
from analysis.planning.methods.votes import simulate_votes
from analysis.planning.plans import PlanSettings, make_plan
from analysis.planning.sections import findings_of, sections_of_plan
from analysis.results.anonymity import anonymous_report, workers_of
from analysis.results.compare import compare_results, comparison_sections
from analysis.results.compare_several import DatedResult, several_sections
from analysis.results.exports import LIGHT, table_files, to_latex, to_text
from analysis.results.figures import fonts_for
from analysis.results.paper.texts import paper_texts
from analysis.results.reading import completed, printed, read_result
from analysis.results.replication import compare_runs
from analysis.results.stored import document_of, result_of
from analysis.stats.designs import PlannedDesign
from campaigns.contracts.result_pages import PAGE_OF
from evalsite.lib.typed_json import to_json
from tests.key_order import check_folder, reads_by_order
from tests.results import analyse_fully, sections_of
from tests.stored import as_jsonb_keeps, stored

DESIGN = PlannedDesign(4, 10, 30, 12, n_degraded=4, n_repeat=3, workers_per_hit=2)
FIRST = {
    "preference": 70,
    "ranking": 70,
    "best_worst": 70,
    "ordinal": 0.5,
    "choice": 10,
    "ssa": 10,
    "magnitude": 1.5,
    "spans": 1.0,
}
"""Differences of systems, as each method says them."""
SVG = {"svg.hashsalt": "the same", "svg.fonttype": "none"}
NOW = datetime(2026, 1, 1, tzinfo=UTC)
EXAMPLES = Path(__file__).parents[2] / "examples"


def everything(report: dict[str, Any]) -> dict[str, Any]:
    """Return all that pages, files, papers and scripts are made of."""
    result = read_result(report)
    sections = result.sections
    tables = [table for section in sections for table in section.tables]
    return {
        "sections": [repr(replace(section, figures=())) for section in sections],
        "figures": [(figure.name, figure.alt, figure.caption) for section in sections for figure in section.figures],
        "pages": [[section.slug for section in result.sections_on(page)] for page in PAGE_OF],
        "findings": result.findings,
        "headline": result.headline,
        "paper": [text.plain for text in paper_texts(result)],
        "sentences": repr(result.paper),
        "to copy": [to_latex(table) for table in result.tables_to_copy],
        "text": [to_text(table) for table in tables],
        "files": list(table_files(result)),
    }


def drawn(report: dict[str, Any]) -> dict[str, bytes]:
    """Return every figure as it is drawn, but without a layout and with texts as such: these take most of the time."""
    figures = [figure for section in sections_of(report) for figure in section.figures]
    with fonts_for(json.dumps(report, ensure_ascii=False)), rc_context(SVG):
        return {figure.name: _as_svg(figure.draw(LIGHT)) for figure in figures}


def _as_svg(figure: Drawing) -> bytes:
    figure.set_layout_engine(None)
    file = io.BytesIO()
    figure.savefig(file, format="svg", metadata={"Date": None})
    return file.getvalue()


def analysed(path: Path, protocol: str, **extras: Any) -> dict[str, Any]:
    """Return the report of a file, with what else is known of its outputs."""
    settings = from_protocol(protocol)
    if protocol.startswith("dialogue"):
        settings = replace(settings, personas={f"{name}p": name for name in "ABCDE"})
    if settings.method == DEFAULT:
        settings = replace(settings, cost=Cost(0.99, "USD"))
    method = get_method(settings.method)
    data = method.read(ResponsesFile(path, extras=extras), settings)
    return analyse_fully(method, data, settings, **{name: extras[name] for name in ("metrics",) if name in extras})


def edits_in(path: Path) -> Path:
    """Write outputs of three systems and what four workers made of them."""
    rng, rows = np.random.default_rng(4), ["worker,system,source,kind,output,edited,seconds"]
    for source in range(12):
        for k, system in enumerate(("alder", "birch", "cedar")):
            output = " ".join(f"word{n}" for n in range(10))
            for worker in ("ann", "bob", "cem", "dia"):
                changed = rng.random(10) < 0.1 + 0.15 * k
                words = zip(output.split(), changed, strict=True)
                edited = " ".join("other" if is_changed else word for word, is_changed in words)
                rows.append(f"{worker},{system},s{source},ordinary,{output},{edited},{rng.integers(5, 60)}")
    path.write_text("\n".join(rows) + "\n")
    return path


def simulated(slug: str, folder: Path) -> dict[str, Any]:
    """Return the report of a small campaign of a method, as its plan simulates it."""
    if slug == "edits":
        return analysed(edits_in(folder / "edits.csv"), "post-edit")
    return analyse_fully(get_method(slug), *responses_of(slug))


def responses_of(slug: str) -> tuple[Any, AnalysisSettings]:
    """Return the responses of a small campaign of a method, as its plan simulates it, and the settings."""
    planned = PLANNED[slug](FIRST.get(slug, 8), 5, 4)
    design = replace(DESIGN, worker_test="none")
    model = planned.model_for(design, None, None)
    rng = np.random.default_rng(3)
    if slug == "preference":
        data: Any = simulate_votes(design, model, 0.7, rng)
    else:
        assert isinstance(planned, SimulatedMethod)
        data = planned.simulate(design, model, rng)
    criteria = (RatedCriterion("quality"),)
    return data, AnalysisSettings("plan", criteria, design.worker_test, 0.05, method=slug)


def metrics_of(path: Path, ratings: Path) -> SegmentScores:
    """Write and read scores of three metrics of the outputs that were rated."""
    rng = np.random.default_rng(5)
    with ratings.open() as lines:
        outputs = sorted({(row["system"], row["source"]) for row in csv.DictReader(lines) if row["kind"] == "ordinary"})
    rows = [
        f"{metric},{system},{source},{ord(system[0]) % 7 + rng.normal(0, 2):.3f}"
        for metric in ("BLEU", "a longer name", "chrF")
        for system, source in outputs
    ]
    path.write_text("metric,system,source,score\n" + "\n".join(rows) + "\n")
    return load_segment_scores(path, has_metrics=True)


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    ratings = EXAMPLES / "ratings.csv"
    folder = tmp_path_factory.mktemp("responses")
    metrics = metrics_of(folder / "metrics.csv", ratings)
    found = {slug: stored(simulated(slug, folder)) for slug in METHODS if slug != DEFAULT}
    found[DEFAULT] = stored(analysed(ratings, "mrc-adequacy", metrics=metrics))
    again = stored(analysed(ratings, "mrc-adequacy"))
    again["replication"] = to_json(compare_runs(result_of(found[DEFAULT]), result_of(again)))
    return found | {"replication": again}


@pytest.fixture(scope="module")
def chats(shared_data: Path) -> dict[str, Any]:
    folder = shared_data / "dialogue-run1"
    return stored(analysed(folder / "ratings.csv", "dialogue-free", dialogues=folder / "dialogues.csv"))


METHODS = [method.slug for method in list_response_methods()]


@pytest.mark.parametrize("slug", [*METHODS, "replication"])
def test_whatever_is_made_of_a_report_is_the_same_whatever_the_order_of_its_keys(
    reports: dict[str, dict[str, Any]], slug: str
) -> None:
    fresh, kept = everything(reports[slug]), everything(as_jsonb_keeps(reports[slug]))
    for part, content in fresh.items():
        assert kept[part] == content, part
    report = reports[slug]
    assert printed(result_of(as_jsonb_keeps(report))) == printed(result_of(report))


@pytest.mark.parametrize("slug", METHODS)
def test_no_part_of_an_anonymous_report_names_a_worker(reports: dict[str, dict[str, Any]], slug: str) -> None:
    report = document_of(completed(result_of(reports[slug])))
    workers = workers_of(report)
    anonymous = json.dumps(anonymous_report(report, {name: f"hidden {k}" for k, name in enumerate(workers)}))
    assert workers and any(f'"{name}"' in json.dumps(report["sections"]) for name in workers)
    assert [name for name in workers if f'"{name}"' in anonymous] == []


@pytest.mark.parametrize("slug", [*METHODS, "replication"])
def test_figures_are_the_same_whatever_the_order_of_keys(reports: dict[str, dict[str, Any]], slug: str) -> None:
    assert drawn(reports[slug]) == drawn(as_jsonb_keeps(reports[slug]))


def test_chats_are_the_same_whatever_the_order_of_keys(chats: dict[str, Any]) -> None:
    assert everything(chats) == everything(as_jsonb_keeps(chats))
    assert drawn(chats) == drawn(as_jsonb_keeps(chats))


@pytest.mark.parametrize("slug", METHODS)
def test_comparisons_of_results_are_the_same_whatever_the_order_of_keys(
    reports: dict[str, dict[str, Any]], slug: str
) -> None:
    def compared(report: dict[str, Any]) -> list[str]:
        result = result_of(report)
        sections = comparison_sections(result, result, compare_results(result, result), is_independent=True)
        several = several_sections([DatedResult(name, NOW, result) for name in ("one", "two", "three")])
        return [repr(replace(section, figures=())) for section in (*sections, *several)]

    assert compared(reports[slug]) == compared(as_jsonb_keeps(reports[slug]))


@pytest.mark.parametrize("slug", list(PLANNED))
def test_a_plan_is_the_same_whatever_the_order_of_keys(slug: str) -> None:
    settings = PlanSettings(DESIGN, FIRST.get(slug, 8), n_simulations=2, method=slug, outputs_per_page=4)
    plan = stored(make_plan(settings))

    def shown(plan: dict[str, Any]) -> list[str]:
        return [*findings_of(plan), *(repr(replace(section, figures=())) for section in sections_of_plan(plan))]

    assert shown(plan) == shown(as_jsonb_keeps(plan))


# --- A check of the code

STORED_FIELDS = {
    field.attname
    for model in apps.get_models()
    for field in model._meta.get_fields()
    if isinstance(field, models.JSONField)
}
ALLOWED = {
    "analysis/management/commands/agreement.py": "the document of a command, which is not stored",
    "analysis/metrics/comparison.py": "the document of a command, which is not stored",
    "analysis/web/queries/campaigns.py": "rows of a table",
    "analysis/data/tools/mturk.py": "columns that somebody named on the command line",
    "analysis/web/forms/metrics.py": "fields that a query returned",
    "analysis/methods/choice_reading.py": "a check of each entry",
    "analysis/web/services/deletion.py": "rows to be changed, each by itself",
    "analysis/web/services/judges.py": "keywords of the call",
    "api/reference.py": "the schema, as it was made",
    "api/schema.py": "the schema, as it was made",
    "campaigns/services/chatbots.py": "keywords of the call",
    "campaigns/services/rows.py": "columns of the call",
    "campaigns/services/webhooks.py": "keywords of the call",
    "crowd/services/syncing/discrepancies.py": "fields that a platform made",
}
"""Modules whose objects are no stored JSON, or whose order says nothing."""


@pytest.mark.parametrize("app", ["analysis", "annotation", "api", "campaigns", "crowd", "desk", "evalsite"])
def test_no_row_heading_or_sentence_is_made_by_the_order_of_stored_keys(settings, app: str) -> None:
    found = check_folder(settings.BASE_DIR / app, STORED_FIELDS)
    assert [place for place in found if place.split(":")[0] not in ALLOWED] == []


@pytest.mark.parametrize(
    "line",
    [
        'return [criterion, *report["alpha"].values()]',
        'return [[name, value] for name, value in report["alpha"].items()]',
        'found = report.get("alpha")\n    return list(found.values())',
        "return [name for name, _ in run.report.items()]",
        'for of in report["criteria"]:\n        print(*of["icc"].values())',
    ],
)
def test_the_check_sees_rows_that_are_made_by_the_order_of_keys(line: str) -> None:
    assert reads_by_order(f"def rows(report: Report, run):\n    {line}\n", {"report"})


@pytest.mark.parametrize(
    "line",
    [
        'return [report["alpha"][level] for level in LEVELS]',
        'return {name: value for name, value in report["alpha"].items()}',
        'return sorted(report["alpha"].items())',
        'return sum(report["alpha"].values())',
        "return [name for name in LEVELS.values()]",
    ],
)
def test_the_check_allows_what_does_not_depend_on_the_order(line: str) -> None:
    assert not reads_by_order(f"def rows(report: Report, run):\n    {line}\n", {"report"})
