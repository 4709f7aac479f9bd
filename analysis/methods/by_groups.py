"""Systems in groups of answers, such as domains of sources: their scores, and whether differences depend on the group.

A method that takes `groups` reads their columns (`ResponsesFile.choices_for`), gives its result the scores that count
(`GroupedScores`), and adds `groups_sections` to its sections.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from analysis.methods.settings import AnalysisSettings
from analysis.results.curves import short_label
from analysis.results.result import Result
from analysis.results.sections import Cell, Column, Figure, Output, Picture, Section, Table, Theme
from analysis.results.words import p_equals
from analysis.stats.codes import dense_ranks, n_distinct
from analysis.stats.group_effects import LEAST_CLUSTERS, MOST_CELLS, GroupEffects, PairInGroups, compare_groups
from analysis.stats.procedures import ALPHA
from analysis.stats.ratings import Codes, Floats, or_none
from analysis.stats.significance import adjust
from evalsite.lib.tables import TextColumn
from evalsite.lib.typed_json import from_json, to_json
from evalsite.lib.words import counted, listed

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

MOST_GROUPS = 20
PAGE = "groups"
"""The page of results with groups."""
_QUARTERS = 4
_MOST_SENTENCES = 3
_MOST_ROWS_SHOWN = 60
_PANEL_WIDTH, _ROW_HEIGHT = 2.6, 0.25  # inches


@dataclass(frozen=True)
class GroupedScores:
    """The scores that count, as `stats.group_effects.compare_groups` takes them, with the columns of groups.

    `systems`: labels of their codes; `order`: the codes, best first. `answer`: int, (n,), codes of answers that several
    scores are of, such as a vote on two outputs; None where each is one.
    """

    values: Floats
    system: Codes
    systems: Sequence[str]
    order: Sequence[int]
    clusters: Mapping[str, Codes]
    attributes: Mapping[str, TextColumn]
    output: Codes | None = None
    part: Codes | None = None
    answer: Codes | None = None


class Grouping(NamedTuple):
    """Groups by a column: labels, and the code of each answer's, (n,), −1 for none.

    `is_cut`: they are ranges of numbers.
    """

    labels: list[str]
    code: Codes
    is_cut: bool = False


def find_grouping(column: TextColumn) -> Grouping:
    """Return the groups of a column: its values, or the quarters of its numbers if it has more than four of them.

    Empty cells are in no group. A quarter has the numbers up to a quartile of the answers, which is one of them, so
    that equal numbers are in one group; there may be fewer.

    >>> find_grouping(TextColumn(np.arange(5), ["9", "1", "20", "", "4"])).labels
    ['1', '4', '9', '20']
    >>> grouping = find_grouping(TextColumn(np.arange(8), ["1", "2", "3", "4", "5", "6", "7", "8.5"]))
    >>> grouping.labels, grouping.code.tolist()
    (['1 to 2', '3 to 4', '5 to 6', '7 to 8.5'], [0, 0, 1, 1, 2, 2, 3, 3])
    """
    # Label by label: as an array of text, long labels would take all memory.
    codes = np.unique(column.codes)
    text = [column.labels[code].strip() for code in codes.tolist()]
    names = sorted({label for label in text if label})
    numbers = np.array([_number(name) for name in names])
    part, labels = np.arange(len(names)), names
    there, value = np.unique(numbers, return_inverse=True)
    is_cut = False
    if names and not np.isnan(numbers).any():
        part, labels, is_cut = value, [_written(each) for each in there.tolist()], there.size > _QUARTERS
    place = dict(zip(names, part.tolist(), strict=True))
    of_label = np.full(len(column.labels), -1, np.int64)
    of_label[codes] = [place.get(label, -1) for label in text]
    code = of_label[column.codes]
    if not is_cut:
        return Grouping(labels, code)
    cuts = np.quantile(there[code[code >= 0]], np.arange(1, _QUARTERS) / _QUARTERS, method="inverted_cdf")
    quarter, n_quarters = dense_ranks(np.searchsorted(cuts, there), _QUARTERS)
    bounds = [there[quarter == k][[0, -1]].tolist() for k in range(n_quarters)]
    labels = [" to ".join(dict.fromkeys(map(_written, each))) for each in bounds]
    return Grouping(labels, np.where(code < 0, -1, quarter[code]), is_cut=True)


def _number(label: str) -> float:
    try:
        number = float(label)
    except ValueError:
        return np.nan
    return number if np.isfinite(number) else np.nan


def _written(number: float) -> str:
    return f"{number:.12g}"


@dataclass(frozen=True)
class ScoreInGroup:
    """The score of a system in a group, of so many answers; None where it has none."""

    group: str
    score: float | None
    interval: tuple[float, float] | None
    n: int


@dataclass(frozen=True)
class SystemInGroups:
    """The scores of a system in each group."""

    system: str
    scores: Sequence[ScoreInGroup]


@dataclass(frozen=True)
class DifferenceInGroup:
    """The difference of two systems in a group, and p with Holm's correction over the groups."""

    group: str
    difference: float | None
    interval: tuple[float, float] | None
    p_holm: float | None


