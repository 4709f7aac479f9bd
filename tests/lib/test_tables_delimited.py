"""CSV, TSV and their cousins: what comes in, and which line is blamed."""

import csv
import os
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsite.lib.tables import NotUtf8Error, TableError, TextColumn, delimited, lines_if_windows, preview, read_columns
from evalsite.lib.tables.table import TextBuilder


@pytest.fixture
def write(tmp_path: Path):
    def write_file(content: str | bytes, name: str = "ratings.csv", encoding: str = "utf-8") -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode(encoding))
        return path

    return write_file


def cells(column: TextColumn) -> list[str]:
    return [column.labels[code] for code in column.codes]


def refusal(path: Path, columns=("worker", "score"), numeric=("score",), **options) -> TableError:
    with pytest.raises(TableError) as caught:
        read_columns(path, columns, numeric=numeric, **options)
    return caught.value


def places(error: TableError) -> list[tuple[int | None, str | None, str]]:
    return [(problem.row, problem.column, problem.code) for problem in error.problems]


@pytest.mark.parametrize(("delimiter", "format_"), [(",", "csv"), (";", "csv"), ("|", "csv"), ("\t", "tsv")])
def test_the_delimiter_is_found_in_the_header(write, delimiter: str, format_: str) -> None:
    path = write(f"worker{delimiter}score{delimiter}note\nw1{delimiter}53{delimiter}“a”\n", "ratings.txt")
    table = read_columns(path, ["worker", "score"], numeric=["score"])
    assert (table.format, table.columns) == (format_, ["worker", "score", "note"])
    assert cells(table.text["worker"]) == ["w1"]
    assert table.numbers["score"].tolist() == [53.0]
    assert preview(path).rows == [["w1", "53", "“a”"]]


def test_a_delimiter_in_quotation_marks_does_not_count(write) -> None:
    path = write('"a,b,c,d";worker\n1;w1\n')
    assert preview(path).columns == ["a,b,c,d", "worker"]


def test_white_space_around_cells_and_names_is_no_part_of_them(write) -> None:
    path = write(" worker ,score\n w1,5 \nw1 , 6\n\u00a0w2,7\n")
    table = read_columns(path, ["worker", "score"], numeric=["score"])
    assert cells(table.text["worker"]) == ["w1", "w1", "w2"]
    assert sorted(table.text["worker"].labels) == ["w1", "w2"]
    assert table.numbers["score"].tolist() == [5, 6, 7]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_unicode_comes_in_whatever_its_mark_and_line_ends(write, encoding: str, newline: str) -> None:
    path = write(newline.join(["worker,score", "Zoë,1", "李,2"]), encoding=encoding)
    table = read_columns(path, ["worker", "score"], numeric=["score"])
    assert table.columns == ["worker", "score"]
    assert cells(table.text["worker"]) == ["Zoë", "李"]
    assert preview(path).rows == [["Zoë", "1"], ["李", "2"]]
    assert table.row_numbers([0, 1]) == [2, 3]


def test_rows_are_numbered_by_the_line_on_which_they_start(write) -> None:
    path = write('\nworker,note,score\n\nw1,"two\nlines",50\n\n\nw2,"one ""x""",abc\nw3,,53\n')
    error = refusal(path)
    assert places(error) == [(8, "score", "not_a_number")]
    assert "ratings.csv, row 8, column “score”" in str(error)
    table = read_columns(path, ["worker"])
    assert table.row_numbers([0, 1, 2]) == [4, 8, 9]


def test_a_header_with_a_line_break_is_a_header(write) -> None:
    path = write('worker,"the\nscore"\nw1,5\nw2,x\n')
    error = refusal(path, ("worker", "the\nscore"), ("the\nscore",))
    assert [problem.row for problem in error.problems] == [4]


@pytest.mark.parametrize(
    ("cell", "code", "hint"),
    [
        ("abc", "not_a_number", "“abc”"),
        ('"53,5"', "not_a_number", "53.5"),
        ("", "missing_number", "empty"),
        ("NaN", "missing_number", "finite"),
        ("inf", "not_a_number", "finite"),
        ("1e999", "not_a_number", "finite"),
        ("NA", "not_a_number", "finite"),
        ("53%", "not_a_number", "per cent"),
        ("2024-05-03", "not_a_number", "date"),
        ("0x35", "not_a_number", "digits"),
        ("1_0", "not_a_number", "digits"),
    ],
)
def test_what_is_no_number_is_named_with_its_mend(write, cell: str, code: str, hint: str) -> None:
    error = refusal(write(f"worker,score\nw1,50\nw2,{cell}\n"))
    assert places(error) == [(3, "score", code)]
    assert hint in error.problems[0].message


