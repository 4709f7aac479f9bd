"""What methods share that test workers: from p of each worker to verdicts, and to the table of workers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from analysis.data.coding import first_rows
from analysis.data.judgements import Judgements, Scale, items_of
from analysis.data.responses import Responses
from analysis.methods.settings import AnalysisSettings
from analysis.results.result import Result, WorkerCounts, WorkerResult
from analysis.results.sections import Cell, Column, Output, Section, Table
from analysis.stats.codes import dense_ranks
from analysis.stats.quality import Verdict, run_ranking_test, run_worker_test
from analysis.stats.ratings import Codes, Floats, Mask, or_none
from campaigns.design.worker_test import NO_TEST, WORKER_TESTS
from evalsite.lib.errors import DomainError
from evalsite.lib.words import counted

_SIGN = "sign"


@dataclass(frozen=True)
class JudgedWorkers:
    """The workers of a file of responses, in the order of `names`.

    Of each, (n_workers,): `p_value`, one-sided, that degraded items are answered no worse, NaN where nothing could be
    compared; `n_compared`, of how many pairs of a degraded item and its twin p is; `verdict`, a `Verdict`. `excluded`:
    who was taken out by hand, and why. `preset`, `alpha`: the test that was applied, `none` where nobody was tested.
    """

    names: list[str]
    p_value: Floats
    n_compared: Codes
    verdict: Codes
    excluded: Mapping[str, str]
    preset: str
    alpha: float

    @property
    def is_counted(self) -> Mask:
        """Whether each worker's responses count, (n_workers,)."""
        by_hand = np.array([name in self.excluded for name in self.names], bool)
        return np.isin(self.verdict, (Verdict.PASSED, Verdict.TRUSTED)) & ~by_hand

    @property
    def counts(self) -> WorkerCounts:
        """How many passed, failed or are untested."""
        verdicts = Verdict.PASSED, Verdict.FAILED, Verdict.UNTESTED
        return WorkerCounts(len(self.names), *(int(np.count_nonzero(self.verdict == each)) for each in verdicts))

    def are_counted(self, names: Sequence[str]) -> Mask:
        """Return whether the responses of workers of these names count, (n,); those of unknown workers do not."""
        counting = {name for name, counts in zip(self.names, self.is_counted, strict=True) if counts}
        return np.array([name in counting for name in names], bool)


def judge_workers(
    names: Sequence[str], p_value: Floats, n_compared: Codes, settings: AnalysisSettings
) -> JudgedWorkers:
    """Return the verdict on each worker by `p_value` and `n_compared`, (n_workers,), as of `JudgedWorkers`.

    If nobody has anything to compare, as in files without quality-control items, no test is applied, and all count.
    """
    is_tested = settings.preset != NO_TEST and bool((n_compared > 0).any())
    verdict = np.where(p_value < settings.alpha, Verdict.PASSED, Verdict.FAILED).astype(np.int8)
    verdict[np.isnan(p_value)] = Verdict.UNTESTED
    if not is_tested:
        verdict[:] = Verdict.TRUSTED
    p = p_value if is_tested else np.full(len(names), np.nan)
    n = n_compared if is_tested else np.zeros(len(names), np.int64)
    preset = settings.preset if is_tested else NO_TEST
    return JudgedWorkers(list(names), p, n, verdict, settings.excluded, preset, settings.alpha)


def judge_comparisons(
    names: Sequence[str],
    judgement: Codes,
    rank: Floats,
    is_degraded: Mask,
    worker: Codes,
    settings: AnalysisSettings,
    *,
    what: str,
) -> JudgedWorkers:
    """Return the verdicts on workers by votes, rankings or choices: whether degraded outputs lose, by the sign test.

    `judgement`, `rank`, `is_degraded`: (n_rows,), of one output in its response; `worker`: int, (n_judgements,), codes
    of `names`; as of `run_ranking_test`. `what` names the responses where another test is asked for: DomainError
    `bad_settings`.
    """
    if settings.preset not in (NO_TEST, _SIGN):
        text = f"{what} are tested by the sign test: degraded outputs lose. Choose “{_SIGN}” or “{NO_TEST}”."
        raise DomainError("bad_settings", text)
    found = run_ranking_test(judgement, rank, is_degraded, worker, len(names), alpha=settings.alpha)
    return judge_workers(names, found.p_value, found.n_compared, settings)


