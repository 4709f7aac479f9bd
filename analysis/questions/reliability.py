"""Do workers agree: with each other, with themselves, within a few points? Of answers of every kind (METHOD §6)."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from analysis.data.compared import ComparedPairs
from analysis.data.judgements import NUMBERS, AnswerKind, Judgements
from analysis.questions import Asked, Question
from analysis.questions.coefficients import ALPHA, COEFFICIENTS, N_BINS, Coefficient, of_criterion, of_preferences
from analysis.questions.halves import coefficient
from analysis.results.answers import (
    Agreement,
    AgreementOnCriterion,
    ByVerdict,
    NearPairs,
    RepeatsOfGroup,
    SharedCoefficients,
    Spread,
    SpreadByCoefficient,
    SpreadOfPairs,
    Tolerance,
)
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
from analysis.stats.agreement import categorise, cohen_kappa, pairs_within, tolerance_chance, tolerance_kappa
from analysis.stats.codes import n_distinct
from analysis.stats.ratings import Floats, Mask, Ratings, match_twins, or_none
from analysis.stats.reliability import RatedTwice, correlate_assignments, correlate_groups, repeats_with_twins
from analysis.stats.scores import outputs_of
from campaigns.design.composition import Kind
from evalsite.lib.words import counted

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

Group = TypeVar("Group")
Spreads = ByVerdict[Spread] | ByVerdict[SpreadOfPairs]
CATEGORIES = (2, 4, 5, 10)
POINTS, LEVELS = (5, 10, 15, 20, 25, 30), (1, 2)
"""Tolerances: of scores from 0 to 100, and of levels."""
_SAID = {"points": 10, "levels": 1}
"""The tolerance that the finding names."""
_WHO = ("who count", "who failed")
_BINS = 20
# All pairs of more assignments than these would take longer than everything else together.
_MOST_ASSIGNMENTS = 2000
_PAGE = "reliability"
NOT_KNOWN = "Nothing says which answers are about the same, so nothing is known of how far workers agree."


class Reliability(Question[Agreement]):
    """How far workers agree with each other and with themselves, whatever they answered."""

    slug = "reliability"
    title = "Do workers agree?"
    page = _PAGE
    answer = Agreement

    def refuse(self, asked: Asked) -> str:
        """Return that it must be known which answers are about the same."""
        return NOT_KNOWN if asked.judgements() is None else ""

    def compute(self, asked: Asked) -> Agreement:
        """Return what `measure_reliability` does."""
        judgements = asked.judgements()
        assert judgements is not None, "refused"
        return measure_reliability(judgements)

    def sections(self, answer: Agreement) -> list[Section]:
        """Return how far workers agree with themselves, with each other, and within a few points or levels."""
        shown = [_intra_section(answer.intra)] if answer.intra else []
        shown += [_inter_section(answer.inter)] if answer.inter else []
        shown.append(agreement_section(answer))
        return [*shown, _tolerance_section(answer.tolerance)] if answer.tolerance else shown


# --- What is computed


def measure_reliability(judgements: Judgements | ComparedPairs, n_bins: int = N_BINS) -> Agreement:
    """Return how far workers agree; what is undefined is None.

    Coefficients `between` workers are of their first answers to ordinary items, those `within` them of all answers of
    one worker to an item. `n_bins`: categories of Fleiss' κ of sliders.
    """
    if isinstance(judgements, ComparedPairs):
        return Agreement([of_preferences(judgements)], n_bins, [])
    measured = [of_criterion(judgements, place, n_bins) for place in range(len(judgements.criteria))]
    agreement = Agreement([criterion for criterion, _ in measured], n_bins, [note for _, note in measured if note])
    return _with_numbers(agreement, judgements)


# --- Numbers


def _with_numbers(agreement: Agreement, judgements: Judgements) -> Agreement:
    """Return the agreement with `intra`, `inter` and `tolerance`, of criteria with numbers."""
    numeric = np.array([scale.answer in NUMBERS for scale in judgements.scales], bool)
    if not numeric.any():
        return agreement
    ratings, is_counted = judgements.ratings, judgements.is_counted
    if not numeric.all():
        ratings = replace(ratings, scores=ratings.scores[:, numeric])
    groups = is_counted, judgements.has_failed
    scales = [scale for scale in judgements.scales if scale.answer in NUMBERS]
    twice = repeats_with_twins(ratings, ratings.scores, match_twins(ratings))
    is_slider, levels = all(scale.answer is AnswerKind.SLIDER for scale in scales), scales[0].levels
    tolerance = None
    if is_slider:
        tolerance = _tolerance(ratings, is_counted, twice, "points", POINTS, 100)
    elif levels.size and all(np.array_equal(scale.levels, levels) for scale in scales):
        codes = replace(ratings, scores=_level_codes(ratings.scores, levels))
        in_levels = replace(twice, first=_level_codes(twice.first, levels), second=_level_codes(twice.second, levels))
        tolerances = [t for t in LEVELS if t < levels.size - 1]
        tolerance = _tolerance(codes, is_counted, in_levels, "levels", tolerances, levels.size - 1)
    return replace(
        agreement,
        intra=ByVerdict(*(_intra(twice, group, is_slider=is_slider) for group in groups)),
        inter=ByVerdict(*(_inter(ratings, group) for group in groups)),
        tolerance=tolerance,
    )


def _level_codes(scores: Floats, levels: Floats) -> Floats:
    """Return the place of each score among the levels, from 0; NaN stays NaN."""
    return np.where(np.isnan(scores), np.nan, np.searchsorted(levels, scores))


def _intra(twice: RatedTwice, group: Mask, *, is_slider: bool) -> RepeatsOfGroup:
    """Return κ of repeats with their twins, workers pooled, and how the correlations of single workers are spread."""
    used = group[twice.worker]
    first, second, worker = twice.first[used], twice.second[used], twice.worker[used]
    by_worker = correlate_groups(first, second, worker, group.size)
    kappas = {n: cohen_kappa(categorise(first, n), categorise(second, n), n) for n in CATEGORIES * is_slider}
    return RepeatsOfGroup(
        n_pairs=int(first.size),
        n_workers=n_distinct(worker),
        kappa={n: or_none(kappa.kappa) for n, kappa in kappas.items()},
        correlations=SpreadByCoefficient(
            *(_spread(r[by_worker.n > 0]) for r in (by_worker.pearson, by_worker.spearman, by_worker.kendall))
        ),
    )


def _inter(ratings: Ratings, group: Mask) -> SpreadOfPairs:
    """Return how r of every two assignments of the same items is spread, for two workers of a group."""
    n_assignments = int(ratings.assignment.max(initial=-1)) + 1
    worker_of = np.zeros(n_assignments, np.int64)
    worker_of[ratings.assignment] = ratings.worker
    drawn = np.flatnonzero(group[worker_of]) if n_assignments else np.empty(0, np.int64)
    if drawn.size > _MOST_ASSIGNMENTS:
        drawn = np.random.default_rng(20160502).choice(drawn, _MOST_ASSIGNMENTS, replace=False)
    rows = np.isin(ratings.assignment, drawn)
    columns = ("scores", "worker", "system", "assignment", "source", "kind")
    of_group = replace(ratings, **{column: getattr(ratings, column)[rows] for column in columns})
    pairs = correlate_assignments(of_group, of_group.scores)
    return SpreadOfPairs(**asdict(_spread(pairs.pearson)), n_assignments=int(drawn.size))


def _spread(values: Floats) -> Spread:
    """Return number, quartiles and histogram from −1 to 1 of correlations; those that are undefined are left out."""
    defined = values[~np.isnan(values)]
    counts, _ = np.histogram(defined, bins=_BINS, range=(-1, 1))
    return Spread(
        n=int(defined.size),
        n_undefined=int(values.size - defined.size),
        quartiles=np.percentile(defined, [25, 50, 75]).tolist() if defined.size else [None] * 3,
        histogram=counts.tolist(),
    )


def _tolerance(
    ratings: Ratings, is_counted: Mask, twice: RatedTwice, unit: str, tolerances: Sequence[int], high: int
) -> Tolerance:
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

    def near(first: Floats, second: Floats) -> NearPairs:
        kappas = [tolerance_kappa(first, second, t, 0, high) for t in tolerances]
        return NearPairs(
            int(first.size), [or_none(each.observed) for each in kappas], [or_none(each.kappa) for each in kappas]
        )

    return Tolerance(
        unit=unit,
        tolerances=tolerances,
        chance=[tolerance_chance(t, 0, high) for t in tolerances],
        repeats=near(twice.first[used], twice.second[used]),
        outputs=near(*pairs_within(values[is_rated], items[is_rated])),
    )


# --- What is shown


def agreement_section(agreement: Agreement) -> Section:
    """Return the coefficients of each criterion, of workers with each other and with themselves."""
    criteria = agreement.criteria
    answers = [
        (criterion, words, shared)
        for criterion in criteria
        for words, shared in (("with each other", criterion.between), ("with themselves", criterion.within))
        if shared.n_items != 0  # of results of before it may not be known
    ]
    shown = [each for each in COEFFICIENTS if any(each.key in shared.coefficients for *_, shared in answers)]
    columns = [Column("criterion"), Column("workers agree"), *(each.column for each in shown)]
    columns += [Column("items"), Column("answers"), Column("workers")]
    rows = [[criterion.name, words, *_cells(shared, shown)] for criterion, words, shared in answers]
    if len(criteria) == 1:
        columns, rows = columns[1:], [row[1:] for row in rows]
    bins = f" Fleiss' κ is of scores in {agreement.n_bins} categories." if _of(criteria, AnswerKind.SLIDER) else ""
    noun = "two outputs" if _of(criteria, AnswerKind.PREFERENCE) else "output"
    caption = (
        f"Answers of workers who count about the same {noun}. With each other: first answers, no repeats; "
        f"with themselves: repeats, too. {'; '.join(map(_in_words, shown))}. 0 is chance; a dash: undefined, as "
        f"nothing is shared or all answers are the same.{bins}"
    )
    table = Table("agreement", "Agreement of workers", caption, columns, rows, output=Output.SHOWN)
    notes = (note[:1].upper() + note[1:] for note in agreement.notes)
    finding = " ".join([*_findings(criteria), *notes])
    return Section("agreement", "Do workers agree?", finding, [table][: len(rows)], page=_PAGE)


def _of(criteria: Sequence[AgreementOnCriterion], answer: AnswerKind) -> bool:
    """Return whether answers are of a kind, as those on the first criterion are."""
    return criteria[0].answer is answer


def _in_words(shown: Coefficient) -> str:
    return f"{shown.heading.removesuffix(', %')}: {shown.hint}"


def _cells(shared: SharedCoefficients, shown: Sequence[Coefficient]) -> list[Cell]:
    """Return coefficients in the order of their columns, and of how many they are."""
    values = [(each, shared.coefficients.get(each.key)) for each in shown]
    counts = shared.n_items, shared.n_judgements, shared.n_workers
    return [*(in_percent(value) if each.is_share else value for each, value in values), *counts]


def _findings(criteria: Sequence[AgreementOnCriterion]) -> list[str]:
    """Return of how much several answers are known and, of an only criterion, how far these agree."""
    noun, a_noun = ("comparison", "a comparison") if _of(criteria, AnswerKind.PREFERENCE) else ("output", "an output")
    counts = [criterion.between.n_items for criterion in criteria]
    if None in counts:
        return []
    n_items = max(n or 0 for n in counts)
    if not n_items:
        said = [f"No {noun} was judged by two workers who count. More workers of the same {noun}s allow coefficients."]
    else:
        said = [
            f"{counted(n_items, noun)} {'has' if n_items == 1 else 'have'} answers of two workers or more who count."
        ]
    for criterion in criteria[: len(criteria) == 1]:
        alpha = ALPHA.get(criterion.answer, "")
        ways = (
            ("Two workers’ answers", criterion.between),
            ("Two answers of one worker", criterion.within),
        )
        said += [f"{who} about {a_noun} {_how_near(shared, alpha)}." for who, shared in ways if shared.n_items]
    return said


def _how_near(shared: SharedCoefficients, alpha: str) -> str:
    known = shared.coefficients
    beyond = f" (Krippendorff’s α {coefficient(known[alpha])})" if alpha in known else ""
    if (difference := known.get("difference")) is not None:
        return f"are {difference:.3g} apart in the mean{beyond}"
    if (same := known.get("same")) is not None:
        return f"are the same in {100 * same:.0f} % of cases{beyond}"
    return f"agree by α = {coefficient(known.get(alpha))}"


def _intra_section(intra: ByVerdict[RepeatsOfGroup]) -> Section:
    passed = intra.passed
    if not passed.n_pairs:
        finding = "No worker who counts rated an item and its repeat, so nothing can be said of it."
    else:
        in_halves = f"; κ of two halves of the scale is {coefficient(passed.kappa.get(2))}" if passed.kappa else ""
        finding = (
            f"Workers who count rated {counted(passed.n_pairs, 'repeat')} a second time. The correlation of a "
            f"worker's two scores is {coefficient(passed.correlations.pearson.quartiles[1])} in the median{in_halves}."
        )
    groups = [(words, repeats) for words, repeats in _by_words(intra) if repeats.n_pairs]
    kappa_table = Table(
        "intra-rater-kappa",
        "κ of repeats",
        "Cohen's κ of an item and its repeat, scores in 2 to 10 categories, workers pooled.",
        [Column("workers"), *(Column(f"κ of {n}") for n in CATEGORIES), Column("pairs")],
        [
            [words, *(repeats.kappa[n] for n in CATEGORIES), repeats.n_pairs]
            for words, repeats in groups
            if repeats.kappa
        ],
        output=Output.SHOWN,
    )
    spread = Table(
        "intra-rater-correlations",
        "Correlations of repeats, by worker",
        "How the correlation of an item with its repeat is spread over workers. Correlations are not averaged.",
        [Column("workers"), *_SPREAD],
        [
            [f"{words}, {symbol}", *_row(by_worker)]
            for words, repeats in groups
            for r in [repeats.correlations]
            for symbol, by_worker in (("r", r.pearson), ("ρ", r.spearman), ("τ", r.kendall))
        ],
        output=Output.SHOWN,
    )
    tables = [table for table in (kappa_table, spread) if table.rows]
    spreads = ByVerdict(intra.passed.correlations.pearson, intra.failed.correlations.pearson)
    label = "r of an item and its repeat, one worker each"
    figure = _figure("intra-rater", "r of each worker's repeats", label, spreads)
    return Section("intra-rater", "Does a worker say the same twice?", finding, tables, figure, _PAGE)


_SPREAD = [Column("lower quartile"), Column("median"), Column("upper quartile"), Column("n"), Column("undefined")]


def _by_words(groups: ByVerdict[Group]) -> list[tuple[str, Group]]:
    return list(zip(_WHO, (groups.passed, groups.failed), strict=True))


def _row(spread: Spread) -> list[Cell]:
    return [*spread.quartiles, spread.n, spread.n_undefined]


def _inter_section(inter: ByVerdict[SpreadOfPairs]) -> Section:
    passed, failed = inter.passed, inter.failed
    if not passed.n:
        finding = "No two workers who count rated the same set of items, so their scores cannot be correlated."
    else:
        finding = (
            f"Two workers who count and rated the same items correlate by {coefficient(passed.quartiles[1])} in "
            f"the median, over {counted(passed.n, 'pair')}"
        )
        finding += f"; two who failed by {coefficient(failed.quartiles[1])}." if failed.n else "."
    table = Table(
        "inter-rater",
        "Pairs of assignments",
        "r between every two assignments of the same items; of many assignments, 2,000 drawn at random.",
        [Column("workers"), *_SPREAD],
        [[words, *_row(spread)] for words, spread in _by_words(inter) if spread.n],
        output=Output.SHOWN,
    )
    figure = _figure("inter-rater", "r of pairs of workers", "r of two assignments of the same items", inter)
    return Section("inter-rater", "Do two workers rate alike?", finding, [table][: len(table.rows)], figure, _PAGE)


def _tolerance_section(tolerance: Tolerance) -> Section:
    repeats, outputs, unit = tolerance.repeats, tolerance.outputs, tolerance.unit
    place = tolerance.tolerances.index(_SAID[unit])
    within = counted(_SAID[unit], unit.removesuffix("s"))
    said = []
    if repeats.n_pairs:
        said.append(
            f"Workers who count rate a repeat within {within} of the first time in {_share(repeats.observed[place])} "
            f"of cases; beyond chance that is κ = {coefficient(repeats.kappa[place])}."
        )
    if outputs.n_pairs:
        said.append(
            f"Two workers rate the same output within {within} of each other in {_share(outputs.observed[place])} of "
            f"cases: κ = {coefficient(outputs.kappa[place])}."
        )
    has_any = bool(said)
    said = said or ["No output was rated twice by workers who count, so nothing can be said of it."]
    numbers = tolerance.chance, repeats.observed, repeats.kappa, outputs.observed, outputs.kappa
    rows: list[list[Cell]] = [
        [counted(t, unit.removesuffix("s")), *cells] for t, *cells in zip(tolerance.tolerances, *numbers, strict=True)
    ]
    columns = [Column("at most"), Column("by chance"), Column("repeats, share"), Column("repeats, κ")]
    columns += [Column("two workers, share"), Column("two workers, κ")]
    caption = (
        f"Share of pairs of scores that differ by at most so many {unit}, and κ: {repeats.n_pairs:,} repeats with "
        f"their twins, {outputs.n_pairs:,} pairs of ratings of one output. By chance: two {unit} of the scale"
        + (" 0–100." if unit == "points" else ".")
    )
    tables = [Table("tolerance", f"Scores within a few {unit}", caption, columns, rows, output=Output.SHOWN)]
    return Section("tolerance", "How near are two scores?", " ".join(said), tables[:has_any], page=_PAGE)


def _share(share: float | None) -> str:
    return f"{100 * (share or 0.0):.0f} %"


# --- Figures


def _figure(name: str, title: str, label: str, spreads: Spreads) -> list[Figure]:
    if not spreads.passed.n:
        return []
    alt = f"Histogram of {label}, for workers who count and workers who failed."
    return [Figure(name, title, Picture.of(draw_spreads, spreads, label), alt)]


def draw_spreads(spreads: ByVerdict[Spread], label: str, theme: Theme) -> "Drawing":
    """Draw the share of correlations in each tenth from −1 to 1, workers who count and who failed."""
    figure, axes = theme.canvas(width=COLUMN_IN, height=2.6)
    edges = np.linspace(-1, 1, _BINS + 1)
    for words, spread in zip(_WHO, (spreads.passed, spreads.failed), strict=True):
        counts = np.array(spread.histogram, float)
        if counts.sum():
            bars = axes.bar(edges[:-1], counts / counts.sum(), width=2 / _BINS, align="edge", edgecolor=theme.ink)
            bars.set_label(f"{words} (n = {spread.n:,})")
            for bar in bars:
                bar.set(facecolor=theme.accent, alpha=0.75) if spread is spreads.passed else bar.set(
                    fill=False, hatch="///"
                )
    axes.set(xlabel=label, ylabel="share", xlim=(-1, 1))
    figure.legend(frameon=False, labelcolor=theme.ink, loc="outside upper center", ncols=2, fontsize=9)
    return figure
