"""Turns of dialogues, found by what they say: TF-IDF vectors and their cosines."""

import re
import unicodedata
from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from campaigns.design.words import Unit, segment, unit_of
from campaigns.dialogues import MAX_TURNS, Dialogues, read_dialogues
from evalsite.lib.caches import FileCache

Similarities = NDArray[np.float32]

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_STEM_LENGTH = 5
_LONGER_THAN_A_STEM = 3
_PAIR_WEIGHT = 0.5
_TINY = 1e-30


def terms_of(text: str) -> list[str]:
    """Return what a text is compared by: words, their beginnings, and pairs of words.

    Texts of scripts written without spaces give clusters and pairs of clusters instead.

    Examples
    --------
    >>> terms_of("Two dogs!")
    ['two', 'dogs', '^two', '^dog', 'two dogs']
    >>> terms_of("好看")
    ['好', '看', '好看']
    """
    text = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
    if unit_of(text) == Unit.CLUSTER:
        clusters = [unit for unit in segment(text, Unit.CLUSTER).units if unit[0].isalnum()]
        return clusters + [first + second for first, second in pairwise(clusters)]
    words = _WORD.findall(text)
    pairs = [f"{first} {second}" for first, second in pairwise(words)]
    return words + [f"^{_stem(word)}" for word in words] + pairs


def _stem(word: str) -> str:
    """Return the beginning of a word, which its forms share in many languages: dog and dogs, travel and travelled."""
    bare = word[:-1] if word.endswith("s") and len(word) > _LONGER_THAN_A_STEM else word
    return bare[:_STEM_LENGTH]


class Vectors:
    """Texts as TF-IDF vectors of length 1.

    A term's weight in a text is (1 + ln tf) · ln ((N + 1) / df), half of that for a pair of words: the term is tf times
    in the text, and in df of N texts.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        from scipy.sparse import csr_array  # pages list connectors without calling one

        self._row_of: dict[str, int] = {}
        terms, places, counts = self._count(texts)
        n_terms, self._n_texts = len(self._row_of), len(texts)
        n_with = np.bincount(terms, minlength=n_terms)
        self._idf = np.log((self._n_texts + 1) / n_with).astype(np.float32)
        self._idf[[" " in term for term in self._row_of]] *= _PAIR_WEIGHT
        weights = (1.0 + np.log(counts)) * self._idf[terms]
        squares = np.bincount(places, weights=weights.astype(np.float64) ** 2, minlength=self._n_texts)
        weights /= np.sqrt(np.maximum(squares, _TINY))[places]
        # A row for each term: a question takes the rows of its few terms.
        self._texts_with = csr_array((weights.astype(np.float32), (terms, places)), shape=(n_terms, self._n_texts))

    def _count(self, texts: Iterable[str]) -> tuple[NDArray[np.int32], NDArray[np.int32], Similarities]:
        """Number the terms; return term, text and frequency of each pair that occurs."""
        terms, counts, n_terms = array("i"), array("f"), array("i")
        row_of = self._row_of
        for text in texts:
            found = Counter(terms_of(text))
            terms.extend(row_of.setdefault(term, len(row_of)) for term in found)
            counts.extend(found.values())
            n_terms.append(len(found))
        places = np.repeat(np.arange(len(n_terms), dtype=np.int32), np.asarray(n_terms, dtype=np.int32))
        return np.asarray(terms, dtype=np.int32), places, np.asarray(counts, dtype=np.float32)

    def similarities(self, text: str) -> Similarities:
        """Return the cosine of a text with each of these, 0 to 1; terms that none of them has count in its length."""
        found = Counter(terms_of(text))
        rarest = np.log(self._n_texts + 1)
        square = 0.0
        rows, weights = [], []
        for term, count in found.items():
            row = self._row_of.get(term)
            weight = (1.0 + np.log(count)) * (rarest if row is None else self._idf[row])
            square += weight**2
            if row is not None:
                rows.append(row)
                weights.append(weight)
        if not rows:
            return np.zeros(self._n_texts, dtype=np.float32)
        question = np.array(weights, dtype=np.float32) / np.float32(np.sqrt(square))
        return np.asarray(question @ self._texts_with[rows], dtype=np.float32)


class Index:
    """The turns of a file of dialogues, ready to be compared.

    Attributes
    ----------
    n_turns : int
    texts : tuple of str, (n_turns,)
    has_reply : bool, (n_turns,)
        Whether another turn follows in the same dialogue: it is the one at the next place.
    dialogue_of : intp, (n_turns,)
    turns : Vectors, (n_turns,)
    topics, personas : Vectors, (n_dialogues,)
        What the file says of each dialogue.
    """

    def __init__(self, dialogues: Dialogues) -> None:
        self.n_turns = dialogues.n_turns
        self.texts = dialogues.texts
        self.dialogue_of = dialogues.dialogue_of
        self.has_reply = np.ones(dialogues.n_turns, dtype=np.bool_)
        self.has_reply[dialogues.starts[1:] - 1] = False
        self.turns = Vectors(dialogues.texts)
        self.topics = Vectors(dialogues.topics)
        self.personas = Vectors([" ".join(persona) for persona in dialogues.personas])


index_of = FileCache(lambda path: Index(read_dialogues(path)), size_of=lambda made: made.n_turns, max_size=MAX_TURNS)
"""The index of a file that `read_dialogues` can read; made once, and kept for the files asked for last."""
