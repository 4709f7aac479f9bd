"""Excel: values as people see them, sheets and merged headers, and workbooks that are weapons."""

import datetime
import io
import zipfile
from pathlib import Path

import openpyxl
import pytest

from evalsite.lib.tables import Opening, TableError, excel, preview, read_columns, workbook

MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
HEADER = (
    '<row r="1"><c r="A1" t="inlineStr"><is><t>worker</t></is></c>'
    '<c r="B1" t="inlineStr"><is><t>score</t></is></c></row>'
)
ROW = '<row r="{0}"><c r="A{0}" t="inlineStr"><is><t>w1</t></is></c><c r="B{0}"><v>{1}</v></c></row>'


@pytest.fixture
def save(tmp_path: Path):
    def save_workbook(*rows: list, sheets: int = 1) -> Path:
        book = openpyxl.Workbook()
        for row in rows:
            book.active.append(row)
        for _ in range(sheets - 1):
            book.create_sheet().append(["other"])
        path = tmp_path / "ratings.xlsx"
        book.save(path)
        book.close()
        return path

    return save_workbook


@pytest.fixture
def forge(tmp_path: Path):
    """Write a workbook part by part, as no spreadsheet program would."""

    def write_parts(sheet: str | list[str], **parts: str) -> Path:
        path = tmp_path / "forged.xlsx"
        rels = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
        texts = {
            "xl/_rels/workbook.xml.rels": (
                '<Relationships><Relationship Id="r1" Target="worksheets/sheet1.xml" '
                f'Type="{rels}/worksheet"/></Relationships>'
            ),
            "xl/workbook.xml": (
                f'<workbook {MAIN} xmlns:r="{rels}"><sheets><sheet name="S" sheetId="1" r:id="r1"/></sheets></workbook>'
            ),
            **parts,
        }
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            for name, text in texts.items():
                archive.writestr(name, text)
            with archive.open("xl/worksheets/sheet1.xml", "w", force_zip64=True) as handle:
                for piece in [sheet] if isinstance(sheet, str) else sheet:
                    handle.write(piece.encode())
        return path

    return write_parts


def sheet_of(rows: str, before: str = "") -> str:
    return f"<worksheet {MAIN}>{before}<sheetData>{rows}</sheetData></worksheet>"


def refusal(path: Path, columns=("worker", "score"), numeric=("score",)) -> TableError:
    with pytest.raises(TableError) as caught:
        read_columns(path, columns, numeric=numeric)
    return caught.value


def text(path: Path, column: str) -> list[str]:
    read = read_columns(path, [column]).text[column]
    return [read.labels[code] for code in read.codes]


def test_values_come_as_people_see_them(save) -> None:
    path = save(
        ["worker", "score"],
        [" Zoë ", 53],
        [7, 53.5],
        [7.0, "54"],
        [0.1, 0],
        [True, 1],
        [datetime.datetime(2024, 5, 3), 2],
        [datetime.datetime(2024, 5, 3, 12, 30), 3],
        ["=", 4],
        ["a_x000D_b", 5],
    )
    expected = ["Zoë", "7", "7", "0.1", "true", "2024-05-03", "2024-05-03 12:30:00"]
    assert text(path, "worker")[:7] == expected
    table = read_columns(path, ["score"], numeric=["score"])
    assert table.numbers["score"].tolist() == [53, 53.5, 54, 0, 1, 2, 3, 4, 5]
    assert preview(path, n_rows=2).rows == [[" Zoë ", "53"], ["7", "53.5"]]


def test_missing_cells_are_empty_and_blank_rows_are_no_rows(save) -> None:
    path = save(
        [],
        ["worker", None, "score"],
        ["w1", None, 1],
        [],
        [None, None, None],
        ["w2", "note"],
        ["w3", None, 3],
    )
    assert text(path, "worker") == ["w1", "w2", "w3"]
    error = refusal(path)
    assert [(problem.row, problem.column, problem.code) for problem in error.problems] == [
        (6, "score", "missing_number")
    ]


