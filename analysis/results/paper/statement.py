"""A data statement (Bender & Friedman 2018, TACL 6): what the texts are, whose language they are in, and who judged."""

from collections.abc import Mapping

from analysis.results.paper.facts import CampaignFacts
from analysis.results.paper.questions import Question, completed, known
from analysis.results.paper.texts import exclusion, listed, period
from analysis.results.result import Result
from analysis.results.values import get_totals
from evalsite.lib.words import counted

_OPENINGS = {"free": "a topic of the worker's choice", "icebreaker": "a given ice-breaker"}


def data_statement(
    result: Result | None, facts: CampaignFacts | None = None, answers: Mapping[str, str] | None = None
) -> list[Question]:
    """Return the sections A to I with what the campaign says and what `answers`, by key, add; the others are open.

    There is no result before the first results.
    """
    return completed(_sections(result, facts), answers or {})


def _sections(result: Result | None, facts: CampaignFacts | None) -> list[Question]:
    systems = list(result.systems) if result else []
    names = f" ({listed(systems)})" if systems else ""
    workers = f"the {counted(get_totals(result).n_workers, 'worker')}" if result else "the workers"

    def section(letter: str, title: str, answer: str, hint: str) -> Question:
        return known(f"statement-{letter.lower()}", letter, title, answer, hint)

    return [
        section("A", "Curation rationale", _rationale(facts, names), "Which texts were chosen, and why these."),
        section(
            "B",
            "Language variety",
            "",
            "The language of the texts as a BCP-47 tag, such as en-US or ar-EG, and a description of the variety.",
        ),
        section(
            "C",
            "Speaker demographic",
            "",
            "Who wrote the source texts and any human outputs: age, gender, native language, region. Of outputs of "
            "programs, the data that they were trained on.",
        ),
        section(
            "D",
            "Annotator demographic",
            "",
            f"Who {workers} were: age, gender, native language, region, training. The site does not ask for it.",
        ),
        section("E", "Speech situation", _situation(facts), "When and where the texts were produced, and for whom."),
        section("F", "Text characteristics", "", "Genre and topic of the texts, and what shapes them."),
        section("G", "Recording quality", "Does not apply: the texts were written.", ""),
        section("H", "Other", " ".join(_annotation(result, facts)), ""),
        section(
            "I",
            "Provenance appendix",
            "",
            "Data statements of the data sets that the sources and systems were built on, or that there are none.",
        ),
    ]


def _rationale(facts: CampaignFacts | None, names: str) -> str:
    if facts is None:
        return ""
    if facts.is_live:
        return f"Chats of {counted(facts.n_systems, 'chatbot')}{names}, held in order to compare them."
    return (
        f"{counted(facts.n_outputs, 'output')} of {counted(facts.n_systems, 'system')}{names} for "
        f"{counted(facts.n_sources, 'source')}, collected in order to compare the systems."
    )


def _situation(facts: CampaignFacts | None) -> str:
    if facts is None or not facts.is_live:
        return ""
    when = f"; they {period(facts.started, facts.ended)}" if facts.started else ""
    return f"Written chats of a worker and a chatbot on a web page, about {_OPENINGS[facts.opening]}{when}."


def _annotation(result: Result | None, facts: CampaignFacts | None) -> list[str]:
    """Return how the texts were judged, which the paper's template has no section for."""
    when = [f"Ratings {period(facts.started, facts.ended)}."] if facts and facts.started else []
    return [*when, *(exclusion(result) if result else [])]
