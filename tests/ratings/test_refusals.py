"""Ratings that cannot be used: every reason at once, with its row, column and how to fix it.

Nothing is imported in part.
"""

from collections.abc import Callable

import pytest

from analysis.data.ratings.loading import load_ratings
from evalsite.lib.tables import TableError
from tests.ratings.conftest import FORMATS, Row, study

BOTH = ["fluency", "adequacy"]


def refusal(path, criteria=BOTH, **options) -> TableError:
    with pytest.raises(TableError) as caught:
        load_ratings(path, criteria=criteria, **options)
    return caught.value


def places(error: TableError) -> list[tuple[int | None, str | None, str]]:
    return [(problem.row, problem.column, problem.code) for problem in error.problems]


def changed(change: Callable[[list[Row]], object]) -> list[Row]:
    rows = study()
    change(rows)
    return rows


@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize(
    ("column", "cell", "code"),
    [
        ("score", "101", "score_out_of_range"),
        ("score", "-0.5", "score_out_of_range"),
        ("score", "abc", "not_a_number"),
        ("score", "5,3.5", "not_a_number"),
        ("kind", "practice", "unknown_kind"),
        ("kind", "", "unknown_kind"),
        ("criterion", "beauty", "unknown_criterion"),
        ("criterion", "", "unknown_criterion"),
        ("worker", " ", "empty_label"),
        ("system", "", "empty_label"),
        ("assignment", "", "empty_label"),
        ("position", "third", "bad_position"),
        ("position", "1.5", "bad_position"),
        ("position", "", "bad_position"),
    ],
)
def test_a_bad_cell_is_named_in_every_format(write, format_: str, column: str, cell: str, code: str) -> None:
    rows = [{name: str(value) for name, value in row.items()} for row in study()]
    rows[4][column] = cell
    error = refusal(write(rows, format_))
    row = 5 if format_ == "jsonl" else 6
    assert places(error) == [(row, column, code)]
    assert f"ratings.{format_}, row {row}, column “{column}”" in str(error)


@pytest.mark.parametrize("score", ["0", "100", "0.0", "99.999"])
def test_both_ends_of_the_scale_are_scores(write, score: str) -> None:
    rows = [{"worker": "w", "system": "A", "score": score}]
    assert load_ratings(write(rows), criteria=["x"]).ratings.scores.tolist() == [[float(score)]]


def test_what_is_allowed_is_said(write) -> None:
    kind = refusal(write(changed(lambda rows: rows[0].update(kind="practice"))))
    assert "ordinary, degraded, repeat, reference" in str(kind)
    criterion = refusal(write(changed(lambda rows: rows[0].update(criterion="beauty"))))
    assert "fluency, adequacy" in str(criterion)
    assert "protocol" in str(criterion)


def test_a_rating_given_twice_names_both_rows(write) -> None:
    rows = study()
    error = refusal(write([*rows, {**rows[5], "score": 1}]))
    assert places(error) == [(26, "score", "duplicate_rating")]
    assert "row 7 " in error.problems[0].message


def test_a_rating_given_twice_names_both_rows_without_positions_too(write) -> None:
    rows = [{"worker": "w", "system": system, "score": 5} for system in "ABA"]
    error = refusal(write(rows), ["x"])
    assert places(error) == [(4, "score", "duplicate_rating")]
    assert "row 2 " in error.problems[0].message
    assert "position" in error.problems[0].message


def test_sixty_ratings_given_twice_are_listed_to_fifty_and_counted(write) -> None:
    rows = [{"worker": "w", "system": "A", "score": 5}] * 61
    error = refusal(write(rows), ["x"])
    assert [problem.row for problem in error.problems] == list(range(3, 53))
    assert error.n_more == 10
    assert str(error).startswith("ratings.csv, column “score”: 60 rows (3, 4, 5, 6, 7 …). Row 3: row 2 rates the same")
    assert len([*error.every()]) == 60


@pytest.mark.parametrize(("column", "cell"), [("system", "B"), ("source", "s9"), ("kind", "repeat")])
def test_an_item_is_one_thing(write, column: str, cell: str) -> None:
    error = refusal(write(changed(lambda rows: rows[1].update({column: cell}))))
    assert places(error) == [(3, column, "contradiction")]
    assert "row 2 " in error.problems[0].message


def test_an_assignment_is_one_worker_s(write) -> None:
    error = refusal(write(changed(lambda rows: [row.update(assignment="a0") for row in rows[8:16]])))
    assert places(error) == [(row, "assignment", "shared_assignment") for row in range(10, 18)]
    assert "row 2 " in error.problems[0].message


