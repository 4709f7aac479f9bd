"""Post-editing: workers correct outputs; the less they change, the better the output (HTER, Snover et al. 2006)."""

from campaigns.contracts.protocol import FEEDBACK_NOTE, CriterionSpec, Field, Paper, Protocol, Screen
from campaigns.design.composition import Mix


class PostEdit(Protocol):
    """A worker sees a source text and its translation, and changes the translation as little as is needed."""

    slug = "post-edit"
    title = "Post-editing"
    summary = "Workers correct each output; edits, time and keystrokes are counted."
    writes = ("translations",)
    tasks = ("correct",)
    good_for = "How much work a translation leaves: edits, time and keystrokes."
    paper = Paper("Snover et al. 2006", "https://aclanthology.org/2006.amta-papers.25/")
    names = ("HTER", "TER", "post-editing", "corrections")
    picture = "img/protocols/post-edit.webp"
    criteria = (CriterionSpec("edited", "Correct the translation. Change only what is needed.", response="edit"),)
    worker_test = "paired-wilcoxon"
    method = "edits"
    screen = Screen(fields=(Field("source", "Source text"),), output_label="Translation")
    mix = Mix(14, 6)
    instructions = f"""\
You will read texts in **[[source language]]**, each with a translation into **[[target language]]**. Below them
the translation stands in a box. **Change it there until it is a correct translation, and change only what is needed.**

- A correct translation says what the source text says: nothing is missing, changed or added.
- It has no mistakes in grammar, spelling and punctuation.
- Do not change words only because you would have chosen others. Do not write a new translation.
- If there is nothing to change, tick **Nothing to change** below the box.

Please type in the box itself, and do not use another program or an automatic translator. Changes, keys and the time in
the box are counted. Edit each text by itself. You cannot go back to an earlier one.

{FEEDBACK_NOTE}"""
    has_open_screen = True
