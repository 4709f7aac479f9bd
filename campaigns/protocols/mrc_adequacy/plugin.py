"""Machine reading comprehension, adequacy (thesis §3.2)."""

from campaigns.contracts.protocol import CriterionSpec, Field, Protocol, Screen
from campaigns.design.composition import POOL_OF_100


class MrcAdequacy(Protocol):
    """A worker sees the question, the reference as answer A and the system's answer as answer B."""

    slug = "mrc-adequacy"
    title = "MRC adequacy"
    summary = "Does the system's answer say as much as the reference answer?"
    criteria = (CriterionSpec("adequacy", "Answer B answers the question as adequately as Answer A."),)
    worker_test = "paired-wilcoxon"
    screen = Screen(
        fields=(Field("question", "Question"), Field("reference", "Answer A")),
        output_label="Answer B",
        reference_field="reference",
        donor_field="reference",
    )
    mix = POOL_OF_100
    instructions = """\
You will read questions, each with two answers. **Answer A is correct.** How far do you agree that Answer B answers the
question as adequately as Answer A?

- Move the slider towards *strongly agree* if Answer B says what Answer A says, in whatever words.
- Move it towards *strongly disagree* if Answer B is wrong, says something else or leaves out what matters.
- Answers that are partly right lie in between. Use the whole length of the slider.

Rate what each answer says, not how well it is written. You cannot go back to an earlier item.
"""
