"""Criteria: do they measure the same, and which one goes most with the others (METHOD §6)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from analysis.methods.study import Method
from analysis.methods.study.study import Study
from analysis.results.curves import short_label
from analysis.results.result import Result
from analysis.results.sections import COLUMN_IN, Column, Figure, Output, Picture, Section, Table, Theme
from analysis.results.stored import Report
from analysis.stats.correlation import FEWEST, correlate
from analysis.stats.criteria import Regression, regress
from analysis.stats.ratings import Floats, or_nan, or_none, or_nones
from analysis.stats.scores import Unit, counted_items, observe, reverse_negative
from evalsite.lib.typed_json import to_json

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

_OVERALL = ("overall", "overall quality", "overall impression", "quality", "impression", "preference")
"""What a criterion is called that is itself about the overall impression."""
_PAGE = "reliability"


class BetweenCriteria(Method):
    """How criteria correlate over systems, and within ratings how far each follows from the others."""

    slug = "between_criteria"

    def detail(self, study: Study) -> dict[str, Any]:
        """Return `between_criteria`: correlations over systems, and `regressions` if there are several criteria."""
        return {self.slug: _between_criteria(study) | {"regressions": _regressions(study)}}

    def sections(self, result: Result) -> list[Section]:
        """Return correlations of criteria, and which one drives the overall impression."""
        # Reports of earlier versions have the correlations with the agreement of workers.
        found = result.own.get(self.slug) or result.own.get("reliability", {}).get("criteria")
        if not found:
            return []
        return [*_criteria_section(found), *_drivers_section(found.get("regressions"))]


# --- What is computed


def _between_criteria(study: Study) -> dict[str, Any]:
    """Return correlations between overall scores and criteria over systems, of z and of raw means (Table 5.7).

    Pearson's r is above the diagonal, Spearman's ρ below it. The study's table is of raw means.
    """
    order, systems = study.order, study.analysis.systems
    of_kind = {"z": (systems.z, systems.criterion_z), "raw": (systems.raw, systems.criterion_raw)}
    return {
        "names": ["overall", *study.settings.criterion_names],
        "n_systems": len(order),
        **{
            kind: _triangles(np.column_stack([overall, of_criteria])[order])
            for kind, (overall, of_criteria) in of_kind.items()
        },
    }


def _triangles(values: Floats) -> Any:
    n = values.shape[1]
    matrix: NDArray[np.float64] = np.ones((n, n))
    for i in range(n):
        for j in range(i + 1, n):
            found = correlate(values[:, i], values[:, j])
            matrix[i, j], matrix[j, i] = found.pearson, found.spearman
    return to_json(matrix)


def _regressions(study: Study) -> dict[str, Any] | None:
    """Return each criterion regressed on the others, and the mean of the others on it; z of single ratings.

    `outcome` is the criterion that is itself about the overall impression, if there is one.
    """
    names = study.settings.criterion_names
    if len(names) < 2:
        return None
    ratings, analysis = study.ratings, study.analysis
    observations = analysis.observations
    if study.settings.unit != Unit.RATING:
        scores = reverse_negative(ratings.scores, study.settings.design(study.loaded.workers).is_negative)
        observations = observe(
            ratings, scores, analysis.standardisation, analysis.twin, is_kept=analysis.is_kept, unit=Unit.RATING
        )
    z, worker = observations.z, ratings.worker[counted_items(ratings, analysis.is_kept)]
    places = range(len(names))
    on_others = [regress(z[:, k], np.delete(z, k, axis=1), worker) for k in places]
    rest = [regress(np.delete(z, k, axis=1).mean(axis=1), z[:, [k]], worker) for k in places]
    return {
        "names": names,
        "outcome": next((name for name in names if name.casefold() in _OVERALL), None),
        "on_others": [_regression(each) for each in on_others],
        "with_rest": [_regression(each) for each in rest],
    }


def _regression(found: Regression) -> dict[str, Any]:
    numbers = {key: or_nones(getattr(found, key)) for key in ("estimate", "low", "high")}
    return numbers | {"r_squared": or_none(found.r_squared), "n": found.n}


# --- What is shown


def _criteria_section(found: Report) -> list[Section]:
    names = found["names"]
    if len(names) < 3 or found["n_systems"] < FEWEST:
        return []
    tables = [
        Table(
            f"criteria-{kind}",
            f"Correlations between criteria, {words}",
            f"Between the {words} of {found['n_systems']} systems: Pearson's r above, Spearman's ρ below the diagonal.",
            [Column("criterion"), *map(Column, names)],
            [[name, *row] for name, row in zip(names, found[kind], strict=True)],
            output=Output.SHOWN,
        )
        for kind, words in (("z", "mean z"), ("raw", "raw means"))
    ]
    return [Section("criteria", "Do criteria measure the same?", _closest(names, found["z"]), tables, page=_PAGE)]


def _closest(names: Sequence[str], matrix: list[list[float | None]]) -> str:
    """Return which two criteria are closest over systems, in a sentence."""
    values = or_nan(value for row in matrix for value in row).reshape(len(names), -1)
    values[np.tril_indices(len(names))] = np.nan
    values[0] = np.nan  # overall scores are made of the others
    if np.isnan(values).all():
        return ""
    i, j = np.unravel_index(np.nanargmax(values), values.shape)
    return f"{names[int(i)]} and {names[int(j)]} rank the systems most alike (r = {_r(float(values[i, j]))})."


def _r(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.2f}".replace("-", "−")


def _drivers_section(found: Report | None) -> list[Section]:
    """Return which criterion goes most with the overall impression, and every criterion on the others."""
    if not found:
        return []
    names = found["names"]
    rest = found["with_rest"]
    rows = [
        [name, each["estimate"][0], each["low"][0], each["high"][0], each["r_squared"]]
        for name, each in zip(names, rest, strict=True)
    ]
    with_rest = Table(
        "criteria-and-the-rest",
        "Each criterion and the mean of the others",
        "Standardised coefficient of the mean of the other criteria on each criterion, in z of single ratings, with a "
        "95 % interval; errors clustered by worker.",
        [Column("criterion"), Column("β"), Column("low"), Column("high"), Column("R²")],
        rows,
        output=Output.SHOWN,
    )
    figure = Figure(
        "criteria-and-the-rest",
        "Each criterion and the mean of the others",
        Picture.of(draw_drivers, names, rest),
        "Point and interval of the coefficient of each criterion.",
        "β of the mean of the other criteria on each criterion, with 95 % intervals.",
    )
    return [
        Section(
            "drivers",
            "Which criterion drives the overall impression?",
            _drivers_words(found),
            [with_rest, *_on_others(found)],
            [figure] if any(row[1] is not None for row in rows) else [],
            page=_PAGE,
        )
    ]


def _drivers_words(found: Report) -> str:
    names, outcome = found["names"], found["outcome"]
    if outcome is not None:
        place = names.index(outcome)
        predictors = [name for name in names if name != outcome]
        return _strongest(predictors, found["on_others"][place], f"“{outcome}” follows most from")
    estimates = or_nan(each["estimate"][0] for each in found["with_rest"])
    if np.isnan(estimates).all():
        return "This is undefined: a criterion has one score throughout, or too few items were rated on all of them."
    best = int(np.nanargmax(estimates))
    each = found["with_rest"][best]
    said = f"{names[best]} goes most with the other criteria together: β = {_r(each['estimate'][0])}"
    return said + _interval(each, 0) + ". No criterion is itself about the overall impression."


def _strongest(predictors: Sequence[str], found: Report, beginning: str) -> str:
    estimates = or_nan(found["estimate"])
    if np.isnan(estimates).all():
        return "This is undefined: a criterion has one score throughout, or too few items were rated on all of them."
    best = int(np.nanargmax(np.abs(estimates)))
    said = f"{beginning} {predictors[best]} while the other criteria stay: β = {_r(float(estimates[best]))}"
    return f"{said}{_interval(found, best)}. All others together explain {100 * found['r_squared']:.0f} % of it."


def _interval(found: Report, place: int) -> str:
    low, high = found["low"][place], found["high"][place]
    return "" if low is None else f" (95 %: {_r(low)} to {_r(high)})"


def _on_others(found: Report) -> list[Table]:
    """Return the regression of each criterion on all others: in full for files, as a matrix for the page."""
    names = found["names"]
    if len(names) < 3:
        return []
    written, shown = [], []
    for k, (outcome, each) in enumerate(zip(names, found["on_others"], strict=True)):
        predictors = [name for name in names if name != outcome]
        numbers = zip(predictors, each["estimate"], each["low"], each["high"], strict=True)
        written += [[outcome, *row, each["r_squared"], each["n"]] for row in numbers]
        shown.append([outcome, *each["estimate"][:k], None, *each["estimate"][k:], each["r_squared"]])
    title = "Each criterion on all others"
    caption = "Standardised coefficients in z of single ratings; errors clustered by worker."
    columns = [Column("criterion"), Column("on"), Column("β"), Column("low"), Column("high"), Column("R²"), Column("n")]
    on_page = [Column("criterion"), *map(Column, names), Column("R²")]
    return [
        Table("criteria-regression", title, f"{caption} 95 % intervals.", columns, written, output=Output.FILES),
        Table("criteria-regression", title, f"{caption} Rows follow from columns.", on_page, shown, output=Output.PAGE),
    ]


def draw_drivers(names: Sequence[str], rest: Sequence[Report], theme: Theme) -> "Drawing":
    """Draw the coefficient of each criterion with its interval."""
    figure, axes = theme.canvas(width=COLUMN_IN, height=0.9 + 0.3 * len(names))
    for k, each in enumerate(reversed(rest)):
        estimate, low, high = each["estimate"][0], each["low"][0], each["high"][0]
        if low is not None:
            axes.plot([low, high], [k, k], color=theme.accent, linewidth=2)
        if estimate is not None:
            axes.plot(estimate, k, marker="o", markersize=5, color=theme.ink)
    axes.set_yticks(range(len(names)), [short_label(name) for name in reversed(names)])
    axes.set_ylim(-0.6, len(names) - 0.4)
    axes.axvline(0, color=theme.faint, linewidth=1, zorder=0)
    axes.set_xlabel("β")
    return figure
