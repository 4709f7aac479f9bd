"""Sources and outputs from tables in long and wide form."""

import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from campaigns.contracts.protocol import Field, Screen
from campaigns.importing.contents import Contents, Existing, notices_of
from campaigns.importing.guessing import guess_layout
from campaigns.importing.layout import FileLayout, check_layout
from campaigns.importing.tables import MAX_SYSTEMS, read_contents
from evalsite.lib.errors import DomainError
from evalsite.lib.tables import TableError, preview
from evalsite.lib.tables.writing import neutralise, write_csv

SCREEN = Screen(
    fields=(Field("passage", "Passage", marks="answer"), Field("answer", "Answer", is_required=False, is_shown=False)),
    output_label="Question",
)
LONG = FileLayout(
    "csv",
    ("id", "passage", "answer", "system", "output"),
    {"id": "source", "passage": "field:passage", "answer": "field:answer", "system": "system", "output": "output"},
)

Data = dict[str, tuple[dict[str, str], dict[str, str]]]  # by source: its fields, its outputs by system


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str], Path]:
    def write_file(content: str) -> Path:
        path = tmp_path / "outputs.csv"
        path.write_text(content)
        return path

    return write_file


def data_of(contents: Contents) -> Data:
    """Return what contents hold, whatever their order."""
    data: Data = {source.name: (source.fields, {}) for source in contents.sources}
    for source, system, text in contents.outputs():
        data[contents.sources[source].name][1][contents.systems[system]] = text
    return data


def refusal(path: Path, layout: FileLayout = LONG, existing: Existing | None = None) -> list[tuple]:
    with pytest.raises(TableError) as caught:
        read_contents(path, layout, SCREEN, existing=existing)
    return [(problem.row, problem.column, problem.code) for problem in caught.value.problems]


# --- Long and wide say the same

WORDS = st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"]), min_size=1, max_size=8)
TEXTS = st.lists(WORDS, min_size=1, max_size=4).map(" ".join).filter(lambda text: not text.startswith("'"))
NAMES = WORDS.filter(lambda name: not name.startswith("'") and "." not in name)
COLUMNS = {"id", "passage", "answer", "system", "output"}


@st.composite
def data_sets(draw: st.DrawFn) -> Data:
    """Return a few sources with an output of each of a few systems."""
    systems = draw(st.lists(NAMES.filter(lambda name: name not in COLUMNS), min_size=1, max_size=4, unique=True))
    sources = draw(st.lists(TEXTS, min_size=1, max_size=4, unique=True))
    return {
        source: (
            {"passage": draw(TEXTS), **({"answer": draw(TEXTS)} if draw(st.booleans()) else {})},
            {system: draw(TEXTS) for system in systems},
        )
        for source in sources
    }


def long_rows(data: Data) -> list[list[str]]:
    return [
        [source, fields["passage"], fields.get("answer", ""), system, output]
        for source, (fields, outputs) in data.items()
        for system, output in outputs.items()
    ]


def wide_rows(data: Data) -> list[list[str]]:
    return [
        [source, fields["passage"], fields.get("answer", ""), *outputs.values()]
        for source, (fields, outputs) in data.items()
    ]


