"""Captions of pictures."""

from campaigns.contracts.protocol import FEEDBACK_NOTE, CriterionSpec, Field, Paper, Protocol, Screen
from campaigns.design.composition import Mix


class Caption(Protocol):
    """A worker sees a picture and a caption: precision, recall and fluency (Kasai et al. 2022), on sliders."""

    slug = "caption"
    title = "Caption of a picture"
    summary = "A picture and a caption: is it right, does it say what matters, does it read well?"
    writes = ("captions",)
    tasks = ("slider",)
    good_for = "Models that describe pictures, and alternative texts."
    paper = Paper("Kasai et al. 2022", "https://aclanthology.org/2022.naacl-main.254/")
    names = ("image captioning", "THumB", "vision", "alt text", "multimodal")
    picture = "img/protocols/caption.webp"
    criteria = (
        CriterionSpec("precision", "Everything that the caption says is in the picture."),
        CriterionSpec("recall", "The caption says what matters in the picture."),
        CriterionSpec("fluency", "The caption is well written.", is_in_worker_test=False),
    )
    worker_test = "paired-wilcoxon"
    screen = Screen(fields=(Field("image", "Picture", format="image"),), output_label="Caption")
    mix = Mix(32, 8, 4)
    has_open_screen = True
    instructions = f"""\
You will see pictures, each with a caption. Look at the picture first. Then say how far you agree with three statements:

- **Everything that the caption says is in the picture.** What is wrong or made up counts against it. What it leaves
  out does not count here.
- **The caption says what matters in the picture.** Somebody who cannot see the picture would know what it is about.
- **The caption is well written.** It is correct and easy to read, whatever the picture shows.

Move a slider towards *strongly agree* or *strongly disagree*, and use its whole length for what lies in between. You
can enlarge the picture. Rate each caption by itself. You cannot go back to an earlier one.

{FEEDBACK_NOTE}"""
