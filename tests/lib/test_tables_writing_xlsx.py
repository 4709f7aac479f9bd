"""Workbooks that the site writes, read by another program."""

import io
import math
from pathlib import Path

import openpyxl
import pytest

from evalsite.lib.tables import preview
from evalsite.lib.tables.writing import Sheet, sheet_names, write_xlsx


@pytest.mark.parametrize(
    ("titles", "names"),
    [
        (["Systems"], ["Systems"]),
        (["a/b: [c]*?\\"], ["a b   c"]),
        (["", "''"], ["Sheet", "Sheet 2"]),
        (["history"], ["history_"]),
        (["x" * 40, "X" * 40], ["x" * 31, "X" * 29 + " 2"]),
    ],
)
def test_names_of_sheets_are_those_that_excel_takes(titles: list[str], names: list[str]) -> None:
    assert sheet_names(titles) == names


def test_a_workbook_keeps_numbers_texts_and_gaps(tmp_path: Path) -> None:
    rows = [
        ["=1+1", 1, 0.1, None],
        ["+cmd|' /C calc'!A0", -2, math.nan, "مترجم"],
        ["control \x07", 10**12, -0.0312, "x" * 40_000],
    ]
    stream = io.BytesIO()
    write_xlsx(stream, [Sheet("One", ("@name", "n", "z", "note"), rows, formats=("", "", "0.000"), widths=(20,))])

    sheet = openpyxl.load_workbook(io.BytesIO(stream.getvalue()))["One"]
    found = [[cell.value for cell in row] for row in sheet.iter_rows()]
    assert found[0] == ["@name", "n", "z", "note"]
    assert found[1] == ["=1+1", 1, 0.1, None]
    assert found[2] == ["+cmd|' /C calc'!A0", -2, None, "مترجم"]
    assert found[3] == ["control \ufffd", 10**12, -0.0312, "x" * 32_767]
    assert sheet["A2"].data_type == "s" and sheet["C2"].number_format == "0.000" and sheet.freeze_panes == "A2"
    path = tmp_path / "one.xlsx"
    path.write_bytes(stream.getvalue())
    assert preview(path, path.name, 1).rows == [["=1+1", "1", "0.1", ""]]
