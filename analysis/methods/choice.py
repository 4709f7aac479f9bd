"""Answers chosen from options: shares, paired tests of systems, and labels of items from several workers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.data.judgements import AnswerKind, Judgements, Scale
from analysis.data.output_scores import OutputScores
from analysis.data.responses import AnsweredBy, Responses
from analysis.methods import Progress, ResponseMethod, ResponsesFile, unwatched
from analysis.methods.by_groups import GroupedScores
from analysis.methods.choice_labels import describe_labels, write_labels
from analysis.methods.choice_reading import (
    GOOD,
    NAMES,
    ChoiceData,
    Choices,
    by_criterion,
    check_values,
    load_choices,
    unknown_good,
    with_offered,
)
from analysis.methods.choice_sections import sections_of_choices
from analysis.methods.clusters import explain_single, with_several
from analysis.methods.settings import AnalysisSettings
from analysis.methods.system_scores import Analysed, SystemScores, weights_in
from analysis.methods.workers import JudgedWorkers, judge_workers, judgements_of, workers_section
from analysis.results.result import Result
from analysis.results.sections import Section
from analysis.stats.labels import count_answers
from analysis.stats.pools import ValuesByWorker
from analysis.stats.ratings import Floats, or_none
from analysis.stats.segment_means import ClusteredMeans, clustered_means, means_over_criteria, shares_of
from analysis.stats.shares import binomial_p, exact_interval, mcnemar_test
from campaigns.contracts.method import NamedCriterion
from campaigns.responses import get_response_kind
from evalsite.lib.words import counted, listed

_YES = ("yes", "true", "1")
_YES_OR_NO = {*_YES, "no", "false", "0"}
_UNKNOWN = (
    "Which answers are good is not known, so systems have no score, only shares of options: name the good ones in the "
    "option “good”, or those of each item in a column “correct”."
)


@dataclass(frozen=True)
class _Answered:
    """Answers on one criterion, without repeats; which are good, (n,), None if not known; the good options; what shares
    are compared with."""

    name: str
    data: Choices
    is_good: NDArray[np.bool_] | None
    good: list[str] | None
    chance: float | None


@dataclass(frozen=True)
class _Scored:
    """Scores of systems, and of several criteria the scores on those that count."""

    systems: SystemScores
    of: Mapping[str, ClusteredMeans]


class Choice(ResponseMethod[ChoiceData]):
    """The share of a system's answers that are good, where it is known which are; shares of all options.

    Of several criteria the score is the mean over those with good answers, and each has its own options.
    """

    slug = "choice"
    title = "Options"
    summary = "Shares of good answers and of options, and labels from several workers."
    table = "answers"
    unit = "share of good answers"
    options = NAMES
    campaign_options = ("good", "chance")
    takes = frozenset({"metrics", "groups"})

    def check_options(self, options: Mapping[str, Any]) -> None:
        """Options are `options`: all of them, in order; `good`: those that are good; `chance`: a share, to compare.

        Each is of the only criterion, or an object with one for each of several.
        """
        super().check_options(options)
        check_values(options)

    def with_offered(
        self, options: Mapping[str, Any], offered: Mapping[str, Sequence[str] | None]
    ) -> Mapping[str, Any]:
        """Return the options of a campaign, with all that may be chosen on each criterion."""
        return with_offered(options, offered)

    def why_undecided(self, options: Mapping[str, Any], criteria: Sequence[NamedCriterion]) -> str:
        """Return that it is not known which options are good, if that is so on every criterion."""
        for each in criteria:
            offered = {name.casefold() for name in get_response_kind(each.response).offered(each.settings) or ()}
            if options.get(GOOD) or each.settings.get("correct") or (offered and offered <= _YES_OR_NO):
                return ""
        return (
            "Which options are good is not known, so systems have no score by which they differ: name the good ones in "
            "the option “good” of the method, or give a criterion a field with the good options of each source."
        )

    def read(self, file: ResponsesFile, settings: AnalysisSettings) -> ChoiceData:
        """Return the answers of a file."""
        return load_choices(file, settings)

    def analyse(
        self, data: ChoiceData, settings: AnalysisSettings, on_progress: Progress = unwatched, *, brief: bool = False
    ) -> Result:
        """Return shares, paired tests and labels of ordinary answers, and how far workers agree, on repeats, too."""
        everyone, judged = data.rows, self.judge(data, settings)
        if not judged.is_counted.all():
            data = data.of_workers(judged.is_counted)
        rows, parts = data.ordinary, _parts(data, settings)
        found = _score_only(parts[0], settings) if len(parts) == 1 else _score_several(rows, parts, settings)
        scores = found.systems
        order = [scores.names[code] for code in scores.order]
        own = [_describe(part, order, brief=brief) for part in parts]
        is_known = any(part.is_good is not None for part in parts)
        if len(parts) > 1:
            criteria = [_head(part, found.of.get(part.name), scores) | of for part, of in zip(parts, own, strict=True)]
        return Analysed(
            *(settings, scores, everyone, judged),
            summary={"n_workers": len(rows.workers), "n_answers": rows.n, **_named(parts)},
            own=own[0] if len(parts) == 1 else {"criteria": criteria},
            notes=[*_explain(parts, scores, settings), *explain_single(scores.n_clusters)],
            groups=partial(_in_groups, rows, parts, scores) if is_known else None,
        ).result()

    def judge(self, data: ChoiceData, settings: AnalysisSettings) -> JudgedWorkers:
        """Return that nobody is tested: options are not better or worse. Workers may be excluded by hand."""
        names = data.rows.workers
        return judge_workers(names, np.full(len(names), np.nan), np.zeros(len(names), np.int64), settings)

    def answered_by(self, data: ChoiceData) -> AnsweredBy:
        """Return who gave each answer."""
        return AnsweredBy(data.rows.workers, data.rows.worker, data.rows.attributes)

    def values_by_worker(self, data: ChoiceData, settings: AnalysisSettings) -> ValuesByWorker | None:
        """Return which ordinary answers are good, on criteria where that is known."""
        data = data.of_workers(self.judge(data, settings).is_counted)
        rows, parts = data.ordinary, _parts(data, settings)
        value = _values(rows, parts)
        used = ~np.isnan(value)
        if not used.any():
            return None
        criteria, place = np.unique(rows.criterion[used], return_inverse=True)
        worker, system = rows.worker[used], rows.system[used]
        return ValuesByWorker.of(rows.workers, rows.systems, value[used], worker, system, place, criteria.size)

    def outputs(self, data: ChoiceData, settings: AnalysisSettings) -> OutputScores | None:
        """Return 1 for good answers and 0 for others; None where it is not known which are good."""
        rows = data.ordinary
        score = _values(rows, _parts(data, settings))
        return None if np.isnan(score).all() else OutputScores.of(rows, score)

    def judgements(self, data: ChoiceData, settings: AnalysisSettings) -> Judgements:
        """Return the options that were chosen, each set of them an answer."""
        rows, scales = data.rows, []
        value = np.full(rows.n, np.nan)
        for code, name in enumerate(rows.criteria):
            given = data.of[name]
            sets, category = np.unique(given.chosen, axis=0, return_inverse=True)
            value[rows.criterion == code] = category.reshape(-1)[given.answer]
            scales.append(Scale(AnswerKind.OPTIONS, sets=sets) if given.has_several else Scale(AnswerKind.OPTION))
        return judgements_of(rows, value, scales, self.judge(data, settings))

    def sections(self, result: Result) -> list[Section]:
        """Return the ranking, pairs, shares, paired tests, and labels with the workers."""
        return [*sections_of_choices(result), *workers_section(result)]

    def headline(self, result: Result) -> str:
        """Return how many answers there are."""
        n_workers, n_answers = result.summary.n_workers, result.own_summary["n_answers"]
        on = f" on {len(result.own['criteria'])} criteria" if "criteria" in result.own else ""
        return f"{counted(n_workers, 'worker')} gave {counted(n_answers, 'answer')}{on}."

    def files(self, data: ChoiceData) -> Mapping[str, str]:
        """Return the label of each item, by majority, Dawid & Skene and MACE."""
        labels = write_labels({name: each.ordinary.labelled for name, each in data.of.items()})
        return {} if labels is None else {"labels.csv": labels}


# --- What is good, and the scores of systems


def _parts(data: ChoiceData, settings: AnalysisSettings) -> list[_Answered]:
    """Return the answers on each criterion, with what the settings say of it."""
    said = by_criterion(settings.options, list(data.of), [*data.rows.criteria, *settings.criterion_names])
    parts = []
    for name, given in data.of.items():
        own = given.ordinary
        is_good, good = _good(own, said[name].good, name if len(data.of) > 1 else "")
        is_one_of_many = len(own.options) > 1 and not own.has_several
        chance = said[name].chance or (1 / len(own.options) if is_one_of_many else None)
        parts.append(_Answered(name, own, is_good, good, chance))
    return parts


def _good(
    data: Choices, asked: Sequence[str] | None, criterion: str
) -> tuple[NDArray[np.bool_] | None, list[str] | None]:
    """Return whether each answer is good, (n,), and which options are: all that it chose are, and it chose one."""
    known = [name.casefold() for name in data.options]
    if asked is None and data.correct is not None:
        chosen = data.chosen[data.answer]
        return np.asarray(chosen.any(axis=1) & ~(chosen & ~data.correct).any(axis=1)), None
    if asked is None and set(known) <= _YES_OR_NO:
        asked = [name for name in data.options if name.casefold() in _YES]
    if asked is None:
        return None, None
    if error := unknown_good(asked, data.options, criterion):
        raise error
    is_good = np.array([name in {each.casefold() for each in asked} for name in known])
    good = np.asarray(data.chosen.any(axis=1) & ~(data.chosen & ~is_good).any(axis=1))[data.answer]
    return good, list(asked)


def _values(rows: Responses, parts: Sequence[_Answered]) -> Floats:
    """Return 1 for good answers and 0 for others, NaN where it is not known which are, (n,).

    `rows`: the ordinary rows on all criteria, which are in the order of `parts`.
    """
    value = np.full(rows.n, np.nan)
    for code, part in enumerate(parts):
        if part.is_good is not None:
            value[rows.criterion == code] = part.is_good
    return value


def _in_groups(rows: Responses, parts: Sequence[_Answered], scores: SystemScores) -> GroupedScores:
    value = _values(rows, parts)
    rows, value = rows.take(~np.isnan(value)), value[~np.isnan(value)]
    clusters = with_several({"worker": rows.worker, "source": rows.source})
    _, part = np.unique(rows.criterion, return_inverse=True)
    return GroupedScores(value, rows.system, scores.names, scores.order, clusters, rows.attributes, part=part)


def _score_only(part: _Answered, settings: AnalysisSettings) -> _Scored:
    """Return the share of good answers of each system, beside its shares of options."""
    data, rows = part.data, part.data.rows
    n = len(rows.systems)
    n_of = np.bincount(rows.system, minlength=n)
    value = np.zeros(rows.n) if part.is_good is None else part.is_good.astype(float)
    groups = with_several({"worker": rows.worker, "source": rows.source}, settings.workers_planned)
    weight = weights_in(rows.attributes, settings)
    share = None if weight is None else shares_of(weight, rows.system)
    found = clustered_means(value, rows.system, n, share, groups)
    shares = _shares(data, n_of)
    criteria = {name: shares[:, k] / n_of for k, name in enumerate(data.options)}
    return _Scored(_as_scores(rows, found, n_of, criteria, is_known=part.is_good is not None), {})


def _score_several(rows: Responses, parts: Sequence[_Answered], settings: AnalysisSettings) -> _Scored:
    """Return the mean over criteria of each system's share of good answers, of those where some are known to be good.

    `rows`: the ordinary rows on all criteria, which are in the order of `parts`.
    """
    n = len(rows.systems)
    counting = [code for code, part in enumerate(parts) if part.is_good is not None]
    value, place = _values(rows, parts), np.full(len(parts), -1)
    place[counting] = np.arange(len(counting))
    used = ~np.isnan(value) if counting else np.ones(rows.n, bool)
    groups = with_several({"worker": rows.worker[used], "source": rows.source[used]}, settings.workers_planned)
    system, n_of = rows.system[used], np.bincount(rows.system[used], minlength=n)
    if not counting:
        found = clustered_means(np.zeros(rows.n), system, n, None, groups)
        return _Scored(_as_scores(rows, found, n_of, {}, is_known=False), {})
    weight = weights_in(rows.take(used).attributes, settings)
    shape = n, len(counting)
    means = means_over_criteria(value[used], system, place[rows.criterion[used]], shape, groups, weight)
    of = {parts[code].name: each for code, each in zip(counting, means.of, strict=True)}
    criteria = {name: each.mean for name, each in of.items()}
    return _Scored(_as_scores(rows, means.overall, n_of, criteria, is_known=True), of)


def _as_scores(
    rows: Responses, found: ClusteredMeans, n_of: NDArray[np.int64], criteria: Mapping[str, Floats], *, is_known: bool
) -> SystemScores:
    if not is_known:
        unknown = np.full(len(rows.systems), np.nan)
        found = replace(found, mean=unknown, low=unknown, high=unknown)
    return SystemScores.of(rows.systems, found, n_of, criteria)


def _named(parts: Sequence[_Answered]) -> dict[str, Any]:
    """Return the options and the good ones, of several criteria by name, and which of these count for the score."""
    if len(parts) == 1:
        return {"options": parts[0].data.options, "good": parts[0].good}
    return {
        "options": {part.name: part.data.options for part in parts},
        "good": {part.name: part.good for part in parts},
        "scored": [part.name for part in parts if part.is_good is not None],
    }


def _explain(parts: Sequence[_Answered], scores: SystemScores, settings: AnalysisSettings) -> list[str]:
    """Return what a person must know of scores that are not there, and of criteria that do not count."""
    notes = []
    unknown = [part.name for part in parts if part.is_good is None]
    if len(unknown) == len(parts):
        by_name = f' Name those of a criterion as in {{"good": {{"{unknown[0]}": ["yes"]}}}}.' if len(parts) > 1 else ""
        no_groups = " Without scores, systems are not compared by groups." if settings.groups else ""
        notes.append(f"{_UNKNOWN}{by_name}{no_groups}")
    elif unknown:
        notes.append(
            f"Not in the score, as it is not known which answers are good: {', '.join(unknown)}. Name the good options "
            "in the option “good”, or those of each item in a column “correct”."
        )
    missing = [name for name, score in zip(scores.names, scores.score, strict=True) if np.isnan(score)]
    if missing and len(unknown) < len(parts):
        notes.append(f"Without an answer on some criterion that counts, and so without a score: {', '.join(missing)}.")
    asked, answered = settings.criterion_names, {part.name.casefold() for part in parts}
    not_answered = [name for name in asked if name.casefold() not in answered]
    if not_answered and len(asked) > 1:
        notes.append(f"Criteria without an answer, which are not in the results: {listed(not_answered)}.")
    return notes


# --- What is said of each criterion


def _head(part: _Answered, found: ClusteredMeans | None, scores: SystemScores) -> dict[str, Any]:
    """Return what begins the report of one of several criteria: its options, and the scores of its systems."""
    rows = part.data.rows
    n_of = dict(zip(rows.systems, np.bincount(rows.system, minlength=len(rows.systems)).tolist(), strict=True))
    unknown = np.full(len(scores.names), np.nan)
    mean, low, high = (found.mean, found.low, found.high) if found else (unknown, unknown, unknown)
    return {
        "criterion": part.name,
        "options": part.data.options,
        "good": part.good,
        "is_scored": part.is_good is not None,
        "systems": [
            {
                "system": scores.names[code],
                "score": or_none(mean[code]),
                "interval": [or_none(low[code]), or_none(high[code])],
                "n": n_of.get(scores.names[code], 0),
            }
            for code in scores.order
        ],
    }


def _describe(part: _Answered, order: Sequence[str], *, brief: bool) -> dict[str, Any]:
    """Return response times on a criterion and, unless `brief`, shares, and what follows from answers to the same
    sources: paired tests and labels; `order`: the systems, best first.
    """
    rows, found = part.data.rows, {"chance": part.chance, "seconds": _seconds(part.data.rows)}
    if brief:
        return found
    n_of, codes = np.bincount(rows.system, minlength=len(rows.systems)), _codes(rows, order)
    labelled = part.data.labelled
    return found | {
        "shares": _list_shares(part.data, _shares(part.data, n_of), n_of, part.chance, codes),
        "paired": [] if part.is_good is None else _paired(rows, part.is_good, codes),
        "labels": None if labelled is None else describe_labels(labelled),
    }


def _codes(rows: Responses, order: Sequence[str]) -> list[int]:
    """Return the codes of the systems that have answers, in this order."""
    code = {name: k for k, name in enumerate(rows.systems)}
    return [code[name] for name in order if name in code]


def _shares(data: Choices, n_of: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how often each system's answers have each option, (n_systems, n_options)."""
    cells = count_answers(data.rows.system, data.answer, n_of.size, len(data.chosen))
    found: NDArray[np.int64] = cells @ data.chosen.astype(np.int64)
    return found


