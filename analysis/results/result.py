"""A result: what responses say of systems and workers, whichever response method analysed them. Pure.

Stored as JSON (`analysis.results.stored`) with what only one method has beside it, `own`, which only its own sections
are made of. Undefined numbers are None, and so are those that an earlier version did not know.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from analysis.results.answers import Numbers, SplitHalves, SurvivingRanking, find_answer
from analysis.results.sections import Figure, Output, Section, Table
from analysis.results.words import CORRECTED
from analysis.stats.procedures import ALPHA, Procedure
from analysis.stats.ratings import Floats
from campaigns.contracts.protocol import DEFAULT_METHOD, Protocol
from campaigns.design.worker_test import NO_TEST

VERSION = 3
"""Of stored results in their present shape."""
RAW = "raw"
"""The kind of scores that are means of what workers gave, where those that rank are standardised."""
EXCLUDED = "excluded"
"""The state of workers who were taken out by hand."""
_COUNTED = ("passed", "trusted")
Interval = tuple[float | None, float | None]
_UNKNOWN: Interval = (None, None)
Matrix = list[list[float | None]]


# --- What it was made by


@dataclass(frozen=True)
class AppliedTest:
    """The worker test that was applied; `NO_TEST` where nobody was tested."""

    preset: str
    alpha: float


@dataclass(frozen=True)
class CriterionAsked:
    """A criterion, as settings store it; `scale` is None where all criteria have the scale of the settings."""

    name: str
    statement: str = ""
    is_negative: bool = False
    is_in_worker_test: bool = True
    scale: tuple[float, float] | None = None


@dataclass(frozen=True)
class CorpusUsed:
    """The corpus that chats were compared with."""

    name: str = ""


@dataclass(frozen=True)
class SettingsUsed:
    """The settings of an analysis as they are stored (`AnalysisSettings.to_json`), and the `columns` of its file."""

    protocol: str = ""
    criteria: list[CriterionAsked] = field(default_factory=list)
    worker_test: AppliedTest = AppliedTest(NO_TEST, ALPHA)
    unit: str = "rating"
    n_counts: str = Protocol.n_counts
    standardised_kinds: list[str] = field(default_factory=list)
    excluded: dict[str, str] = field(default_factory=dict)
    scale: tuple[float, float] | None = None
    workers_planned: int | None = None
    corpus: CorpusUsed | None = None
    method: str = DEFAULT_METHOD
    options: dict[str, Any] = field(default_factory=dict)
    comparison: str = Procedure.STUDIES.value
    groups: list[str] = field(default_factory=list)
    columns: dict[str, Any] = field(default_factory=dict)


# --- Systems


@dataclass(frozen=True)
class CriterionScore:
    """The score of a system on a criterion: z, and the raw mean, negative criteria reversed."""

    z: float | None
    raw: float | None


@dataclass(frozen=True)
class SystemResult:
    """A system: its score with a 95 % interval, rank and possible ranks; raw means, outputs and ratings of studies."""

    system: str
    score: float | None = None
    interval: tuple[float, float] | None = None
    n: int = 0
    rank: int | None = None
    ranks: tuple[int, int] | None = None
    criteria: dict[str, CriterionScore | float | None] = field(default_factory=dict)
    raw: float | None = None
    n_outputs: int | None = None
    n_ratings: int | None = None


@dataclass(frozen=True)
class Pair:
    """Two systems that both have a score, the better one first, and their difference in the method's unit."""

    systems: tuple[str, str]
    difference: float | None = None
    interval: Interval = (None, None)
    p_holm: float | None = None
    p: float | None = None
    p_studies: tuple[float | None, float | None] | None = None

    @property
    def differs(self) -> bool:
        """Whether the first is shown to be better."""
        return self.p_holm is not None and self.p_holm < ALPHA


@dataclass(frozen=True)
class Comparison:
    """The tests between all systems on one criterion, or overall: rows beat columns, in rank order; None: not tested.

    `p` is one-sided, `holm` and `bh` are corrected for all pairs; `superiority` is P(row > column), ties counted half.
    """

    name: str
    order: list[str]
    p: Matrix
    holm: Matrix
    bh: Matrix
    superiority: Matrix

    @property
    def n_pairs(self) -> int:
        """How many pairs of systems were tested."""
        return len(_tested(self.p))

    def n_differing(self, value: str) -> int:
        """Return how many pairs differ by p, `holm` or `bh`, in one direction or the other."""
        return sum(min(pair) < ALPHA for pair in _tested(getattr(self, value)))


