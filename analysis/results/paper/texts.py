"""The paragraphs of a paper on methods and results, in plain English; every number is the stored report's or the
campaign's.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from analysis.results.exports import escape_latex
from analysis.results.paper.facts import CampaignFacts
from analysis.results.result import Result
from analysis.results.values import get_totals
from analysis.results.words import protocol_title
from campaigns.design.worker_test import NO_TEST, WORKER_TESTS
from evalsite.lib.version import __version__
from evalsite.lib.words import counted

MOST_NAMED = 12
"""So many names stand in a sentence at most."""
_MOST_QUOTED = 8
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
    "sign": "sign test",
}
assert set(_TESTS) == set(WORKER_TESTS) - {NO_TEST}


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


def paper_texts(result: Result, facts: CampaignFacts | None = None) -> list[Text]:
    """Return the paragraphs of methods and results; without facts of a campaign, only what the ratings say."""
    return [
        Text("methods", "Methods", [*_design(result, facts), *_analysis(result)]),
        Text("results", "Results", result.paper.found),
    ]


def listed(parts: Sequence[str], most: int = MOST_NAMED) -> str:
    """Return words as a list in a sentence; of many the first ones and how many more there are."""
    if len(parts) > most:
        return f"{', '.join(parts[:most])} and {len(parts) - most:,} more"
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


# --- Methods


def _design(result: Result, facts: CampaignFacts | None) -> list[str]:
    """Return what was rated, on which criteria, in which HITs, and by whom."""
    names = list(result.systems)
    protocol = protocol_title(result.settings.protocol)
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
    return [*said, *_criteria(result), *(hits(facts) + recruitment(facts) if facts else [])]


def _criteria(result: Result) -> list[str]:
    criteria = result.settings.criteria
    if not criteria:  # what was asked is not known of every file
        return []
    scales = ["{:g} to {:g}".format(*(each.scale or result.settings.scale or (0, 100))) for each in criteria]
    is_one = len(set(scales)) == 1
    own = [""] * len(criteria) if is_one else [f", from {scale}" for scale in scales]
    quoted = [
        each.name + (f" (“{each.statement}”{scale})" if each.statement else scale)
        for each, scale in zip(criteria, own, strict=True)
    ]
    noun = "one criterion" if len(criteria) == 1 else f"{len(criteria)} criteria"
    scale = f" on a scale from {scales[0]}" if is_one else ""
    said = [f"Each item was rated on {noun}{scale}: {listed(quoted, _MOST_QUOTED)}."]
    if negative := [each.name for each in criteria if each.is_negative]:
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


def _analysis(result: Result) -> list[str]:
    """Return whose ratings count, how scores were standardised, and how systems were compared."""
    said = exclusion(result)
    if result.systems:
        said = [*said, *result.paper.scored, *result.paper.compared]
    return [*said, f"The analysis was done with evalsite {__version__}."]


def exclusion(result: Result) -> list[str]:
    """Return which workers count, and how many."""
    totals = get_totals(result)
    n_excluded = totals.n_excluded
    by_hand = f" {counted(n_excluded, 'worker')} {'was' if n_excluded == 1 else 'were'} excluded by hand."
    workers = result.summary.workers
    if not totals.has_test or workers is None:
        who = "all ratings count" if not n_excluded else "all other ratings count"
        said = f"No worker test was applied: {who}, by {counted(totals.n_counted, 'worker')}."
        return [said + (by_hand if n_excluded else "")]
    test = WORKER_TESTS[totals.worker_test]
    rule = (
        f"A worker's ratings count only if degraded items were rated lower than {test.others} "
        f"({_TESTS[totals.worker_test]}, one-sided, p < {totals.alpha:g})."
    )
    ends = [f"{workers.passed:,} passed", f"{workers.failed:,} failed"]
    ends += [f"{workers.untested:,} could not be tested"] if workers.untested else []
    return [rule, f"Of {counted(workers.total, 'worker')}, {listed(ends)}." + (by_hand if n_excluded else "")]
