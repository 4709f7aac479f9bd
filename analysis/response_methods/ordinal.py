"""Scores of a few ordered levels, such as Likert scales: distributions, means, medians and rank tests."""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import partial
from math import nan
from typing import Any

import numpy as np

from analysis.plain_scores.loading import PlainScores, load_plain_scores
from analysis.response_methods import Progress, Report, ResponseMethod, ResponsesFile
from analysis.response_methods.clusters import in_words, with_several
from analysis.response_methods.system_scores import (
    ALPHA,
    SystemScores,
    draw_stacked,
    list_pairs,
    pairs_section,
    summarise_systems,
    systems_section,
)
from analysis.sections import Cell, Column, Figure, Output, Section, Table
from analysis.settings import AnalysisSettings
from analysis.stats.ratings import Codes, Floats, or_none
from analysis.stats.segment_means import clustered_means
from analysis.stats.significance import adjust, compare_systems
from evalsite.lib.errors import DomainError
from evalsite.lib.words import counted

CRITERION = "score"
_MOST_LEVELS = 11


class Ordinal(ResponseMethod[PlainScores]):
    """Mean level of a system over its ratings, of several criteria the mean of their means."""

    slug = "ordinal"
    options = ("levels", "negative")

    def check_options(self, options: Mapping[str, Any]) -> None:
        """Options are `levels`: how many from 1, or their names, lowest first; `negative`: criteria to be reversed."""
        super().check_options(options)
        levels = options.get("levels", _MOST_LEVELS)
        names = levels if isinstance(levels, list) else []
        n = len(set(names)) if names else levels
        is_right = isinstance(n, int) and not isinstance(n, bool) and 2 <= n <= _MOST_LEVELS
        if not is_right or len(names) not in (0, n) or not all(isinstance(name, str) and name for name in names):
            raise _bad(f"“levels” must be a number from 2 to {_MOST_LEVELS}, or a list of so many names, lowest first.")
        negative = options.get("negative", [])
        if not isinstance(negative, list) or not all(isinstance(name, str) for name in negative):
            raise _bad("“negative” must be a list of criteria.")
        if negative and "levels" not in options:
            raise _bad("Criteria can only be reversed if “levels” says which levels there are.")

    def read(self, file: ResponsesFile, settings: AnalysisSettings) -> PlainScores:
        """Return the scores of a file, as levels from 1, or as they are where the settings do not say the levels."""
        read_score, allowed = _reader(settings.options.get("levels"))
        return load_plain_scores(file.path, read_score, allowed, criterion=CRITERION, encoding=file.encoding)

    def analyse(
        self,
        data: PlainScores,
        settings: AnalysisSettings,
        on_progress: Progress = lambda _: None,
        *,
        brief: bool = False,
    ) -> dict[str, Any]:
        """Return means, medians, how often each level was given, and rank tests."""
        levels, names = _levels(data, settings.options.get("levels"))
        score = _reversed(data, settings.options, levels)
        groups = with_several({"worker": data.worker, "source": data.segment})
        of = {name: data.criterion == code for code, name in enumerate(data.criteria)}
        means = {
            name: clustered_means(score[rows], data.system[rows], len(data.systems), None, _only(groups, rows))
            for name, rows in of.items()
        }
        n_criteria = len(data.criteria)
        cell = data.system * n_criteria + data.criterion
        n_of = np.bincount(cell, minlength=len(data.systems) * n_criteria)
        with np.errstate(invalid="ignore"):
            centre = (np.bincount(cell, weights=score, minlength=n_of.size) / n_of)[cell]
        weight = 1 / (n_of[cell] * n_criteria)
        found = clustered_means(score, data.system, len(data.systems), weight, groups, centre)
        has_all = (n_of.reshape(-1, n_criteria) > 0).all(axis=1)
        overall = np.where(has_all, found.mean, np.nan)
        scores = SystemScores(
            data.systems,
            overall,
            np.where(has_all, found.low, np.nan),
            np.where(has_all, found.high, np.nan),
            np.bincount(data.system, minlength=len(data.systems)),
            found.pairs,
            higher_is_better=True,
            criteria={name: each.mean for name, each in means.items()},
        )
        order = scores.order
        summary = summarise_systems(self.slug, settings.protocol, scores) | {
            "n_workers": len(data.workers),
            "n_ratings": int(score.size),
            "levels": names,
            "clusters": dict(found.n_clusters),
        }
        criteria = [
            _criterion(name, score[rows], data.system[rows], data.systems, levels, order) for name, rows in of.items()
        ]
        missing = [data.systems[code] for code in np.flatnonzero(~has_all)]
        notes = []
        if missing:
            notes.append(f"Without a rating on some criterion, and so without a score: {', '.join(missing)}.")
        if max(found.n_clusters.values()) < 2:
            notes.append("There is one worker and one source: no interval or test is possible.")
        return {
            "summary": summary,
            "pairs": list_pairs(scores),
            "criteria": criteria,
            "warnings": [asdict(warning) for warning in data.warnings],
            "notes": notes,
            "settings": settings.to_json(),
            "fingerprint": data.fingerprint,
        }

    def sections(self, report: Report) -> list[Section]:
        """Return the ranking, the pairs, and of each criterion distribution, median and rank tests."""
        summary = report["summary"]
        by = in_words(summary["clusters"])
        what = "Mean level" if len(report["criteria"]) == 1 else "Mean over criteria of the mean level"
        caption = f"{what}; {_levels_in_words(summary['levels'])}. Errors are clustered by {by}."
        return [
            systems_section(report, score="mean", n="ratings", caption=caption),
            pairs_section(report, caption="Differences of means, the better system first."),
            *(_criterion_section(found, summary["levels"]) for found in report["criteria"]),
        ]

    def headline(self, report: Report) -> str:
        """Return how many ratings there are."""
        summary = report["summary"]
        return f"{counted(summary['n_workers'], 'worker')} gave {counted(summary['n_ratings'], 'rating')}."


