"""The study's tables of chats from its published chats, as users run it: `manage.py analyse`.

Met: every digit of Table 5.2, the minutes of Table 5.3, the medians per conversation of Table A.9. The study counts one
more worker, whose empty submission is not public. That it was one failed HIT of five chats is inferred from the totals;
so the number of chats below is met by construction, the HITs per worker are not. Table A.9's medians per input are over
single inputs, of which the data hold only the sums of each chat: the mean over all inputs follows from these, a median
does not.
"""

import json
from io import StringIO

import pytest
from django.core.management import call_command

from tests.databases import on_both

pytestmark = on_both

# The empty submission, as far as the printed totals tell: one worker, one HIT, five chats with ordinary chatbots.
EMPTY_WORKERS, EMPTY_HITS, EMPTY_CHATS = 1, 1, 5


@pytest.fixture(scope="module")
def groups(shared_data, kept):
    out, folder = StringIO(), shared_data / "dialogue-run1"
    call_command(
        "analyse",
        str(folder / "ratings.csv"),
        protocol="dialogue-free",
        dialogues=folder / "dialogues.csv",
        assignments=folder / "assignments.csv",
        format="json",
        stdout=out,
        stderr=StringIO(),
    )
    found = kept(json.loads(out.getvalue()))["dialogues"]
    assert found["notices"] == []
    return found["groups"]


@pytest.fixture(scope="module")
def tables(shared_data):
    return json.loads((shared_data / "published_tables.json").read_text())["dialogue"]


def row_of(table, name):
    return dict(zip(table["columns"], table[name], strict=True))


@pytest.mark.parametrize("opinion", ["Like", "Ambivalent", "Dislike"])
@pytest.mark.parametrize("group", ["passed", "failed"])
def test_table_5_2_opinions_of_all_chats_those_with_the_degraded_chatbot_too(groups, tables, opinion, group):
    share = groups[group]["opinions"][opinion.lower()]["share"]
    assert round(100 * share, 2) == row_of(tables["table_5_2"], opinion)[f"run1_{group}"]


@pytest.mark.parametrize(("group", "column"), [("passed", "passed"), ("failed", "failed"), ("all", "total")])
def test_table_5_3_minutes_per_chat(groups, tables, group, column):
    published = row_of(tables["table_5_3b"], "Free Run 1")
    assert round(groups[group]["minutes_per_chat"], 2) == published[f"dur_{column}_min"]


def test_table_5_3_workers_and_chats(groups, tables):
    published = row_of(tables["table_5_3a"], "Free Run 1")
    passed, everyone = groups["passed"], groups["all"]
    n_workers = everyone["workers"] + EMPTY_WORKERS
    n_chats = everyone["chats_not_degraded"] + EMPTY_CHATS
    assert (passed["workers"], n_workers) == (published["workers_passed"], published["workers_total"])
    assert (passed["chats_not_degraded"], n_chats) == (published["dialogues_passed"], published["dialogues_total"])
    assert round(100 * passed["workers"] / n_workers, 2) == published["worker_pass_rate_pct"]
    assert round(100 * passed["chats_not_degraded"] / n_chats, 2) == published["dialogue_pass_rate_pct"]


def test_table_5_3_hits_per_worker(groups, tables):
    published = row_of(tables["table_5_3b"], "Free Run 1")
    assert round(groups["passed"]["assignments_per_worker"], 2) == published["hits_passed"]
    for group, column, ours in (("failed", "hits_failed", 1.19), ("all", "hits_total", 1.23)):
        found = groups[group]
        assert round(found["assignments_per_worker"], 2) == ours
        with_empty = (found["assignments"] + EMPTY_HITS) / (found["workers"] + EMPTY_WORKERS)
        assert round(with_empty, 2) == published[column]


@pytest.mark.parametrize(("group", "place"), [("passed", 0), ("failed", 1)])
def test_table_a_9_medians_per_conversation(groups, tables, group, place):
    published, lengths = tables["table_A9_medians"], groups[group]["lengths"]
    assert lengths["words_per_chat"]["median"] == published["words_per_conversation"][place]
    assert lengths["characters_per_chat"]["median"] == published["chars_per_conversation"][place]


def test_table_a_9_medians_per_input_are_not_to_be_had_from_sums(groups, tables):
    published = tables["table_A9_medians"]
    assert (published["words_per_input"][:2], published["chars_per_input"][:2]) == ([8, 6], [27, 22])
    found = [groups[group]["lengths"] for group in ("passed", "failed")]
    assert [round(each["words_per_input"]["median"], 1) for each in found] == [6.1, 4.6]
    assert [round(each["characters_per_input"]["median"], 1) for each in found] == [24.2, 17.7]
    assert [round(each["words_per_input"]["mean"], 1) for each in found] == [6.6, 4.9]
    assert [round(each["characters_per_input"]["mean"], 1) for each in found] == [26.2, 19.7]
