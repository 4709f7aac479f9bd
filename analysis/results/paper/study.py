"""What a paper says of a study of direct assessment: its scores, its tests, and what they found."""

from analysis.methods.study.direct_assessment import N_BOOTSTRAP
from analysis.results.paper.texts import MOST_NAMED, listed
from analysis.results.result import Pair, RecommendedPairs, Result, SettingsUsed
from analysis.results.words import number
from analysis.stats.procedures import ALPHA, Procedure
from analysis.stats.scores import Unit
from campaigns.design.composition import ANALYSED_KINDS
from evalsite.lib.words import counted

_COMPARED = {
    Procedure.CLUSTERED: "by least squares of z with random effects of sources and with errors clustered by worker and "
    "by source, p corrected by Holm's method.",
    Procedure.CROSSED: "by a mixed model of z (REML) with random effects of workers, workers by systems, sources and "
    "outputs, t tests with Satterthwaite's degrees of freedom, p corrected by Holm's method.",
    Procedure.PERMUTED: "by permutation tests that exchange the labels of two systems within sources, or within "
    "workers where sources are not known, of differences over standard errors clustered by worker and by source, p "
    "corrected by Holm's method.",
}
_CONCLUDED = {
    Procedure.CLUSTERED: "With errors clustered by worker and by source",
    Procedure.CROSSED: "By the mixed model",
    Procedure.PERMUTED: "By the permutation tests",
}


def standardisation(settings: SettingsUsed) -> list[str]:
    """Return how scores become those of systems, from a run's settings."""
    kinds = settings.standardised_kinds
    of = "all their scores" if len(kinds) == len(ANALYSED_KINDS) else f"their scores of {listed(kinds)} items"
    criteria = "" if len(settings.criteria) == 1 else "; criteria count alike"
    said = [
        f"Each worker's scores were standardised by the mean and the standard deviation of {of} (z scores).",
        f"A system's score is the mean z of its items{criteria}.",
    ]
    return [*said, *(["All ratings of one output were averaged first."] if settings.unit == Unit.OUTPUT else [])]


def comparison(result: Result) -> list[str]:
    """Return by which tests systems were compared."""
    studies = f"one-sided rank-sum tests of z at p < {ALPHA:g}, not corrected for the number of pairs."
    shared = "Because ratings share workers and sources,"
    intervals = f"Intervals of 95 % are percentile bootstrap intervals over items ({N_BOOTSTRAP:,} resamples)."
    found = result.recommended
    if found is None or not _tested(result):
        return [f"Every two systems were compared by {studies}", intervals]
    how, looks = _COMPARED[Procedure(found.procedure)], _looks(found)
    if result.is_corrected:
        return [f"{shared} every two systems were compared {how}", *looks, f"Beside it stand {studies}", intervals]
    also = f"{shared} we also compared systems {how}"
    return [f"Every two systems were compared by {studies}", also, *looks, intervals]


def _looks(found: RecommendedPairs) -> list[str]:
    """Return what of the recommended comparison follows from looking at ratings while they came."""
    said = []
    if found.workers_planned:
        said.append(
            "Because ratings were looked at while they came, its intervals and p are those of confidence "
            "sequences, which hold at all looks together."
        )
    if found.is_weighted:
        said.append(
            "HITs of undecided pairs were given out more often, and its ratings are weighted by the inverse of the "
            "probabilities."
        )
    return said


def results(result: Result) -> list[str]:
    """Return who beats whom at which level, clusters, what is undecided, and how reliable it is."""
    *systems, workers = result.findings
    scored = list(result.scored.items())
    said = [workers]
    if len(scored) > 1:
        (first, high), (last, low) = scored[0], scored[-1]
        said.append(f"Mean z lies between {number(low)} ({last}) and {number(high)} ({first}).")
    said += systems
    clusters = result.summary.clusters
    if isinstance(clusters, list) and 1 < len(clusters) < len(scored) <= MOST_NAMED:
        said.append(f"Systems form {len(clusters)} clusters, best first: {'; '.join(map(', '.join, clusters))}.")
    measured = [section.finding for section in result.sections_on("reliability") if section.tables_shown]
    return [*said, *([] if result.is_corrected else _recommended(result)), *measured]


def _tested(result: Result) -> list[Pair]:
    """Return the pairs that the recommended comparison could compare."""
    return [pair for pair in result.pairs if pair.p_holm is not None]


def _recommended(result: Result) -> list[str]:
    pairs, place = _tested(result), list(result.systems).index
    if not pairs or result.recommended is None:
        return []
    undecided = [" and ".join(sorted(pair.systems, key=place)) for pair in pairs if not pair.differs]
    said = (
        f"{_CONCLUDED[Procedure(result.recommended.procedure)]}, {len(pairs) - len(undecided):,} of "
        f"{counted(len(pairs), 'pair')} {'differs' if len(pairs) == 1 else 'differ'} at a corrected p < {ALPHA:g}"
    )
    named = f"; undecided: {'; '.join(undecided)}" if 0 < len(undecided) <= MOST_NAMED else ""
    return [f"{said}{named}."]
