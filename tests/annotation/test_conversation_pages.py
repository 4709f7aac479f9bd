"""Conversations and traces, from the file to the ranking: what a worker is shown and asked, and what it gives away."""

import re
from collections.abc import Callable
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import call_command
from django.db import transaction
from django.test import Client
from django.urls import reverse

from analysis.data.loading import load_scores
from annotation.access.tokens import token_of
from annotation.export.rows import RATING_COLUMNS, REPLY_SCORE_COLUMNS, rating_blocks
from annotation.export.tables import table_of
from annotation.models import Response
from annotation.services.assignments import start_assignment
from annotation.views import pages
from annotation.worker_names import hashed_name
from campaigns.checklist import checklist
from campaigns.contracts.protocol import Field, Screen
from campaigns.design.composition import Kind
from campaigns.design.worker_test import NO_TEST
from campaigns.models import Campaign, HitItem
from campaigns.proposals import pace_of
from campaigns.services.hits import execute_build
from campaigns.services.lifecycle import launch_campaign
from campaigns.services.screens import change_screen
from evalsite.accounts.models import User
from evalsite.lib.tables.blocks import in_rows
from evalsite.lib.tables.writing import write_csv
from tests.analysis.campaigns import analysed
from tests.annotation.conversations import SYSTEMS, conversations, traces
from tests.annotation.leaks import check_headers, check_work, walk
from tests.annotation.test_static_dialogue_pages import twins
from tests.campaigns.cast import make_campaign
from tests.campaigns.data.files import bring_in
from tests.conftest import make_owner, signed_in

pytestmark = pytest.mark.django_db

FILES = {"conversation": conversations, "trace": traces}
N_TURNS = {"conversation": 3, "trace": 5}


@pytest.fixture(scope="module")
def launched(module_db: None) -> dict[str, Campaign]:
    """A campaign of each format on its way through the pages: created, imported, built, launched."""
    owner, campaigns = make_owner(), {}
    for format in FILES:
        campaigns[format] = campaign = imported(owner, format)
        settings = {"word": "Reply" if format == "conversation" else "Step"}
        campaign.criteria.create(order=2, name="sound", statement="It is sound.", scope="turn")
        campaign.criteria.create(order=3, name="first wrong", statement="Which?", response="step", settings=settings)
        launch(campaign)
    return campaigns


def imported(owner: User, format: str) -> Campaign:
    """Return a draft with the outputs of a file."""
    campaign = make_campaign(owner, "custom", f"Test of {format}")
    screen = Screen((Field("task", "Task"),), output_label="Work", output_format=format)
    change_screen(campaign=campaign, screen=screen)
    assert bring_in(signed_in(owner), campaign, FILES[format]()).imported_at
    return campaign


def launch(campaign: Campaign, **fields: Any) -> None:
    """Build HITs of all kinds of items and launch them."""
    mix = {"workers_per_hit": 2, "n_ordinary": 6, "n_degraded": 2, "n_repeat": 2, "n_reference": 0}
    Campaign.objects.filter(pk=campaign.pk).update(**mix | fields, instructions="Read and rate.")
    campaign.refresh_from_db()
    execute_build(campaign=campaign, on_progress=lambda *_: None, saving=transaction.atomic)
    campaign.refresh_from_db()
    assert [step.text for step in checklist(campaign) if step.key == "criteria" and step.state != "ok"] == []
    launch_campaign(campaign=campaign)


Opened = Callable[[str], Campaign]


@pytest.fixture
def opened(launched: dict[str, Campaign], db: None) -> Opened:
    """Return the campaign of a format; what a test changes is undone."""
    return lambda format: Campaign.objects.get(pk=launched[format].pk)


def page_of(campaign: Campaign, name: str = "ann") -> tuple[str, str]:
    """Return the address and the page of a worker's first item."""
    assignment = start_assignment(campaign=campaign, worker_key=f"{campaign.public_id}:{name}")
    address = reverse("rate:hit", args=[token_of(assignment)])
    return address, Client().get(address).text


def ordinary_page_of(campaign: Campaign) -> str:
    """Return the first page whose output is shown as it is."""
    return next(each.html for each in walk(campaign, "ann", n_blocks=0).served if each.kind == Kind.ORDINARY)


# --- All the way


@pytest.mark.parametrize("format", FILES)
def test_a_campaign_from_the_file_to_the_ranking(opened: Opened, format: str) -> None:
    campaign = opened(format)
    call_command("simulate", str(campaign.public_id), workers=6, stdout=StringIO(), stderr=StringIO())
    campaign.refresh_from_db()
    assert campaign.status == Campaign.Status.CLOSED
    n_items, n_turns = HitItem.objects.filter(hit__campaign=campaign).count(), N_TURNS[format]
    given = Response.objects.filter(assignment__campaign=campaign)
    assert given.count() == 2 * n_items * (2 + n_turns)
    assert {*given.filter(criterion__name="sound").values_list("turn", flat=True)} == {*range(1, n_turns + 1)}
    for value, score in given.filter(criterion__response="step").values_list("value", "score"):
        assert value["of"] == n_turns
        assert score == (100 if value["step"] is None else (value["step"] - 1) / n_turns * 100)

    turns = [row[RATING_COLUMNS.index("turn")] for row in in_rows(rating_blocks(campaign))]
    assert len(turns) == given.count() and {*turns} == {None, *range(1, n_turns + 1)}
    found = analysed(campaign).report["summary"]["systems"]
    assert {row["system"] for row in found} == {*SYSTEMS}
    assert {*found[0]["criteria"]} == {"quality", "first wrong"}, "replies count where nothing is asked of the whole"


