"""Items of annotation tools: answers and marks of one worker about a task's data."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from analysis.data.tools.about import find_about, require_about, severity_and_category
from analysis.data.tools.made import NO_ERROR, Made, Wanted
from evalsite.lib.tables.errors import shorten
from evalsite.lib.tables.table import check_text


class Mark(NamedTuple):
    """A mark in a text: its labels, and the characters from `start` to before `end`; or of the output as a whole."""

    start: int
    end: int
    labels: Sequence[str]
    severity: str = ""
    is_of_whole: bool = False


@dataclass
class Items:
    """Turns items into rows of `made`: which columns of the data say what is found once, for all tasks."""

    made: Made
    found: Mapping[str, str]
    data: Sequence[str]
    _position: dict[str, int] = field(default_factory=dict)
    _asked: set[Wanted] = field(default_factory=set)
    _seen: set[tuple[str, ...]] = field(default_factory=set)

    @classmethod
    def of(cls, made: Made, data: Sequence[str], chosen: Mapping[str, str], others: Collection[str] = ()) -> "Items":
        """Return the items of tasks with these columns of data; of `others` only those that are chosen are used."""
        found = find_about([name for name in data if name not in others], chosen, others)
        return cls(made, found, [name for name in data if name])

    def add_answers(
        self, number: int, worker: str, task: str, data: Mapping[str, str], answers: Mapping[str, str]
    ) -> None:
        """Add a worker's answers about a task, by criterion: votes, where the task has two systems."""
        position = self._position[worker] = self._position.get(worker, 0) + 1
        is_vote = {"system_a", "system_b"} <= self.found.keys()
        self._require(Wanted.VOTES if is_vote else Wanted.SCORES)
        about = self._about(data, task)
        cells = {"worker": worker, "source": about["source"]}
        if is_vote:
            cells |= {name: about[name] for name in ("system_a", "system_b")}
        else:
            names = ("system", "document", "kind")
            cells |= {name: about[name] for name in names if name in about} | {"position": str(position)}
        for criterion, answer in answers.items():
            called = dict(self.found) | {"score": criterion, "winner": criterion}
            if self._is_text(number, criterion, [criterion, answer, *cells.values()]):
                added = {"winner": answer} if is_vote else {"criterion": criterion, "score": answer}
                self.made.add(Wanted.VOTES if is_vote else Wanted.SCORES, number, cells | added, called)

    def add_marks(self, number: int, worker: str, task: str, data: Mapping[str, str], marks: Sequence[Mark]) -> None:
        """Add the errors that a worker marked in a task's text, or that there are none."""
        self._require(Wanted.SPANS)
        about = self._about(data, task)
        text = about.get("target", "")
        cells = {name: about.get(name, "") for name in ("system", "target")} | {"source": about.get("source_text", "")}
        cells |= {"seg_id": about["source"], "rater": worker}
        cells |= {"doc": about["document"]} if about.get("document") else {}
        key = (worker, cells["system"], cells.get("doc", ""), cells["seg_id"])
        labels = [label for mark in marks for label in (mark.severity, *mark.labels)]
        if not self._is_text(number, None, [*cells.values(), *labels]):
            return
        if key in self._seen:
            message = "the same worker marks the same system and source in an earlier task. Delete one of the two."
            self.made.refuse(number, self.found.get("source"), "marked_again", message)
        self._seen.add(key)
        for mark in marks:
            is_inside = 0 <= mark.start < mark.end and not (text and mark.end > len(text))
            if not (is_inside or mark.is_of_whole):
                message = (
                    f"the mark from {mark.start} to {mark.end} is not in the text, which has {len(text)} characters."
                )
                self.made.refuse(number, self.found.get("target"), "bad_span", f"{message} Export the file again.")
                continue
            severity, category = severity_and_category(mark.labels, mark.severity)
            place = {"side": "target", "start": str(mark.start), "end": str(mark.end)}
            if mark.is_of_whole:
                place = dict.fromkeys(place, "")
            added = cells | place | {"severity": severity, "category": category}
            self.made.add(Wanted.SPANS, number, added, self.found)
        if not marks:
            self.made.add(Wanted.SPANS, number, {**cells, **NO_ERROR}, self.found)

    def _about(self, data: Mapping[str, str], task: str) -> dict[str, str]:
        """Return what a task's data say; a task without a source is one."""
        return {"source": task} | {name: data.get(column, "") for name, column in self.found.items()}

    def _require(self, wanted: Wanted) -> None:
        """Check once that the data say what rows of this kind need."""
        if wanted not in self._asked:
            self._asked.add(wanted)
            if wanted is not Wanted.VOTES:
                require_about(self.made, self.found, ["system"], self.data)
            if "source" not in self.found:
                message = "No column of the data says which source a task is of: each task is taken for one."
                self.made.warn("no_source", message)

    def _is_text(self, number: int, column: str | None, cells: Sequence[str]) -> bool:
        problem = check_text(cells)
        if problem:
            self.made.refuse(number, None if column is None else shorten(column), "encoding", problem)
        return not problem
