"""Search of the guides: the section of each guide that answers best what somebody asks in words of their own."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import log

from django.urls import reverse

from evalsite.help.guides import GROUPS, Guide, Section, read_guide

# Words that questions are made of, whatever they are about.
_ASKING = """
a an and any are as at be by can do does for from get give have how i if in is it its make me my need of on one or our
own run should tell that the their there they this to us use was we what when where which who why will with without you
your
"""
_EMPTY = frozenset(_ASKING.split())
# BM25F (Robertson & Zaragoza 2009) with their k and b: a word of a heading counts as six in the text below it.
_HEADING, _TITLE, _ABOUT = 6, 5, 3
_K, _B = 1.2, 0.75
# Who asks how to do something wants the guide before the table, and who types a title wants its page.
_FAVOUR, _TITLED = 1.4, 2.0
_N_RESULTS = 8
_EXCERPT = 180


@dataclass(frozen=True)
class Found:
    """A section that was found: of which guide, its heading, its address, and some of its text."""

    guide: Guide
    heading: str
    url: str
    excerpt: str


@dataclass(frozen=True)
class _Entry:
    """A section with the weight of each word in it, and of each word in title and description of its guide."""

    guide: Guide
    section: Section
    weights: Counter[str]
    of_guide: Counter[str]
    n_words: int
    favour: float


def search_guides(question: str) -> list[Found]:
    """Return the best section of each guide that has words of the question, best guide first; at most eight."""
    entries, n_with, mean = _index()
    wanted = [word for word in dict.fromkeys(words_of(question)) if word in n_with]
    rarity = {word: log(1 + (len(entries) - n_with[word] + 0.5) / (n_with[word] + 0.5)) for word in wanted}

    def score(weights: Counter[str], n_words: int) -> float:
        """BM25, times the share of the question, by rarity, that is there at all."""
        fade = _K * (1 - _B + _B * n_words / mean)
        found = sum(rarity[word] * weights[word] / (weights[word] + fade) for word in wanted)
        return found * sum(rarity[word] for word in wanted if weights[word]) / sum(rarity.values())

    def score_guide(entry: _Entry) -> float:
        title = {*words_of(entry.guide.title)}
        alike = len(title & {*wanted}) / len(title | {*wanted})
        return score(entry.weights + entry.of_guide, entry.n_words) * entry.favour * (1 + _TITLED * alike)

    best: dict[str, tuple[float, _Entry]] = {}
    for entry in entries:
        if wanted and any(entry.weights[word] or entry.of_guide[word] for word in wanted):
            value = score(entry.weights, entry.n_words)
            if entry.guide.name not in best or value > best[entry.guide.name][0]:
                best[entry.guide.name] = value, entry
    chosen = sorted((entry for _, entry in best.values()), key=score_guide, reverse=True)
    return [_found(entry, wanted) for entry in chosen[:_N_RESULTS]]


def words_of(text: str) -> list[str]:
    """Return the words of a text without their endings, and without those that every question has."""
    return [_stem(word) for word in re.findall(r"[\w'’-]*\w", text.lower()) if word not in _EMPTY]


def _stem(word: str) -> str:
    """Return a word without the endings by which English verbs and nouns differ: excluded and exclude are one."""
    word = re.sub(r"['’]s$", "", word)
    word = re.sub(r"(?<=\w\w)(?<![su])s$", "", word)
    word = re.sub(r"(?<=\w\w\w)(ing|ed|ers?)$", "", word)
    return re.sub(r"y$", "i", re.sub(r"(?<=\w\w)e$", "", word))


@cache
def _index() -> tuple[Sequence[_Entry], Counter[str], float]:
    """Return the sections of all guides, how many have each word, and their mean length. Made once a process."""
    entries = []
    for group in GROUPS:
        favour = _FAVOUR if group is GROUPS[0] else 1.0
        for guide in group.guides:
            of_guide = _weighed((guide.title, _TITLE), (guide.text, _ABOUT))
            for section in read_guide(guide.name).sections:
                words = words_of(section.text)
                weights = Counter(words) + _weighed((section.heading, _HEADING))
                entries.append(_Entry(guide, section, weights, of_guide, len(words), favour))
    n_with = Counter(word for entry in entries for word in {*entry.weights, *entry.of_guide})
    return entries, n_with, sum(entry.n_words for entry in entries) / len(entries)


def _weighed(*texts: tuple[str, int]) -> Counter[str]:
    """Return the words of texts, each with the weight of its text."""
    weights = Counter[str]()
    for text, weight in texts:
        for word in {*words_of(text)}:
            weights[word] += weight
    return weights


def _found(entry: _Entry, wanted: Sequence[str]) -> Found:
    anchor = f"#{entry.section.anchor}" if entry.section.anchor else ""
    lines = entry.section.text.splitlines() or [""]
    line = max(lines, key=lambda each: len({*words_of(each)} & {*wanted}))
    excerpt = line if len(line) <= _EXCERPT else f"{line[:_EXCERPT].rsplit(' ', 1)[0]} …"
    return Found(entry.guide, entry.section.heading, reverse("help:guide", args=[entry.guide.name]) + anchor, excerpt)
