"""A reader types a question and finds the section that answers it among the first three results."""

import re

import pytest
from django.test import Client

from evalsite.help.guides import GUIDES, read_guide
from evalsite.help.search import search_guides, words_of

N_READ = 3
QUESTIONS = [
    ("How do I exclude a worker?", "first-campaign#7-read-the-results", "Analyse without this worker"),
    ("What does the worker test do with five items?", "first-campaign#the-worker-test", "all five are rated lower"),
    ("Can I run without cookies?", "ethics#what-workers-are-promised", "No cookies, no account"),
    ("How do I pay a bonus?", "planning#pay", "Give a bonus …"),
    ("Which columns does a ratings file have?", "ratings#columns", "criterion"),
    ("How many workers do I need?", "planning", "a curve over numbers of workers"),
    ("Can I use my ratings from Label Studio?", "analyse#files-of-other-tools", "read as they are"),
    ("How do I test a chatbot before the launch?", "chatbots#1-add-chatbots", "Press Test this chatbot"),
    ("How do I remind raters who have not finished?", "lab-mates#while-they-rate", "at most one reminder in 24 hours"),
    ("Where do I get LaTeX tables for the paper?", "paper#steps", "LaTeX (booktabs)"),
    ("How do I mark errors with the keyboard?", "translations#how-errors-are-marked", "arrow keys"),
    ("How do I back up the database?", "server#backups", "writes database, uploads, results and the key"),
    ("What is stored about a worker?", "ethics#what-is-stored", "Not stored"),
    ("How do I move a campaign to another site?", "first-campaign#design-file", "Another site makes a draft of it"),
    ("Are API keys in a design file?", "first-campaign#design-file", "never holds keys"),
    (
        "Are there keyboard shortcuts for raters?",
        "first-campaign#keys-time-left-and-reading-for-workers",
        "N goes to the next item",
    ),
    (
        "Can workers have larger letters or a dark page?",
        "first-campaign#keys-time-left-and-reading-for-workers",
        "larger letters",
    ),
    (
        "Do workers see how much time is left?",
        "first-campaign#keys-time-left-and-reading-for-workers",
        "After five items",
    ),
    ("Is the translation beside its source?", "translations#steps", "stands beside its source"),
    ("How many raters find a difference of 5 points?", "planning#plan", "The difference that matters"),
    ("Can reviewers see the results without an account?", "paper#a-link-for-reviewers", "without an account"),
    (
        "How do I change a campaign after the launch?",
        "first-campaign#5-preview-and-launch",
        "To change it, copy the campaign",
    ),
]


@pytest.mark.parametrize(("question", "section", "answer"), QUESTIONS)
def test_a_question_finds_its_answer(client: Client, question: str, section: str, answer: str) -> None:
    page = client.get("/help/", {"q": question}).text
    links = re.findall(r'<a class="guides-link" href="(/help/[^"]+)">', page)[:N_READ]
    name, _, anchor = section.partition("#")
    assert f"/help/{name}/" in [link.partition("#")[0] for link in links]
    [text] = [each.text for each in read_guide(name).sections if each.anchor == anchor]
    assert answer in text


@pytest.mark.parametrize("name", [name for name in GUIDES if "/" not in name])
def test_the_title_of_a_guide_finds_it(name: str) -> None:
    assert name in [each.guide.name for each in search_guides(GUIDES[name].title)[:N_READ]]


def test_endings_do_not_matter() -> None:
    assert words_of("Excluded workers’ cookies") == words_of("exclude a worker's cookie")
    assert words_of("studies") == words_of("study")
    assert words_of("the process") != words_of("the proce")


@pytest.mark.parametrize("question", ["", "   ", "how do I", "zzzz"])
def test_what_no_guide_says_is_not_found(client: Client, question: str) -> None:
    assert search_guides(question) == []
    assert ("Nothing found" in client.get("/help/", {"q": question}).text) == bool(question.strip())


def test_a_question_is_shown_as_it_was_typed_and_no_longer_than_it_may_be(client: Client) -> None:
    page = client.get("/help/", {"q": '<script>"worker'}).text
    assert 'value="&lt;script&gt;&quot;worker"' in page
    assert client.get("/help/", {"q": "worker " * 10_000}).status_code == 200


def test_sections_hold_all_text_below_their_heading() -> None:
    sections = {each.anchor: each for each in read_guide("first-campaign").sections}
    assert sections["4-build-the-hits"].heading == "4. Build the HITs"
    assert "degraded · a copy with some words from another text · careful workers rate it lower" in (
        sections["4-build-the-hits"].text.splitlines()
    )
    assert all(each.guide.name in GUIDES and len(each.excerpt) < 200 for each in search_guides("worker"))
