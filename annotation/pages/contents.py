"""What a page of one item or several shows, whatever their kinds: no value here may depend on them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from itertools import count, groupby
from string import ascii_uppercase
from typing import NamedTuple

from annotation.pages.questions import OF_PAGE, AnswerKey, Asked, asked_on
from annotation.pages.shown_files import html_of_file
from annotation.pages.text_images import Part, Sizes, Stem, blocks_with_parts, sizes_of
from annotation.queries import Reply, ShownItem, ShownPage, replies_shown
from campaigns.blocks import html_of
from campaigns.contracts.chat import Speaker, Utterance
from campaigns.contracts.format import Block, ContentFormat
from campaigns.contracts.protocol import Scope, Screen
from campaigns.contracts.response import ResponseKind
from campaigns.design.composition import Layout
from campaigns.design.paging import PageKind
from campaigns.formats import get_format
from campaigns.models import Campaign, Criterion

ANSWER, ABSTAINED = "answer_", "abstained_"
"""What the names of inputs begin with, of an answer and of why there is none; the suffix of an `AnswerKey` follows."""
# Characters of a source that is beside its output: more would be higher than most windows. And how much may be asked
# below both; what is asked more is beside the texts, which are one below the other then.
_LONGEST_BESIDE, _MOST_QUESTIONS_BELOW = 1_200, 2
_FEW_QUESTIONS = 2


class Run(NamedTuple):
    """A stretch of a text, marked or not."""

    text: str
    is_marked: bool


class Picture(NamedTuple):
    """A text, or a part of one, as an image: what its names begin with, its sizes by width of text, what it is.

    `is_beside`: in a wide window another text is beside it.
    """

    stem: str
    sizes: Sizes
    label: str = ""
    is_beside: bool = False


@dataclass(frozen=True)
class ShownText:
    """A block as a worker reads it: as images or, without any, as HTML of its format or runs of text.

    `is_output`: it is rated. `speaker` says it, if it is a turn of the dialogue with this heading. `name`: what a page
    calls it on which workers mark texts, else "". `format` renders it. `fold`, `is_open`: as those of its block.
    `questions`: what is asked of the reply or step that ends with it; `turn`: what that is called, if it has a number.
    """

    label: str
    is_output: bool
    pictures: Sequence[Picture]
    runs: Sequence[Run]
    speaker: Speaker | None
    dialogue: str
    name: str = ""
    html: str = ""
    format: str = "text"
    fold: str = ""
    is_open: bool = False
    turn: str = ""
    questions: "Sequence[Question]" = ()


@dataclass(frozen=True)
class Section:
    """One text, or the turns of one dialogue, under a heading. `is_output`: all of it is rated."""

    label: str
    is_output: bool
    text: ShownText | None = None
    turns: Sequence[ShownText] = ()


class Question(NamedTuple):
    """What is asked, and its number on the page."""

    number: int
    asked: Asked


@dataclass(frozen=True)
class ShownOutput:
    """One of several outputs of a page: what it is called there, its texts, and what is asked of it."""

    label: str
    sections: Sequence[Section]
    questions: Sequence[Question]


class ShownTurn(NamedTuple):
    """A turn of the chat that is rated, and what is asked of it if it is a reply, the `reply`th one.

    `name`: what the chatbot is called, where there are two at once.
    """

    by: Speaker
    text: str
    reply: int
    questions: Sequence[Question]
    name: str = ""


class Frame(NamedTuple):
    """What a page of items shows around its texts and questions: the same for many. As in `ItemPage`."""

    number: int
    n_pages: int
    n_questions: int
    has_many_questions: bool
    has_only_sliders: bool
    needs_script: bool
    asks_of_replies: bool
    compares_chats: bool
    has_turns: bool
    is_beside: bool
    is_revisable: bool
    styles: tuple[str, ...]
    scripts: tuple[str, ...]


@dataclass(frozen=True)
class ItemPage:
    """A page to rate: what is shown and asked of all of it, and its outputs if there are several.

    `position` is that of its first item. `is_source_known`: the item before had the same source. `ahead` are the images
    of the page after it that it has not itself, for the browser to load meanwhile, and `files_ahead` its files as HTML.
    `saved` are answers to begin with, as forms send them, by the names of their inputs. `is_marked`: workers mark
    texts, so none is an image. `turns` are those of a chat. `is_beside`: in a wide window each output is beside its
    source. `formats`: those of all that the campaign shows, and of what they show.
    """

    position: int
    number: int
    n_pages: int
    sections: Sequence[Section]
    outputs: Sequence[ShownOutput]
    questions: Sequence[Question]
    is_source_known: bool
    is_revisable: bool
    ahead: Sequence[Picture]
    saved: Mapping[str, Sequence[str]] = field(default_factory=dict)
    is_marked: bool = False
    turns: Sequence[ShownTurn] = ()
    is_beside: bool = False
    formats: Sequence[type[ContentFormat]] = ()
    files_ahead: Sequence[str] = ()

    @property
    def frame(self) -> Frame:
        """What is around its texts and questions."""
        return Frame(
            self.number,
            self.n_pages,
            self.n_questions,
            len(self.questions) > _FEW_QUESTIONS,
            self.has_only_sliders,
            self.needs_script,
            self.asks_of_replies,
            self.compares_chats,
            self.has_turns,
            self.is_beside,
            self.is_revisable,
            tuple(self.styles),
            tuple(self.scripts),
        )

    @cached_property
    def all_questions(self) -> list[Question]:
        """What is asked, of each output, of all of it, and of each reply."""
        of_outputs = (each for output in self.outputs for each in output.questions)
        of_chat = (each for turn in self.turns for each in turn.questions)
        of_turns = (each for section in self.sections for turn in section.turns for each in turn.questions)
        return [*of_outputs, *self.questions, *of_chat, *of_turns]

    @cached_property
    def asks_of_replies(self) -> bool:
        """Whether anything is asked of single replies of a chat."""
        return any(turn.questions for turn in self.turns)

    @property
    def compares_chats(self) -> bool:
        """Whether it is about chats with two chatbots at once."""
        return any(turn.name for turn in self.turns)

    def find(self, key: AnswerKey) -> Question | None:
        """Return what a key names on this page."""
        return next((each for each in self.all_questions if each.asked.key == key), None)

    @property
    def kinds(self) -> list[type[ResponseKind]]:
        """How what is asked is answered."""
        return [each.asked.criterion.response_kind for each in self.all_questions]

    @property
    def n_questions(self) -> int:
        """How much is asked."""
        return len(self.all_questions)

    @cached_property
    def has_only_sliders(self) -> bool:
        """Whether all that is asked is to move sliders: words on the page say so."""
        may_abstain = any(each.asked.criterion.may_abstain for each in self.all_questions)
        return not may_abstain and all(kind.needs_script and not kind.script for kind in self.kinds)

    @property
    def styles(self) -> list[str]:
        """The style sheets of the formats and response kinds on the page, each once."""
        styles = [*(each.style for each in self.formats), *(each.style for each in self.kinds)]
        return list(dict.fromkeys(filter(None, styles)))

    @property
    def scripts(self) -> list[str]:
        """The scripts of the formats on the page, each once."""
        return list(dict.fromkeys(each.script for each in self.formats if each.script))

    @property
    def needs_script(self) -> bool:
        """Whether a criterion cannot be answered without the page's script."""
        return any(kind.needs_script for kind in self.kinds)

    @cached_property
    def all_sections(self) -> list[Section]:
        """What is shown of all of it and of each output."""
        return [*self.sections, *(section for output in self.outputs for section in output.sections)]

    @property
    def has_turns(self) -> bool:
        """Whether a dialogue is shown."""
        return any(section.turns for section in self.all_sections)

    @property
    def has_pictures(self) -> bool:
        """Whether a text is an image."""
        texts = (text for each in self.all_sections for text in ([each.text] if each.text else each.turns))
        return any(text.pictures for text in texts)


