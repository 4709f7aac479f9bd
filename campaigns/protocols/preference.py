"""Two outputs side by side, of which one is better."""

from campaigns.contracts.protocol import FEEDBACK_NOTE, CriterionSpec, Field, Paper, Protocol, Scope, Screen
from campaigns.design.composition import Mix
from campaigns.design.paging import PageKind


class Preference(Protocol):
    """A worker sees the outputs of two systems for one source and says which one is better.

    A degraded output may still be the better one of two: 16 comparisons with one are needed for most careful workers
    to pass the sign test.
    """

    slug = "preference"
    title = "Preference"
    summary = "Two texts side by side: which one is better?"
    writes = ("answers", "questions", "translations", "summaries", "texts")
    tasks = ("compare",)
    good_for = "Two or a few systems whose outputs differ little."
    paper = Paper("Chiang et al. 2024", "https://arxiv.org/abs/2403.04132")
    names = ("A/B test", "pairwise comparison", "side by side", "Bradley–Terry", "win rate", "arena")
    picture = "img/protocols/preference.webp"
    criteria = (
        CriterionSpec(
            "preference",
            "Which text is better?",
            response="preference",
            settings={"may_tie": "yes"},
            scope=Scope.PAGE.value,
        ),
    )
    worker_test = "sign"
    screen = Screen(fields=(Field("context", "Context", is_required=False),), output_label="Text")
    page_kind = PageKind.COMPARISON
    mix = Mix(30, 16, 4)
    method = "preference"
    has_open_screen = True
    instructions = f"""\
You will read pairs of texts, **A** and **B**. Say which one is better: [[what makes a text better, for example that it
answers the question above it, is correct, and is easy to read]].

- Read both texts before you choose. Which one is on the left means nothing.
- Choose *Both are equally good* only if you see no difference that matters.

Judge each pair by itself. You cannot go back to an earlier one.

{FEEDBACK_NOTE}"""
