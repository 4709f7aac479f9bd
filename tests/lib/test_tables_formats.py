"""Files that are not tables, or not the kind that their name says, are refused with a way out."""

import bz2
import gzip
import io
import lzma
import zipfile
from pathlib import Path

import pytest

from evalsite.lib.tables import TableError, preview, read_columns


def code_of(path: Path, **options) -> str:
    with pytest.raises(TableError) as caught:
        read_columns(path, ["worker"], **options)
    with pytest.raises(TableError) as previewed:
        preview(path)
    assert previewed.value.code == caught.value.code
    assert caught.value.file in str(caught.value)
    return caught.value.code


def zipped(*names: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in names:
            archive.writestr(name, "x")
    return buffer.getvalue()


TABLE = b"worker,score\nw1,5\n"


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "empty_file"),
        (b"  \n\n", "empty_file"),
        (b"\xef\xbb\xbf", "empty_file"),
        (b"\n" * 20_000, "empty_file"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600, "old_excel"),
        (gzip.compress(TABLE, mtime=0), "archive"),
        (bz2.compress(TABLE), "archive"),
        (lzma.compress(TABLE), "archive"),
        (zipped("ratings.csv"), "archive"),
        (zipped("mimetype", "content.xml"), "other_workbook"),
        (zipped("[Content_Types].xml", "xl/workbook.bin"), "other_workbook"),
        (b"PK\x03\x04 and no more", "corrupt"),
        (bytes(range(256)) * 20, "binary"),
        (b"%PDF-1.7\nnothing", "binary"),
        (b"\x89PNG\r\n\x1a\n" + b"\0" * 100, "binary"),
        (b"<!DOCTYPE html><html></html>", "markup"),
        (TABLE.decode().encode("utf-16-le"), "encoding"),
        (TABLE.decode().encode("utf-16-be"), "encoding"),
        (TABLE.decode().encode("utf-32"), "encoding"),
        (b"PAR1 and no more", "corrupt"),
        (b"PARE and no more", "encrypted"),
    ],
)
def test_what_is_no_table_is_refused_whatever_its_name(tmp_path: Path, content: bytes, code: str) -> None:
    for name in ("ratings.csv", "ratings.xlsx"):
        path = tmp_path / name
        path.write_bytes(content)
        assert code_of(path) == code


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    assert code_of(tmp_path / "nothing.csv") == "unreadable"
    assert code_of(tmp_path) == "unreadable"


def test_the_person_s_name_of_the_file_is_used(tmp_path: Path) -> None:
    path = tmp_path / "upload-7f3a"
    path.write_text("worker\n")
    with pytest.raises(TableError) as caught:
        read_columns(path, ["worker"], name="my ratings.csv")
    assert caught.value.file == "my ratings.csv"
    assert "upload-7f3a" not in str(caught.value)


def test_the_size_limit_lets_a_file_of_just_that_size_in(tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    path.write_bytes(TABLE)
    assert read_columns(path, ["worker"], max_bytes=len(TABLE)).n_rows == 1
    with pytest.raises(TableError) as caught:
        read_columns(path, ["worker"], max_bytes=len(TABLE) - 1)
    assert caught.value.code == "too_large"


def test_numeric_columns_must_be_wanted(tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    path.write_bytes(TABLE)
    with pytest.raises(ValueError, match="score"):
        read_columns(path, ["worker"], numeric=["score"])