def _tested(values: Matrix) -> list[tuple[float, float]]:
    """Return both values of each pair of systems that was tested."""
    pairs = ((row[j], values[j][i]) for i, row in enumerate(values) for j in range(i))
    return [(one, other) for one, other in pairs if one is not None and other is not None]


@dataclass(frozen=True)
class StudiesTests:
    """One-sided p of the test of the studies, of systems in `order`; rows beat columns."""

    order: list[str]
    p: Matrix

    def between(self, systems: Sequence[str]) -> Matrix:
        """Return p of these systems, in their order."""
        places = [self.order.index(name) for name in systems]
        return [[self.p[i][j] for j in places] for i in places]


@dataclass(frozen=True)
class RecommendedPairs:
    """By which procedure studies were compared beside the test of the studies; `refused`: why one says nothing."""

    procedure: str = Procedure.CLUSTERED.value
    refused: dict[str, str] = field(default_factory=dict)
    workers_planned: int | None = None
    is_weighted: bool = False


# --- Workers


@dataclass(frozen=True)
class WorkerResult:
    """What a worker's ratings say of them; `excluded` is why they were taken out by hand, None if they were not.

    `histogram` counts the scores in equal steps of the scale; `mean` and `sd` are behind the worker's z.
    """

    worker: str
    p: float | None
    verdict: str
    excluded: str | None
    n_ratings: int
    n_assignments: int
    n_compared: int
    mean: float | None
    sd: float | None
    histogram: list[int]
    reference_mean: float | None = None
    reference_distance: float | None = None

    @property
    def state(self) -> str:
        """The verdict, or `EXCLUDED`."""
        return self.verdict if self.excluded is None else EXCLUDED

    @property
    def is_counted(self) -> bool:
        """Whether the worker's ratings count."""
        return self.state in _COUNTED


@dataclass(frozen=True)
class WorkerCounts:
    """How many workers there are, and how many passed, failed or could not be tested."""

    total: int
    passed: int
    failed: int
    untested: int


@dataclass(frozen=True)
class References:
    """How workers who count rate reference items, and how far above ordinary ones."""

    mean: float | None
    distance: float | None


# --- Chats


@dataclass(frozen=True)
class MedianOf:
    """The median of something."""

    median: float | None


@dataclass(frozen=True)
class ChatLengths:
    """How long chats are."""

    words_per_chat: MedianOf


@dataclass(frozen=True)
class ChatsOfWorkers:
    """The chats of some workers."""

    chats: int
    chats_not_degraded: int
    minutes_per_chat: float | None
    lengths: ChatLengths


@dataclass(frozen=True)
class Dialogues:
    """Chats that were rated, by who rated them."""

    groups: dict[str, ChatsOfWorkers]
    n_topics: int
    notices: list[str]


# --- The whole


@dataclass(frozen=True)
class Summary:
    """What `manage.py analyse --format json` prints. `n_workers` or `n_raters`: who answered, where nobody was tested.

    `clusters` of studies are groups of systems, best first, of others how many clusters of each kind errors have;
    `is_standardised`: the scores are z.
    """

    systems: list[SystemResult] = field(default_factory=list)
    method: str = DEFAULT_METHOD
    protocol: str = ""
    higher_is_better: bool = True
    unit: str | None = None
    n_counts: str = "ratings"
    worker_test: AppliedTest | None = None
    workers: WorkerCounts | None = None
    references: References | None = None
    n_workers: int = 0
    n_raters: int = 0
    n_ratings: int | None = None
    n_left_out: int = 0
    is_standardised: bool = False
    concluded_by: str | None = None
    significance: StudiesTests | None = None
    clusters: list[list[str]] | dict[str, int] = field(default_factory=list)
    dialogues: Dialogues | None = None

    @property
    def n_clusters(self) -> Mapping[str, int]:
        """How many clusters of each kind errors have; of studies, whose clusters are other ones, nothing."""
        return self.clusters if isinstance(self.clusters, dict) else {}


class ScoreWords(NamedTuple):
    """What scores are called: in the head of a column, one of them, and all of them."""

    column: str
    one: str
    every: str


