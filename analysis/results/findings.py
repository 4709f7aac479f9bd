"""What a result finds, in at most three sentences: who beats whom, what is undecided, whose ratings count. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from unicodedata import bidirectional

from analysis.results.result import EXCLUDED, Result
from analysis.results.values import count_ratings
from analysis.results.words import level_in_words, number, p_equals
from analysis.stats.procedures import ALPHA
from evalsite.lib.words import counted, listed

_LONGEST_NAME = 40
_MOST_NAMED = 3
_OF_PEOPLE = frozenset({"worker", "rater"})  # errors clustered by neither say nothing of how others would judge
# A reader sees a name in its own direction, whatever the sentence's.
_ISOLATE, _END = "\u2068", "\u2069"


@dataclass(frozen=True)
class _Tests:
    """The systems that have a score, best first, what scores are called, and p that the row beats the column."""

    names: list[str]
    scores: list[float]
    p: list[list[float | None]]
    level: str
    test: str
    score: str
    higher_is_better: bool

    @property
    def ends(self) -> tuple[str, str]:
        """How the best score and the worst one stand to the others."""
        return ("highest", "lowest") if self.higher_is_better else ("lowest", "highest")

    def beats(self, one: int, other: int) -> bool:
        """Whether the first system beats the second."""
        p = self.p[one][other]
        return p is not None and p < ALPHA

    def is_undecided(self, one: int, other: int) -> bool:
        """Whether neither beats the other."""
        return not self.beats(one, other) and not self.beats(other, one)


def find_systems(result: Result) -> list[str]:
    """Return which systems are better, and which pairs are undecided: at most two sentences, whatever the method."""
    tests = _tests_of(result)
    if not tests.names:
        return ["No system has a score."]
    if len(tests.names) == 1:
        score = number(tests.scores[0])
        return [f"{tests.names[0]} is the only system with a score ({tests.score} {score}): nothing to compare."]
    if result.recommended and (why := result.recommended.refused.get(result.summary.concluded_by or "")):
        return [f"Systems were not compared: {why}. Choose the recommended comparison."]
    return [_pair(tests)] if len(tests.names) == 2 else [_best(tests), _rest(tests)]


def find(result: Result) -> list[str]:
    """Return what a study of direct assessment finds: at most three sentences, of systems and of workers."""
    if not result.scored:
        return [_no_score(result)]
    return [*find_systems(result), _workers(result)]


def _tests_of(result: Result) -> _Tests:
    """Return the systems with p of what is concluded by."""
    scored = result.scored
    level, test = f"p < {ALPHA:g}", "rank-sum test"
    if result.is_corrected:
        level, test = level_in_words(result.settings.workers_planned), "comparison of systems"
    clusters = result.summary.clusters
    if isinstance(clusters, dict) and not clusters.keys() & _OF_PEOPLE:
        level = f"{level}, for these raters"
    p = result.p_better(list(scored))
    is_up = result.sign > 0
    return _Tests([*map(_name, scored)], [*scored.values()], p, level, test, result.words.one, is_up)


def _name(name: str) -> str:
    """Return a name that fits in a sentence."""
    short = name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1].rstrip()}…"
    return f"{_ISOLATE}{short}{_END}" if any(bidirectional(c) in {"R", "AL"} for c in short) else short


# --- Systems


def _pair(tests: _Tests) -> str:
    (first, second), (one, other) = tests.names, map(number, tests.scores)
    scores = f"{tests.score} {one} against {other}"
    if tests.beats(0, 1):
        return f"{first} beats {second} at {tests.level} ({scores}; p {p_equals(tests.p[0][1])})."
    if tests.beats(1, 0):
        return (
            f"{second} beats {first} in the {tests.test} (p {p_equals(tests.p[1][0])}), though {first} has the "
            f"{tests.ends[0].replace('est', 'er')} {tests.score} ({one} against {other})."
        )
    if tests.p[0][1] is None:
        return f"{first} and {second} could not be compared ({scores})."
    return f"Whether {first} or {second} is better is undecided ({scores}; p {p_equals(tests.p[0][1])})."


def _best(tests: _Tests) -> str:
    """Return what the system with the best score beats."""
    names, n_others, (top, bottom) = tests.names, len(tests.names) - 1, tests.ends
    pairs = list(combinations(range(len(names)), 2))
    if all(tests.is_undecided(*pair) for pair in pairs):
        return (
            f"No system beats another at {tests.level}: {names[0]} has the {top} {tests.score} "
            f"({number(tests.scores[0])}), {names[-1]} the {bottom} ({number(tests.scores[-1])})."
        )
    beaten = [k for k in range(1, n_others + 1) if tests.beats(0, k)]
    if len(beaten) == n_others:
        return f"{names[0]} is the best of {n_others + 1} systems: it beats each of the others at {tests.level}."
    text = f"{names[0]} has the {top} {tests.score} ({number(tests.scores[0])}) "
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
    n_decided = len(pairs) - len(undecided)
    text = f"Of {len(pairs)} pairs of systems, {n_decided} {'differs' if n_decided == 1 else 'differ'}"
    if len(undecided) > _MOST_NAMED:
        return f"{text}; {len(undecided)} are undecided."
    named = [f"{tests.names[one]} against {tests.names[other]}" for one, other in undecided]
    return f"{text}; undecided {'is' if len(named) == 1 else 'are'} {listed(named)}."


# --- Workers


def _no_score(result: Result) -> str:
    """Return why no system has a score."""
    if not result.systems:
        return "No system has a score: there is no ordinary item in these ratings."
    workers = result.workers
    if any(worker.is_counted for worker in workers):
        return "No system has a score: no item was rated on every criterion."
    reasons = _left_out(result)
    if len(workers) == 1:
        return f"No system has a score: the only worker {reasons[0][1]}."
    if len(reasons) == 1:
        return f"No system has a score: all {len(workers):,} workers {_plural(reasons[0][1])}."
    return f"No system has a score: of {len(workers):,} workers {_clauses(reasons)}."


def _workers(result: Result) -> str:
    """Return how many workers count of how many, and why the others do not."""
    workers = result.workers
    n_counted = sum(worker.is_counted for worker in workers)
    n_ratings = count_ratings(result)
    if n_counted < len(workers):
        who, why = f"{n_counted:,} of {len(workers):,} workers", _clauses(_left_out(result))
    else:
        who = "the only worker" if n_counted == 1 else f"all {n_counted:,} workers"
        why = f"the worker test was passed at p < {_alpha(result)}"
    why = why if result.has_test else "no worker test was applied" + (f", {why}" if n_counted < len(workers) else "")
    return f"{counted(n_ratings, 'rating')} by {who} {'counts' if n_ratings == 1 else 'count'}; {why}."


def _alpha(result: Result) -> str:
    return f"{result.applied_test.alpha:g}"


def _left_out(result: Result) -> list[tuple[int, str]]:
    """Return how many workers do not count for each reason, with the reason as said of one of them."""
    reasons = {
        "failed": f"failed the worker test at p < {_alpha(result)}",
        "untested": "could not be tested",
        EXCLUDED: "was excluded",
    }
    states = [worker.state for worker in result.workers]
    return [(states.count(state), reason) for state, reason in reasons.items() if state in states]


def _clauses(reasons: Sequence[tuple[int, str]]) -> str:
    return listed([f"{n:,} {reason if n == 1 else _plural(reason)}" for n, reason in reasons])


def _plural(reason: str) -> str:
    return reason.replace("was ", "were ")