def test_formulas_in_wanted_columns_are_named_cell_by_cell(save) -> None:
    path = save(["worker", "note", "score"], ["w1", "=1+1", 5], ["=A2", "x", "=SUM(C2:C2)"], ["w3", "=A2", 7])
    error = refusal(path)
    assert [(problem.row, problem.column, problem.code) for problem in error.problems] == [
        (3, "worker", "formula"),
        (3, "score", "formula"),
    ]
    assert "C3" in error.problems[1].message
    assert "=SUM(C2:C2)" in error.problems[1].message
    assert "paste" in error.problems[1].message
    assert preview(path).rows[1] == ["=A2", "x", "=SUM(C2:C2)"]


def test_error_values_are_named(save) -> None:
    error = refusal(save(["worker", "score"], ["#N/A", 5], ["w", "#DIV/0!"]))
    assert [(problem.row, problem.column, problem.code) for problem in error.problems] == [
        (2, "worker", "error_value"),
        (3, "score", "error_value"),
    ]


def test_several_sheets_are_said(save) -> None:
    path = save(["worker"], ["w1"], sheets=3)
    assert [warning.code for warning in read_columns(path, ["worker"]).warnings] == ["several_sheets"]
    assert read_columns(save(["worker"], ["w1"]), ["worker"]).warnings == []


def test_header_troubles_are_those_of_every_format(save) -> None:
    assert refusal(save(["worker", "score", "worker"], ["w", 1, "w"])).code == "duplicate_column"
    assert refusal(save(["rater", "score"], ["w", 1])).code == "missing_column"
    assert refusal(save(["worker", "score"])).code == "no_rows"
    assert refusal(save()).code == "empty_file"


def test_shared_strings_with_runs_and_phonetic_hints(forge) -> None:
    strings = (
        f"<sst {MAIN}><si><t>worker</t></si><si><r><t>李 </t></r><r><t>雷</t></r><rPh><t>lilei</t></rPh></si></sst>"
    )
    rows = '<row><c t="s"><v>0</v></c></row><row><c t="s"><v>1</v></c></row>'
    path = forge(sheet_of(rows), **{"xl/sharedStrings.xml": strings})
    assert text(path, "worker") == ["李 雷"]
    assert preview(path).rows == [["李 雷"]]


def test_names_of_elements_may_have_a_prefix(forge) -> None:
    sheet = (
        sheet_of(HEADER + ROW.format(2, 5)).replace("<", "<x:").replace("<x:/", "</x:").replace("xmlns=", "xmlns:x=")
    )
    path = forge(sheet)
    assert text(path, "worker") == ["w1"]
    assert preview(path).rows == [["w1", "5"]]


def test_a_zip_bomb_is_refused_before_it_is_inflated(forge, monkeypatch: pytest.MonkeyPatch) -> None:
    assert workbook.MAX_INFLATED_BYTES == 1 << 30
    monkeypatch.setattr(workbook, "MAX_INFLATED_BYTES", 1 << 27)  # sooner written
    body = "<row><c><v>50</v></c><c><v>50</v></c></row>" * 25_000
    n_pieces = (1 << 27) // len(body) + 1
    path = forge([f"<worksheet {MAIN}><sheetData>{HEADER}", *[body] * n_pieces, "</sheetData></worksheet>"])
    assert path.stat().st_size < 2_500_000
    error = refusal(path)
    assert error.code == "zip_bomb"
    with pytest.raises(TableError) as caught:
        preview(path)
    assert caught.value.code == "zip_bomb"


def test_a_workbook_that_inflates_absurdly_is_refused(forge) -> None:
    path = forge(sheet_of(HEADER + ROW.format(2, 5)), **{"xl/media/image1.bmp": "\0" * (80 << 20)})
    assert refusal(path).code == "zip_bomb"


