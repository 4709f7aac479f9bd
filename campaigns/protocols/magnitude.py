"""Magnitude estimation: how many times as good as a reference an output is, beside others (RankME) or by itself."""

from campaigns.contracts.protocol import FEEDBACK_NOTE, CriterionSpec, Field, Paper, Protocol, Screen
from campaigns.design.composition import Mix
from campaigns.design.paging import PageKind

_REFERENCE = 100
_CRITERION = CriterionSpec(
    "magnitude",
    "How good is this text, compared with the reference?",
    response="number",
    settings={"least": "1", "is_whole": "no", "reference": str(_REFERENCE)},
)
_SCREEN = Screen(
    fields=(Field("context", "Context", is_required=False), Field("reference", f"Reference: {_REFERENCE}")),
    output_label="Text",
)
_HOW = f"""\
The reference has the number **{_REFERENCE}**. Give each text a number that says how many times as good it is:
[[what makes a text better, for example that it says all that it should, and sounds natural]].

- A text that is twice as good as the reference gets {2 * _REFERENCE}, one that is half as good gets {_REFERENCE // 2}.
- There is no largest number. Use any number of 1 or more, such as 85 or 130."""


class RankMe(Protocol):
    """A worker sees the outputs of four systems at once, beside a reference with a fixed number (Novikova et al. 2018).

    The reference is a text of each source, as an experimenter chooses it: no output, so that no system has a number
    that is given. With eight pairs of twins, 97 % of careful simulated workers or more pass.
    """

    slug = "rank-me"
    title = "RankME"
    summary = "Several texts side by side: how many times as good as a reference is each?"
    writes = ("answers", "questions", "summaries", "texts")
    tasks = ("rank", "count")
    good_for = "How many times as good one system is as another, with outputs side by side."
    paper = Paper("Novikova et al. 2018", "https://aclanthology.org/N18-2012/")
    names = ("magnitude estimation", "NLG")
    picture = "img/protocols/rank-me.webp"
    criteria = (_CRITERION,)
    worker_test = "paired-wilcoxon"
    screen = _SCREEN
    page_kind = PageKind.COMPARISON
    outputs_per_page = 4
    mix = Mix(12, 8, 2)
    method = "magnitude"
    has_open_screen = True
    instructions = f"""\
You will read several texts at a time, **A**, **B** and so on, and a reference above them. {_HOW}
- Compare the texts with each other, too: a better one gets a larger number. The order in which they are shown means
  nothing.

Judge each page by itself. You cannot go back to an earlier one.

{FEEDBACK_NOTE}"""


class MagnitudeEstimation(Protocol):
    """A worker sees one output beside a reference with a fixed number: magnitude estimation (Bard et al. 1996)."""

    slug = "magnitude"
    title = "Magnitude estimation"
    summary = "One text at a time: how many times as good as a reference is it?"
    writes = ("answers", "questions", "summaries", "texts")
    tasks = ("count",)
    good_for = "Differences as ratios to a reference, without the ends of a scale."
    paper = Paper("Bard et al. 1996", "https://doi.org/10.2307/416793")
    names = ("ME", "acceptability")
    picture = "img/protocols/magnitude.webp"
    criteria = (_CRITERION,)
    worker_test = "paired-wilcoxon"
    screen = _SCREEN
    mix = Mix(40, 8, 2)
    method = "magnitude"
    has_open_screen = True
    instructions = f"""\
You will read texts, one at a time, each with a reference above it. {_HOW}

Judge each text by itself. You cannot go back to an earlier one.

{FEEDBACK_NOTE}"""
