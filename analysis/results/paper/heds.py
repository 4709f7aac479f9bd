"""The Human Evaluation Datasheet, HEDS 3.0 (Belz & Thomson 2024, arXiv:2412.07940; GEM 2025), filled from a campaign.

Numbers and questions are those of the form at https://nlp-heds.github.io; in an answer to a question of multiple choice
the options are those of the form. Hints are shorter than the form's notes.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from analysis.questions.coefficients import ALPHA
from analysis.results.answers import Agreement, find_answer
from analysis.results.paper.facts import CampaignFacts, StatementFacts
from analysis.results.paper.questions import Question, completed, known
from analysis.results.paper.texts import exclusion, hits, listed, recruitment
from analysis.results.result import Result
from analysis.results.values import get_totals
from campaigns.design.worker_test import NO_TEST
from evalsite.lib.version import __version__
from evalsite.lib.words import counted

VERSION = "3.0"
REFERENCE = "https://arxiv.org/abs/2412.07940"
_CHOOSE_YES_NO = "1. Yes · 2. No · 3. N/A (please explain)"
_LANGUAGES = "Full language names as in ISO 639-1, such as English; N/A if there is none."
_TYPES = (
    "All that apply: raw/structured data · deep linguistic representation · shallow linguistic representation · text: "
    "subsentential unit, sentence, multiple sentences, document, dialogue, other · speech · visual · multi-modal · "
    "other, described"
)


@dataclass(frozen=True)
class Section:
    """A part of the sheet, with its number and title; of section 4 there is one for each criterion."""

    number: str
    title: str
    questions: Sequence[Question]


def datasheet(facts: CampaignFacts, result: Result | None, answers: Mapping[str, str] | None = None) -> list[Section]:
    """Return the sheet of a campaign: what it and its results say, and what `answers`, by key, add.

    Without a result, as before the first results, what only ratings say is open.
    """
    written = answers or {}
    sections = [
        Section("1", "Main Reference and Supplementary Resources", _resources(facts)),
        Section("2", "Evaluated System(s)", _systems(facts)),
        Section("3.1", "Sample of System Outputs", _sample(facts, result)),
        Section("3.2", "Evaluators", _evaluators(facts, result)),
        Section("3.3", "Experimental Design", _design(facts, result)),
        *(Section("4", f"Quality Criterion: {each.name}", _criterion(each, facts, result)) for each in facts.criteria),
        Section("5", "Ethics", _ethics()),
    ]
    return [Section(each.number, each.title, completed(each.questions, written)) for each in sections]


def keys_of(sections: Sequence[Section]) -> list[str]:
    """Return the keys of all questions, under which answers are stored."""
    return [question.key for section in sections for question in section.questions]


def _q(number: str, text: str, answer: str = "", hint: str = "", of: str = "") -> Question:
    key = f"heds-{number}-{of}" if of else f"heds-{number}"
    return known(key, number, text, answer, hint)


def _resources(facts: CampaignFacts) -> list[Question]:
    kind = "chats with" if facts.is_live else "outputs of"
    names = listed([each.name for each in facts.criteria] or ["no criterion"])
    experiment = f"“{facts.name}”: {kind} {counted(facts.n_systems, 'system')}, rated on {names}."
    return [
        _q("1.1.1", "Where can the main reference for the evaluation experiment be found?", hint=(
            "1. The main paper reporting the experiment is here (enter URL). · 2. An unpublished report is here (enter "
            "URL). · 3. No report is available and this sheet will be uploaded for preregistration here (enter URL). · "
            "4. No report is available and no preregistration is planned."
        )),
        _q("1.1.2", "Which experiment is this form being completed for?", experiment),
        _q("1.2", "Where can the resources that were used in the evaluation experiment be found?", hint=(
            "1. The resources used in the experiment can be found here (enter URLs). · 2. No resources shared. The "
            "replication package of the results is one to share."
        )),
        _q("1.3.1.1", "Name of the person completing this sheet.", hint="Your name."),
        _q("1.3.1.2", "Affiliation of the person completing this sheet.", hint="Your affiliation."),
        _q("1.3.1.3", "Email address of the person completing this sheet.", hint="Your e-mail address."),
        _q("1.3.2.1", "Name of the contact author.", hint="N/A if it is the same person."),
        _q("1.3.2.2", "Affiliation of the contact author.", hint="N/A if it is the same person."),
        _q("1.3.2.3", "Email address of the contact author.", hint="N/A if it is the same person."),
    ]  # fmt: skip


def _systems(facts: CampaignFacts) -> list[Question]:
    return [
        _q("2.1", "What type of input do the evaluated system(s) take?",
           hint=f"{_TYPES}; also: control feature · no input."),
        _q("2.2", "What type of output do the evaluated system(s) generate?", hint=f"{_TYPES}."),
        _q(
            "2.3",
            "What is the task that the evaluated system(s) perform in mapping the inputs in Question 2.1 to the "
            "outputs in Question 2.2?",
            "10. Dialogue turn generation" if facts.is_live else "",
            "All that apply, such as data-to-text generation · question generation · question answering · "
            "paraphrasing/lossless simplification · machine translation · summarisation · other, described.",
        ),
        _q("2.4", "What are the language(s) of the inputs accepted by the system(s)?", hint=_LANGUAGES),
        _q("2.5", "What are the language(s) of the outputs produced by the system?", hint=_LANGUAGES),
    ]  # fmt: skip


def _sample(facts: CampaignFacts, result: Result | None) -> list[Question]:
    power = "A method and a reference for it, or N/A if there was no power analysis."
    return [
        _q("3.1.1", "How many system outputs (or other evaluation items) are evaluated per system?",
           _n_outputs(facts, result), "A number; if it varies, how and why."),
        _q("3.1.2", "How are system outputs (or other evaluation items) selected for inclusion?", hint=(
            "1. By simple automatic random selection · 2. By an automatic random process but using stratified sampling "
            "over given properties · 3. By non-random automatic selection · 4. By manual, arbitrary selection · 5. By "
            "manual selection aimed at achieving balance or variety relative to given properties · 6. Other (please "
            "describe)"
        )),
        _q("3.1.3.1", "What method of statistical power analysis was used to determine the appropriate sample size?",
           hint=power),
        _q("3.1.3.2", "What is the statistical power of the sample?", hint="The numbers of that analysis, or N/A."),
        _q("3.1.3.3", "Where can other researchers find details of any code used in the power analysis performed?",
           hint="A URL, or N/A."),
    ]  # fmt: skip


def _n_outputs(facts: CampaignFacts, result: Result | None) -> str:
    """Return how many outputs of each system were rated; before there are ratings, how many there are."""
    rows = result.summary.systems if result else []
    rated = [row.n_outputs for row in rows if row.n_outputs is not None]
    what = "chats" if facts.is_live else "outputs (repeats included)"
    if rated and min(rated) == max(rated):
        return f"{rated[0]:,} {what}."
    if rated:
        each = "; ".join(f"{row.system}: {row.n_outputs:,}" for row in rows)
        return f"Between {min(rated):,} and {max(rated):,} {what} whose ratings count, by system: {each}."
    if facts.is_live or not facts.n_systems or facts.n_outputs % facts.n_systems:
        return ""
    return f"{facts.n_outputs // facts.n_systems:,}"


def _evaluators(facts: CampaignFacts, result: Result | None) -> list[Question]:
    paid = ""
    if facts.reward:
        paid = f"1. Paid (monetary compensation): {facts.currency} {facts.reward:.2f} for each HIT."
    training = f"None but these instructions:\n\n{facts.instructions.strip()}" if facts.instructions.strip() else ""
    return [
        _q("3.2.1", "How many evaluators are there in this experiment?",
           f"{get_totals(result).n_counted:,}" if result else "", "Those whose ratings count."),
        _q("3.2.2.1", "Are the evaluators in this experiment domain experts?", hint=_CHOOSE_YES_NO),
        _q("3.2.2.2", "Did participants receive any form of payment?", paid, (
            "1. Paid (monetary compensation) · 2. Paid (non-monetary compensation such as course credits) · 3. Not "
            "paid · 4. N/A (please explain)"
        )),
        _q("3.2.2.3", "Were any of the participants previously known to the authors?", hint=_CHOOSE_YES_NO),
        _q("3.2.2.4", "Were any of the researchers running the experiment among the participants?",
           hint=_CHOOSE_YES_NO),
        _q("3.2.3", "How are evaluators recruited?", recruitment(facts)[0] if facts.platform else "", (
            "How they were found and invited, by whom, and who was let in."
        )),
        _q("3.2.4", "What training and/or practice are evaluators given before starting on the evaluation itself?",
           training, "Introductions, training and practice."),
        _q("3.2.5", "What other characteristics do the evaluators have?", hint=(
            "Region, education, gender, age and so on as far as known, with numbers; required qualifications."
        )),
    ]  # fmt: skip


def _design(facts: CampaignFacts, result: Result | None) -> list[Question]:
    from_where = facts.platform or ("personal links" if facts.is_invited else "an open link")
    text = "shown as text" if facts.is_accessible else "shown as images of text"
    seen = "the chat" if facts.is_live else f"{listed([*facts.shown, facts.output_label])} ({text})"
    answered = "; ".join(dict.fromkeys(each.answered_by for each in facts.criteria)) or "none is set yet"
    own_place = "1. Evaluators carry out assessments at a place of their own choosing" if facts.platform else ""
    ask = ["2. Evaluators are told they can ask any questions during the evaluation"] if facts.contact else []
    return [
        _q("3.3.1", "Has the experimental design been preregistered?", hint="1. Yes (please provide link) · 2. No"),
        _q("3.3.2", "By what medium are responses collected?",
           f"Web pages of evalsite {__version__}, which evaluators reach from {from_where}."),
        _q("3.3.3.1", "What types of quality assurance methods are used to ensure that evaluators are sufficently "
           "qualified and/or their responses are of sufficient quality?", _assurance_types(facts, result), (
            "All that apply: 1. native speakers required · 2. automatic quality checking · 3. manual quality checking "
            "· 4. evaluators excluded · 5. some evaluations excluded · 6. other · 7. none of the above"
        )),
        _q("3.3.3.2", "What methods are used for each of the types of quality assurance methods that were selected in "
           "Question 3.3.3.1?", " ".join([hits(facts)[0], *(exclusion(result) if result else [])]), "Details."),
        _q("3.3.4.1", "Where can the form/interface that was shown to participants be viewed?",
           hint="A URL of a screenshot; the page Preview shows what evaluators see."),
        _q("3.3.4.2", "What types of information are evaluators shown when carrying out evaluations?",
           f"With each item {seen}, and for each criterion a statement with what answers it: {answered}. The "
           "instructions can be opened at any time."),
        _q("3.3.5", "How free are evaluators regarding when and how quickly to carry out evaluations?",
           "5. None of the above: they may pause and go on; a HIT in which nothing is rated for "
           f"{counted(facts.lease_minutes, 'minute')} is offered to others."),
        _q("3.3.6", "Are evaluators told they can ask questions about the evaluation and/or provide feedback?",
           "; ".join([*ask, "3. Evaluators provide feedback after the evaluation"]) + "."),
        _q("3.3.7", "What are the conditions in which evaluators carry out the evaluations?", own_place, (
            "1. a place of their own choosing · 2./3. a lab, conditions controlled or not · 4./5. a real-life "
            "situation, controlled or not · 6./7. outside of the lab, resembling a real-life situation, controlled or "
            "not · 8. other (please describe)"
        )),
        _q("3.3.8", "In what ways do conditions in which evaluators carry out the evaluations vary for different "
           "evaluators?", "Place, time, device and browser are the evaluators' own." if facts.platform else "",
           "What varies; N/A for conditions that are controlled to be the same."),
    ]  # fmt: skip


def _assurance_types(facts: CampaignFacts, result: Result | None) -> str:
    if result is None:
        return ""
    totals = get_totals(result)
    types = []
    if totals.worker_test != NO_TEST:
        types += [
            "2. Automatic quality checking methods are used during and/or after evaluation",
            "4. Evaluators are excluded if they fail quality checks (often or badly enough)",
        ]
    if totals.n_excluded:
        types.insert(len(types) // 2, "3. Manual quality checking methods are used during/post evaluation")
    return "; ".join(types or ["7. None of the above (no quality assurance methods used)"]) + "."


def _criterion(each: StatementFacts, facts: CampaignFacts, result: Result | None) -> list[Question]:
    """Return the questions of section 4 for one criterion."""

    def q(number: str, text: str, answer: str = "", hint: str = "") -> Question:
        return _q(number, text, answer, hint, of=each.key)

    said = result.paper if result else None
    scores = " ".join(said.scored) if said else ""
    reversal = " Agreement is bad: scores are reversed to 100 − x first." if each.is_negative else ""
    tests = " ".join([*said.compared, *said.effects]) if said else ""
    prompt = f"{each.statement} (answered by {each.answered_by})"
    return [
        q("4.1.1", "What type of quality is assessed by the quality criterion?",
          hint="1. Correctness · 2. Goodness · 3. Feature"),
        q("4.1.2", "Which aspect of system outputs is assessed by the quality criterion?",
          hint="1. Form of output · 2. Content of output · 3. Both form and content of output"),
        q("4.1.3", "Is each output assessed for quality in its own right, or with reference to a system-internal or "
          "external frame of reference?", hint=(
            "1. Quality of output in its own right · 2. Quality of output relative to the input · 3. Quality of output "
            "relative to a system-external frame of reference"
        )),
        q("4.2.1", "Does an individual assessment involve an objective or a subjective judgment?", "2. Subjective"),
        q("4.2.2", "Are outputs assessed in absolute or relative terms?", "1. Absolute"),
        q("4.2.3", "Is the evaluation intrinsic or extrinsic?", "1. Intrinsic"),
        q("4.3.1.1", "What do you call the quality criterion in explanations/interfaces to evaluators?",
          "No name given."),
        q("4.3.1.2", "What standardised quality criterion name does the name entered for 4.3.1.1 correspond to?",
          hint="A name of a standardised set such as QCET (Belz et al. 2024, 2025), with the reference."),
        q("4.3.2", "What definition do you give for the quality criterion in explanations/interfaces to evaluators?",
          f"The nearest to a definition is the statement: “{each.statement}”"),
        q("4.3.3", "What is the size of the scale or other rating instrument?", each.n_values,
          hint="A number, or continuous, or N/A."),
        q("4.3.4", "What are the possible values of the scale or other rating instrument?", each.values),
        q("4.3.5", "How is the scale or other rating instrument presented to evaluators?",
          each.instrument),
        q("4.3.6", "If there is no rating instrument, what is the task the evaluators perform?", "N/A"),
        q("4.3.7", "What is the verbatim question, prompt or instruction given to evaluators (visible to them during "
          "each individual assessment)?", prompt),
        q("4.3.8", "What form of response elicitation is used in collecting assessments from evaluators?",
          each.elicitation),
        q("4.3.9", "How are raw responses from participants aggregated or otherwise processed to "
          "obtain reported scores for this quality criterion?", scores + reversal if scores else "",
          "How scores become those of systems."),
        q("4.3.10", "What method(s) are used for determining effect size and significance of findings for this quality "
          "criterion?", tests, "The tests, or None."),
        *_agreement(q, each, result),
    ]  # fmt: skip


def _agreement(q: Any, each: StatementFacts, result: Result | None) -> list[Question]:
    """Return how far evaluators agree with each other on a criterion, and with themselves."""
    agreement = find_answer(result.questions if result else {}, "reliability", Agreement)
    inter, intra = ("", ""), ("", "")
    criteria = agreement.criteria if agreement else []
    named = [criterion for criterion in criteria if len(criteria) == 1 or criterion.name == each.name]
    if named:
        key = ALPHA.get(named[0].answer, "")
        between = named[0].between
        alpha = between.coefficients.get(key)
        not_assessed = "InterAA not assessed: nothing was judged by two workers who count."
        inter = (not_assessed, not_assessed) if alpha is None else (
            (f"Krippendorff's α for {key.removeprefix('alpha_')} data, of {counted(between.n_items or 0, 'item')} that "
            "two workers or more judged who count."),
            f"α = {alpha:.3f}",
        )  # fmt: skip
    if agreement and agreement.intra:
        repeats = agreement.intra.passed
        median = repeats.correlations.pearson.quartiles[1]
        not_assessed = "IntraAA not assessed: no worker who counts rated an item twice."
        intra = (not_assessed, not_assessed) if median is None else (
            (f"{counted(repeats.n_pairs, 'rating')} of items that a worker rated twice; Pearson's "
            "r for each worker, criteria pooled."),
            f"Median r = {median:.3f}",
        )  # fmt: skip
    return [
        q("4.3.11.1", "How was the inter-annotator agreement between evaluators measured for this quality criterion?",
          inter[0], "The method, or InterAA not assessed."),
        q("4.3.11.2", "What was the inter-annotator agreement score?", inter[1], "The score, or InterAA not assessed."),
        q("4.3.12.1", "How was the intra-annotator agreement between evaluators measured for this quality criterion?",
          intra[0], "The method, or IntraAA not assessed."),
        q("4.3.12.2", "What was the intra-annotator agreement score?", intra[1], "The score, or IntraAA not assessed."),
    ]  # fmt: skip


def _ethics() -> list[Question]:
    return [
        _q("5.1", "Which research ethics committee has approved the evaluation experiment this sheet is being "
           "completed for, or the larger study it is part of?", hint="Its name, or: No ethical approval obtained."),
        _q("5.2", "Does personal data (as defined in GDPR Art. 4, §1) occur in any of the system outputs (or "
           "human-authored stand-ins) evaluated, or responses collected, in the experiment this sheet is being "
           "completed for?", hint=(
            "1. No · 2. Yes, and how it was ensured that the data was handled in accordance with GDPR. Ids of workers "
            "on a crowd platform, e-mail addresses of raters and what is typed in chats may be personal data."
        )),
        _q("5.3", "Does special category information (as defined in GDPR Art. 9, §1) occur in any of the evaluation "
           "items evaluated, or responses collected, in the evaluation experiment this sheet is being completed for?",
           hint="1. No · 2. Yes, and how it was ensured that the data was handled in accordance with GDPR."),
        _q("5.4", "Have any impact assessments been carried out for the evaluation experiment, and/or any data "
           "collected/evaluated in connection with it?",
           hint="What, with a link, or: no impact assessment carried out."),
    ]  # fmt: skip


# --- As files

_MARKS = {"campaign": "from the campaign", "researcher": "completed by hand"}


def to_document(name: str, sections: Sequence[Section]) -> dict[str, Any]:
    """Return the sheet as JSON: every question with its answer and where that comes from."""
    return {
        "datasheet": "HEDS",
        "version": VERSION,
        "reference": REFERENCE,
        "campaign": name,
        "n_open": sum(question.is_open for section in sections for question in section.questions),
        "sections": [
            {
                "number": section.number,
                "title": section.title,
                "questions": [
                    {
                        "number": question.number,
                        "question": question.text,
                        "answer": question.answer or None,
                        "origin": question.origin,
                        "to_write": question.hint if question.is_open else None,
                    }
                    for question in section.questions
                ],
            }
            for section in sections
        ],
    }


def of_document(document: Mapping[str, Any]) -> list[Section]:
    """Return the sheet that `to_document` wrote; raise KeyError for what is none."""
    return [
        Section(
            section["number"],
            section["title"],
            [
                Question("", q["number"], q["question"], q["answer"] or "", q["to_write"] or "", q["origin"])
                for q in section["questions"]
            ],
        )
        for section in document["sections"]
    ]


_MARKDOWN = re.compile(r"([\\`*_\[\]{}<>$&@~^|!]|^\s*[#=]+)", re.MULTILINE)


def to_markdown(name: str, sections: Sequence[Section]) -> str:
    """Return the sheet as Markdown, ready for Pandoc and to print."""
    lines = [f"# Human Evaluation Datasheet (HEDS {VERSION}): {_as_text(name)}", "", f"<{REFERENCE}>", ""]
    for section in sections:
        lines += [f"## {section.number} {section.title}", ""]
        for question in section.questions:
            lines += [f"**{question.number}: {question.text}**", ""]
            if question.is_open:
                lines += [f"*To be completed:* {question.hint}", ""]
            else:
                lines += [_as_text(question.answer), "", f"*({_MARKS[question.origin]})*", ""]
    return "\n".join(lines)


def _as_text(text: str) -> str:
    """Return text that Markdown shows as it is: no HTML, link, image or code, and no TeX, which Pandoc passes on."""
    return _MARKDOWN.sub(r"\\\1", text.replace("\r", "\n"))
