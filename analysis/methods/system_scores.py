"""What all response methods share: systems with score, interval and rank, how these become a result and are shown."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from analysis.data.notices import ResponsesWarning
from analysis.methods.by_groups import GroupedScores, compare_by_groups
from analysis.methods.settings import AnalysisSettings
from analysis.methods.workers import JudgedWorkers, explain_workers, list_workers
from analysis.results.curves import short_label
from analysis.results.result import (
    AppliedTest,
    Notice,
    Pair,
    Result,
    SettingsUsed,
    Summary,
    SystemResult,
)
from analysis.results.sections import COLUMN_IN, Cell, Column, Figure, Output, Picture, Section, Table, Theme
from analysis.results.words import level_in_words, looks_in_words
from analysis.stats.pairs import Pairs, rank_range
from analysis.stats.procedures import ALPHA
from analysis.stats.ratings import Codes, Floats, or_nan, or_none, or_nones
from analysis.stats.segment_means import ClusteredMeans
from analysis.stats.sequences import at_every_look
from campaigns.contracts.result_pages import FIRST_PAGE, PAIRS
from campaigns.design.composition import Kind
from evalsite.lib.errors import DomainError
from evalsite.lib.tables import TextColumn
from evalsite.lib.typed_json import from_json

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

_ROW_HEIGHT = 0.32  # inches
_MOST_PAIRS_SHOWN = 60
_IN_ONE_ROW = 5
_CAUTIOUS = "Intervals are cautious: where workers are alike, those of 95 % hold in up to 99 %."
_LOOKS = (
    "Valid whenever you look: the findings, the possible ranks and the differences of systems hold however often you "
    "look while responses come, and if you stop because of what you see. All other intervals and p-values hold for one "
    "look at the end only."
)
_DRAWN = "HITs of undecided pairs were given out more often:"
_WEIGHTED = (
    "in scores of systems and their differences, answers are weighted by the inverse of the probabilities of their "
    "HITs; nothing else is."
)
_ROUNDING = 1e-9  # of equal means, summed in another order


@dataclass(frozen=True)
class SystemScores:
    """Scores of systems in the order of `names`, float64, (n_systems,), NaN where undefined.

    `low`, `high`: 95 % interval of each. `n`: int, (n_systems,), what each score is the mean of. `pairs`: the
    differences of every two. `criteria`: the scores on each of them. `n_clusters`: how many clusters errors have.
    """

    names: Sequence[str]
    score: Floats
    low: Floats
    high: Floats
    n: Codes
    pairs: Pairs
    higher_is_better: bool
    criteria: Mapping[str, Floats] = field(default_factory=dict)
    n_clusters: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        found: ClusteredMeans,
        n: Codes,
        criteria: Mapping[str, Floats] | None = None,
        *,
        higher_is_better: bool = True,
    ) -> "SystemScores":
        """Return means of systems as scores."""
        means = found.mean, found.low, found.high, n, found.pairs
        return cls(names, *means, higher_is_better, criteria or {}, dict(found.n_clusters))

    def interval(self, code: int) -> tuple[float, float] | None:
        """Return the 95 % interval of a system's score; None where it has none."""
        low, high = or_none(self.low[code]), or_none(self.high[code])
        return None if low is None or high is None else (low, high)

    def rank(self, code: int) -> int | None:
        """Return the rank of a system, which equal scores share; None without a score."""
        score = self.score[code]
        ahead = self.score - score if self.higher_is_better else score - self.score
        return None if np.isnan(score) else 1 + int(np.count_nonzero(ahead > _ROUNDING))

    @property
    def order(self) -> list[int]:
        """Codes of the systems, best first; those without a score last."""
        sign = -1 if self.higher_is_better else 1
        return sorted(range(len(self.names)), key=lambda k: (np.isnan(self.score[k]), sign * self.score[k], k))


def _concluded(found: SystemScores, settings: AnalysisSettings) -> Pairs:
    """Return the pairs by which is concluded: those of the scores, or, where responses are looked at while they come,
    with intervals and p that hold at every look; an interval that has no end yet is NaN.
    """
    if not settings.workers_planned:
        return found.pairs
    pairs = at_every_look(found.pairs, alpha=ALPHA, n_planned=settings.workers_planned)
    low, high = (np.where(np.isfinite(bound), bound, np.nan) for bound in (pairs.low, pairs.high))
    return replace(pairs, low=low, high=high)


def weights_in(attributes: Mapping[str, TextColumn], settings: AnalysisSettings) -> Floats | None:
    """Return what each answer weighs, (n,), by the column that the settings name; 1 where its cell is empty.

    None if they name none. Raises DomainError `bad_weight`.
    """
    if not settings.weights:
        return None
    column = attributes[settings.weights]
    try:
        weights = np.array([float(label or 1) for label in column.labels])
    except ValueError:
        weights = np.array([np.nan])
    if not (weights > 0).all() or np.isinf(weights).any():
        raise DomainError("bad_weight", f"The column “{settings.weights}” of weights must have numbers of more than 0.")
    return weights[column.codes]


