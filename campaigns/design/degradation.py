"""Degraded texts: a random run of words replaced by a run of the same length from another text (METHOD §1)."""

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from campaigns.design.errors import DesignError
from campaigns.design.seeds import draw_below
from campaigns.design.words import Segments, Unit, segment, unit_of

_MORE_THAN_TWO = 2
_CLUSTERS_PER_WORD = 2


@dataclass(frozen=True)
class RunLengths:
    """How many words of a text are replaced, and by which of a donor.

    Attributes
    ----------
    steps : tuple of (int, int)
        (largest number of words, length of the run), both ascending.
    divisor : int
        Above the last step the run is ⌊n/divisor⌋ words.
    takes_edges : bool
        Whether the first and last word of a donor may always be taken.
    """

    steps: tuple[tuple[int, int], ...]
    divisor: int = 5
    takes_edges: bool = False

    def length(self, n_units: int, unit: Unit = Unit.WORD) -> int:
        """Return the length of the run for a text of `n_units` ≥ 1 words, or twice that for clusters.

        Examples
        --------
        >>> [STEPS_TO_20.length(n) for n in (1, 5, 20, 21)], STEPS_TO_20.length(20, Unit.CLUSTER)
        ([1, 2, 5, 4], 10)
        """
        words = next((length for largest, length in self.steps if n_units <= largest), n_units // self.divisor)
        return words * _CLUSTERS_PER_WORD if unit == Unit.CLUSTER else words


# Thesis §3.2.3 (answers, questions) prints "4 ≤ n ≤ 4" where 4–5 is meant; at 21–24 words the run is one shorter
# than at 20, as printed.
STEPS_TO_20 = RunLengths(((3, 1), (5, 2), (8, 3), (15, 4), (20, 5)))
# Ji et al. 2022, App. A.1 (chatbots' replies): only the edges of the replaced text are excluded.
STEPS_TO_29 = RunLengths(((3, 1), (5, 2), (8, 3), (15, 4), (29, 5)), takes_edges=True)


def degrade(
    text: str,
    donor: str,
    rng: np.random.Generator,
    lengths: RunLengths,
    *,
    further_donors: Sequence[str] = (),
    unit: Unit | None = None,
) -> str:
    """Replace a random run of the text's words by as many words of a donor text.

    Parameters
    ----------
    text : str
        At least one word.
    donor : str
        Another text, of another source.
    rng : Generator
    lengths : RunLengths
        `STEPS_TO_20`, `STEPS_TO_29` or a campaign's own.
    further_donors : sequence of str
        Used in this order where the donor is too short or gives nothing new.
    unit : Unit, optional
        What text and donors are divided into; by default, what `unit_of` says of the text.

    Returns
    -------
    str
        The text with the run replaced; its spacing and everything outside the run are as they were.

    Raises
    ------
    DesignError
        ``text_without_words``; ``donor_too_short`` if all donors together have not words enough;
        ``degraded_equals_original`` if every run of every donor reads as what it would replace.

    Notes
    -----
    In a text of more than two words the first and the last are not replaced; the run is shortened to what lies between
    them where it is longer (clusters only: a text of n words always has room). The first and last word of a donor are
    not taken either, unless text or donor has at most two words or `lengths` allows it. Every start of the run is
    equally likely, in the text and in the donor, as long as the result is new.

    A donor with fewer words than the run is passed over. If that leaves none, the run is made of the words of all
    donors, in order.

    The result is new if the run differs in more than case, punctuation and Unicode form: "Paris." for "paris" would
    be no worse an answer. Where the drawn place gives nothing new, the next starts in the text are tried, then the
    next in the donor, then the next donor, without another draw.

    References
    ----------
    METHOD §1; thesis §3.2.3 and Figure 3.3; Ji et al. 2022, App. A.1.

    Examples
    --------
    >>> degrade("He has read it.", "They are not in the house.", np.random.default_rng(1), STEPS_TO_20)
    'He in the it.'
    """
    unit = unit or unit_of(text)
    original = segment(text, unit)
    n_units = len(original.units)
    if not n_units:
        raise DesignError("text_without_words", f"a text without words cannot be degraded: {_shown(text)}")
    margin = int(n_units > _MORE_THAN_TWO)
    donor_margin = 0 if lengths.takes_edges else margin
    length = min(lengths.length(n_units, unit), n_units - 2 * margin)
    longest = 0
    for words in _donor_runs((donor, *further_donors), unit, donor_margin, length):
        longest = max(longest, len(words))
        if len(words) >= length:
            degraded = _replace_run(original, words, length, margin, rng)
            if degraded is not None:
                return degraded
    if longest < length:
        edges = " without the first and last of each" if donor_margin else ""
        raise DesignError(
            "donor_too_short",
            f"{length} {unit}s are to be replaced in {_shown(text)} and the donor texts have {longest}{edges}",
        )
    raise DesignError(
        "degraded_equals_original", f"no donor text gives {_shown(text)} other words: all read like the original"
    )


def _donor_runs(donors: Sequence[str], unit: Unit, margin: int, length: int) -> Iterator[tuple[str, ...]]:
    """Yield the words that may be taken: of each donor that has enough, then of all donors together."""
    together: list[str] = []
    for donor in donors:
        units = segment(donor, unit).units
        inner = units[margin : len(units) - margin] if len(units) > _MORE_THAN_TWO else units
        together.extend(inner)
        if len(inner) >= length:
            yield inner
    yield tuple(together)


def _replace_run(
    original: Segments, donor: tuple[str, ...], length: int, margin: int, rng: np.random.Generator
) -> str | None:
    """Return the text with a run of `length` words replaced, or None where every run reads as before.

    If no start in the text works with the drawn start in the donor, all runs of the text are that one run of the
    donor, and it is enough to look for another run in the donor.
    """
    n_starts, n_donor_starts = len(original.units) - 2 * margin - length + 1, len(donor) - length + 1
    start, donor_start = draw_below(n_starts, rng), draw_below(n_donor_starts, rng)
    starts = [(margin + (start + k) % n_starts, donor_start) for k in range(n_starts)]
    donor_starts = [(margin + start, (donor_start + k) % n_donor_starts) for k in range(1, n_donor_starts)]
    for at, taken in starts + donor_starts:
        run = donor[taken : taken + length]
        if any(as_read(a) != as_read(b) for a, b in zip(run, original.units[at : at + length], strict=True)):
            return original.replaced(at, run)
    return None


def as_read(unit: str) -> str:
    """Return a word without what does not change its meaning: case, punctuation around it, Unicode form."""
    folded = unicodedata.normalize("NFKC", unit).casefold()
    bare = "".join(char for char in folded if unicodedata.category(char)[0] != "P")
    return bare or folded


def _shown(text: str) -> str:
    """Return the beginning of a text, in quotes, for an error message."""
    return f"“{text[:57]}…”" if len(text) > 60 else f"“{text}”"