@dataclass(frozen=True)
class PairByGroups:
    """Two systems, the better one of all first; `p_holm`: that their difference is the same in all groups."""

    systems: tuple[str, str]
    p_holm: float | None
    groups: Sequence[DifferenceInGroup]


@dataclass(frozen=True)
class SystemsByGroup:
    """Systems, best first, in the groups `by` an attribute, and whether their differences depend on the group.

    `is_cut`: groups are ranges of numbers; `clusters`: by what errors are clustered. `p` that no difference depends on
    the group, `p_holm` with Holm's correction over the groupings, `f` and `df` of its test; `is_by_pairs`: it has none.
    `said`: what was found, and what was left out, in sentences. What is undefined is None, or an empty list.
    """

    by: str
    clusters: Sequence[str]
    said: Sequence[str]
    is_cut: bool
    groups: Sequence[str] = ()
    systems: Sequence[SystemInGroups] = ()
    p: float | None = None
    p_holm: float | None = None
    f: float | None = None
    df: Sequence[int | float] = ()
    is_by_pairs: bool = False
    pairs: Sequence[PairByGroups] = ()


def compare_by_groups(
    settings: AnalysisSettings, find: Callable[[], GroupedScores], *, higher_is_better: bool = True
) -> dict[str, Any]:
    """Return `groups` of a report, what `describe_groups` finds; nothing if the settings ask for none.

    `find` returns the scores that count, and is not called for nothing.
    """
    if not settings.groups:
        return {}
    found = find()
    asked = replace(found, attributes={name: found.attributes[name] for name in settings.groups})
    return {"groups": to_json(describe_groups(asked, higher_is_better=higher_is_better))}


def describe_groups(found: GroupedScores, *, higher_is_better: bool = True) -> list[SystemsByGroup]:
    """Return each grouping that was asked for: its groups, scores, tests, and what there is to say."""
    entries, effects = [], []
    for by, column in found.attributes.items():
        grouping = find_grouping(column)
        why_not = _why_not(by, grouping, found)
        shape = len(found.systems), len(grouping.labels)
        effect = None
        if not why_not:
            effect = compare_groups(
                found.values, found.system, grouping.code, shape, found.clusters, found.output, found.part
            )
        effects.append(effect)
        entries.append(_entry(by, grouping, effect, found, why_not))
    holm = adjust(np.array([effect.interaction.p_value if effect else np.nan for effect in effects]), "holm")
    tested = [replace(entry, p_holm=or_none(p)) for entry, p in zip(entries, holm, strict=True)]
    return [
        replace(entry, said=[*_findings(entry, higher_is_better=higher_is_better), *entry.said]) for entry in tested
    ]


