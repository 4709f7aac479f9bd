"""Which column is which."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.data.ratings.columns import COLUMNS, chosen_mapping, guess_mapping


def test_the_long_table_s_own_names_are_themselves() -> None:
    assert guess_mapping(COLUMNS) == {column: column for column in COLUMNS}


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("worker_id", "worker"),
        ("WorkerId", "worker"),
        ("Annotator", "worker"),
        ("rater", "worker"),
        ("user", "worker"),
        ("model", "system"),
        ("System ID", "system"),
        ("AssignmentId", "assignment"),
        ("HITId", "hit"),
        ("segment", "source"),
        ("segment_id", "source"),
        ("doc", "source"),
        ("item-id", "source"),
        ("type", "kind"),
        ("ITEM_TYPE", "kind"),
        ("dimension", "criterion"),
        ("aspect", "criterion"),
        ("rating", "score"),
        ("value", "score"),
        ("raw_score", "score"),
        ("Input.system", "system"),
        ("Answer.rating", "score"),
        ("pos", "position"),
    ],
)
def test_other_tools_names_are_known(name: str, column: str) -> None:
    assert guess_mapping(["comment", name]) == {column: name}


def test_a_column_s_own_name_wins_over_synonyms_before_it() -> None:
    assert guess_mapping(["rater", "value", "Score", "worker"]) == {"worker": "worker", "score": "Score"}


def test_of_two_names_that_differ_in_capitals_the_exact_one_wins() -> None:
    assert guess_mapping(["Worker", "worker"]) == {"worker": "worker"}
    assert guess_mapping(["WORKER", "Worker"]) == {"worker": "WORKER"}


@given(st.lists(st.sampled_from(["worker", "Rater", "user", "item", "item_id", "type", "value", "Score", "x", "doc"])))
def test_no_column_is_used_twice_and_every_guess_is_a_column(names: list[str]) -> None:
    mapping = guess_mapping(names)
    assert len(set(mapping.values())) == len(mapping)
    assert set(mapping.values()) <= set(names)
    assert list(mapping) == [column for column in COLUMNS if column in mapping]


def test_a_mapping_that_no_form_would_send_is_refused() -> None:
    assert chosen_mapping({"score": "s", "worker": "w", "kind": ""}) == {"worker": "w", "score": "s"}
    with pytest.raises(ValueError, match="wurker"):
        chosen_mapping({"wurker": "w"})
    with pytest.raises(ValueError, match="twice"):
        chosen_mapping({"worker": "w", "system": "w"})
