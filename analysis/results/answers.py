"""Answers to questions that others read, too, and reading any of them from what is stored."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from analysis.data.judgements import AnswerKind
from evalsite.lib.typed_json import from_json

Answer = TypeVar("Answer")
Numbers = Sequence[float | None]
UNKNOWN: Numbers = (None, None)


@dataclass(frozen=True)
class Refusal:
    """Why a question cannot be asked, in a sentence."""

    refused: str


def read_answer(stored: Mapping[str, Any], question: str, kind: type[Answer]) -> Answer | Refusal | None:
    """Return the answer to a question by its slug, of stored answers in the shape of now; None if it is not there.

    Raise DomainError `unreadable_result` where it is not of this kind.
    """
    answer = stored.get(question)
    if answer is None:
        return None
    return from_json(answer, Refusal) if "refused" in answer else from_json(answer, kind)


def find_answer(stored: Mapping[str, Any], question: str, kind: type[Answer]) -> Answer | None:
    """Return the same; None of a question that could not be asked, too."""
    answer = read_answer(stored, question, kind)
    return None if isinstance(answer, Refusal) else answer


# --- Split halves


@dataclass(frozen=True)
class SplitHalves:
    """How the scores of systems by random halves of the workers correlate, and what that says of more workers.

    `r`: the median; `range`: of 95 % of the divisions; `whole`: of all workers; `by_raters`: of so many workers.
    """

    r: float | None
    range: Numbers
    whole: float | None
    n_workers: int
    n_splits: int
    by_raters: Mapping[int, float | None]


# --- Sensitivity


@dataclass(frozen=True, kw_only=True)
class Survival:
    """What becomes of a ranking that is computed otherwise in `n` ways: as `stats.sensitivity.Survival`, in names.

    `n_called_otherwise`: pairs of which it is said in some way, or in the result alone, that they differ; None where
    pairs are not compared again.
    """

    n: int
    n_same_order: int
    n_same_best: int
    largest_change: float | None
    system: str | None
    n_called_otherwise: int | None = None


@dataclass(frozen=True, kw_only=True)
class SurvivalByAlpha(Survival):
    """The same over values of α of the worker test, with the workers who count and each system's scores at each."""

    alphas: Sequence[float]
    n_workers: Sequence[int]
    score: Sequence[Numbers]
    chosen: float


@dataclass(frozen=True, kw_only=True)
class SurvivalWithoutWorker(Survival):
    """The same without one worker each, with the least and greatest score and the largest change of each system.

    `n_workers`: who were left out; `n_counting`: who count, None if they are the same.
    """

    n_workers: int
    low: Numbers
    high: Numbers
    change: Numbers
    n_counting: int | None = None


@dataclass(frozen=True, kw_only=True)
class SurvivalOtherwise(Survival):
    """The same by another way to score, with the correlations of both scores."""

    name: str
    r: float | None = None
    tau: float | None = None


@dataclass(frozen=True, kw_only=True)
class SurvivalByLength(Survival):
    """The same over items whose text has at most so many words, with observations and scores at each bound."""

    most_words: Sequence[int]
    n_observations: Sequence[int]
    score: Sequence[Numbers]


@dataclass(frozen=True)
class SurvivingRanking:
    """The systems, best first, their scores, what scores are called, and what becomes of the ranking otherwise.

    `alpha`: None without a worker test. `lengths`: by the text whose length is known.
    """

    order: Sequence[str]
    measure: str
    score: Numbers
    alpha: SurvivalByAlpha | None
    without_worker: SurvivalWithoutWorker
    settings: Sequence[SurvivalOtherwise]
    lengths: Mapping[str, SurvivalByLength]


# --- Agreement of workers


@dataclass(frozen=True)
class SharedCoefficients:
    """Coefficients of agreement by their keys, and of how many items, answers and workers; None: not known."""

    n_items: int | None
    n_judgements: int | None
    n_workers: int | None
    coefficients: Mapping[str, float | None] = field(default_factory=dict)


@dataclass(frozen=True)
class AgreementOnCriterion:
    """How far workers agree with each other on a criterion, and each with themselves."""

    name: str
    answer: AnswerKind
    between: SharedCoefficients
    within: SharedCoefficients


@dataclass(frozen=True, kw_only=True)
class Spread:
    """How correlations are spread: lower quartile, median and upper quartile, and a histogram from −1 to 1."""

    n: int
    n_undefined: int
    quartiles: Numbers
    histogram: Sequence[int]


@dataclass(frozen=True, kw_only=True)
class SpreadOfPairs(Spread):
    """The same of pairs of assignments."""

    n_assignments: int | None = None


@dataclass(frozen=True)
class SpreadByCoefficient:
    """How the correlations of single workers are spread."""

    pearson: Spread
    spearman: Spread
    kendall: Spread


@dataclass(frozen=True)
class RepeatsOfGroup:
    """Repeats with their twins of a group of workers: κ by the number of categories, and correlations by worker."""

    n_pairs: int
    n_workers: int
    kappa: Mapping[int, float | None]
    correlations: SpreadByCoefficient


@dataclass(frozen=True)
class ByVerdict(Generic[Answer]):
    """What is known of workers who count, and of those who failed."""

    passed: Answer
    failed: Answer


@dataclass(frozen=True)
class NearPairs:
    """Of pairs of answers, the share within each tolerance, and κ."""

    n_pairs: int
    observed: Numbers
    kappa: Numbers


@dataclass(frozen=True)
class Tolerance:
    """How near two answers are: within so many points or levels, by chance, and as observed."""

    unit: str
    tolerances: Sequence[int]
    chance: Sequence[float]
    repeats: NearPairs
    outputs: NearPairs


@dataclass(frozen=True)
class Agreement:
    """How far workers agree: coefficients of each criterion, and of numbers how correlations are spread.

    `n_bins`: categories of Fleiss' κ of sliders; `notes`: sentences. `intra` are repeats with their twins, `inter`
    pairs of assignments of the same items.
    """

    criteria: Sequence[AgreementOnCriterion]
    n_bins: int
    notes: Sequence[str]
    intra: ByVerdict[RepeatsOfGroup] | None = None
    inter: ByVerdict[SpreadOfPairs] | None = None
    tolerance: Tolerance | None = None
