"""Coefficients of agreement: what each is of, and which answers it fits. A new one is an entry in `COEFFICIENTS`."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from analysis.data.compared import ComparedPairs
from analysis.data.judgements import NUMBERS, AnswerKind, Judgements, Scale
from analysis.results.answers import AgreementOnCriterion, SharedCoefficients
from analysis.results.sections import Column
from analysis.stats.agreement import (
    IntraclassCorrelation,
    Kappa,
    categorise,
    fleiss_kappa,
    intraclass_correlation,
    pairs_within,
)
from analysis.stats.codes import dense_ranks, n_distinct, number_values
from analysis.stats.krippendorff import Level, alpha_of_sets, krippendorff_alpha
from analysis.stats.ratings import Codes, Floats, Ratings, or_none
from analysis.stats.repeated_judgements import first_and_own, mean_difference, share_opposite
from campaigns.design.composition import Kind
from evalsite.lib.edits import edit_distance

N_BINS = 5
"""Categories into which scores from 0 to 100 are put for Fleiss' κ, if nothing else is said."""
_MOST_PAIRS = 20_000  # a comparison takes 0.1 ms for 20 words and 5 ms for 300


@dataclass(frozen=True)
class SharedAnswers:
    """Answers on one criterion to items that have two or more, (n,) each.

    `value` and `given`: on the scale of the analysis, and as given. `item`: codes without gaps. `rater`: codes of who
    answered, each at most once an item.
    """

    scale: Scale
    value: Floats
    given: Floats
    item: Codes
    rater: Codes
    n_bins: int = N_BINS

    @cached_property
    def category(self) -> Codes:
        """Categories, (n,): levels, options, sets or votes; of numbers so many of equal width."""
        if self.scale.answer is AnswerKind.SLIDER:
            return categorise(self.value, self.n_bins)
        if self.scale.levels.size:
            return np.searchsorted(self.scale.levels, self.value)
        return number_values(self.value)[1]

    @cached_property
    def kappa(self) -> Kappa:
        """Fleiss' κ of the categories."""
        return fleiss_kappa(self.category, self.item)

    @cached_property
    def icc(self) -> IntraclassCorrelation:
        """Intraclass correlations."""
        return intraclass_correlation(self.value, self.item, self.rater)


@dataclass(frozen=True)
class Coefficient:
    """A coefficient of agreement: its name in reports, its heading, the answers that it fits, how it is computed.

    `is_share`: it is from 0 to 1 and shown in per cent. `of_workers`: it is of workers with each other alone.
    """

    key: str
    heading: str
    fits: frozenset[AnswerKind]
    compute: Callable[[SharedAnswers], float]
    hint: str
    decimals: int = 3
    is_share: bool = False
    of_workers: bool = False

    @property
    def column(self) -> Column:
        """Its column in tables."""
        return Column(self.heading, self.decimals, hint=self.hint)


def _same(answers: SharedAnswers) -> float:
    return fleiss_kappa(number_values(answers.value)[1], answers.item).observed


def _alpha_of_sets(answers: SharedAnswers) -> float:
    sets = answers.scale.sets
    return float("nan") if sets is None else alpha_of_sets(answers.value.astype(np.int64), answers.item, sets)


def _text_difference(answers: SharedAnswers) -> float:
    """Return the edit distance of two texts of an item per 100 of their characters, in the mean over items.

    Every two different texts are compared once. Of more than `_MOST_PAIRS` pairs as many, evenly spread, are used.
    """
    rows = (each.astype(np.int64) for each in pairs_within(np.arange(answers.item.size, dtype=float), answers.item))
    first, second = rows
    if not first.size:
        return float("nan")
    if first.size > _MOST_PAIRS:
        used = np.linspace(0, first.size - 1, _MOST_PAIRS).astype(np.int64)
        first, second = first[used], second[used]
    text, texts = answers.value.astype(np.int64), answers.scale.texts
    low, high = np.minimum(text[first], text[second]), np.maximum(text[first], text[second])
    keys, of_pair = np.unique(low * len(texts) + high, return_inverse=True)
    pairs = [(texts[one], texts[other]) for one, other in zip(*np.divmod(keys, len(texts)), strict=True)]
    distance = np.array([200 * edit_distance(one, other) / max(len(one) + len(other), 1) for one, other in pairs])
    _, of_item = np.unique(answers.item[first], return_inverse=True)
    return float((np.bincount(of_item, weights=distance[of_pair]) / np.bincount(of_item)).mean())


