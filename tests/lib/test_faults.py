"""The same fault of many rows is one, with how many, the first ones and an example."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from evalsite.lib.tables.errors import MOST_LINES, CellProblems, TableError

Places = NDArray[np.int64]


class Rows:
    """A file whose data row k is on line k + 2."""

    file = "answers.csv"

    def row_numbers(self, rows: list[int]) -> list[int]:
        return [row + 2 for row in rows]

    def column_name(self, row: int, name: str) -> str:
        return name

    def cell_places(self, rows: Places, name: str) -> Places:
        return rows


@given(
    st.dictionaries(
        st.tuples(st.sampled_from("abc"), st.sampled_from("xyz")), st.sets(st.integers(0, 500), min_size=1), min_size=1
    )
)
def test_faults_are_counted_with_their_first_rows(bad: dict[tuple[str, str], set[int]]) -> None:
    problems = CellProblems()
    for (column, code), rows in bad.items():
        problems.add(np.array(sorted(rows)), column, code, lambda row, other: f"“{row}” is wrong here.")
    try:
        problems.raise_for(Rows())
    except TableError as error:
        found = {(fault.column, fault.code): (fault.n, fault.rows) for fault in error.faults}
        lines = str(error).split("\n")
        every = list(error.every())
    assert found == {key: (len(rows), tuple(row + 2 for row in sorted(rows)[:5])) for key, rows in bad.items()}
    assert len(lines) == min(len(bad), MOST_LINES)
    assert len(every) == sum(map(len, bad.values()))
    if len(bad) > MOST_LINES:
        assert lines[-1] == f"… and {len(bad) - MOST_LINES + 1} other faults."


def test_one_row_is_named_as_a_row_and_many_with_an_example() -> None:
    problems = CellProblems()
    problems.add(np.array([4]), "score", "bad", lambda row, other: "“x” is no number.")
    problems.add(np.arange(7), "system", "empty", lambda row, other: "the cell is empty.")
    try:
        problems.raise_for(Rows())
    except TableError as error:
        said = str(error)
    assert said.split("\n") == [
        "answers.csv, column “system”: 7 rows (2, 3, 4, 5, 6 …). Row 2: the cell is empty.",
        "answers.csv, row 6, column “score”: “x” is no number.",
    ]
