"""A plan as people read it: findings in sentences, a power curve, tables. Made of its JSON document alone."""

from collections.abc import Sequence
from itertools import compress
from math import ceil
from typing import TYPE_CHECKING

from analysis.planning.plans import PlannedNumbers, PlannedWith, PowerPlan
from analysis.results.sections import COLUMN_IN, Cell, Column, Figure, Picture, Section, Table, Theme
from analysis.results.stored import in_order
from analysis.stats.variance import COMPONENTS
from campaigns.design.composition import Layout
from evalsite.lib.typed_json import from_json
from evalsite.lib.words import counted

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

CHANGES = {
    "workers": "twice as many workers, who rate HITs of their own",
    "repeated": "twice as many workers, each HIT rated by twice as many",
    "hits": "the same workers, twice as many HITs each",
    "sources": "as many ratings, of twice as many sources",
    "repeats": "ordinary items in the place of repeats",
}
_DOUBLE = ("workers", "repeated", "hits")
_PARTS = {
    "workers": "which systems the workers like",
    "outputs": "which outputs are rated",
    "residual": "single ratings",
}
_COMPONENTS = {
    "system": "system",
    "worker": "worker",
    "source": "source",
    "worker x system": "worker × system",
    "source x system": "source × system",
    "residual": "residual",
}
_NORMAL = 1.96
# Widths that differ by less differ by chance; of such the first is named
_AS_NARROW = 1.03


def findings_of(stored: object) -> list[str]:
    """Return what a stored plan says, in sentences, the most important first."""
    plan = from_json(stored, PowerPlan)
    sentences = [_of_power(plan), _of_certainty(plan), _of_required(plan), _of_pilot(plan), _of_metrics(plan)]
    return [sentence for sentence in (*sentences, _of_cost(plan), _of_changes(plan), _of_parts(plan)) if sentence]


def sections_of_plan(stored: object) -> list[Section]:
    """Return the power curve, what changes buy, and the variances of a stored plan, with tables and figure."""
    plan = from_json(stored, PowerPlan)
    points = [(row.workers, row) for row in _points(plan)]
    by_workers = _design_table(plan, "power", "Power by number of workers", "workers", points)
    changes = [("as planned", plan.planned), *((CHANGES[row.name], row) for row in plan.changes)]
    changed = _design_table(plan, "changes", "What a change buys", "design", changes)
    return [
        Section("power", by_workers.title, "", [by_workers], [_curve_figure(plan)], page=""),
        Section("changes", changed.title, "", [changed], page=""),
        Section("variances", "Variances", "", [_model_table(plan), *_pilot_table(plan)], page=""),
    ]


def planned_words(settings: object) -> str:
    """Return the difference of a plan's stored settings in words; those of older plans name no method."""
    return from_json(settings, PlannedWith).planned_method.words()


def _width(plan: PowerPlan, number: float) -> str:
    return f"{number:.{plan.settings.planned_method.decimals}f}"


# --- Sentences


def _times(power: float) -> str:
    return f"{100 * power:.0f} times in 100"


def _error(error: float) -> str:
    """Return half a 95 % interval of a simulated share, in per cent and at least 1."""
    return f"± {max(1, ceil(100 * _NORMAL * error - 1e-9))}"


def _join(parts: list[str]) -> str:
    return f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else parts[0]


def _of_power(plan: PowerPlan) -> str:
    row, method = plan.planned, plan.settings.planned_method
    item = "ordinary chat" if plan.settings.design.layout == Layout.BY_SYSTEM else method.item
    return (
        f"With {counted(row.workers, 'worker')} × {counted(row.hits_per_worker, 'HIT')} of "
        f"{counted(row.items, item)}, {method.words()} is "
        f"found {_times(row.power)} ({_error(row.power_error)})."
    )


def _of_certainty(plan: PowerPlan) -> str:
    row, n_systems = plan.planned, plan.settings.design.n_systems
    n_pairs = n_systems * (n_systems - 1) // 2
    text = ""
    if n_pairs > 1:
        text = f"After Holm’s correction over all {n_pairs:,} pairs it is found {_times(row.power_corrected)}. "
    if row.half_width is None:
        return f"{text}Too few workers count for an interval."
    unit = plan.settings.planned_method.unit
    return f"{text}The 95 % interval of a difference is ± {_width(plan, row.half_width)} {unit}."


def _of_required(plan: PowerPlan) -> str:
    target, required = plan.settings.target, plan.required
    if required is None:
        grown = plan.required_with_sources
        if grown is None:
            return f"No number of workers that was tried finds it {_times(target)}."
        return (
            f"No number of workers finds it {_times(target)} with {plan.planned.sources:,} sources. "
            f"{_enough(grown)} with {grown.sources:,} sources do."
        )
    of_each = f"{required.ratings_per_system_counted:,.0f} {_responses(plan)} per system that count"
    return f"{_enough(required)} are enough to find it {_times(target)}: {of_each}."


