"""Results of chosen options as they were when a file had one criterion: they are the same, and stay readable."""

import json
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from analysis.methods import ResponsesFile
from analysis.methods.choice import Choice
from analysis.methods.settings import from_protocol
from analysis.questions.reliability import measure_reliability
from analysis.results.exports import table_files
from analysis.results.reading import read_result
from analysis.results.result import VERSION
from analysis.results.stored import document_of

REPORTS = sorted((Path(__file__).parents[1] / "data" / "choice").iterdir())

OF_WORKERS = ("n_left_out", "worker_test", "workers")


@pytest.fixture(params=REPORTS, ids=lambda path: path.stem)
def before(request):
    """Answers, options, and the report, the tables and the further files that they gave."""
    return json.loads(request.param.read_text())


def test_answers_on_one_criterion_have_the_report_that_they_had(before, tmp_path):
    path = tmp_path / "answers.csv"
    path.write_text(before["answers"])
    method, settings = Choice(), replace(from_protocol("option-selection"), options=before["options"])
    data = method.read(ResponsesFile(path), settings)
    report = document_of(method.analyse(data, settings))
    assert len(report.pop("worker_table")) == len(data.rows.workers)  # reports of before had none
    assert report.pop("version") == VERSION
    report["summary"] = {name: part for name, part in report["summary"].items() if name not in OF_WORKERS}
    of_workers = before["report"].pop("agreement")  # a question's answer now
    assert_same(report, before["report"])
    measured = measure_reliability(method.judgements(data, settings)).criteria[0]
    for who, key in product(("between", "within"), ("n_items", "n_judgements", "same")):
        known = of_workers and of_workers[who][key]
        shared = getattr(measured, who)
        number = {**vars(shared), **shared.coefficients}[key]
        assert number == (pytest.approx(known) if known is not None else number)
    assert method.files(data) == before["files"]


def test_reports_of_before_have_the_tables_that_they_had(before):
    tables = dict(table_files(read_result(before["report"])))
    agreement = {name: tables.pop(name) for name in [*tables] if name.startswith("agreement.")}
    known = {name: table for name, table in before["tables"].items() if not name.startswith("worker-agreement.")}
    assert tables == known
    assert bool(agreement) == (len(known) < len(before["tables"]))


def assert_same(found, known):
    """Compare JSON; numbers may differ in their last digits on another processor."""
    if isinstance(known, dict):
        assert found.keys() == known.keys()
        found, known = [found[key] for key in known], list(known.values())
    if isinstance(known, list):
        assert len(found) == len(known)
        for one, other in zip(found, known, strict=True):
            assert_same(one, other)
    else:
        assert type(found) is type(known)
        assert found == (pytest.approx(known, rel=1e-9, abs=1e-12) if isinstance(known, float) else known)
