"""The tables of a campaign's responses that analyses read."""

from collections.abc import Collection, Iterator
from typing import NamedTuple, Protocol

from annotation.export.answers import (
    ANSWER_COLUMNS,
    COUNT_COLUMNS,
    EDIT_COLUMNS,
    MAGNITUDE_COLUMNS,
    answer_blocks,
    count_blocks,
    edit_blocks,
    magnitude_blocks,
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
from annotation.export.marked_errors import RATED_SPAN_COLUMNS, SPAN_COLUMNS, rated_span_blocks, span_blocks
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
from evalsite.lib.tables.blocks import Block


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


TABLES: dict[str, ResponseTable] = {
    SCORES: ResponseTable(SCORE_COLUMNS, score_blocks),
    "edits": ResponseTable(EDIT_COLUMNS, edit_blocks),
    "answers": ResponseTable(ANSWER_COLUMNS, answer_blocks),
    "counts": ResponseTable(COUNT_COLUMNS, count_blocks),
    "magnitudes": ResponseTable(MAGNITUDE_COLUMNS, magnitude_blocks),
    "spans": ResponseTable(SPAN_COLUMNS, span_blocks),
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