def _enough(row: PlannedNumbers) -> str:
    return f"{counted(row.workers, 'worker').capitalize()} ({counted(row.assignments, 'assignment')})"


def _responses(plan: PowerPlan) -> str:
    return plan.settings.planned_method.responses


def _of_pilot(plan: PowerPlan) -> str:
    pilot, left = plan.pilot, plan.still_needed
    if pilot is None:
        return ""
    text = (
        f"The variances are those of {pilot.ratings:,} ratings by {counted(pilot.workers_counted, 'worker')} who "
        f"count ({pilot.name})."
    )
    if left is None:
        return text
    if not left.assignments:
        return f"{text} If they are a part of the campaign, nothing more is needed."
    return f"{text} If they are a part of the campaign, {counted(left.assignments, 'assignment')} more are needed."


def _of_metrics(plan: PowerPlan) -> str:
    """Return what the best metric of the pilot would save; older plans do not have it."""
    known = [(metric.saving, metric) for metric in plan.metric_savings if metric.saving is not None]
    if not known:
        return ""
    saving, best = known[0]
    if best.share_rated == 1:
        return (
            f"{best.name} would save no ratings: all of the {best.n_outputs:,} outputs that it has scores of "
            "would be rated."
        )
    return (
        f"With {best.name}, which has scores of {best.n_outputs:,} outputs, {100 * saving:.0f} % of the "
        "ratings could be left out for intervals as narrow, if outputs are drawn at random and workers are like those "
        "of the pilot."
    )


def _of_cost(plan: PowerPlan) -> str:
    rows = [("The design", plan.planned)]
    if enough := plan.required or plan.required_with_sources:
        rows.append((f"The one with {counted(enough.workers, 'worker')}", enough))
    currency = plan.settings.currency
    sentences = []
    for name, row in rows:
        parts = []
        if row.cost is not None:
            parts.append(f"costs {row.cost:,.2f} {currency}".rstrip() + " with fees")
        if row.hours is not None:
            parts.append(f"takes {row.hours:,.0f} hours of work" if row.hours >= 1 else "takes less than an hour")
        if row.days is not None:
            pace = plan.settings.hits_per_day
            parts.append(f"is done in {counted(ceil(row.days), 'day')} at {pace:,.3g} assignments a day")
        if parts:
            sentences.append(f"{name} {_join(parts)}.")
    return " ".join(dict.fromkeys(sentences))


def _of_changes(plan: PowerPlan) -> str:
    own = plan.planned.half_width
    widths = {row.name: row.half_width for row in plan.changes if row.half_width is not None}
    doubled = {name: widths[name] for name in _DOUBLE if name in widths}
    if own is None or not doubled:
        return ""
    best = next(name for name in doubled if doubled[name] <= _AS_NARROW * min(doubled.values()))
    text = (
        f"Of the ways to double the ratings, this narrows the interval most: {CHANGES[best]} (± {_width(plan, own)} to "
        f"± {_width(plan, doubled[best])} {plan.settings.planned_method.unit})."
    )
    if "sources" in widths:
        text += f" {CHANGES['sources'].capitalize()}, would give ± {_width(plan, widths['sources'])}."
    return text


def _of_parts(plan: PowerPlan) -> str:
    parts = plan.variance_parts
    total = sum(parts.values())
    if not total:
        return ""
    words = [f"{100 * value / total:.0f} % is from {_PARTS[name]}" for name, value in in_order(parts, _PARTS) if value]
    return f"Of the variance of a difference, about {_join(words)}."


# --- Tables


def _number_columns(plan: PowerPlan) -> list[Column]:
    method = plan.settings.planned_method
    return [
        Column("assignments"),
        Column("sources"),
        Column(f"{_responses(plan)} per system", 0, hint="of workers who count"),
        Column("power", 2),
        Column("± power", 3, hint="standard error of the simulation"),
        Column("after Holm", 2, hint="power after Holm’s correction over all pairs"),
        Column(f"± {method.unit}", method.decimals, hint="half the width of the 95 % interval of a difference"),
    ]


def _numbers(row: PlannedNumbers) -> list[Cell]:
    counts: list[Cell] = [row.assignments, row.sources, row.ratings_per_system_counted]
    return [*counts, row.power, row.power_error, row.power_corrected, row.half_width]


def _known_costs(plan: PowerPlan, rows: Sequence[PlannedNumbers]) -> tuple[list[Column], list[list[Cell]]]:
    """Return the columns of cost and time that are known of the planned design, and their cells in each row."""
    currency, planned = plan.settings.currency, plan.planned
    columns = [Column(f"cost ({currency})" if currency else "cost", 2), Column("hours", 0), Column("days", 1)]
    is_known = [number is not None for number in (planned.cost, planned.hours, planned.days)]
    cells: list[list[Cell]] = [list(compress((row.cost, row.hours, row.days), is_known)) for row in rows]
    return list(compress(columns, is_known)), cells


