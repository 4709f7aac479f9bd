"""Parquet: typed columns, and files that cost more than they weigh."""

import datetime
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet as arrow_parquet

from evalsite.lib.tables import TableError, parquet, preview, read_columns

# Lives as long as Arrow's threads, which give memory back to it after a read has returned.
WATCHED_POOL = pa.proxy_memory_pool(pa.default_memory_pool())


@pytest.fixture
def write(tmp_path: Path):
    def write_file(columns: dict | pa.Table, **options) -> Path:
        path = tmp_path / "ratings.parquet"
        table = columns if isinstance(columns, pa.Table) else pa.table(columns)
        arrow_parquet.write_table(table, path, **options)
        return path

    return write_file


def refusal(path: Path, columns=("worker", "score"), numeric=("score",)) -> TableError:
    with pytest.raises(TableError) as caught:
        read_columns(path, columns, numeric=numeric)
    return caught.value


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (pa.array(["b", None, " a "]), ["b", "", "a"]),
        (pa.array(["b", None, "a"], pa.large_string()), ["b", "", "a"]),
        (pa.array([b"b", None, b"a"]), ["b", "", "a"]),
        (pa.array([3, None, 1]), ["3", "", "1"]),
        (pa.array([1.0, 0.5, float("nan")]), ["1", "0.5", ""]),
        (pa.array([True, False, None]), ["true", "false", ""]),
        (pa.array(["x", None, "x"]).dictionary_encode(), ["x", "", "x"]),
        (pa.array([7, 8, 7]).dictionary_encode(), ["7", "8", "7"]),
        (pa.array([datetime.date(2024, 5, 3)] * 3), ["2024-05-03"] * 3),
        (pa.array([Decimal("1.50")] * 3), ["1.50"] * 3),
        (pa.nulls(3), ["", "", ""]),
    ],
)
def test_typed_columns_become_text(write, values: pa.Array, expected: list[str]) -> None:
    path = write({"worker": values}, row_group_size=2)
    column = read_columns(path, ["worker"]).text["worker"]
    assert [column.labels[code] for code in column.codes] == expected


@pytest.mark.parametrize(
    "values",
    [
        pa.array([1, 50, 100]),
        pa.array([1.0, 50.0, 100.0]),
        pa.array([1, 50, 100], pa.int8()),
        pa.array([Decimal("1"), Decimal("50"), Decimal("100")]),
        pa.array(["1", "50.0", "1e2"]),
        pa.array(["1", "50", "100"]).dictionary_encode(),
    ],
)
def test_numbers_come_in_whatever_their_type(write, values: pa.Array) -> None:
    numbers = read_columns(write({"score": values}), ["score"], numeric=["score"]).numbers["score"]
    assert numbers.dtype == np.float64
    assert numbers.tolist() == [1, 50, 100]


@pytest.mark.parametrize(
    ("values", "codes"),
    [
        ([1.0, None, float("nan"), float("inf")], ["missing_number", "missing_number", "not_a_number"]),
        (["1", None, "abc", "53,5"], ["missing_number", "not_a_number", "not_a_number"]),
    ],
)
def test_what_is_no_number_is_named_by_the_row_it_would_have_as_text(write, values: list, codes: list[str]) -> None:
    error = refusal(write({"worker": list("abcd"), "score": values}))
    assert [(problem.row, problem.code) for problem in error.problems] == list(zip((3, 4, 5), codes, strict=True))


def test_labels_that_no_row_has_are_left_out(write) -> None:
    whole = pa.DictionaryArray.from_arrays(pa.array([0, 2], pa.int32()), pa.array(["a", "unused", "b"]))
    assert read_columns(write({"worker": whole}), ["worker"]).text["worker"].labels == ["a", "b"]


def test_nested_columns_are_refused_if_wanted_and_else_left_alone(write) -> None:
    path = write({"worker": ["w"], "log": [[1, 2]], "note": [{"a": 1}]})
    error = refusal(path, ["worker", "log", "note"], [])
    assert [(problem.column, problem.code) for problem in error.problems] == [
        ("log", "nested"),
        ("note", "nested"),
    ]
    assert read_columns(path, ["worker"]).n_rows == 1
    assert preview(path).columns == ["worker", "log", "note"]
    assert preview(path).rows == [["w", "[1, 2]", '{"a": 1}']]


def test_a_file_that_inflates_beyond_the_limit_is_refused_unread(write, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write({"worker": ["a" * 1000] * 5000, "score": range(5000)}, use_dictionary=False, compression="zstd")
    assert path.stat().st_size < 100_000
    monkeypatch.setattr(parquet, "MAX_INFLATED_BYTES", 1_000_000)
    assert refusal(path).code == "too_large"
    with pytest.raises(TableError):
        preview(path)
    # What is not wanted is not inflated.
    assert read_columns(path, ["score"]).n_rows == 5000


def test_more_rows_than_memory_is_meant_for_are_refused_unread(write) -> None:
    path = write({"worker": pa.nulls(parquet.MAX_ROWS + 1, pa.int8())})
    assert path.stat().st_size < 200_000
    assert refusal(path, ["worker"], []).code == "too_large"


def test_one_long_text_in_every_row_is_not_multiplied(write) -> None:
    once = pa.DictionaryArray.from_arrays(pa.array(np.zeros(3000, np.int32)), pa.array(["x" * 1_000_000]))
    path = write({"worker": once})
    usual = pa.default_memory_pool()
    pa.set_memory_pool(WATCHED_POOL)
    try:
        table = read_columns(path, ["worker"])
    finally:
        pa.set_memory_pool(usual)
    assert len(table.text["worker"].labels) == 1
    assert 1_000_000 < WATCHED_POOL.max_memory() < 100_000_000


def test_damage_anywhere_is_a_refusal_and_no_traceback(write) -> None:
    rng = np.random.default_rng(3)
    path = write({"worker": [f"w{i % 97}" for i in range(3000)], "score": rng.random(3000)})
    sound = path.read_bytes()
    for _ in range(60):
        broken = bytearray(sound)
        for place in rng.integers(4, len(sound) - 8, 8):
            broken[place] = rng.integers(256)
        path.write_bytes(broken)
        for act in (
            lambda: read_columns(path, ["worker", "score"], numeric=["score"]),
            lambda: preview(path),
        ):
            try:
                act()
            except TableError as error:
                assert error.problems
    path.write_bytes(sound[: len(sound) // 2])
    assert refusal(path).code == "corrupt"


def test_no_rows_and_a_name_twice_are_refused(write) -> None:
    assert refusal(write({"worker": pa.array([], pa.string()), "score": pa.array([], pa.int8())})).code == "no_rows"
    twice = pa.Table.from_arrays([pa.array(["w"]), pa.array([1])], names=["worker", "worker "])
    assert refusal(write(twice)).code == "duplicate_column"
    assert refusal(write({"rater": ["w"], "score": [1]})).code == "missing_column"
