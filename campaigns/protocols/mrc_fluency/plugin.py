"""Machine reading comprehension, fluency (thesis §3.2)."""

from campaigns.contracts.protocol import CriterionSpec, Protocol


class MrcFluency(Protocol):
    """A worker sees the question and the system's answer."""

    slug = "mrc-fluency"
    title = "MRC fluency"
    summary = "Does the system's answer read well?"
    criteria = (CriterionSpec("fluency", "The response answers the question fluently."),)
    worker_test = "paired-wilcoxon"
