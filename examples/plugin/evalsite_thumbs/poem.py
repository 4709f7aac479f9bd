"""Verse, line by line: a format in one file."""

from html import escape

from evalsite.campaigns.contracts.format import ContentFormat

from evalsite.lib.errors import DomainError


class Poem(ContentFormat):
    """A text whose lines count: workers see them numbered, and are never shown an image of it."""

    slug = "poem"
    title = "Poem"
    summary = "Verse, with numbered lines."
    n_words = 80
    style = "thumbs/poem.css"  # in this package's folder `static`
    hint = "A poem has a line of verse on each line of its cell."

    @classmethod
    def read(cls, text: str, *, is_output: bool) -> str:
        """Return the lines without white space around them, stanzas divided by one empty line."""
        lines = [line.strip() for line in text.replace("\0", "").strip().splitlines()]
        if not any(lines):
            raise DomainError("bad_poem", "it has no line. Write one, or leave the cell empty")
        return "\n".join(line for n, line in enumerate(lines) if line or lines[n - 1])

    @classmethod
    def html(cls, text: str) -> str:
        """Return the lines as a list; an empty one divides stanzas."""
        return f'<ol class="poem">{"".join(f"<li>{escape(line)}</li>" for line in text.splitlines())}</ol>'
