"""What the columns of a file of scores are for: which shape it has, by names first, then by content and elimination."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from analysis.data.choices import GUESSED, Choices
from analysis.data.finding import WORKER, Names, find_columns, plain_name, without_prefix
from analysis.data.values import CanRead, are_answers, has_answer, is_number
from evalsite.lib.errors import DomainError
from evalsite.lib.tables import Table, TextColumn
from evalsite.lib.tables.errors import listing
from evalsite.lib.tables.table import text_column


class Shape(StrEnum):
    """What a row is, and so what its columns of answers are."""

    LONG = "long"
    CRITERIA = "criteria"
    RATERS = "raters"
    BOTH = "raters-criteria"
    SYSTEMS = "systems"
    SYSTEMS_BOTH = "systems-criteria"


SHAPES = {
    Shape.LONG: "one answer a row",
    Shape.CRITERIA: "a column for each criterion",
    Shape.RATERS: "a column for each rater",
    Shape.BOTH: "a column for each rater and criterion",
    Shape.SYSTEMS: "a column for each system",
    Shape.SYSTEMS_BOTH: "a column for each system and criterion",
}
_ROLE = {Shape.CRITERIA: "criterion", Shape.RATERS: "worker", Shape.SYSTEMS: "system"}

# Names that say it only if the cells agree: others use them for other things.
_PERHAPS: Names = {
    "score": ("answer", "label", "response", "judgment", "judgement", "grade", "points", "level", "likert"),
    "criterion": ("question", "attribute", "measure", "property", "quality", "scale", "item"),
    "source": (
        *("id", "example", "example_id", "instance", "instance_id", "sample", "sample_id", "question_id", "prompt_id"),
        *("context_id", "text_id", "query_id", "context", "prompt", "passage", "article", "post", "source_text", "src"),
        *("input", "query", "question"),
    ),
}
_CRITERIA_WORDS = """
accuracy adequacy answerability appropriateness clarity coherence completeness conciseness consistency correctness
coverage creativity difficulty diversity empathy engagement engaging engagingness factuality faithfulness fluency
grammar grammaticality harmfulness harmlessness helpfulness honesty humanness informativeness interesting
interestingness logic meaning meaningpreservation naturalness nonredundancy novelty overall overallquality
persuasiveness politeness precision quality readability recall relevance relevancy repetition safety sensibleness
similarity simplicity specificity style toxicity truthfulness understandability usefulness
"""
_CRITERIA = frozenset(_CRITERIA_WORDS.split())
# Numbers beside scores.
_NO_ANSWER_WORDS = """
id index row n unnamed0 age year date time timestamp start end seconds minutes duration ms worktimeinseconds moves
nmoves pastes focuslost attempt rank length words turn position weight annotationid ratingid rowid num number no line
"""
_NO_ANSWERS = frozenset(_NO_ANSWER_WORDS.split())
_RATER = re.compile(
    rf"({'|'.join({plain_name(word) for word in WORKER} | {'a', 'r', 'w', 'j', 'e', 'h', 'u', 'p', 's'})}|annot|anno|"
    r"evaluator|evaluation|eval|expert|human|judge|coder|participant|subject|score|rating|answer|turker|student)?"
    r"(\d+|[a-z])(score|rating|answer|label)?"
)
_PARTS = re.compile(r"[\s_.:/|\-]+")
_SAMPLE = 200
_MOST_CRITERIA = 30


@dataclass(frozen=True)
class Answers:
    """A column of answers, and what its name says of them: {criterion, worker or system: label}."""

    column: str
    says: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Layout:
    """What the columns of a file are for.

    `roles`: the file's column of each of the names that were asked for. `answers`: the columns of answers; in a long
    file one, which is that of `score`.
    """

    shape: Shape
    roles: Mapping[str, str]
    answers: tuple[Answers, ...]

    @property
    def columns(self) -> list[str]:
        """The columns that are read."""
        return list(dict.fromkeys([*self.roles.values(), *(each.column for each in self.answers)]))

    @property
    def is_folded(self) -> bool:
        """Whether a row of the file holds several answers, or its columns say what they are about."""
        return any(each.says for each in self.answers)

    @property
    def n_answers(self) -> int:
        """How many answers a row of the file holds at most."""
        return max(1, len(self.answers))


def find_layout(
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    names: Names,
    *,
    can_read: CanRead,
    criteria: Collection[str] = (),
    only_these: bool = False,
    choices: Choices = GUESSED,
) -> Layout:
    """Return what the columns of a file are for, by their names and the cells of the first rows.

    `names`: what files call each column; `score` and `worker` are among them. `can_read`: whether the response method
    reads a cell as it is. `criteria`: those that are known, where there are some; `only_these`: other columns hold no
    answers where one is named so. `choices`: how the file is read, as far as somebody said it.

    Without an answer the layout is long, and has none; what is missing is the caller's to refuse.
    Raises DomainError `bad_shape` for one that there is not, or that the columns cannot have.
    """
    cells = _cells(columns, rows)
    if choices.are_complete:
        shape = Shape.CRITERIA if choices.answers else Shape.LONG
        return _as(shape, {name: own for name, own in choices.columns.items() if name in names}, choices.answers)
    others = {name: each for name, each in cells.items() if name not in choices.answers}
    roles = _find_roles(others, names, choices, can_read)
    if choices.answers:
        return _as(_wanted(choices.shape) or Shape.CRITERIA, roles, choices.answers)
    free = [name for name in cells if name not in choices.groups]
    known = [name for name in free if _is_criterion(name, criteria)]
    there = answer_columns(columns, rows, roles.values(), can_read, choices)
    answers = [name for name in free if name not in roles.values() and (name in known or name in there)]
    if only_these and known:
        answers = [name for name in answers if name in known]
    roles |= _by_elimination(cells, roles, [*answers, *choices.groups])
    if wanted := _wanted(choices.shape):
        return _as(wanted, roles, answers or [name for name in free if name not in roles.values()])
    is_wide = "criterion" not in roles and ("score" not in roles or len(set(known) - {roles["score"]}) > 1)
    if not is_wide or not answers:
        return _as(Shape.LONG, roles, [])
    if "score" in roles:  # criteria, and a score of them all
        roles, answers = {name: own for name, own in roles.items() if name != "score"}, [*known]
    if "worker" not in roles:
        return _of_raters(roles, answers)
    is_named = any(_is_criterion(name, criteria) or plain_name(name) in _CRITERIA for name in answers)
    if "system" not in roles and not is_named and len(answers) > 1:
        return _as(Shape.SYSTEMS_BOTH if _split(answers, "system") else Shape.SYSTEMS, roles, answers)
    return _as(Shape.CRITERIA, roles, answers)


def answer_columns(
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    used: Collection[str],
    can_read: CanRead = is_number,
    choices: Choices = GUESSED,
) -> list[str]:
    """Return the columns whose cells may be scores, by the first rows, and whose names do not say something else.

    None of those that are `used` otherwise. A word in all cells of a column is a score where another column has others
    of its scale.
    """
    free = {name: each for name, each in _cells(columns, rows).items() if name not in used}
    cells = {name: each for name, each in free.items() if plain_name(name) not in _NO_ANSWERS}
    found = {name: each for name, each in cells.items() if are_answers(each, can_read, choices)}

    def is_of_a_scale(each: Sequence[str]) -> bool:
        return has_answer(each, choices) and any(
            are_answers([*other, *each], can_read, choices) for other in found.values()
        )

    return [name for name, each in cells.items() if name in found or is_of_a_scale(each)]


def _cells(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> dict[str, list[str]]:
    return {name: [row[k].strip() for row in rows[:_SAMPLE] if k < len(row)] for k, name in enumerate(columns) if name}


def _wanted(shape: str) -> Shape | None:
    if shape and shape not in SHAPES:
        raise DomainError("bad_shape", f"“{shape}” is no shape of files. It may be one of {listing(SHAPES)}.")
    return Shape(shape) if shape else None


def _of_raters(roles: Mapping[str, str], answers: list[str]) -> Layout:
    """Return the layout of a file without a column of workers: they are in the names of the columns, or nowhere."""
    if _split(answers):
        return _as(Shape.BOTH, roles, answers)
    if len(answers) < 2:
        return _as(Shape.CRITERIA, roles, answers)
    are_raters = all(_RATER.fullmatch(plain_name(name)) for name in answers)
    if are_raters or ("system" in roles and not any(plain_name(name) in _CRITERIA for name in answers)):
        return _as(Shape.RATERS, roles, answers)
    return _as(Shape.CRITERIA, roles, answers)


def _as(shape: Shape, roles: Mapping[str, str], answers: Sequence[str]) -> Layout:
    if shape is Shape.LONG:
        return Layout(shape, roles, tuple(Answers(roles[name]) for name in ("score",) if name in roles))
    if shape in (Shape.BOTH, Shape.SYSTEMS_BOTH):
        role = "worker" if shape is Shape.BOTH else "system"
        if not (split := _split(answers, role)):
            message = f"The names of the columns {listing(answers)} do not all say a {role} and a criterion."
            raise DomainError("bad_shape", f"{message} Write for instance fluency_A1, or name another shape.")
        said = [Answers(name, split[name]) for name in answers]
    else:
        said = [Answers(name, {_ROLE[shape]: without_prefix(name)}) for name in answers]
    own = {name: column for name, column in roles.items() if name not in ("score", *said[0].says)} if said else roles
    return Layout(shape, own, tuple(said))


def _find_roles(cells: Mapping[str, list[str]], names: Names, choices: Choices, can_read: CanRead) -> dict[str, str]:
    """Return the column of each role; names that may mean something else count where the cells agree."""
    found = find_columns(list(cells), names, choices.columns)

    def fits(role: str, column: str) -> bool:
        if role == "score":
            return are_answers(cells[column], can_read, choices)
        if role == "criterion":
            return "score" in found and _is_asked_of_each(cells[column], cells.get(found.get("source", ""), []))
        return "score" not in found or len(set(cells[column])) < len(cells[column])  # else it names a row

    for role in ("score", "criterion", "source"):
        if role in names and role not in found:
            free = [name for name in _called(cells, role) if name not in found.values() and fits(role, name)]
            if free:
                found[role] = free[0]
    return found


def _by_elimination(
    cells: Mapping[str, Sequence[str]], roles: Mapping[str, str], answers: Collection[str]
) -> dict[str, str]:
    """Return the column of workers, if no name says it: the only one left that tells answers to the same thing apart.

    Without it, the first rows have several answers of the same system to the same source and criterion; with it, none.
    """
    about = [cells[roles[name]] for name in ("source", "document", "system", "criterion") if name in roles]
    n_rows = min(map(len, cells.values()), default=0)
    if "worker" in roles or not {"source", "system"} <= roles.keys() or len({*zip(*about, strict=False)}) == n_rows:
        return {}
    free = [name for name in cells if name not in roles.values() and name not in answers]
    telling = [
        name
        for name in free
        if len({*cells[name]}) <= n_rows / 2 and len({*zip(*about, cells[name], strict=False)}) == n_rows
    ]
    return {"worker": telling[0]} if len(telling) == 1 and all(cells[telling[0]]) else {}


def _called(cells: Mapping[str, list[str]], role: str) -> list[str]:
    """Return the columns that may hold a role, by names that may mean something else, too; the likeliest first."""
    plain = {plain_name(name): name for name in reversed(list(cells))}
    return [plain[plain_name(name)] for name in _PERHAPS[role] if plain_name(name) in plain]


def _is_asked_of_each(cells: Sequence[str], sources: Sequence[str]) -> bool:
    """Return whether cells may name criteria: a few, several of which are asked about one source."""
    pairs = set(zip(sources, cells, strict=False))  # a row that is too short is refused when all are read
    return len(set(cells)) <= _MOST_CRITERIA and (not pairs or len(pairs) > len(set(sources)))


def _is_criterion(column: str, criteria: Collection[str]) -> bool:
    return plain_name(column) in {plain_name(name) for name in criteria} - {""}


def _split(names: Sequence[str], role: str = "worker") -> dict[str, dict[str, str]]:
    """Return the rater, or system, and the criterion that each name says: `fluency_A1`, `A1.fluency`, `ours: fluency`.

    One of the two parts looks like a rater in all names, or is not a criterion in one where the other one is; beside
    systems all others are criteria, the same of each system. {} if there is no such way to split them, or if two names
    say the same.
    """
    for split in (_at_first, _at_last, _before_digits):
        parts = {name: split(without_prefix(name)) for name in names}
        if not all(all(pair) for pair in parts.values()):
            continue
        for criterion, rater in ((0, 1), (1, 0)):
            raters = {pair[rater] for pair in parts.values()}
            criteria = {pair[criterion] for pair in parts.values()}
            are_raters = role == "worker" and all(_RATER.fullmatch(plain_name(each)) for each in raters)
            are_criteria = any(plain_name(each) in _CRITERIA for each in criteria)
            are_criteria = are_criteria and not any(plain_name(each) in _CRITERIA for each in raters)
            is_column_of_raters = all(_RATER.fullmatch(plain_name(name)) for name in names)
            if role == "system":
                is_column_of_raters = len(raters) * len(criteria) != len(names) or len(raters) < 2
            if (are_raters or are_criteria) and not is_column_of_raters and len(set(parts.values())) == len(names):
                return {name: {"criterion": pair[criterion], role: pair[rater]} for name, pair in parts.items()}
    return {}


def _at_last(name: str) -> tuple[str, str]:
    found = [*_PARTS.finditer(name)]
    return (name[: found[-1].start()], name[found[-1].end() :]) if found else ("", "")


def _at_first(name: str) -> tuple[str, str]:
    # “rater 2: fluency”: a colon parts more than a space.
    found = re.search(r"\s*[:/|.]\s*", name) or _PARTS.search(name)
    return (name[: found.start()], name[found.end() :]) if found else ("", "")


def _before_digits(name: str) -> tuple[str, str]:
    found = re.fullmatch(r"(.*[^\W\d_])(\d+)", name)
    return (found.group(1), found.group(2)) if found else ("", "")


def unfold(table: Table, layout: Layout) -> tuple[dict[str, str], Table]:
    """Return the same answers, one a row, and the name of the column of each role; rows stay in their order.

    A column of answers that says who rated what gives as many rows; problems are named by the file's own columns.
    """
    called = dict(layout.roles)
    if not layout.is_folded:
        return called, table
    n, k = table.n_rows, len(layout.answers)
    text = {own: repeated(table.text[own], k) for own in layout.roles.values()}
    numbers = {}
    if table.numbers:
        numbers["score"] = np.stack([table.numbers[each.column] for each in layout.answers], axis=1).ravel()
    else:
        labels = [label for each in layout.answers for label in table.text[each.column].labels]
        sizes = np.cumsum([0, *(len(table.text[each.column].labels) for each in layout.answers)])
        codes = np.stack([table.text[each.column].codes + sizes[j] for j, each in enumerate(layout.answers)], axis=1)
        text["score"] = text_column(codes.ravel(), labels)
    for role in layout.answers[0].says:
        says = [each.says[role] for each in layout.answers]
        text[role] = text_column(np.tile(np.arange(k), n), says)
        called[role] = role
    called["score"] = "score"
    said = {"score", *layout.answers[0].says}

    def call(row: int, name: str) -> str:
        return layout.answers[row % k].column if name in said else table.column_name(row // k, name)

    def locate(rows: Sequence[int]) -> list[int]:
        whole = sorted({row // k for row in rows})
        number = dict(zip(whole, table.row_numbers(whole), strict=True))
        return [number[row // k] for row in rows]

    def place(rows: NDArray[np.int64], name: str) -> NDArray[np.int64]:
        return rows if name in said else rows // k

    about = (table.file, table.format, table.columns)
    return called, Table(*about, text, numbers, locate, table.warnings, call, place=place)


def repeated(column: TextColumn, n: int) -> TextColumn:
    """Return a column with each row `n` times."""
    return column if n == 1 else TextColumn(np.repeat(column.codes, n), column.labels)
