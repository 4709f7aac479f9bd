"""JSON Lines: one object on each line, of single values or of objects of them."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsite.lib.tables import TableError, preview, read_columns


@pytest.fixture
def write(tmp_path: Path):
    def write_file(content: str, encoding: str = "utf-8", errors: str = "strict") -> Path:
        path = tmp_path / "ratings.jsonl"
        path.write_bytes(content.encode(encoding, errors))
        return path

    return write_file


def refusal(path: Path, columns=("worker", "score"), numeric=("score",)) -> TableError:
    with pytest.raises(TableError) as caught:
        read_columns(path, columns, numeric=numeric)
    return caught.value


def text(path: Path, column: str) -> list[str]:
    read = read_columns(path, [column]).text[column]
    return [read.labels[code] for code in read.codes]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_objects_become_rows_and_blank_lines_do_not(write, encoding: str) -> None:
    path = write('{"worker": "Zoë", "score": 5}\n\n{"score": "6.5", "worker": " w2 "}', encoding)
    table = read_columns(path, ["worker", "score"], numeric=["score"])
    assert text(path, "worker") == ["Zoë", "w2"]
    assert table.numbers["score"].tolist() == [5, 6.5]
    assert table.row_numbers([0, 1]) == [1, 3]
    assert preview(path).rows == [["Zoë", "5"], [" w2 ", "6.5"]]


def test_a_whole_number_is_one_label_however_it_is_written(write) -> None:
    path = write('{"worker": 1}\n{"worker": 1.0}\n{"worker": "1"}\n{"worker": 123456789012345678901}\n')
    assert text(path, "worker") == ["1", "1", "1", "123456789012345678901"]


def test_other_single_values_become_text(write) -> None:
    path = write('{"a": true}\n{"a": null}\n{}\n{"a": 0.1}\n{"a": 1e400}\n')
    assert text(path, "a") == ["true", "", "", "0.1", "1e400"]


def test_the_columns_are_those_of_all_lines(write) -> None:
    path = write('{"worker": "w"}\n' * 30 + '{"kind": "repeat"}\n')
    assert read_columns(path, ["worker"]).columns == ["worker", "kind"]
    assert preview(path).columns == ["worker", "kind"]
    assert text(path, "kind") == [""] * 30 + ["repeat"]


def test_bad_lines_are_all_named(write) -> None:
    error = refusal(write('{"worker": "w1", "score": 5}\n{"worker": "w1", score: 5}\n\n[1]\n{"worker":\n"x"}\n'))
    assert [(problem.row, problem.code) for problem in error.problems] == [(row, "bad_json") for row in (2, 4, 5, 6)]
    assert "at character 18" in error.problems[0].message


def test_a_nest_too_deep_to_read_is_a_bad_line(write) -> None:
    error = refusal(write('{"worker": "w", "score": 1}\n{"worker": ' + "[" * 200_000 + "\n"))
    assert [(problem.row, problem.code) for problem in error.problems] == [(2, "bad_json")]


def test_a_nested_value_in_a_wanted_column_is_named_and_elsewhere_left_alone(write) -> None:
    path = write('{"worker": "w", "score": 1, "log": [1]}\n{"worker": {"id": 1}, "score": [5], "log": {}}\n')
    error = refusal(path)
    assert [(problem.row, problem.column, problem.code) for problem in error.problems] == [
        (2, "worker", "nested"),
        (2, "score", "nested"),
    ]
    assert read_columns(write('{"worker": "w", "log": [1]}\n'), ["worker"]).n_rows == 1


@pytest.mark.parametrize("cell", ['"abc"', "NaN", "-Infinity", "null", "true", "1e999"])
def test_what_is_no_number_is_named(write, cell: str) -> None:
    error = refusal(write('{"worker": "w", "score": 1}\n{"worker": "w", "score": ' + cell + "}\n"))
    assert [(problem.row, problem.column) for problem in error.problems] == [(2, "score")]


def test_text_that_cannot_be_stored_is_named(write) -> None:
    path = write(
        '{"worker": "\\ud800"}\n{"worker": "w"}\n{"worker": "a\\u0000"}\n{"worker": "Zo\udceb"}\n',
        "utf-8",
        "surrogateescape",
    )
    error = refusal(path, ["worker"], [])
    assert [(problem.row, problem.code) for problem in error.problems] == [(row, "encoding") for row in (1, 3, 4)]
    str(error).encode()


def test_a_missing_column_lists_those_that_exist(write) -> None:
    error = refusal(write('{"rater": "w", "score": 1}\n'))
    assert error.code == "missing_column"
    assert "“rater”" in str(error)


def test_progress_is_reported(write) -> None:
    reported: list[float] = []
    read_columns(write('{"worker": "w"}\n' * 150_000), ["worker"], on_progress=reported.append)
    assert reported[0] == pytest.approx(2 / 3, abs=0.01)
    assert reported[-1] == 1.0


# --- Objects in a line


def test_an_object_gives_a_column_for_each_of_its_cells(write) -> None:
    path = write(
        '{"source": "q1", "outputs": {"GPT-3.5": "a", "T5": 2}}\n'
        '{"source": "q2", "outputs": {"T5": " b ", "later": null}}\n{"source": "q3"}\n'
    )
    names = ["source", "outputs.GPT-3.5", "outputs.T5", "outputs.later"]
    assert preview(path).columns == names
    assert preview(path).rows == [["q1", "a", "2", ""], ["q2", "", " b ", ""], ["q3", "", "", ""]]
    assert read_columns(path, ["source"]).columns == names
    assert text(path, "outputs.GPT-3.5") == ["a", "", ""]
    assert text(path, "outputs.T5") == ["2", "b", ""]


def test_a_name_with_a_dot_is_found_in_a_line_and_in_an_object(write) -> None:
    path = write('{"a.b.c": "flat"}\n{"a": {"b.c": "one dot"}}\n{"a.b": {"c": "two dots"}}\n')
    assert text(path, "a.b.c") == ["flat", "one dot", "two dots"]


def test_an_object_is_read_one_level_deep_and_lists_never(write) -> None:
    error = refusal(write('{"o": {"a": "x", "b": ["y"]}}\n{"o": {"a": {"b": "x"}, "b": "y"}}\n'), ["o.a", "o.b"], [])
    assert [(problem.row, problem.column, problem.code) for problem in error.problems] == [
        (1, "o.b", "nested"),
        (2, "o.a", "nested"),
    ]


def test_an_object_is_no_column_itself(write) -> None:
    assert refusal(write('{"worker": {"id": "w"}}\n'), ["worker"], []).code == "missing_column"


def test_two_cells_of_one_name_are_refused(write) -> None:
    error = refusal(write('{"a.b": 1}\n{"a.b": 1, "a": {"b": 2}}\n'), ["a.b"], [])
    assert [(problem.row, problem.code) for problem in error.problems] == [(2, "bad_json")]
    assert "a.b" in error.problems[0].message


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("indent", [None, 1])
def test_an_array_of_objects_is_read_as_its_objects_on_lines(write, encoding: str, indent: int | None) -> None:
    objects = [{"worker": "Zoë [1], {2}", "score": 5, "of": {"GPT-4": "x"}}, {"score": 6.5, "worker": " w2 "}]
    path = write("\n" + json.dumps(objects, indent=indent, ensure_ascii=False) + "\n", encoding)
    table = read_columns(path, ["worker", "score", "of.GPT-4"], numeric=["score"])
    assert text(path, "worker") == ["Zoë [1], {2}", "w2"]
    assert text(path, "of.GPT-4") == ["x", ""]
    assert table.numbers["score"].tolist() == [5, 6.5]
    assert table.row_numbers([0, 1]) == ([2, 2] if indent is None else [3, 10])
    assert preview(path).columns == ["worker", "score", "of.GPT-4"]


@given(
    objects=st.lists(st.dictionaries(st.text('ab[]{},"\\ é\n', min_size=1), st.text()), min_size=1),
    indent=st.sampled_from([None, 0, 2]),
)
def test_an_array_says_what_its_objects_on_lines_say(tmp_path_factory, objects: list, indent: int | None) -> None:
    folder = tmp_path_factory.mktemp("arrays")
    array, lines = folder / "array", folder / "lines"
    array.write_text(json.dumps(objects, indent=indent))
    lines.write_text("\n".join(json.dumps(each) for each in objects))

    def read(path: Path) -> object:
        try:
            return preview(path)
        except TableError as error:
            return [problem.code for problem in error.problems]

    assert read(array) == read(lines)


def test_an_array_of_many_pieces_is_read_whole(write) -> None:
    rows = [{"worker": f"w{number}", "text": "x" * (number % 1_000)} for number in range(5_000)]
    path = write(json.dumps([*rows, {"worker": "last", "text": "y" * 3_000_000}]))
    assert text(path, "worker") == [*(str(row["worker"]) for row in rows), "last"]


@pytest.mark.parametrize(
    ("content", "rows", "message"),
    [
        ('[{"worker": "w1"},\n{"worker": "w2"}', [2], "cut short"),
        ('[{"worker": "w1"},\n{"worker": w2}]', [2], "not JSON"),
        ('[{"worker": "w1"}\n{"worker": "w2"}]', [2], "a comma is missing"),
        ('[{"worker": "w1"},\n"w2",\n3, [4]]', [2, 3, 3], "not an object"),
        ('[{"worker": "w1"},\n]', [2], "not JSON"),
        ('[{"worker": "w1"}]\n[{"worker": "w2"}]', [2], "follows the end"),
        ("[" * 100_000, [1], "nested too deep"),
    ],
)
def test_what_is_wrong_in_an_array_is_named_with_its_line(write, content: str, rows: list[int], message: str) -> None:
    error = refusal(write(content), ["worker"], ())
    assert [(problem.row, problem.code) for problem in error.problems] == [(row, "bad_json") for row in rows]
    assert message in str(error)


def test_an_empty_array_has_no_rows(write) -> None:
    assert refusal(write("[ ]"), ["worker"], ()).code == "no_rows"
