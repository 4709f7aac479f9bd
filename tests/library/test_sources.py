"""Responses from files, DataFrames, Arrow tables, datasets, dicts and lists: understood alike."""

import gzip
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import datasets
import pandas
import polars
import pyarrow
import pytest

import evalsite as ev

ROWS = [
    {"worker": worker, "system": system, "source": f"s{source}", "score": score + (source + len(worker)) % 2}
    for worker in ("ann", "bo", "cy", "dee")
    for system, score in (("alpha", 2), ("beta", 4))
    for source in range(5)
]
COLUMNS = {name: [row[name] for row in ROWS] for name in ROWS[0]}


def _csv(folder: Path) -> Path:
    path = folder / "ratings.csv"
    pandas.DataFrame(ROWS).to_csv(path, index=False)
    return path


def _packed(folder: Path) -> str:
    path = folder / "ratings.csv.gz"
    path.write_bytes(gzip.compress(_csv(folder).read_bytes()))
    return str(path)


SOURCES: dict[str, Callable[[Path], Any]] = {
    "file": _csv,
    "packed file": _packed,
    "list of dicts": lambda folder: ROWS,
    "dict of columns": lambda folder: COLUMNS,
    "pandas": lambda folder: pandas.DataFrame(ROWS),
    "pandas with an index": lambda folder: pandas.DataFrame(ROWS, index=range(100, 100 + len(ROWS))),
    "pandas of categories": lambda folder: pandas.DataFrame(ROWS).astype({"worker": "category", "system": "category"}),
    "polars": lambda folder: polars.DataFrame(ROWS),
    "Arrow": lambda folder: pyarrow.table(COLUMNS),
    "dataset": lambda folder: datasets.Dataset.from_dict(COLUMNS),
}


@pytest.mark.parametrize("source", SOURCES)
def test_a_table_is_understood_whatever_holds_it(source: str, tmp_path: Path) -> None:
    data = ev.read(SOURCES[source](tmp_path))
    assert data.method == "likert"
    assert data.reading is not None
    assert data.reading.sentence == "4 raters judged 10 outputs of 2 systems with levels 2 to 5."
    assert ev.analyse(data).systems["score"] == pytest.approx([4.5, 2.5])


def test_a_pandas_index_with_a_name_is_a_column() -> None:
    data = ev.read(pandas.DataFrame(ROWS).set_index("worker"))
    assert data.reading is not None
    assert data.reading.columns["worker"] == "worker"


def test_several_files_of_a_tool_are_one(tmp_path: Path) -> None:
    paths = []
    for worker in ("ann", "bo"):
        paths.append(tmp_path / f"{worker}.csv")
        pandas.DataFrame([row for row in ROWS if row["worker"] == worker]).to_csv(paths[-1], index=False)
    reading = ev.read(paths).reading
    assert reading is not None
    assert reading.sentence.startswith("2 raters judged 10 outputs")


@pytest.mark.parametrize("thing", [3, object(), "", [], [1, 2], None])
def test_what_is_no_table_is_refused_in_a_sentence(thing: Any) -> None:
    with pytest.raises(ev.DomainError, match=r"\.$|is a folder|cannot be read|no such file"):
        ev.read(thing)


def test_a_name_of_the_hub_says_which_package_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(ev.DomainError, match="pip install datasets"):
        ev.read("hf://owner/name")


def test_a_bad_cell_of_a_table_is_named_with_its_row() -> None:
    with pytest.raises(ev.TableError, match="“high”") as refused:
        ev.read([*ROWS, {**ROWS[0], "source": "s9", "score": "high"}])
    assert "row 41" in str(refused.value) or "line 41" in str(refused.value)


def test_several_tasks_are_refused_until_one_is_chosen(tmp_path: Path) -> None:
    rows = [{**row, "language_pair": pair} for pair in ("en-de", "en-cs") for row in ROWS]
    with pytest.raises(ev.DomainError, match="2 tasks"):
        ev.read(rows)
    assert ev.analyse(ev.read(rows, task="en-de")).systems["n"] == [20, 20]
    assert ev.analyse(ev.read(rows, pool=True)).systems["n"] == [40, 40]
