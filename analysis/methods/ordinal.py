"""Scores of a few ordered levels, such as Likert scales: distributions, means, medians and rank tests."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from math import nan
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from analysis.data.judgements import Judgements, Scale
from analysis.data.loading import WITH_COPIES, load_scores
from analysis.data.output_scores import OutputScores, counted_outputs
from analysis.data.responses import Responses, average_repeats
from analysis.methods import OF_TESTED, Progress, ResponseMethod, ResponsesFile, unwatched
from analysis.methods.by_groups import GroupedScores, groups_sections
from analysis.methods.clusters import explain_single, in_words, with_several
from analysis.methods.proportional_odds import MODEL, odds_of_criterion, odds_section
from analysis.methods.settings import AnalysisSettings, bad_settings
from analysis.methods.system_scores import (
    Analysed,
    SystemScores,
    draw_stacked,
    pairs_section,
    systems_section,
    weights_in,
)
from analysis.methods.workers import JudgedWorkers, judge_by_scores, judgements_of, workers_in_words, workers_section
from analysis.results.result import Result
from analysis.results.sections import Cell, Column, Figure, Output, Picture, Section, Table
from analysis.results.stored import Report
from analysis.results.words import CORRECTED
from analysis.stats.pools import ValuesByWorker
from analysis.stats.procedures import ALPHA
from analysis.stats.ratings import Codes, Floats, or_none
from analysis.stats.scores import MOST_LEVELS
from analysis.stats.segment_means import means_over_criteria
from analysis.stats.significance import adjust, compare_systems
from campaigns.design.composition import Kind
from campaigns.design.worker_test import NO_TEST
from evalsite.lib.errors import DomainError
from evalsite.lib.words import counted

if TYPE_CHECKING:
    from campaigns.contracts.response import ResponseKind

CRITERION = "score"


class Ordinal(ResponseMethod[Responses]):
    """Mean level of a system over its ratings, of several criteria the mean of their means."""

    slug = "ordinal"
    title = "Ordered levels"
    summary = "Means, medians and distributions of levels, such as Likert scales."
    unit = "mean level"
    takes = OF_TESTED
    options: ClassVar[tuple[str, ...]] = ("levels", "negative", "model")
    campaign_options: ClassVar[tuple[str, ...]] = ("model",)

    @classmethod
    def reads(cls, kind: "type[ResponseKind]", settings: Mapping[str, Any]) -> bool:
        """Tell whether workers choose among a few levels."""
        return kind.levels(settings) is not None

    def check_options(self, options: Mapping[str, Any]) -> None:
        """Options are `levels`: how many from 1, or their names, lowest first; `negative`: criteria to be reversed;
        `model`: one that is fitted beside the rank tests."""
        super().check_options(options)
        if options.get("model", MODEL) != MODEL:
            raise bad_settings(f"“model” must be {MODEL}.")
        levels = options.get("levels", MOST_LEVELS)
        names = levels if isinstance(levels, list) else []
        n = len(set(names)) if names else levels
        is_right = isinstance(n, int) and not isinstance(n, bool) and 2 <= n <= MOST_LEVELS
        if not is_right or len(names) not in (0, n) or not all(isinstance(name, str) and name for name in names):
            raise bad_settings(
                f"“levels” must be a number from 2 to {MOST_LEVELS}, or a list of so many names, lowest first."
            )
        negative = options.get("negative", [])
        if not isinstance(negative, list) or not all(isinstance(name, str) for name in negative):
            raise bad_settings("“negative” must be a list of criteria.")
        if negative and "levels" not in options:
            raise bad_settings("Criteria can only be reversed if “levels” says which levels there are.")

    def read(self, file: ResponsesFile, settings: AnalysisSettings) -> Responses:
        """Return the scores of a file, as levels from 1, or as they are where the settings do not say the levels."""
        read_score, allowed = _reader(settings.options.get("levels"))
        return load_scores(
            file.path,
            read_score,
            allowed,
            criterion=CRITERION,
            criteria=settings.criterion_names,
            choices=file.choices_for(settings),
            kinds=WITH_COPIES,
        )

    def scores_of(self, data: Responses) -> Responses:
        """Return the scores as they are."""
        return data

    def analyse(
        self, data: Responses, settings: AnalysisSettings, on_progress: Progress = unwatched, *, brief: bool = False
    ) -> Result:
        """Return verdicts on workers; means, medians, how often each level was given, and rank tests."""
        levels, names = _levels(data, settings)
        score = _reversed(data, settings, levels)
        twin = data.twins
        judged = self.judge(data, settings)
        is_counted = judged.is_counted[data.worker]
        averaged, is_left = average_repeats(data, score, twin)
        system, systems = _with_outputs(data)
        rows = is_counted & is_left
        found = _Counted(data.take(rows), system[rows], systems, averaged[rows])
        scores = _system_scores(found, settings)
        is_given = is_counted & (data.kind != Kind.DEGRADED)
        given = _Counted(data.take(is_given), system[is_given], systems, score[is_given])
        summary = {
            "n_workers": len(data.workers),
            "n_ratings": int(np.count_nonzero(rows)),
            "n_left_out": int(np.count_nonzero(~is_counted & (data.kind != Kind.DEGRADED))),
            "levels": names,
        }
        criteria = [
            _criterion(name, found.of(code), given.of(code), levels, scores.order)
            for code, name in enumerate([] if brief else data.criteria)
        ]
        notes = []
        n_degraded = int(np.count_nonzero(data.kind == Kind.DEGRADED))
        if n_degraded and judged.preset == NO_TEST:
            notes.append(f"Scores of degraded items, which are left out: {n_degraded:,}.")
        if settings.options.get("model") and not brief:
            notes += _add_odds(criteria, given, levels, scores.order)
        missing = [systems[code] for code in scores.order if np.isnan(scores.score[code])]
        if missing and is_counted.any():
            notes.append(f"Without a rating on some criterion, and so without a score: {', '.join(missing)}.")
        if rows.any():
            notes += explain_single(scores.n_clusters)
        return Analysed(
            *(settings, scores, data, judged),
            summary=summary,
            own={"criteria": criteria},
            notes=notes,
            criteria=data.criteria,
            groups=partial(_in_groups, found, scores.order),
        ).result()

    def judge(self, data: Responses, settings: AnalysisSettings) -> JudgedWorkers:
        """Return the verdicts on workers: whether they give degraded items lower levels."""
        score = _reversed(data, settings, _levels(data, settings)[0])
        return judge_by_scores(data, score, settings)

    def values_by_worker(self, data: Responses, settings: AnalysisSettings) -> ValuesByWorker:
        """Return the levels, repeats averaged into their twins, as of the scores."""
        score = _reversed(data, settings, _levels(data, settings)[0])
        averaged, is_left = average_repeats(data, score, data.twins)
        (system, systems), rows = _with_outputs(data), data.take(is_left)
        columns = averaged[is_left], rows.worker, system[is_left], rows.criterion
        return ValuesByWorker.of(data.workers, systems, *columns, n_criteria=len(data.criteria))

    def outputs(self, data: Responses, settings: AnalysisSettings) -> OutputScores | None:
        """Return the levels, of negative criteria reversed."""
        score = _reversed(data, settings, _levels(data, settings)[0])
        return counted_outputs(data, score, self.judge(data, settings).is_counted)

    def judgements(self, data: Responses, settings: AnalysisSettings) -> Judgements:
        """Return the levels, of negative criteria reversed."""
        levels, _ = _levels(data, settings)
        score = _reversed(data, settings, levels)
        return judgements_of(data, score, [Scale.of_levels(levels)], self.judge(data, settings))

    def sections(self, result: Result) -> list[Section]:
        """Return the ranking, the pairs, of each criterion distribution, median and rank tests, and the workers."""
        criteria, levels = result.own["criteria"], result.own_summary["levels"]
        by = in_words(result.summary.n_clusters)
        what = "Mean level" if len(criteria) == 1 else "Mean over criteria of the mean level"
        caption = f"{what}; {_levels_in_words(levels)}. Errors are clustered by {by}."
        return [
            systems_section(result, score="mean", n="ratings", caption=caption),
            pairs_section(result, caption="Differences of means, the better system first."),
            *groups_sections(result, score="mean"),
            *(_criterion_section(found, levels) for found in criteria if found["systems"]),
            *(odds_section(found["name"], found["odds"], by) for found in criteria if found.get("odds")),
            *workers_section(result),
        ]

    def headline(self, result: Result) -> str:
        """Return how many ratings there are."""
        by, n_ratings = workers_in_words(result), counted(result.summary.n_ratings or 0, "rating")
        return f"{by} {n_ratings} count." if by else f"{counted(result.summary.n_workers, 'worker')} gave {n_ratings}."


def _reader(levels: int | list[str] | None) -> tuple[Callable[[str], float], str]:
    """Return what reads a level, and what a cell may hold."""
    names = levels if isinstance(levels, list) else []
    n = levels if isinstance(levels, int) else len(names) or None
    place = {name.casefold(): float(k) for k, name in enumerate(names, start=1)}

    def read(label: str) -> float:
        if label.casefold() in place:
            return place[label.casefold()]
        try:
            value = float(label)
        except ValueError:
            return nan
        is_allowed = (2 * value).is_integer() if n is None else value.is_integer() and 1 <= value <= n
        return value if is_allowed else nan

    if n is None:
        return read, "a whole number or a half"
    numbers = f"a whole number from 1 to {n}"
    return read, f"{', '.join(names)}, or {numbers}" if names else numbers


def _levels(data: Responses, settings: AnalysisSettings) -> tuple[Floats, list[str]]:
    """Return the levels, rising, and what they are called: those of the options, of the criteria, or those observed.

    Raises DomainError if there are too many, or if criteria have different ones.
    """
    asked = settings.options.get("levels")
    if isinstance(asked, list):
        return np.arange(1.0, len(asked) + 1), asked
    scales = {each.scale for each in settings.criteria if each.scale}
    if len(scales) > 1:
        said = ", ".join(
            f"{each.name} {each.scale[0]:g} to {each.scale[1]:g}" for each in settings.criteria if each.scale
        )
        raise DomainError(
            "different_levels",
            f"The criteria have different levels ({said}), whose means cannot be averaged. Give them the same "
            "points, or choose direct assessment as the response method.",
        )
    observed = np.unique(data.score[data.kind != Kind.DEGRADED])
    low, high = next(iter(scales)) if scales else (1, asked or 0)
    levels = np.arange(low, high + 1.0) if scales or asked else observed
    if levels.size > MOST_LEVELS or not np.isin(observed, levels).all():
        raise DomainError(
            "too_many_levels",
            f"There are {observed.size} different scores, and at most {MOST_LEVELS} levels. Scores on a long scale "
            "are analysed by another protocol, such as custom.",
        )
    return levels, [f"{level:g}" for level in levels]


def _reversed(data: Responses, settings: AnalysisSettings, levels: Floats) -> Floats:
    """Return the scores, those of negative criteria counted from the other end."""
    negative = [name.casefold() for name in settings.options.get("negative", [])]
    known = [name.casefold() for name in data.criteria]
    if unknown := sorted(set(negative) - set(known)):
        raise bad_settings(f"“negative” names “{unknown[0]}”. The criteria are: {', '.join(data.criteria)}.")
    negative += [each.name.casefold() for each in settings.criteria if each.is_negative]
    is_negative = np.array([name in negative for name in known])[data.criterion]
    return np.where(is_negative, levels[0] + levels[-1] - data.score, data.score)


def _with_outputs(data: Responses) -> tuple[Codes, list[str]]:
    """Return the code of each score's system among those with an item that is not degraded, and these systems."""
    has_output = np.bincount(data.system[data.kind != Kind.DEGRADED], minlength=len(data.systems)) > 0
    code = np.cumsum(has_output) - 1
    return code[data.system], [name for name, has in zip(data.systems, has_output, strict=True) if has]


