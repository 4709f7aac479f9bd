"""Translations rated segment by segment in the context of their documents: marked errors, scores, and both."""

from campaigns.contracts.protocol import FEEDBACK_NOTE, CriterionSpec, Field, Paper, Protocol, Scope, Screen
from campaigns.design.composition import Mix
from campaigns.design.paging import PageKind

_READING = """\
You will read documents in **[[source language]]**, each with a translation into **[[target language]]**. A page shows
one document, segment by segment: a segment of the source text, and below it its translation.

Read a segment in the context of the whole document. What was said before may make a translation right or wrong."""
_CHANGING = """\
You can change your answers as long as the page is open. *Save for now* keeps what you have done, to go on later. Once
you go on to the next document, you cannot go back."""
_MARKING = """\
To mark an error, select it with the mouse, or tap its first and its last word. With the keyboard, the arrow keys move
from word to word, *Shift* selects, *Enter* goes on. Mark as little as you can: only the words that are wrong. If
something of the source text is missing, choose *Something is missing*."""


class _OfDocuments(Protocol):
    """A worker sees the segments of a document, one below the other, each with its translation by one system."""

    worker_test = "paired-wilcoxon"
    screen = Screen(fields=(Field("source", "Source text"),), output_label="Translation")
    page_kind = PageKind.DOCUMENT
    mix = Mix(7, 2, 1)  # documents
    has_open_screen = True


class Mqm(_OfDocuments):
    """Experts mark each error of a translation, with its category and severity (Lommel et al. 2014; Freitag et al.
    2021)."""

    slug = "mqm"
    title = "MQM"
    summary = "Errors marked in each segment of a document, with category and severity."
    writes = ("translations", "documents")
    tasks = ("mark",)
    good_for = "Experts who are to say what is wrong, where and how gravely."
    paper = Paper("Freitag et al. 2021", "https://aclanthology.org/2021.tacl-1.87/")
    names = ("Multidimensional Quality Metrics", "error annotation", "error spans", "severity")
    picture = "img/protocols/mqm.webp"
    method = "spans"
    criteria = (
        CriterionSpec(
            "errors",
            "Mark every error of the translation.",
            response="spans",
            settings={"source_field": "source"},
        ),
    )
    instructions = f"""\
{_READING}

**Mark every error of the translation**, and choose its category and how severe it is:

- **major**: the reader learns something wrong or cannot understand the text.
- **minor**: the reader notices it, and still understands the text as it was meant.
- **neutral**: you would have written it in another way, and it is not wrong.

{_MARKING} Errors of the source text itself, and what was left out, can be marked in the source text. If a segment is
not a translation of the source text at all, mark all of it as *Non-translation*, major. If there is no error, say so.

{_CHANGING}

{FEEDBACK_NOTE}"""


class Esa(_OfDocuments):
    """Raters mark the errors of a translation with their severity, then score it from 0 to 100 (Kocmi et al. 2024)."""

    slug = "esa"
    title = "ESA"
    summary = "Errors marked in each segment of a document, then a score of the segment."
    writes = ("translations", "documents")
    tasks = ("mark", "slider")
    good_for = "Marked errors and a score in one go, without experts in MQM."
    paper = Paper("Kocmi et al. 2024", "https://aclanthology.org/2024.wmt-1.131/")
    names = ("Error Span Annotation", "error spans", "severity")
    picture = "img/protocols/esa.webp"
    method = "esa"
    criteria = (
        CriterionSpec(
            "errors",
            "Mark the errors of the translation.",
            response="spans",
            settings={"severities": "minor\nmajor", "categories": "", "must_say_none": "no"},
            is_in_worker_test=False,
        ),
        CriterionSpec(
            "score",
            "How good is the translation of this segment?",
            settings={
                "left_label": "no meaning preserved",
                "labels_between": "some meaning preserved\nmost meaning preserved, few grammar mistakes",
                "right_label": "perfect meaning and grammar",
            },
        ),
    )
    instructions = f"""\
{_READING}

**First mark the errors of the translation**, and choose how severe each is:

- **major**: it changes the meaning, or makes the text hard to understand.
- **minor**: it is noticed, such as a mistake in grammar or style, and the meaning is the same.

{_MARKING} If there is no error, mark nothing.

**Then say how good the translation of the segment is.** Think of the errors that you marked, of how much of the
meaning is there, and of how well it reads:

- at the left end, almost nothing of the meaning is there;
- about a third of the way, some of it is there;
- about two thirds of the way, most of it is there, with few mistakes;
- at the right end, meaning and grammar are perfect.

{_CHANGING}

{FEEDBACK_NOTE}"""


