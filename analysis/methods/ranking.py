"""Rankings of some systems at a time: counting scores, Bradley–Terry of the implied pairs, Friedman's test.

Style is not taken out of them, as of votes: systems are ranked by the share of others that they beat, a mean without a
model that style could be part of. Strengths of the implied pairs stand beside it, and rank nobody.
"""

from collections.abc import Iterator
from dataclasses import asdict, replace
from functools import partial
from typing import ClassVar

import numpy as np

from analysis.data.compared import ComparedPairs, pairs_of_rankings
from analysis.data.finding import Names
from analysis.data.rankings import NAMES, RankingData, load_rankings
from analysis.data.responses import AnsweredBy
from analysis.methods import OF_TESTED, Progress, ResponseMethod, ResponsesFile, unwatched
from analysis.methods.by_groups import GroupedScores, groups_sections
from analysis.methods.clusters import in_words, with_several
from analysis.methods.settings import AnalysisSettings
from analysis.methods.strengths import Votes, estimate_strengths
from analysis.methods.system_scores import Analysed, SystemScores, pairs_section, systems_section, weights_in
from analysis.methods.workers import JudgedWorkers, judge_comparisons, workers_in_words, workers_section
from analysis.results.result import Result
from analysis.results.sections import Cell, Column, Section, Table
from analysis.results.stored import Report, in_order
from analysis.stats.codes import n_distinct
from analysis.stats.pools import ValuesByWorker
from analysis.stats.rankings import friedman_test
from analysis.stats.ratings import Codes, Floats, Mask, or_nan, or_none
from analysis.stats.segment_means import clustered_means, shares_of
from campaigns.design.composition import Kind
from evalsite.lib.words import counted


class Ranking(ResponseMethod[RankingData]):
    """The share of other systems that a system beats, in the mean of its rankings."""

    slug = "ranking"
    title = "Ranking"
    summary = "Strengths of systems by the pairs that rankings imply."
    table = "rankings"
    file_columns = ("worker", "source", "system", "rank")
    names: ClassVar[Names] = NAMES | {"rank": ()}  # a position is not always a rank
    what: ClassVar[str] = "share of the other systems of a ranking that a system beats, a tie counted half"
    noun: ClassVar[str] = "ranking"
    keeps_ties: ClassVar[bool] = True
    takes = OF_TESTED

    def read(self, file: ResponsesFile, settings: AnalysisSettings) -> RankingData:
        """Return the rankings of a file."""
        return load_rankings(file.path, file.choices_for(settings))

    def value(self, data: RankingData) -> Floats:
        """Return what each row counts, (n_rows,)."""
        return data.beaten

    def analyse(
        self, data: RankingData, settings: AnalysisSettings, on_progress: Progress = unwatched, *, brief: bool = False
    ) -> Result:
        """Return counting scores, strengths of the implied pairs and Friedman's test.

        Of ordinary pages alone, and of the workers who rank degraded outputs low.
        """
        everyone, judged = data, self.judge(data, settings)
        data, value = self._that_count(data, judged)
        groups = _groups(data, settings)
        scores = self._scores(data, value, settings)
        pairs = pairs_of_rankings(data, keeps_ties=self.keeps_ties)
        arrays = pairs.first, pairs.second, pairs.outcome
        strengths = estimate_strengths(Votes.of(data.systems, *arrays, {"worker": pairs.worker}))
        friedman = asdict(friedman_test(_complete(data)))
        summary = {
            "n_workers": n_distinct(data.worker),
            "n_judgements": int(data.worker.size),
            "friedman": {key: None if value != value else value for key, value in friedman.items()},  # NaN
        }
        in_groups = partial(
            GroupedScores,
            *(value, data.system, data.systems, scores.order, groups, data.attributes),
            answer=data.judgement,
        )
        implied = strengths.scores
        of_systems = {
            data.systems[code]: [or_none(each[code]) for each in (implied.score, implied.low, implied.high)]
            for code in scores.order
        }
        return Analysed(
            *(settings, scores, everyone, judged),
            summary=summary,
            own={"strengths": of_systems},
            notes=strengths.notes,
            groups=in_groups,
        ).result()

    def rank(self, data: RankingData, settings: AnalysisSettings) -> Result:
        """Return the ranking and its pairs, without strengths and Friedman's test."""
        scores = self._scores(*self._that_count(data, self.judge(data, settings)), settings)
        return Analysed(replace(settings, groups=()), scores).result()

    def _that_count(self, data: RankingData, judged: JudgedWorkers) -> tuple[RankingData, Floats]:
        """Return what workers who count say on ordinary pages, and its values."""
        is_counted = _is_counted(data, judged)
        return data.take(is_counted), self.value(data)[is_counted[data.judgement]]

    def _scores(self, data: RankingData, value: Floats, settings: AnalysisSettings) -> SystemScores:
        """Return the mean scores of systems in what counts."""
        n = len(data.systems)
        weight = weights_in(data.attributes, settings)
        share = None if weight is None else shares_of(weight, data.system)
        found = clustered_means(value, data.system, n, share, _groups(data, settings))
        criteria = {name or self.noun: each for name, each in _by_criterion(value, data)}
        return SystemScores.of(data.systems, found, np.bincount(data.system, minlength=n), criteria)

    def values_by_worker(self, data: RankingData, settings: AnalysisSettings) -> ValuesByWorker:
        """Return what each worker's ordinary rankings say of systems."""
        data = data.take(data.kind == Kind.ORDINARY)
        worker = data.worker[data.judgement]
        return ValuesByWorker.of(data.workers, data.systems, self.value(data), worker, data.system)

    def comparisons(self, data: RankingData, settings: AnalysisSettings) -> ComparedPairs:
        """Return the pairs that judgements that count imply."""
        is_counted = _is_counted(data, self.judge(data, settings))
        return pairs_of_rankings(data.take(is_counted), keeps_ties=self.keeps_ties)

    def judgements(self, data: RankingData, settings: AnalysisSettings) -> ComparedPairs:
        """Return the pairs that judgements of workers who count imply, on ordinary pages and on repeats."""
        is_counted = self.judge(data, settings).is_counted[data.worker] & (data.kind != Kind.DEGRADED)
        return pairs_of_rankings(data.take(is_counted), keeps_ties=self.keeps_ties)

    def judge(self, data: RankingData, settings: AnalysisSettings) -> JudgedWorkers:
        """Return the verdicts on workers, by the criteria that the worker test uses."""
        not_tested = {each.name.casefold() for each in settings.criteria if not each.is_in_worker_test}
        is_tested = np.array([name.casefold() not in not_tested for name in data.criteria])
        low = data.is_degraded & is_tested[data.criterion][data.judgement]
        what = f"{self.noun.capitalize()}s"
        return judge_comparisons(data.workers, data.judgement, data.rank, low, data.worker, settings, what=what)

    def answered_by(self, data: RankingData) -> AnsweredBy:
        """Return who gave each answer."""
        return AnsweredBy(data.workers, data.worker[data.judgement], data.attributes)

    def sections(self, result: Result) -> list[Section]:
        """Return the ranking by counts, the pairs, strengths and Friedman's test."""
        caption = f"Score: {self.what}; mean. Errors are clustered by {in_words(result.summary.n_clusters)}."
        return [
            systems_section(result, score="score", n=f"{self.noun}s", caption=caption, decimals=3),
            pairs_section(result, caption="Differences of scores, the better system first.", decimals=3),
            *groups_sections(result, score="score", decimals=3),
            _strengths_section(result),
            _friedman_section(result.own_summary["friedman"], self.noun),
            *workers_section(result),
        ]

    def headline(self, result: Result) -> str:
        """Return how much was judged."""
        n_workers, n_judged = result.summary.n_workers, result.own_summary["n_judgements"]
        given = f"{counted(n_workers, 'worker')} gave {counted(n_judged, self.noun)}."
        return f"{workers_in_words(result)} {given}".strip()


