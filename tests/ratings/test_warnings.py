"""What is odd about ratings that can be used: counted, with examples."""

import openpyxl

from analysis.data.notices import ResponsesWarning
from analysis.data.ratings.loading import load_ratings
from tests.ratings.conftest import Row, study

BOTH = ["fluency", "adequacy"]


def warnings(path, criteria=BOTH, **options) -> dict[str, ResponsesWarning]:
    found = load_ratings(path, criteria=criteria, **options).warnings
    assert all(len(warning.examples) <= 3 for warning in found)
    return {warning.code: warning for warning in found}


def without(rows: list[Row], *columns: str) -> list[Row]:
    return [{name: cell for name, cell in row.items() if name not in columns} for row in rows]


def test_a_sound_study_gives_none(write) -> None:
    assert warnings(write(study())) == {}


def test_a_file_without_kinds_or_sources_says_what_that_costs(write) -> None:
    assert list(warnings(write(without(study(), "kind", "source")))) == ["no_kind", "no_source"]


def test_sources_that_are_all_blank_are_no_sources(write) -> None:
    assert list(warnings(write([{**row, "source": ""} for row in study()]))) == ["no_source"]


def test_an_unfinished_hit_is_noticed_by_its_other_assignments(write) -> None:
    # w0 and w2 share a HIT of four items, w1 has one of its own.
    rows = [row for row in study(5) if row["assignment"] != "a2" or int(str(row["position"])) < 3]
    found = warnings(write(rows))["unfinished_hit"]
    assert (found.count, found.examples) == (1, ("a2: 2 of 4",))


def test_an_unfinished_hit_is_noticed_by_all_assignments_where_hits_are_not_known(write) -> None:
    rows = [row for row in without(study(5), "hit") if row["assignment"] != "a1" or row["position"] == 1]
    found = warnings(write(rows))["unfinished_hit"]
    assert (found.count, found.examples) == (1, ("a1: 1 of 4",))


def test_hits_of_different_sizes_are_each_their_own_measure(write) -> None:
    rows = study(6)
    short = [row for row in rows if row["hit"] == "h0" or int(str(row["position"])) < 3]
    assert warnings(write(short)) == {}


def test_a_lone_hit_is_measured_by_the_others(write) -> None:
    rows = study(3)
    for row in rows:
        row["hit"] = f"h{row['worker']}"
    rows = [row for row in rows if row["assignment"] != "a2" or int(str(row["position"])) < 3]
    assert warnings(write(rows))["unfinished_hit"].examples == ("a2: 2 of 4",)


def test_quality_control_items_without_twin_are_counted_by_kind(write) -> None:
    rows = [row for row in study(5) if row["position"] != 1]
    rows = [row for row in rows if row["worker"] != "w4" or row["position"] != 2]
    found = [w for w in load_ratings(write(rows), criteria=BOTH).warnings if w.code == "twin_missing"]
    assert [(w.count, len(w.examples)) for w in found] == [(5, 3), (1, 1)]
    assert "degraded" in found[0].message
    assert "repeat" in found[1].message
    assert found[1].examples == ("assignment a4, source s4, system B",)


def test_a_copy_without_twin_is_reported_where_all_rate_one_source(write) -> None:
    rows = [row | {"source": "the only passage"} for row in study(5)]
    rows = [row for row in rows if row["worker"] != "w4" or row["position"] != 1]
    assert warnings(write(rows))["twin_missing"].count == 1


def test_a_degraded_chatbot_is_nobodys_copy(write) -> None:
    rows = [row | {"source": "chat"} for row in study(5) if row["kind"] == "ordinary"]
    chats = [row | {"system": "D", "kind": "degraded", "position": 9} for row in rows if row["position"] == 1]
    assert warnings(write([*rows, *chats])) == {}


def test_items_that_lack_a_criterion_are_counted(write) -> None:
    rows = [row for row in study() if row["criterion"] != "adequacy" or row["position"] != 2]
    assert warnings(write(rows))["criterion_missing"].count == 3


def test_a_criterion_that_nobody_rated_is_said_once(write) -> None:
    found = warnings(write(study()), [*BOTH, "beauty"])
    assert list(found) == ["criterion_never_rated"]
    assert found["criterion_never_rated"].examples == ("beauty",)


def test_a_column_that_was_not_chosen_but_looks_meant_is_said(write) -> None:
    mapping = {name: name for name in study()[0] if name != "hit"}
    assert warnings(write(study()), mapping=mapping)["column_not_used"].examples == ("hit",)


def test_several_sheets_are_said(write) -> None:
    path = write(study(), "xlsx")
    book = openpyxl.load_workbook(path)
    book.create_sheet("more")
    book.save(path)
    assert list(warnings(path)) == ["several_sheets"]
