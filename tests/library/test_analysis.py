"""Analyses in a notebook: tables for other libraries, figures, questions, and errors."""

import csv
import doctest
import inspect
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import evalsite as ev
from evalsite.library import analysis, data, frames, measures, planning
from tests.methods.test_by_groups import PROTOCOLS, rows_of

EXAMPLES = Path(__file__).parents[2] / "examples"
SCORES = [
    ("ann", "alpha", "s1", 2),
    ("ann", "alpha", "s2", 3),
    ("ann", "beta", "s1", 4),
    ("ann", "beta", "s2", 5),
    ("bo", "alpha", "s1", 2),
    ("bo", "alpha", "s2", 2),
    ("bo", "beta", "s1", 4),
    ("bo", "beta", "s2", 5),
    ("cy", "alpha", "s1", 1),
    ("cy", "alpha", "s2", 3),
    ("cy", "beta", "s1", 5),
    ("cy", "beta", "s2", 4),
]
ROWS = [dict(zip(("worker", "system", "source", "score"), row, strict=True)) for row in SCORES]


@pytest.fixture(scope="module")
def result() -> ev.Analysis:
    return ev.analyse(EXAMPLES / "ratings.csv", "mrc-adequacy")


@pytest.mark.parametrize("module", [analysis, data, frames, measures, planning], ids=lambda module: module.__name__)
def test_examples_of_docstrings_run(module: ModuleType, tmp_path: Path) -> None:
    found = doctest.testmod(module, extraglobs={"SCORES": SCORES, "FOLDER": tmp_path}, optionflags=doctest.ELLIPSIS)
    assert found.attempted and not found.failed


def test_every_name_is_documented_and_listed() -> None:
    assert sorted(ev.__all__) == ev.__all__
    for name in ev.__all__:
        assert name in dir(ev)
        assert inspect.getdoc(getattr(ev, name)), name
    with pytest.raises(AttributeError, match="no attribute 'analyze'"):
        ev.analyze  # noqa: B018


def run_alone(script: str, folder: Path) -> str:
    """Run a script in a process of its own, with neither settings nor programs; return what it prints."""
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=folder,
        env={"PYTHONPATH": str(EXAMPLES.parent), "PATH": ""},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_script_needs_neither_settings_nor_a_database(tmp_path: Path) -> None:
    script = (
        "import sys, evalsite as ev\n"
        "assert not {'django', 'numpy', 'analysis'} & sys.modules.keys(), 'the import is light'\n"
        f"result = ev.analyse({str(EXAMPLES / 'ratings.csv')!r}, 'mrc-adequacy')\n"
        "result.figure().save('ranking.png')\n"
        "from django.conf import settings\n"
        "assert not settings.configured\n"
        "print(result.findings[0])\n"
    )
    assert run_alone(script, tmp_path).startswith("human is the best of 6 systems")
    assert (tmp_path / "ranking.png").read_bytes().startswith(b"\x89PNG")


def test_a_first_analysis_imports_nothing_that_it_does_not_need(tmp_path: Path) -> None:
    for protocol in PROTOCOLS:
        rows = list(rows_of(protocol))
        (tmp_path / f"{protocol}.json").write_text(json.dumps(rows, default=int))
        with (tmp_path / f"{protocol}.csv").open("w", newline="") as stream:
            table = csv.DictWriter(stream, list(rows[0]))
            table.writeheader()
            table.writerows(rows)
    script = (
        "import sys, evalsite as ev\n"
        f"for protocol in {PROTOCOLS!r}:\n"
        "    for suffix in ('json', 'csv'):\n"
        "        data = ev.read(f'{protocol}.{suffix}', protocol)\n"
        "        test = {} if protocol == 'option-selection' else {'worker_test': 'none'}\n"
        "        assert ev.analyse(data, **test).systems.rows\n"
        "print(*sys.modules)\n"
    )
    imported = set(run_alone(script, tmp_path).split())
    assert {"numpy", "pyarrow", "scipy.special"} <= imported
    assert not imported & {
        *("pandas", "polars", "matplotlib", "openpyxl", "boto3", "botocore", "httpx", "celery", "rest_framework"),
        *("scipy.stats", "scipy.spatial", "psycopg", "PIL", "fontTools", "markdown_it", "IPython"),
    }


def test_the_rest_of_an_analysis_is_made_when_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    progress = calls.append
    lazy = ev.analyse(EXAMPLES / "ratings.csv", "mrc-adequacy", progress=progress)
    assert lazy.findings and lazy.systems.rows and lazy.figure().name == "ranking"
    assert "Do workers agree?" not in calls
    assert lazy.reliability().alpha is not None
    assert calls.count("Do workers agree?") == 1
    assert lazy.tables and calls.count("Do workers agree?") == 1
    at_once = ev.analyse(lazy.data, brief=False)
    assert at_once.findings == lazy.findings and at_once.systems.rows == lazy.systems.rows
    assert [table.rows for table in at_once.tables] == [table.rows for table in lazy.tables]


