"""How far workers agree, and metrics with people."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from analysis.data.choices import GUESSED, Choices
from analysis.metrics.comparison import SEED, compare_metrics, comparison_tables
from analysis.metrics.human import load_human_scores
from analysis.metrics.loading import SegmentScores, load_segment_scores
from analysis.metrics.score_lists import is_score_list, load_score_lists
from analysis.questions.coefficients import ALPHA, N_BINS
from analysis.questions.reliability import NOT_KNOWN, agreement_section, measure_reliability
from analysis.results.answers import Agreement, AgreementOnCriterion
from campaigns.design.worker_test import NO_TEST
from evalsite.lib.errors import DomainError
from evalsite.library.data import Data, Method, read, response_method
from evalsite.library.frames import Frame
from evalsite.library.sources import as_file


class Reliability:
    """How far workers agree with each other, and each with themselves; `agreement` has all of it."""

    def __init__(self, agreement: Agreement) -> None:
        self.agreement = agreement

    def __repr__(self) -> str:
        return "\n".join([self.finding, *map(repr, self.tables)])

    @property
    def finding(self) -> str:
        """It in a few sentences."""
        return agreement_section(self.agreement).finding

    @property
    def notes(self) -> list[str]:
        """What is surprising about the answers; why nothing is known, where that is so."""
        is_known = any(criterion.between.n_items for criterion in self.agreement.criteria)
        return [*self.agreement.notes, *([] if is_known else [self.finding])]

    @property
    def tables(self) -> list[Frame]:
        """The coefficients of each criterion; none where workers share nothing."""
        return [Frame(table) for table in agreement_section(self.agreement).tables]

    @property
    def criteria(self) -> list[str]:
        """The names of the criteria."""
        return [criterion.name for criterion in self.agreement.criteria]

    def on(self, criterion: str | None = None) -> AgreementOnCriterion:
        """Return coefficients on a criterion, which may be left out of one; raise KeyError with the criteria there are.

        `between` are those of workers with each other, `within` those of workers with themselves.
        """
        for each in self.agreement.criteria:
            if criterion == each.name or (criterion is None and len(self.criteria) == 1):
                return each
        raise KeyError(f"Choose a criterion: {', '.join(self.criteria)}.")

    @property
    def alpha(self) -> float | None:
        """Krippendorff's α at the level that fits the answers of the one criterion, of workers with each other.

        None where it is undefined. Raises KeyError of several criteria: `on` says them of one.
        """
        criterion = self.on()
        return criterion.between.coefficients.get(ALPHA.get(criterion.answer, ""))

    @property
    def icc(self) -> float | None:
        """ICC(2,1), of the same; None where it is undefined."""
        return self.on().between.coefficients.get("icc_single")


def agreement(
    data: Any,
    method: Method | None = None,
    *,
    workers: Literal["passed", "all"] = "passed",
    worker_test: str | None = None,
    alpha: float | None = None,
    bins: int = N_BINS,
) -> Reliability:
    """Return how far workers agree on what several of them judged: the coefficients that fit what they answered.

    Parameters
    ----------
    data : Data, or whatever `read` takes
    method : str, Path or dict, optional
        As of `read`.
    workers : {"passed", "all"}
        Whose answers count: of those who passed the worker test, or of all.
    worker_test, alpha : str, float, optional
        The preset of the worker test, and the α at which workers pass; by default the protocol's.
    bins : int
        Categories of sliders for Fleiss' κ.

    Raises
    ------
    DomainError
        `nothing_shared` where it is not known which answers are about the same.

    Examples
    --------
    >>> round(agreement([{"worker": w, "system": s, "source": d, "score": v} for w, s, d, v in SCORES]).alpha, 3)
    0.81
    """
    data = data if isinstance(data, Data) else read(data, method)
    settings = data.settings.with_test(NO_TEST if workers == "all" else worker_test, alpha)
    judgements = response_method(settings).judgements(data.responses, settings)
    if judgements is None:
        raise DomainError("nothing_shared", f"{data.path.name}: {NOT_KNOWN}")
    return Reliability(measure_reliability(judgements, bins))


class BadFilesError(DomainError):
    """Something is wrong with each of two files: `errors` has both."""

    def __init__(self, errors: Sequence[DomainError]) -> None:
        super().__init__("bad_files", "\n".join(map(str, errors)))
        self.errors = errors


class MetricsAgainstPeople:
    """How far metrics judge systems and segments as people do; `document` has all of it."""

    def __init__(self, document: dict[str, Any], notes: list[str]) -> None:
        self.document: dict[str, Any] = document
        self.notes: list[str] = notes

    def __repr__(self) -> str:
        return "\n".join(map(repr, self.tables))

    @property
    def tables(self) -> list[Frame]:
        """Correlations and accuracies of each metric; of several also Williams' tests."""
        return [Frame(table) for table in comparison_tables(self.document)]


def metrics(human: Any, scores: Any, *, seed: int = SEED) -> MetricsAgainstPeople:
    """Return how far metrics judge systems and segments as people do (METHOD §7).

    Parameters
    ----------
    human : Data, or whatever `read` takes
        What people say: ratings of any kind, or scores of segments (system, source, score).
    scores : path, or a table
        Scores of metrics: metric, system, source, score.
    seed : int
        Of the permutations.

    Raises
    ------
    DomainError
        `no_common_systems` where people and metrics share none; TableError with what is wrong with either.

    Examples
    --------
    >>> people = [{"worker": w, "system": s, "source": d, "score": v} for w, s, d, v in SCORES]
    >>> lengths = [{"metric": "length", "system": s, "source": d, "score": len(s)} for _, s, d, _ in SCORES[:4]]
    >>> found = metrics(people, lengths)
    >>> found.tables[0]["metric"]
    ['length']
    """
    with TemporaryDirectory(prefix="scores-") as folder:
        choices = replace(human.choices, splits_tasks=False) if isinstance(human, Data) else GUESSED
        path = human.path if isinstance(human, Data) else as_file(human, Path(folder), "human")
        return compare_files(path, as_file(scores, Path(folder), "scores"), choices, seed)


def compare_files(human: Path, scores: Path, choices: Choices, seed: int = SEED) -> MetricsAgainstPeople:
    """Return the same of two files; what is wrong with either is said at once, in one DomainError."""
    problems: list[DomainError] = []

    def loaded(load: Callable[[Path, Choices], SegmentScores], path: Path) -> SegmentScores | None:
        try:
            return load(path, choices)
        except DomainError as error:
            problems.append(error)
            return None

    of_people, of_metrics = loaded(load_human_scores, human), loaded(_load_metrics, scores)
    if of_people is None or of_metrics is None:
        raise problems[0] if len(problems) == 1 else BadFilesError(problems)
    found = compare_metrics(of_people, of_metrics, seed=seed)
    return MetricsAgainstPeople(found.document, found.notes)


def _load_metrics(path: Path, choices: Choices) -> SegmentScores:
    if is_score_list(path):
        return load_score_lists(path, has_metrics=True)
    return load_segment_scores(path, has_metrics=True, encoding=choices.for_file(path).encoding)