class ContrastiveEsa(Protocol):
    """Raters see several translations of a segment side by side, mark the errors of each, and score each.

    Beside the others a rater sees differences that go unnoticed one by one (contrastive ESA of Zouhar & Kocmi 2026).
    With eight pairs of twins, careful workers pass.
    """

    slug = "cesa"
    title = "Contrastive ESA"
    summary = "Several translations of a segment side by side: errors marked in each, and a score of each."
    writes = ("translations",)
    tasks = ("mark", "slider")
    good_for = "Systems that are close to each other: raters see what differs."
    paper = Paper("Zouhar & Kocmi 2026", "https://arxiv.org/abs/2601.02933")
    names = ("cESA", "Pearmut", "error spans", "side by side", "contrastive")
    picture = "img/protocols/cesa.webp"
    method = "esa"
    criteria = Esa.criteria
    worker_test = "paired-wilcoxon"
    screen = _OfDocuments.screen
    page_kind = PageKind.COMPARISON
    outputs_per_page = 3
    mix = Mix(12, 8, 2)
    has_open_screen = True
    instructions = f"""\
You will read segments in **[[source language]]**, each with several translations into **[[target language]]**, **A**,
**B** and so on.

**First mark the errors of each translation**, and choose how severe each is:

- **major**: it changes the meaning, or makes the text hard to understand.
- **minor**: it is noticed, such as a mistake in grammar or style, and the meaning is the same.

{_MARKING} If there is no error, mark nothing.

**Then score each translation** on the slider. Compare the translations with each other, too: a better one gets a
higher score. The order in which they are shown means nothing.

Judge each page by itself. You cannot go back to an earlier one.

{FEEDBACK_NOTE}"""


class Sqm(_OfDocuments):
    """Raters choose one of seven points for each segment (Freitag et al. 2021; Kocmi et al. 2022)."""

    slug = "sqm"
    title = "SQM"
    summary = "Each segment of a document on a scale from 0 to 6."
    writes = ("translations", "documents")
    tasks = ("points",)
    good_for = "Translations in context, on seven points with fixed meanings."
    paper = Paper("Freitag et al. 2021", "https://aclanthology.org/2021.tacl-1.87/")
    names = ("Scalar Quality Metric", "0–6", "0-6", "DA+SQM")
    picture = "img/protocols/sqm.webp"
    method = "ordinal"
    criteria = (
        CriterionSpec(
            "quality",
            "How good is the translation of this segment?",
            response="scale",
            settings={
                "labels": (
                    "0: no meaning preserved\n1\n2: some meaning preserved\n3\n4: most meaning preserved, few grammar "
                    "mistakes\n5\n6: perfect meaning and grammar"
                ),
                "lowest": 0,
            },
        ),
    )
    instructions = f"""\
{_READING}

For each segment, choose the point that fits its translation best:

- **0**: almost nothing of the meaning is preserved.
- **2**: the translation keeps some of the meaning, but not important parts of it. The grammar may be poor.
- **4**: most of the meaning is preserved. There may be some mistakes in grammar, or small differences in meaning.
- **6**: the meaning is preserved completely, and the grammar is correct.

Choose 1, 3 or 5 for what lies in between.

{_CHANGING}

{FEEDBACK_NOTE}"""


class DocumentAssessment(_OfDocuments):
    """Raters put a slider for each segment, then one for the document (Barrault et al. 2019)."""

    slug = "da-document"
    title = "Direct Assessment, documents"
    summary = "Each segment of a document on a slider, then the whole document."
    writes = ("translations", "documents")
    tasks = ("slider",)
    good_for = "Translations in context: every segment, then the whole document."
    paper = Paper("Barrault et al. 2019", "https://aclanthology.org/W19-5301/")
    names = ("DA", "document-level", "SR+DC")
    picture = "img/protocols/da-document.webp"
    criteria = (
        CriterionSpec("segment", "The translation expresses the meaning of the source text adequately."),
        CriterionSpec(
            "document",
            "The translation of the whole document expresses the meaning of the source document adequately.",
            scope=Scope.PAGE.value,
        ),
    )
    instructions = f"""\
{_READING}

For each segment, say how far you agree that the translation expresses the meaning of the source text *adequately*: a
person who reads only the translation learns what the source text says. At the end of the page, say the same of the
document as a whole.

- Move the slider towards *strongly agree* if the translation has the same meaning as the source text.
- Move the slider towards *strongly disagree* if the translation has little or nothing of this meaning.
- Use the whole length of the slider for translations in between.

Rate the meaning, not the style. A mistake in grammar or spelling matters only if it changes the meaning.

{_CHANGING}

{FEEDBACK_NOTE}"""
