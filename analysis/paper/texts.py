"""The paragraphs of a paper on methods and results, in plain English; every number is the stored report's or the
campaign's.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from analysis.exports import escape_latex
from analysis.findings import find
from analysis.methods import sections_of
from analysis.methods.direct_assessment import N_BOOTSTRAP
from analysis.methods.recommended_comparison import procedure_of, winner
from analysis.paper.facts import CampaignFacts
from analysis.results import ALPHA, get_ranking, get_totals
from analysis.stats.procedures import Procedure
from analysis.stats.scores import Unit
from analysis.words import number, protocol_title
from campaigns.design.composition import KINDS
from campaigns.design.worker_test import NO_TEST, WORKER_TESTS
from evalsite import __version__
from evalsite.lib.words import counted

Report = Mapping[str, Any]
_MOST_NAMED, _MOST_QUOTED = 12, 8
_ISOLATES = str.maketrans("", "", "\u2066\u2067\u2068\u2069")
_SIGNS = {
    "−": "$-$",
    "–": "--",
    "“": "``",
    "”": "''",
    "’": "'",
    "α": r"$\alpha$",
    "κ": r"$\kappa$",
    "ρ": r"$\rho$",
    "τ": r"$\tau$",
}
_TESTS = {
    "paired-wilcoxon": "Wilcoxon signed-rank test",
    "unpaired-ranksum": "rank-sum test",
    "paired-t": "paired t-test",
}
assert set(_TESTS) == set(WORKER_TESTS) - {NO_TEST}
_COMPARED = {
    Procedure.CLUSTERED: "Because ratings share workers and sources, we also compared systems by least squares of z "
    "with random effects of sources and with errors clustered by worker and by source, p corrected by Holm's method.",
    Procedure.CROSSED: "Because ratings share workers and sources, we also compared systems by a mixed model of z "
    "(REML) with random effects of workers, workers by systems, sources and outputs, t tests with Satterthwaite's "
    "degrees of freedom, p corrected by Holm's method.",
    Procedure.PERMUTED: "Because ratings share workers and sources, we also compared systems by permutation tests that "
    "exchange the labels of two systems within sources, or within workers where sources are not known, of differences "
    "over standard errors clustered by worker and by source, p corrected by Holm's method.",
}
_CONCLUDED = {
    Procedure.CLUSTERED: "With errors clustered by worker and by source",
    Procedure.CROSSED: "By the mixed model",
    Procedure.PERMUTED: "By the permutation tests",
}


@dataclass(frozen=True)
class Text:
    """A paragraph for a paper: a key, its title and its sentences."""

    name: str
    title: str
    sentences: Sequence[str]

    @property
    def plain(self) -> str:
        """The paragraph as plain text."""
        return " ".join(self.sentences).translate(_ISOLATES)

    @property
    def latex(self) -> str:
        """The paragraph for LaTeX, a sentence a line; letters of other scripts need XeLaTeX or LuaLaTeX."""
        return "\n".join(to_latex(sentence) for sentence in self.sentences)


def to_latex(text: str) -> str:
    """Return text that LaTeX prints as it is."""
    escaped = escape_latex(text.translate(_ISOLATES))
    for sign, code in _SIGNS.items():
        escaped = escaped.replace(sign, code)
    return escaped


def paper_texts(report: Report, facts: CampaignFacts | None = None) -> list[Text]:
    """Return the paragraphs of methods and results; without facts of a campaign, only what the ratings say."""
    return [
        Text("methods", "Methods", [*_design(report, facts), *_analysis(report)]),
        Text("results", "Results", _results(report)),
    ]


def listed(parts: Sequence[str], most: int = _MOST_NAMED) -> str:
    """Return words as a list in a sentence; of many the first ones and how many more there are."""
    if len(parts) > most:
        return f"{', '.join(parts[:most])} and {len(parts) - most:,} more"
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


# --- Methods


def _design(report: Report, facts: CampaignFacts | None) -> list[str]:
    """Return what was rated, on which criteria, in which HITs, and by whom."""
    names = [row["system"] for row in report["summary"]["systems"]]
    protocol = protocol_title(report["settings"]["protocol"])
    systems = f"{counted(len(names), 'system')} ({listed(names)})" if names else "no system"
    if facts is None:
        said = [f"We analyse human ratings of {systems} (protocol: {protocol})."]
    elif facts.is_live:
        topic = "chose the topic" if facts.opening == "free" else "were given an ice-breaker"
        said = [
            (
                f"Human raters chatted with {systems} and rated each chat after it (protocol: {protocol}). They "
                f"{topic} and wrote at least {counted(facts.min_inputs, 'message')} a chat."
            )
        ]
    else:
        said = [
            (
                f"Human raters assessed {counted(facts.n_outputs, 'output')} of {systems} for "
                f"{counted(facts.n_sources, 'source')} (protocol: {protocol})."
            )
        ]
    return [*said, *_criteria(report), *(hits(facts) + recruitment(facts) if facts else [])]


def _criteria(report: Report) -> list[str]:
    criteria = report["settings"]["criteria"]
    of_all = report["settings"].get("scale") or (0, 100)
    scales = ["{:g} to {:g}".format(*(each.get("scale") or of_all)) for each in criteria]
    is_one = len(set(scales)) == 1
    own = [""] * len(criteria) if is_one else [f", from {scale}" for scale in scales]
    quoted = [
        each["name"] + (f" (“{each['statement']}”{scale})" if each["statement"] else scale)
        for each, scale in zip(criteria, own, strict=True)
    ]
    noun = "one criterion" if len(criteria) == 1 else f"{len(criteria)} criteria"
    scale = f" on a scale from {scales[0]}" if is_one else ""
    said = [f"Each item was rated on {noun}{scale}: {listed(quoted, _MOST_QUOTED)}."]
    if negative := [each["name"] for each in criteria if each["is_negative"]]:
        said.append(f"Agreement is bad on {listed(negative)}: these scores were reversed.")
    return said


def hits(facts: CampaignFacts) -> list[str]:
    """Return how a HIT is made up, with or without quality-control items."""
    what = ("chat" if facts.is_live else "output", "degraded item", "exact repeat", "reference item")
    parts = [counted(n, noun) for n, noun in zip((facts.n_ordinary, *facts.n_copies), what, strict=True) if n]
    if facts.has_given_hits:
        said = [f"The {counted(facts.n_hits, 'HIT')} came with the data."]
    elif facts.has_controls:
        said = [f"A HIT had {counted(facts.hit_size, 'item')} in random order: {listed(parts)}."]
    else:
        said = [f"A HIT had {counted(facts.n_ordinary, what[0])} in random order and no quality-control items."]
    each = "by one worker" if facts.workers_per_hit == 1 else f"by {facts.workers_per_hit} workers"
    at_most = f"; a worker did at most {counted(facts.hits_per_worker, 'HIT')}" if facts.hits_per_worker else ""
    return [*said, f"There were {counted(facts.n_hits, 'HIT')}, each to be rated {each}{at_most}."]


def recruitment(facts: CampaignFacts) -> list[str]:
    """Return where workers came from, and what they were paid."""
    if facts.platform:
        said = [f"Workers were recruited on {facts.platform}."]
    elif facts.is_invited:
        said = ["Raters were invited by personal links."]
    else:
        said = ["Raters took part by an open link."]
    if facts.reward:
        reward = f"{facts.currency} {facts.reward:.2f} per HIT"
        hourly = (
            f", which is {facts.currency} {facts.hourly_reward:.2f} per hour at {facts.minutes_per_hit} minutes per HIT"
            if facts.hourly_reward is not None
            else ""
        )
        said.append(f"The reward was {reward}{hourly}, whatever the worker test said.")
    else:
        said.append("They were not paid by the HIT.")
    return [*said, *([f"Ratings {period(facts.started, facts.ended)}."] if facts.started else [])]


def period(started: date, ended: date | None) -> str:
    """Return when ratings were collected, as the end of a sentence."""
    first = f"{started.day} {started:%B %Y}"
    if ended is None:
        return f"have been collected since {first}"
    if ended == started:
        return f"were collected on {first}"
    return f"were collected from {first} to {ended.day} {ended:%B %Y}"


def _analysis(report: Report) -> list[str]:
    """Return whose ratings count, how scores were standardised, and how systems were compared."""
    said = exclusion(report)
    if report["summary"]["systems"]:
        said = [*said, *standardisation(report["settings"]), *comparison(report)]
    return [*said, f"The analysis was done with evalsite {__version__}."]


def standardisation(settings: Mapping[str, Any]) -> list[str]:
    """Return how scores become those of systems, from a run's settings."""
    kinds = settings["standardised_kinds"]
    of = "all their scores" if len(kinds) == len(KINDS) else f"their scores of {listed(kinds)} items"
    criteria = "" if len(settings["criteria"]) == 1 else "; criteria count alike"
    said = [
        f"Each worker's scores were standardised by the mean and the standard deviation of {of} (z scores).",
        f"A system's score is the mean z of its items{criteria}.",
    ]
    return [*said, *(["All ratings of one output were averaged first."] if settings["unit"] == Unit.OUTPUT else [])]