def test_numbers_as_people_write_them_are_read(write) -> None:
    table = read_columns(write("score,x\n 1 ,\n+2,\n3.50,\n.5,\n1e2,\n"), ["score"], numeric=["score"])
    assert table.numbers["score"].tolist() == [1, 2, 3.5, 0.5, 100]


def test_a_spreadsheet_with_semicolons_and_decimal_commas_is_asked_to_use_points(write) -> None:
    error = refusal(write("worker;score\nw1;53,5\nw2;7\nw3;8,25\n"))
    assert places(error) == [(2, "score", "not_a_number"), (4, "score", "not_a_number")]
    assert "53.5" in error.problems[0].message


def test_sixty_bad_cells_are_listed_to_fifty_and_counted(write) -> None:
    path = write("worker,score\n" + "w,5\n" * 10 + "w,bad\n" * 60)
    error = refusal(path)
    assert [problem.row for problem in error.problems] == list(range(12, 62))
    assert error.n_more == 10
    assert "60 rows (12, 13, 14, 15, 16 …). Row 12: “bad” is not a number." in str(error)
    assert [line.partition(",")[2][:7] for line in error.every()][:2] == [" row 12", " row 13"]


def test_ragged_rows_are_all_named(write) -> None:
    error = refusal(write("worker,score\nw1,5\nw2\nw3,5,6\n,\nw4,\n"))
    assert places(error) == [(3, None, "ragged_row"), (4, None, "ragged_row")]
    assert "too few" in error.problems[0].message
    assert "too many" in error.problems[1].message


def test_sixty_ragged_rows_are_listed_to_fifty_and_counted(write) -> None:
    error = refusal(write("worker,score\n" + "w\n" * 60))
    assert (len(error.problems), error.n_more) == (50, 10)


def test_rows_without_any_text_are_no_rows(write) -> None:
    path = write("worker,score,note\nw1,5,\n,,\n, ,\nw2,6,\n,,\n")
    table = read_columns(path, ["worker", "score"], numeric=["score"])
    assert cells(table.text["worker"]) == ["w1", "w2"]
    assert table.numbers["score"].tolist() == [5, 6]
    assert table.row_numbers([0, 1]) == [2, 5]


def test_a_row_with_text_in_an_unwanted_column_is_a_row(write) -> None:
    error = refusal(write("worker,score,note\nw1,5,\n,,lost\n"))
    assert places(error) == [(3, "score", "missing_number")]


def test_mixed_encodings_name_each_row_and_column(write) -> None:
    body = "worker,system,score\nZoë,A,1\n".encode() + b"Zo\xeb,A,2\nw3,caf\xe9,3\n"
    error = refusal(write(body), ("worker", "system", "score"))
    assert places(error) == [(3, "worker", "encoding"), (4, "system", "encoding")]
    assert "UTF-8" in error.problems[0].message


def test_refusals_have_no_control_characters(write) -> None:
    body = ("worker,system,score\n" + "Zoë,A,1\n" * 2000).encode() + b"Z\x00o\xeb,A,2\n"
    assert "“Z?o\ufffd”" in refusal(write(body), ("worker", "system", "score")).problems[0].message
    error = refusal(write(b"worker,score\n" + b"w,1\n" * 4000 + b"Z\x00o\xeb,2\n"))
    assert isinstance(error, NotUtf8Error) and error.lines == ["Z?oë,2"]


def test_sixty_cells_of_mixed_encodings_are_listed_to_fifty_and_counted(write) -> None:
    error = refusal(write("worker,score\nZoë,2\n".encode() + b"Zo\xeb,2\n" * 60))
    assert (len(error.problems), error.n_more) == (50, 10)


# --- Windows-1252

WINDOWS = "worker,score,note\nZoë,2,5 €\nann,3,–\n" + "Renée,4,“ça va”\n" * 60


def test_a_file_of_windows_is_one_problem_with_some_of_its_lines(write) -> None:
    error = refusal(write(WINDOWS, encoding="windows-1252"), ("worker", "score"))
    assert isinstance(error, NotUtf8Error)
    assert places(error) == [(None, None, "encoding")]
    assert error.lines == ["Zoë,2,5 €", "ann,3,–", *["Renée,4,“ça va”"] * 3]
    assert "--encoding windows-1252" in error.message


