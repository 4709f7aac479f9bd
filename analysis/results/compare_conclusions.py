"""What two results conclude of the same pairs of systems, overall and on each criterion, as sections. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from analysis.results.agreement_figures import draw_heatmaps
from analysis.results.replication import CONCLUSION_ALPHAS
from analysis.results.result import Result
from analysis.results.sections import Cell, Column, Figure, Output, Picture, Section, Table, in_percent
from analysis.stats.correlation import Conclusions, compare_conclusions, share_same_conclusions
from analysis.stats.ratings import Floats, or_none
from evalsite.lib.typed_json import to_json
from evalsite.lib.words import counted


def conclusions_sections(
    results: Sequence[Result], names: Sequence[str], criteria: Sequence[str], same: Mapping[str, float]
) -> list[Section]:
    """Return what two results conclude of every two of these systems, and of each of several shared criteria.

    The systems are in the order of the first result; `same` is the share of same conclusions at each α.
    """
    return [_overall(results, names, same), *_by_criterion(results, names, criteria)]


def _overall(results: Sequence[Result], names: Sequence[str], same: Mapping[str, float]) -> Section:
    p = [result.conclusions(names) for result in results]
    caption = (
        "Pairs of systems by what each result concludes by: the recommended comparison with Holm's correction, or the "
        "tests of the studies where these were chosen. Same conclusion: whether the system that the first result ranks "
        "above the other beats it."
    )
    counts = {f"{alpha:g}": compare_conclusions(p[0], p[1], alpha) for alpha in CONCLUSION_ALPHAS}
    rows: list[list[Cell]] = [
        [f"p < {alpha}", *asdict(each).values(), in_percent(same.get(alpha))] for alpha, each in counts.items()
    ]
    table = Table(
        "comparison-conclusions", "Conclusions of two results", caption, _columns("at"), rows, output=Output.SHOWN
    )
    figure = _heatmaps("comparison-heatmaps", "Significance in two results", names, p)
    last = list(counts)[-1]
    return Section("conclusions", "Conclusions", _words(counts[last], last), [table], [figure])


def _columns(first: str) -> list[Column]:
    columns = [Column(first), Column("pairs"), Column("same system better"), Column("neither better in both")]
    columns += [Column("better in the first only"), Column("better in the second only"), Column("contradicted")]
    return [*columns, Column("same conclusion, %", 1)]


def _heatmaps(name: str, title: str, names: Sequence[str], p: Sequence[Floats]) -> Figure:
    return Figure(
        name,
        title,
        Picture.of(draw_heatmaps, names, to_json(p[0]), to_json(p[1])),
        f"{title}: heatmaps of p between systems in both results, systems in the order of the first.",
        "p that the row’s system beats the column’s, both in the order of the first result.",
    )


def _words(found: Conclusions, alpha: str) -> str:
    if not found.n:
        return "No pair of systems was tested in both results."
    same = found.same_direction + found.both_open
    contradicted = (
        "None is contradicted."
        if not found.contradicted
        else (f"{counted(found.contradicted, 'pair')} contradicted: each result has the other system win.")
    )
    return f"At p < {alpha} the two results conclude the same of {same} of {counted(found.n, 'pair')}. {contradicted}"


def _by_criterion(results: Sequence[Result], names: Sequence[str], criteria: Sequence[str]) -> list[Section]:
    """Return what the tests of two results conclude on each criterion, systems in the order of the first result."""
    tests = {name: [result.tests_on(name, names) for result in results] for name in criteria}
    known = {name: [p for p in of if p is not None] for name, of in tests.items() if all(p is not None for p in of)}
    if not known:
        return []
    alpha = CONCLUSION_ALPHAS[-1]
    rows: list[list[Cell]] = []
    figures = []
    for name, p in known.items():
        share = or_none(share_same_conclusions(p[0], p[1], range(len(names)), alpha))
        rows.append([name, *asdict(compare_conclusions(p[0], p[1], alpha)).values(), in_percent(share)])
        figures.append(_heatmaps(f"comparison-heatmaps-{name}", f"Significance in two results: {name}", names, p))
    shares = [(float(row[-1]), str(row[0])) for row in rows if isinstance(row[-1], float)]
    said = ""
    if shares:
        (low, least), (high, most) = min(shares), max(shares)
        said = (
            f"At p < {alpha:g} the two results conclude the same of {high:.0f} % of the pairs on “{most}”, and of "
            f"{low:.0f} % on “{least}”."
        )
    caption = (
        f"Pairs of systems by what the one-sided rank-sum test of each result concludes on a criterion, at p < "
        f"{alpha:g}; systems in the order of the first result."
    )
    table = Table(
        "comparison-conclusions-criteria",
        "Conclusions of two results, by criterion",
        caption,
        _columns("criterion"),
        rows,
        output=Output.SHOWN,
    )
    return [Section("conclusions-criteria", "Conclusions by criterion", said, [table], figures)]