def _why_not(by: str, grouping: Grouping, found: GroupedScores) -> str:
    """Return why systems are not compared in these groups; "" if they are."""
    n_groups, n_systems = len(grouping.labels), len(found.systems)
    if not n_groups:
        return f"No answer that counts has a value of {by}."
    if n_groups == 1:
        return f"All answers that count have the same {by}: {grouping.labels[0]}."
    if n_groups > MOST_GROUPS:
        return f"There are {n_groups:,} different values of {by}, and at most {MOST_GROUPS} groups are compared."
    if n_systems * n_groups > MOST_CELLS:
        what = f"{counted(n_systems, 'system')} in {counted(n_groups, 'group')} of {by}"
        return f"{what} are too many: at most {MOST_CELLS} scores of systems in groups are compared."
    return ""


def _entry(
    by: str, grouping: Grouping, effect: GroupEffects | None, found: GroupedScores, why_not: str
) -> SystemsByGroup:
    clusters = list(found.clusters)
    if effect is None:
        return SystemsByGroup(by, clusters, [why_not], grouping.is_cut)
    names, test = grouping.labels, effect.interaction
    place = {code: k for k, code in enumerate(found.order)}
    return SystemsByGroup(
        by,
        clusters,
        _left_out(by, grouping, effect, found),
        grouping.is_cut,
        groups=names,
        systems=[
            SystemInGroups(
                found.systems[code],
                [
                    ScoreInGroup(
                        name,
                        or_none(effect.mean[code, k]),
                        _interval(effect.low[code, k], effect.high[code, k]),
                        int(effect.n[code, k]),
                    )
                    for k, name in enumerate(names)
                ],
            )
            for code in found.order
        ],
        p=or_none(test.p_value),
        f=or_none(test.f),
        df=[] if np.isnan(test.f) else [test.df, test.df_error],
        is_by_pairs=test.is_by_pairs,
        pairs=[
            _pair(pair, names, found, is_turned=place[pair.systems[0]] > place[pair.systems[1]])
            for pair in sorted(effect.pairs, key=lambda pair: sorted(place[code] for code in pair.systems))
            if not np.isnan(pair.difference).all()
        ],
    )


def _pair(pair: PairInGroups, names: Sequence[str], found: GroupedScores, *, is_turned: bool) -> PairByGroups:
    first, second = (found.systems[code] for code in pair.systems)
    sign = -1 if is_turned else 1
    bounds = np.sort(sign * np.array([pair.low, pair.high]), axis=0)
    return PairByGroups(
        (second, first) if is_turned else (first, second),
        or_none(pair.p_holm),
        [
            DifferenceInGroup(
                name,
                or_none(sign * pair.difference[k]),
                _interval(bounds[0, k], bounds[1, k]),
                or_none(pair.holm[k]),
            )
            for k, name in enumerate(names)
        ],
    )


def _interval(low: float, high: float) -> tuple[float, float] | None:
    return None if np.isnan(low) or np.isnan(high) else (float(low), float(high))


def _left_out(by: str, grouping: Grouping, effect: GroupEffects, found: GroupedScores) -> list[str]:
    notes = []
    without = np.flatnonzero(grouping.code < 0)
    if n_without := n_distinct(without if found.answer is None else found.answer[without]):
        notes.append(f"Answers without a value of {by}, which are left out: {n_without:,}.")
    few = [name for name, is_tested in zip(grouping.labels, effect.is_tested, strict=True) if not is_tested]
    if few and effect.is_tested.any():
        least = " and ".join(counted(LEAST_CLUSTERS, name) for name in found.clusters)
        notes.append(f"Too few answers for tests, which need {least} of two systems: {by} {listed(few)}.")
    return notes


