"""What numbers mean is said where they stand."""

import pytest

from analysis.methods import DEFAULT
from analysis.questions.coefficients import COEFFICIENTS
from analysis.results.meanings import meaning_of, meanings_of
from analysis.results.sections import Column, Output, Table
from analysis.templatetags.results import heading, hint
from tests.analysis.test_questions import KINDS, reports  # noqa: F401
from tests.results import sections_of


@pytest.mark.parametrize("kind", KINDS)
def test_the_numbers_that_rank_and_compare_have_a_meaning(kind: str, reports) -> None:  # noqa: F811
    tables = {table.name: table for section in sections_of(reports(kind)) for table in section.tables_shown}
    ranked = tables["systems"] if kind != DEFAULT else tables["recommended"]
    explained = {heading for headings, _ in meanings_of(ranked) for heading in headings.split(", ")}
    assert len(explained) >= 3


def test_a_coefficient_has_what_is_usual_and_a_source_or_says_what_it_counts() -> None:
    for coefficient in COEFFICIENTS:
        meaning = meaning_of(coefficient.column)
        assert meaning and meaning.text.endswith("."), coefficient.heading
        if coefficient.heading.startswith(("α", "κ", "ICC")):
            assert meaning.usual and meaning.source, coefficient.heading


def test_headings_that_mean_the_same_are_explained_once() -> None:
    table = Table("pairs", "Pairs", "", [Column("system"), Column("low"), Column("high")], [], output=Output.PAGE)
    assert [headings for headings, _ in meanings_of(table)] == ["low, high"]


def test_a_heading_nobody_knows_has_its_own_hint_or_nothing() -> None:
    hinted = meaning_of(Column("ghost", hint="of friendly houses"))
    assert hinted is not None and hinted.text == "Of friendly houses."
    assert meaning_of(Column("ghost")) is None


def test_a_heading_in_a_page_says_what_is_usual_too() -> None:
    said = heading("p", "p of a worker")
    assert ">p</abbr>" in said and "Small is careful" in said
    assert "Below .05" in hint(Column("p of row over column", is_p=True)), "every p has a meaning"
