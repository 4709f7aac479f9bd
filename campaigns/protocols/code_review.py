"""Changes of code, as a reviewer reads them."""

from campaigns.contracts.protocol import FEEDBACK_NOTE, CriterionSpec, Field, Paper, Protocol, Screen
from campaigns.design.composition import Mix

_LEVELS = {"labels": "no\nrather not\nin part\nmostly\nyes"}


class CodeReview(Protocol):
    """A programmer reads what was asked for and the change of code that was made, and reviews it."""

    slug = "code-review"
    title = "Code review"
    summary = "What was asked for and a change of code: is it correct, clear, and would you accept it?"
    writes = ("code",)
    tasks = ("points",)
    good_for = "Models that write or change code, judged by people who program."
    paper = Paper("Li et al. 2022", "https://arxiv.org/abs/2203.09095")
    names = ("diff", "patch", "pull request", "commit", "programming", "code generation")
    picture = "img/protocols/code-review.webp"
    criteria = (
        CriterionSpec("correctness", "Does the change do what was asked for?", response="scale", settings=_LEVELS),
        CriterionSpec("clarity", "Is the code easy to read and to change?", response="scale", settings=_LEVELS),
        CriterionSpec("acceptance", "Would you accept it as it is?", response="scale", settings=_LEVELS),
    )
    worker_test = "paired-wilcoxon"
    screen = Screen(
        fields=(
            Field("task", "What was asked for", format="markdown"),
            Field("before", "The code before", is_required=False, format="code"),
        ),
        output_label="The change",
        output_format="diff",
    )
    mix = Mix(14, 6, 2)
    method = "ordinal"
    has_open_screen = True
    instructions = f"""\
You will review changes of code in **[[programming language]]**. Each page shows what was asked for and the change:
lines that were added begin with **+**, lines that were removed with **−**.

- **Does the change do what was asked for?** Follow it in your head, with usual and unusual input.
- **Is the code easy to read and to change?** Think of names, structure, and what a colleague would trip over.
- **Would you accept it as it is?** As if you had to look after the program from then on.

You need not run anything. Judge each change by itself. You cannot go back to an earlier one.

{FEEDBACK_NOTE}"""
