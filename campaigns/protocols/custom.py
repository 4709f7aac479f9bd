"""Campaigns of one's own: any fields, any criteria, any mix; with presets for Direct Assessment and Likert scales."""

from campaigns.contracts.protocol import FEEDBACK_NOTE, CriterionSpec, Field, Paper, Protocol, Screen
from campaigns.design.composition import POOL_OF_100, Mix


class Custom(Protocol):
    """Whatever fields a source has, then a text to be rated."""

    slug = "custom"
    title = "Custom"
    summary = "Your own fields, criteria and HITs, for any text that can be rated."
    writes = ("answers", "questions", "translations", "summaries", "texts")
    tasks = ("slider",)
    good_for = "What no other protocol fits: you choose texts, questions and HITs."
    paper = Paper("Graham et al. 2016", "https://doi.org/10.1017/S1351324915000339")
    names = ("own", "blank", "free", "direct assessment", "DA")
    picture = "img/protocols/custom.webp"
    criteria = (CriterionSpec("quality", "The text is good."),)
    worker_test = "paired-wilcoxon"
    screen = Screen(fields=(Field("source", "Source"),), output_label="Text")
    mix = Mix(80, 10, 10)  # no field is known to be a reference
    instructions = f"""\
You will read [[what workers read, for example news articles, each with a headline]].

Say how far you agree with the statement below each text. Move the slider towards *strongly agree* or *strongly
disagree*, and use its whole length for what lies in between.

Rate each item by itself. You cannot go back to an earlier item.

{FEEDBACK_NOTE}"""
    has_open_screen = True


class Translation(Protocol):
    """A worker sees the source text and a translation of it (Graham et al. 2016)."""

    slug = "da-translation"
    title = "Direct Assessment, translation"
    summary = "Does the translation say what the source text says?"
    writes = ("translations",)
    tasks = ("slider",)
    good_for = "Many systems and a crowd without expert translators."
    paper = Paper("Graham et al. 2016", "https://doi.org/10.1017/S1351324915000339")
    names = ("DA", "MT", "machine translation")
    picture = "img/protocols/da-translation.webp"
    criteria = (CriterionSpec("adequacy", "The translation expresses the meaning of the source text adequately."),)
    worker_test = "paired-wilcoxon"
    screen = Screen(
        fields=(Field("source", "Source text"), Field("reference", "Reference translation", False, is_shown=False)),
        output_label="Translation",
        reference_field="reference",
    )
    mix = POOL_OF_100
    instructions = f"""\
You will read texts in **[[source language]]**, each with a translation into **[[target language]]**. Say how far you
agree that the translation expresses the meaning of the source text *adequately*.

*Adequately* means that a person who reads only the translation learns what the source text says: nothing is missing,
changed or added.

- Move the slider towards *strongly agree* if the translation has the same meaning as the source text.
- Move the slider towards *strongly disagree* if the translation has little or nothing of this meaning.
- Use the whole length of the slider for translations in between.

Rate the meaning, not the style. A mistake in grammar or spelling matters only if it changes the meaning. Rate each
translation by itself. You cannot go back to an earlier one.

{FEEDBACK_NOTE}"""
    has_open_screen = True


class Summary(Protocol):
    """A worker sees a document and a summary of it."""

    slug = "da-summary"
    title = "Direct Assessment, summary"
    summary = "Does the summary hold what matters in the document, and does it read well?"
    writes = ("summaries",)
    tasks = ("slider",)
    good_for = "Content and language of summaries, in fine steps."
    paper = Paper("Graham et al. 2016", "https://doi.org/10.1017/S1351324915000339")
    names = ("DA", "summarisation", "summarization")
    picture = "img/protocols/da-summary.webp"
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
    instructions = f"""\
You will read documents, each with a summary. Read the document first. Then say how far you agree with two statements:

- The summary contains **the most important information**: a person who reads only the summary learns what the document
  is about and what its main points are. Details may be left out. What the document does not say does not count.
- The summary is **fluent and well written**: its sentences are correct, easy to read and fit together.

Rate the two separately: a summary can be well written and leave out what matters, or the reverse. Move a slider towards
*strongly agree* or *strongly disagree*, and use its whole length for what lies in between. Rate each summary by itself.
You cannot go back to an earlier one.

{FEEDBACK_NOTE}"""
    has_open_screen = True


class Likert(Protocol):
    """A worker sees a source and a text, and chooses one of a few ordered points for each criterion (Likert 1932)."""

    slug = "likert"
    title = "Likert scales"
    summary = "Quality criteria, each answered on five labelled points from strongly disagree to strongly agree."
    writes = ("answers", "questions", "translations", "summaries", "texts")
    tasks = ("points",)
    good_for = "Your own statements about any text, on a few points that are quickly explained."
    paper = Paper("Likert 1932")
    names = ("five points", "1–5", "1-5", "five-point scale", "rating scale", "SummEval")
    picture = "img/protocols/likert.webp"
    criteria = (
        CriterionSpec("clarity", "The text is clear.", response="scale"),
        CriterionSpec("usefulness", "The text is useful.", response="scale"),
    )
    method = "ordinal"
    worker_test = "paired-wilcoxon"
    screen = Screen(fields=(Field("source", "Source"),), output_label="Text")
    mix = Mix(80, 10, 10)  # no field is known to be a reference
    instructions = f"""\
You will read [[what workers read, for example summaries of news articles]].

Below each text there are statements. For each, choose the point that says how far you agree with it.

Rate each item by itself. You cannot go back to an earlier item.

{FEEDBACK_NOTE}"""
    has_open_screen = True