def _caption(plan: PowerPlan) -> str:
    settings = plan.settings
    method = settings.planned_method
    words = method.words()
    return (
        f"{words[0].upper()}{words[1:]}, of {settings.design.n_systems} systems: found at one-sided p < .05 by "
        f"{method.compared_by}; {settings.n_simulations:,} simulated campaigns each."
    )


def _design_table(
    plan: PowerPlan, name: str, title: str, first: str, rows: Sequence[tuple[Cell, PlannedNumbers]]
) -> Table:
    """Return a table of designs with what they find, cost and take; `first`: the heading of what names them."""
    more, costs = _known_costs(plan, [row for _, row in rows])
    cells = [[what, *_numbers(row), *of_row] for (what, row), of_row in zip(rows, costs, strict=True)]
    return Table(name, title, _caption(plan), [Column(first), *_number_columns(plan), *more], cells)


def _points(plan: PowerPlan) -> list[PlannedNumbers]:
    """Return the points of both curves in the order of workers and sources; the planned design is in both."""
    rows = {(row.workers, row.sources): row for row in [*plan.curve, *plan.curve_with_sources]}
    return [rows[key] for key in sorted(rows, key=lambda key: (key[0], key[1] or 0))]


def _model_table(plan: PowerPlan) -> Table:
    model = plan.model
    found = plan.settings.planned_method.describe_model(model.sd, is_pilot=model.source == "pilot")
    columns = [Column("effect"), Column(found.column, found.decimals)]
    return Table("model", "How responses are taken to vary", found.caption, columns, found.rows)


def _pilot_table(plan: PowerPlan) -> list[Table]:
    pilot = plan.pilot
    if pilot is None:
        return []
    variances = [(name, pilot.variances[name]) for name in COMPONENTS]
    caption = (
        f"Variance components of {pilot.ratings:,} ratings of {pilot.systems} systems ({pilot.name}), in "
        f"points of 100: of z, times {pilot.points_per_z:.1f} points; of workers, of raw scores. Method of moments. "
        "A dash: cannot be separated from the others."
    )
    rows = [[_COMPONENTS[name], v, None if v is None else max(v, 0.0) ** 0.5] for name, v in variances]
    columns = [Column("effect"), Column("variance", 1), Column("SD", 1)]
    return [Table("variances", "Variances in the pilot", caption, columns, rows)]


# --- Figure


def _curve_figure(plan: PowerPlan) -> Figure:
    rows = plan.curve
    alt = "Power by number of workers: " + ", ".join(f"{row.workers}: {row.power:.2f}" for row in rows) + "."
    return Figure("power", "Power by number of workers", Picture.of(draw_curve, plan), alt, _caption(plan))


def draw_curve(plan: PowerPlan, theme: Theme) -> "Drawing":
    """Draw power by number of workers, with 95 % intervals of the simulation; the planned design is marked."""
    figure, axes = theme.canvas(width=COLUMN_IN, height=3.5)
    curves = [(plan.curve, "-", "o", "the same sources" if plan.curve_with_sources else "one pair, p < .05")]
    if plan.curve_with_sources:
        curves.append((plan.curve_with_sources, "--", "s", "sources grow with the workers"))
    for rows, line, marker, label in curves:
        x = [row.workers for row in rows]
        y = [row.power for row in rows]
        errors = [_NORMAL * row.power_error for row in rows]
        colour = theme.accent if line == "-" else theme.ink
        axes.errorbar(x, y, yerr=errors, fmt=f"{line}{marker}", color=colour, markersize=4, linewidth=1.4, label=label)
    x = [row.workers for row in plan.curve]
    axes.plot(x, [row.power_corrected for row in plan.curve], ":^", color=theme.ink, markersize=4, label="after Holm")
    target = plan.settings.target
    axes.axhline(target, color=theme.ink, linewidth=0.8, linestyle=(0, (1, 2)), label="power wanted")
    planned = [plan.planned.workers], [plan.planned.power]
    axes.plot(*planned, "o", markersize=11, fillstyle="none", color=theme.warn, label="as planned")
    axes.set(xlabel="workers", ylabel="power", ylim=(0, 1.02), xscale="log")
    ticks = _ticks(min(x), max(row.workers for row in _points(plan)))
    axes.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    axes.minorticks_off()
    figure.legend(frameon=False, labelcolor=theme.ink, loc="outside lower center", ncols=2, fontsize=9)
    return figure


def _ticks(low: int, high: int) -> list[int]:
    """Return round numbers of workers between two."""
    rounds = [step * 10**power for power in range(5) for step in (1, 2, 3, 5, 7)]
    inside = [number for number in rounds if low <= number <= high]
    return inside[:: max(1, -(-len(inside) // 8))] or [low]