def judge_rows(data: Responses, score: Floats, settings: AnalysisSettings) -> JudgedWorkers:
    """Return the verdicts on workers: whether they give degraded items lower scores than their twins.

    `score`: float64, (n,), higher where an item is better, NaN where its criterion is not tested.
    """
    ratings, twin, every = data.as_ratings(score), data.twins, np.array([True])
    found = run_worker_test(ratings, ratings.scores, twin, preset=settings.preset, alpha=settings.alpha, criteria=every)
    return judge_workers(data.workers, found.p_value, found.n_compared, settings)


def list_workers(found: JudgedWorkers, worker: Codes, assignment: Codes) -> list[WorkerResult]:
    """Return what a result says of each worker.

    `worker`, `assignment`: int, (n,), of each response; codes of `found.names`, and codes that need not all occur.
    """
    n_responses = np.bincount(worker, minlength=len(found.names))
    first = first_rows(*dense_ranks(assignment, int(assignment.max(initial=-1)) + 1))
    n_assignments = np.bincount(worker[first], minlength=len(found.names))
    return [
        WorkerResult(
            name,
            or_none(found.p_value[k]),
            Verdict(int(found.verdict[k])).name.lower(),
            found.excluded.get(name),
            int(n_responses[k]),
            int(n_assignments[k]),
            int(found.n_compared[k]),
            *(None, None, []),
        )
        for k, name in enumerate(found.names)
    ]


def judgements_of(data: Responses, score: Floats, scales: Sequence[Scale], judged: JudgedWorkers) -> Judgements:
    """Return what workers said of outputs. `score`: float64, (n,); `scales`: one for each criterion, or one for all."""
    scales = [*scales] * (len(data.criteria) if len(scales) == 1 else 1)
    has_failed = judged.verdict == Verdict.FAILED
    return Judgements(items_of(data, score), data.criteria, scales, judged.is_counted, has_failed)


def judge_by_scores(data: Responses, score: Floats, settings: AnalysisSettings) -> JudgedWorkers:
    """Return the verdicts on workers: whether they give degraded items lower scores on the criteria that are tested."""
    not_tested = {each.name.casefold() for each in settings.criteria if not each.is_in_worker_test}
    is_tested = np.array([name.casefold() not in not_tested for name in data.criteria])
    return judge_rows(data, np.where(is_tested[data.criterion], score, np.nan), settings)


def explain_workers(found: JudgedWorkers, settings: AnalysisSettings) -> list[str]:
    """Return a sentence for whatever is surprising about who counts."""
    notes = []
    if settings.preset != NO_TEST and found.preset == NO_TEST:
        notes.append("No degraded item can be compared with anything, so no worker was tested, and every one counts.")
    elif found.names and not found.is_counted.any():
        notes.append("No worker passed the worker test, or all were excluded, so no system has a score.")
    elif n_untested := int(np.count_nonzero(found.verdict == Verdict.UNTESTED)):
        notes.append(f"Workers without a degraded item to compare, whose responses do not count: {n_untested}.")
    if n_unknown := len(set(found.excluded) - set(found.names)):
        notes.append(f"Excluded workers who are not in the file: {n_unknown}.")
    return notes


def workers_section(result: Result) -> list[Section]:
    """Return the table of workers for files; the page of workers has its own. None where a result has no workers."""
    if result.worker_table is None:
        return []
    caption = "Workers. No worker test was applied: every worker counts, apart from those excluded by hand."
    if result.has_test:
        caption = f"Workers and the worker test. Compared: {WORKER_TESTS[result.applied_test.preset].compared}."
    columns = [Column("worker", is_worker=True), Column("verdict"), Column("p", 4, is_p=True), Column("assignments")]
    columns += [Column("responses"), Column("compared"), Column("excluded")]
    rows: list[list[Cell]] = [
        [row.worker, row.verdict, row.p, row.n_assignments, row.n_ratings, row.n_compared, row.excluded or ""]
        for row in result.workers
    ]
    table = Table("workers", "Workers by hash", caption, columns, rows, output=Output.FILES)
    return [Section("workers", "Workers", tables=[table], page="workers")]


def workers_in_words(result: Result) -> str:
    """Return how many workers count, by which test, and what is left out; "" where nobody was tested."""
    workers, test = result.summary.workers, result.applied_test
    if not workers or not result.has_test:
        return ""
    n_left_out = result.summary.n_left_out
    left_out = f"; {counted(n_left_out, 'response')} of the others left out" if n_left_out else ""
    said = f"{workers.passed} of {counted(workers.total, 'worker')} passed the worker test"
    how = f"{WORKER_TESTS[test.preset].name}, α = {test.alpha:g}"
    return f"{said} ({how}); {workers.failed} failed, {workers.untested} untested{left_out}."
