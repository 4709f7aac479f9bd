"""Files of answers chosen from options to arrays, criterion by criterion."""

import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from analysis.data.loading import Answer, load_answers
from analysis.data.notices import ResponsesWarning
from analysis.data.responses import Responses
from analysis.data.tools import Wanted
from analysis.methods import ResponsesFile
from analysis.methods.choice_labels import Labelled, label_items
from analysis.methods.settings import AnalysisSettings, bad_settings
from analysis.stats.codes import occurring
from analysis.stats.ratings import Codes, Mask
from campaigns.design.composition import Kind
from evalsite.lib.errors import DomainError
from evalsite.lib.tables import TextColumn
from evalsite.lib.tables.errors import shorten
from evalsite.lib.words import listed

CRITERION = "answer"
_COLUMNS = (
    Answer(("answer", "label", "choice", "choices", "option", "response", "score"), is_number=False),
    Answer(("correct", "good", "gold", "key"), is_number=False, is_required=False),
    Answer(("seconds", "response_time"), is_required=False),
)
_SEPARATOR = re.compile(r"\s*[;|]\s*")
_MOST_OPTIONS = 100
_ELSE = (
    " Leave out the rows of this criterion; in a file of another tool, choose another one by its name, such as "
    "--columns score=NAME."
)


# --- Options of the method: of the only criterion, or of each of several by its name

OPTIONS, GOOD, CHANCE = "options", "good", "chance"


class OfCriterion(NamedTuple):
    """What is said of one criterion: all options, the good ones, and what shares are compared with; None if nothing."""

    options: list[str] | None = None
    good: list[str] | None = None
    chance: float | None = None


def _is_list(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(each, str) and each for each in value)


def _is_share(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 1


_LIST = 'a list of options, such as ["yes", "no"]'
_ALLOWED: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    OPTIONS: (_is_list, _LIST),
    GOOD: (_is_list, _LIST),
    CHANCE: (_is_share, "a share between 0 and 1"),
}
NAMES = tuple(_ALLOWED)


def check_values(options: Mapping[str, Any]) -> None:
    """Raise DomainError `bad_settings` unless each is one value, or an object with a value for criteria by name."""
    for name, (is_right, what) in _ALLOWED.items():
        value = options.get(name)
        if name not in options:
            continue
        if not isinstance(value, dict):
            if not is_right(value):
                raise bad_settings(f"“{name}” must be {what}; of several criteria, an object with one for each.")
            continue
        if not value:
            raise bad_settings(f"“{name}” is an object without a criterion. Name one, or leave “{name}” out.")
        if same := _same(value):
            raise bad_settings(f"“{name}” names one criterion twice: {same}. Write it once.")
        for criterion, of in value.items():
            if not is_right(of):
                raise bad_settings(f"“{name}” of the criterion “{criterion}” must be {what}.")


def refuse_same_criteria(criteria: Collection[str]) -> None:
    """Raise DomainError `same_criterion` for two criteria of a file whose names differ in capital letters alone."""
    if same := _same(criteria):
        message = f"The criteria {same} differ in capital letters alone. Write them alike in the file."
        raise DomainError("same_criterion", message)


def _same(names: Collection[str]) -> str:
    """Return the first two names that differ in capital letters alone, in words; "" if there are none."""
    first: dict[str, str] = {}
    pairs = ((first.setdefault(name.casefold(), name), name) for name in names)
    return next((f"“{one}” and “{other}”" for one, other in pairs if one != other), "")


def by_criterion(
    options: Mapping[str, Any], criteria: Sequence[str], others: Collection[str] = ()
) -> dict[str, OfCriterion]:
    """Return what the options say of each of these criteria, by its name.

    `others` may be named, too: criteria that nobody has answered. Raises DomainError `bad_settings` for any further
    one, and for a value without a criterion where there are several.
    """
    known = list(dict.fromkeys([*criteria, *others]))
    values = {name: _values(name, options.get(name), criteria, known) for name in NAMES}
    return {each: OfCriterion(**{name: values[name].get(each.casefold()) for name in NAMES}) for each in criteria}


