"""Markdown, as most language models write."""

from campaigns.contracts.format import ContentFormat, Degradation
from campaigns.design.code_lines import worsen_lines
from campaigns.design.style import STYLE_FEATURES, count_style, count_words
from evalsite.lib.markup.cleaning import folded, with_line_feeds
from evalsite.lib.markup.markdown import lines_of_code, prose_in, structure_of, to_html, words_of


class Markdown(ContentFormat):
    """A text in Markdown: headings, lists, tables, code, formulas. Links lead nowhere, images are not fetched."""

    slug = "markdown"
    title = "Markdown"
    summary = "Headings, lists, tables, code and formulas, as language models write them."
    n_words = 150
    degraded = (
        "a run of words replaced by words of another text or, where there is more code than prose, lines exchanged "
        "and names replaced"
    )
    spans = "characters of the Markdown as it is written"
    counted = STYLE_FEATURES
    style = "css/rate_formats.css"

    @classmethod
    def read(cls, text: str, *, is_output: bool) -> str:
        """Return the text with line feeds alone; raise DomainError `bad_markdown` if it is too long to be shown."""
        return with_line_feeds(text, "bad_markdown")

    @classmethod
    def html(cls, text: str) -> str:
        """Return it as headings, lists and so on; its end is folded if it is long."""
        return folded(to_html(text), text)

    @classmethod
    def words(cls, value: str) -> str:
        """Return prose, code and formulas as they are written, without other markup and addresses."""
        return words_of(value)

    @classmethod
    def style_of(cls, value: str) -> dict[str, float]:
        """Return the numbers of words, headings, list items, bold stretches, blocks of code, tables."""
        return count_style(value)

    @classmethod
    def degrade(cls, value: str, by: Degradation) -> str:
        """Return the text with words of its prose replaced; what is no prose stays, and so does its structure.

        Where there is more code than prose, lines of it are exchanged and names replaced.
        """
        stretches, lines, of_code = prose_in(value), value.split("\n"), lines_of_code(value)
        if count_words("\n".join(lines[n] for n in of_code)) > sum(count_words(value[a:b]) for a, b in stretches):
            worse = "\n".join(worsen_lines(lines, of_code, by.rng))
            if worse != value:
                return worse
        return by.replaced_in_markup(value, stretches, cls.lengths, words_of, structure_of)
