"""Votes, rankings and choices as rows: which systems were shown where, what was said of them, and what was a copy."""

import csv
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from analysis.data.rankings import load_best_worst, load_rankings
from analysis.data.style import find_style
from analysis.data.votes import load_votes
from annotation.export.comparisons import CHOICE_COLUMNS, MOST_CHOSEN_FROM, VOTE_COLUMNS
from annotation.export.style import OutputStyle
from annotation.export.tables import TABLES, table_of
from annotation.pages.questions import AnswerKey
from annotation.services.assignments import finish_assignment, start_assignment
from annotation.services.ratings import save_page
from annotation.worker_names import hashed_name
from campaigns.design.composition import Kind
from campaigns.models import Campaign, Criterion, HitItem, Output
from campaigns.responses import list_response_kinds
from evalsite.accounts.models import User
from evalsite.lib.tables.blocks import in_rows
from tests.annotation.open_campaigns import open_campaign

pytestmark = pytest.mark.django_db


def comparing(owner: User, response: str, n_at_once: int, n_pages: int, n_hits: int = 1, **settings: str) -> Campaign:
    """Return a running campaign of pages of outputs, the last output of each HIT degraded."""
    size = n_at_once * n_pages
    campaign = open_campaign(owner, n_hits=n_hits, size=size, page_kind="comparison", outputs_per_page=n_at_once)
    for item in HitItem.objects.all():
        item.page = (item.position + n_at_once - 1) // n_at_once
        item.kind = Kind.DEGRADED if item.position == size else Kind.REPEAT if item.page == n_pages else Kind.ORDINARY
        item.save()
    campaign.criteria.all().delete()
    Criterion.objects.create(
        campaign=campaign, name="better", statement="Which?", scope="page", response=response, settings=settings
    )
    return campaign


def answer(campaign: Campaign, *pages: list[str]) -> None:
    """Have a worker finish a HIT, with these answers."""
    assignment, criterion = start_assignment(campaign=campaign, worker_key="ann"), campaign.criteria.get()
    for page, sent in enumerate(pages):
        position = 1 + page * campaign.outputs_per_page
        save_page(assignment_id=assignment.pk, position=position, answers={AnswerKey(criterion.pk): sent})
    finish_assignment(assignment_id=assignment.pk)


def rows_of(campaign: Campaign, table: str) -> list[tuple[Any, ...]]:
    return list(in_rows(TABLES[table].blocks(campaign, names=hashed_name)))


def written(folder: Path, table: str, rows: Iterable[Iterable[Any]]) -> Path:
    path = folder / f"{table}.csv"
    with path.open("w", newline="") as stream:
        csv.writer(stream).writerows([TABLES[table].columns, *rows])
    return path


def test_a_file_of_all_assignments_has_what_was_answered_in_unfinished_ones(owner: User, owner_client: Client) -> None:
    campaign = comparing(owner, "preference", 2, 3, n_hits=2)
    answer(campaign, ["1"], ["2"], ["1"])
    unfinished, criterion = start_assignment(campaign=campaign, worker_key="bob"), campaign.criteria.get()
    save_page(assignment_id=unfinished.pk, position=1, answers={AnswerKey(criterion.pk): ["2"]})
    address = reverse("monitoring:export_file", args=[campaign.public_id, "votes.csv"])
    finished, everything = (owner_client.get(f"{address}{query}").getvalue() for query in ("", "?states=all"))
    assert [len(content.decode().splitlines()) for content in (finished, everything)] == [1 + 3, 1 + 4]
    assert everything.startswith(finished)


def test_votes_name_systems_and_which_output_is_degraded(owner: User, tmp_path: Path) -> None:
    campaign = comparing(owner, "preference", 2, 4, has_strength="yes", may_be_neither="yes")
    answer(campaign, ["2 much"], ["tie"], ["neither"], ["1 much"])
    rows = rows_of(campaign, "votes")
    assert [row[3:] for row in rows] == [
        (1, "source-00000", "better", "system-0", "system-1", "system-1", "much", "ordinary", ""),
        (2, "source-00000", "better", "system-2", "system-3", "tie", "", "ordinary", ""),
        (3, "source-00000", "better", "system-4", "system-5", "both bad", "", "ordinary", ""),
        (4, "source-00000", "better", "system-6", "system-7", "system-6", "much", "degraded", "b"),
    ]
    data = load_votes(written(tmp_path, "votes", rows))
    assert data.outcome.tolist() == [1, 2, 2, 0]
    assert data.is_both_bad.tolist() == [False, False, True, False]
    assert (data.kind.tolist(), data.degraded.tolist()) == ([0, 0, 0, 1], [0, 0, 0, 2])