def _bad(message: str) -> DomainError:
    return DomainError("bad_settings", message)


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
        is_allowed = value.is_integer() and (n is None or 1 <= value <= n)
        return value if is_allowed else nan

    if n is None:
        return read, "a whole number"
    numbers = f"a whole number from 1 to {n}"
    return read, f"{', '.join(names)}, or {numbers}" if names else numbers


def _levels(data: PlainScores, asked: int | list[str] | None) -> tuple[Floats, list[str]]:
    """Return the levels, rising, and what they are called; raise DomainError if there are too many."""
    if isinstance(asked, list):
        return np.arange(1.0, len(asked) + 1), asked
    observed = np.unique(data.score)
    levels = np.arange(1.0, asked + 1) if asked else observed
    if levels.size > _MOST_LEVELS:
        raise DomainError(
            "too_many_levels",
            f"There are {levels.size} different scores, and at most {_MOST_LEVELS} levels. Scores on a long scale are "
            "analysed by another protocol, such as custom.",
        )
    return levels, [f"{level:g}" for level in levels]


def _reversed(data: PlainScores, options: Mapping[str, Any], levels: Floats) -> Floats:
    """Return the scores, those of negative criteria counted from the other end."""
    negative = [name.casefold() for name in options.get("negative", [])]
    known = [name.casefold() for name in data.criteria]
    if unknown := sorted(set(negative) - set(known)):
        raise _bad(f"“negative” names “{unknown[0]}”. The criteria are: {', '.join(data.criteria)}.")
    is_negative = np.array([name in negative for name in known])[data.criterion]
    return np.where(is_negative, levels[0] + levels[-1] - data.score, data.score)


def _only(groups: Mapping[str, Codes], rows: Any) -> dict[str, Codes]:
    return {name: codes[rows] for name, codes in groups.items()}


def _criterion(
    name: str, score: Floats, system: Codes, systems: list[str], levels: Floats, order: list[int]
) -> dict[str, Any]:
    """Return how often each level was given, mean and median of each system, and rank tests of all pairs."""
    level = np.searchsorted(levels, score)
    counts = np.zeros((len(systems), levels.size), np.int64)
    np.add.at(counts, (system, level), 1)
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
    shares = {level: [100 * row["counts"][k] / sum(row["counts"]) for row in rows] for k, level in enumerate(names)}
    figure = Figure(
        slug,
        f"Levels: {name}",
        partial(draw_stacked, [row["system"] for row in rows], shares, "ratings, %", is_rising=True),
        "Stacked bars: the share of each level; the table has the numbers.",
    )
    tables, finding = [Table(slug, f"Levels: {name}", caption, columns, cells)], ""
    if tests:
        output = Output.FILES | Output.PAGE
        title = f"Rank tests: {name}"
        tables.append(Table(f"rank-tests-{name}", title, test_caption, of_tests, pairs, output=output))
        finding = (
            f"{n_differing} of {len(tests)} pairs of systems differ by rank (p < {ALPHA:g} after Holm’s correction)."
        )
    return Section(slug, f"Levels: {name}", finding, tables, [figure])
