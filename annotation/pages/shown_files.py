"""The files that a worker is shown, such as pictures: opaque addresses for one assignment, and other bytes in each.

A file is read and made anew whenever a browser asks for it, as the images of texts are, and is kept by that browser
alone: each copy has its own salt, and one that were kept here would come sooner than its twin.
"""

from collections.abc import Iterable
from string import ascii_lowercase

from annotation.pages.text_images import Part, Stem, blocks_with_parts
from annotation.queries import ShownItem
from campaigns.blocks import file_html
from campaigns.contracts.format import Block
from campaigns.formats import get_file_format
from campaigns.models import Campaign
from campaigns.stored_files import read_file
from evalsite.lib.kept_keys import IMAGE_BYTES, keyed_hash


def stem_of_file(block: Block, stem_of: Stem) -> str:
    """Return what the names of a block's file begin with; a letter for its width ends them."""
    return stem_of(Part(block.key, ""))


def html_of_file(block: Block, stem_of: Stem, *, is_text: bool = False) -> str:
    """Return a block's file as its page shows it; `is_text`: with what describes it."""
    stem = stem_of_file(block, stem_of)
    widths = get_file_format(block.format).widths
    addresses = [(width, f"{stem}{letter}.img") for width, letter in zip(widths, ascii_lowercase, strict=False)]
    return file_html(block, addresses, is_text=is_text)


def find_file(items: Iterable[ShownItem], campaign: Campaign, stem_of: Stem, name: str) -> tuple[Block, int] | None:
    """Return the block whose file is called `name`, and how wide that is, if it is one of these items'."""
    blocks = (block for item in items for block, _ in blocks_with_parts(campaign, item) if block.file)
    block = next((block for block in blocks if stem_of_file(block, stem_of) == name[:-1]), None)
    if block is None:
        return None
    by_letter = dict(zip(ascii_lowercase, get_file_format(block.format).widths, strict=False))
    return (block, by_letter[name[-1]]) if name[-1] in by_letter else None


def send_file(campaign: Campaign, block: Block, width: int, *, secret: str) -> tuple[bytes, str]:
    """Return a block's file and its type; another `secret` gives other bytes of the same look. One query.

    Raises FileNotFoundError if the campaign does not have it.
    """
    assert block.file
    salt = keyed_hash(IMAGE_BYTES, f"{secret} {width}").digest()
    return get_file_format(block.format).served(read_file(campaign, block.file.digest), width, salt)