@settings(max_examples=50)
@given(data=data_sets(), shuffled=st.randoms())
def test_long_and_wide_hold_the_same(data: Data, shuffled, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("shapes")
    systems = list(next(iter(data.values()))[1])
    outputs = dict.fromkeys(map(neutralise, systems), "system-output")
    roles = {"id": "source", "passage": "field:passage", "answer": "field:answer", **outputs}
    wide = FileLayout("csv", tuple(roles), roles)
    rows = long_rows(data)
    shuffled.shuffle(rows)
    table(folder / "long.csv", LONG.columns, rows)
    table(folder / "wide.csv", ["id", "passage", "answer", *systems], wide_rows(data))
    with (folder / "wide.jsonl").open("w") as lines:
        for source, (fields, outputs) in data.items():
            lines.write(json.dumps({"id": source, **fields, "outputs": outputs}) + "\n")
    nested = guess_layout(preview(folder / "wide.jsonl"), SCREEN)

    assert data_of(read_contents(folder / "long.csv", LONG, SCREEN)) == data
    assert data_of(read_contents(folder / "wide.csv", wide, SCREEN)) == data
    assert data_of(read_contents(folder / "wide.jsonl", nested, SCREEN)) == data


def table(path: Path, header, rows) -> None:
    stream = io.StringIO()
    write_csv(stream, header, rows)
    path.write_text(stream.getvalue(), newline="")


# --- Sources without ids


def test_in_long_form_rows_with_the_same_fields_are_one_source(write) -> None:
    path = write("passage,system,output\nSky,a,1?\nGrass,a,2?\nSky,b,3?\nGrass,b,4?\n")
    layout = guess_layout(preview(path), SCREEN)
    assert data_of(read_contents(path, layout, SCREEN)) == {
        "1": ({"passage": "Sky"}, {"a": "1?", "b": "3?"}),
        "2": ({"passage": "Grass"}, {"a": "2?", "b": "4?"}),
    }


def test_in_wide_form_each_row_is_a_source(write) -> None:
    path = write("passage,alder\nSky,1?\nSky,2?\n")
    layout = guess_layout(preview(path), SCREEN)
    assert data_of(read_contents(path, layout, SCREEN)) == {
        "1": ({"passage": "Sky"}, {"alder": "1?"}),
        "2": ({"passage": "Sky"}, {"alder": "2?"}),
    }


# --- What is wrong


def test_all_that_is_wrong_is_named_at_once_in_the_order_of_the_file(write) -> None:
    path = write(
        "id,passage,answer,system,output\n"
        "s1,Sky,,a,1?\n"
        "s1,Sea,,b,\n"
        ",Sun,,a,3?\n"
        "s2,,,a,4?\n"
        f"s2,,,{'x' * 201},5?\n"
        "s1,Sky,,a,6?\n"
        "s2,,,,7?\n"
    )
    assert refusal(path) == [
        (3, "passage", "field_differs"),
        (3, "output", "empty_output"),
        (4, "id", "empty_name"),
        (5, "passage", "empty_field"),
        (6, "system", "long_name"),
        (7, "system", "duplicate_output"),
        (8, "system", "empty_name"),
    ]


def test_the_fifty_first_problem_is_counted(write) -> None:
    path = write("id,passage,answer,system,output\n" + "".join(f"s{n},Sky,,a,\n" for n in range(60)))
    with pytest.raises(TableError) as caught:
        read_contents(path, LONG, SCREEN)
    assert (len(caught.value.problems), caught.value.n_more) == (50, 10)


def test_texts_over_the_limit_are_named_with_their_length(write) -> None:
    long, just = "x" * 20_001, "y" * 20_000
    path = write(f"id,passage,answer,system,output\ns1,{just},,a,{long}\ns2,{long},{just},a,{just}\n")
    assert refusal(path) == [(2, "output", "long_text"), (3, "passage", "long_text")]
    wide = FileLayout("csv", ("id", "passage", "a"), {"id": "source", "passage": "field:passage", "a": "system-output"})
    with pytest.raises(TableError, match=r"the output has 6 characters, and at most 5 are shown"):
        read_contents(write("id,passage,a\ns1,short,longer\n"), wide, SCREEN, longest_text=5)


def test_a_column_of_texts_is_not_taken_for_systems(write) -> None:
    rows = "".join(f"s{n},Sky,,text {n},o\n" for n in range(MAX_SYSTEMS + 1))
    assert refusal(write("id,passage,answer,system,output\n" + rows)) == [(None, "system", "too_many_systems")]


def test_the_other_row_is_named(write) -> None:
    with pytest.raises(TableError) as caught:
        read_contents(write("id,passage,answer,system,output\ns1,Sky,,a,1?\n\ns1,Sky,,a,2?\n"), LONG, SCREEN)
    assert caught.value.problems[0].row == 4
    assert "row 2" in caught.value.problems[0].message


# --- Attributes

WITH_DOMAIN = FileLayout(
    "csv",
    ("id", "passage", "domain", "words", "system", "output"),
    {"id": "source", "passage": "field:passage", "domain": "attribute", "words": "attribute"}
    | {"system": "system", "output": "output"},
)
HEADER = "id,passage,domain,words,system,output\n"


def test_attributes_of_sources_are_kept_in_both_forms(write) -> None:
    long = write(HEADER + "s1,Sky,news,3,a,1?\ns1,Sky,news,3,b,2?\ns2,Sea,,4,a,3?\n")
    expected = [{"domain": "news", "words": "3"}, {"words": "4"}]
    assert [each.attributes for each in read_contents(long, WITH_DOMAIN, SCREEN).sources] == expected
    roles = {"passage": "field:passage", "domain": "attribute", "words": "attribute", "a": "system-output"}
    wide = FileLayout("csv", ("passage", "domain", "words", "a"), roles)
    path = write("passage,domain,words,a\nSky,news,3,1?\nSea,,4,3?\n")
    assert [each.attributes for each in read_contents(path, wide, SCREEN).sources] == expected
    assert all(set(each.fields) == {"passage"} for each in read_contents(path, wide, SCREEN).sources)


def test_an_attribute_is_of_a_source_and_short(write) -> None:
    path = write(HEADER + f"s1,Sky,news,3,a,1?\ns1,Sky,chat,3,b,2?\ns2,Sea,{'x' * 101},4,a,3?\n")
    assert refusal(path, WITH_DOMAIN) == [(3, "domain", "field_differs"), (4, "domain", "long_attribute")]
    before = Existing({"s1": {"passage": "Sky"}}, attributes={"s1": {"domain": "news"}})
    assert refusal(write(HEADER + "s1,Sky,chat,3,c,1?\n"), WITH_DOMAIN, before) == [(2, "domain", "field_changed")]
    assert read_contents(write(HEADER + "s1,Sky,news,3,c,1?\n"), WITH_DOMAIN, SCREEN, existing=before).sources


@pytest.mark.parametrize("name", ["category", "Pool", "--", "x" * 51])
def test_an_attribute_with_a_name_that_means_something_else_is_refused(name: str) -> None:
    columns = (*LONG.columns, name)
    layout = FileLayout("csv", columns, {**LONG.roles, name: "attribute"})
    with pytest.raises(DomainError) as refused:
        check_layout(layout, SCREEN, is_open=False)
    assert refused.value.code == "bad_mapping"


# --- Adding to what is there

EXISTING = Existing({"s1": {"passage": "Sky", "answer": "blue"}}, frozenset({("s1", "a")}))


def test_a_known_source_needs_no_fields(write) -> None:
    path = write("id,passage,answer,system,output\ns1,,,b,1?\ns2,Sea,,b,2?\n")
    assert data_of(read_contents(path, LONG, SCREEN, existing=EXISTING)) == {
        "s1": ({}, {"b": "1?"}),
        "s2": ({"passage": "Sea"}, {"b": "2?"}),
    }


def test_what_is_there_already_or_differs_is_refused(write) -> None:
    path = write("id,passage,answer,system,output\ns1,Sea,blue,b,1?\ns1,Sea,blue,a,2?\ns2,,,a,3?\n")
    assert refusal(path, existing=EXISTING) == [
        (2, "passage", "field_changed"),
        (3, "system", "known_output"),
        (4, "passage", "empty_field"),
    ]


def test_in_wide_form_the_systems_column_is_named(write) -> None:
    layout = FileLayout("csv", ("id", "b", "a"), {"id": "source", "a": "system-output", "b": "system-output"})
    path = write("id,b,a\ns1,1?,2?\ns2,3?,4?\n")
    assert refusal(path, layout, EXISTING) == [(2, "a", "known_output"), (3, "id", "new_source")]


# --- Notices


def test_yes_and_no_and_no_answer_need_not_stand_in_the_passage(write) -> None:
    path = write(
        "id,passage,answer,system,output\ns1,Sky,yes,a,1?\ns2,Sky,No,a,2?\ns3,Sky,,a,3?\ns4,Sky,Sky,a,4?\n"
        "s5,Sky,Sea,a,5?\n"
    )
    notices = notices_of(read_contents(path, LONG, SCREEN), SCREEN)
    assert [notice.code for notice in notices] == ["unmarked"]
    assert notices[0].message.startswith("1 source:")


# --- Documents

DOCUMENTS = FileLayout("csv", ("doc", *LONG.columns), {"doc": "document", **LONG.roles})
HEAD = "doc,id,passage,answer,system,output\n"


def documents_of(contents: Contents) -> list[tuple[str, str]]:
    return [(source.name, source.document) for source in contents.sources]


def test_sources_have_their_document(write: Callable[[str], Path]) -> None:
    rows = ["d1,a,P,x,A,o", "d2,b,P,x,A,o", "d1,c,P,x,A,o", "d1,a,P,x,B,o", ",e,P,x,A,o"]
    found = read_contents(write(HEAD + "\n".join(rows)), DOCUMENTS, SCREEN)
    assert documents_of(found) == [("a", "d1"), ("b", "d2"), ("c", "d1"), ("e", "")]
    assert found.notices == ()


def test_ids_that_begin_anew_in_each_document_are_told_apart_by_it(write: Callable[[str], Path]) -> None:
    rows = [f"{doc},{n},{doc} {n},,{system},o" for doc in ("d1", "d2") for n in (1, 2) for system in "AB"]
    found = read_contents(write(HEAD + "\n".join(rows)), DOCUMENTS, SCREEN)
    assert documents_of(found) == [("d1:1", "d1"), ("d1:2", "d1"), ("d2:1", "d2"), ("d2:2", "d2")]
    assert [notice.code for notice in found.notices] == ["ids_of_documents"]
    wide = FileLayout(
        "csv",
        ("doc", "id", "passage", "A"),
        {"doc": "document", "id": "source", "passage": "field:passage", "A": "system-output"},
    )
    path = write("doc,id,passage,A\nd1,1,P,o\nd1,2,P,o\nd2,1,Q,o\n")
    assert documents_of(read_contents(path, wide, SCREEN)) == [("d1:1", "d1"), ("d1:2", "d1"), ("d2:1", "d2")]


def test_a_known_source_stays_in_its_document(write: Callable[[str], Path]) -> None:
    there = Existing({"a": {"passage": "P"}, "b": {"passage": "P"}}, frozenset(), {"a": "d1"})
    assert refusal(write(f"{HEAD}d2,a,,,B,o\nd2,b,,,B,o\n"), DOCUMENTS, there) == [(2, "doc", "document_changed")]
    path = write(f"{HEAD}d1,a,,,B,o\nd2,b,,,B,o\n")
    assert documents_of(read_contents(path, DOCUMENTS, SCREEN, existing=there)) == [("a", "d1"), ("b", "d2")]


def test_names_of_documents_have_a_length_and_sources_one_name(write: Callable[[str], Path]) -> None:
    long = "d" * 201
    assert refusal(write(f"{HEAD}{long},a,P,,A,o\n"), DOCUMENTS) == [(2, "doc", "long_name")]
    half = "d" * 150
    assert refusal(write(f"{HEAD}{half},{half},P,,A,o\nd,{half},P,,A,o\n"), DOCUMENTS) == [(2, "id", "long_name")]
    assert refusal(write(f"{HEAD}a:b,c,P,,A,o\na,b:c,P,,A,o\na,c,P,,A,o\n"), DOCUMENTS) == [
        (None, "id", "duplicate_source")
    ]