class Answered(Protocol):
    """Responses, (n,) each: codes of their workers and assignments, and their `Kind`; and what is surprising."""

    @property
    def worker(self) -> Codes: ...  # noqa: D102

    @property
    def assignment(self) -> Codes: ...  # noqa: D102

    @property
    def kind(self) -> Codes: ...  # noqa: D102

    @property
    def warnings(self) -> Sequence[ResponsesWarning]: ...  # noqa: D102

    @property
    def fingerprint(self) -> str: ...  # noqa: D102


@dataclass(frozen=True)
class Analysed:
    """What a method found, from which `result` makes its result.

    `responses`: all that were read. `judged`: whose count; None where it is not known who answered. `summary`, `own`:
    what this method alone says, as JSON, with what of `Summary` differs from what `result` says. `groups` returns the
    scores that count, where systems may be compared in groups. `weighted`: what is weighted where HITs were not drawn
    with equal probabilities.
    """

    settings: AnalysisSettings
    scores: SystemScores
    responses: Answered | None = None
    judged: JudgedWorkers | None = None
    summary: Mapping[str, Any] = field(default_factory=dict)
    own: Mapping[str, Any] = field(default_factory=dict)
    notes: Sequence[str] = ()
    criteria: Sequence[str] = ()
    groups: Callable[[], GroupedScores] | None = None
    weighted: str = _WEIGHTED

    def result(self) -> Result:
        """Return the result, whose criteria are also in its summary, as {criterion: {system: score}}."""
        settings, scores, judged, given = self.settings, self.scores, self.judged, self.responses
        systems, notes = rank_systems(scores, settings), [*self.notes]
        by_criterion = {name: {row.system: row.criteria[name] for row in systems} for name in scores.criteria}
        asked, own, summary = settings.to_json(), {**self.own}, {"criteria": by_criterion, **self.summary}
        if scores.n_clusters:
            summary["clusters"] = scores.n_clusters
        of_workers: dict[str, Any] = {}
        if judged and given:
            left_out = ~judged.is_counted[given.worker] & (given.kind == Kind.ORDINARY)
            summary = {"n_left_out": int(np.count_nonzero(left_out)), **summary}
            of_workers = {"worker_test": AppliedTest(judged.preset, judged.alpha), "workers": judged.counts}
            notes = [*explain_workers(judged, settings), *notes]
        notes += [f"{_DRAWN} {self.weighted}"] if settings.weights else []
        notes += [_LOOKS] if settings.workers_planned else []
        if self.groups and settings.groups:
            own |= compare_by_groups(settings, self.groups, higher_is_better=scores.higher_is_better)
        return Result(
            summary=replace(
                from_json(summary, Summary),
                method=settings.method,
                protocol=settings.protocol,
                higher_is_better=scores.higher_is_better,
                systems=systems,
                **of_workers,
            ),
            settings=from_json(asked, SettingsUsed),
            pairs=list_pairs(scores, settings),
            worker_table=list_workers(judged, given.worker, given.assignment) if judged and given else None,
            criterion_order=list(self.criteria) or None,
            warnings=[Notice(w.message, w.code, w.count, [*w.examples]) for w in (given.warnings if given else ())],
            notes=notes,
            fingerprint=given.fingerprint if given else "",
            own={"settings": asked, "summary": summary, **own},
        )


def rank_systems(found: SystemScores, settings: AnalysisSettings) -> list[SystemResult]:
    """Return the systems, best first; equal scores share a rank, and possible ranks are joint at 95 %."""
    pairs = _concluded(found, settings)
    best, worst = rank_range(pairs.difference, pairs.holm, higher_is_better=found.higher_is_better)
    rows = []
    for code in found.order:
        rows.append(
            SystemResult(
                found.names[code],
                or_none(found.score[code]),
                found.interval(code),
                int(found.n[code]),
                found.rank(code),
                (int(best[code]), int(worst[code])) if best[code] else None,
                {name: or_none(of[code]) for name, of in found.criteria.items()},
            )
        )
    return rows


def list_pairs(found: SystemScores, settings: AnalysisSettings) -> list[Pair]:
    """Return every two systems that both have a score, the better one first, in the order of the ranking."""
    pairs = _concluded(found, settings)
    order = np.array([code for code in found.order if not np.isnan(found.score[code])], np.int64)
    better, worse = (order[places] for places in np.triu_indices(order.size, k=1))
    systems = zip(*([found.names[code] for code in codes.tolist()] for codes in (better, worse)), strict=True)
    columns = (pairs.difference, pairs.low, pairs.high, pairs.holm, pairs.p_value)
    difference, low, high, holm, p = (or_nones(each[better, worse]) for each in columns)
    return list(map(Pair, systems, difference, zip(low, high, strict=True), holm, p))


