"""How cells say a score, with either decimal mark or as a word of a known scale, and what says that it is missing.

Decided for all cells of a file at once, never cell by cell.
"""

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from analysis.data.choices import GUESSED, Choices

MISSING = frozenset(
    {"", "na", "n/a", "n.a.", "nan", "null", "none", "nil", "missing", "-", "--", "–", "—", "#n/a", "."}
)
"""What cells say in which there is no answer, in small letters."""

_SCALES_FROM_1 = """
strongly disagree; disagree; neither agree nor disagree|neither|neutral|undecided|not sure; agree; strongly agree
strongly disagree; disagree; somewhat disagree|slightly disagree; neither agree nor disagree|neither|neutral|undecided;
    somewhat agree|slightly agree; agree; strongly agree
completely disagree|totally disagree|fully disagree; disagree; neither agree nor disagree|neutral|undecided; agree;
    completely agree|totally agree|fully agree
very poor; poor; fair|average|acceptable|ok|okay|neutral|medium|moderate; good; very good|excellent
bad; poor; fair|average|acceptable|ok|okay; good; excellent
very bad; bad; fair|average|acceptable|ok|okay|neutral|medium|moderate; good; very good|excellent
poor; fair; good; very good; excellent
never; rarely|seldom; sometimes|occasionally; often|frequently; always
very unlikely; unlikely; neutral|neither; likely; very likely
very dissatisfied; dissatisfied; neutral|neither; satisfied; very satisfied
not at all; slightly|a little; moderately|somewhat; very|very much|quite a bit; extremely
very low; low; medium|moderate; high; very high
none at all; little; some; most; all
no; partly|partially|somewhat|maybe|unsure; yes
low; medium; high
stimme überhaupt nicht zu|stimme gar nicht zu|trifft überhaupt nicht zu|trifft gar nicht zu;
    stimme nicht zu|stimme eher nicht zu|trifft nicht zu|trifft eher nicht zu;
    weder noch|teils teils|teils/teils|teils, teils|neutral|unentschieden;
    stimme zu|stimme eher zu|trifft zu|trifft eher zu;
    stimme voll zu|stimme voll und ganz zu|stimme vollkommen zu|trifft voll zu|trifft voll und ganz zu
sehr schlecht; schlecht; mittel|mittelmäßig|befriedigend|akzeptabel; gut; sehr gut
nie|niemals; selten; manchmal|gelegentlich; oft|häufig; immer
pas du tout d'accord; pas d'accord|plutôt pas d'accord|en désaccord;
    ni d'accord ni pas d'accord|neutre|indécis; d'accord|plutôt d'accord; tout à fait d'accord
très mauvais; mauvais; moyen|acceptable|passable; bon; très bon|excellent
jamais; rarement; parfois|quelquefois; souvent; toujours
totalmente en desacuerdo|muy en desacuerdo; en desacuerdo; ni de acuerdo ni en desacuerdo|neutral|indeciso;
    de acuerdo; totalmente de acuerdo|muy de acuerdo
muy malo|muy mala; malo|mala; regular|aceptable; bueno|buena; muy bueno|muy buena|excelente
nunca; rara vez|raramente|casi nunca; a veces|algunas veces; a menudo|frecuentemente|casi siempre; siempre
非常不同意|完全不同意|强烈不同意; 不同意; 中立|一般|不确定|既不同意也不反对; 同意; 非常同意|完全同意|强烈同意
非常差|很差; 差|较差; 一般|中等; 好|较好; 非常好|很好
从不|从来不; 很少; 有时; 经常; 总是
"""
_SCALES_FROM_0 = """
no; yes
false; true
nein; ja
non; oui
no; sí|si
否|不是|不; 是
"""
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_COMMA = re.compile(r"[+-]?(\d+(,\d*)?|,\d+)([eE][+-]?\d+)?", re.ASCII)
_LONGEST = 200
# “4 - Agree”, “4 (good)”, “4: good”, “4. good”, “4=good”, and the words first: “good (4)”.
_NUMBERED = re.compile(r"([+-]?\d+(?:[.,]\d+)?)\s*(?:[-–—:.)=|/]|(?=\())\s*\(?\s*[^\W\d].*", re.DOTALL)
_NUMBER_LAST = re.compile(r"[^\W\d].*?\s*(?:[-–—:=|]\s*|\()\s*([+-]?\d+(?:[.,]\d+)?)\)?", re.DOTALL)
_OF_MOST = re.compile(r"([+-]?\d+(?:[.,]\d+)?)\s*((?:/|out of|of|von|sur|de)\s*\d+|%)", re.IGNORECASE)

CanRead = Callable[[str], bool]


@dataclass(frozen=True)
class _Level:
    """A level of a scale of words: its number, and its words in the file."""

    number: int
    word: str


@dataclass(frozen=True)
class Values:
    """How the cells of a file are read; those that say their number as it is are not in `changed`.

    `said`: what was guessed, as a sentence; "" if nothing was.
    """

    changed: dict[str, str]
    said: str = ""

    def number_of(self, cell: str) -> str:
        """Return the text of the number that a cell says, "" for a missing answer."""
        return self.changed.get(cell, cell)


