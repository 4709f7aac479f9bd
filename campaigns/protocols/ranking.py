"""Several outputs for one source, compared: in order, or the best and the worst of them."""

from campaigns.contracts.protocol import FEEDBACK_NOTE, CriterionSpec, Field, Paper, Protocol, Scope, Screen
from campaigns.design.composition import Mix
from campaigns.design.paging import PageKind


class _OfSeveral(Protocol):
    """A worker sees the outputs of four systems for one source.

    A degraded output need not be the worst of four: the mixes are those with which 94 % or more of careful simulated
    workers pass the sign test, at four or five systems.
    """

    worker_test = "sign"
    screen = Screen(fields=(Field("context", "Context", is_required=False),), output_label="Text")
    page_kind = PageKind.COMPARISON
    outputs_per_page = 4
    has_open_screen = True


class Ranking(_OfSeveral):
    """A worker puts several outputs in order, ties allowed."""

    slug = "ranking"
    title = "Ranking"
    summary = "Several texts side by side, put in order: ties allowed."
    writes = ("answers", "questions", "translations", "summaries", "texts")
    tasks = ("rank",)
    good_for = "Several systems at once, where only their order matters."
    paper = Paper("Callison-Burch et al. 2007", "https://aclanthology.org/W07-0718/")
    names = ("relative ranking", "RR", "Plackett–Luce")
    picture = "img/protocols/ranking.webp"
    criteria = (
        CriterionSpec(
            "order of texts",
            "Put the texts in order, the best one first.",
            response="ranking",
            settings={"may_tie": "yes"},
            scope=Scope.PAGE.value,
        ),
    )
    mix = Mix(16, 14, 2)
    method = "ranking"
    instructions = f"""\
You will read several texts at a time, **A**, **B** and so on. Put them in order: [[what makes a text better, for
example that it answers the question above it, is correct, and is easy to read]].

- Read all texts before you begin. The order in which they are shown means nothing.
- Rank 1 is the best. Give two texts the same rank only if you see no difference that matters.

Judge each page by itself. You cannot go back to an earlier one.

{FEEDBACK_NOTE}"""


class BestWorst(_OfSeveral):
    """A worker says which of several outputs is the best and which the worst."""

    slug = "best-worst"
    title = "Best–worst"
    summary = "Several texts side by side: which is the best, and which the worst?"
    writes = ("answers", "questions", "translations", "summaries", "texts")
    tasks = ("best-worst",)
    good_for = "Many systems in little time: two clicks tell most of an order of four."
    paper = Paper("Kiritchenko and Mohammad 2017", "https://aclanthology.org/P17-2074/")
    names = ("best-worst scaling", "BWS", "MaxDiff")
    picture = "img/protocols/best-worst.webp"
    criteria = (
        CriterionSpec(
            "best and worst text",
            "Which text is the best, and which is the worst?",
            response="best_worst",
            scope=Scope.PAGE.value,
        ),
    )
    mix = Mix(18, 16, 2)
    method = "best_worst"
    instructions = f"""\
You will read several texts at a time, **A**, **B** and so on. Choose the best one and the worst one: [[what makes a
text better, for example that it answers the question above it, is correct, and is easy to read]].

- Read all texts before you choose. The order in which they are shown means nothing.
- If you cannot decide between two texts, choose either one.

Judge each page by itself. You cannot go back to an earlier one.

{FEEDBACK_NOTE}"""
