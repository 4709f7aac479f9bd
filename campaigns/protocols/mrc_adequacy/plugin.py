"""Machine reading comprehension, adequacy (thesis §3.2)."""

from campaigns.contracts.protocol import CriterionSpec, Protocol


class MrcAdequacy(Protocol):
    """A worker sees the question, the reference as answer A and the system's answer as answer B."""

    slug = "mrc-adequacy"
    title = "MRC adequacy"
    summary = "Does the system's answer say as much as the reference answer?"
    criteria = (CriterionSpec("adequacy", "Answer B answers the question as adequately as Answer A."),)
    worker_test = "paired-wilcoxon"
