"""Workers answer a question with the help of a system's output: which options are good answers, and how fast."""

from campaigns.contracts.protocol import FEEDBACK_NOTE, CriterionSpec, Field, Protocol, Screen
from campaigns.design.composition import Mix
from campaigns.design.worker_test import NO_TEST


class OptionSelection(Protocol):
    """A worker reads a text and chooses all options of its source that are good answers, or none of them."""

    slug = "option-selection"
    title = "Option selection"
    summary = "Which of several options are good answers, by the text: one, several or none."
    writes = ("texts", "summaries", "answers")
    tasks = ("choose",)
    good_for = "How far a text helps people to find the right answer, and how fast."
    names = ("multiple choice", "extrinsic evaluation", "reading comprehension")
    picture = "img/protocols/option-selection.webp"
    criteria = (
        CriterionSpec(
            "answer",
            "Which answers are good, by the text? Choose all that are.",
            is_in_worker_test=False,
            response="choice",
            settings={"field": "options", "correct": "correct", "is_several": "yes", "none_label": "none of these"},
        ),
    )
    worker_test = NO_TEST
    method = "choice"
    screen = Screen(
        fields=(
            Field("question", "Question"),
            Field("options", "Options, one a line", is_shown=False),
            Field("correct", "Good answers, one a line", is_required=False, is_shown=False),
        ),
        output_label="Text",
    )
    mix = Mix(20)
    instructions = f"""\
You will read questions, each with a text and some answers to choose from. Read the question and the text. Then choose
**all answers that are good, going by the text**. If none is good, choose *none of these*.

Work carefully, and without long breaks on a page: how long an answer takes is measured.

Judge each text by itself. You cannot go back to an earlier one.

{FEEDBACK_NOTE}"""
    has_open_screen = True
