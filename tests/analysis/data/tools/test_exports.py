"""Exports of factgenie, doccano, Argilla and Pearmut: scores, marked errors, and what is wrong in them."""

import json
from pathlib import Path

import pytest

from analysis.data.choices import Choices
from analysis.data.spans.loading import load_spans
from analysis.data.spans.rows import Side
from analysis.data.spans.weights import DEFAULTS
from analysis.data.tools import Wanted, find_made, read_made
from analysis.methods import ResponsesFile, get_method
from analysis.methods.recognition import recognise
from analysis.results.stored import document_of
from evalsite.lib.errors import DomainError
from evalsite.lib.tables import TableError
from tests.analysis.data.tools.test_reading import EXAMPLES, ORDER, means, scores

TOOLS = {
    "factgenie.jsonl": "factgenie",
    "doccano.jsonl": "doccano",
    "argilla.json": "Argilla",
    "pearmut.jsonl": "Pearmut",
}
JSON = list[dict]


def read_example(name: str) -> JSON:
    text = (EXAMPLES / name).read_text()
    return json.loads(text) if text.startswith("[") else [json.loads(line) for line in text.splitlines()]


def write(path: Path, records: JSON | dict) -> Path:
    is_whole = path.suffix == ".json"
    path.write_text(json.dumps(records) if is_whole else "".join(f"{json.dumps(each)}\n" for each in records))
    return path


def rows(path: Path, wanted: Wanted, *columns: str, **options: object) -> list[tuple[str, ...]]:
    table = read_made(path, wanted, **options)  # type: ignore[arg-type]
    found = [[table.text[name].labels[code] for code in table.text[name].codes] for name in columns]
    return list(zip(*found, strict=True))


def warned(path: Path, wanted: Wanted = Wanted.SCORES, **options: object) -> dict[str, str]:
    return {each.code: each.message for each in read_made(path, wanted, **options).warnings}  # type: ignore[arg-type]


@pytest.mark.parametrize("name", TOOLS)
def test_marks_are_errors_in_characters_and_texts_without_one_have_none(name: str):
    assert find_made(EXAMPLES / name).tool == TOOLS[name]
    data = load_spans(EXAMPLES / name, DEFAULTS)
    placed = [mark for mark in range(data.start.size) if data.side[mark] == Side.TARGET]
    marked = [data.target_texts[data.target[data.annotation[k]]][data.start[k] : data.end[k]] for k in placed]
    assert set(marked) == {"it"}
    by_system = {
        data.systems[code]: {data.severities[s] for s in data.severity[data.system[data.annotation] == code]}
        for code in range(3)
    }
    assert by_system == {"alpha": set(), "beta": {"minor"}, "gamma": {"major"}}
    assert data.n_annotations == (9 if name.startswith("doccano") else 18)


@pytest.mark.parametrize("name", ["factgenie.jsonl", "argilla.json"])
def test_answers_are_scores_by_question(name: str):
    data = scores(name, columns={"score": "quality"})
    assert (data.systems, len(data.sources), data.criteria) == (ORDER, 3, ["quality"])
    assert means(data) == [round(v - 1 / 6, 3) for v in (5, 3, 2)]
    assert {said for *_, said in rows(EXAMPLES / name, Wanted.SCORES, "criterion", "score")} >= {"good", "bad"}


def test_scores_of_models_are_read_from_each_document():
    data = scores("pearmut.jsonl")
    assert (data.systems, data.sources, data.workers) == (ORDER, ["q1", "q2", "q3"], ["calm-owl-2", "keen-fox-1"])
    assert means(data) == [round(20 * (v - 1 / 6), 3) for v in (5, 3, 2)]


@pytest.mark.parametrize(
    ("name", "method", "columns"),
    [
        ("factgenie.jsonl", "ordinal", {"score": "quality"}),
        ("argilla.json", "ordinal", {"score": "quality"}),
        ("doccano.jsonl", "spans", {}),
        ("pearmut.jsonl", "segments", {}),
    ],
)
def test_a_file_is_analysed_from_beginning_to_end(name: str, method: str, columns: dict[str, str]):
    choices = Choices(columns=columns)
    settings = recognise(EXAMPLES / name, choices)
    analyses = get_method(settings.method)
    report = document_of(
        analyses.analyse(analyses.read(ResponsesFile(EXAMPLES / name, choices=choices), settings), settings)
    )
    assert {row["system"] for row in report["summary"]["systems"]} == set(ORDER)


