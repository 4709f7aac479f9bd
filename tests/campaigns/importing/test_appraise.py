"""Appraise's batches: kinds, twins, systems that gave the same text, and what is refused."""

import json
from pathlib import Path
from typing import Any

import pytest

from campaigns.design.composition import Kind
from campaigns.importing.appraise import Batch, check_screen, is_batch, read_batch
from campaigns.importing.contents import GivenItem
from campaigns.protocols import get_protocol
from evalsite.lib.errors import DomainError
from evalsite.lib.tables import TableError

SCREEN = get_protocol("da-translation").screen


def item(
    kind: str = "TGT", system: str = "alder", text: str = "Himmel", item_id: int = 1, **more: Any
) -> dict[str, Any]:
    return {
        "itemID": item_id,
        "itemType": kind,
        "sourceID": "news",
        "sourceText": f"Source {item_id}",
        "targetID": system,
        "targetText": text,
        **more,
    }


@pytest.fixture
def write(tmp_path: Path):
    def write_file(*tasks: list[dict[str, Any]], n_workers: Any = 1) -> Path:
        path = tmp_path / "batches.json"
        path.write_text(json.dumps([{"items": items, "task": {"requiredAnnotations": n_workers}} for items in tasks]))
        return path

    return write_file


def read(path: Path) -> Batch:
    return read_batch(path, SCREEN)


def refusal(path: Path) -> list[tuple]:
    with pytest.raises(TableError) as caught:
        read(path)
    return [(problem.column, problem.code) for problem in caught.value.problems]


def shown(batch: Batch, given: GivenItem) -> tuple[str, str]:
    """Return the source and the system of an item's output."""
    contents = batch.contents
    assert given.output is not None
    source, system = contents.source[given.output], contents.system[given.output]
    return contents.sources[source].name, contents.systems[system]


def test_copies_know_their_twins(write) -> None:
    batch = read(
        write(
            [
                item("BAD", text="Hammel"),
                item("TGT", system="birch", text="Firmament"),
                item("CHK"),
                item("TGT"),
                item("REF", system="ref", text="Der Himmel"),
                item("TGT", item_id=2, text="Gras"),
                item("REF", system="ref", text="Das Gras", item_id=2),
            ]
        )
    )
    items = batch.hits[0].items
    assert [given.kind for given in items] == [
        Kind.DEGRADED,
        Kind.ORDINARY,
        Kind.REPEAT,
        Kind.ORDINARY,
        Kind.REFERENCE,
        Kind.ORDINARY,
        Kind.REFERENCE,
    ]
    # The first reference has two outputs of its source in the task, the second one.
    assert [given.twin_position for given in items] == [4, None, 4, None, None, None, 6]
    assert shown(batch, items[0]) == shown(batch, items[2]) == ("news:1", "alder")
    assert shown(batch, items[4])[0] == "news:1"
    assert shown(batch, items[6]) == ("news:2", "alder")
    assert batch.contents.systems == ["birch", "alder"]
    assert batch.contents.sources[0].fields == {"source": "Source 1", "reference": "Der Himmel"}


def test_systems_that_gave_the_same_text_each_have_the_output(write) -> None:
    batch = read(write([item(system="alder+birch"), item("BAD", system="alder+birch", text="x")]))
    assert batch.contents.systems == ["alder", "birch"]
    assert batch.contents.texts == ["Himmel", "Himmel"]
    assert [shown(batch, given)[1] for given in batch.hits[0].items] == ["alder", "alder"]
    assert [notice.code for notice in batch.contents.notices] == ["shared_outputs"]


def test_a_plus_in_a_name_joins_only_names(write) -> None:
    assert read(write([item(system="C++")])).contents.systems == ["C++"]


def test_a_twin_is_in_the_same_task_or_there_is_none(write) -> None:
    batch = read(write([item()], [item("BAD", text="x"), item("CHK")]))
    assert [len(hit.items) for hit in batch.hits] == [1, 2]
    assert [given.twin_position for given in batch.hits[1].items] == [None, None]
    assert [shown(batch, given)[1] for given in batch.hits[1].items] == ["alder", "alder"]
    assert [notice.code for notice in batch.contents.notices] == ["no_twin"]


@pytest.mark.parametrize(
    "how",
    [{"documentID": "deen-tutorial1"}, {"mqm": {"tutorial": {"instruction": "Mark it."}}}, {"tutorial": {}}],
    ids=["by its document", "by its marks", "by a key"],
)
def test_a_tutorial_item_is_of_no_source_and_no_system(write, how: dict[str, Any]) -> None:
    step = item(system="teacher", text="Himmel!", item_id=9, **how)
    batch = read(write([step, item(), item("BAD", text="x")], [step]))
    (hit,) = batch.hits  # of a tutorial alone there is nothing to rate
    assert [given.kind for given in hit.items] == [Kind.TUTORIAL, Kind.ORDINARY, Kind.DEGRADED]
    assert (hit.items[0].output, hit.items[0].text, hit.items[0].fields) == (None, "Himmel!", {"source": "Source 9"})
    assert hit.items[2].twin_position == 2
    assert (len(batch.contents.sources), batch.contents.systems) == (1, ["alder"])
    assert "never analysed: 1" in batch.contents.notices[-1].message


