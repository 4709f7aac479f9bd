"""Question generation (thesis Table 4.1)."""

from campaigns.contracts.protocol import CriterionSpec, Field, Protocol, Screen
from campaigns.design.composition import SOURCE_OF_20


class QuestionGeneration(Protocol):
    """A worker sees a passage with the answer highlighted, and a question generated from them."""

    slug = "qg"
    title = "Question generation"
    summary = "Is the generated question understandable, relevant, answerable and well put?"
    criteria = (
        CriterionSpec("understandability", "The question is easy to understand."),
        CriterionSpec("relevancy", "The question is highly relevant to the content of the passage."),
        CriterionSpec("answerability", "The question can be fully answered by the passage."),
        CriterionSpec("appropriateness", "The question word (where, when, how, etc.) is fully appropriate."),
    )
    worker_test = "paired-wilcoxon"
    screen = Screen(
        fields=(
            Field("passage", "Passage", marks="answer"),
            Field("answer", "Answer", is_required=False, is_shown=False),
        ),
        output_label="Question",
        donor_field="passage",
    )
    mix = SOURCE_OF_20
    instructions = """\
You will read a passage and then, one at a time, questions about it. The answer that each question should lead to is
highlighted in the passage; where nothing is highlighted, the answer is *yes* or *no*.

For each question, say how far you agree with four statements. Move a slider towards *strongly agree* if the statement
is true of the question, towards *strongly disagree* if it is not, and use the whole length of the slider for what lies
in between.

Some questions look alike. Rate each as you find it. You cannot go back to an earlier question.
"""
