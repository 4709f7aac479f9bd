"""The items of which a researcher sees a preview: of the HITs once they are built, of the first outputs before.

Of a live campaign, whose chats do not exist yet, an example is shown for each.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from django.http import Http404

from annotation.pages.shown_files import stem_of_file
from annotation.pages.text_images import Part, blocks_with_parts, stems
from annotation.queries import ShownItem, ShownPage, pages_of_items, shown_pages
from campaigns.blocks import html_of
from campaigns.contracts.chat import Speaker, Utterance, names_of
from campaigns.contracts.format import Block
from campaigns.design.paging import PageKind
from campaigns.models import Campaign, Chatbot, HitItem, Output

# The HIT of a preview before there are HITs, and how many outputs it has at most.
SAMPLE_HIT, SAMPLE_SIZE = 0, 20

_EXAMPLE_CHAT = (
    Utterance("worker", "Hello! Do you like dogs?"),
    Utterance("chatbot", "I do! I have two of them, and they love the beach. How about you?"),
    Utterance("worker", "I would like to have one, but my flat is too small."),
    Utterance("chatbot", "Perhaps a small one then. A friend of mine has a terrier who sleeps on a bookshelf."),
    Utterance("worker", "On a bookshelf? How does it get up there?"),
    Utterance("chatbot", "By way of the sofa, and nobody is allowed to move it."),
)
_OTHER_REPLIES = (
    "Yes, dogs are good company. What do you like about them?",
    "That is a pity. Is there a park near where you live?",
    "I do not know. Perhaps it jumps.",
)
EXAMPLE_TOPIC, _EXAMPLE_STATEMENT = "dogs", "I have two dogs."

stem_of = stems("preview")
"""How the images of a preview are called."""


@dataclass(frozen=True)
class FoundPage:
    """A page of a preview, and how many HITs there are."""

    page: ShownPage
    hit: int
    n_hits: int

    @property
    def n_pages(self) -> int:
        """How many pages its HIT has."""
        return self.page.n_pages


@dataclass(frozen=True)
class PreviewBar:
    """Where in a preview somebody is: `hit` is None if there is nothing to rate; `shown` is the page, if one shows."""

    campaign: Campaign
    hit: int | None
    shown: FoundPage | None = None

    @property
    def number(self) -> int:
        """Number of the page that shows, or of the first one."""
        return self.shown.page.number if self.shown else 1


def first_hit(campaign: Campaign) -> int | None:
    """Return the number of the HIT that a preview begins with; None if there is nothing to show."""
    number = campaign.hits.values_list("number", flat=True).first()
    if number is not None:
        return number
    return SAMPLE_HIT if Output.objects.filter(source__campaign=campaign).exists() else None


def get_preview_page(campaign: Campaign, hit: int, number: int) -> FoundPage:
    """Return a page of a HIT, or of the sample while there are no HITs; raise Http404. At most three queries."""
    pages = _pages(campaign, hit)
    if not 1 <= number <= len(pages):
        raise Http404("There is no such item.")
    return FoundPage(pages[number - 1], hit, campaign.hits.count() if hit != SAMPLE_HIT else 0)


def get_preview_item(campaign: Campaign, hit: int, position: int) -> ShownItem:
    """Return an item of a HIT, or of the sample while there are no HITs; raise Http404. One query."""
    items = (item for page in _pages(campaign, hit) for item in page.items)
    if found := next((item for item in items if item.position == position), None):
        return found
    raise Http404("There is no such item.")


def _pages(campaign: Campaign, hit: int) -> list[ShownPage]:
    if hit == SAMPLE_HIT:
        return pages_of_items(_sample_items(campaign))
    return shown_pages(HitItem.objects.filter(hit__campaign=campaign, hit__number=hit))


def _sample_items(campaign: Campaign) -> list[ShownItem]:
    """Return the first outputs, on pages as the design has them."""
    outputs = Output.objects.filter(source__campaign=campaign).select_related("source")
    if campaign.page_kind == PageKind.OUTPUT:
        pages = [[output] for output in outputs[:SAMPLE_SIZE]]
    elif campaign.page_kind == PageKind.COMPARISON:
        n = campaign.outputs_per_page
        first = campaign.sources.values("pk")[:SAMPLE_SIZE]
        in_order = outputs.filter(source__in=first).order_by("source", "pk")
        pages = [list(group)[:n] for _, group in groupby(in_order, key=lambda output: output.source_id)]
        pages = [page for page in pages if len(page) == n]
    else:
        of_first = outputs.filter(system=campaign.systems.order_by("pk").first()).exclude(source__document="")
        in_order = of_first.order_by("source__document", "source__place", "pk")[: SAMPLE_SIZE * 5]
        pages = [list(group) for _, group in groupby(in_order, key=lambda output: output.source.document)]
    numbered = ((number, output) for number, page in enumerate(pages, start=1) for output in page)
    return [
        ShownItem(output.pk, position, output.text, output.source_id, output.source.fields, number)
        for position, (number, output) in enumerate(numbered, start=1)
    ]


@dataclass(frozen=True)
class PreviewText:
    """A text as workers read it: starts and ends of what is highlighted, and what the names of its images begin with.

    `is_output`: it is rated. `speaker` says it, if it is a turn of the dialogue with this heading. `html`: the text as
    its `format` renders it, "" where it is shown as it is written.
    """

    label: str
    text: str
    highlights: tuple[tuple[int, int], ...]
    is_output: bool
    speaker: Speaker | None
    dialogue: str
    images: tuple[str, ...]
    format: str
    html: str


@dataclass(frozen=True)
class PreviewPage:
    """What workers see of an item, which does not say what kind of item it is; a chat has no texts before it began."""

    position: int
    texts: tuple[PreviewText, ...]


def list_preview_pages(campaign: Campaign, hit: int) -> list[PreviewPage]:
    """Return the items of a HIT by position, or of the sample while there are no HITs; raise Http404. One query."""
    shown = [item for page in _pages(campaign, hit) for item in page.items]
    if not shown:
        raise Http404("There is no such HIT.")
    return [PreviewPage(item.position, _texts_of(campaign, item)) for item in shown]


def _texts_of(campaign: Campaign, item: ShownItem) -> tuple[PreviewText, ...]:
    return tuple(
        PreviewText(
            block.label,
            block.text,
            block.highlights,
            block.is_output,
            block.speaker,
            block.dialogue,
            _images_of(campaign, block, parts),
            block.format,
            html_of(block),
        )
        for block, parts in blocks_with_parts(campaign, item)
    )


def _images_of(campaign: Campaign, block: Block, parts: Sequence[Part]) -> tuple[str, ...]:
    if block.file:
        return (stem_of_file(block, stem_of),)
    return () if campaign.is_accessible else tuple(map(stem_of, parts))


def example_chat(campaign: Campaign) -> Sequence[Utterance]:
    """Return a chat as an example; with two chatbots at once where workers compare them."""
    if not campaign.compares_chats:
        return _EXAMPLE_CHAT
    first, second = names_of(2)
    of_both: list[Utterance] = []
    for said, reply, other in zip(_EXAMPLE_CHAT[::2], _EXAMPLE_CHAT[1::2], _OTHER_REPLIES, strict=True):
        of_both += [said, replace(reply, name=first), Utterance("chatbot", other, second)]
    return of_both


def example_statement(campaign: Campaign) -> str:
    """Return the statement that the example of a chat begins with: of one of the chatbots; "" where workers choose.

    One query at most.
    """
    if campaign.chat_rules.opening == "free":
        return ""
    personas = Chatbot.objects.filter(system__campaign=campaign).exclude(persona=[]).values_list("persona", flat=True)
    return (personas.first() or [_EXAMPLE_STATEMENT])[0]
