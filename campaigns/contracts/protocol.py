"""The contract of a protocol: a kind of evaluation."""

from dataclasses import dataclass
from typing import ClassVar, Literal

WorkerTest = Literal["paired-wilcoxon", "unpaired-ranksum", "paired-t"]


@dataclass(frozen=True)
class CriterionSpec:
    """One statement that a worker agrees with on a 0–100 slider.

    `is_negative`: agreement is bad, so analysis reverses the score to 100 − x.
    `is_in_worker_test`: its ratings enter the worker test.
    """

    name: str
    statement: str
    is_negative: bool = False
    is_in_worker_test: bool = True


class Protocol:
    """A kind of evaluation: which criteria are rated and which worker test tells careful from careless."""

    slug: ClassVar[str]
    title: ClassVar[str]
    summary: ClassVar[str]
    criteria: ClassVar[tuple[CriterionSpec, ...]]
    worker_test: ClassVar[WorkerTest]
    alpha: ClassVar[float] = 0.05
