"""A question that a document of an evaluation asks, with its answer and where that comes from."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

LONGEST_ANSWER = 10_000
"""Characters of an answer that a researcher writes."""
Origin = Literal["campaign", "researcher", "open"]


@dataclass(frozen=True)
class Question:
    """A numbered question. `key` is what its answer is stored under; `hint` says what to write where it is open.

    `origin`: the answer is from the campaign, was written by a researcher, or is to be completed (and then "").
    """

    key: str
    number: str
    text: str
    answer: str = ""
    hint: str = ""
    origin: Origin = "open"

    @property
    def is_open(self) -> bool:
        """Whether it is to be completed."""
        return self.origin == "open"


def known(key: str, number: str, text: str, answer: str, hint: str = "") -> Question:
    """Return a question that the campaign answers; an open one if the answer is empty."""
    return Question(key, number, text, answer, hint, "campaign" if answer else "open")


def completed(questions: Iterable[Question], answers: Mapping[str, str]) -> list[Question]:
    """Return the questions with what researchers wrote, which goes before what the campaign says."""
    return [
        replace(each, answer=answers[each.key], origin="researcher") if answers.get(each.key, "").strip() else each
        for each in questions
    ]
