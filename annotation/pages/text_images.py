"""The images that a worker reads: what is drawn on each, its opaque name, its salt.

Every image is drawn when a browser asks for it and kept by that browser alone. Measured: an output or a question takes
0.6 ms, a passage of 550 characters 4 ms (18 ms at 2×), and a HIT's passage is asked for once; of a cache on disk, a
copy with its own salt would have to be encoded again, and it would rarely be found, since most HITs have one worker. A
page fetches the images of the next item, so nobody waits for them. Drawing ahead would make all variants of an image
(four widths, two themes, two scales, two spacings of lines), of which a browser asks for one.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import product
from string import ascii_lowercase
from typing import Literal, NamedTuple

from annotation.images import DARK, LIGHT, N_SHADES, TextTooTallError, Theme, measure, render
from annotation.models import Assignment
from annotation.queries import ShownItem
from campaigns.blocks import blocks_of
from campaigns.contracts.chat import Speaker
from campaigns.contracts.format import Block
from campaigns.contracts.protocol import Screen
from campaigns.design.composition import Layout
from campaigns.models import Campaign
from evalsite.lib.caches import byte_cache, size_with_text
from evalsite.lib.kept_keys import IMAGE_BYTES, IMAGE_NAMES, keyed_hash

# Widths of texts in CSS pixels, the widest first, and the windows that each is for. In em, so that letters are larger
# where the browser's are; static/css/rate.css has the same windows.
WIDTHS: tuple[tuple[int, str], ...] = (
    (720, ""),
    (480, "(max-width: 46.9375em)"),
    (328, "(max-width: 31.9375em)"),
    (240, "(max-width: 19.9375em)"),
)
BESIDE: tuple[int, str] = (480, "(min-width: 62.5em)")
"""The width and the windows of a text that has another one beside it there."""
# By how much a turn of a dialogue is narrower: its bubble is on one side.
_INSETS = {720: 120, 480: 120, 328: 48, 240: 48}
_WIDEST_ON_PHONES = 328
_STEM_LENGTH = 24
# A phone's pixels are so fine that shades between background and text are not seen.
_N_SHADES_ON_PHONES = 2
# Characters: of a text that is still drawn, and of one that may fit in one image, so that no longer one is measured.
LONGEST_DRAWN, _LONGEST_PART = 50_000, 20_000

ThemeName = Literal["light", "dark"]
THEMES: dict[ThemeName, Theme] = {"light": LIGHT, "dark": DARK}
# What a chatbot says is on the soft accent of static/css/tokens.css.
_CHATBOTS_THEMES: dict[ThemeName, Theme] = {
    "light": replace(LIGHT, background="#e1eef0"),
    "dark": replace(DARK, background="#1c3439"),
}
Scale = Literal[1, 2]
SCALES: tuple[Scale, ...] = (1, 2)


class Variant(NamedTuple):
    """One variant of an image: for which screens, theme and pixels, and whether its lines are wide apart."""

    width: int
    theme: ThemeName
    scale: Scale
    is_wide: bool = False


_USUAL = [Variant(*each) for each in product((w for w, _ in WIDTHS), THEMES, SCALES)]
# By the letter that ends an image's name, a capital if lines are wide apart: pages name the others, and
# static/js/rate_reading.js makes their letters capitals for workers who chose that.
VARIANTS = dict(zip(ascii_lowercase, _USUAL, strict=False))
VARIANTS |= {letter.upper(): variant._replace(is_wide=True) for letter, variant in VARIANTS.items()}
LETTERS = {variant: letter for letter, variant in VARIANTS.items()}


@dataclass(frozen=True)
class Part:
    """What one image shows: a block's text or, if that is too tall for an image, a part of it.

    `key` names its place in the HIT, the same for all variants, and `place` that of the whole text. `speaker` says it,
    if it is a turn of a dialogue.
    """

    key: str
    text: str
    highlights: tuple[tuple[int, int], ...] = ()
    speaker: Speaker | None = None
    place: str = ""

    def width_on(self, width: int) -> int:
        """Return the width of its image where texts that are no turns have this one."""
        return width - _INSETS[width] if self.speaker else width


# Width of texts, and width and height of an image, for each of WIDTHS.
Sizes = tuple[tuple[int, tuple[int, int]], ...]
# What the names of the images of a part begin with; a letter for the variant ends them.
Stem = Callable[[Part], str]


def blocks_with_parts(campaign: Campaign, item: ShownItem, *, is_text: bool = False) -> list[tuple[Block, list[Part]]]:
    """Return what the worker is shown of an item, and the images of each block; none if `is_text`.

    Where all items of a HIT have one source, its images are the same ones throughout, so that a browser loads them
    once; elsewhere those of a copy must differ from its twin's. A text of over 50,000 characters, as only older
    imports have, has no images: drawing 2 million took 52 s and 1.2 GB. It is shown as text.
    """
    if campaign.is_live:  # what is rated is what was said
        return []
    return _blocks(item, Screen.from_json(campaign.screen), campaign.layout == Layout.BY_SOURCE, is_text)


# A page needs them as the next one, as itself, and for each of its images.
@byte_cache(16 * 2**20, lambda blocks, *_: 1000 + sum(1000 + 4 * len(block.text) for block, _ in blocks))
def _blocks(item: ShownItem, screen: Screen, is_shared: bool, is_text: bool) -> list[tuple[Block, list[Part]]]:
    found = []
    for block in blocks_of(screen, item.fields, item.text):
        place = f"source {item.source_id}" if is_shared and not block.is_output else f"item {item.position}"
        key = f"{place} {block.name}"
        is_drawn = block.is_drawn and not is_text and len(block.text) <= LONGEST_DRAWN
        found.append((replace(block, key=key), _split(block, key) if is_drawn else []))
    return found


def _split(block: Block, key: str) -> list[Part]:
    """Return the parts of a block that are not too tall."""
    whole = Part(key, block.text, (), block.speaker, key)
    parts = []
    for number, (start, end) in enumerate(_stretches(block.text, bool(block.speaker), key)):
        marked = [(max(first - start, 0), min(last, end) - start) for first, last in block.highlights]
        inside = tuple((first, last) for first, last in marked if first < last)
        parts.append(replace(whole, key=f"{key} {number}", text=block.text[start:end], highlights=inside))
    return parts


@byte_cache(8 * 2**20, size_with_text)
def _stretches(text: str, is_turn: bool, place: str) -> tuple[tuple[int, int], ...]:
    """Return starts and ends of the stretches of a text that are not too tall, as few as halving gives."""
    try:
        if len(text) > _LONGEST_PART:
            raise TextTooTallError
        _sizes(text, is_turn, place)
    except TextTooTallError:
        middle = _find_break(text)
        rest = ((start + middle, end + middle) for start, end in _stretches(text[middle:], is_turn, place))
        return (*_stretches(text[:middle], is_turn, place), *rest)
    return ((0, len(text)),)


def _find_break(text: str) -> int:
    """Return where to cut a text: after the last line break or space of its first half, else in its middle."""
    middle = len(text) // 2
    return max(text.rfind("\n", 0, middle), text.rfind(" ", 0, middle)) + 1 or middle


def sizes_of(part: Part) -> Sizes:
    """Return widths and heights of a part's images in CSS pixels, by the width of texts that are no turns."""
    return _sizes(part.text, part.speaker is not None, part.place)


