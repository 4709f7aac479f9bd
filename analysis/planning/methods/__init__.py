"""The response methods whose campaigns can be planned, a file each: how they are simulated and spoken of."""

from analysis.planning.methods.choices import PlannedChoices
from analysis.planning.methods.edits import PlannedEdits
from analysis.planning.methods.esa import PlannedEsa
from analysis.planning.methods.facts import PlannedFacts
from analysis.planning.methods.levels import PlannedLevels
from analysis.planning.methods.magnitudes import PlannedMagnitudes
from analysis.planning.methods.planned import PlannedMethod, bad_plan
from analysis.planning.methods.rankings import PlannedBestWorst, PlannedRankings
from analysis.planning.methods.replies import PlannedReplies
from analysis.planning.methods.scores import PlannedScores
from analysis.planning.methods.spans import PlannedSpans
from analysis.planning.methods.votes import PlannedVotes

PLANNED: dict[str, type[PlannedMethod]] = {
    each.slug: each
    for each in (
        PlannedScores,
        PlannedSpans,
        PlannedEsa,
        PlannedVotes,
        PlannedRankings,
        PlannedBestWorst,
        PlannedLevels,
        PlannedMagnitudes,
        PlannedChoices,
        PlannedReplies,
        PlannedFacts,
        PlannedEdits,
    )
}
"""The methods that can be planned, by name."""


def planned_method(slug: str, difference: float, n_levels: int, outputs_per_page: int) -> PlannedMethod:
    """Return how a method is planned; raise DomainError `bad_plan` if it cannot be."""
    if slug not in PLANNED:
        raise bad_plan(f"There is no plan for the method “{slug}”. There are plans for: {', '.join(PLANNED)}.")
    return PLANNED[slug](difference, n_levels, outputs_per_page)