def make_item_page(
    campaign: Campaign,
    page: ShownPage,
    following: ShownPage | None,
    criteria: Sequence[Criterion],
    *,
    stem_of: Stem,
    is_text: bool,
    saved: Mapping[str, Sequence[str]] | None = None,
    chat: Sequence[Utterance] = (),
) -> ItemPage:
    """Return a page, its texts as images called by `stem_of` or, if `is_text`, as text; `chat` is what it is about.

    No query.
    """
    replies = [Reply(number, turn.text) for number, turn in enumerate(chat, start=1) if turn.by == "chatbot"]
    replies = replies or replies_shown(campaign, page, criteria)
    asked = asked_on(page, criteria, replies)
    is_marked = any(each.criterion.response_kind.marks_text for each in asked)
    is_text = is_text or is_marked
    questions = [Question(number, each) for number, each in enumerate(asked, start=1)]
    blocks = _blocks(campaign, page, is_text)
    next_blocks = _blocks(campaign, following, is_text) if following else []
    beside = _find_beside(campaign, page, blocks, criteria)
    how = _How(stem_of, is_text, is_marked, beside, _words_of_turns(campaign, replies), _of_turns(questions))
    own = _outputs(campaign, blocks, questions, how) if page.has_several else []
    whole = _shared(campaign, page, blocks[0][1])
    return ItemPage(
        position=page.position,
        number=page.number,
        n_pages=page.n_pages,
        sections=_sections([_shown(block, parts, how) for block, parts in whole]),
        outputs=own,
        questions=[each for each in questions if each.asked.place == OF_PAGE and not each.asked.turn],
        is_source_known=campaign.layout == Layout.BY_SOURCE and page.number > 1,
        is_revisable=campaign.is_revisable,
        ahead=_ahead(campaign, blocks, following, next_blocks, criteria, stem_of) if following else (),
        saved=saved or {},
        is_marked=is_marked,
        turns=_turns(chat, questions),
        is_beside=beside == Beside.ALL,
        formats=_formats(campaign, blocks),
        files_ahead=_files_ahead(blocks, next_blocks, stem_of),
    )