def change(record: dict, key: str, value: object) -> None:
    *outer, last = key.split(".")
    for each in outer:
        record = record[int(each) if each.isdecimal() else each]  # type: ignore[index]
    record[last] = value


@pytest.mark.parametrize(
    ("name", "row", "key", "value", "column", "said"),
    [
        ("factgenie.jsonl", 2, "metadata.annotator_id", "", "annotator_id", "who annotated"),
        ("factgenie.jsonl", 2, "annotations", [{"type": 2, "start": 5, "text": "it"}], "annotations", "2 categories"),
        ("factgenie.jsonl", 2, "annotations", [{"type": 0, "start": 99, "text": "it"}], "output", "not in the text"),
        ("factgenie.jsonl", 2, "example_idx", None, "annotations", "example_idx"),
        ("doccano.jsonl", 2, "label", [[1, 2]], "label", "list of labels"),
        ("doccano.jsonl", 2, "label", [[1, 99, "minor"]], "text", "from 1 to 98"),
        ("argilla.json", 2, "responses.errors", [{"value": [], "user_id": None}], "responses", "user_id"),
        ("argilla.json", 2, "fields.response", "Is", "response", "not in the text"),
        ("pearmut.jsonl", 2, "annotation", [], "annotation", "one length"),
        ("pearmut.jsonl", 2, "item", [{"tgt": {}}], "item_id", "Add the item_id"),
        ("pearmut.jsonl", 2, "annotation.0.beta.error_spans.0.start_i", 9, "tgt", "not in the text"),
        ("pearmut.jsonl", 2, "annotation.0.beta.error_spans.0.severity", "\ud800", None, "not UTF-8"),
    ],
)
def test_what_is_wrong_is_named_as_in_the_file(name, row, key, value, column, said, tmp_path):
    records = read_example(name)
    change(records[row - 1], key, value)
    with pytest.raises(TableError) as caught:
        read_made(write(tmp_path / name, records), Wanted.SPANS)
    problem = caught.value.problems[0]
    assert (problem.row, problem.column) == (row, column) and said in problem.message


def test_older_lines_of_factgenie_have_their_setup_and_annotator_beside_the_marks(tmp_path):
    mark = {"type": 1, "start": 3, "text": "it"}
    old = {"annotator_id": "w1", "dataset": "news", "split": "test", "setup": {"id": "alpha"}, "example_id": 4}
    path = write(tmp_path / "old.jsonl", [old | {"annotations": [mark]}])
    columns = ("rater", "system", "doc", "seg_id", "category", "start", "end")
    assert rows(path, Wanted.SPANS, *columns) == [("w1", "alpha", "news/test", "4", "1", "3", "5")]
    assert "no_categories" in warned(path, Wanted.SPANS)


def test_each_file_of_doccano_is_of_the_annotator_it_is_called(tmp_path):
    text = {"text": "good soup", "system": "alpha"}
    said = [{"id": 1, **text, "label": ["good"], "Comments": []}, {"id": 2, **text, "label": [], "Comments": []}]
    first, second = (write(tmp_path / f"{name}.jsonl", said) for name in ("ann", "bob"))
    found = rows(first, Wanted.SCORES, "worker", "source", "criterion", "score", more=[second])
    assert found == [("ann", "1", "label", "good"), ("bob", "1", "label", "good")]
    assert warned(first).keys() == {"worker_of_file", "no_source", "no_label"}


def test_entities_of_doccano_are_marks_with_relations_or_without(tmp_path):
    entity = {"id": 7, "label": "Accuracy", "start_offset": 0, "end_offset": 4}
    record = {"id": 1, "text": "good soup", "system": "alpha", "Comments": []}
    records = [record | {"entities": [entity], "relations": []}, record | {"id": 2, "entities": [[5, 9, "Style"]]}]
    path = write(tmp_path / "all.jsonl", records)
    found = rows(path, Wanted.SPANS, "rater", "category", "start", "end")
    assert found == [("all", "Accuracy", "0", "4"), ("all", "Style", "5", "9")]