def _is_counted(data: RankingData, judged: JudgedWorkers) -> Mask:
    """Return which rankings are of workers who count, on ordinary pages, (n_judgements,)."""
    return judged.is_counted[data.worker] & (data.kind == Kind.ORDINARY)


def _groups(data: RankingData, settings: AnalysisSettings) -> dict[str, Codes]:
    by = {"worker": data.worker[data.judgement], "source": data.source[data.judgement]}
    return with_several(by, settings.workers_planned)


def _by_criterion(value: Floats, data: RankingData) -> Iterator[tuple[str, Floats]]:
    """Yield each criterion with the mean value of each system, (n_systems,), NaN where it was not shown."""
    n = len(data.systems)
    for code, name in enumerate(data.criteria):
        rows = data.criterion[data.judgement] == code
        total, n_shown = (np.bincount(data.system[rows], each, n) for each in (value[rows], None))
        yield name, np.where(n_shown > 0, total / np.maximum(n_shown, 1), np.nan)


def _complete(data: RankingData) -> Floats:
    """Return the ranks of the rankings that have all systems, (n_blocks, n_systems)."""
    n = len(data.systems)
    is_full = np.bincount(data.judgement) == n
    rows = is_full[data.judgement]
    ranks = np.empty((np.count_nonzero(is_full), n))
    ranks[(np.cumsum(is_full) - 1)[data.judgement[rows]], data.system[rows]] = data.rank[rows]
    return ranks


def _strengths_section(result: Result) -> Section:
    strengths = in_order(result.own["strengths"], result.systems)
    rows: list[list[Cell]] = [[name, *values] for name, values in strengths]
    caption = "Bradley–Terry of the implied pairs: natural log, centred at 0; 95 % intervals, clustered by worker."
    columns = [Column("system"), Column("strength", 3), Column("low", 3), Column("high", 3)]
    has_any = not np.isnan(or_nan(values[0] for _, values in strengths)).all()
    tables = [Table("strengths", "Strengths", caption, columns, rows)] if has_any else []
    return Section("strengths", "Strengths", tables=tables)


def _friedman_section(found: Report, noun: str) -> Section:
    if found["p_value"] is None:
        said = f"Friedman’s test needs two {noun}s or more of all systems, which differ."
        return Section("friedman", "Friedman’s test", said)
    columns = [Column("χ²", 3), Column("df"), Column("p", 4, is_p=True), Column(f"{noun}s")]
    caption = f"Friedman’s test, with ties: whether all systems are ranked alike; {noun}s of all systems only."
    rows: list[list[Cell]] = [[found["statistic"], found["df"], found["p_value"], found["n_blocks"]]]
    table = Table("friedman", "Friedman’s test", caption, columns, rows)
    return Section("friedman", "Friedman’s test", tables=[table])