def test_column_names_of_windows_are_one_problem_too(write) -> None:
    path = write("œuvre,worker,score\nx,w,1\n", encoding="windows-1252")
    with pytest.raises(NotUtf8Error) as refused:
        preview(path)
    assert refused.value.lines == ["œuvre,worker,score"]


def test_a_file_of_windows_is_read_as_such_when_asked(write) -> None:
    path = write(WINDOWS, encoding="windows-1252")
    table = read_columns(path, ["worker", "note"], encoding="windows-1252")
    assert cells(table.text["worker"])[:3] == ["Zoë", "ann", "Renée"]
    assert preview(path, n_rows=1, encoding="windows-1252").rows == [["Zoë", "2", "5 €"]]


def test_bytes_that_are_no_letter_of_windows_are_named_by_row_and_column(write) -> None:
    path = write(b"worker,score\nZo\xeb,2\nw\x81,3\n")
    assert not lines_if_windows(path)
    for encoding in (None, "windows-1252"):
        with pytest.raises(TableError) as refused:
            read_columns(path, ["worker", "score"], encoding=encoding)
        assert refused.value.problems[-1].row == 3
        assert {problem.code for problem in refused.value.problems} == {"encoding"}


def test_the_mark_of_a_file_goes_before_the_encoding_that_is_asked_for(write) -> None:
    for encoding in ("utf-8-sig", "utf-16"):
        table = read_columns(write("worker,score\nZoë,1\n", encoding=encoding), ["worker"], encoding="windows-1252")
        assert cells(table.text["worker"]) == ["Zoë"]


@pytest.mark.parametrize("n", [1 << 20, (1 << 20) - 1, (1 << 20) - 2])
def test_a_letter_in_utf8_counts_wherever_a_block_ends(write, n: int) -> None:
    start = b"worker,note\nw,"
    text = start + b"x" * (n - len(start)) + "ë\n".encode()
    assert lines_if_windows(write(text)) == []
    assert lines_if_windows(write(text + b"Zo\xeb,\n")) == []


def test_of_a_long_line_what_is_around_the_letter_is_shown(write) -> None:
    (line,) = lines_if_windows(write("worker,note\nw," + "x" * 500 + "é" + "y" * 500 + "\n", encoding="windows-1252"))
    assert "xéy" in line
    assert len(line) == 160


def test_column_names_in_another_encoding_are_refused(write) -> None:
    assert refusal(write(b"worker,caf\xe9,score\nw,1,2\n")).code == "encoding"


def test_utf16_cut_in_the_middle_of_a_letter_is_refused(write) -> None:
    assert refusal(write("worker,score\nw1,5".encode("utf-16")[:-1])).code == "encoding"


def test_a_nul_in_a_wanted_cell_is_refused(write) -> None:
    error = refusal(write("worker,score\n" + "w1,5\n" * 99 + "w\x00,5\n"))
    assert places(error) == [(101, "worker", "encoding")]


@pytest.mark.parametrize("n_rows", [3, 900_000])
def test_an_open_quotation_mark_is_found_where_it_opens(write, n_rows: int) -> None:
    error = refusal(write('worker,note,score\nw0,x,1\nw1,"open,2\n' + "w2,y,3\n" * n_rows))
    assert places(error) == [(3, None, "open_quote")]


def test_an_odd_number_of_quotation_marks_is_not_always_a_fault(write) -> None:
    table = read_columns(write('worker,score\n5" screen,2\nw,3\n'), ["worker"])
    assert cells(table.text["worker"]) == ['5" screen', "w"]


def test_a_line_without_end_is_refused(write) -> None:
    error = refusal(write("worker,score\nw,1\n" + "x" * (5 << 20)))
    assert error.code in {"long_line", "open_quote"}


def test_a_name_that_occurs_twice_is_refused_in_the_preview_already(write) -> None:
    path = write("worker,score, worker\nw1,5,w1\n")
    with pytest.raises(TableError) as caught:
        preview(path)
    assert places(caught.value) == [(1, "worker", "duplicate_column")]
    assert "columns 1 and 3" in str(caught.value)


def test_blank_names_may_occur_twice_but_not_alone(write) -> None:
    table = read_columns(write("worker,,,score\nw1,a,b,5\n"), ["worker", "score"], numeric=["score"])
    assert table.numbers["score"].tolist() == [5]
    assert refusal(write(",,\nw1,a,b\n")).code == "no_header"