@byte_cache(8 * 2**20, size_with_text)
def _sizes(text: str, is_turn: bool, place: str) -> Sizes:
    """Return the sizes, the narrowest first; raise TextTooTallError.

    What is kept of a text is kept for its place in the HIT: the page of a repeat would else be there a little sooner.
    """
    widths = ((width, width - _INSETS[width] if is_turn else width) for width, _ in reversed(WIDTHS))
    return tuple((width, measure(text, width_px=own, place=place)) for width, own in widths)


def stems(scope: str) -> Stem:
    """Return how the images of a scope are called: names that say nothing to those without our secret key."""

    def stem_of(part: Part) -> str:
        digest = keyed_hash(IMAGE_NAMES, f"{scope} {part.key}")
        return digest.hexdigest()[:_STEM_LENGTH]

    return stem_of


def stems_in(assignment: Assignment) -> Stem:
    """Return how the images of an assignment are called."""
    return stems(f"assignment {assignment.pk}")


def find_image(items: Iterable[ShownItem], campaign: Campaign, stem_of: Stem, name: str) -> tuple[Part, Variant] | None:
    """Return what the image called `name` shows, if it is one of these items'."""
    variant = VARIANTS.get(name[-1:])
    parts = (part for item in items for _, parts in blocks_with_parts(campaign, item) for part in parts)
    part = next((part for part in parts if stem_of(part) == name[:-1]), None)
    return (part, variant) if part and variant else None


def draw(part: Part, variant: Variant, *, secret: str = "") -> tuple[bytes, str]:
    """Return the image and its type; another `secret` gives other bytes of the same look."""
    salt = keyed_hash(IMAGE_BYTES, f"{secret} {variant}").digest() if secret else b""
    themes = _CHATBOTS_THEMES if part.speaker == "chatbot" else THEMES
    image = render(
        part.text,
        width_px=part.width_on(variant.width),
        scale=variant.scale,
        theme=themes[variant.theme],
        highlights=part.highlights,
        n_shades=_N_SHADES_ON_PHONES if variant.width <= _WIDEST_ON_PHONES and variant.scale > 1 else N_SHADES,
        salt=salt,
        place=part.place,
        is_wide=variant.is_wide,
    )
    return image.content, image.content_type
