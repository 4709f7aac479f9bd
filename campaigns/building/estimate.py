"""How many HITs, ratings and rewards a design comes to, before the HITs are built or after."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

from campaigns.building.inputs import BuildInputs
from campaigns.building.planning import make_plan
from campaigns.design.plan import PlanTotals

# METHOD §8: the studies' rule of thumb for telling systems apart.
RATINGS_WANTED = 385


@dataclass(frozen=True, kw_only=True)
class BuildEstimate(PlanTotals):
    """What HITs come to: a plan's totals, and with all their workers."""

    system_names: Sequence[str]
    workers_per_hit: int
    reward: Decimal

    @property
    def n_assignments(self) -> int:
        """HITs times the workers of each."""
        return self.n_hits * self.workers_per_hit

    @property
    def cost(self) -> Decimal:
        """Rewards, without platform fees."""
        return self.n_assignments * self.reward

    @cached_property
    def ratings(self) -> tuple[tuple[str, int], ...]:
        """Each system's name and its ratings per criterion, a repeat and its twin counted as one, by name."""
        counts = (self.ratings_per_system * self.workers_per_hit).tolist()
        # The last systems may have no outputs.
        return tuple((dict.fromkeys(self.system_names, 0) | dict(zip(self.system_names, counts, strict=False))).items())

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
    totals = vars(make_plan(inputs).totals)
    return BuildEstimate(**totals, system_names=inputs.system_names, workers_per_hit=workers_per_hit, reward=reward)