def test_tables_become_those_of_other_libraries(result: ev.Analysis) -> None:
    systems = result.systems
    scores = systems["score"]
    assert systems.to_pandas().set_index("system")["score"].tolist() == scores
    assert systems.to_polars()["score"].to_list() == scores
    assert systems.to_arrow()["score"].to_pylist() == scores
    assert r"\begin{tabular}{lrrrrrrr}" in systems.to_latex()
    assert systems.to_markdown().splitlines()[1] == "|" + "---|" * 8
    assert systems.to_csv().splitlines()[0] == "system,score,low,high,rank,best_rank,worst_rank,n"
    assert "<td>human</td>" in systems._repr_html_()
    assert {row["system"]: row["rank"] for row in systems}["human"] == 1
    with pytest.raises(KeyError, match=r"no column “z”\. The columns are: system, score"):
        systems["z"]


def test_every_table_of_a_result_becomes_that_of_any_library(result: ev.Analysis) -> None:
    for table in result.tables:
        assert len(table.to_pandas()) == len(table.to_polars()) == table.to_arrow().num_rows == len(table)
        assert table.to_markdown().count("\n") == len(table) + 1


def test_names_with_marks_of_html_and_markdown_are_shown_as_they_are() -> None:
    frame = ev.Frame.of("names", {"system": ["<b>a|b</b>"]})
    assert "<td>&lt;b&gt;a|b&lt;/b&gt;</td>" in frame._repr_html_()
    assert r"<b>a\|b</b>" in frame.to_markdown()


def test_figures_are_drawn_in_a_notebook_and_saved(result: ev.Analysis, tmp_path: Path) -> None:
    assert "<svg" in result.figure()._repr_svg_()
    assert result.figure("ranking").save(tmp_path / "ranking.pdf").read_bytes().startswith(b"%PDF")
    with pytest.raises(KeyError, match=r"no figure “rankings”\. There are: ranking, "):
        result.figure("rankings")


def test_questions_are_answered_or_refused_in_a_sentence(result: ev.Analysis) -> None:
    reliability = result.reliability()
    assert reliability.alpha is not None and 0.4 < reliability.alpha < 0.6
    assert reliability.alpha == ev.agreement(EXAMPLES / "ratings.csv", "mrc-adequacy").alpha
    assert result.sensitivity().without_worker.n_workers == sum(result.workers["counts"])
    brief = ev.analyse(result.data, brief=True)
    assert brief.systems.rows == result.systems.rows
    with pytest.raises(ev.DomainError, match="was not asked"):
        brief.reliability()


def test_an_analysis_is_compared_with_one_of_other_settings(result: ev.Analysis) -> None:
    strict = ev.analyse(result.data, alpha=0.001)
    assert result.compare(result).overall.pearson == pytest.approx(1)
    assert 0.9 < (result.compare(strict).overall.pearson or 0) < 1
    with pytest.raises(ev.DomainError, match="one response method"):
        result.compare(ev.analyse(ROWS))


def test_groups_are_named_by_a_column(result: ev.Analysis) -> None:
    grouped = ev.analyse(result.data, by="hit")
    assert grouped.to_json()["groups"][0]["by"] == "hit"


def test_what_a_method_would_not_use_is_refused() -> None:
    with pytest.raises(ev.DomainError, match="“unit” says nothing about ordinal"):
        ev.analyse(ROWS, unit="output")
    with pytest.raises(ev.DomainError, match="no protocol “likerd”"):
        ev.read(ROWS, "likerd")


def test_a_folder_has_what_the_command_writes(result: ev.Analysis, tmp_path: Path) -> None:
    folder = result.write(tmp_path / "out", figures=False)
    assert json.loads((folder / "report.json").read_text())["findings"] == result.findings
    assert (folder / "tables/systems.csv").read_bytes().decode() == result.table("systems").to_csv()


def test_a_plan_learns_from_a_pilot() -> None:
    found = ev.plan(systems=4, workers=20, difference=10, pilot=EXAMPLES / "ratings.csv", simulations=20)
    assert 0 < found.power <= 1 and found.document["pilot"]["workers_counted"] == 35
    assert found.tables[0].columns[0] == "workers"
    with pytest.raises(ev.DomainError, match="worker test"):
        ev.plan(systems=4, workers=20, difference=10, items=3, degraded=1, simulations=20)