def _list_shares(
    data: Choices, shares: NDArray[np.int64], n_of: NDArray[np.int64], chance: float | None, order: Sequence[int]
) -> list[dict[str, Any]]:
    low, high = exact_interval(shares, np.broadcast_to(n_of[:, None], shares.shape))
    return [
        {
            "system": data.rows.systems[code],
            "option": name,
            "count": int(shares[code, k]),
            "n": int(n_of[code]),
            "share": or_none(shares[code, k] / n_of[code]),
            "interval": [or_none(low[code, k]), or_none(high[code, k])],
            "p": None if chance is None else or_none(binomial_p(int(shares[code, k]), int(n_of[code]), chance)),
        }
        for code in order
        for k, name in enumerate(data.options)
    ]


def _seconds(rows: Responses) -> dict[str, list[float | None]] | None:
    """Return median and mean seconds of an answer to each system; None where the file has no times."""
    if "seconds" not in rows.numbers:
        return None
    is_known = ~np.isnan(rows.numbers["seconds"])
    seconds, system = rows.numbers["seconds"][is_known], rows.system[is_known]
    ends = np.cumsum(np.bincount(system, minlength=len(rows.systems)))
    own = np.split(seconds[np.argsort(system, kind="stable")], ends[:-1])
    return {
        name: [float(np.median(each)), float(each.mean())] if each.size else [None, None]
        for name, each in zip(rows.systems, own, strict=True)
    }


def _paired(rows: Responses, is_good: NDArray[np.bool_], order: Sequence[int]) -> list[dict[str, Any]]:
    """Return McNemar's test of every two systems that share a worker and a source."""
    found = mcnemar_test(rows.system, rows.judgement, is_good, len(rows.systems))
    return [
        {
            "systems": [rows.systems[a], rows.systems[b]],
            "n": int(found.n_shared[a, b]),
            "only": [int(found.only[a, b]), int(found.only[b, a])],
            "p": or_none(found.p_value[a, b]),
            "p_holm": or_none(found.holm[a, b]),
        }
        for a, b in combinations(order, 2)
        if found.n_shared[a, b] and len(rows.sources) > 1
    ]
