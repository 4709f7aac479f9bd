"""Facts of a text, counted: present, correct and missing, as in the evaluation of reports and summaries."""

from campaigns.contracts.protocol import FEEDBACK_NOTE, CriterionSpec, Field, Paper, Protocol, Screen
from campaigns.design.composition import Mix

_COUNT = {"least": "0", "greatest": "100", "unit": "facts", "is_whole": "yes"}


class FactCount(Protocol):
    """A worker reads a source and a text made from it, and counts facts; precision, recall and F follow from them."""

    slug = "fact-count"
    title = "Fact count"
    summary = "Facts that a text states, those of them that are correct, and those that are missing."
    writes = ("summaries", "texts", "answers")
    tasks = ("count",)
    good_for = "Hallucinations and omissions in texts made from a source."
    paper = Paper("Nenkova and Passonneau 2004", "https://aclanthology.org/N04-1019/")
    names = ("facts", "faithfulness", "hallucination", "precision and recall", "pyramid")
    picture = "img/protocols/fact-count.webp"
    criteria = (
        CriterionSpec(
            "present",
            "How many facts does the text state?",
            is_in_worker_test=False,
            response="number",
            settings=_COUNT,
        ),
        CriterionSpec("correct", "How many of these facts are correct?", response="number", settings=_COUNT),
        CriterionSpec(
            "missing",
            "How many facts that the text should state are missing?",
            is_negative=True,
            is_in_worker_test=False,
            response="number",
            settings=_COUNT,
        ),
    )
    worker_test = "paired-wilcoxon"
    method = "fact_count"
    screen = Screen(fields=(Field("source", "Source"),), output_label="Text")
    mix = Mix(14, 6)
    instructions = f"""\
You will read texts, each with the source that it was made from. Count **facts**: a fact is one piece of information,
such as who did something, when or where it happened, or a number. *“The museum opened in 1902 in Riga”* states two
facts: when it opened, and where.

For each text you write three numbers:

- how many facts the text **states**;
- how many of these are **correct**: the source says the same;
- how many facts are **missing**: [[which facts a text should state, for example the main points of the source]].

The second number cannot be larger than the first. Count each fact once. If there is none, write 0.

Judge each text by itself. You cannot go back to an earlier one.

{FEEDBACK_NOTE}"""
    has_open_screen = True