def _turns(chat: Sequence[Utterance], questions: Sequence[Question]) -> list[ShownTurn]:
    """Return the turns of a chat, each reply with what is asked of it."""
    of_turn = _of_turns(questions)
    reply = count(1)
    return [
        ShownTurn(said.by, said.text, next(reply) if said.by == "chatbot" else 0, of_turn.get(number, ()), said.name)
        for number, said in enumerate(chat, start=1)
    ]


def _of_turns(questions: Sequence[Question]) -> dict[int, list[Question]]:
    """Return what is asked of each reply or step, by its number; of all of a page: 0."""
    found: dict[int, list[Question]] = {}
    for each in questions:
        found.setdefault(each.asked.turn, []).append(each)
    return found


def _words_of_turns(campaign: Campaign, replies: Sequence[Reply]) -> str:
    """Return what the replies or steps of outputs are called where something is about them, else ""."""
    is_asked = replies and not campaign.is_live
    return campaign.format_of_outputs.turn if is_asked else ""


Blocks = list[tuple[Block, list[Part]]]
BlocksOfItems = list[tuple[ShownItem, Blocks]]


class Beside(Enum):
    """Which texts of a page have another beside them in a wide window."""

    NONE = ()
    OUTPUTS = (True,)
    ALL = (True, False)

    def has(self, block: Block) -> bool:
        """Return whether a block is one of them."""
        return block.is_output in self.value


class _How(NamedTuple):
    """How texts are shown: what images are called, whether as text, whether workers mark them, which side by side.

    `turn`: what replies or steps are called, if they have numbers; `of_turns`: what is asked of each, by its number.
    """

    stem_of: Stem
    is_text: bool
    is_marked: bool
    beside: Beside
    turn: str
    of_turns: Mapping[int, Sequence[Question]]


def _blocks(campaign: Campaign, page: ShownPage, is_text: bool) -> BlocksOfItems:
    return [(item, blocks_with_parts(campaign, item, is_text=is_text)) for item in page.items]


def _formats(campaign: Campaign, blocks: BlocksOfItems) -> list[type[ContentFormat]]:
    """Return the formats of a page, each once: pages of one campaign load the same files, whatever is on them."""
    screen = Screen.from_json(campaign.screen)
    of_fields = (each.format for each in screen.fields if each.is_shown)
    of_blocks = (block.format for _, of_item in blocks for block, _ in of_item)
    return [get_format(slug) for slug in dict.fromkeys((*of_fields, screen.output_format, *of_blocks))]


def _compares(campaign: Campaign) -> bool:
    return campaign.page_kind == PageKind.COMPARISON


