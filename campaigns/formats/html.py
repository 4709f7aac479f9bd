"""HTML, as far as it is text: nothing in it runs, is fetched, leads anywhere or has a style."""

from campaigns.contracts.format import ContentFormat, Degradation
from evalsite.lib.markup.cleaning import folded, with_line_feeds
from evalsite.lib.markup.html import prose_in, structure_of, to_html, words_of


class Html(ContentFormat):
    """A text in HTML: headings, lists, tables, bold and so on, without scripts, styles, images and working links."""

    slug = "html"
    title = "HTML"
    summary = "Headings, lists, tables and so on; no script, style or image, and links lead nowhere."
    n_words = 100
    degraded = "a run of words replaced by words of another text, its elements as they were"
    spans = "characters of the HTML as it is written"
    style = "css/rate_formats.css"

    @classmethod
    def read(cls, text: str, *, is_output: bool) -> str:
        """Return the text with line feeds alone; raise DomainError `bad_html` if it is too long to be shown."""
        return with_line_feeds(text, "bad_html")

    @classmethod
    def html(cls, text: str) -> str:
        """Return what is left of it; its end is folded if it is long."""
        return folded(to_html(text), words_of(text))

    @classmethod
    def words(cls, value: str) -> str:
        """Return what is read, a line for each block."""
        return words_of(value)

    @classmethod
    def degrade(cls, value: str, by: Degradation) -> str:
        """Return it with words between its tags replaced."""
        return by.replaced_in_markup(value, prose_in(value), cls.lengths, words_of, structure_of)
