"""The tables of a campaign's responses that analyses read."""

from collections.abc import Callable, Collection, Iterator
from typing import Any, NamedTuple, Protocol

from annotation.export.answers import (
    ANSWER_COLUMNS,
    COUNT_COLUMNS,
    EDIT_COLUMNS,
    MAGNITUDE_COLUMNS,
    iter_answers,
    iter_counts,
    iter_edits,
    iter_magnitudes,
)
from annotation.export.attributes import attributes_of
from annotation.export.comparisons import (
    CHOICE_COLUMNS,
    RANKING_COLUMNS,
    VOTE_COLUMNS,
    choice_blocks,
    ranking_blocks,
    vote_blocks,
)
from annotation.export.marked_errors import RATED_SPAN_COLUMNS, SPAN_COLUMNS, iter_spans, rated_span_blocks
from annotation.export.rows import (
    FINISHED,
    REPLY_SCORE_COLUMNS,
    SCORE_COLUMNS,
    Workers,
    reply_score_blocks,
    score_blocks,
)
from annotation.worker_names import NameWorker
from campaigns.contracts.method import SCORES
from campaigns.contracts.protocol import Scope
from campaigns.methods import methods
from campaigns.models import Campaign
from evalsite.lib.tables.blocks import Block, in_blocks

_ANSWERS_AT_ONCE = 100


class BlockWriter(Protocol):
    """What yields the blocks of a table: of assignments in `states`, finished ones if nothing is said.

    Workers are as `names` has them; of some `workers` alone, by id, if not None.
    """

    def __call__(  # noqa: D102
        self, campaign: Campaign, *, states: Collection[str] = ..., names: NameWorker, workers: Workers = None
    ) -> Iterator[Block]: ...


class ResponseTable(NamedTuple):
    """A table of responses: its columns, `assignment` among them, and what yields its blocks."""

    columns: tuple[str, ...]
    blocks: BlockWriter


def _of_rows(rows: Callable[..., Iterator[tuple[Any, ...]]]) -> BlockWriter:
    """Return what yields rows in blocks, few as their texts may be long: kinds of responses read answer by answer."""
    return lambda campaign, **choice: in_blocks(rows(campaign, **choice), _ANSWERS_AT_ONCE)


TABLES: dict[str, ResponseTable] = {
    SCORES: ResponseTable(SCORE_COLUMNS, score_blocks),
    "edits": ResponseTable(EDIT_COLUMNS, _of_rows(iter_edits)),
    "answers": ResponseTable(ANSWER_COLUMNS, _of_rows(iter_answers)),
    "counts": ResponseTable(COUNT_COLUMNS, _of_rows(iter_counts)),
    "magnitudes": ResponseTable(MAGNITUDE_COLUMNS, _of_rows(iter_magnitudes)),
    "spans": ResponseTable(SPAN_COLUMNS, _of_rows(iter_spans)),
    "rated_spans": ResponseTable(RATED_SPAN_COLUMNS, rated_span_blocks),
    "votes": ResponseTable(VOTE_COLUMNS, vote_blocks),
    "rankings": ResponseTable(RANKING_COLUMNS, ranking_blocks),
    "choices": ResponseTable(CHOICE_COLUMNS, choice_blocks),
}
"""The tables that analyses read, by what `CampaignMethod.table` and `ResponseKind.table` call them."""
_REPLY_SCORES = ResponseTable(REPLY_SCORE_COLUMNS, reply_score_blocks)


def list_tables(campaign: Campaign) -> list[str]:
    """Return the names of the tables that the campaign's criteria fill, and of the one its method reads. One query."""
    filled = {each.response_kind.table for each in campaign.criteria.all()} | {methods[campaign.method].table}
    return [name for name in TABLES if name in filled]


def table_of(campaign: Campaign, name: str, *, has_style: bool = True) -> ResponseTable:
    """Return a table of a campaign, with the style of outputs and the attributes of invited raters and sources at its
    end. Four queries.

    That of scores has those of single replies, if any are asked for. `has_style`: as of `attributes_of`.
    """
    has_replies = name == SCORES and campaign.criteria.filter(scope=Scope.TURN).exists()
    table, known = _REPLY_SCORES if has_replies else TABLES[name], attributes_of(campaign, has_style=has_style)

    def blocks(
        campaign: Campaign, *, states: Collection[str] = FINISHED, names: NameWorker, workers: Workers = None
    ) -> Iterator[Block]:
        return known.beside(table.columns, table.blocks(campaign, states=states, names=names, workers=workers), names)

    columns = known.columns(table.columns)
    return ResponseTable(columns, blocks) if columns != table.columns else table
