"""Topics of chats as workers type them, and their words, in any script."""

import unicodedata
from collections import Counter
from collections.abc import Iterable

from annotation.images.fonts import ALL, EMOJI, UNDRAWN, coverage

# Words that say nothing of a topic.
_STOP_WORDS = """
    a about all also am an and any are as at be because been but by can could did do does don't dont for from get had
    has have he her him his how i i'm if im in into is it it's its just let's like me more most my new no not of on or
    our out really she should so some than that the their them then there these they thing things this those to too
    up us very was we were what what's when where which who why will with would you your
    """
STOP_WORDS = frozenset(_STOP_WORDS.split())
_APOSTROPHES = "'’‘ʼ"
# Inside a word: what joins its parts, and the joiners that some scripts are written with.
_JOINS = frozenset(f"{_APOSTROPHES}-‐‑\u200c\u200d")


def normalise(topic: str) -> str:
    """Return a topic as it is counted: in small letters, with single spaces, one code for what looks the same.

    >>> normalise("  Video   GAMES ")
    'video games'
    """
    return unicodedata.normalize("NFC", " ".join(topic.split()).lower())


def words_of(topic: str) -> set[str]:
    """Return the words of a topic, each once, without stop words and numbers.

    A word is a run of letters, marks and digits of any script; hyphens and apostrophes inside it are part of it.

    >>> sorted(words_of("What's the BEST video-game of 2021?"))
    ['best', 'video-game']
    """
    text = normalise(topic)
    is_part = [unicodedata.category(char)[0] in "LMN" for char in text]
    words, word = set(), ""
    for k, char in enumerate(text):
        is_join = char in _JOINS and 0 < k < len(text) - 1 and is_part[k - 1] and is_part[k + 1]
        if is_part[k] or is_join:
            word += "'" if char in _APOSTROPHES else char
            continue
        words.add(word)
        word = ""
    words.add(word)
    return {word for word in words if word not in STOP_WORDS and any(char.isalpha() for char in word)}


def count_topics(topics: Iterable[str]) -> Counter[str]:
    """Return how many chats had each topic, empty ones left out."""
    return Counter(topic for topic in map(normalise, topics) if topic)


def count_words(topics: Iterable[str]) -> Counter[str]:
    """Return in how many chats' topics each word occurs."""
    return Counter(word for topic in topics for word in words_of(topic))


def can_draw(word: str) -> bool:
    """Return whether the fonts of the figures have every character of a word."""
    if word.isascii():
        return True
    fonts = [coverage(name) for name in ALL if name != EMOJI]
    return all(char in UNDRAWN or any(ord(char) in points for points in fonts) for char in word)


def most_common(counts: Counter[str], n: int) -> list[tuple[str, int]]:
    """Return the n most frequent, equally frequent ones by name."""
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:n]
