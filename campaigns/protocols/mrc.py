"""Machine reading comprehension, adequacy and fluency (thesis §3.2)."""

from campaigns.contracts.protocol import FEEDBACK_NOTE, CriterionSpec, Field, Paper, Protocol, Screen
from campaigns.design.composition import POOL_OF_100


class MrcAdequacy(Protocol):
    """A worker sees the question, the reference as answer A and the system's answer as answer B."""

    slug = "mrc-adequacy"
    title = "MRC adequacy"
    summary = "Does the system's answer say as much as the reference answer?"
    writes = ("answers",)
    tasks = ("slider",)
    good_for = "Answers of which a reference answer is known: do they say as much?"
    paper = Paper("Graham et al. 2016", "https://doi.org/10.1017/S1351324915000339")
    names = ("question answering", "direct assessment", "DA")
    picture = "img/protocols/mrc-adequacy.webp"
    criteria = (CriterionSpec("adequacy", "Answer B answers the question as adequately as Answer A."),)
    worker_test = "paired-wilcoxon"
    screen = Screen(
        fields=(Field("question", "Question"), Field("reference", "Answer A")),
        output_label="Answer B",
        reference_field="reference",
        donor_field="reference",
    )
    mix = POOL_OF_100
    instructions = f"""\
You will read questions. Each question has two answers, Answer A and Answer B. **Answer A is correct.** Say how far you
agree that Answer B answers the question as *adequately* as Answer A.

*Adequately* means that Answer B gives the same information as Answer A. For the person who asked, it is just as useful.

- Move the slider towards *strongly agree* if Answer B says what Answer A says. It may use other words.
- Move the slider towards *strongly disagree* if Answer B is wrong, says something else or leaves out what matters.
- Use the whole length of the slider for answers in between.

Rate what Answer B says, not how well it is written. Rate each item by itself. You cannot go back to an earlier item.

{FEEDBACK_NOTE}"""


class MrcFluency(Protocol):
    """A worker sees the question and the system's answer."""

    slug = "mrc-fluency"
    title = "MRC fluency"
    summary = "Does the system's answer read well?"
    writes = ("answers",)
    tasks = ("slider",)
    good_for = "The language of answers, whether they are true or not."
    paper = Paper("Graham et al. 2016", "https://doi.org/10.1017/S1351324915000339")
    names = ("question answering", "direct assessment", "DA")
    picture = "img/protocols/mrc-fluency.webp"
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