def test_a_lying_zip_directory_inflates_no_further_than_it_says(forge, monkeypatch: pytest.MonkeyPatch) -> None:
    path = forge(sheet_of(HEADER + "".join(ROW.format(r, 50) for r in range(2, 5000))))
    with zipfile.ZipFile(path) as archive:
        true_size = archive.getinfo("xl/worksheets/sheet1.xml").file_size
    said = 3000
    path.write_bytes(path.read_bytes().replace(true_size.to_bytes(4, "little"), said.to_bytes(4, "little")))
    inflated = 0
    read = zipfile.ZipExtFile.read

    def counting_read(self, n=-1):
        nonlocal inflated
        data = read(self, n)
        inflated += len(data)
        return data

    monkeypatch.setattr(zipfile.ZipExtFile, "read", counting_read)
    assert refusal(path).code == "corrupt"
    assert inflated < 10_000


@pytest.mark.parametrize(
    "part", ["xl/worksheets/sheet1.xml", "xl/workbook.xml", "xl/sharedStrings.xml", "xl/styles.xml"]
)
def test_xml_entities_are_refused_in_every_part(forge, part: str) -> None:
    entities = '<!ENTITY a "ha">' + "".join(
        f'<!ENTITY {name} "{f"&{before};" * 10}">' for before, name in zip("abcdefghi", "bcdefghij", strict=True)
    )
    sheet = f"<x {MAIN}><sheetData><row><c><v>&j;</v></c></row></sheetData></x>"
    bomb = f"<?xml version='1.0'?><!DOCTYPE x [{entities}]>{sheet}"
    sheet = sheet_of(HEADER + ROW.format(2, 5))
    path = forge(bomb) if "sheet1" in part else forge(sheet, **{part: bomb})
    assert refusal(path).code == "xml_bomb"