def groups_sections(result: Result, *, score: str, decimals: int = 2, note: str = "") -> list[Section]:
    """Return what was found in the groups that were asked for, and a section of each grouping; nothing if none were.

    `score`: what scores are called; `note`: what they are, where they are others than those of the ranking.
    """
    entries = from_json(result.own.get("groups", []), list[SystemsByGroup])
    if not entries:
        return []
    shown = [entry for entry in entries if entry.groups]
    said = " ".join(sentence for entry in entries for sentence in entry.said)
    sections = [Section("groups", "By groups", said, [_tests_table(shown)] if shown else [], page=PAGE)]
    for number, entry in enumerate(shown, start=1):
        title = f"By {entry.by}"
        tables = [_scores_table(entry, score, decimals, note), _pairs_table(entry, decimals)]
        alt = f"{score} of each system in each group, with 95 % intervals; the table has the numbers."
        figure = Figure(f"groups-{entry.by}", title, Picture.of(draw_groups, entry, score), alt)
        sections.append(Section(f"groups-{number}", title, "", tables, [figure] if _drawn(entry) else [], page=PAGE))
    return sections


def _findings(entry: SystemsByGroup, *, higher_is_better: bool) -> Iterable[str]:
    """Yield whether differences of systems depend on the group, and of which pairs."""
    by, p = entry.by, entry.p_holm
    if p is not None and p < ALPHA:
        yield f"Differences of systems depend on {by} (p {p_equals(p)})."
        said = [
            _of_pair(entry, pair, higher_is_better=higher_is_better)
            for pair in entry.pairs
            if pair.p_holm is not None and pair.p_holm < ALPHA
        ]
        yield from said[:_MOST_SENTENCES]
        if len(said) > _MOST_SENTENCES:
            yield f"So do those of {counted(len(said) - _MOST_SENTENCES, 'more pair')}."
    elif p is not None:
        yield f"No sign that differences of systems depend on {by} (p {p_equals(p)})."
    elif len(entry.systems) == 1:
        yield f"There is one system, and so no difference that could depend on {by}."
    elif entry.groups:
        why = f"its groups have too few {' or '.join(f'{name}s' for name in entry.clusters)}, or nothing varies"
        yield f"Whether differences of systems depend on {by} cannot be tested: {why}."


def _of_pair(entry: SystemsByGroup, pair: PairByGroups, *, higher_is_better: bool) -> str:
    """Return in which groups which of two systems is better."""
    first, second = pair.systems
    where: dict[str, list[str]] = {first: [], second: [], "": []}
    for in_group in pair.groups:
        if in_group.difference is None:
            continue
        is_decided = in_group.p_holm is not None and in_group.p_holm < ALPHA
        winner = (first if (in_group.difference > 0) == higher_is_better else second) if is_decided else ""
        where[winner].append(in_group.group)

    def groups(names: Sequence[str]) -> str:
        ranges = listed([f"from {name}" if " to " in name else f"at {name}" for name in names], "or")
        return f"with {entry.by} {ranges}" if entry.is_cut else f"in {listed(names)}"

    parts = [
        f"{name} is better than {other} {groups(where[name])}"
        for name, other in ((first, second), (second, first))
        if where[name]
    ]
    if not parts:
        return f"The difference of {first} and {second} depends on {entry.by}, and is open in each group alone."
    rest = where[""]
    not_in = f", not {groups(rest)}" if rest and len(parts) == 1 else ""
    return f"{', '.join(parts)}{not_in}."


def _tests_table(entries: Sequence[SystemsByGroup]) -> Table:
    rows: list[list[Cell]] = []
    for entry in entries:
        df, df_error = entry.df or (None, None)
        rows.append([entry.by, len(entry.groups), entry.f, df, df_error, entry.p, entry.p_holm])
    columns = [Column("groups of"), Column("groups"), Column("F", 2), Column("df", 0), Column("df of errors", 1)]
    columns += [Column("p", 4, is_p=True), Column("p (Holm)", 4, is_p=True)]
    caption = (
        "Whether differences of systems depend on the group. Errors are clustered by "
        f"{listed(entries[0].clusters)}; the largest p of the clusterings counts. Corrected over the groupings."
    )
    if any(entry.is_by_pairs for entry in entries):
        caption += " Without F: the least p of all pairs of systems, times their number."
    return Table("group-tests", "Systems and groups", caption, columns, rows)


