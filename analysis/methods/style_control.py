"""Strengths with the style of outputs taken out, beside those without: which of the two, and what style does."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from analysis.methods.strengths import Strengths, estimate_strengths
from analysis.methods.system_scores import SystemScores
from analysis.results.curves import short_label
from analysis.results.result import Result
from analysis.results.sections import COLUMN_IN, Cell, Column, Figure, Picture, Section, Table, Theme
from analysis.results.words import p_equals
from analysis.stats.procedures import ALPHA
from analysis.stats.ratings import Floats, or_nan, or_none
from analysis.stats.segment_means import largest
from analysis.stats.significance import adjust
from analysis.stats.style_control import (
    StyledStrengths,
    Use,
    find_use,
    fit_with_style,
    relative_difference,
    robust_covariance,
    spread_of,
)
from evalsite.lib.errors import DomainError
from evalsite.lib.typed_json import from_json
from evalsite.lib.words import listed

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

STYLES = BESIDE, ADJUST = ("beside", "adjust")
"""Whether style is taken out of the strengths that rank systems, or that is said beside."""
_PAGE = "style"
_TITLE = "Length and style"
_LEAST_KNOWN = 0.5
_TWICE = 1 / 3  # (2 − 1)/(2 + 1)
_ROW_HEIGHT = 0.34  # inches
_CALLED = {"list_items": "list items", "code_blocks": "code blocks"}
_WHY_NOT = {
    Use.CONSTANT: "the same in both outputs of every vote",
    Use.CONFOUNDED: "confounded with the systems or with other features",
}
_LEAVE_IT = "Leave the option “style” out: then results say why."
_NO_STYLE = (
    "Style cannot be taken out: the votes have no columns of it. Add columns of both outputs, such as words_a and "
    "words_b, or leave the option “style” out."
)
_NO_FIT = (
    "Votes follow the style of outputs so closely, or are so few, that no finite strengths with style fit them best."
)


@dataclass(frozen=True)
class SystemWithStyle:
    """A system: its strength, interval and rank, without style in the model and with it; None where there is none."""

    system: str
    strength: float | None
    interval: tuple[float, float] | None
    rank: int | None
    with_style: float | None
    with_interval: tuple[float, float] | None
    with_rank: int | None


@dataclass(frozen=True)
class FeatureEffect:
    """What a feature does: the log odds of a difference of one standard deviation, its interval, p with Holm's
    correction over the features; and the odds of an output with twice as much, systems being equal.
    """

    feature: str
    coefficient: float
    interval: tuple[float, float] | None
    p_holm: float | None
    odds_of_twice: float


@dataclass(frozen=True)
class StyleResult:
    """Strengths without and with style, of the same votes.

    `n_votes`: that have all features; `n_unknown`: others, which are left out of both. `left_out`: why a feature is not
    in the model, by its name. `refused`: why there are no strengths with style; "" if there are.
    """

    n_votes: int
    n_unknown: int
    systems: Sequence[SystemWithStyle]
    features: Sequence[FeatureEffect]
    left_out: Mapping[str, str]
    refused: str = ""


class NoStyleError(DomainError):
    """Strengths with style taken out were asked for, and there are none."""


@dataclass(frozen=True)
class Adjusted:
    """The strengths of all systems with style taken out, and the ends of their naive intervals, as of `Strengths`; None
    where nothing follows. `result`: what is said of it.
    """

    result: StyleResult
    scores: SystemScores | None = None
    naive: tuple[Floats, Floats] | None = None


def adjust_for_style(strengths: Strengths, style: Mapping[str, Floats]) -> Adjusted:
    """Return strengths with style taken out, and those without of the same votes.

    `style`: as `VoteData.style`, of the votes of `strengths`. Features that most votes lack are left out, then votes
    that lack one.
    """
    votes = strengths.inside.votes
    left_out: dict[str, str] = {}
    difference = {name: relative_difference(values) for name, values in style.items()}
    for name, values in list(difference.items()):
        if not values.size or np.isnan(values).mean() > 1 - _LEAST_KNOWN:
            left_out[name] = "known of too few votes"
            del difference[name]
    columns = np.stack(list(difference.values()), axis=1) if difference else np.zeros((votes.n, 0))
    is_known = np.asarray(~np.isnan(columns).any(axis=1))
    n_unknown = int(np.count_nonzero(~is_known))
    n_known = votes.n - n_unknown
    if not n_known:
        return Adjusted(StyleResult(0, n_unknown, [], [], _in_words(left_out), "No vote says the style of both."))
    without = estimate_strengths(votes.take(is_known)) if n_unknown else strengths
    inside = without.inside
    columns = columns[is_known][inside.rows]
    use = find_use(inside.left, inside.right, columns, inside.members.size)
    left_out |= {name: _WHY_NOT[why] for name, why in zip(difference, use, strict=True) if why != Use.USED}
    names = [name for name, why in zip(difference, use, strict=True) if why == Use.USED]
    columns = columns[:, [why == Use.USED for why in use]]
    fit = None
    if names and inside.has_strengths:
        sides = inside.left, inside.right, inside.outcome
        fit = fit_with_style(*sides, columns, inside.members.size, prior=inside.prior)
    if fit is None:
        refused = _NO_FIT if names else "No feature of style can enter the model."
        return Adjusted(StyleResult(n_known, n_unknown, [], [], _in_words(left_out), refused))
    robust = [robust_covariance(fit, inside.left, inside.right, *each) for each in inside.groupings]
    scores = inside.scores(fit.strength, robust)
    effects = _effects(fit, [_named(name) for name in names], spread_of(columns), robust, inside.df)
    result = StyleResult(n_known, n_unknown, _beside(without.scores, scores), effects, _in_words(left_out))
    return Adjusted(result, scores, inside.naive(scores, fit))


def take_style_out(
    strengths: Strengths, style: Mapping[str, Floats], *, is_needed: bool
) -> tuple[Strengths, StyleResult]:
    """Return the strengths, with style taken out if that `is_needed`, and what style does to their votes.

    Raises NoStyleError if it is needed and there are no such strengths.
    """
    found = adjust_for_style(strengths, style)
    if not is_needed:
        return strengths, found.result
    if not style:
        raise NoStyleError("no_style", _NO_STYLE)
    if found.scores is None or found.naive is None:
        raise NoStyleError("no_style", f"Style cannot be taken out. {found.result.refused} {_LEAVE_IT}")
    return replace(strengths, scores=found.scores, naive=found.naive), found.result


def style_in(result: Result) -> StyleResult | None:
    """Return what a result says of style; None where nothing is known of it."""
    return from_json(result.own["style"], StyleResult) if "style" in result.own else None


def say_taken_out(result: Result) -> str:
    """Return what is taken out of the strengths that rank systems, in a sentence before others; "" if nothing is."""
    found = style_in(result) if result.settings.options.get("style") == ADJUST else None
    names = listed([each.feature for each in found.features]) if found else ""
    return f"Style is taken out: strengths are of outputs of equal {names}. " if names else ""


def say_in_paper(result: Result) -> list[str]:
    """Return what a paper says of strengths with style, in a sentence; nothing where there are none."""
    found = style_in(result)
    if not (found and found.features):
        return []
    order = sorted((row for row in found.systems if row.with_rank), key=lambda row: row.with_rank or 0)
    names = listed([each.feature for each in found.features])
    said = (
        f"With the style of both outputs in the model ({names}, normalised as by Li, Angelopoulos & Chiang 2024), the "
        f"systems rank {', '.join(row.system for row in order)}."
    )
    return [said]


def _named(feature: str) -> str:
    return _CALLED.get(feature, feature.replace("_", " "))


def _in_words(left_out: Mapping[str, str]) -> dict[str, str]:
    return {_named(name): why for name, why in left_out.items()}


def _effects(
    fit: StyledStrengths, names: Sequence[str], spread: Floats, robust: Sequence[Floats], df: float
) -> list[FeatureEffect]:
    """Return what each feature does, with errors clustered as those of strengths."""
    from scipy.special import stdtr, stdtrit

    error = np.sqrt(np.maximum(largest(robust, np.diag)[-len(names) :], 0.0))
    is_tested = (error > 0) & (df >= 1)
    half = stdtrit(max(df, 1), 0.975) * error
    ratio = np.divide(np.abs(fit.coefficient), error, out=np.full(error.shape, np.nan), where=is_tested)
    p = adjust(2 * stdtr(max(df, 1), -ratio), "holm")
    return [
        FeatureEffect(
            name,
            float(value),
            (float(value - half[k]), float(value + half[k])) if is_tested[k] else None,
            or_none(p[k]),
            float(np.exp(value * _TWICE / spread[k])),
        )
        for k, (name, value) in enumerate(zip(names, fit.coefficient, strict=True))
    ]


def _beside(without: SystemScores, scores: SystemScores) -> list[SystemWithStyle]:
    """Return each system with both strengths, best without style first."""
    return [
        SystemWithStyle(
            without.names[code],
            or_none(without.score[code]),
            without.interval(code),
            without.rank(code),
            or_none(scores.score[code]),
            scores.interval(code),
            scores.rank(code),
        )
        for code in without.order
    ]


# --- Sections


def style_sections(result: Result, clusters: str) -> list[Section]:
    """Return strengths without and with style, and what each feature does; nothing where nobody knows the style.

    `clusters`: by what errors are clustered.
    """
    found = style_in(result)
    if found is None:
        return []
    said = " ".join(_findings(found))
    tables = [_systems_table(found, clusters), _features_table(found, clusters)] if found.features else []
    drawn = [row for row in found.systems if row.with_style is not None]
    alt = "Strength of each system without and with style in the model; the table has the numbers."
    figure = Figure("style", _TITLE, Picture.of(draw_style, drawn), alt)
    return [Section(_PAGE, _TITLE, said, tables, [figure] if drawn else [])]


def _findings(found: StyleResult) -> list[str]:
    """Return what style does to votes and to the ranking, and what was left out, in sentences."""
    said = [found.refused] if found.refused else [*map(_effect, found.features[:1]), *_others(found.features[1:])]
    if found.features:
        moved = [row for row in found.systems if row.rank != row.with_rank]
        first = next((row.system for row in found.systems if row.with_rank == 1), "")
        if not moved:
            said.append("With style taken out the systems rank the same.")
        elif found.systems[0].rank == 1 and found.systems[0].with_rank == 1:
            said.append(f"With style taken out {first} is still first; other ranks change.")
        else:
            said.append(f"With style taken out {first} is first, not {found.systems[0].system}.")
    by_reason: dict[str, list[str]] = {}
    for name, why in found.left_out.items():
        by_reason.setdefault(why, []).append(name)
    said += [f"Not in the model, since {why}: {listed(names)}." for why, names in by_reason.items()]
    if found.n_unknown:
        said.append(f"Votes without the style of both outputs, which are left out here: {found.n_unknown:,}.")
    return said


def _effect(effect: FeatureEffect) -> str:
    """Return what the first feature does, which is the length where there is one."""
    name = effect.feature
    is_length = name in {"words", "tokens", "characters", "length"}
    if effect.p_holm is None or effect.p_holm >= ALPHA:
        p = "" if effect.p_holm is None else f" (p {p_equals(effect.p_holm)})"
        return f"No sign that {'length' if is_length else name} decides votes{p}."
    more, fewer = ("longer", "shorter") if is_length else (f"with more {name}", f"with fewer {name}")
    which = more if effect.coefficient > 0 else fewer
    answer = f"A {which} answer" if is_length else f"An answer {which}"
    of = "as long" if name == "length" else f"as many {name}"
    odds = f"{effect.odds_of_twice:.2f}"
    return f"{answer} wins more often: with twice {of} its odds are {odds} times as high, systems being equal."


def _others(effects: Sequence[FeatureEffect]) -> list[str]:
    """Return which further features win or lose votes."""
    known = [each for each in effects if each.p_holm is not None and each.p_holm < ALPHA]
    more = [each.feature for each in known if each.coefficient > 0]
    fewer = [each.feature for each in known if each.coefficient < 0]
    said = [f"More {listed(more)} win votes, too."] if more else []
    return said + ([f"More {listed(fewer)} lose votes."] if fewer else [])


def _systems_table(found: StyleResult, clusters: str) -> Table:
    empty = (None, None)
    rows: list[list[Cell]] = [
        [
            *(row.system, row.strength, *(row.interval or empty), row.rank),
            *(row.with_style, *(row.with_interval or empty), row.with_rank),
        ]
        for row in found.systems
    ]
    columns = [Column("system"), Column("strength", 3), Column("low", 3), Column("high", 3), Column("rank")]
    columns += [Column("with style", 3), Column("low (with style)", 3), Column("high (with style)", 3)]
    names = listed([each.feature for each in found.features])
    caption = (
        f"Strengths of the same {found.n_votes:,} votes without and with style in the model: {names}. With style: of "
        f"outputs of equal style (Li, Angelopoulos & Chiang 2024). 95 % intervals, clustered by {clusters}. People may "
        "want longer answers, so neither ranking is the right one by itself."
    )
    return Table("style", _TITLE, caption, [*columns, Column("rank (with style)")], rows)


def _features_table(found: StyleResult, clusters: str) -> Table:
    rows: list[list[Cell]] = [
        [each.feature, each.coefficient, *(each.interval or (None, None)), each.p_holm, each.odds_of_twice]
        for each in found.features
    ]
    columns = [Column("feature"), Column("coefficient", 3), Column("low", 3), Column("high", 3)]
    columns += [Column("p (Holm)", 4, is_p=True), Column("odds of twice", 2)]
    caption = (
        "What style does to votes: log odds of a difference of one standard deviation, of (a − b)/(a + b) of the two "
        f"outputs. 95 % intervals, clustered by {clusters}; p is two-sided, corrected over the features."
    )
    return Table("style-features", "What style does", caption, columns, rows)


def draw_style(rows: Sequence[SystemWithStyle], theme: Theme) -> "Drawing":
    """Draw the strength of each system without style, hollow, and with it, filled."""
    figure, axes = theme.canvas(COLUMN_IN, 1.2 + _ROW_HEIGHT * len(rows))
    for place, row in enumerate(reversed(rows)):
        if row.with_interval:
            axes.plot([*row.with_interval], [place, place], color=theme.accent, linewidth=2)
        axes.plot(or_nan([row.strength]), [place], "o", color=theme.ink, markerfacecolor=theme.paper, markersize=6)
        axes.plot(or_nan([row.with_style]), [place], "o", color=theme.ink, markersize=4)
    axes.set_yticks(range(len(rows)), [short_label(row.system) for row in reversed(rows)])
    axes.set(xlabel="strength without (hollow) and with style (filled)", ylim=(-0.6, len(rows) - 0.4))
    axes.grid(axis="x", color=theme.faint, linewidth=0.6)
    return figure
