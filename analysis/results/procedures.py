"""What each procedure that compares systems concludes of every two of them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from analysis.results.result import Pair, Result
from analysis.results.sections import Cell, Column, Output, Table
from analysis.results.words import PROCEDURES
from analysis.stats.procedures import ALPHA, Procedure, Procedures
from analysis.stats.ratings import or_none
from evalsite.lib.typed_json import from_json
from evalsite.lib.words import counted

PAIRS_SHOWN = 66  # those of twelve systems; the file has all
BETTER, UNDEFINED = "better", "cannot be compared"


def better_of(systems: Sequence[str], difference: float | None, p: float | None) -> str | None:
    """Return which of two systems is better, by the first one's difference to the second and p; None if it is open."""
    if p is None or p >= ALPHA:
        return None
    return systems[0 if difference is not None and difference > 0 else 1]


@dataclass(frozen=True)
class PairAtLook:
    """Two systems as a look at growing responses finds them: the difference is the first one less the second.

    `better`: the better one; None while it is open.
    """

    systems: tuple[str, str]
    difference: float | None
    low: float | None
    high: float | None
    p_holm: float | None
    better: str | None


def pairs_at_look(found: Iterable[Pair], names: Sequence[str]) -> list[PairAtLook]:
    """Return every two of the systems in the order of `names`; a pair that has no answer yet is undecided."""
    compared = {frozenset(pair.systems): pair for pair in found}
    return [_at_look(systems, compared.get(frozenset(systems))) for systems in combinations(names, 2)]


def _at_look(systems: tuple[str, str], found: Pair | None) -> PairAtLook:
    if found is None:
        return PairAtLook(systems, None, None, None, None, None)
    difference, (low, high) = found.difference, found.interval
    if found.systems != systems:
        difference, low, high = (None if value is None else -value for value in (difference, high, low))
    return PairAtLook(systems, difference, low, high, found.p_holm, found.systems[0] if found.differs else None)


@dataclass(frozen=True)
class OtherConclusion:
    """Difference and p of two systems by a procedure beside the one that was chosen."""

    difference: float | None
    p_holm: float | None


@dataclass(frozen=True, kw_only=True)
class ComparedPair:
    """Two systems: difference and p by the chosen procedure, and `others` by the names of theirs.

    `p_studies`: that either is better by the test of the studies; None where that is not known.
    """

    systems: tuple[str, str]
    difference: float | None
    p_holm: float | None
    p_studies: tuple[float | None, float | None] | None = None
    others: Mapping[Procedure, OtherConclusion] = field(default_factory=dict)

    @property
    def winner(self) -> str | None:
        """Which system is better by the chosen procedure; None if that is open."""
        return better_of(self.systems, self.difference, self.p_holm)

    @property
    def winner_in_studies(self) -> str | None:
        """Which system is better by the test of the studies; None if that is open."""
        known = zip(self.systems, self.p_studies or (), strict=False)
        return next((system for system, p in known if p is not None and p < ALPHA), None)


@dataclass(frozen=True, kw_only=True)
class ComparedByProcedures:
    """Every two systems by the chosen procedure and others, at p below `alpha`; results of before had one procedure."""

    pairs: Sequence[ComparedPair]
    alpha: float = ALPHA
    procedure: Procedure = Procedure.CLUSTERED


@dataclass(frozen=True, kw_only=True)
class RecommendedPair(ComparedPair):
    """Two systems, with the 95 % interval of their difference, and how many sources both are rated on."""

    low: float | None = None
    high: float | None = None
    n_shared_sources: int = 0


@dataclass(frozen=True)
class RanksOfSystem:
    """The best and the worst rank that a system may have."""

    system: str
    best: int
    worst: int


@dataclass(frozen=True, kw_only=True)
class Recommended(ComparedByProcedures):
    """The pairs of systems as they are ranked, the ranks that each may have, and how they were compared.

    `refused`: why a procedure says nothing.
    """

    pairs: Sequence[RecommendedPair]
    ranks: Sequence[RanksOfSystem] = ()
    has_sources: bool = True
    is_weighted: bool = False
    workers_planned: int | None = None
    refused: Mapping[Procedure, str] = field(default_factory=dict)
    n_decided: int | None = None


def recommended_of(result: Result) -> Recommended | None:
    """Return the recommended comparison of a result; None of one without."""
    return from_json(result.own["recommended"], Recommended) if "recommended" in result.own else None


def other_conclusions(procedures: Procedures, i: int, j: int) -> dict[Procedure, OtherConclusion]:
    """Return what each procedure beside the chosen one says of two systems, by their codes."""
    return {
        name: OtherConclusion(or_none(comparison.difference[i, j]), or_none(comparison.holm[i, j]))
        for name, comparison in procedures.found.items()
    }


def conclusions(pair: ComparedPair, procedure: Procedure) -> dict[Procedure, str]:
    """Return what each procedure concludes of a pair, the chosen one and that of the studies first."""
    said = {procedure: _in_words(pair.p_holm, pair.winner)}
    if pair.p_studies is not None:
        said[Procedure.STUDIES] = _in_words(1.0, pair.winner_in_studies)
    for name in Procedure:
        if other := pair.others.get(name):
            said[name] = _in_words(other.p_holm, better_of(pair.systems, other.difference, other.p_holm))
    return said


def _in_words(p: float | None, better: str | None) -> str:
    if p is None:
        return UNDEFINED
    return f"{better} is {BETTER}" if better else "no difference"


def procedure_tables(compared: ComparedByProcedures) -> list[Table]:
    """Return what each procedure concludes: of all pairs in files, on pages of those on which they disagree."""
    if not any(pair.others for pair in compared.pairs):
        return []
    rows = [(pair, conclusions(pair, compared.procedure)) for pair in compared.pairs]
    names = list(rows[0][1])
    titles = {name: title for name, (title, _) in PROCEDURES.items()} | {"studies": "rank-sum test of the studies"}
    columns = [Column("system"), Column("compared with"), *(Column(titles[name]) for name in names)]
    cells: list[list[Cell]] = [[*pair.systems, *(said[name] for name in names)] for pair, said in rows]
    apart = [row for row in cells if len(set(row[2:])) > 1]
    n = f"{len(apart):,} of {counted(len(cells), 'pair')}"
    who = "All but the studies' test" if Procedure.STUDIES in names else "They"
    caption = (
        f"The procedures disagree on {n}. {who} take account of shared workers and sources, from "
        f"different assumptions, and p with Holm's correction over all pairs, at p < {compared.alpha:g}."
    )
    shown = caption if len(apart) <= PAIRS_SHOWN else f"{caption} The first {PAIRS_SHOWN} are shown."
    tables = [Table("procedures", "What each procedure concludes", caption, columns, cells, output=Output.FILES)]
    if apart:
        where = Output.PAGE | Output.TERMINAL
        title = "Where procedures disagree"
        tables.append(Table("procedures", title, shown, columns, apart[:PAIRS_SHOWN], output=where))
    return tables