def systems_section(
    result: Result, *, score: str, n: str, caption: str, finding: str = "", decimals: int = 2
) -> Section:
    """Return the ranking with its figure; `score` and `n` are what the scores are called and what n counts."""
    rows = result.summary.systems
    cells: list[list[Cell]] = []
    for row in rows:
        best, worst = row.ranks or (None, None)
        ranks = None if best is None else f"{best}" if best == worst else f"{best}–{worst}"
        cells.append([row.rank, row.system, row.score, *result.interval(row.system), ranks, row.n])
    columns = [Column("rank"), Column("system"), Column(score, decimals)]
    columns += [Column("low", decimals), Column("high", decimals), Column("ranks"), Column(n)]
    one_look = ", for one look at the end" if result.settings.workers_planned else ""
    about = (
        f"{caption} Low and high: 95 % interval of each system alone{one_look}. Ranks: what ranks are possible, "
        "jointly at 95 %."
    )
    table = Table("systems", "Systems", about, columns, cells, rules=_rules(result), row_name=1)
    drawn = [row for row in rows if row.score is not None]
    picture = Picture.of(draw_scores, drawn, score)
    figure = Figure("systems", "Systems", picture, f"{score} of each system; the table has the numbers.")
    return Section("systems", "Systems", finding, [table], [figure] if drawn else [], FIRST_PAGE)


def _rules(result: Result) -> frozenset[int]:
    """Return the rows under which a rule runs: of a system that is better than all below, by Holm's corrected p."""
    open_after = {pair.systems[0] for pair in result.pairs if not pair.differs}
    names = [row.system for row in result.summary.systems]
    scored = [k for k, name in enumerate(names) if name in result.scored]
    return frozenset(k for k in scored[:-1] if names[k] not in open_after)


def pairs_section(result: Result, *, caption: str, decimals: int = 2) -> Section:
    """Return the differences of every two systems."""
    pairs = result.pairs
    rows: list[list[Cell]] = [[*pair.systems, pair.difference, *pair.interval, pair.p, pair.p_holm] for pair in pairs]
    columns = [Column("system"), Column("other"), Column("difference", decimals), Column("low", decimals)]
    columns += [Column("high", decimals), Column("p", 4, is_p=True), Column("p (Holm)", 4, is_p=True)]
    n_planned = result.settings.workers_planned
    n_decided = sum(pair.differs for pair in pairs)
    finding = f"{n_decided} of {len(pairs)} pairs of systems differ ({level_in_words(n_planned)}). {_CAUTIOUS}"
    about = f"{caption} p is two-sided, corrected over all pairs. Low and high: 95 % interval of this pair alone."
    if n_planned:
        about += f" {looks_in_words(n_planned)}"
    output = Output.FILES | (Output.PAGE if len(pairs) <= _MOST_PAIRS_SHOWN else Output(0))
    table = Table("pairs", "Pairs of systems", about, columns, rows, output=output)
    return Section("pairs", "Pairs of systems", finding if rows else "", [table] if rows else [], page=PAIRS)


def draw_scores(rows: Sequence[SystemResult], label: str, theme: Theme) -> "Drawing":
    """Draw the score of each system and its interval, best on top."""
    figure, axes = theme.canvas(COLUMN_IN, 0.9 + _ROW_HEIGHT * len(rows))
    for place, row in enumerate(reversed(rows)):
        if row.interval:
            axes.plot([*row.interval], [place, place], color=theme.accent, linewidth=2)
        axes.plot(or_nan([row.score]), [place], "o", color=theme.ink, markersize=5)
    axes.set_yticks(range(len(rows)), [short_label(row.system) for row in reversed(rows)])
    axes.set(xlabel=f"{label} (line: 95 % interval)", ylim=(-0.6, len(rows) - 0.4))
    axes.grid(axis="x", color=theme.faint, linewidth=0.6)
    return figure


def draw_stacked(
    names: Sequence[str],
    parts: Sequence[tuple[str, Sequence[float]]],
    label: str,
    theme: Theme,
    *,
    is_rising: bool = False,
) -> "Drawing":
    """Draw a bar for each name, first on top, stacked of named parts; `is_rising`: the last part is the best one."""
    from matplotlib.colors import LinearSegmentedColormap

    ends = [theme.faint, theme.accent]  # from light to dark, so that parts differ in grey, too
    shades = LinearSegmentedColormap.from_list("parts", ends if is_rising else ends[::-1])
    figure, axes = theme.canvas(COLUMN_IN, 1.5 + _ROW_HEIGHT * len(names))
    left = np.zeros(len(names))
    places = np.arange(len(names))[::-1]
    for k, (part, values) in enumerate(parts):
        colour = shades(k / max(len(parts) - 1, 1))
        axes.barh(places, values, left=left, color=colour, edgecolor=theme.ink, linewidth=0.4, height=0.7, label=part)
        left = left + np.asarray(values, float)
    axes.set_yticks(places, [short_label(name) for name in names])
    axes.set(xlabel=label, ylim=(-0.6, len(names) - 0.4))
    axes.legend(
        frameon=False,
        labelcolor=theme.ink,
        fontsize=8,
        ncols=len(parts) if len(parts) <= _IN_ONE_ROW else 4,
        loc="lower center",
        bbox_to_anchor=(0.5, 1.0),
    )
    return figure
