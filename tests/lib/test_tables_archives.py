"""Files that come packed are the files that they hold."""

import gzip
import io
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsite.lib.tables import TableError, read_columns
from evalsite.lib.tables.archives import unpack

CONTENT = b"worker,score\nw1,5\n"


def zipped(**files: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return stream.getvalue()


def refusal(path: Path, folder: Path, max_bytes: int = 1 << 20) -> str:
    with pytest.raises(TableError) as caught:
        unpack(path, folder, path.name, max_bytes)
    return caught.value.code


@given(st.binary(min_size=1, max_size=2000))
def test_what_was_packed_is_unpacked(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    folder = tmp_path_factory.mktemp("packed")
    for name, packed in (("x.csv.gz", gzip.compress(content)), ("y.zip", zipped(**{"a/x.csv": content}))):
        path, out = folder / name, folder / f"out-{name}"
        path.write_bytes(packed)
        out.mkdir()
        found, called = unpack(path, out, name)
        assert (found.read_bytes(), called) == (content, "x.csv")
        assert found.parent.parent == out


def test_other_files_stay_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(CONTENT)
    assert unpack(path, tmp_path, "x.csv") == (path, "x.csv")
    assert read_columns(path, ["worker"]).text["worker"].labels == ["w1"]
    assert unpack(tmp_path / "none.csv", tmp_path, "none.csv")[0] == tmp_path / "none.csv"


REFUSED = {
    "cut short": (gzip.compress(CONTENT * 1000)[:-20], "corrupt"),
    "damaged": (gzip.compress(CONTENT)[:10] + b"nonsense", "corrupt"),
    "gzip of too much": (gzip.compress(b"0" * (1 << 21)), "too_large"),
    "zip of too much": (zipped(a=b"0" * (1 << 21)), "too_large"),
    "several": (zipped(**{"a.csv": CONTENT, "b.csv": CONTENT}), "archive"),
    "same name": (zipped(**{"x/a.csv": CONTENT, "y/a.csv": CONTENT}), "same_name"),
    "none": (zipped(**{"__MACOSX/a.csv": CONTENT}), "empty_file"),
}


@pytest.mark.parametrize("which", REFUSED)
def test_archives_that_cannot_be_read_are_refused(tmp_path: Path, which: str) -> None:
    content, code = REFUSED[which]
    path = tmp_path / "packed"
    path.write_bytes(content)
    (tmp_path / "out").mkdir()
    assert refusal(path, tmp_path / "out") == code


def test_a_path_in_a_zip_is_no_path_on_the_disk(tmp_path: Path) -> None:
    path, out = tmp_path / "x.zip", tmp_path / "out"
    path.write_bytes(zipped(**{"../../outside.csv": CONTENT}))
    out.mkdir()
    found, name = unpack(path, out, "x.zip")
    assert (found.parent.parent, name) == (out, "outside.csv")


def test_packed_files_of_one_name_stay_apart(tmp_path: Path) -> None:
    found = []
    for place in ("ann", "bob"):
        path = tmp_path / place / "user_state.json.gz"
        path.parent.mkdir()
        path.write_bytes(gzip.compress(place.encode()))
        found.append(unpack(path, tmp_path, path.name))
    assert [path.read_bytes() for path, _ in found] == [b"ann", b"bob"]
    assert {name for _, name in found} == {"user_state.json"}