def test_an_assignment_is_of_one_hit(write) -> None:
    error = refusal(write(changed(lambda rows: rows[3].update(hit="h9"))))
    assert places(error) == [(5, "hit", "contradiction")]


def test_all_kinds_of_problems_come_at_once_in_the_order_of_the_file(write) -> None:
    rows = study()
    rows[20]["kind"] = "practice"
    rows[18]["score"] = "abc"
    rows[16]["score"] = 400
    rows[15]["criterion"] = "beauty"
    rows[12]["worker"] = ""
    rows[9]["system"] = "B"
    rows[6]["position"] = "x"
    error = refusal(write([*rows, rows[0], {**rows[18], "score": 7}]))
    assert places(error) == [
        (8, "position", "bad_position"),
        (11, "system", "contradiction"),
        (14, "worker", "empty_label"),
        (17, "criterion", "unknown_criterion"),
        (18, "score", "score_out_of_range"),
        (20, "score", "not_a_number"),
        (22, "kind", "unknown_kind"),
        (26, "score", "duplicate_rating"),
        (27, "score", "duplicate_rating"),
    ]


def test_fifty_of_many_kinds_of_problems_are_the_first_ones(write) -> None:
    rows = [{"worker": "w", "position": i, "system": "A", "source": "s", "kind": "x", "score": 500} for i in range(40)]
    error = refusal(write(rows), ["x"])
    assert places(error) == [
        place for row in range(2, 27) for place in [(row, "kind", "unknown_kind"), (row, "score", "score_out_of_range")]
    ]
    assert error.n_more == 30


def test_a_workbook_s_formula_is_one_problem_not_two(write) -> None:
    rows = [{"worker": "=A1", "position": "=1+1", "system": "A", "kind": "=B2", "score": "=2+2"}]
    rows.append({"worker": "w", "position": 2, "system": "A", "kind": "ordinary", "score": 5})
    error = refusal(write(rows, "xlsx"), ["x"])
    assert places(error) == [(2, column, "formula") for column in ("worker", "position", "kind", "score")]


def test_missing_columns_are_all_named_with_those_that_exist(write) -> None:
    error = refusal(write([{"who": "w", "what": "A", "score": 5}]))
    assert places(error) == [(1, column, "missing_column") for column in ("worker", "criterion")]
    assert "“who”, “what”, “score”" in str(error)


def test_a_chosen_column_that_does_not_exist_is_named(write) -> None:
    mapping = {"worker": "worker", "system": "model", "score": "score", "criterion": "criterion"}
    assert places(refusal(write(study()), mapping=mapping)) == [(1, "model", "missing_column")]


def test_a_chosen_mapping_without_a_required_column_is_refused(write) -> None:
    mapping = {"worker": "worker", "system": "system", "score": "score"}
    assert places(refusal(write(study()), mapping=mapping)) == [(1, "criterion", "missing_column")]


def test_a_file_over_the_limit_is_refused_unread(write) -> None:
    path = write(study())
    size = path.stat().st_size
    assert load_ratings(path, criteria=BOTH, max_bytes=size).ratings.n_items == 12
    assert places(refusal(path, max_bytes=size - 1)) == [(None, None, "too_large")]


def test_rows_are_numbered_as_an_editor_does_despite_line_breaks_in_cells(write) -> None:
    text = 'worker,system,note,score\nw1,A,"two\nlines",5\n\nw2,A,,500\nw2,A,,5\n'
    error = refusal(write(text), ["x"])
    assert places(error) == [(5, "score", "score_out_of_range"), (6, "score", "duplicate_rating")]
    assert "row 5 " in error.problems[1].message


def test_the_code_of_the_error_is_that_of_its_first_problem(write) -> None:
    assert refusal(write("worker,system,score\nw,A,x\n"), ["x"]).code == "not_a_number"


def test_a_column_of_thousands_of_systems_is_refused_before_they_are_compared(write) -> None:
    path = write("worker,system,score\n" + "".join(f"w,s{k},5\n" for k in range(501)))
    with pytest.raises(TableError, match=r"column “system”.*501 different systems"):
        load_ratings(path, criteria=["adequacy"])


def test_a_header_of_very_many_columns_is_refused(write) -> None:
    path = write(",".join(f"c{k}" for k in range(16_385)) + "\n")
    with pytest.raises(TableError, match="16,385 columns"):
        load_ratings(path, criteria=["adequacy"])