def test_a_missing_column_lists_those_that_exist(write) -> None:
    error = refusal(write("rater,score\nw1,5\n"))
    assert places(error) == [(1, "worker", "missing_column")]
    assert "“rater”, “score”" in str(error)


def test_a_file_without_header_is_recognised(write) -> None:
    error = refusal(write("w1,50\nw2,53\n"))
    assert "looks like data" in error.problems[0].message


@pytest.mark.parametrize("content", ["worker,score", "worker,score\n", "worker,score\n\n\n", "worker,score\n,\n,\n"])
def test_a_header_without_rows_is_refused(write, content: str) -> None:
    assert refusal(write(content)).code == "no_rows"


def test_a_large_file_is_previewed_at_once_and_refused_by_its_size(write) -> None:
    path = write("worker,score\n" + "w1,50\n" * 20_000, "big.csv")
    os.truncate(path, 200_000_000)
    error = refusal(path, max_bytes=100_000_000)
    assert error.code == "too_large"
    assert "200.0 MB" in str(error)
    assert "100.0 MB" in str(error)
    # Behind the rows comes one line of 200 MB, which only a preview that reads on would trip over.
    shown = preview(path)
    assert (shown.columns, len(shown.rows)) == (["worker", "score"], 20)
    with pytest.raises(TableError):
        preview(path, n_rows=30_000)


def test_progress_is_reported_on_the_callers_thread_and_ends_at_one(write, monkeypatch: pytest.MonkeyPatch) -> None:
    slow_read = delimited.arrow_csv.read_csv

    def read_slowly(*arguments):
        time.sleep(0.6)
        return slow_read(*arguments)

    monkeypatch.setattr(delimited.arrow_csv, "read_csv", read_slowly)
    reported: list[tuple[float, int]] = []
    path = write("worker,score\n" + "w1,50\n" * 1000)
    read_columns(path, ["worker"], on_progress=lambda share: reported.append((share, threading.get_ident())))
    assert len(reported) >= 2
    assert reported[-1][0] == 1.0
    assert {thread for _, thread in reported} == {threading.get_ident()}
    assert all(0 <= share <= 1 for share, _ in reported)


def test_a_failure_while_progress_is_reported_is_still_a_refusal(write) -> None:
    assert refusal(write("worker,score\nw\n"), on_progress=lambda share: None).code == "ragged_row"


@given(st.lists(st.text(alphabet=' ab\u00a0"\n,é', max_size=4), min_size=1, max_size=12))
def test_any_text_comes_back_stripped_and_in_order(tmp_path_factory, texts: list[str]) -> None:
    path = tmp_path_factory.mktemp("any") / "any.csv"
    with path.open("w", newline="", encoding="utf-8") as handle:
        csv.writer(handle).writerows([["text", "n"], *([text, i] for i, text in enumerate(texts))])
    table = read_columns(path, ["text", "n"], numeric=["n"])
    assert cells(table.text["text"]) == [text.strip() for text in texts]
    assert table.numbers["n"].tolist() == list(range(len(texts)))
    starts = [2 + i + sum(text.count("\n") for text in texts[:i]) for i in range(len(texts))]
    assert table.row_numbers(list(range(len(texts)))) == starts


def test_labels_are_the_same_however_blocks_fall(write, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(7)
    names = [f"w{code}" for code in rng.integers(0, 50, 4000)]
    path = write("worker,score\n" + "".join(f"{name},1\n" for name in names))
    monkeypatch.setattr(delimited, "BLOCK_BYTES", 1 << 10)
    table = read_columns(path, ["worker"])
    assert cells(table.text["worker"]) == names
    assert len(table.text["worker"].labels) == len(set(names))
    assert table.text["worker"].codes.dtype == np.int32


def test_a_text_column_grows_cell_by_cell() -> None:
    builder = TextBuilder()
    for cell in ["b", " a", "b ", "a"]:
        builder.append(cell)
    assert cells(builder.column()) == ["b", "a", "b", "a"]
    assert builder.column().labels == ["b", "a"]


def test_arrow_and_the_slow_reader_agree_about_blank_lines(write) -> None:
    # Row numbers rest on both leaving out the same lines.
    path = write('worker\nw1\n\n""\nw2\n')
    table = read_columns(path, ["worker"])
    rows = table.row_numbers(range(table.n_rows))
    assert dict(zip(cells(table.text["worker"]), rows, strict=True)) == {"w1": 2, "w2": 5}
