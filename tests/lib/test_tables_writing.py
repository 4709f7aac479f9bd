"""Tables going out: no cell is a formula, and what goes out comes in again as it was."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsite.lib.tables import read_columns
from evalsite.lib.tables.writing import neutralise, restore, write_csv

LOOK_LIKE_FORMULAS = ["\n=1+1", " =1+1", "\u00a0\u3000=1", "\ufeff=1", "＝1", "＋1", "－1", "＠sum", "' =1", "''\n"]


@pytest.mark.parametrize("cell", ["=cmd()", "+1", "-x", "@sum", "\tx", "\rx", "\nx", "\n", *LOOK_LIKE_FORMULAS])
def test_a_cell_that_a_spreadsheet_would_run_is_neutralised(cell):
    assert neutralise(cell) == "'" + cell


@pytest.mark.parametrize("cell", ["plain", "", "a=b", " plain", "'plain'", "' plain", -3.5, 0, None])
def test_other_cells_and_numbers_stay_as_they_are(cell):
    assert neutralise(cell) is cell


@given(st.text() | st.text("'=+-@＝ax\t\n\r "))
def test_restoring_undoes_neutralising(text):
    assert restore(neutralise(text)) == text


def test_a_written_table_reads_as_it_was(tmp_path):
    names = ["-x", "=1+1", "＝1", "'\n=1", "it's", "'quoted'", "a,b", 'say "hi"']
    stream = io.StringIO(newline="")
    write_csv(stream, ["system", "score"], [[name, k] for k, name in enumerate(names)])
    path = tmp_path / "table.csv"
    path.write_text(stream.getvalue(), newline="")
    column = read_columns(path, ["system", "score"], numeric=["score"]).text["system"]
    assert [column.labels[code] for code in column.codes] == names
    assert next(csv.reader([stream.getvalue().splitlines()[1]]))[0] == "'-x"