_CATEGORIES = frozenset({AnswerKind.OPTION, AnswerKind.OPTIONS, AnswerKind.LEVELS, AnswerKind.PREFERENCE})
_AMOUNTS = frozenset({AnswerKind.AMOUNT, AnswerKind.MARKS})
_SLIDER, _LEVELS, _MARKS = (frozenset({kind}) for kind in (AnswerKind.SLIDER, AnswerKind.LEVELS, AnswerKind.MARKS))
_SETS, _TEXTS, _VOTES = (frozenset({kind}) for kind in (AnswerKind.OPTIONS, AnswerKind.TEXT, AnswerKind.PREFERENCE))
_SHARE: Any = {"decimals": 1, "is_share": True}


def _of_marks(key: str, heading: str, hint: str) -> Coefficient:
    """Return a coefficient of the characters that two workers mark."""
    return Coefficient(key, heading, _MARKS, lambda answers: getattr(answers.scale.marks, key), hint, of_workers=True)


def _alpha(level: Level, fits: frozenset[AnswerKind], hint: str) -> Coefficient:
    """Return Krippendorff's α at a level of measurement."""

    def compute(answers: SharedAnswers) -> float:
        values = answers.given if level is Level.RATIO else answers.value
        return krippendorff_alpha(values, answers.item, level)

    return Coefficient(f"alpha_{level.value}", f"α {level.value}", fits, compute, f"Krippendorff's α by {hint}")


COEFFICIENTS = (
    Coefficient("same", "same, %", _CATEGORIES | _AMOUNTS | _TEXTS, _same, "two answers about an item", **_SHARE),
    Coefficient(
        "opposite",
        "opposite, %",
        _VOTES,
        lambda answers: share_opposite(answers.value, answers.item),
        "two votes that name each another winner",
        **_SHARE,
    ),
    Coefficient(
        "difference",
        "difference",
        NUMBERS - _LEVELS,
        lambda answers: mean_difference(answers.value, answers.item),
        "of two numbers, in the mean over items",
        decimals=2,
    ),
    Coefficient(
        "text_difference", "difference, %", _TEXTS, _text_difference, "characters that differ between two texts", 1
    ),
    _alpha(Level.NOMINAL, _CATEGORIES | _SLIDER, "whether answers differ"),
    Coefficient("alpha_sets", "α (MASI)", _SETS, _alpha_of_sets, "Krippendorff's α by what two sets share"),
    _alpha(Level.ORDINAL, _SLIDER | _LEVELS | _VOTES, "ranks, a tie between the two wins"),
    _alpha(Level.INTERVAL, NUMBERS, "squared differences"),
    _alpha(Level.RATIO, _AMOUNTS | _SLIDER | _LEVELS, "squared differences over sums, of numbers as given"),
    Coefficient("icc_single", "ICC(2,1)", NUMBERS, lambda shared: shared.icc.single, "of one worker", of_workers=True),
    Coefficient("icc_average", "ICC(2,k)", NUMBERS, lambda shared: shared.icc.average, "of a mean", of_workers=True),
    Coefficient(
        "fleiss_kappa", "κ (Fleiss)", _CATEGORIES | _SLIDER, lambda shared: shared.kappa.kappa, "of categories"
    ),
    Coefficient(
        "weighted_kappa",
        "κ weighted",
        _LEVELS,
        lambda answers: fleiss_kappa(answers.category, answers.item, "quadratic").kappa,
        "Fleiss' κ by squared differences of levels",
    ),
    _of_marks("f1", "F1 of marks", "characters that both mark, of those that each marks"),
    _of_marks("f1_severity", "F1 with severity", "the same, one half where severities differ"),
    _of_marks("kappa", "κ of characters", "whether a character is marked, corrected for chance"),
    _of_marks("overlap", "overlap", "share of marks that overlap with one of the other worker"),
)
"""In the order of their columns."""
ALPHA = {
    AnswerKind.SLIDER: "alpha_interval",
    AnswerKind.LEVELS: "alpha_ordinal",
    AnswerKind.NUMBER: "alpha_interval",
    AnswerKind.AMOUNT: "alpha_interval",
    AnswerKind.MARKS: "alpha_interval",
    AnswerKind.OPTION: "alpha_nominal",
    AnswerKind.OPTIONS: "alpha_sets",
    AnswerKind.PREFERENCE: "alpha_ordinal",
}
"""Krippendorff's α that fits an answer best, which sentences name."""


