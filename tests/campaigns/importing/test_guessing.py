"""What the columns of a file are used for."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from campaigns.contracts.protocol import Screen
from campaigns.importing.guessing import guess_layout
from campaigns.importing.layout import FileLayout, check_layout, missing_fields, system_name
from campaigns.protocols import get_protocol
from evalsite.lib.errors import DomainError
from evalsite.lib.tables import Preview, preview


def screen_of(protocol: str) -> Screen:
    return get_protocol(protocol).screen


def guess(protocol: str, columns: str, *rows: list[str]) -> dict[str, str]:
    names = columns.split()
    shown = list(rows) or [[f"{name} {n}" for name in names] for n in range(2)]
    return dict(guess_layout(Preview("csv", names, shown), screen_of(protocol)).roles)


@pytest.mark.parametrize(
    ("protocol", "columns", "source", "output"),
    [
        ("qg", "source_id passage answer system output", "source_id", "output"),
        ("qg", "ID Context Gold_Answer Model Question", "ID", "Question"),
        ("qg", "passage answer model generated", "", "generated"),
        ("mrc-adequacy", "qid question reference model prediction", "qid", "prediction"),
        ("mrc-adequacy", "id question gold model answer", "id", "answer"),
        ("mrc-fluency", "source query ref_answer system answer", "source", "answer"),
        ("da-translation", "segment_id source ref system translation", "segment_id", "translation"),
        ("da-translation", "id src reference sys hyp", "id", "hyp"),
        ("da-summary", "doc_id article ref system summary", "doc_id", "summary"),
        ("custom", "source system text", "", "text"),
        ("qg", "id passage system wording", "id", "wording"),
    ],
)
def test_one_output_a_row(protocol: str, columns: str, source: str, output: str) -> None:
    roles = guess(protocol, columns)
    layout = FileLayout("csv", tuple(columns.split()), roles)
    assert (layout.shape, layout.source, layout.output) == ("long", source, output)
    assert layout.system in ("system", "sys", "model", "Model")
    assert [field.name for field in missing_fields(layout, screen_of(protocol))] in ([], ["reference"])


@pytest.mark.parametrize(
    ("columns", "systems"),
    [
        ("id passage answer alder birch", ["alder", "birch"]),
        ("id passage answer outputs.alder outputs.GPT-3.5 reference", ["alder", "GPT-3.5"]),
        ("passage answer dataset split language alder reference", ["alder"]),
        ("source id passage answer alder", ["alder"]),
    ],
)
def test_one_source_a_row(columns: str, systems: list[str]) -> None:
    layout = FileLayout("csv", tuple(columns.split()), guess("qg", columns))
    assert layout.shape == "wide"
    assert list(layout.systems.values()) == systems


def test_numbers_and_empty_columns_are_no_outputs() -> None:
    rows = [["1", "p", "0.5", "12 %", "", "text"], ["2", "q", "7", "1,000", "", ""]]
    assert guess("qg", "id passage score share nothing alder", *rows) == {
        "id": "source",
        "passage": "field:passage",
        "alder": "system-output",
    }


def test_of_several_ids_one_that_tells_sources_apart_is_taken() -> None:
    rows = [["SQuAD", "1", "p", "o"], ["SQuAD", "2", "q", "o2"]]
    assert guess("qg", "source id passage alder", *rows)["id"] == "source"


def test_a_fields_own_name_wins_over_an_id() -> None:
    roles = guess("da-translation", "source system output")
    assert roles["source"] == "field:source"


@pytest.mark.parametrize(
    ("column", "name"),
    [("outputs.GPT-4", "GPT-4"), ("Outputs.GPT-3.5", "GPT-3.5"), ("T5.large", "T5.large"), ("outputs", "outputs")],
)
def test_a_system_is_called_as_its_column(column: str, name: str) -> None:
    assert system_name(column) == name


def test_a_layout_survives_being_stored() -> None:
    layout = FileLayout("csv", ("a", "b"), {"a": "new", "b": "source"}, {"a": "Hint"})
    assert FileLayout.from_json(layout.to_json()) == layout


def test_new_fields_get_names_that_are_free() -> None:
    layout = FileLayout("csv", ("Source", "output", "!"), dict.fromkeys(("Source", "output", "!"), "new"))
    extended = layout.extended(screen_of("custom"))
    assert extended.field_names == ("source", "source_2", "output_2", "field")
    assert layout.with_new_fields(screen_of("custom")).extended(extended) == extended


@pytest.mark.parametrize(
    "roles",
    [
        {"a": "source"},
        {"a": "output", "b": "source"},
        {"a": "system", "b": "source"},
        {"a": "system", "b": "output"},
        {"a": "system-output", "b": "output"},
        {"a": "system", "b": "output", "c": "source", "d": "source"},
        {"a": "system", "b": "output", "c": "field:hint"},
        {"a": "system", "b": "output", "c": "source", "z": "field:passage"},
        {"outputs.a": "system-output", "a": "system-output"},
        {"a": "system", "b": "output", "c": "new"},
    ],
    ids=[
        "no outputs", "no system", "no output", "nothing tells sources apart", "both shapes", "two ids",
        "no such field", "no such column", "one system twice", "a closed screen",
    ],
)  # fmt: skip
def test_columns_that_give_no_outputs_are_refused(roles: dict[str, str]) -> None:
    layout = FileLayout("csv", ("a", "b", "c", "d", "outputs.a"), roles)
    with pytest.raises(DomainError) as caught:
        check_layout(layout, screen_of("qg"), is_open=False)
    assert caught.value.code == "bad_mapping"


@pytest.mark.parametrize(
    ("protocol", "columns", "source", "document"),
    [
        ("da-translation", "doc_id seg_id source system translation", "seg_id", "doc_id"),
        ("da-translation", "Document segment_id source reference baseline", "segment_id", "Document"),
        ("da-translation", "docid src system hyp", "docid", ""),  # the only id there is
        ("da-summary", "id document system summary", "id", ""),  # the text that the screen shows
    ],
)
def test_a_document_is_known_beside_the_ids_of_sources(protocol: str, columns: str, source: str, document: str) -> None:
    layout = FileLayout("csv", tuple(columns.split()), guess(protocol, columns))
    assert (layout.source, layout.document) == (source, document)
    check_layout(layout, screen_of(protocol), is_open=False)


def test_long_texts_are_no_names_of_documents() -> None:
    row = ["1", "a long text " * 20, "A", "an output"]
    assert "document" not in guess("custom", "id document system output", row, row).values()


@pytest.mark.parametrize(
    ("protocol", "columns", "field"),
    [
        ("da-translation", "instruction input output generator", "instruction"),
        ("da-summary", "prompt responses.gpt responses.claude", "prompt"),
        ("da-translation", "id article summary_bart summary_t5", "article"),
        ("preference", "instruction output generator", "instruction"),
        ("esa", "lp doc seg src sys mt", "src"),
    ],
)
def test_what_outputs_were_made_from_is_known_by_the_words_of_other_tasks(
    protocol: str, columns: str, field: str
) -> None:
    layout = FileLayout("csv", tuple(columns.split()), guess(protocol, columns))
    assert field in layout.fields(screen_of(protocol)).values()
    assert field not in layout.systems
    assert layout.output or len(layout.systems) == 2
    assert missing_fields(layout, screen_of(protocol)) in ([], [*screen_of(protocol).fields[1:]])


def look(path: Path, rows: list[dict[str, Any]]) -> Preview:
    path.write_text("\n".join(json.dumps(row) for row in rows))
    return preview(path)


TALK = [{"role": "user", "content": "Will it rain?"}, {"role": "assistant", "content": "Yes, from four o'clock on."}]
STEPS = [{"thought": "I look it up.", "action": "look_up", "observation": "rain at 4"}]
PATCH = "--- a/rain.py\n+++ b/rain.py\n@@ -1,1 +1,1 @@\n-rain = 3\n+rain = 4\n"


def test_columns_of_what_the_format_does_not_read_hold_no_outputs(tmp_path: Path) -> None:
    row = {"question_id": "q1", "model_a": "alder", "conversation_a": TALK, "conversation_b": TALK, "winner": "model_a"}
    found = guess_layout(look(tmp_path / "pairs.jsonl", [row]), screen_of("conversation"))
    assert found.systems == {"conversation_a": "conversation_a", "conversation_b": "conversation_b"}
    texts = look(tmp_path / "texts.jsonl", [{"prompt": "Will it rain?", "model": "alder", "output": "Yes."}])
    assert not guess_layout(texts, screen_of("conversation")).output


@pytest.mark.parametrize(
    ("protocol", "row", "roles"),
    [
        ("agent-trace", {"trajectory": STEPS, "info": {"cost": 0.2}}, {"trajectory": "output"}),
        ("agent-trace", {"traj": STEPS, "task": "Find out."}, {"traj": "output", "task": "field:task"}),
        ("code-review", {"model_patch": PATCH}, {"model_patch": "output"}),
        ("conversation", {"messages": TALK}, {"messages": "output"}),
    ],
)
def test_files_of_benchmarks_are_known(
    protocol: str, row: dict[str, Any], roles: dict[str, str], tmp_path: Path
) -> None:
    about = [{"instance_id": f"i{n}", "model_name_or_path": system} for n in range(3) for system in ("alder", "birch")]
    found = guess_layout(look(tmp_path / "preds.jsonl", [each | row for each in about]), screen_of(protocol))
    assert found.roles == {"instance_id": "source", "model_name_or_path": "system", **roles}


def test_a_source_has_one_output_of_each_system(tmp_path: Path) -> None:
    rows = [
        {"source": "evol", "task_id": n, "model": "alder", "prompt": "Will it?", "output": "Yes."} for n in range(3)
    ]
    assert guess_layout(look(tmp_path / "rows.jsonl", rows), screen_of("llm-answer")).source == "task_id"


def test_whole_cells_of_messages_are_looked_at_in_parquet(tmp_path: Path) -> None:
    parquet.write_table(pa.table({"id": ["1"], "model": ["alder"], "messages": [TALK * 9]}), tmp_path / "a.parquet")
    assert guess_layout(preview(tmp_path / "a.parquet"), screen_of("conversation")).output == "messages"