@dataclass(frozen=True)
class _Counted:
    """The scores that count: their workers and sources, system, (n,), among `systems`, and score, (n,)."""

    data: Responses
    system: Codes
    systems: list[str]
    score: Floats

    def of(self, criterion: int) -> "_Counted":
        """Return those on one criterion."""
        rows = self.data.criterion == criterion
        return _Counted(self.data.take(rows), self.system[rows], self.systems, self.score[rows])


def _system_scores(found: _Counted, settings: AnalysisSettings) -> SystemScores:
    """Return the mean level of each system: of several criteria the mean of their means."""
    data, shape = found.data, (len(found.systems), len(found.data.criteria))
    groups = with_several(data.groups, settings.workers_planned)
    weight = weights_in(data.attributes, settings)
    means = means_over_criteria(found.score, found.system, data.criterion, shape, groups, weight)
    of = dict(zip(data.criteria, means.mean, strict=True))
    n_of = np.bincount(found.system, minlength=len(found.systems))
    return SystemScores.of(found.systems, means.overall, n_of, of)


def _in_groups(found: _Counted, order: list[int]) -> GroupedScores:
    data = found.data
    clusters = with_several(data.groups)
    return GroupedScores(
        found.score, found.system, found.systems, order, clusters, data.attributes, part=data.criterion
    )