def read_values(labels: Collection[str], can_read: CanRead, choices: Choices = GUESSED) -> Values:
    """Return how the different cells of all columns of scores of a file are read.

    Parameters
    ----------
    labels : the different cells.
    can_read : whether a cell needs no reading here: a number, or a word that its response method knows.
    choices : the words of the scale, those of missing answers and the decimal mark, as far as somebody said them.

    Cells that cannot be read stay as they are. Of several scales that have all the words the shortest one is taken.
    A cell that `can_read` knows is never missing.
    """
    says_missing = _missing(choices)
    short = [each for each in labels if len(each) <= _LONGEST and _plain(each) in says_missing]
    gone = {each for each in short if not (each and can_read(each))}
    left = [each for each in labels if each not in gone]
    empty = dict.fromkeys(gone, "")
    if all(map(can_read, left)) or any(len(each) > _LONGEST for each in left):
        return Values(empty)
    ways = [_with_comma] if choices.decimal != "." else []
    for way in (*ways, _numbered, _of_most, lambda cells: _in_words(cells, choices.words)):
        if found := way(left):
            return Values(empty | found.changed, found.said)
    return Values(empty)


def _missing(choices: Choices) -> frozenset[str]:
    return MISSING | {_plain(each) for each in choices.missing}


def _with_comma(cells: Sequence[str]) -> Values | None:
    """Numbers with a comma as the decimal mark, if no cell has a point."""
    if all(_COMMA.fullmatch(cell) for cell in cells):
        return Values({cell: cell.replace(",", ".") for cell in cells}, "A comma was read as the decimal mark.")
    return None


def _numbered(cells: Sequence[str]) -> Values | None:
    """Numbers with words beside them, such as `4 - Agree`."""
    found: dict[str, str] = {}
    for cell in cells:
        match = _NUMBERED.fullmatch(cell) or _NUMBER_LAST.fullmatch(cell)
        if not match and not _NUMBER.fullmatch(cell):
            return None
        found[cell] = match.group(1).replace(",", ".") if match else cell
    return Values(found, "Of answers with a number and words, the number was read.")


def _of_most(cells: Sequence[str]) -> Values | None:
    """Numbers of a greatest one, such as `4/5` or `4 out of 5`, the same in all cells; or per cent."""
    numbers: dict[str, str] = {}
    most = set()
    for cell in cells:
        match = _OF_MOST.fullmatch(cell)
        most.add("".join(match.group(2).split()) if match else "")
        if match is None or len(most) > 1:
            return None
        numbers[cell] = match.group(1).replace(",", ".")
    return Values(numbers, "Of answers such as 4/5 or 95 %, the first number was read.")


def _in_words(cells: Sequence[str], given: Sequence[str]) -> Values | None:
    """Words of one scale. Two different ones at least: a single word tells of no scale, unless it is given."""
    scales = [{_plain(word): _Level(number, word) for number, word in enumerate(given, start=1)}] if given else _SCALES
    known = scales[0] if given else _WORDS
    by_plain: dict[str, str] = {}
    for cell in cells:
        by_plain[cell] = _plain(cell)
        if by_plain[cell] not in known:  # a file may have a million others
            return None
    fitting = [scale for scale in scales if scale.keys() >= set(by_plain.values())]
    if not fitting or (len(set(by_plain.values())) < 2 and not given):
        return None
    return _as_levels(by_plain, min(fitting, key=lambda scale: len({level.number for level in scale.values()})))


def _as_levels(cells: dict[str, str], scale: dict[str, _Level]) -> Values:
    named: dict[int, str] = {}
    for word, level in scale.items():
        if word in cells.values() or level.number not in named:
            named[level.number] = next((cell for cell, plain in cells.items() if plain == word), level.word)
    shown = ", ".join(f"{number} {word}" for number, word in sorted(named.items()))
    return Values({cell: str(scale[plain].number) for cell, plain in cells.items()}, f"Words were read as {shown}.")


def _plain(text: str) -> str:
    if text.isascii() and text.isalnum():  # a file may have a million different words
        return text.lower()
    text = unicodedata.normalize("NFC", text).replace("’", "'").casefold().strip().rstrip(".!")
    return re.sub(r"[\s_]+", " ", text) or unicodedata.normalize("NFC", text)


def _scales(text: str, first: int) -> Iterable[dict[str, _Level]]:
    for line in re.sub(r"\n\s+", " ", text).strip().splitlines():
        levels = enumerate(line.split(";"), start=first)
        words = [(number, word.strip()) for number, level in levels for word in level.split("|")]
        yield {_plain(word): _Level(number, word) for number, word in words}


_SCALES = [*_scales(_SCALES_FROM_0, 0), *_scales(_SCALES_FROM_1, 1)]
_WORDS = {word for scale in _SCALES for word in scale}


def is_number(cell: str) -> bool:
    """Return whether a cell is a number with a decimal point."""
    return _NUMBER.fullmatch(cell) is not None


def has_answer(cells: Iterable[str], choices: Choices = GUESSED) -> bool:
    """Return whether one of the cells is not missing."""
    says_missing = _missing(choices)
    return any(_plain(cell) not in says_missing for cell in set(cells))


def are_answers(cells: Iterable[str], can_read: CanRead = is_number, choices: Choices = GUESSED) -> bool:
    """Return whether cells, some of which may be missing, can all be read as scores, and one of them says one.

    They are read as `read_values` reads them.
    """
    there = set(cells)
    if any(len(cell) > _LONGEST for cell in there):
        return False
    values = read_values(there, lambda cell: can_read(cell) or is_number(cell), choices)
    numbers = [values.number_of(cell) for cell in there]
    return any(numbers) and all(not text or can_read(text) or is_number(text) for text in numbers)