def _values(name: str, value: Any, criteria: Sequence[str], known: Sequence[str]) -> dict[str, Any]:
    """Return the values of an option by criterion, in small letters."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        if len(criteria) > 1:
            raise bad_settings(
                f"“{name}” does not say of which criterion it is, and there are several: {listed(criteria)}. Write "
                f'an object with one for each, such as {{"{name}": {{"{criteria[0]}": {_EXAMPLES[name]}}}}}.'
            )
        return {criteria[0].casefold(): value}
    there = {criterion.casefold() for criterion in known}
    if unknown := [criterion for criterion in value if criterion.casefold() not in there]:
        raise bad_settings(f"“{name}” names the criterion “{unknown[0]}”. The criteria are: {', '.join(known)}.")
    return {criterion.casefold(): of for criterion, of in value.items()}


_EXAMPLES = {OPTIONS: '["yes", "no"]', GOOD: '["yes"]', CHANCE: "0.5"}


def unknown_good(good: Sequence[str], options: Sequence[str], criterion: str = "") -> DomainError | None:
    """Return the error of the first good option that is none of the options; None if all are.

    `criterion`: the name of theirs, where there are several.
    """
    known = {name.casefold() for name in options}
    unknown = next((name for name in good if name.casefold() not in known), None)
    if unknown is None:
        return None
    if criterion:
        said = f"“good” names “{unknown}” for the criterion “{criterion}”. Its options are: {', '.join(options)}."
        return bad_settings(said)
    return bad_settings(f"“good” names “{unknown}”. The options are: {', '.join(options)}.")


def with_offered(options: Mapping[str, Any], offered: Mapping[str, Sequence[str] | None]) -> Mapping[str, Any]:
    """Return the options of a campaign with `options`: what each criterion offers, by its name; None where outputs
    have options of their own.

    Those of one criterion of which nothing else is said stay those that answers have, as in results of before. Raises
    DomainError `bad_settings` for an option that does not fit the criteria.
    """
    if not offered or (len(offered) == 1 and not options):
        return options
    said = by_criterion(options, list(offered))
    for criterion, names in offered.items():
        if names and (error := unknown_good(said[criterion].good or (), names, criterion)):
            raise error
    known = {criterion: names or said[criterion].options for criterion, names in offered.items()}
    there = {criterion: list(names) for criterion, names in known.items() if names}
    return {**options, OPTIONS: there} if there else options


# --- Answers


@dataclass(frozen=True)
class Choices:
    """Answers on one criterion: rows, the options in order, and which of them each row chose.

    `chosen`: bool, (n_distinct, n_options), of the different answers; `answer`: int, (n,), the place of each row's in
    it. `correct`: the same of what is correct of each row, (n, n_options), or None where the file does not say.
    `are_given`: whether the options are those that somebody named, rather than those that answers have.
    """

    rows: Responses
    options: list[str]
    chosen: NDArray[np.bool_]
    answer: Codes
    correct: NDArray[np.bool_] | None
    are_given: bool

    @cached_property
    def has_several(self) -> bool:
        """Whether some answer has several options, or none."""
        return bool((self.chosen[occurring(self.answer, len(self.chosen))].sum(axis=1) != 1).any())

    @cached_property
    def ordinary(self) -> "Choices":
        """The answers without repeats, which count for no system and no label, and the options that these name."""
        is_once = self.rows.kind == Kind.ORDINARY
        answer, correct = self.answer[is_once], None if self.correct is None else self.correct[is_once]
        is_option = self.are_given | self.chosen[occurring(answer, len(self.chosen))].any(axis=0)
        if correct is not None:
            is_option |= correct.any(axis=0)
        return Choices(
            self.rows.take(is_once).with_used_labels(),
            [self.options[k] for k in np.flatnonzero(is_option)],
            self.chosen[:, is_option],
            answer,
            None if correct is None else correct[:, is_option],
            self.are_given,
        )

    def of_workers(self, is_counted: Mask) -> "Choices":
        """Return the answers of some workers, `is_counted`: bool, (n_workers,)."""
        used = is_counted[self.rows.worker]
        correct = None if self.correct is None else self.correct[used]
        return replace(self, rows=self.rows.take(used), answer=self.answer[used], correct=correct)

    @cached_property
    def labelled(self) -> Labelled | None:
        """Labels of items; None unless some item was answered by several workers."""
        return label_items(self.rows, self.options, self.chosen, self.answer, has_several=self.has_several)


@dataclass(frozen=True)
class ChoiceData:
    """Answers in the order of the file: all rows, and the answers on each criterion of `rows.criteria`, by its name."""

    rows: Responses
    of: Mapping[str, Choices]

    def of_workers(self, is_counted: Mask) -> "ChoiceData":
        """Return the answers of some workers, `is_counted`: bool, (n_workers,), on criteria with an ordinary one.

        Raises DomainError `nobody_counts` if there are none.
        """
        of = {name: each.of_workers(is_counted) for name, each in self.of.items()}
        there = {name: each for name, each in of.items() if (each.rows.kind == Kind.ORDINARY).any()}
        if not there:
            raise DomainError("nobody_counts", "All workers were excluded, so there is nothing to analyse.")
        only = self._only
        return ChoiceData(of[only].rows if only else self.rows.take(is_counted[self.rows.worker]), there)

    @cached_property
    def ordinary(self) -> Responses:
        """The rows without repeats."""
        if self._only:
            return self.of[self._only].ordinary.rows
        return self.rows.take(self.rows.kind == Kind.ORDINARY).with_used_labels()

    @property
    def _only(self) -> str:
        """The only criterion, whose rows are all; "" where there are several."""
        return next((name for name, each in self.of.items() if each.rows is self.rows), "")


def load_choices(file: ResponsesFile, settings: AnalysisSettings) -> ChoiceData:
    """Return the answers of a file.

    Criteria on which all answers are repeats are left out, and named in a warning. Raises TableError, or DomainError
    for options that the settings do not have.
    """
    rows = load_answers(
        file.path,
        _COLUMNS,
        criterion=CRITERION,
        of_tools=Wanted.SCORES,
        choices=file.choices_for(settings),
        kinds=(Kind.ORDINARY, Kind.REPEAT),
    )
    refuse_same_criteria(rows.criteria)
    criteria = rows.criteria
    rows = _without_repeats_alone(rows)
    said = by_criterion(settings.options, rows.criteria, [*criteria, *settings.criterion_names])
    if len(rows.criteria) == 1:
        name = rows.criteria[0]
        return ChoiceData(rows, {name: _read_choices(rows, said[name])})
    return ChoiceData(
        rows,
        {name: _read_choices(_on_criterion(rows, code), said[name], name) for code, name in enumerate(rows.criteria)},
    )


def _without_repeats_alone(rows: Responses) -> Responses:
    """Return the rows of criteria that have an ordinary one."""
    is_ordinary = rows.kind == Kind.ORDINARY
    has_ordinary = np.bincount(rows.criterion[is_ordinary], minlength=len(rows.criteria)) > 0
    if has_ordinary.all():
        return rows
    names = [name for name, has in zip(rows.criteria, has_ordinary, strict=True) if not has]
    used = has_ordinary[rows.criterion]
    n_left_out = int(np.count_nonzero(~used))
    said = f"Answers on {', '.join(names)}, all to repeats, which are left out: {n_left_out:,}."
    left = rows.take(used).with_used_labels()
    return replace(left, warnings=[*rows.warnings, ResponsesWarning("only_repeats", n_left_out, said)])


def _on_criterion(rows: Responses, code: int) -> Responses:
    """Return the rows on one criterion, with the texts of these alone: each has options of its own."""
    own = rows.take(rows.criterion == code)
    text = {}
    for name, column in own.text.items():
        there, codes = np.unique(column.codes, return_inverse=True)
        text[name] = TextColumn(codes.astype(np.int32), [column.labels[k] for k in there])
    return replace(own, text=text)


def _read_choices(rows: Responses, said: OfCriterion, criterion: str = "") -> Choices:
    """Return which options the answers have; raise DomainError for one that is not among those said, or too many.

    `criterion`: their name in errors, where there are several.
    """
    answers = rows.text["answer"]
    correct = rows.text.get("correct")
    if correct and not any(correct.labels):
        correct = None
    parts = [_split(label) for label in answers.labels]
    of_correct = [_split(label) for label in correct.labels] if correct else []
    named = sorted({name for each in [*parts, *of_correct] for name in each})
    names = said.options or named
    key = _key_of(names) if said.options else str
    place = {key(name): k for k, name in enumerate(names)}
    where = f"Criterion “{criterion}”: " if criterion else ""
    if foreign := [name for name in named if key(name) not in place]:
        message = f"{where}“{shorten(foreign[0])}” is none of the options: {', '.join(names)}."
        raise DomainError("bad_option", message)
    if len(names) > _MOST_OPTIONS:
        raise DomainError(
            "too_many_options",
            f"{where}There are {len(names):,} different answers, and at most {_MOST_OPTIONS} options. Texts are no "
            f"options; several options in a cell are separated by “;” or “|”.{_ELSE if criterion else ''}",
        )
    chosen = _matrix(parts, place, key)
    goal = _matrix(of_correct, place, key)[correct.codes] if correct else None
    found = Choices(rows, list(names), chosen, answers.codes, goal, are_given=bool(said.options))
    if not found.ordinary.options:
        message = f"{where}No answer names an option. An answer of none of them is an option, too."
        raise DomainError("no_options", message)
    return found


def _key_of(names: Sequence[str]) -> Callable[[str], str]:
    """Return how options are compared: without regard to capital letters, unless two differ in these alone."""
    return str.casefold if len({name.casefold() for name in names}) == len(names) else str


def _split(label: str) -> list[str]:
    """Return the options of a cell: a JSON list, or names with “;” or “|” between them."""
    if label.startswith("["):
        try:
            found = json.loads(label)
        except (ValueError, RecursionError):
            found = None
        if isinstance(found, list) and all(isinstance(each, str) for each in found):
            return [each.strip() for each in found]
    return [part for part in _SEPARATOR.split(label) if part]


def _matrix(parts: Sequence[Sequence[str]], place: Mapping[str, int], key: Callable[[str], str]) -> NDArray[np.bool_]:
    found = np.zeros((len(parts), len(place)), bool)
    for row, names in enumerate(parts):
        found[row, [place[key(name)] for name in names]] = True
    return found