def test_responses_of_argilla_1_are_read_without_those_that_were_discarded(tmp_path):
    def response(user: str, value: int, status: str) -> dict:
        return {"values": {"quality": {"value": value}}, "user_id": user, "status": status}

    responses = [response("u1", 4, "submitted"), response("u2", 1, "discarded")]
    record = {"external_id": "r1", "fields": {"text": "Is it?"}, "metadata": {"system": "alpha"}}
    path = write(tmp_path / "old.json", [record | {"responses": responses}])
    found = rows(path, Wanted.SCORES, "worker", "source", "criterion", "score")
    assert found == [("u1", "r1", "quality", "4")]
    assert warned(path)["cancelled"].endswith(": 1.")
    assert "“order”" in warned(EXAMPLES / "argilla.json")["unread"]


def test_a_system_that_a_file_does_not_name_is_asked_for(tmp_path):
    record = {"id": 1, "text": "good soup", "which": "alpha", "label": ["good"]}
    path = write(tmp_path / "ann.jsonl", [record])
    with pytest.raises(TableError, match=r"no column “system” in this file of doccano.*“which”.*--columns system="):
        read_made(path, Wanted.SCORES)
    assert rows(path, Wanted.SCORES, "system", columns={"system": "which"}) == [("alpha",)]


def test_lines_of_pearmut_cancel_replace_and_leave_out_others(tmp_path):
    def line(place: int | str, score: int | None, **item: object) -> dict:
        shown = {"item_id": f"s{place}", "tgt": {"alpha": "Is it?"}, **item}
        said = {"alpha": {"score": score, "error_spans": []}}
        return {"user_id": "u1", "item_i": place, "item": [shown], "annotation": [said]}

    skipped = line(5, 9) | {"annotation": [None]}
    check = line(6, 9, validation={"alpha": {"score": [0, 10]}})
    reset = {"user_id": "u1", "item_i": 1, "annotation": "__RESET__"}
    lines = [line(1, 10), reset, line(2, 20), line(2, 25), line("random_0", 1), line(4, None), skipped, check]
    path = write(tmp_path / "campaign.jsonl", lines)
    assert rows(path, Wanted.SCORES, "source", "score") == [("s2", "25")]
    assert {"quality_control", "revised"} == warned(path).keys()


def test_campaigns_of_one_download_of_pearmut_have_their_own_sources(tmp_path):
    lines = read_example("pearmut.jsonl")
    path = write(tmp_path / "annotations.json", {"de": lines, "cs": lines})
    data = scores(path)
    assert (len(data.sources), data.score.size) == (6, 36)
    assert "“de”" in warned(path)["campaigns"]
    sliders = {"score": None, "sliders": {"Fluency": 3, "Adequacy": 70}, "error_spans": []}
    item = {"item_id": "s", "tgt": {"alpha": "x"}}
    custom = [{"user_id": "u1", "item_i": 0, "item": [item], "annotation": [{"alpha": sliders}]}]
    found = rows(write(tmp_path / "custom.jsonl", custom), Wanted.SCORES, "criterion", "score")
    assert found == [("Fluency", "3"), ("Adequacy", "70")]


@pytest.mark.parametrize("name", ["factgenie.jsonl", "pearmut.jsonl"])
def test_further_files_are_read_one_after_the_other(name: str, tmp_path):
    records = read_example(name)
    first, second = (write(tmp_path / f"{k}.jsonl", records[k::2]) for k in (0, 1))
    columns = ("worker", "system", "score")
    together = rows(first, Wanted.SCORES, *columns, more=[second])
    assert sorted(together) == sorted(rows(EXAMPLES / name, Wanted.SCORES, *columns))
    with pytest.raises(DomainError, match="all of one of Potato, factgenie, Pearmut, doccano") as caught:
        find_made(EXAMPLES / "argilla.json", more=[first])
    assert caught.value.code == "several_files"
