"""HTML, as far as it is text: nothing in it runs, is fetched, leads anywhere or has a style."""

from campaigns.contracts.format import ContentFormat, Degradation
from campaigns.design.errors import DesignError
from campaigns.design.prose import degrade_stretches, without_marks
from evalsite.lib.errors import DomainError
from evalsite.lib.markup.cleaning import LONGEST, folded
from evalsite.lib.markup.html import prose_in, structure_of, to_html, words_of

_ATTEMPTS = 8


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
        if len(text) > LONGEST:
            raise DomainError("bad_html", f"it has {len(text):,} characters, and more than {LONGEST:,} are not shown")
        return text.replace("\r\n", "\n").replace("\r", "\n")

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
        stretches, structure = prose_in(value), structure_of(value)
        donors = Degradation(by.rng, lambda: [without_marks(words_of(text)) for text in by.draw()])
        for _ in range(_ATTEMPTS):
            worse = degrade_stretches(value, stretches, lambda prose: donors.replaced(prose, cls.lengths))
            if structure_of(worse) == structure:
                return worse
        raise DesignError("degraded_equals_original", "no words of other texts leave its elements as they are")
