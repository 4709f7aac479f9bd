"""How many HITs, ratings and rewards a design comes to, before the HITs are built or after."""

from dataclasses import dataclass
from decimal import Decimal

from campaigns.building.inputs import BuildInputs, make_plan

# METHOD §8: the studies' rule of thumb for telling systems apart.
RATINGS_WANTED = 385


@dataclass(frozen=True)
class BuildEstimate:
    """What HITs come to with all their workers.

    `ratings` has each system's name and its ratings per criterion, a repeat and its twin counted as one, in the order
    of names. Outputs used and left out are outputs that are, and are not, an ordinary item of some HIT; a reuse is an
    ordinary item whose output is already in another HIT. `cost` is without platform fees.
    """

    n_hits: int
    n_items: int
    n_assignments: int
    n_outputs_used: int
    n_outputs_left_out: int
    n_reuses: int
    n_sources_left_out: int
    ratings: tuple[tuple[str, int], ...]
    cost: Decimal

    @property
    def fewest_ratings(self) -> int:
        """Ratings per criterion of the system that has the fewest."""
        return min((n for _, n in self.ratings), default=0)

    @property
    def most_ratings(self) -> int:
        """Ratings per criterion of the system that has the most."""
        return max((n for _, n in self.ratings), default=0)

    @property
    def n_few_ratings(self) -> int:
        """Number of systems that have fewer ratings than the studies' rule of thumb asks for."""
        return sum(n < RATINGS_WANTED for _, n in self.ratings)


def estimate_of(inputs: BuildInputs, *, workers_per_hit: int, reward: Decimal) -> BuildEstimate:
    """Return what the HITs would come to; raise DomainError, with the numbers, if they cannot be built."""
    totals = make_plan(inputs).totals
    counts = totals.ratings_per_system.tolist()
    counts += [0] * (len(inputs.system_names) - len(counts))
    n_assignments = totals.n_hits * workers_per_hit
    return BuildEstimate(
        n_hits=totals.n_hits,
        n_items=totals.n_items,
        n_assignments=n_assignments,
        n_outputs_used=totals.n_outputs_used,
        n_outputs_left_out=totals.n_outputs_left_out,
        n_reuses=totals.n_reuses,
        n_sources_left_out=totals.n_sources_left_out,
        ratings=tuple((name, n * workers_per_hit) for name, n in zip(inputs.system_names, counts, strict=True)),
        cost=n_assignments * reward,
    )
