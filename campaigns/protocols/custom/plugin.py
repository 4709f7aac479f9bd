"""Campaigns of one's own: any fields, any criteria, any mix; with presets for Direct Assessment."""

from campaigns.contracts.protocol import CriterionSpec, Field, Protocol, Screen
from campaigns.design.composition import POOL_OF_100, Mix

_INSTRUCTIONS = """\
How far do you agree with the statement below each text? Move the slider towards *strongly agree* or *strongly
disagree*, and use its whole length for what lies in between.

Rate each text as you find it. You cannot go back to an earlier one.
"""


class Custom(Protocol):
    """Whatever fields a source has, then a text to be rated."""

    slug = "custom"
    title = "Custom"
    summary = "Your own fields, criteria and HITs, for any text that can be rated."
    criteria = (CriterionSpec("quality", "The text is good."),)
    worker_test = "paired-wilcoxon"
    screen = Screen(fields=(Field("source", "Source"),), output_label="Text")
    mix = Mix(80, 10, 10)  # no field is known to be a reference
    instructions = _INSTRUCTIONS
    has_open_screen = True


class Translation(Protocol):
    """A worker sees the source text and a translation of it (Graham et al. 2016)."""

    slug = "da-translation"
    title = "Direct Assessment, translation"
    summary = "Does the translation say what the source text says?"
    criteria = (CriterionSpec("adequacy", "The translation expresses the meaning of the source text adequately."),)
    worker_test = "paired-wilcoxon"
    screen = Screen(
        fields=(Field("source", "Source text"), Field("reference", "Reference translation", False, is_shown=False)),
        output_label="Translation",
        reference_field="reference",
    )
    mix = POOL_OF_100
    instructions = _INSTRUCTIONS
    has_open_screen = True


class Summary(Protocol):
    """A worker sees a document and a summary of it."""

    slug = "da-summary"
    title = "Direct Assessment, summary"
    summary = "Does the summary hold what matters in the document, and does it read well?"
    criteria = (
        CriterionSpec("informativeness", "The summary contains the most important information of the document."),
        CriterionSpec("fluency", "The summary is fluent and well written."),
    )
    worker_test = "paired-wilcoxon"
    screen = Screen(
        fields=(Field("document", "Document"), Field("reference", "Reference summary", False, is_shown=False)),
        output_label="Summary",
        reference_field="reference",
    )
    mix = POOL_OF_100
    instructions = _INSTRUCTIONS
    has_open_screen = True
