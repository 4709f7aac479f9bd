"""Which column of a file holds what."""

import pytest

from analysis.data.finding import check_chosen, find_columns, read_chosen, require_columns
from evalsite.lib.errors import DomainError
from evalsite.lib.tables import TableError

NAMES = {"worker": ("rater", "user"), "system": ("model",), "source": ("item",)}


def test_an_own_name_wins_over_another_and_an_earlier_other_name_over_a_later():
    assert find_columns(["user", "rater", "model", "System"], NAMES) == {"worker": "rater", "system": "System"}


def test_no_column_is_used_twice_and_a_chosen_one_goes_first():
    found = find_columns(["item", "source", "model"], NAMES, {"system": "item"})
    assert found == {"system": "item", "source": "source"}
    assert find_columns(["system"], {"a": ("system",), "b": ("system",)}) == {"a": "system"}


def test_a_missing_column_is_refused_with_those_there_are():
    with pytest.raises(TableError, match=r"no column “worker”.*“model”"):
        require_columns("f.csv", find_columns(["model", "x"], NAMES), ["worker", "system"], ["model", "x"])


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        ({"colour": "x"}, "No column is called “colour” here"),
        ({"worker": "y"}, "The file has no column “y” for worker. Its columns are “x”"),
        ({"worker": "x", "system": "x"}, "chosen for two things"),
    ],
)
def test_chosen_columns_are_there_and_have_a_use(chosen, said):
    with pytest.raises(DomainError, match=said):
        check_chosen(chosen, NAMES, ["x"])


@pytest.mark.parametrize("given", ["system", "=x", "system="])
def test_an_argument_names_both(given):
    with pytest.raises(DomainError, match="does not name a column"):
        read_chosen([given])
