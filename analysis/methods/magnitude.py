"""Magnitude estimation: how many times as good as a reference an output is, as the geometric mean of its values."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.data.coding import combined
from analysis.data.judgements import AnswerKind, Judgements, Scale
from analysis.data.loading import WITH_COPIES, Answer, load_answers
from analysis.data.output_scores import OutputScores, counted_outputs
from analysis.data.responses import Responses, rows_of
from analysis.methods import OF_TESTED, Progress, ResponseMethod, ResponsesFile, unwatched
from analysis.methods.by_groups import GroupedScores, groups_sections
from analysis.methods.clusters import explain_single, in_words, with_several
from analysis.methods.settings import AnalysisSettings, bad_settings
from analysis.methods.system_scores import Analysed, SystemScores, pairs_section, systems_section, weights_in
from analysis.methods.workers import JudgedWorkers, judge_by_scores, judgements_of, workers_in_words, workers_section
from analysis.results.result import Result
from analysis.results.sections import Cell, Column, Section, Table
from analysis.results.stored import Report
from analysis.stats.codes import dense_ranks, n_distinct
from analysis.stats.pools import ValuesByWorker
from analysis.stats.ratings import Floats, Mask, or_none
from analysis.stats.segment_means import means_over_criteria
from campaigns.design.composition import Kind
from evalsite.lib.words import counted

CRITERION = "magnitude"
RATIO, WORKER = "ratio", "worker"
_COLUMNS = (
    Answer(("value", "magnitude", "score", "rating", "estimate"), above_0=True),
    Answer(("reference", "reference_value", "modulus", "standard"), is_required=False, above_0=True),
)
_DIGITS = 9


class Magnitude(ResponseMethod[Responses]):
    """The geometric mean of a system's values over those of the reference; or logs in units of each worker."""

    slug = "magnitude"
    title = "Magnitudes"
    summary = "Geometric means of values over those of the reference."
    unit = "mean log"
    table = "magnitudes"
    options = ("reference", "scale")
    campaign_options = options
    takes = OF_TESTED

    def check_options(self, options: Mapping[str, Any]) -> None:
        """Options are `reference`: its value, or the system that is it; `scale`: of ratios, or of each worker."""
        super().check_options(options)
        if options.get("scale", RATIO) not in (RATIO, WORKER):
            raise bad_settings(f"“scale” must be one of: {RATIO}, {WORKER}.")
        reference = options.get("reference", 100)
        is_number = isinstance(reference, int | float) and not isinstance(reference, bool)
        if not (0 < reference < np.inf if is_number else isinstance(reference, str) and reference):
            raise bad_settings(
                "“reference” must be the value that the reference has, above 0, or the name of a system."
            )

    def read(self, file: ResponsesFile, settings: AnalysisSettings) -> Responses:
        """Return the values of a file."""
        choices = file.choices_for(settings)
        return load_answers(file.path, _COLUMNS, criterion=CRITERION, choices=choices, kinds=WITH_COPIES)

    def analyse(
        self, data: Responses, settings: AnalysisSettings, on_progress: Progress = unwatched, *, brief: bool = False
    ) -> Result:
        """Return means of logs, with errors clustered by worker and source, as ratios unless they are of workers."""
        is_ratio = settings.options.get("scale", RATIO) == RATIO
        judged = self.judge(data, settings)
        log, used, notes = _scores(data, settings, judged)
        by = {"worker": data.worker[used], "source": data.source[used]}
        groups = with_several(by, settings.workers_planned)
        shape, attributes = (len(data.systems), len(data.criteria)), rows_of(data.attributes, used)
        weight = weights_in(attributes, settings)
        means = means_over_criteria(log[used], data.system[used], data.criterion[used], shape, groups, weight)
        back = np.exp if is_ratio else np.asarray
        overall, *of = (
            replace(each, mean=back(each.mean), low=back(each.low), high=back(each.high))
            for each in (means.overall, *means.of)
        )
        by_criterion = dict(zip(data.criteria, of, strict=True))
        n_of = np.bincount(data.system[used], minlength=len(data.systems))
        scores = SystemScores.of(data.systems, overall, n_of, {name: each.mean for name, each in by_criterion.items()})
        missing = [data.systems[code] for code in np.flatnonzero(~means.has_all)]
        if missing and used.any():
            notes.append(f"Without a value on some criterion, and so without a score: {', '.join(missing)}.")
        if used.any():
            notes += explain_single(scores.n_clusters)
        in_groups = partial(
            GroupedScores,
            *(log[used], data.system[used], data.systems, scores.order, groups, attributes),
            part=data.criterion[used],
        )
        rows = [
            {
                "criterion": name,
                "system": data.systems[code],
                "score": or_none(each.mean[code]),
                "interval": [or_none(each.low[code]), or_none(each.high[code])],
            }
            for name, each in by_criterion.items()
            for code in scores.order
        ]
        n_workers = n_distinct(data.worker[used])
        return Analysed(
            *(settings, scores, data, judged),
            summary={"n_workers": n_workers, "n_values": int(used.sum()), "scale": RATIO if is_ratio else WORKER},
            own={"criteria": rows},
            notes=notes,
            criteria=data.criteria,
            groups=in_groups,
        ).result()

    def judge(self, data: Responses, settings: AnalysisSettings) -> JudgedWorkers:
        """Return the verdicts on workers: whether they give degraded items smaller numbers, on the criteria tested."""
        is_ratio = settings.options.get("scale", RATIO) == RATIO
        log, _ = _logs(data, settings.options.get("reference"), is_needed=is_ratio)
        log = np.where(_is_negative(data, settings)[data.criterion], -log, log)
        is_once = data.kind != Kind.REPEAT
        return judge_by_scores(data.take(is_once), log[is_once], settings)

    def values_by_worker(self, data: Responses, settings: AnalysisSettings) -> ValuesByWorker:
        """Return the logs that count."""
        is_ratio = settings.options.get("scale", RATIO) == RATIO
        log, used, _ = _scores(data, settings, self.judge(data, settings))
        rows = data.take(used)
        columns = log[used], rows.worker, rows.system, rows.criterion
        found = ValuesByWorker.of(data.workers, data.systems, *columns, n_criteria=len(data.criteria))
        return replace(found, back=np.exp) if is_ratio else found

    def outputs(self, data: Responses, settings: AnalysisSettings) -> OutputScores | None:
        """Return the logs, of negative criteria with their sign changed."""
        data = data.take(data.kind != Kind.REPEAT)
        log, _ = _logs(data, settings.options.get("reference"), is_needed=False)
        log = np.where(_is_negative(data, settings)[data.criterion], -log, log)
        return counted_outputs(data, log, self.judge(data, settings).is_counted)

    def judgements(self, data: Responses, settings: AnalysisSettings) -> Judgements:
        """Return the logs, of negative criteria with their sign changed, without further digits than values have."""
        judged = self.judge(data, settings)
        log, _, _ = _scores(data, settings, judged)
        log = log.round(_DIGITS)  # 2 is 100 over 50, and 20 over 10
        return judgements_of(data, log, [Scale(AnswerKind.NUMBER)], judged)

    def sections(self, result: Result) -> list[Section]:
        """Return the ranking, the pairs, and each criterion."""
        is_ratio = result.own_summary["scale"] == RATIO
        by = in_words(result.summary.n_clusters)
        what = "geometric mean of values over those of the reference" if is_ratio else "mean of logs of values, in"
        unit = "" if is_ratio else " standard deviations of each worker’s logs from their mean"
        caption = f"Score: {what}{unit}. Errors, of logs, are clustered by {by}."
        of_pairs = "Differences of scores" if not is_ratio else "Differences of natural logs (0.693: twice as much)"
        of_groups = "Natural logs of the ratios (0.693: twice as much)." if is_ratio else ""
        return [
            systems_section(result, score="ratio" if is_ratio else "mean", n="values", caption=caption, decimals=3),
            pairs_section(result, caption=f"{of_pairs}, the better system first.", decimals=3),
            *groups_sections(result, score="log ratio" if is_ratio else "mean", decimals=3, note=of_groups),
            _criteria_section(result.own["criteria"]),
            *workers_section(result),
        ]

    def headline(self, result: Result) -> str:
        """Return how many values there are."""
        said = result.own_summary
        given = f"{counted(said['n_workers'], 'worker')} gave {counted(said['n_values'], 'value')}."
        return f"{workers_in_words(result)} {given}".strip()