def _criterion(name: str, found: _Counted, given: _Counted, levels: Floats, order: list[int]) -> dict[str, Any]:
    """Return how often each level was given, mean and median of each system, and rank tests of all pairs.

    `found` has repeats averaged with their twins, `given` every score by itself.
    """
    score, system, systems = found.score, found.system, found.systems
    counts = np.zeros((len(systems), levels.size), np.int64)
    np.add.at(counts, (given.system, np.searchsorted(levels, given.score)), 1)
    tests = compare_systems(score, system, len(systems))
    two_sided = np.minimum(1, 2 * np.minimum(tests.p_value, tests.p_value.T))
    upper = np.triu(np.ones_like(two_sided, dtype=bool), 1)
    holm = adjust(np.where(upper, two_sided, np.nan), "holm")
    holm = np.where(upper, holm, holm.T)
    rated = [code for code in order if counts[code].any()]
    return {
        "name": name,
        "systems": [
            {
                "system": systems[code],
                "counts": counts[code].tolist(),
                "mean": float(score[system == code].mean()),
                "median": float(np.median(score[system == code])),
            }
            for code in rated
        ],
        "tests": [
            {
                "systems": [systems[a], systems[b]],
                "superiority": or_none(tests.superiority[a, b]),
                "p": or_none(two_sided[a, b]),
                "p_holm": or_none(holm[a, b]),
            }
            for place, a in enumerate(rated)
            for b in rated[place + 1 :]
        ],
    }


