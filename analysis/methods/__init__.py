"""Response methods: how each kind of response is read and analysed. A file each, and a line in
`EVALSITE_RESPONSE_METHODS`.

A protocol names its method. The parts of which a *study* of direct assessment is made are in `analysis.methods.study`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar, cast

import numpy as np

from analysis.data.choices import GUESSED, Choices
from analysis.data.compared import ComparedPairs
from analysis.data.finding import Names, find_columns
from analysis.data.judgements import Judgements
from analysis.data.output_scores import OutputScores
from analysis.data.rankings import RankingData
from analysis.data.responses import AnsweredBy, Responses
from analysis.data.votes import VoteData
from analysis.methods.settings import AnalysisSettings
from analysis.methods.workers import JudgedWorkers
from analysis.metrics.assistance import PeoplesScores
from analysis.results.findings import find_systems
from analysis.results.replication import RunAgreement, compare_runs
from analysis.results.result import PaperSentences, Result
from analysis.results.sections import Section
from analysis.stats.pools import ValuesByWorker
from analysis.stats.ratings import Codes, Floats, Mask
from campaigns.contracts.method import CampaignMethod
from campaigns.contracts.protocol import DEFAULT_METHOD
from campaigns.design.composition import Kind
from campaigns.methods import methods
from evalsite.lib.errors import DomainError
from evalsite.lib.plugins import Registry

Data = TypeVar("Data")
Progress = Callable[[str], None]


def unwatched(stage: str) -> None:
    """Tell nobody what is being done."""


DEFAULT = DEFAULT_METHOD
"""The method of reports and settings that name none."""
OPTIONS = (
    *("alpha", "worker_test", "scale", "score_columns", "unit", "comparison", "style"),
    *("dialogues", "assignments", "corpus", "sources", "metrics", "groups"),
)
"""Options of `manage.py analyse` that a method takes, or does not know."""
OF_TESTED = frozenset({"alpha", "worker_test", "sources", "metrics", "groups"})
"""Those that a method takes whose workers may be tested."""
_WITH_SOURCES = (Responses, VoteData, RankingData)


@dataclass(frozen=True)
class ResponsesFile:
    """A file of responses, and how it is read.

    `extras` are what else the method `takes`, by name; those not given are left out. `metrics` are `SegmentScores`,
    `sources` a list of `SourceWords`, and files of chats and assignments are paths.
    """

    path: Path
    choices: Choices = GUESSED
    extras: Mapping[str, Any] = field(default_factory=dict)

    def choices_for(self, settings: AnalysisSettings) -> Choices:
        """Return how it is read, with the columns by whose groups systems are compared, and that of weights."""
        weights = [settings.weights] if settings.weights else []
        return replace(self.choices, groups=(*settings.groups, *weights))


class ResponseMethod(CampaignMethod, ABC, Generic[Data]):
    """A way to analyse one kind of response: it reads its own `Data`, and turns that into a `Result`.

    What all methods have of a result is made in one place (`system_scores.Analysed`); what only this one says is its
    `own`: JSON with undefined numbers None.

    `options`: those of the settings (`AnalysisSettings.options`) that the method knows.
    `is_study`: its results are studies of direct assessment, which pages show in their own way.
    `file_columns`: columns by which its files are recognised; none where other methods' files may have the same.
    `names`: what files may call these; nothing else by default.
    """

    options: ClassVar[tuple[str, ...]] = ()
    is_study: ClassVar[bool] = False
    file_columns: ClassVar[tuple[str, ...]] = ()
    names: ClassVar[Names] = {}

    @abstractmethod
    def read(self, file: ResponsesFile, settings: AnalysisSettings) -> Data:
        """Return the responses of a file; raise TableError that lists everything wrong with it."""

    def read_beside(self, columns: Sequence[str]) -> Collection[str]:
        """Return the columns of a file that are read beside those of `names`, and are no groups; by default none."""
        return ()

    @abstractmethod
    def analyse(
        self, data: Data, settings: AnalysisSettings, on_progress: Progress = unwatched, *, brief: bool = False
    ) -> Result:
        """Return the result; if `brief`, summary, pairs, workers, warnings and notes are enough."""

    def judge(self, data: Data, settings: AnalysisSettings) -> JudgedWorkers | None:
        """Return the verdicts on workers by which `analyse` counts them; None where nobody is tested.

        The list of a running campaign's workers shows them, so what it says of a worker follows from the responses of
        that worker alone. Studies have a list of their own (`analysis.web.queries.workers_now`).
        """
        return None

    def scores_of(self, data: Data) -> Responses | None:
        """Return the scores of single outputs, where the method has such; None by default. Studies have their own."""
        return None

    def outputs(self, data: Data, settings: AnalysisSettings) -> OutputScores | None:
        """Return what workers who count say of single outputs, which metrics are compared with.

        None where outputs are compared with each other, or nothing is known of single ones.
        """
        return None

    def comparisons(self, data: Data, settings: AnalysisSettings) -> ComparedPairs | None:
        """Return the pairs of systems that workers who count compared on ordinary pages.

        None, by default, where outputs are judged one by one.
        """
        return None

    def answered_by(self, data: Data) -> AnsweredBy | None:
        """Return who gave each answer, with the columns of groups; by default of responses and votes alone."""
        if isinstance(data, Responses | VoteData):
            return AnsweredBy(data.workers, data.worker, data.attributes)
        return None

    def judgements(self, data: Data, settings: AnalysisSettings) -> Judgements | ComparedPairs | None:
        """Return what workers said of outputs, or of pairs of them, repeats included: what agreement is measured on.

        None where it is not known which answers are about the same.
        """
        return None

    def peoples_scores(self, data: Data, settings: AnalysisSettings, order: Sequence[str]) -> PeoplesScores | None:
        """Return what metrics are joined with: by default the mean over criteria of `outputs`, of systems best first.

        None where outputs are compared with each other, or nothing is known of single ones.
        """
        outputs = self.outputs(data, settings)
        return None if outputs is None else PeoplesScores.of(outputs, order)

    # --- The same responses analysed otherwise, which questions compare with a result

    def rank(self, data: Data, settings: AnalysisSettings) -> Result:
        """Return the ranking by some settings and, if systems are compared again, the pairs."""
        return self.analyse(data, replace(settings, groups=()), brief=True)

    def variants(self, settings: AnalysisSettings) -> Mapping[str, AnalysisSettings]:
        """Return other settings of its own that may change the ranking, by what they are called; by default none."""
        return {}

    def rank_otherwise(self, data: Data, settings: AnalysisSettings) -> Mapping[str, Result]:
        """Return the rankings by other ways to score systems, by what they are called: by default by `variants`."""
        return {name: self.rank(data, way) for name, way in self.variants(settings).items()}

    def rank_without_each(self, data: Data, settings: AnalysisSettings) -> list[Result] | None:
        """Return the rankings without each of the workers who count; None where this takes as many analyses."""
        return None

    def correlate_halves(self, data: Data, settings: AnalysisSettings, rng: np.random.Generator) -> Floats | None:
        """Return r between the scores of systems by random halves of the workers; None where this takes analyses."""
        return None

    def values_by_worker(self, data: Data, settings: AnalysisSettings) -> ValuesByWorker | None:
        """Return what the values add up to that each worker gave, whatever is said of workers.

        None where scores of systems by some of the workers take an analysis, as they are no means of values.
        """
        return None

    def sources_of(self, data: Data) -> tuple[list[str], Codes] | None:
        """Return the names of sources, and the code of each ordinary item's (−1: not known).

        None where responses on some of them cannot be analysed alone.
        """
        return (data.sources, data.source[data.kind == Kind.ORDINARY]) if isinstance(data, _WITH_SOURCES) else None

    def of_sources(self, data: Data, is_taken: Mask) -> Data:
        """Return the responses on some of `sources_of`, bool (n_sources,)."""
        assert isinstance(data, _WITH_SOURCES), "`sources_of` says that these cannot be divided"
        return cast(Data, data.take(np.append(is_taken, False)[data.source]))

    def rank_short(
        self, data: Data, settings: AnalysisSettings, n_words: Floats, bounds: Sequence[int]
    ) -> list[Result]:
        """Return the rankings over sources of at most so many words, one for each of `bounds`.

        `settings` leave out who does not count. `n_words`: float64, (n_sources,), NaN where not known.
        """
        is_short = {int(np.count_nonzero(n_words <= bound)): n_words <= bound for bound in bounds}
        known = {n: self.rank(self.of_sources(data, short), settings) for n, short in is_short.items()}
        return [known[int(np.count_nonzero(n_words <= bound))] for bound in bounds]

    @abstractmethod
    def sections(self, result: Result) -> list[Section]:
        """Return the sections of a result of this method, the ranking first, made from the result alone."""

    def check_options(self, options: Mapping[str, Any]) -> None:
        """Raise DomainError `bad_settings` unless these are options of the method.

        A method that has options overrides this to check their values, and calls it.
        """
        if unknown := sorted(set(options) - set(self.options)):
            known = f" The options are: {', '.join(self.options)}." if self.options else ""
            raise DomainError("bad_settings", f"The method “{self.slug}” has no option “{unknown[0]}”.{known}")

    def fits(self, columns: Sequence[str]) -> bool:
        """Tell whether a file with these columns is clearly one of this method: if it has all of `file_columns`."""
        names = self.names or dict.fromkeys(self.file_columns, ())
        return bool(self.file_columns) and find_columns(columns, names).keys() >= set(self.file_columns)

    def headline(self, result: Result) -> str:
        """Return what a person reads first on the command line; by default nothing."""
        return ""

    def files(self, data: Data) -> Mapping[str, str]:
        """Return files that are written beside tables and figures, by name; by default none."""
        return {}

    # --- What pages, files and papers say of a result

    def findings(self, result: Result) -> list[str]:
        """Return what a result finds, in at most three sentences."""
        return [*find_systems(result), *filter(None, [result.headline])]

    def paper(self, result: Result) -> PaperSentences:
        """Return what a paper says of a result with sections; by default the captions and the findings of the page."""
        captions = [[table.caption for table in section.tables] for section in result.sections[:2]]
        scored, compared = [*captions, [], []][:2]
        return PaperSentences(scored, compared, result.findings)


# Campaigns have the same registry, and know less of what is in it.
_methods = cast("Registry[type[ResponseMethod[Any]]]", methods)


def get_method(slug: str) -> ResponseMethod:
    """Return the method of `slug`; raise DomainError `unknown_method`."""
    return _methods[slug]()


def list_response_methods() -> list[ResponseMethod]:
    """Return every method in the order of the settings."""
    return [method() for method in _methods.all().values()]


def method_of(settings: Mapping[str, Any]) -> ResponseMethod:
    """Return the method of an analysis by its stored settings; those of before name none."""
    return get_method(settings.get("method", DEFAULT))


def compare_by_method(original: Result, result: Result) -> RunAgreement | None:
    """Return how far a result agrees with the one it replicates; None unless one method made both."""
    is_one = original.settings.method == result.settings.method
    return compare_runs(original, result) if is_one else None
