"""Published numbers in the tables that pages show of a stored result, on both databases."""

import json
from typing import Any

import pytest

from analysis.methods import ResponsesFile, get_method
from analysis.methods.settings import load_settings
from analysis.results.sections import Cell
from analysis.results.stored import document_of
from tests.databases import on_both
from tests.results import sections_of

pytestmark = on_both


@pytest.fixture(scope="module")
def dialogue(shared_data, kept) -> dict[str, Any]:
    folder, settings = shared_data / "dialogue-run1", load_settings("dialogue-free")
    extras = {"dialogues": folder / "dialogues.csv", "assignments": folder / "assignments.csv"}
    method = get_method(settings.method)
    return kept(
        document_of(
            method.analyse(method.read(ResponsesFile(folder / "ratings.csv", extras=extras), settings), settings)
        )
    )


@pytest.fixture(scope="module")
def mqm(shared_data, kept) -> dict[str, Any]:
    settings = load_settings("mqm")
    method, path = get_method(settings.method), shared_data / "mqm-ted-zhen" / "mqm_ted_zhen.tsv"
    return kept(document_of(method.analyse(method.read(ResponsesFile(path), settings), settings)))


def cells_of(report: dict[str, Any], name: str) -> dict[Cell, dict[str, Cell]]:
    """Return the cells of a table by the name of their row and their column."""
    tables = [table for section in sections_of(report) for table in section.tables if table.name == name]
    table = tables[0]
    return {
        row[table.row_name]: {column.name: cell for column, cell in zip(table.columns, row, strict=True)}
        for row in table.rows
    }


def test_z_scores_are_those_of_table_5_4(dialogue, shared_data) -> None:
    table = json.loads((shared_data / "published_tables.json").read_text())["dialogue"]["table_5_4_free_run1_z"]
    found = cells_of(dialogue, "systems")
    columns = {"Overall": "z"} | {name: name.lower() for name in table["columns"] if name not in ("n", "Overall")}
    for system, printed in table["rows"].items():
        row = dict(zip(table["columns"], printed, strict=True))
        assert found[system]["n"] == row["n"]
        for name, column in columns.items():
            assert found[system][column] == pytest.approx(row[name], abs=5.1e-4), (system, name)


def test_workers_are_those_of_table_5_2(dialogue) -> None:
    chats = cells_of(dialogue, "chats")
    assert {name: chats[name]["n"] for name in ("passed", "failed")} == {"passed": 173, "failed": 75}


def test_penalties_are_those_of_the_talks(mqm) -> None:
    penalty = {row["system"]: round(row["penalty"], 2) for row in cells_of(mqm, "systems").values()}
    assert (penalty["refB"], penalty["DIDI-NLP"], penalty["ref"]) == (0.42, 1.65, 5.52)
