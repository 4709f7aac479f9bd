"""Scores of single replies of chats: averaged to scores of the chats or, where these were rated too, kept apart."""

from dataclasses import dataclass

import numpy as np

from analysis.data.coding import first_rows
from analysis.data.ratings.items import Items, find_items
from analysis.data.ratings.rows import RatingRows
from analysis.stats.codes import dense_ranks
from analysis.stats.ratings import Codes, Floats


@dataclass(frozen=True)
class ReplyScores:
    """Scores of single replies, one a row, as they were given.

    Of each, (n,): `item`, its chat, a row of the arrays of `Ratings`; `turn`, a code of `turns`, what the file calls
    replies; `criterion`, a code of the criteria that were asked for; `score`. `is_averaged`: the scores of chats
    are the means of these, because no chat was rated as a whole. `n_left_out`: how many were left out, of chats without
    a score as a whole where others have one.
    """

    item: Codes
    turn: Codes
    criterion: Codes
    score: Floats
    turns: list[str]
    is_averaged: bool
    n_left_out: int = 0


def take_replies(rows: RatingRows, items: Items, n_criteria: int) -> tuple[ReplyScores | None, Items]:
    """Take the scores of single replies out of rows that were checked, and return them with the items that are left.

    Without any, nothing changes. If no row is of a whole chat, the rows become the means of each chat's replies.
    """
    if rows.turn is None or (rows.turn < 0).all():
        return None, items
    is_reply = rows.turn >= 0
    has_whole = np.bincount(items.item[~is_reply], minlength=items.n_items) > 0
    is_averaged = not has_whole.any()
    number = np.arange(items.n_items) if is_averaged else np.cumsum(has_whole) - 1
    is_kept = is_reply & (has_whole[items.item] | is_averaged)
    replies = ReplyScores(
        item=number[items.item[is_kept]],
        turn=rows.turn[is_kept],
        criterion=rows.criterion[is_kept],
        score=rows.score[is_kept],
        turns=rows.turns,
        is_averaged=is_averaged,
        n_left_out=int(np.count_nonzero(is_reply & ~is_kept)),
    )
    if is_averaged:
        _average(rows, items, n_criteria)
    else:
        rows.take(np.flatnonzero(~is_reply))
    return replies, find_items(rows)


def _average(rows: RatingRows, items: Items, n_criteria: int) -> None:
    """Make the scores of each item on a criterion one, their mean."""
    group, n_groups = dense_ranks(items.item * n_criteria + rows.criterion, items.n_items * n_criteria)
    mean = np.bincount(group, weights=rows.score, minlength=n_groups) / np.bincount(group, minlength=n_groups)
    rows.take(first_rows(group, n_groups))
    rows.score = mean