def _is_negative(data: Responses, settings: AnalysisSettings) -> Mask:
    """Return which criteria are negative, (n_criteria,)."""
    negative = {each.name.casefold() for each in settings.criteria if each.is_negative}
    return np.array([name.casefold() in negative for name in data.criteria], bool)


def _scores(
    data: Responses, settings: AnalysisSettings, judged: JudgedWorkers
) -> tuple[Floats, NDArray[np.bool_], list[str]]:
    """Return the logs, of negative criteria with their sign changed, which of them count, and what to know of them.

    If workers chose their own numbers, in standard deviations of their worker.
    """
    is_ratio = settings.options.get("scale", RATIO) == RATIO
    log, notes = _logs(data, settings.options.get("reference"), is_needed=is_ratio)
    log = np.where(_is_negative(data, settings)[data.criterion], -log, log)
    used = judged.is_counted[data.worker] & (data.kind == Kind.ORDINARY) & ~np.isnan(log)
    return log if is_ratio else _standardised(log, data, used), used, notes


def _logs(data: Responses, reference: float | str | None, *, is_needed: bool) -> tuple[Floats, list[str]]:
    """Return natural logs of values over the reference's, (n,), and what a person must know.

    NaN where a value has no reference. If none has, and none `is_needed`, logs are those of the values.
    """
    log: Floats = np.log(data.numbers["value"])
    if isinstance(reference, str):
        return _over_system(log, data, reference)
    if reference is not None:
        return log - np.log(reference), []
    own = np.log(data.numbers.get("reference", np.full(data.n, np.nan)))
    if np.isnan(own).all():
        said = (
            "No reference is known, so values are as they are: name its value in the option “reference” or, if workers "
            f"chose their own numbers, set the option “scale” to “{WORKER}”."
        )
        return log, [said] if is_needed else []
    ratio = log - own
    n_without = _n_left_out(ratio, data)
    return ratio, [f"Left out, without a value of the reference: {n_without:,}."] if n_without else []


