"""What the page of an item shows, whatever its kind: no value here may depend on it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from annotation.queries import ShownItem
from annotation.text_images import WIDTHS, Part, Stem, blocks_with_parts, size_of
from campaigns.blocks import Block
from campaigns.contracts.chat import Speaker
from campaigns.design.composition import Layout
from campaigns.models import Campaign, Criterion

ANSWER, ABSTAINED = "answer_", "abstained_"
"""What the names of inputs begin with: that of an answer, and of why there is none; the criterion's id follows."""


class Run(NamedTuple):
    """A stretch of a text, marked or not."""

    text: str
    is_marked: bool


class Picture(NamedTuple):
    """A text, or a part of one, as an image: what its names begin with, its sizes by width of text, what it is."""

    stem: str
    sizes: Mapping[int, tuple[int, int]]
    label: str = ""


@dataclass(frozen=True)
class ShownText:
    """A block as a worker reads it: as images or, without any, as runs of text.

    `is_output`: it is rated. `speaker` says it, if it is a turn of the dialogue with this heading.
    """

    label: str
    is_output: bool
    pictures: Sequence[Picture]
    runs: Sequence[Run]
    speaker: Speaker | None
    dialogue: str


@dataclass(frozen=True)
class Section:
    """One text, or the turns of one dialogue, under a heading. `is_output`: all of it is rated."""

    label: str
    is_output: bool
    text: ShownText | None = None
    turns: Sequence[ShownText] = ()


@dataclass(frozen=True)
class ItemPage:
    """An item: its sections and its criteria.

    `is_source_known`: the item before had the same source. `ahead` are the images of the item after it that it has not
    itself, for the browser to load meanwhile.
    """

    position: int
    n_items: int
    sections: Sequence[Section]
    criteria: Sequence[Criterion]
    is_source_known: bool
    ahead: Sequence[Picture]

    @property
    def has_only_sliders(self) -> bool:
        """Whether all that is asked is to move sliders: words on the page say so."""
        return all(each.response_kind.needs_script and not each.may_abstain for each in self.criteria)

    @property
    def needs_script(self) -> bool:
        """Whether a criterion cannot be answered without the page's script."""
        return any(each.response_kind.needs_script for each in self.criteria)

    @property
    def has_turns(self) -> bool:
        """Whether a dialogue is shown."""
        return any(section.turns for section in self.sections)


def make_item_page(
    campaign: Campaign,
    shown: ShownItem,
    following: ShownItem | None,
    criteria: Sequence[Criterion],
    *,
    n_items: int,
    stem_of: Stem,
    is_text: bool,
) -> ItemPage:
    """Return the page of an item, its texts as images called by `stem_of` or, if `is_text`, as text. No query."""
    blocks = blocks_with_parts(campaign, shown)
    return ItemPage(
        position=shown.position,
        n_items=n_items,
        sections=_sections([_shown(block, parts, None if is_text else stem_of) for block, parts in blocks]),
        criteria=criteria,
        is_source_known=campaign.layout == Layout.BY_SOURCE and shown.position > 1,
        ahead=_ahead(campaign, blocks, following, stem_of) if following and not is_text else (),
    )


def _shown(block: Block, parts: list[Part], stem_of: Stem | None) -> ShownText:
    is_drawn = bool(stem_of and parts)
    return ShownText(
        label=block.label,
        is_output=block.is_output,
        pictures=[_picture(part, block.label, stem_of) for part in parts] if stem_of else (),
        runs=() if is_drawn else _runs(block),
        speaker=block.speaker,
        dialogue=block.dialogue,
    )


def _sections(texts: Sequence[ShownText]) -> list[Section]:
    sections: list[Section] = []
    for heading, group in groupby(texts, key=lambda text: text.dialogue):
        members = list(group)
        if heading:
            sections.append(Section(heading, all(text.is_output for text in members), turns=members))
        else:
            sections += [Section(text.label, text.is_output, text) for text in members]
    return sections


def _ahead(
    campaign: Campaign, blocks: list[tuple[Block, list[Part]]], following: ShownItem, stem_of: Stem
) -> list[Picture]:
    here = {part.key for _, parts in blocks for part in parts}
    ahead = (part for _, parts in blocks_with_parts(campaign, following) for part in parts)
    return [_picture(part, "", stem_of) for part in ahead if part.key not in here]


def _picture(part: Part, label: str, stem_of: Stem) -> Picture:
    sizes = {width: size_of(part.text, part.width_on(width), part.place) for width, _ in WIDTHS}
    return Picture(stem_of(part), sizes, label)


def _runs(block: Block) -> list[Run]:
    """Return a block's text in stretches that are marked or not."""
    runs, end = [], 0
    for first, last in block.highlights:
        runs += [Run(block.text[end:first], False), Run(block.text[first:last], True)]
        end = last
    runs.append(Run(block.text[end:], False))
    return [run for run in runs if run.text]