def test_scores_of_replies_are_exported_with_their_numbers_and_analysed_by_source(
    opened: Opened, tmp_path: Path
) -> None:
    campaign = opened("conversation")
    call_command("simulate", str(campaign.public_id), workers=6, stdout=StringIO(), stderr=StringIO())
    table = table_of(campaign, "scores")
    assert table.columns == (*REPLY_SCORE_COLUMNS, "output_words")
    rows = [dict(zip(table.columns, row, strict=True)) for row in in_rows(table.blocks(campaign, names=hashed_name))]
    assert {row["turn"] for row in rows if row["criterion"] == "sound"} == {1, 2, 3}
    assert {row["turn"] for row in rows if row["criterion"] != "sound"} == {None}
    path = tmp_path / "scores.csv"
    with path.open("w") as stream:
        write_csv(stream, list(table.columns), (row.values() for row in rows))
    found = load_scores(path, float, "a number", criterion="")
    assert (found.has_turns, found.has_chats, found.sources) == (True, False, ["", "1", "2", "3"])
    assert found.documents == [f"task-{n}" for n in range(7)]
    assert np.unique(found.groups["source"]).size == 7


def test_levels_of_single_replies_are_analysed_by_source(opened: Opened) -> None:
    owner = User.objects.first()
    assert owner
    campaign = imported(owner, "conversation")
    campaign.criteria.update(scope="turn", response="scale", settings={})
    launch(campaign, method="ordinal", worker_test=NO_TEST)
    call_command("simulate", str(campaign.public_id), workers=6, stdout=StringIO(), stderr=StringIO())
    campaign.refresh_from_db()
    summary = analysed(campaign).report["summary"]
    assert {row["system"] for row in summary["systems"]} == {*SYSTEMS}
    assert {row["n"] for row in summary["systems"]} != {0}
    assert set(summary["clusters"]) == {"worker", "source"}
    assert summary["clusters"]["source"] == 7


def test_steps_that_were_chosen_are_exported_and_none_is_good(opened: Opened) -> None:
    campaign = opened("trace")
    call_command("simulate", str(campaign.public_id), workers=6, stdout=StringIO(), stderr=StringIO())
    table = table_of(campaign, "answers")
    rows = [dict(zip(table.columns, row, strict=True)) for row in in_rows(table.blocks(campaign, names=hashed_name))]
    assert {row["correct"] for row in rows} == {'["No step is wrong"]'}
    assert {row["answer"] for row in rows} <= {'["No step is wrong"]', *(f'["Step {n}"]' for n in range(1, 6))}


# --- What a worker is shown and asked


def test_each_reply_is_followed_by_what_is_asked_of_it(opened: Opened) -> None:
    html = ordinary_page_of(opened("conversation"))
    entries = re.findall(r'<li class="([^"]*)">(.*?)</li>', html, re.DOTALL)
    assert [classes.split()[-1].removeprefix("spoken-") for classes, _ in entries] == [
        *("folded", "person", "folded", "folded"),
        *("chatbot", "asked", "person", "chatbot", "asked", "person", "chatbot", "asked"),
    ]
    assert re.findall(r'role="group" aria-label="(.*?)"', html) == ["Reply 1", "Reply 2", "Reply 3"]
    assert re.findall(r"<summary>(.*?)</summary>", html.split("<ol")[1]) == [
        *("System prompt", "Call of look_up", "Result of look_up"),
    ]
    assert "Is that &lt;b&gt;true&lt;/b&gt;?" in html


def test_a_trace_is_a_list_of_steps_below_its_summary(opened: Opened) -> None:
    html = ordinary_page_of(opened("trace"))
    labels = re.findall(r'<p class="spoken-by"><strong>(.*?)</strong>', html)
    assert labels == [
        "Summary",
        "Step 1 · 0.0 s",
        "Step 2 · 1.5 s",
        "Step 3 · 3.0 s",
        "Step 4 · 4.5 s",
        "Step 5 · final answer",
    ]
    assert "5 steps, 4 calls, 1 error, 9.0 s, cost 0.25." in html
    assert "<script>alert" not in html and "&lt;script&gt;alert" in html
    [long] = re.findall(r"<details><summary>(.*?)</summary>", html.split("<ol")[1])
    assert re.fullmatch(r"Result · [\d,]+ characters", long)
    options = re.findall(r'<option value="(.*?)">(.*?)</option>', html)
    assert options == [("", "—"), ("none", "No step is wrong"), *((str(n), f"Step {n}") for n in range(1, 6))]


