"""Do workers agree: with each other, with themselves, within a few points? Of answers of every kind (METHOD §6)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.data.compared import ComparedPairs
from analysis.data.judgements import NUMBERS, AnswerKind, Judgements
from analysis.questions import Asked, Question
from analysis.questions.coefficients import ALPHA, COEFFICIENTS, N_BINS, Coefficient, of_criterion, of_preferences
from analysis.questions.halves import coefficient
from analysis.results.sections import (
    COLUMN_IN,
    Cell,
    Column,
    Figure,
    Output,
    Picture,
    Section,
    Table,
    Theme,
    in_percent,
)
from analysis.results.stored import Report
from analysis.stats.agreement import categorise, cohen_kappa, pairs_within, tolerance_chance, tolerance_kappa
from analysis.stats.ratings import Floats, Mask, Ratings, match_twins, or_none
from analysis.stats.reliability import RatedTwice, correlate_assignments, correlate_groups, repeats_with_twins
from analysis.stats.scores import outputs_of
from campaigns.design.composition import Kind
from evalsite.lib.words import counted

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

CATEGORIES = (2, 4, 5, 10)
POINTS, LEVELS = (5, 10, 15, 20, 25, 30), (1, 2)
"""Tolerances: of scores from 0 to 100, and of levels."""
_SAID = {"points": 10, "levels": 1}
"""The tolerance that the finding names."""
_GROUPS = {"passed": "who count", "failed": "who failed"}
_WHO = {"between": "with each other", "within": "with themselves"}
_CORRELATIONS = {"pearson": "r", "spearman": "ρ", "kendall": "τ"}
_BINS = 20
# All pairs of more assignments than these would take longer than everything else together.
_MOST_ASSIGNMENTS = 2000
_SHOWN = Output.FILES | Output.PAGE
_PAGE = "reliability"
NOT_KNOWN = "Nothing says which answers are about the same, so nothing is known of how far workers agree."


class Reliability(Question):
    """How far workers agree with each other and with themselves, whatever they answered."""

    slug = "reliability"
    title = "Do workers agree?"
    page = _PAGE

    def refuse(self, asked: Asked) -> str:
        """Return that it must be known which answers are about the same."""
        return NOT_KNOWN if asked.judgements() is None else ""

    def compute(self, asked: Asked) -> dict[str, Any]:
        """Return what `measure_reliability` does."""
        judgements = asked.judgements()
        return {} if judgements is None else measure_reliability(judgements)

    def sections(self, found: Report) -> list[Section]:
        """Return how far workers agree with themselves, with each other, and within a few points or levels."""
        shown: list[Section] = []
        if found.get("intra"):
            shown += [_intra_section(found["intra"]), _inter_section(found["inter"])]
        shown.append(agreement_section(found))
        return [*shown, _tolerance_section(found["tolerance"])] if found.get("tolerance") else shown


# --- What is computed


def measure_reliability(judgements: Judgements | ComparedPairs, n_bins: int = N_BINS) -> dict[str, Any]:
    """Return how far workers agree, as JSON; what is undefined is None.

    Returns
    -------
    dict
        `criteria`: of each its `name`, what an `answer` is, and the coefficients `between` workers, of their first
        answers to ordinary items, and `within` them, of all answers of one worker to an item. `n_bins`: categories of
        Fleiss' κ of sliders. `notes`: sentences. Of numbers `intra`, repeats with their twins, and `inter`, pairs of
        assignments of the same items, of workers who count and who failed; and `tolerance`.
    """
    if isinstance(judgements, ComparedPairs):
        return {"criteria": [of_preferences(judgements)], "n_bins": n_bins, "notes": []}
    measured = [of_criterion(judgements, place, n_bins) for place in range(len(judgements.criteria))]
    return {
        "criteria": [criterion for criterion, _ in measured],
        "n_bins": n_bins,
        "notes": [note for _, note in measured if note],
        **_of_numbers(judgements),
    }


# --- Numbers


def _of_numbers(judgements: Judgements) -> dict[str, Any]:
    """Return `intra` and `inter` of workers who count and who failed, and `tolerance`; of criteria with numbers."""
    numeric = np.array([scale.answer in NUMBERS for scale in judgements.scales], bool)
    if not numeric.any():
        return {}
    ratings = judgements.ratings
    if not numeric.all():
        ratings = replace(ratings, scores=ratings.scores[:, numeric])
    groups = {"passed": judgements.is_counted, "failed": judgements.has_failed}
    scales = [scale for scale in judgements.scales if scale.answer in NUMBERS]
    twice = repeats_with_twins(ratings, ratings.scores, match_twins(ratings))
    is_slider = all(scale.answer is AnswerKind.SLIDER for scale in scales)
    found = {
        "intra": {name: _intra(twice, group, is_slider=is_slider) for name, group in groups.items()},
        "inter": _inter(ratings, groups),
    }
    levels = scales[0].levels
    if is_slider:
        found["tolerance"] = _tolerance(ratings, judgements.is_counted, twice, "points", POINTS, 100)
    elif levels.size and all(np.array_equal(scale.levels, levels) for scale in scales):
        codes = replace(ratings, scores=_level_codes(ratings.scores, levels))
        twice = replace(twice, first=_level_codes(twice.first, levels), second=_level_codes(twice.second, levels))
        tolerances = [t for t in LEVELS if t < levels.size - 1]
        found["tolerance"] = _tolerance(codes, judgements.is_counted, twice, "levels", tolerances, levels.size - 1)
    return found


def _level_codes(scores: Floats, levels: Floats) -> Floats:
    """Return the place of each score among the levels, from 0; NaN stays NaN."""
    return np.where(np.isnan(scores), np.nan, np.searchsorted(levels, scores))


def _intra(twice: RatedTwice, group: Mask, *, is_slider: bool) -> dict[str, Any]:
    """Return κ of repeats with their twins, workers pooled, and how the correlations of single workers are spread."""
    used = group[twice.worker]
    first, second, worker = twice.first[used], twice.second[used], twice.worker[used]
    correlations = correlate_groups(first, second, worker, group.size)
    kappas = {str(n): cohen_kappa(categorise(first, n), categorise(second, n), n) for n in CATEGORIES * is_slider}
    return {
        "n_pairs": int(first.size),
        "n_workers": int(np.unique(worker).size),
        "kappa": {n: or_none(kappa.kappa) for n, kappa in kappas.items()},
        "correlations": {name: _spread(getattr(correlations, name)[correlations.n > 0]) for name in _CORRELATIONS},
    }


def _inter(ratings: Ratings, groups: Mapping[str, Mask]) -> dict[str, Any]:
    """Return how r of every two assignments of the same items is spread, for two workers of the same group."""
    n_assignments = int(ratings.assignment.max(initial=-1)) + 1
    worker_of = np.zeros(n_assignments, np.int64)
    worker_of[ratings.assignment] = ratings.worker
    found: dict[str, Any] = {}
    for name, group in groups.items():
        drawn = np.flatnonzero(group[worker_of]) if n_assignments else np.empty(0, np.int64)
        if drawn.size > _MOST_ASSIGNMENTS:
            drawn = np.random.default_rng(20160502).choice(drawn, _MOST_ASSIGNMENTS, replace=False)
        rows = np.isin(ratings.assignment, drawn)
        columns = ("scores", "worker", "system", "assignment", "source", "kind")
        of_group = replace(ratings, **{column: getattr(ratings, column)[rows] for column in columns})
        pairs = correlate_assignments(of_group, of_group.scores)
        found[name] = _spread(pairs.pearson) | {"n_assignments": int(drawn.size)}
    return found


def _spread(values: Floats) -> dict[str, Any]:
    """Return number, quartiles and histogram from −1 to 1 of correlations; those that are undefined are left out."""
    defined = values[~np.isnan(values)]
    counts, _ = np.histogram(defined, bins=_BINS, range=(-1, 1))
    quartiles = np.percentile(defined, [25, 50, 75]) if defined.size else np.full(3, np.nan)
    return {
        "n": int(defined.size),
        "n_undefined": int(values.size - defined.size),
        "quartiles": [or_none(value) for value in quartiles],
        "histogram": counts.tolist(),
    }


def _tolerance(
    ratings: Ratings, is_counted: Mask, twice: RatedTwice, unit: str, tolerances: Sequence[int], high: int
) -> dict[str, Any]:
    """Return tolerance κ of repeats with their twins, and of every two answers about one output, by workers who count.

    Scores are on a scale from 0 to `high`.
    """
    used = is_counted[twice.worker]
    rows = np.flatnonzero((ratings.kind == Kind.ORDINARY) & (ratings.source >= 0) & is_counted[ratings.worker])
    output, *_ = outputs_of(ratings, rows)
    n_outputs = int(output.max(initial=-1)) + 1
    values = ratings.scores[rows].T
    is_rated = ~np.isnan(values)
    items = output + n_outputs * np.arange(len(values))[:, None]
    pairs = pairs_within(values[is_rated], items[is_rated])
    found: dict[str, Any] = {"unit": unit, "tolerances": list(tolerances)}
    found["chance"] = [tolerance_chance(t, 0, high) for t in tolerances]
    for name, (first, second) in {"repeats": (twice.first[used], twice.second[used]), "outputs": pairs}.items():
        kappas = [tolerance_kappa(first, second, t, 0, high) for t in tolerances]
        found[name] = {
            "n_pairs": int(first.size),
            "observed": [or_none(each.observed) for each in kappas],
            "kappa": [or_none(each.kappa) for each in kappas],
        }
    return found


# --- What is shown


def agreement_section(found: Report) -> Section:
    """Return the coefficients of each criterion, of workers with each other and with themselves."""
    criteria = found["criteria"]
    known = {key for one in criteria for who in _WHO for key in one[who] if one[who]["n_items"] != 0}
    shown = [each for each in COEFFICIENTS if each.key in known]
    names = [Column("criterion"), Column("workers agree")]
    columns = [*names, *(each.column for each in shown), Column("items"), Column("answers"), Column("workers")]
    rows = [[one["name"], words, *_cells(one[who], shown)] for one in criteria for who, words in _WHO.items()]
    rows = [row for row in rows if row[-3] != 0]  # of results of before it may not be known
    if len(criteria) == 1:
        columns, rows = columns[1:], [row[1:] for row in rows]
    bins = f" Fleiss' κ is of scores in {found['n_bins']} categories." * (criteria[0]["answer"] == AnswerKind.SLIDER)
    caption = (
        f"Answers of workers who count about the same {_noun(criteria)}. With each other: first answers, no repeats; "
        f"with themselves: repeats, too. {'; '.join(map(_in_words, shown))}. 0 is chance; a dash: undefined, as "
        f"nothing is shared or all answers are the same.{bins}"
    )
    table = Table("agreement", "Agreement of workers", caption, columns, rows, output=_SHOWN)
    notes = (note[:1].upper() + note[1:] for note in found["notes"])
    finding = " ".join([*_findings(criteria), *notes])
    return Section("agreement", "Do workers agree?", finding, [table][: len(rows)], page=_PAGE)


def _in_words(shown: Coefficient) -> str:
    return f"{shown.heading.removesuffix(', %')}: {shown.hint}"


def _cells(one: Report, shown: Sequence[Coefficient]) -> list[Cell]:
    """Return coefficients in the order of their columns, and of how many they are."""
    values = [in_percent(one.get(each.key)) if each.is_share else one.get(each.key) for each in shown]
    return [*values, *(one[key] for key in ("n_items", "n_judgements", "n_workers"))]


def _noun(criteria: Sequence[Report]) -> str:
    return "two outputs" if criteria[0]["answer"] == AnswerKind.PREFERENCE else "output"


def _findings(criteria: Sequence[Report]) -> list[str]:
    """Return of how much several answers are known and, of an only criterion, how far these agree."""
    noun = "comparison" if criteria[0]["answer"] == AnswerKind.PREFERENCE else "output"
    counts = [one["between"]["n_items"] for one in criteria]
    if None in counts:
        return []
    n_items = max(counts)
    if not n_items:
        said = [f"No {noun} was judged by two workers who count. More workers of the same {noun}s allow coefficients."]
    else:
        said = [
            f"{counted(n_items, noun)} {'has' if n_items == 1 else 'have'} answers of two workers or more who count."
        ]
    for one in criteria[: len(criteria) == 1]:
        of = f"an {noun}" if noun == "output" else f"a {noun}"
        ways = (("between", f"Two workers’ answers about {of}"), ("within", f"Two answers of one worker about {of}"))
        alpha = ALPHA.get(AnswerKind(one["answer"]), "")
        said += [f"{who} {_how_near(one[key], alpha)}." for key, who in ways if one[key]["n_items"]]
    return said


def _how_near(one: Report, alpha: str) -> str:
    beyond = f" (Krippendorff’s α {coefficient(one[alpha])})" if alpha in one else ""
    if one.get("difference") is not None:
        return f"are {one['difference']:.3g} apart in the mean{beyond}"
    if one.get("same") is not None:
        return f"are the same in {100 * one['same']:.0f} % of cases{beyond}"
    return f"agree by α = {coefficient(one.get(alpha))}"


def _intra_section(found: Report) -> Section:
    passed = found["passed"]
    middle, kappa = passed["correlations"]["pearson"]["quartiles"][1], passed["kappa"].get("2")
    if not passed["n_pairs"]:
        finding = "No worker who counts rated an item and its repeat, so nothing can be said of it."
    else:
        in_halves = f"; κ of two halves of the scale is {coefficient(kappa)}" if passed["kappa"] else ""
        finding = (
            f"Workers who count rated {counted(passed['n_pairs'], 'repeat')} a second time. The correlation of a "
            f"worker's two scores is {coefficient(middle)} in the median{in_halves}."
        )
    groups = [name for name in _GROUPS if found[name]["n_pairs"]]
    binned = [name for name in groups if found[name]["kappa"]]
    kappas = [[_GROUPS[k], *(found[k]["kappa"][str(n)] for n in CATEGORIES), found[k]["n_pairs"]] for k in binned]
    kappa_table = Table(
        "intra-rater-kappa",
        "κ of repeats",
        "Cohen's κ of an item and its repeat, scores in 2 to 10 categories, workers pooled.",
        [Column("workers"), *(Column(f"κ of {n}") for n in CATEGORIES), Column("pairs")],
        kappas,
        output=_SHOWN,
    )
    rows = [
        [f"{_GROUPS[name]}, {symbol}", *_row(found[name]["correlations"][key])]
        for name in groups
        for key, symbol in _CORRELATIONS.items()
    ]
    spread = Table(
        "intra-rater-correlations",
        "Correlations of repeats, by worker",
        "How the correlation of an item with its repeat is spread over workers. Correlations are not averaged.",
        [Column("workers"), *_SPREAD],
        rows,
        output=_SHOWN,
    )
    tables = [table for table in (kappa_table, spread) if table.rows]
    spreads = {name: found[name]["correlations"]["pearson"] for name in _GROUPS}
    label = "r of an item and its repeat, one worker each"
    figure = _figure("intra-rater", "r of each worker's repeats", label, spreads)
    return Section("intra-rater", "Does a worker say the same twice?", finding, tables, figure, _PAGE)


_SPREAD = [Column("lower quartile"), Column("median"), Column("upper quartile"), Column("n"), Column("undefined")]


def _row(spread: Report) -> list[float | int | None]:
    return [*spread["quartiles"], spread["n"], spread["n_undefined"]]


def _inter_section(found: Report) -> Section:
    passed, failed = (found[name] for name in _GROUPS)
    if not passed["n"]:
        finding = "No two workers who count rated the same set of items, so their scores cannot be correlated."
    else:
        finding = (
            f"Two workers who count and rated the same items correlate by {coefficient(passed['quartiles'][1])} in "
            f"the median, over {counted(passed['n'], 'pair')}"
        )
        finding += f"; two who failed by {coefficient(failed['quartiles'][1])}." if failed["n"] else "."
    table = Table(
        "inter-rater",
        "Pairs of assignments",
        "r between every two assignments of the same items; of many assignments, 2,000 drawn at random.",
        [Column("workers"), *_SPREAD],
        [[_GROUPS[name], *_row(found[name])] for name in _GROUPS if found[name]["n"]],
        output=_SHOWN,
    )
    figure = _figure("inter-rater", "r of pairs of workers", "r of two assignments of the same items", found)
    return Section("inter-rater", "Do two workers rate alike?", finding, [table][: len(table.rows)], figure, _PAGE)


def _tolerance_section(found: Report) -> Section:
    repeats, outputs, unit = found["repeats"], found["outputs"], found["unit"]
    place = found["tolerances"].index(_SAID[unit])
    within = counted(_SAID[unit], unit.removesuffix("s"))
    said = []
    if repeats["n_pairs"]:
        said.append(
            f"Workers who count rate a repeat within {within} of the first time in "
            f"{100 * repeats['observed'][place]:.0f} % of cases; beyond chance that is κ = "
            f"{coefficient(repeats['kappa'][place])}."
        )
    if outputs["n_pairs"]:
        said.append(
            f"Two workers rate the same output within {within} of each other in "
            f"{100 * outputs['observed'][place]:.0f} % of cases: κ = {coefficient(outputs['kappa'][place])}."
        )
    has_any = bool(said)
    said = said or ["No output was rated twice by workers who count, so nothing can be said of it."]
    rows = [
        [
            counted(t, unit.removesuffix("s")),
            by_chance,
            *(each[key][k] for each in (repeats, outputs) for key in ("observed", "kappa")),
        ]
        for k, (t, by_chance) in enumerate(zip(found["tolerances"], found["chance"], strict=True))
    ]
    columns = [Column("at most"), Column("by chance"), Column("repeats, share"), Column("repeats, κ")]
    columns += [Column("two workers, share"), Column("two workers, κ")]
    caption = (
        f"Share of pairs of scores that differ by at most so many {unit}, and κ: {repeats['n_pairs']:,} repeats with "
        f"their twins, {outputs['n_pairs']:,} pairs of ratings of one output. By chance: two {unit} of the scale"
        + (" 0–100." if unit == "points" else ".")
    )
    tables = [Table("tolerance", f"Scores within a few {unit}", caption, columns, rows, output=_SHOWN)]
    return Section("tolerance", "How near are two scores?", " ".join(said), tables[:has_any], page=_PAGE)


# --- Figures


def _figure(name: str, title: str, label: str, spreads: Report) -> list[Figure]:
    if not spreads["passed"]["n"]:
        return []
    alt = f"Histogram of {label}, for workers who count and workers who failed."
    return [Figure(name, title, Picture.of(draw_spreads, spreads, label), alt)]


def draw_spreads(spreads: Report, label: str, theme: Theme) -> "Drawing":
    """Draw the share of correlations in each tenth from −1 to 1, workers who count and who failed."""
    figure, axes = theme.canvas(width=COLUMN_IN, height=2.6)
    edges = np.linspace(-1, 1, _BINS + 1)
    for name in _GROUPS:
        counts = np.array(spreads[name]["histogram"], float)
        if counts.sum():
            bars = axes.bar(edges[:-1], counts / counts.sum(), width=2 / _BINS, align="edge", edgecolor=theme.ink)
            bars.set_label(f"{_GROUPS[name]} (n = {spreads[name]['n']:,})")
            for bar in bars:
                bar.set(facecolor=theme.accent, alpha=0.75) if name == "passed" else bar.set(fill=False, hatch="///")
    axes.set(xlabel=label, ylabel="share", xlim=(-1, 1))
    figure.legend(frameon=False, labelcolor=theme.ink, loc="outside upper center", ncols=2, fontsize=9)
    return figure
