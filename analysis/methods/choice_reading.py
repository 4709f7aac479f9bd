"""Files of answers chosen from options to arrays, criterion by criterion."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from analysis.data.loading import Answer, load_answers
from analysis.data.notices import ResponsesWarning
from analysis.data.responses import Responses
from analysis.data.tools import Wanted
from analysis.methods import ResponsesFile
from analysis.methods.choice_labels import Labelled, label_items
from analysis.methods.choice_options import OfCriterion, by_criterion, refuse_same_criteria
from analysis.methods.settings import AnalysisSettings
from analysis.stats.ratings import Codes, Mask
from campaigns.design.composition import Kind
from evalsite.lib.errors import DomainError
from evalsite.lib.tables import TextColumn
from evalsite.lib.tables.errors import shorten

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
        return bool((self.chosen[np.unique(self.answer)].sum(axis=1) != 1).any())

    @cached_property
    def ordinary(self) -> "Choices":
        """The answers without repeats, which count for no system and no label, and the options that these name."""
        is_once = self.rows.kind == Kind.ORDINARY
        answer, correct = self.answer[is_once], None if self.correct is None else self.correct[is_once]
        is_option = self.are_given | self.chosen[np.unique(answer)].any(axis=0)
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
        return ChoiceData(self.rows.take(is_counted[self.rows.worker]), there)

    @cached_property
    def ordinary(self) -> Responses:
        """The rows without repeats."""
        return self.rows.take(self.rows.kind == Kind.ORDINARY).with_used_labels()


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