def _over_system(log: Floats, data: Responses, name: str) -> tuple[Floats, list[str]]:
    """Return logs over those that the same worker gave a system for the same source and criterion.

    Repeats are over the repeat of that system, as a repeated page shows both again.
    """
    known = [each.casefold() for each in data.systems]
    if name.casefold() not in known:
        raise bad_settings(f"“reference” names “{name}”. The systems are: {', '.join(data.systems)}.")
    parts = [(data.worker, len(data.workers)), (data.source, len(data.sources)), (data.criterion, len(data.criteria))]
    is_repeat = data.kind == Kind.REPEAT
    parts.append((is_repeat.astype(np.int64), 2))
    judgement, n = dense_ranks(*combined(parts))
    code = known.index(name.casefold())
    name, is_reference = data.systems[code], (data.system == code) & (is_repeat | (data.kind == Kind.ORDINARY))
    own = np.full(n, np.nan)
    own[judgement[is_reference]] = log[is_reference]
    ratio = log - own[judgement]
    n_without = _n_left_out(ratio, data)
    return ratio, [f"Left out, as their worker gave {name} no value for the source: {n_without:,}."] * bool(n_without)


def _n_left_out(ratio: Floats, data: Responses) -> int:
    return int(np.count_nonzero(np.isnan(ratio) & (data.kind == Kind.ORDINARY)))


def _standardised(log: Floats, data: Responses, used: NDArray[np.bool_]) -> Floats:
    """Return logs in standard deviations (ddof = 1) of their worker from the worker's mean; 0 where all are equal."""
    n = len(data.workers)
    worker, values = data.worker[used], log[used]
    size = np.bincount(worker, minlength=n)
    mean = np.bincount(worker, weights=values, minlength=n) / np.maximum(size, 1)
    squares = np.bincount(worker, weights=(values - mean[worker]) ** 2, minlength=n)
    deviation = np.sqrt(squares / np.maximum(size - 1, 1))
    has_spread = deviation > 1e-12
    found: Floats = (log - mean[data.worker]) / np.where(has_spread, deviation, 1.0)[data.worker]
    return np.where(has_spread[data.worker], found, 0.0)


def _criteria_section(rows: list[Report]) -> Section:
    cells: list[list[Cell]] = [[row["criterion"], row["system"], row["score"], *row["interval"]] for row in rows]
    columns = [Column("criterion"), Column("system"), Column("score", 3), Column("low", 3), Column("high", 3)]
    caption = "Scores on each criterion, with 95 % intervals."
    has_several = len({row["criterion"] for row in rows}) > 1
    table = Table("criteria", "Criteria", caption, columns, cells)
    return Section("criteria", "Criteria", tables=[table] if has_several else [])
