"""Machine reading comprehension, fluency (thesis §3.2)."""

from campaigns.contracts.protocol import CriterionSpec, Field, Protocol, Screen
from campaigns.design.composition import POOL_OF_100


class MrcFluency(Protocol):
    """A worker sees the question and the system's answer."""

    slug = "mrc-fluency"
    title = "MRC fluency"
    summary = "Does the system's answer read well?"
    criteria = (CriterionSpec("fluency", "The response answers the question fluently."),)
    worker_test = "paired-wilcoxon"
    screen = Screen(
        fields=(Field("question", "Question"), Field("reference", "Reference answer", is_shown=False)),
        output_label="Response",
        reference_field="reference",
        donor_field="reference",
    )
    mix = POOL_OF_100
    instructions = """\
You will read questions, each with a response. How far do you agree that the response answers the question fluently?

- Move the slider towards *strongly agree* if the response reads as a native speaker would put it.
- Move it towards *strongly disagree* if it is broken, garbled or hard to read.
- Responses with some faults lie in between. Use the whole length of the slider.

Short responses can be fluent. You need not know whether the response is true. You cannot go back to an earlier item.
"""
