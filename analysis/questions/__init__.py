"""Questions that are asked of responses of every kind. A file each, and a line in `EVALSITE_QUESTIONS`.

A question knows neither what was answered nor how it is analysed: it analyses again, otherwise, and says what changes.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Generic

import numpy as np

from analysis.data.compared import ComparedPairs
from analysis.data.judgements import Judgements
from analysis.data.output_scores import OutputScores
from analysis.data.ratings.sources import SourceWords
from analysis.data.responses import AnsweredBy
from analysis.methods import Progress, ResponseMethod, unwatched
from analysis.methods.settings import AnalysisSettings
from analysis.metrics.loading import SegmentScores
from analysis.results.answers import Answer, Refusal, read_answer
from analysis.results.result import Result
from analysis.results.sections import Section
from analysis.stats.pools import ValuesByWorker
from analysis.stats.ratings import Floats, or_nan
from campaigns.contracts.result_pages import OWN_PAGE
from evalsite.lib.plugins import listed, load
from evalsite.lib.typed_json import to_json

_MOST_RESPONSES = 10_000_000
_FEWEST_TIMES, _MOST_TIMES = 10, 100


@dataclass(frozen=True)
class Asked:
    """Responses of any kind, as a question sees them: `data`, how they are analysed, and the result.

    `metrics`: what metrics say of the same outputs. `source_words`: how long the texts are that outputs were made from,
    as far as it is known.
    """

    method: ResponseMethod[Any]
    data: Any
    settings: AnalysisSettings
    result: Result
    metrics: SegmentScores | None = None
    source_words: Sequence[SourceWords] = ()

    def analyse(self, settings: AnalysisSettings) -> Result:
        """Return the ranking of the same responses by other settings (`ResponseMethod.rank`)."""
        return self.method.rank(self.data, settings)

    def outputs(self) -> OutputScores | None:
        """Return what they say of single outputs (`ResponseMethod.outputs`)."""
        return self.method.outputs(self.data, self.settings)

    def comparisons(self) -> ComparedPairs | None:
        """Return which pairs of systems they compare (`ResponseMethod.comparisons`)."""
        return self._comparisons

    def answered_by(self) -> AnsweredBy | None:
        """Return who gave each answer, with the columns of groups (`ResponseMethod.answered_by`)."""
        return self.method.answered_by(self.data)

    def judgements(self) -> Judgements | ComparedPairs | None:
        """Return what workers said of outputs or pairs of them, repeats included (`ResponseMethod.judgements`)."""
        return self._judgements

    @cached_property
    def _judgements(self) -> Judgements | ComparedPairs | None:
        return self.method.judgements(self.data, self.settings)

    @cached_property
    def _comparisons(self) -> ComparedPairs | None:
        return self.method.comparisons(self.data, self.settings)

    @cached_property
    def order(self) -> list[str]:
        """The systems with a score, best first."""
        return list(self.result.scored)

    @cached_property
    def workers(self) -> list[str]:
        """The workers who count, those with the most responses first."""
        rows = [row for row in self.result.workers if row.is_counted]
        return [row.worker for row in sorted(rows, key=lambda row: -row.n_ratings)]

    @cached_property
    def _values(self) -> ValuesByWorker | None:
        # Weighted means are left to the analysis.
        return None if self.settings.weights else self.method.values_by_worker(self.data, self.settings)

    @property
    def not_counting(self) -> list[str]:
        """The workers who do not count, apart from those excluded by hand."""
        return [row.worker for row in self.result.workers if not row.is_counted and row.excluded is None]

    @property
    def n_times(self) -> int:
        """How often responses may be analysed again: less often if they are many."""
        n = sum(row.n_ratings for row in self.result.workers)
        return int(np.clip(_MOST_RESPONSES // max(n, 1), _FEWEST_TIMES, _MOST_TIMES))

    def scores_in(self, result: Result) -> Floats:
        """Return the scores of a result in `order`, (n_systems,); NaN where it has none."""
        return or_nan(result.scores.get(name) for name in self.order)

    def without(self, workers: Collection[str]) -> Result:
        """Return the analysis without these workers."""
        excluded = dict(self.settings.excluded) | dict.fromkeys(workers, "left out")
        return self.analyse(replace(self.settings, excluded=excluded))

    def scores_of(self, workers: Sequence[str], parts: Floats) -> Floats:
        """Return the scores in `order` by parts of some workers, (n_parts, n_systems).

        `parts`: whether each worker counts, 0 or 1, (n_parts, n_workers).
        """
        if (known := self._values) is not None:
            return known.scores(workers, parts, self.order)
        others = set(self.workers) - set(workers)
        left_out = [others | {name for name, is_in in zip(workers, part, strict=True) if not is_in} for part in parts]
        scores = [self.scores_in(self.without(names)) for names in left_out]
        return np.array(scores).reshape(len(parts), len(self.order))


class Question(ABC, Generic[Answer]):
    """What may be asked of an analysis. Its answer is a frozen dataclass in names, undefined numbers None.

    Results keep it as JSON in `questions`, as `{slug: answer}`. Sections are made from the answer alone, so that
    results of earlier versions are shown, too. `page`: the slug of the page that shows it (`RESULT_PAGES`), by default
    one of its own.
    """

    slug: ClassVar[str]
    title: ClassVar[str]
    page: ClassVar[str] = OWN_PAGE
    answer: type[Answer]

    def is_asked(self, asked: Asked) -> bool:
        """Whether there is what the question is about; by default there always is."""
        return True

    def refuse(self, asked: Asked) -> str:
        """Return why this cannot be asked, in a sentence for the page; "" if it can."""
        return "" if len(asked.order) > 1 else "There are fewer than two systems with a score."

    @abstractmethod
    def compute(self, asked: Asked) -> Answer:
        """Return the answer; called unless `refuse` says why not."""

    @abstractmethod
    def sections(self, answer: Answer) -> list[Section]:
        """Return the sections of an answer of `compute`."""


def list_questions() -> list[Question[Any]]:
    """Return the questions of the settings, in their order."""
    return [load(path)() for path in listed("EVALSITE_QUESTIONS")]


def analyse_fully(
    method: ResponseMethod[Any],
    data: Any,
    settings: AnalysisSettings,
    on_progress: Progress = unwatched,
    metrics: SegmentScores | None = None,
    source_words: Sequence[SourceWords] = (),
) -> Result:
    """Return the result of a method with the answer of each question, or why it cannot be asked.

    `metrics`: what metrics say of the outputs; `source_words`: how long the texts of sources are.
    """
    result = method.analyse(data, settings, on_progress)
    return with_answers(Asked(method, data, settings, result, metrics, source_words), on_progress)


def with_answers(asked: Asked, on_progress: Progress = unwatched) -> Result:
    """Return the result of what is asked with the answer of each question, or why it cannot be asked."""
    answers = {}
    for question in list_questions():
        if question.is_asked(asked):
            on_progress(question.title)
            refused = question.refuse(asked)
            answers[question.slug] = to_json(Refusal(refused) if refused else question.compute(asked))
    return replace(asked.result, questions=answers)


def sections_of_questions(result: Result) -> list[Section]:
    """Return the sections of all questions that a result answers."""
    sections: list[Section] = []
    for question in list_questions():
        answer = read_answer(result.questions, question.slug, question.answer)
        if isinstance(answer, Refusal):
            sections.append(Section(question.slug, question.title, answer.refused, page=question.page))
        elif answer is not None:
            sections += question.sections(answer)
    return sections
