"""Machine reading comprehension, fluency (thesis §3.2)."""

from campaigns.contracts.protocol import FEEDBACK_NOTE, CriterionSpec, Field, Protocol, Screen
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
    instructions = f"""\
You will read questions, each with a response. Say how far you agree that the response answers the question *fluently*.

*Fluently* means that the response is correct and natural language.

- Move the slider towards *strongly agree* if a native speaker could have written the response.
- Move the slider towards *strongly disagree* if mistakes make the response hard to read.
- Use the whole length of the slider for responses in between.

A short response can be fluent. It does not matter whether the response is true. Rate each item by itself. You cannot go
back to an earlier item.

{FEEDBACK_NOTE}"""
