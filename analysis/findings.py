"""What a report finds, in at most three sentences: who beats whom, what is undecided, whose ratings count. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any
from unicodedata import bidirectional

from analysis.results import ALPHA, EXCLUDED, get_workers
from analysis.words import number, p_equals
from campaigns.design.worker_test import NO_TEST
from evalsite.lib.words import counted, listed

Report = Mapping[str, Any]
_LONGEST_NAME = 40
_MOST_NAMED = 3
# A reader sees a name in its own direction, whatever the sentence's.
_ISOLATE, _END = "\u2068", "\u2069"


@dataclass(frozen=True)
class _Tests:
    """The systems that have a score, best first, their mean z, and p that the row beats the column by which test."""

    names: list[str]
    z: list[float]
    p: list[list[float | None]]
    level: str = f"p < {ALPHA:g}"
    test: str = "rank-sum test"

    def beats(self, one: int, other: int) -> bool:
        """Whether the first system beats the second."""
        p = self.p[one][other]
        return p is not None and p < ALPHA

    def is_undecided(self, one: int, other: int) -> bool:
        """Whether neither beats the other."""
        return not self.beats(one, other) and not self.beats(other, one)


def find(report: Report) -> list[str]:
    """Return what a report finds, as sentences: at most three, however many systems it has."""
    tests = _tests_of(report["summary"])
    if not tests.names:
        return [_no_score(report)]
    if len(tests.names) > 1 and report.get("settings", {}).get("workers_planned"):
        if "recommended" not in report:
            return ["Which systems differ so far is being computed.", _workers(report)]
        tests = _valid_at_every_look(tests, report)
    if len(tests.names) == 1:
        found = [f"{tests.names[0]} is the only system with a score (z = {number(tests.z[0])}): nothing to compare."]
    elif len(tests.names) == 2:
        found = [_pair(tests)]
    else:
        found = [_best(tests), _rest(tests)]
    return [*found, _workers(report)]


def _tests_of(summary: Mapping[str, Any]) -> _Tests:
    place = {name: k for k, name in enumerate(summary["significance"]["order"])}
    scored = [(row["system"], row["z"]) for row in summary["systems"] if row["z"] is not None]
    matrix = summary["significance"]["p"]
    p = [[matrix[place[one]][place[other]] for other, _ in scored] for one, _ in scored]
    return _Tests([_name(name) for name, _ in scored], [z for _, z in scored], p)


def _valid_at_every_look(tests: _Tests, report: Report) -> _Tests:
    """Return the systems with p of the recommended comparison, for ratings that are looked at while they come."""
    scored = [row["system"] for row in report["summary"]["systems"] if row["z"] is not None]
    place = {name: k for k, name in enumerate(scored)}
    p: list[list[float | None]] = [[None] * len(place) for _ in place]
    for pair in report["recommended"]["pairs"]:
        one, other = (place.get(system) for system in pair["systems"])
        if one is not None and other is not None and pair["p_holm"] is not None:
            better, worse = (one, other) if pair["difference"] > 0 else (other, one)
            p[better][worse], p[worse][better] = pair["p_holm"], 1.0
    return replace(tests, p=p, level=f"p < {ALPHA:g}, valid whenever you look", test="recommended comparison")


def _name(name: str) -> str:
    """Return a name that fits in a sentence."""
    short = name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1].rstrip()}…"
    return f"{_ISOLATE}{short}{_END}" if any(bidirectional(c) in {"R", "AL"} for c in short) else short


# --- Systems


def _pair(tests: _Tests) -> str:
    first, second = tests.names
    scores = f"mean z {number(tests.z[0])} against {number(tests.z[1])}"
    if tests.beats(0, 1):
        return f"{first} beats {second} at {tests.level} ({scores}; p {p_equals(tests.p[0][1])})."
    if tests.beats(1, 0):
        return (
            f"{second} beats {first} in the {tests.test} (p {p_equals(tests.p[1][0])}), though {first} has the higher "
            f"mean z ({number(tests.z[0])} against {number(tests.z[1])})."
        )
    if tests.p[0][1] is None:
        return f"{first} and {second} could not be compared ({scores})."
    return f"Whether {first} or {second} is better is undecided ({scores}; p {p_equals(tests.p[0][1])})."


def _best(tests: _Tests) -> str:
    """Return what the system with the highest z beats."""
    names, n_others = tests.names, len(tests.names) - 1
    pairs = list(combinations(range(len(names)), 2))
    if all(tests.is_undecided(*pair) for pair in pairs):
        return (
            f"No system beats another at {tests.level}: {names[0]} has the highest mean z ({number(tests.z[0])}), "
            f"{names[-1]} the lowest ({number(tests.z[-1])})."
        )
    beaten = [k for k in range(1, n_others + 1) if tests.beats(0, k)]
    if len(beaten) == n_others:
        return f"{names[0]} is the best of {n_others + 1} systems: it beats each of the others at {tests.level}."
    text = f"{names[0]} has the highest mean z ({number(tests.z[0])}) "
    if not beaten:
        text += f"but beats no other system at {tests.level}"
    else:
        text += f"and beats {len(beaten)} of the {n_others} other systems at {tests.level}"
        undecided = [names[k] for k in range(1, n_others + 1) if tests.is_undecided(0, k)]
        if 0 < len(undecided) <= _MOST_NAMED:
            text += f", but not {listed(undecided, 'or')}"
    if by := [names[k] for k in range(1, n_others + 1) if tests.beats(k, 0)]:
        text += f"; in the {tests.test} {_some(by)} it"
    return f"{text}."


def _some(names: Sequence[str]) -> str:
    if len(names) > _MOST_NAMED:
        return f"{len(names)} systems beat"
    return f"{listed(names)} beat{'s' if len(names) == 1 else ''}"


def _rest(tests: _Tests) -> str:
    """Return how many pairs are decided, and which are not."""
    pairs = list(combinations(range(len(tests.names)), 2))
    undecided = [pair for pair in pairs if tests.is_undecided(*pair)]
    if not undecided:
        return f"All {len(pairs)} pairs of systems differ."
    if len(undecided) == len(pairs):
        return f"All {len(pairs)} pairs are undecided."
    text = f"Of {len(pairs)} pairs of systems, {len(pairs) - len(undecided)} differ"
    if len(undecided) > _MOST_NAMED:
        return f"{text}; {len(undecided)} are undecided."
    named = [f"{tests.names[one]} against {tests.names[other]}" for one, other in undecided]
    return f"{text}; undecided {'is' if len(named) == 1 else 'are'} {listed(named)}."


# --- Workers


def _no_score(report: Report) -> str:
    """Return why no system has a score."""
    if not report["summary"]["systems"]:
        return "No system has a score: there is no ordinary item in these ratings."
    workers = get_workers(report)
    if any(worker.is_counted for worker in workers):
        return "No system has a score: no item was rated on every criterion."
    reasons = _left_out(report)
    if len(workers) == 1:
        return f"No system has a score: the only worker {reasons[0][1]}."
    if len(reasons) == 1:
        return f"No system has a score: all {len(workers):,} workers {_plural(reasons[0][1])}."
    return f"No system has a score: of {len(workers):,} workers {_clauses(reasons)}."


def _workers(report: Report) -> str:
    """Return how many workers count of how many, and why the others do not."""
    workers = get_workers(report)
    n_counted = sum(worker.is_counted for worker in workers)
    n_ratings = sum(row.get("n_ratings", row["n"]) for row in report["summary"]["systems"])
    has_test = report["summary"]["worker_test"]["preset"] != NO_TEST
    if n_counted < len(workers):
        who, why = f"{n_counted:,} of {len(workers):,} workers", _clauses(_left_out(report))
    else:
        who = "the only worker" if n_counted == 1 else f"all {n_counted:,} workers"
        why = f"the worker test was passed at p < {_alpha(report)}"
    why = why if has_test else "no worker test was applied" + (f", {why}" if n_counted < len(workers) else "")
    return f"{counted(n_ratings, 'rating')} by {who} {'counts' if n_ratings == 1 else 'count'}; {why}."


def _alpha(report: Report) -> str:
    return f"{report['summary']['worker_test']['alpha']:g}"


def _left_out(report: Report) -> list[tuple[int, str]]:
    """Return how many workers do not count for each reason, with the reason as said of one of them."""
    reasons = {
        "failed": f"failed the worker test at p < {_alpha(report)}",
        "untested": "could not be tested",
        EXCLUDED: "was excluded",
    }
    states = [worker.state for worker in get_workers(report)]
    return [(states.count(state), reason) for state, reason in reasons.items() if state in states]


def _clauses(reasons: Sequence[tuple[int, str]]) -> str:
    return listed([f"{n:,} {reason if n == 1 else _plural(reason)}" for n, reason in reasons])


def _plural(reason: str) -> str:
    return reason.replace("was ", "were ")


# --- Of methods other than direct assessment


def find_by_pairs(report: Report) -> list[str]:
    """Return in at most two sentences which system is best, and how many pairs differ, by the report's `pairs`."""
    scored = [row["system"] for row in report["summary"]["systems"] if row["score"] is not None]
    if not scored:
        return ["No system has a score."]
    best = _name(scored[0])
    if len(scored) == 1:
        return [f"{best} is the only system with a score: nothing to compare."]
    pairs = report["pairs"]
    decided = [pair for pair in pairs if pair["p_holm"] is not None and pair["p_holm"] < ALPHA]
    n_beaten = sum(pair["systems"][0] == scored[0] for pair in decided)
    level = f"p < {ALPHA:g} after Holm’s correction"
    if n_beaten == len(scored) - 1:
        others = "the other system" if n_beaten == 1 else "every other system"
        first = f"{best} is better than {others} ({level})."
    else:
        n_others = len(scored) - 1
        beaten = f"better than {n_beaten} of the {n_others} others" if n_beaten else "not separated from any other one"
        first = f"{best} has the best score; it is {beaten} ({level})."
    if len(scored) == 2:
        return [first]
    verb = "differs" if len(decided) == 1 else "differ"
    return [first, f"{len(decided)} of {counted(len(pairs), 'pair')} of systems {verb}."]