def _add_odds(criteria: list[dict[str, Any]], given: _Counted, levels: Floats, order: list[int]) -> list[str]:
    """Add the proportional odds of each criterion, and return of which there are none."""
    groups = with_several(given.data.groups)
    for code, found in enumerate(criteria):
        on, rows = given.of(code), given.data.criterion == code
        clusters = {name: codes[rows] for name, codes in groups.items()}
        level = np.searchsorted(levels, on.score)
        is_known = bool(on.score.size)
        found["odds"] = odds_of_criterion(level, on.system, on.systems, clusters, order) if is_known else None
    without = [found["name"] for found in criteria if found["odds"] is None]
    why = "there is one level or system, or the ratings of some systems all lie above those of others"
    return [f"No finite odds of levels fit best on {', '.join(without)}: {why}."] if without else []


def _levels_in_words(names: list[str]) -> str:
    return f"levels from {names[0]} (lowest) to {names[-1]}"


def _criterion_section(found: Report, names: list[str]) -> Section:
    """Return distribution and rank tests of a criterion."""
    name, rows, tests = found["name"], found["systems"], found["tests"]
    cells: list[list[Cell]] = [[row["system"], *row["counts"], row["mean"], row["median"]] for row in rows]
    pairs: list[list[Cell]] = [[*t["systems"], t["superiority"], t["p"], t["p_holm"]] for t in tests]
    n_differing = sum(test["p_holm"] is not None and test["p_holm"] < ALPHA for test in tests)
    slug = f"levels-{name}"
    caption = f"How often each level was given, {_levels_in_words(names)}; negative criteria reversed."
    test_caption = (
        "Rank-sum tests, two-sided, corrected by Holm over all pairs; P(better): a rating of the first is higher, ties "
        "counted half. They take ratings to be independent of each other."
    )
    columns = [Column("system"), *map(Column, names), Column("mean", 2), Column("median", 1)]
    of_tests = [Column("system"), Column("other"), Column("P(better)", 3), Column("p", 4, is_p=True)]
    of_tests.append(Column("p (Holm)", 4, is_p=True))
    shares = [(level, [100 * row["counts"][k] / sum(row["counts"]) for row in rows]) for k, level in enumerate(names)]
    figure = Figure(
        slug,
        f"Levels: {name}",
        Picture.of(draw_stacked, [row["system"] for row in rows], shares, "ratings, %", is_rising=True),
        "Stacked bars: the share of each level; the table has the numbers.",
    )
    tables, finding = [Table(slug, f"Levels: {name}", caption, columns, cells)], ""
    if tests:
        output = Output.SHOWN
        title = f"Rank tests: {name}"
        tables.append(Table(f"rank-tests-{name}", title, test_caption, of_tests, pairs, output=output))
        finding = f"{n_differing} of {len(tests)} pairs of systems differ by rank ({CORRECTED})."
    return Section(slug, f"Levels: {name}", finding, tables, [figure])
