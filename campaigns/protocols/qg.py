"""Question generation (thesis Table 4.1)."""

from campaigns.contracts.protocol import FEEDBACK_NOTE, CriterionSpec, Field, Paper, Protocol, Screen
from campaigns.design.composition import SOURCE_OF_20


class QuestionGeneration(Protocol):
    """A worker sees a passage with the answer highlighted, and a question generated from them."""

    slug = "qg"
    title = "Question generation"
    summary = "Is the generated question understandable, relevant, answerable and well put?"
    writes = ("questions",)
    tasks = ("slider",)
    good_for = "Questions made from a passage, judged on four aspects."
    paper = Paper("Graham et al. 2016", "https://doi.org/10.1017/S1351324915000339")
    names = ("QG", "direct assessment", "DA")
    picture = "img/protocols/qg.webp"
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
    instructions = f"""\
You will read a passage and then questions about it, one at a time. Each question should ask for the answer that is
**highlighted** in the passage. If nothing is highlighted, the answer is *yes* or *no*.

For each question, say how far you agree with four statements:

- The question is **easy to understand**: you see at once what it asks.
- The question is **relevant**: it asks about the content of the passage.
- The question **can be fully answered** by the passage: you need to know nothing else.
- The **question word** is appropriate: for example *who* for a person, *when* for a time, *where* for a place.

Move a slider towards *strongly agree* or *strongly disagree*, and use its whole length for what lies in between. Rate
each question by itself. You cannot go back to an earlier question.

{FEEDBACK_NOTE}"""
