"""Ratings with a column of scores for each criterion: the same arrays as with one rating a row."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.data.ratings.columns import guess_mapping, guess_scores
from analysis.data.ratings.loading import LoadedRatings, load_ratings
from evalsite.lib.tables import TableError, preview
from tests.ratings.conftest import FORMATS, Row, study, write_rows
from tests.ratings.test_loading import assert_same

BOTH = ["fluency", "adequacy"]
KEYS = ("worker", "assignment", "hit", "position", "source", "system", "kind")


def widened(rows: list[Row]) -> list[Row]:
    """Return the same ratings with a row for each item; what was not rated is an empty cell."""
    items: dict[tuple, Row] = {}
    for row in rows:
        key = tuple(row[name] for name in KEYS)
        items.setdefault(key, {**dict(zip(KEYS, key, strict=True)), **dict.fromkeys(BOTH)})[row["criterion"]] = row[
            "score"
        ]
    return list(items.values())


def write_wide(rows: list[Row], path: Path) -> Path:
    return write_rows(
        [{k: "" if v is None and path.suffix == ".csv" else v for k, v in row.items()} for row in rows], path
    )


def same(long: LoadedRatings, wide: LoadedRatings) -> None:
    assert [warning.code for warning in wide.warnings if warning.code == "wide"] == ["wide"]
    left = [warning for warning in wide.warnings if warning.code not in ("wide", "missing")]
    object.__setattr__(wide, "warnings", left)
    assert_same(long, wide)


@pytest.mark.parametrize("format_", FORMATS)
def test_wide_and_long_are_the_same_in_every_format(tmp_path: Path, format_: str) -> None:
    rows = study()
    del rows[5], rows[10]
    long = write_rows(rows, tmp_path / "long.csv")
    wide = write_wide(widened(rows), tmp_path / f"wide.{format_}")
    same(load_ratings(long, criteria=BOTH), load_ratings(wide, criteria=BOTH))


@given(st.data())
@settings(max_examples=40, deadline=None)
def test_whatever_is_missing_wide_and_long_are_the_same(tmp_path_factory, data: st.DataObject) -> None:
    rows = study()
    kept = data.draw(st.sets(st.sampled_from(range(24)), min_size=1))
    wide = widened([row if n in kept else {**row, "score": None} for n, row in enumerate(rows)])
    folder = tmp_path_factory.mktemp("wide")
    long = write_rows([rows[n] for n in kept], folder / "long.csv")
    other = write_wide(data.draw(st.permutations(wide)), folder / "wide.csv")
    same(load_ratings(long, criteria=BOTH), load_ratings(other, criteria=BOTH))


def test_columns_are_called_like_criteria_or_their_statements(write) -> None:
    path = write("worker,system,Answer.reply_quality,It is fluent.,note\nw,A,5,60,7\nw,B,70,,\n")
    criteria, statements = ["Reply quality", "fluent"], ["", "It is fluent."]
    loaded = load_ratings(path, criteria=criteria, statements=statements)
    assert loaded.score_columns == ("Answer.reply_quality", "It is fluent.")
    np.testing.assert_array_equal(loaded.ratings.scores, [[5, 60], [70, np.nan]])


def test_a_column_of_criteria_or_of_scores_goes_before_a_single_column(write) -> None:
    path = write("worker,system,score,fluency\nw,A,5,60\nw,B,50,\n")
    assert load_ratings(path, criteria=["fluency"]).ratings.scores.tolist() == [[5], [50]]
    assert load_ratings(path, criteria=["fluency"], wide=["fluency"]).ratings.scores.tolist() == [[60]]
    assert "scores" not in guess_mapping(["worker", "system", "criterion", "score", "fluency", "adequacy"], BOTH)
    assert guess_mapping(["worker", "system", "score", "fluency", "adequacy"], BOTH)["scores"] == BOTH


def test_what_is_wrong_is_named_by_row_and_column(write) -> None:
    path = write(
        "worker,assignment,position,system,kind,fluency,adequacy\n"
        "w,a,1,A,ordinary,high,101\n"
        "w,a,2,,ordinary,5,\n"
        "w,a,1,B,ordinary,5,6\n"
        "w,a,1,A,ordinary,,7\n"
        "w,a,3,A,odd,,\n"
    )
    with pytest.raises(TableError) as refused:
        load_ratings(path, criteria=BOTH)
    assert [(problem.row, problem.column, problem.code) for problem in refused.value.problems] == [
        (2, "fluency", "not_a_number"),
        (2, "adequacy", "score_out_of_range"),
        (3, "system", "empty_label"),
        (4, "system", "contradiction"),
        (4, "fluency", "duplicate_rating"),
        (4, "adequacy", "duplicate_rating"),
        (5, "adequacy", "duplicate_rating"),
        (6, "kind", "unknown_kind"),
    ]


@pytest.mark.parametrize(
    ("wide", "code"),
    [(["fluency", "note"], "unknown_criterion"), (["fluency", "Answer.fluency"], "duplicate_column")],
)
def test_columns_that_are_no_criteria_are_refused(write, wide: list[str], code: str) -> None:
    path = write("worker,system,fluency,Answer.fluency,note\nw,A,5,6,7\n")
    with pytest.raises(TableError) as refused:
        load_ratings(path, criteria=BOTH, wide=wide)
    assert [(problem.column, problem.code) for problem in refused.value.problems] == [(wide[1], code)]


def test_a_file_without_any_score_is_refused(write) -> None:
    with pytest.raises(TableError) as refused:
        load_ratings(write("worker,system,fluency,adequacy\nw,A,,\n"), criteria=BOTH)
    assert refused.value.code == "no_scores"


def test_rows_without_a_score_leave_no_names_behind(write) -> None:
    path = write("worker,system,source,fluency,adequacy\nann,A,s,5,6\nbob,B,t,,\ncat,C,,7,8\n")
    loaded = load_ratings(path, criteria=BOTH)
    assert (loaded.workers, loaded.systems, loaded.sources) == (["ann", "cat"], ["A", "C"], ["s"])
    assert loaded.ratings.source.tolist() == [0, -1]


def test_numbers_that_are_not_used_otherwise_may_be_scores(write) -> None:
    path = write("worker,system,clear,wordy,seconds,note,empty\nw,A,5,,31,fine,\nw,B,6,7.5,2,7,\n")
    sample = preview(path)
    assert guess_scores(sample, guess_mapping(sample.columns)) == ["clear", "wordy"]
    assert guess_scores(sample, {"worker": "worker", "system": "system", "score": "clear"}) == []
    assert guess_scores(sample, {"worker": "worker"}) == []