def test_tables_say_how_long_outputs_are_by_their_format(owner: User, tmp_path: Path) -> None:
    campaign = comparing(owner, "preference", 2, 2)
    for k, output in enumerate(Output.objects.order_by("system__name")):
        output.text = "word " * k + "- – **"
        output.save()
    answer(campaign, ["1"], ["2"])
    table = table_of(campaign, "votes")
    assert table.columns == (*VOTE_COLUMNS, "words_a", "words_b")
    rows = list(in_rows(table.blocks(campaign, names=hashed_name)))
    assert [row[-2:] for row in rows] == [("0", "1"), ("2", "3")]
    path = tmp_path / "votes.csv"
    with path.open("w", newline="") as stream:
        csv.writer(stream).writerows([table.columns, *rows])
    assert {name: values.tolist() for name, values in load_votes(path).style.items()} == {"words": [[0, 1], [2, 3]]}

    of_other_format = OutputStyle(("words", "lines"), {}).names(VOTE_COLUMNS)
    assert of_other_format == ("words_a", "words_b", "style_lines_a", "style_lines_b")
    assert list(find_style(of_other_format)) == ["words", "lines"]
    columns, rankings = table_of(campaign, "rankings")
    assert columns[-1] == "output_words" and list(in_rows(rankings(campaign, names=hashed_name))) == []
    assert table_of(campaign, "choices").columns == CHOICE_COLUMNS


def test_rankings_are_rows_of_outputs_and_those_of_one_page_belong_together(owner: User, tmp_path: Path) -> None:
    campaign = comparing(owner, "ranking", 3, 3)
    answer(campaign, ["1:2", "2:1", "3:2"], ["1:1", "2:2", "3:3"], ["1:2", "2:1", "3:3"])
    rows = rows_of(campaign, "rankings")
    assert [row[3:] for row in rows[:3]] == [
        (1, "source-00000", "better", "system-0", 2, "ordinary"),
        (1, "source-00000", "better", "system-1", 1, "ordinary"),
        (1, "source-00000", "better", "system-2", 2, "ordinary"),
    ]
    assert [row[6:] for row in rows[6:]] == [
        ("system-6", 2, "repeat"),
        ("system-7", 1, "repeat"),
        ("system-8", 3, "degraded"),
    ]
    data = load_rankings(written(tmp_path, "rankings", rows))  # of one worker and one source
    assert data.judgement.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    assert data.kind.tolist() == [Kind.ORDINARY, Kind.ORDINARY, Kind.DEGRADED]
    assert data.is_degraded.tolist() == [False] * 8 + [True]
    assert data.take(data.kind == Kind.ORDINARY).rank.tolist() == [2, 1, 2, 1, 2, 3]
    last = data.take(data.kind == Kind.DEGRADED)
    assert (last.judgement.tolist(), [data.systems[code] for code in last.system]) == (
        [0, 0, 0],
        ["system-6", "system-7", "system-8"],
    )


def test_choices_are_rows_of_pages_with_all_that_was_shown(owner: User, tmp_path: Path) -> None:
    campaign = comparing(owner, "best_worst", 3, 2)
    answer(campaign, ["best:3", "worst:1"], ["best:1", "worst:3"])
    rows = rows_of(campaign, "choices")
    empty = ("",) * (MOST_CHOSEN_FROM - 3)
    assert [row[6:] for row in rows] == [
        ("system-0", "system-1", "system-2", *empty, "system-2", "system-0", "ordinary", ""),
        ("system-3", "system-4", "system-5", *empty, "system-3", "system-5", "degraded", 3),
    ]
    data = load_best_worst(written(tmp_path, "choices", rows))
    assert data.rank.tolist() == [3, 2, 1, 1, 2, 3]
    assert data.is_degraded.tolist() == [False] * 5 + [True]
    assert data.kind.tolist() == [Kind.ORDINARY, Kind.DEGRADED]


@pytest.mark.parametrize(("response", "sent", "table"), [("preference", ["1"], "votes"), ("ranking", None, "rankings")])
def test_what_a_worker_says_of_the_same_outputs_in_another_hit_is_of_a_repeat(
    owner: User, response: str, sent: list[str] | None, table: str
) -> None:
    campaign = comparing(owner, response, 2, 2, n_hits=2)
    one, two = (HitItem.objects.filter(hit__number=number, page=1).order_by("position") for number in (1, 2))
    for first, second in zip(one, reversed(two), strict=True):  # in another order
        HitItem.objects.filter(pk=second.pk).update(output=first.output)
    for _ in range(2):
        answer(campaign, *[sent or ["1:1", "2:2"]] * 2)
    place = TABLES[table].columns.index("kind")
    kinds = {(row[2], row[3]): row[place] for row in rows_of(campaign, table)}
    assert sorted(kinds[hit, 1] for hit in (1, 2)) == ["ordinary", "repeat"]


def test_every_kind_that_compares_fits_into_a_row() -> None:
    kinds = [kind for kind in list_response_kinds() if kind.compares]
    assert all(kind.table in TABLES for kind in kinds)
    assert max(kind.compares[1] for kind in kinds) == MOST_CHOSEN_FROM
    assert f"system_{MOST_CHOSEN_FROM}" in CHOICE_COLUMNS