def test_a_file_of_tutorials_alone_is_refused(write) -> None:
    assert refusal(write([item(tutorial={})])) == [(None, "no_items")]


@pytest.mark.parametrize(("wanted", "n"), [(3, 3), (0, 1), (-1, 1), ("two", 1), (None, 1), (10**9, 1000)])
def test_the_number_of_workers_is_the_tasks(write, wanted: Any, n: int) -> None:
    assert read(write([item()], n_workers=wanted)).hits[0].n_workers == n


@pytest.mark.parametrize(
    ("items", "problems"),
    [
        ([item(), item("BAD", system="birch", text="x")], [("[0].items[1].targetID", "no_output")]),
        ([item(), item("REF", item_id=2)], [("[0].items[1].targetID", "no_output")]),
        ([item(), item(sourceText="Other", system="b")], [("[0].items[1].sourceText", "field_differs")]),
        ([item(), item("CHK", text="other")], [("[0].items[1].targetText", "output_differs")]),
        ([item(), item("XYZ")], [("[0].items[1].itemType", "bad_kind")]),
        ([item(itemType=["TGT"])], [("[0].items[0].itemType", "bad_kind")]),
        (
            [item(), item(text=" "), item(system="")],
            [("[0].items[1].targetText", "empty_text"), ("[0].items[2].targetID", "bad_id")],
        ),
        ([item(itemID=True)], [("[0].items[0].itemID", "bad_id")]),
        ([item(text="a\x00b")], [("[0].items[0].targetText", "encoding")]),
        ([item(text="a\ud800b")], [("[0].items[0].targetText", "encoding")]),
        ([item(text="x" * 20_001)], [("[0].items[0].targetText", "long_text")]),
        ([item(sourceText="x" * 20_001)], [("[0].items[0].sourceText", "long_text")]),
        ([item(system="x" * 201)], [("[0].items[0].targetID", "long_name")]),
        ([item(sourceID="x" * 200)], [("[0].items[0].sourceID", "long_name")]),
        (
            [item(sourceID="a:b", itemID="c", sourceText="s"), item(sourceID="a", itemID="b:c", sourceText="s")],
            [("[0].items[1].sourceID", "duplicate_source")],
        ),
        ([item(isCompleteDocument=True)], [("[0].items[0].isCompleteDocument", "document")]),
        (["TGT"], [("[0].items[0].", "bad_item")]),
        ([], [("[0]", "no_items")]),
    ],
    ids=[
        "degraded output unknown", "reference of no source", "two texts of a source", "repeat that differs",
        "unknown kind", "kind is a list", "empty texts and ids", "id is not an id", "NUL", "half a character",
        "long output", "long source text", "long system", "long source", "one name of two", "document", "not an object",
        "no items",
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_by_its_place(write, items: list[Any], problems: list[tuple]) -> None:
    assert refusal(write(items)) == problems


@pytest.mark.parametrize("text", ['[{"items": [', '[{"items": 1}]', '[{"items": []}, 2]', '[{"task": {}}]'])
def test_what_is_no_batch_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "batches.json"
    path.write_text(text)
    assert is_batch(path)
    assert refusal(path)


@pytest.mark.parametrize(
    "text",
    [
        '[{"a": 1}]',
        '{"items": []}',
        "[1]",
        "a,b\n",
        "",
        '[{"task": "summarise", "source": "Text"}]',
        '[{"items": [{"system": "alder", "output": "Out"}], "source": "Text"}]',
    ],
)
def test_other_files_are_not_taken_for_batches(tmp_path: Path, text: str) -> None:
    path = tmp_path / "other"
    path.write_text(text)
    assert not is_batch(path)


@pytest.mark.parametrize("protocol", ["qg", "mrc-adequacy", "da-summary"])
def test_a_screen_without_a_source_text_is_refused(protocol: str) -> None:
    with pytest.raises(DomainError) as caught:
        check_screen(get_protocol(protocol).screen)
    assert caught.value.code == "wrong_protocol"


def test_the_screens_of_translations_and_of_ones_own_will_do() -> None:
    check_screen(SCREEN)
    check_screen(get_protocol("custom").screen)


@pytest.mark.parametrize(
    "content", ["[" * 100_000, '[{"items": [{"itemID": ' + "7" * 5000 + "}]}]"], ids=["deep", "digits"]
)
def test_json_that_python_does_not_read_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "batches.json"
    path.write_text(content)
    assert refusal(path) == [(None, "bad_json")]


def test_items_of_documents_have_their_document_without_the_system(write) -> None:
    items = [
        item(itemID=1, documentID="news.1#A"),
        item(itemID=2, documentID="news.1#A"),
        item(itemID=3, documentID="en_#_news_#_7"),
    ]
    sources = read_batch(write(items), SCREEN).contents.sources
    assert [each.document for each in sources] == ["news.1", "news.1", "en_#_news_#_7"]