def _find_beside(campaign: Campaign, page: ShownPage, blocks: BlocksOfItems, criteria: Sequence[Criterion]) -> Beside:
    """Return which texts are side by side: outputs that are compared, or each output and its source.

    Only the sources and what is asked decide that, so that it is the same for all outputs of a source, and all copies.
    """
    if _compares(campaign):
        return Beside.OUTPUTS if page.has_several else Beside.NONE
    below = {Scope.PAGE} if page.has_several else {Scope.PAGE, Scope.OUTPUT}
    if sum(each.scope in below for each in criteria) > _MOST_QUESTIONS_BELOW:
        return Beside.NONE
    sources = [[block for block, _ in of_item if not block.is_output] for _, of_item in blocks]
    n_characters = [sum(len(block.text) + bool(block.file) for block in of_item) for of_item in sources]
    has_turns = any(block.dialogue for _, of_item in blocks for block, _ in of_item)
    is_short = min(n_characters) > 0 and max(n_characters) <= _LONGEST_BESIDE
    return Beside.ALL if is_short and not has_turns else Beside.NONE


def _shared(campaign: Campaign, page: ShownPage, first: Blocks) -> Blocks:
    """Return the blocks that are shown once: all of a single item, the source of a comparison."""
    if not page.has_several:
        return first
    return [each for each in first if not each[0].is_output] if _compares(campaign) else []


def _outputs(campaign: Campaign, blocks: BlocksOfItems, questions: list[Question], how: _How) -> list[ShownOutput]:
    """Return the outputs of a page: compared ones by letter without their source, segments by number with theirs."""
    is_compared = _compares(campaign)
    found = []
    for place, (_, of_item) in enumerate(blocks, start=1):
        shown = [_shown(block, parts, how) for block, parts in of_item if block.is_output or not is_compared]
        mine = [each for each in questions if each.asked.place == place]
        if not shown and not mine:  # a chat, of which nothing is asked by itself
            continue
        found.append(ShownOutput(ascii_uppercase[place - 1] if is_compared else str(place), _sections(shown), mine))
    return found


def _shown(block: Block, parts: list[Part], how: _How) -> ShownText:
    if block.file:
        html = html_of_file(block, how.stem_of, is_text=how.is_text)
    else:
        html = "" if parts or how.is_marked else html_of(block)
    turn = block.turn if block.is_output else 0
    return ShownText(
        label=block.label,
        is_output=block.is_output,
        pictures=[_picture(part, block.label, how.stem_of, how.beside.has(block)) for part in parts],
        runs=() if parts or html else _runs(block),
        speaker=block.speaker,
        dialogue=block.dialogue,
        name=block.name if how.is_marked and not block.file else "",
        html=html,
        format=block.format,
        fold=block.fold,
        is_open=block.is_open,
        turn=f"{how.turn} {block.turn}" if how.turn and turn else "",
        questions=how.of_turns.get(turn, ()) if turn else (),
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
    campaign: Campaign,
    here: BlocksOfItems,
    following: ShownPage,
    blocks: BlocksOfItems,
    criteria: Sequence[Criterion],
    stem_of: Stem,
) -> list[Picture]:
    shown = {part.key for _, of_item in here for _, parts in of_item for part in parts}
    beside = _find_beside(campaign, following, blocks, criteria)
    ahead = ((block, part) for _, of_item in blocks for block, parts in of_item for part in parts)
    return [_picture(part, "", stem_of, beside.has(block)) for block, part in ahead if part.key not in shown]


def _files_ahead(here: BlocksOfItems, following: BlocksOfItems, stem_of: Stem) -> list[str]:
    shown = {block.key for _, of_item in here for block, _ in of_item}
    blocks = (block for _, of_item in following for block, _ in of_item if block.file)
    return [html_of_file(block, stem_of) for block in blocks if block.key not in shown]


def _picture(part: Part, label: str, stem_of: Stem, is_beside: bool) -> Picture:
    return Picture(stem_of(part), sizes_of(part), label, is_beside)


def _runs(block: Block) -> list[Run]:
    """Return a block's text in stretches that are marked or not."""
    runs, end = [], 0
    for first, last in block.highlights:
        runs += [Run(block.text[end:first], False), Run(block.text[first:last], True)]
        end = last
    runs.append(Run(block.text[end:], False))
    return [run for run in runs if run.text]