def test_external_entities_are_refused(forge, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("hunter2")
    sheet = f'<!DOCTYPE x [<!ENTITY e SYSTEM "file://{secret}">]>' + sheet_of("<row><c><v>&e;</v></c></row>")
    assert refusal(forge(sheet)).code == "xml_bomb"


def test_huge_declared_dimensions_and_far_cells_cost_nothing(forge) -> None:
    far = (
        '<row r="1048576"><c r="A1048576" t="inlineStr"><is><t>w2</t></is></c>'
        '<c r="B1048576"><v>6</v></c><c r="XFD1048576"><v>1</v></c></row>'
    )
    path = forge(sheet_of(HEADER + ROW.format(2, 5) + far, '<dimension ref="A1:XFD1048576"/>'))
    table = read_columns(path, ["worker", "score"], numeric=["score"])
    assert table.numbers["score"].tolist() == [5, 6]
    assert table.row_numbers([1]) == [1_048_576]
    assert preview(path).columns == ["worker", "score"]


@pytest.mark.parametrize(
    "rows",
    [
        HEADER + '<row r="2"><c r="A2" t="s"><v>7</v></c></row>',
        HEADER + '<row r="2"><c r="A2" t="s"><v>x</v></c></row>',
        HEADER + '<row r="2"><c r="A2"><v>x</v></c></row>',
        HEADER + '<row r="two"><c><v>1</v></c></row>',
        HEADER + '<row r="2"><c r="!!"><v>1</v></c></row>',
        HEADER + '<row r="2"><c r="A2"><v>1</v></row>',
        '<row r="1"><c r="ZZZ1"><v>1</v></c></row>',
        HEADER + f'<row r="2"><c r="A2" t="str"><v>{"&lt;" * 200_000}</v></c></row>',
    ],
)
def test_broken_sheets_are_refused_without_traceback(forge, rows: str) -> None:
    assert refusal(forge(sheet_of(rows))).code == "corrupt"


def test_a_huge_part_beside_the_sheet_is_refused(forge, monkeypatch: pytest.MonkeyPatch) -> None:
    strings = f"<sst {MAIN}>" + "<si><t>a</t></si>" * 100_000 + "</sst>"
    path = forge(sheet_of(HEADER + ROW.format(2, 5)), **{"xl/sharedStrings.xml": strings})
    assert read_columns(path, ["worker"]).n_rows == 1
    monkeypatch.setattr(workbook, "MAX_STRINGS_BYTES", 1_000_000)
    assert refusal(path).code == "zip_bomb"


def test_a_workbook_cut_short_or_altered_is_refused(save) -> None:
    path = save(["worker", "score"], *[[f"w{i}", i] for i in range(300)])
    sound = path.read_bytes()
    for end in range(50, len(sound), 400):
        path.write_bytes(sound[:end])
        assert refusal(path).code == "corrupt"
    for place in range(30, len(sound) - 30, 37):
        altered = bytearray(sound)
        altered[place] ^= 0x55
        path.write_bytes(altered)
        try:
            read_columns(path, ["worker", "score"], numeric=["score"])
        except TableError as error:
            assert error.problems


def test_a_workbook_with_a_password_on_its_parts_is_refused(save) -> None:
    path = save(["worker"], ["w"])
    data = bytearray(path.read_bytes())
    with zipfile.ZipFile(io.BytesIO(bytes(data))) as archive:
        start = archive.start_dir
    at = start
    while data[at : at + 4] == b"PK\x01\x02":
        data[at + 8] |= 1
        at += 46 + sum(int.from_bytes(data[at + k : at + k + 2], "little") for k in (28, 30, 32))
    path.write_bytes(data)
    assert refusal(path, ["worker"], []).code == "corrupt"


def test_progress_is_reported(save, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(excel, "_REPORT_EVERY", 20)
    reported: list[float] = []
    path = save(["worker"], *[["w"]] * 25)
    read_columns(path, ["worker"], on_progress=reported.append)
    assert len(reported) == 2
    assert 0 < reported[0] < reported[1] == 1.0


def test_a_sheet_is_chosen_by_its_name_or_by_having_rows(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.title = "Notes"
    for name, worker in (("Monday", "w1"), ("Tuesday", "w2")):
        sheet = book.create_sheet(name)
        sheet.append(["worker"])
        sheet.append([worker])
    path = tmp_path / "ratings.xlsx"
    book.save(path)
    assert text(path, "worker") == ["w1"]
    assert read_columns(path, ["worker"], encoding=Opening(sheet="tuesday")).text["worker"].labels == ["w2"]
    with pytest.raises(TableError, match=r"no sheet “Friday”\. Its sheets are “Notes”, “Monday”, “Tuesday”"):
        preview(path, encoding=Opening(sheet="Friday"))


def test_a_formula_has_the_value_that_its_program_saved(forge) -> None:
    saved = '<row r="2"><c r="A2" t="str"><f>"w"&amp;1</f><v>w1</v></c><c r="B2"><f>2+2</f><v>4</v></c></row>'
    table = read_columns(forge(sheet_of(HEADER + saved)), ["worker", "score"], numeric=["score"])
    assert table.text["worker"].labels == ["w1"]
    assert table.numbers["score"].tolist() == [4]


def test_merged_cells_of_a_header_are_parts_of_names(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    for row in (["item", "fluency", None, "adequacy", None], [None, "A1", "A2", "A1", "A2"], ["1", 4, 3, 2, 2]):
        sheet.append(row)
    unmerged = tmp_path / "unmerged.xlsx"
    book.save(unmerged)
    for cells in ("A1:A2", "B1:C1", "D1:E1"):
        sheet.merge_cells(cells)
    path = tmp_path / "ratings.xlsx"
    book.save(path)
    names = ["item", "fluency A1", "fluency A2", "adequacy A1", "adequacy A2"]
    assert preview(path).columns == names
    assert preview(path).rows == [["1", "4", "3", "2", "2"]]
    assert [read_columns(path, names).text[name].labels for name in names] == [["1"], ["4"], ["3"], ["2"], ["2"]]
    assert preview(unmerged).columns == ["item", "fluency", "", "adequacy"]
