"""What a paper says of a study of direct assessment: its scores, its tests, and what they found."""

from collections.abc import Mapping
from typing import Any

from analysis.methods.study.direct_assessment import N_BOOTSTRAP
from analysis.results.findings import find
from analysis.results.paper.texts import MOST_NAMED, listed
from analysis.results.procedures import procedure_of, winner
from analysis.results.report_sections import sections_of
from analysis.results.stored import Report
from analysis.results.values import get_ranking, is_corrected
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


def standardisation(settings: Mapping[str, Any]) -> list[str]:
    """Return how scores become those of systems, from a run's settings."""
    kinds = settings["standardised_kinds"]
    of = "all their scores" if len(kinds) == len(ANALYSED_KINDS) else f"their scores of {listed(kinds)} items"
    criteria = "" if len(settings["criteria"]) == 1 else "; criteria count alike"
    said = [
        f"Each worker's scores were standardised by the mean and the standard deviation of {of} (z scores).",
        f"A system's score is the mean z of its items{criteria}.",
    ]
    return [*said, *(["All ratings of one output were averaged first."] if settings["unit"] == Unit.OUTPUT else [])]


def comparison(report: Report) -> list[str]:
    """Return by which tests systems were compared."""
    studies = f"one-sided rank-sum tests of z at p < {ALPHA:g}, not corrected for the number of pairs."
    shared = "Because ratings share workers and sources,"
    intervals = f"Intervals of 95 % are percentile bootstrap intervals over items ({N_BOOTSTRAP:,} resamples)."
    if not _tested(report):
        return [f"Every two systems were compared by {studies}", intervals]
    found = report["recommended"]
    how, looks = _COMPARED[procedure_of(found)], _looks(found)
    if is_corrected(report):
        return [f"{shared} every two systems were compared {how}", *looks, f"Beside it stand {studies}", intervals]
    also = f"{shared} we also compared systems {how}"
    return [f"Every two systems were compared by {studies}", also, *looks, intervals]


def _looks(found: Report) -> list[str]:
    """Return what of the recommended comparison follows from looking at ratings while they came."""
    said = []
    if found.get("workers_planned"):
        said.append(
            "Because ratings were looked at while they came, its intervals and p are those of confidence "
            "sequences, which hold at all looks together."
        )
    if found.get("is_weighted"):
        said.append(
            "HITs of undecided pairs were given out more often, and its ratings are weighted by the inverse of the "
            "probabilities."
        )
    return said


def results(report: Report) -> list[str]:
    """Return who beats whom at which level, clusters, what is undecided, and how reliable it is."""
    *systems, workers = find(report) if len(find(report)) > 1 else ["", *find(report)]
    scored = [row for row in get_ranking(report).rows if row.z is not None]
    said = [workers]
    if len(scored) > 1:
        first, last = scored[0], scored[-1]
        said.append(f"Mean z lies between {number(last.z)} ({last.system}) and {number(first.z)} ({first.system}).")
    said += [sentence for sentence in systems if sentence]
    clusters = report["summary"]["clusters"]
    if 1 < len(clusters) < len(scored) <= MOST_NAMED:
        said.append(f"Systems form {len(clusters)} clusters, best first: {'; '.join(map(', '.join, clusters))}.")
    return [*said, *([] if is_corrected(report) else _recommended(report)), *_reliability(report)]


def _tested(report: Report) -> list[Mapping[str, Any]]:
    """Return the pairs that the recommended comparison could compare."""
    return [pair for pair in report.get("recommended", {}).get("pairs", []) if pair["p_holm"] is not None]


def _recommended(report: Report) -> list[str]:
    pairs = _tested(report)
    if not pairs:
        return []
    undecided = [" and ".join(pair["systems"]) for pair in pairs if winner(pair) is None]
    said = (
        f"{_CONCLUDED[procedure_of(report['recommended'])]}, {len(pairs) - len(undecided):,} of "
        f"{counted(len(pairs), 'pair')} {'differs' if len(pairs) == 1 else 'differ'} at a corrected p < {ALPHA:g}"
    )
    named = f"; undecided: {'; '.join(undecided)}" if 0 < len(undecided) <= MOST_NAMED else ""
    return [f"{said}{named}."]


def _reliability(report: Report) -> list[str]:
    """Return what the page of reliability says, where there is anything to measure."""
    return [section.finding for section in sections_of(report, "reliability") if section.tables_shown]