def _scores_table(entry: SystemsByGroup, score: str, decimals: int, note: str) -> Table:
    by = entry.by
    rows: list[list[Cell]] = [
        [in_group.group, row.system, in_group.score, *(in_group.interval or (None, None)), in_group.n]
        for k in range(len(entry.groups))
        for row in entry.systems
        for in_group in [row.scores[k]]
    ]
    columns = [Column(by), Column("system"), Column(score, decimals), Column("low", decimals), Column("high", decimals)]
    n_systems = len(entry.systems)
    rules = frozenset(k * n_systems - 1 for k in range(1, len(entry.groups)))
    cut = " Numbers are cut into quarters of the answers." if entry.is_cut else ""
    caption = f"Scores of systems by {by}, with the 95 % interval of each alone.{cut} {note}".strip()
    return Table(f"groups-{by}", f"By {by}", caption, [*columns, Column("n")], rows, rules=rules, row_name=1)


def _pairs_table(entry: SystemsByGroup, decimals: int) -> Table:
    by = entry.by
    rows: list[list[Cell]] = [
        [*pair.systems, in_group.group, in_group.difference, low, high, in_group.p_holm, pair.p_holm]
        for pair in entry.pairs
        for in_group in pair.groups
        for low, high in [in_group.interval or (None, None)]
    ]
    columns = [Column("system"), Column("other"), Column(by), Column("difference", decimals), Column("low", decimals)]
    columns += [Column("high", decimals), Column("p (Holm)", 4, is_p=True), Column("p of the groups", 4, is_p=True)]
    caption = (
        f"Differences of every two systems by {by}. p is two-sided, corrected over the groups; p of the groups: that "
        "the difference is the same in all of them, corrected over the pairs. Low and high: 95 % interval alone."
    )
    output = Output.FILES | (Output.PAGE if len(rows) <= _MOST_ROWS_SHOWN else Output(0))
    return Table(f"group-pairs-{by}", f"Pairs of systems by {by}", caption, columns, rows, output=output)


def _drawn(entry: SystemsByGroup) -> list[float]:
    """Return the numbers that a figure of a grouping shows."""
    scores = [in_group for row in entry.systems for in_group in row.scores]
    return [value for in_group in scores for value in in_group.interval or [in_group.score] if value is not None]


def draw_groups(entry: SystemsByGroup, label: str, theme: Theme) -> "Drawing":
    """Draw a panel for each group: the score of each system and its interval, the best of all on top."""
    systems = entry.systems
    figure, panels = theme.grid(len(entry.groups), _PANEL_WIDTH, 1.0 + _ROW_HEIGHT * len(systems))
    known = _drawn(entry)
    margin = 0.05 * (max(known) - min(known) or 1)
    for k, (axes, group) in enumerate(zip(panels, entry.groups, strict=False)):
        for place, row in enumerate(reversed(systems)):
            in_group = row.scores[k]
            if in_group.interval:
                axes.plot(in_group.interval, [place, place], color=theme.accent, linewidth=2)
            if in_group.score is not None:
                axes.plot(in_group.score, place, "o", color=theme.ink, markersize=4)
        axes.set_title(short_label(group), color=theme.ink, fontsize=9)
        axes.set_yticks(range(len(systems)), [short_label(row.system) for row in reversed(systems)])
        axes.set(ylim=(-0.6, len(systems) - 0.4), xlim=(min(known) - margin, max(known) + margin))
        axes.set_xlabel(label, fontsize=8)
        axes.tick_params(labelsize=8)
        axes.grid(axis="x", color=theme.faint, linewidth=0.6)
    return figure