@pytest.mark.parametrize("format", FILES)
def test_pages_load_the_style_sheet_of_the_format(opened: Opened, format: str) -> None:
    assert "css/rate_conversation" in page_of(opened(format))[1]


def test_an_answer_about_a_step_that_is_not_there_is_refused(opened: Opened) -> None:
    campaign = opened("trace")
    address, html = page_of(campaign)
    names = dict.fromkeys(
        re.findall(r'name="(answer_[\d_]+)"', html) + re.findall(r'data-name="(answer_[\d_]+)"', html)
    )
    [wrong] = [name for name in names if f'<select class="step" name="{name}"' in html]
    answers = {"position": "1", **dict.fromkeys(names, "50")}
    refused = Client().post(address, answers | {wrong: "6"})
    assert refused.status_code == 422 and "only 1 to 5, or none" in refused.text
    sixth = f"answer_{campaign.criteria.get(name='sound').pk}_0_6"
    assert sixth.replace("_6", "_5") in names
    unknown = Client().post(address, answers | {wrong: "2", sixth: "50"})
    assert unknown.status_code == 422 and "another page" in unknown.text
    assert Response.objects.filter(assignment__campaign=campaign).count() == 0
    assert Client().post(address, answers | {wrong: "2"}).status_code in (200, 302)
    assert Response.objects.filter(assignment__campaign=campaign).count() == len(names) == 7


def test_what_is_asked_of_replies_takes_time(opened: Opened) -> None:
    campaign = opened("conversation")
    before = pace_of(campaign).seconds
    campaign.criteria.filter(scope="turn").delete()
    assert before - pace_of(campaign).seconds == 3 * 4


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"scope": "turn"}, "have it asked of each output"),
        ({"scope": "turn", "response": "slider", "settings": {}}, ""),
        ({"response": "spans", "settings": {}}, "is about a text, and outputs have several"),
        ({"response": "edit", "settings": {}}, "is about a text, and outputs have several"),
    ],
)
def test_the_check_list_says_what_does_not_fit(opened: Opened, changes: dict[str, Any], said: str) -> None:
    campaign = opened("trace")
    campaign.criteria.filter(response="step").update(**changes)
    [step] = [step for step in checklist(campaign) if step.key == "criteria"]
    assert said in step.text and (step.state == "ok") == (not said)


def test_texts_have_no_steps_and_long_traces_too_many(opened: Opened) -> None:
    campaign = opened("trace")
    for n in range(60):
        campaign.criteria.create(order=10 + n, name=f"c{n}", statement="?", scope="turn")
    [step] = [step for step in checklist(campaign) if step.key == "criteria"]
    assert "An output has 5 steps, and each 61 questions: 305 on one page" in step.text
    Campaign.objects.filter(pk=campaign.pk).update(screen=campaign.screen | {"output_format": "text"})
    campaign.refresh_from_db()
    [step] = [step for step in checklist(campaign) if step.key == "criteria"]
    assert "there are none" in step.text


# --- What is given away: nothing


def form_of(html: str) -> str:
    """Return the tags of a page's texts, without the texts and numbers."""
    texts = html.partition("<section")[2].partition('<div class="answers">')[0]
    texts = re.sub(r"(?<=>)[^<]+(?=<)", "", texts)
    return re.sub(r'value="[^"]*"|[0-9a-f]{24}', "", texts)


@pytest.mark.parametrize("format", FILES)
def test_leak_nothing_tells_kinds_apart(opened: Opened, format: str) -> None:
    campaign = opened(format)
    walks = [walk(campaign, name, n_blocks=0) for name in ("ann", "ben")]
    check_headers(walks)
    check_work(walks)
    words = [*SYSTEMS, *(kind.name for kind in Kind), "twin", campaign.name]
    pattern = re.compile("|".join(rf"\b{re.escape(word)}\b" for word in words), re.IGNORECASE)
    for one in walks:
        assert {Kind.ORDINARY, Kind.REPEAT, Kind.DEGRADED} == {each.kind for each in one.served}
        for each in one.served:
            assert not pattern.search(each.html), pattern.search(each.html)
        for copy, twin in twins(one):
            assert copy.kind in (Kind.REPEAT, Kind.DEGRADED)
            assert format == "trace" or form_of(copy.html) == form_of(twin.html)
            if copy.kind == Kind.REPEAT:
                assert form_of(copy.html) == form_of(twin.html)
                assert shown(copy.html) == shown(twin.html)
            else:
                assert shown(copy.html) != shown(twin.html)


def shown(html: str) -> str:
    return html.partition("<ol")[2].partition("</ol>")[0]


def test_a_leak_is_found(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = pages.make_item_page

    def leaking(campaign, page, following, criteria, **options):
        found = honest(campaign, page, following, criteria, **options)
        if HitItem.objects.get(pk=page.items[0].id).kind == Kind.REPEAT:
            *before, last = found.sections
            return replace(found, sections=[*before, replace(last, turns=last.turns[:-1])])
        return found

    monkeypatch.setattr(pages, "make_item_page", leaking)
    with pytest.raises(AssertionError):
        test_leak_nothing_tells_kinds_apart(opened, "conversation")