# --- What is measured by them


def of_criterion(judgements: Judgements, place: int, n_bins: int) -> tuple[AgreementOnCriterion, str]:
    """Return the coefficients of a criterion, the `place`-th, and a sentence on what they leave out."""
    ratings, scale = judgements.ratings, judgements.scales[place]
    value = ratings.scores[:, place]
    given = value if judgements.given is None else judgements.given[:, place]
    is_compared = judgements.is_counted[ratings.worker] & (ratings.source >= 0) & ~np.isnan(value)
    is_first = is_compared & (ratings.kind == Kind.ORDINARY)
    is_own = is_first | (is_compared & (ratings.kind == Kind.REPEAT))

    def shared(rows: Codes, item: Codes) -> SharedAnswers:
        is_used = np.bincount(item, minlength=1)[item] > 1
        rows, item = rows[is_used], _without_gaps(item[is_used])
        return SharedAnswers(scale, value[rows], given[rows], item, ratings.worker[rows], n_bins)

    rows = np.flatnonzero(is_first)
    item = _outputs(ratings, rows)
    first, _ = first_and_own(item, ratings.worker[rows])
    between = shared(rows[first], item[first])
    rows = np.flatnonzero(is_own)
    within = shared(rows, first_and_own(_outputs(ratings, rows), ratings.worker[rows])[1])
    name, n_items = judgements.criteria[place], int(between.item.max(initial=-1)) + 1
    agreement = AgreementOnCriterion(
        name, scale.answer, _coefficients(between), _coefficients(within, of_workers=False)
    )
    if scale.answer not in NUMBERS or between.icc.n_items == n_items:
        return agreement, ""
    note = f"{name}: the intraclass correlations are of {between.icc.n_items:,} of {n_items:,} outputs; "
    return agreement, note + "of the others no two were rated by exactly the same workers."


def _outputs(ratings: Ratings, rows: Codes) -> Codes:
    """Return the code of each row's output."""
    return ratings.source[rows].astype(np.int64) * ratings.n_systems + ratings.system[rows]


def _without_gaps(item: Codes) -> Codes:
    """Return the items, (n,), numbered from 0 without those that do not occur, in their order."""
    return dense_ranks(item, int(item.max(initial=-1)) + 1)[0].astype(np.int32)


def _coefficients(answers: SharedAnswers, *, of_workers: bool = True) -> SharedCoefficients:
    """Return what fits the answers; `of_workers`: they are of several workers."""
    fitting = [each for each in COEFFICIENTS if answers.scale.answer in each.fits and of_workers >= each.of_workers]
    return SharedCoefficients(
        n_items=int(answers.item.max(initial=-1)) + 1,
        n_judgements=int(answers.item.size),
        n_workers=n_distinct(answers.rater),
        coefficients={each.key: or_none(each.compute(answers)) for each in fitting},
    )


def of_preferences(pairs: ComparedPairs) -> AgreementOnCriterion:
    """Return the coefficients of votes, or of the pairs that rankings imply.

    Which of two systems is called the first is arbitrary, and must not change how much agreement is expected by chance.
    So each vote counts in both directions: coefficients are those of all items and of their mirror images. For κ the
    expected agreement is then t² + (1 − t)²/2, t being the share of ties in the mean over items.
    """
    value, item = pairs.judgements()
    first, own = first_and_own(item, pairs.worker)

    def coefficients(value: Floats, item: Codes, worker: Codes) -> SharedCoefficients:
        is_used = np.bincount(item, minlength=1)[item] > 1
        value, worker, item = value[is_used], worker[is_used], _without_gaps(item[is_used])
        mirrored = np.concatenate([item, item + item.max(initial=-1) + 1])
        both = np.concatenate([value, -value])
        shared = _coefficients(
            SharedAnswers(Scale(AnswerKind.PREFERENCE), both, both, mirrored, np.tile(worker, 2)), of_workers=False
        )
        return replace(shared, n_items=int(item.max(initial=-1)) + 1, n_judgements=int(value.size))

    between = coefficients(value[first], item[first], pairs.worker[first])
    within = coefficients(value, own, pairs.worker)
    return AgreementOnCriterion("preference", AnswerKind.PREFERENCE, between, within)