_Z = ScoreWords("z", "mean z", "mean z")
_PLAIN = ScoreWords("score", "score", "the scores")


class ScoresByAlpha(NamedTuple):
    """Values of α of the worker test, the workers who count at each, and the scores of systems there, by name."""

    alphas: Sequence[float]
    n_workers: Sequence[int]
    scores: Mapping[str, Numbers]


@dataclass(frozen=True)
class Notice:
    """Something surprising about the responses: how often, and examples."""

    message: str
    code: str = ""
    count: int = 0
    examples: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class PaperSentences:
    """What a paper says of an analysis: how systems got their scores, how they were compared, and what was found.

    `effects`: what the size of an effect is, for datasheets.
    """

    scored: list[str] = field(default_factory=list)
    compared: list[str] = field(default_factory=list)
    found: list[str] = field(default_factory=list)
    effects: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Result:
    """What an analysis says of systems and workers, and the sections that show it.

    `findings`: at most three sentences; `headline`: what the command line prints first; `questions`: answers by
    their slugs; `own`: what else its method says, JSON, that of its summary under `summary`.
    """

    summary: Summary = Summary()
    settings: SettingsUsed = SettingsUsed()
    pairs: list[Pair] = field(default_factory=list)
    worker_table: list[WorkerResult] | None = None
    comparisons: list[Comparison] = field(default_factory=list)
    recommended: RecommendedPairs | None = None
    resampled: dict[str, dict[str, str]] = field(default_factory=dict)
    criterion_order: list[str] | None = None
    questions: dict[str, dict[str, Any]] = field(default_factory=dict)
    warnings: list[Notice] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    fingerprint: str = ""
    findings: list[str] = field(default_factory=list)
    headline: str = ""
    paper: PaperSentences = PaperSentences()
    sections: list[Section] = field(default_factory=list)
    version: int = VERSION
    own: Mapping[str, Any] = field(default_factory=dict)

    @property
    def own_summary(self) -> Mapping[str, Any]:
        """What its method alone says in the summary."""
        summary: Mapping[str, Any] = self.own.get("summary", {})
        return summary

    # --- Systems and their scores

    @property
    def is_study(self) -> bool:
        """Whether scores are z beside raw means, with the tests of the studies."""
        return self.summary.significance is not None

    @cached_property
    def systems(self) -> dict[str, SystemResult]:
        """The systems by name, as they are ranked."""
        return {row.system: row for row in self.summary.systems}

    @property
    def kinds(self) -> dict[str, str]:
        """The keys of the kinds of scores, the one that ranks first, with what these are called."""
        return {"z": "z", RAW: "raw means"} if self.is_study else {"score": "score"}

    @property
    def words(self) -> ScoreWords:
        """What the scores that rank are called."""
        return _Z if self.is_study or self.summary.is_standardised else _PLAIN

    @property
    def sign(self) -> int:
        """1 where a higher score is better, else −1."""
        return 1 if self.summary.higher_is_better else -1

    @cached_property
    def scores(self) -> dict[str, float | None]:
        """The scores that rank, of all systems."""
        return {row.system: row.score for row in self.summary.systems}

    @property
    def scored(self) -> dict[str, float]:
        """The systems that have a score, best first."""
        return {row.system: row.score for row in self.summary.systems if row.score is not None}

    @property
    def criteria(self) -> list[str]:
        """The names of the criteria in their order; results of before have those of their settings."""
        return [each.name for each in self.settings.criteria] if self.criterion_order is None else self.criterion_order

    def score(self, name: str, criterion: str | None = None, kind: str = "") -> float | None:
        """Return the score of a system on a criterion, overall for None; by default of the kind that ranks."""
        row = self.systems[name]
        if criterion is None:
            return row.raw if kind == RAW else row.score
        on = row.criteria[criterion]
        return (on.raw if kind == RAW else on.z) if isinstance(on, CriterionScore) else on

    def scores_of(self, names: Sequence[str], criterion: str | None = None, kind: str = "") -> list[float | None]:
        """Return the same of several systems."""
        return [self.score(name, criterion, kind) for name in names]

    def interval(self, name: str) -> Interval:
        """Return the ends of the 95 % interval of a system's score; None where these are not known."""
        return self.systems[name].interval or _UNKNOWN

    # --- What is concluded

    @property
    def is_corrected(self) -> bool:
        """Whether it concludes by a comparison with Holm's correction, and not by the test of the studies.

        Results of earlier versions conclude by the latter, unless their ratings were looked at while they came.
        """
        if not self.is_study:
            return True
        before = Procedure.CLUSTERED if self.settings.workers_planned else Procedure.STUDIES
        return self.recommended is not None and (self.summary.concluded_by or before) != Procedure.STUDIES

    @property
    def level(self) -> str:
        """At which level systems differ."""
        return CORRECTED if self.is_corrected else f"p < {ALPHA:g}"

    def p_better(self, systems: Sequence[str]) -> Matrix:
        """Return p that the row's system is better than the column's, by what it concludes by; None: not tested.

        Of studies' tests p is one-sided, of others Holm's, 1 against the better system.
        """
        if not self.is_corrected:
            assert self.summary.significance is not None, "those of studies have tests"
            return self.summary.significance.between(systems)
        place = {name: k for k, name in enumerate(systems)}
        p: Matrix = [[None] * len(place) for _ in place]
        for pair in self.pairs:
            better, worse = (place.get(system) for system in pair.systems)
            if better is not None and worse is not None and pair.p_holm is not None:
                p[better][worse], p[worse][better] = pair.p_holm, 1.0
        return p

    def conclusions(self, names: Sequence[str]) -> Floats:
        """Return the same as float64, (n, n), NaN where not tested."""
        return np.array(self.p_better(names), np.float64).reshape(len(names), len(names))

    def tests_on(self, criterion: str, names: Sequence[str]) -> Floats | None:
        """Return one-sided p of the rank-sum test on a criterion, (n, n), row beats column; None where unknown."""
        for tests in self.comparisons:
            if tests.name == criterion:
                p = StudiesTests(tests.order, tests.p).between(names)
                return np.array(p, np.float64).reshape(len(names), len(names))
        return None

    # --- Workers

    @property
    def workers(self) -> list[WorkerResult]:
        """Every worker, by name; none where it is not known who answered."""
        return self.worker_table or []

    @property
    def applied_test(self) -> AppliedTest:
        """The worker test that was applied; a method that tests no worker says nothing of one."""
        return self.summary.worker_test or AppliedTest(NO_TEST, self.settings.worker_test.alpha)

    @property
    def has_test(self) -> bool:
        """Whether workers were tested."""
        return self.applied_test.preset != NO_TEST

    # --- Answers and sections

    @property
    def by_alpha(self) -> ScoresByAlpha | None:
        """The scores at each α of the worker test; None where nobody was tested."""
        ranking = find_answer(self.questions, "sensitivity", SurvivingRanking)
        if ranking is None or ranking.alpha is None:
            return None
        scores = dict(zip(ranking.order, ranking.alpha.score, strict=True))
        return ScoresByAlpha(ranking.alpha.alphas, ranking.alpha.n_workers, scores)

    @property
    def halves(self) -> SplitHalves | None:
        """How the scores of random halves of the workers correlate; None where that is undefined."""
        halves = find_answer(self.questions, "halves", SplitHalves)
        return halves if halves and halves.r is not None else None

    @property
    def figures(self) -> list[Figure]:
        """Every figure."""
        return [figure for section in self.sections for figure in section.figures]

    def tables_in(self, output: Output) -> list[Table]:
        """Return the tables for one kind of output."""
        return [table for section in self.sections for table in section.tables if output in table.output]

    @property
    def tables_to_copy(self) -> list[Table]:
        """The tables whose LaTeX the first page shows: those of the first section, the ranking, the narrowest first."""
        tables = [table for section in self.sections[:1] for table in section.tables]
        return sorted(tables, key=lambda table: len(table.columns))

    def sections_on(self, page: str) -> list[Section]:
        """Return the sections that a page shows."""
        return [section for section in self.sections if section.page == page and not section.is_empty]


def shared_criteria(*results: Result) -> list[str]:
    """Return the criteria that all systems of all results have, in the order of the first."""
    of_systems = [row.criteria for result in results for row in result.summary.systems]
    if not of_systems:
        return []
    ordered = [*results[0].criteria, *sorted(of_systems[0].keys() - set(results[0].criteria))]
    return [name for name in dict.fromkeys(ordered) if all(name in of_system for of_system in of_systems)]
