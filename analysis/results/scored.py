"""What a report says of its systems, whichever response method made it: scores, intervals, conclusions. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from analysis.results.stored import Report, answers_of, criteria_of, in_order
from analysis.results.values import conclusions_of, tests_between
from analysis.stats.ratings import Floats

RAW = "raw"
_UNKNOWN = (None, None)


class ScoreWords(NamedTuple):
    """What scores are called: in the head of a column, one of them, and all of them."""

    column: str
    one: str
    every: str


_Z = ScoreWords("z", "mean z", "mean z")
_PLAIN = ScoreWords("score", "score", "the scores")


class ScoresByAlpha(NamedTuple):
    """Values of α of the worker test, the workers who count at each, and the scores of systems there, by name."""

    alphas: list[float]
    n_workers: list[int]
    scores: dict[str, list[float | None]]


@dataclass(frozen=True)
class ScoredSystems:
    """The systems of a report, as it ranks them. Those of direct assessment have two kinds of scores: z and raw."""

    report: Report

    @cached_property
    def rows(self) -> dict[str, Mapping[str, Any]]:
        """What the summary says of each system."""
        return {row["system"]: row for row in self.report["summary"]["systems"]}

    @property
    def kinds(self) -> dict[str, str]:
        """The keys of the kinds of scores, the one that ranks first, with what these are called."""
        return {"z": "z", RAW: "raw means"} if self._has_z else {"score": "score"}

    @property
    def words(self) -> ScoreWords:
        """What the scores that rank are called."""
        return _Z if self._has_z else _PLAIN

    @property
    def sign(self) -> int:
        """1 where a higher score is better, else −1."""
        return 1 if self.report["summary"].get("higher_is_better", True) else -1

    @property
    def scores(self) -> dict[str, float | None]:
        """The scores that rank, of all systems."""
        return {name: self.score(name) for name in self.rows}

    def score(self, name: str, criterion: str | None = None, kind: str = "") -> float | None:
        """Return the score of a system on a criterion, overall for None; by default of the kind that ranks."""
        row = self.rows[name] if criterion is None else self.rows[name]["criteria"][criterion]
        value: float | None = row[kind or next(iter(self.kinds))] if isinstance(row, Mapping) else row
        return value

    def scores_of(self, names: Sequence[str], criterion: str | None = None, kind: str = "") -> list[float | None]:
        """Return the same of several systems."""
        return [self.score(name, criterion, kind) for name in names]

    def interval(self, name: str) -> Sequence[float | None]:
        """Return the ends of the 95 % interval of a system's score; None where these are not known."""
        known = self.rows[name].get("interval") or self.report.get("intervals", {}).get(name)
        return known or _UNKNOWN

    def conclusions(self, names: Sequence[str]) -> Floats:
        """Return p that the row's system is better than the column's, (n, n), by what the report concludes by."""
        return np.array(conclusions_of(self.report, names), np.float64).reshape(len(names), len(names))

    def tests_on(self, criterion: str, names: Sequence[str]) -> Floats | None:
        """Return one-sided p of the rank-sum test on a criterion, (n, n), row beats column; None where unknown."""
        known = {tests["name"]: tests for tests in self.report.get("comparisons", ())}
        if criterion not in known:
            return None
        return np.array(tests_between(names, known[criterion]), np.float64).reshape(len(names), len(names))

    @property
    def by_alpha(self) -> ScoresByAlpha | None:
        """The scores at each α of the worker test; None where nobody was tested."""
        answer = self._answer("sensitivity")
        found = answer.get("alpha")
        if not found:
            return None
        scores = dict(zip(answer["order"], found["score"], strict=True))
        return ScoresByAlpha(found["alphas"], found["n_workers"], scores)

    @property
    def halves(self) -> Mapping[str, Any] | None:
        """How the scores of random halves of the workers correlate (`describe_halves`); None where undefined."""
        answer = self._answer("halves")
        return answer if answer.get("r") is not None else None

    def _answer(self, question: str) -> Mapping[str, Any]:
        return answers_of(self.report).get(question, {})

    @property
    def _has_z(self) -> bool:
        return any("z" in row for row in self.rows.values())


def shared_criteria(*results: ScoredSystems) -> list[str]:
    """Return the criteria that all systems of all results have, in the order of the first."""
    of_systems = [row["criteria"] for result in results for row in result.rows.values()]
    names = [name for name, _ in in_order(of_systems[0], criteria_of(results[0].report))] if of_systems else []
    return [name for name in names if all(name in of_system for of_system in of_systems)]