def comparison(report: Report) -> list[str]:
    """Return by which tests systems were compared."""
    said = [
        (
            f"Every two systems were compared by one-sided rank-sum tests of z at p < {ALPHA:g}, not corrected for the "
            "number of pairs."
        ),
    ]
    if _tested(report):
        said.append(_COMPARED[procedure_of(report["recommended"])])
        said += _looks(report["recommended"])
    return [*said, f"Intervals of 95 % are percentile bootstrap intervals over items ({N_BOOTSTRAP:,} resamples)."]


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


def exclusion(report: Report) -> list[str]:
    """Return which workers count, and how many."""
    totals, workers = get_totals(report), report["summary"]["workers"]
    n_excluded = totals.n_excluded
    by_hand = f" {counted(n_excluded, 'worker')} {'was' if n_excluded == 1 else 'were'} excluded by hand."
    if not totals.has_test:
        who = "all ratings count" if not n_excluded else "all other ratings count"
        said = f"No worker test was applied: {who}, by {counted(totals.n_counted, 'worker')}."
        return [said + (by_hand if n_excluded else "")]
    test = WORKER_TESTS[totals.worker_test]
    rule = (
        f"A worker's ratings count only if degraded items were rated lower than {test.others} "
        f"({_TESTS[totals.worker_test]}, one-sided, p < {totals.alpha:g})."
    )
    ends = [f"{workers['passed']:,} passed", f"{workers['failed']:,} failed"]
    ends += [f"{workers['untested']:,} could not be tested"] if workers["untested"] else []
    return [rule, f"Of {counted(workers['total'], 'worker')}, {listed(ends)}." + (by_hand if n_excluded else "")]


# --- Results


def _results(report: Report) -> list[str]:
    """Return who beats whom at which level, clusters, what is undecided, and how reliable it is."""
    *systems, workers = find(report) if len(find(report)) > 1 else ["", *find(report)]
    scored = [row for row in get_ranking(report).rows if row.z is not None]
    said = [workers]
    if len(scored) > 1:
        first, last = scored[0], scored[-1]
        said.append(f"Mean z lies between {number(last.z)} ({last.system}) and {number(first.z)} ({first.system}).")
    said += [sentence for sentence in systems if sentence]
    clusters = report["summary"]["clusters"]
    if 1 < len(clusters) < len(scored) <= _MOST_NAMED:
        said.append(f"Systems form {len(clusters)} clusters, best first: {'; '.join(map(', '.join, clusters))}.")
    return [*said, *_recommended(report), *_reliability(report)]


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
    named = f"; undecided: {'; '.join(undecided)}" if 0 < len(undecided) <= _MOST_NAMED else ""
    return [f"{said}{named}."]


def _reliability(report: Report) -> list[str]:
    """Return what the page of reliability says, where there is anything to measure."""
    return [section.finding for section in sections_of(report, "reliability") if section.tables_shown]
