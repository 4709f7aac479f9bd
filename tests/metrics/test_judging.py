"""A judge's calls: what is sent, what is kept of the answers, how the calls end and go on."""

import csv
import io
import threading

import pytest

from analysis.models import AnalysisRun, Judge, JudgeAnswer
from analysis.web.queries.judges import judged_outputs, list_judges, list_pending, state_of
from analysis.web.services.judges import cancel_judge, start_judge
from campaigns.design.composition import Kind
from campaigns.models import HitItem, Output
from campaigns.templatetags.words import amount
from evalsite.jobs.handlers import JobContext, LeaseLostError, get_handler
from evalsite.lib.encryption import decrypt_secrets
from evalsite.lib.errors import DomainError
from tests.analysis.campaigns import analysed
from tests.analysis.conftest import finish
from tests.databases import on_both
from tests.metrics.judges import COST, KEY, added, ask, fresh, run, spent

State = JudgeAnswer.State


@on_both
def test_every_output_is_judged_once_and_compared_with_people(owner, rated, server):
    base = analysed(rated, owner)
    criteria = list(rated.criteria.all())
    judge = ask(added(rated, owner, server, max_parallel=3), owner)
    outputs = judged_outputs(rated)
    assert len(server.received) == outputs.count() == judge.answers.count() == 24
    assert set(judge.answers.values_list("state", flat=True)) == {State.SCORED}
    assert spent(judge) == 24 * COST
    metrics = {each["name"]: each for each in judge.scores.metrics}
    assert list(metrics) == [*(f"J: {each.name}" for each in criteria), "J: mean"]
    assert metrics["J: mean"] == {"name": "J: mean", "n_outputs": 24, "n_systems": 6}
    # Agreement with a negative criterion is bad, so its metric is turned round
    rows = {(row["metric"], row["system"], row["source"]): float(row["score"]) for row in read_csv(judge.scores.file)}
    output = outputs.select_related("source", "system").first()
    given = len(output.text) % 101
    for each in criteria:
        assert rows[f"J: {each.name}", output.system.name, output.source.name] == (
            100 - given if each.is_negative else given
        )
    newer = AnalysisRun.objects.select_related("ratings_file").exclude(pk=base.pk).get()
    assert newer.metrics == [str(judge.scores_id)]
    report = finish(newer).report
    assert [metric["name"] for metric in report["questions"]["metrics"]["metrics"]] == sorted(metrics)


def read_csv(file):
    with file.open("rb") as content:
        return list(csv.DictReader(io.TextIOWrapper(content, "utf-8")))


def test_the_judge_sees_what_workers_see_and_nothing_else(owner, rated, server):
    secret = HitItem.objects.filter(hit__campaign=rated, kind=Kind.DEGRADED).exclude(
        text__in=Output.objects.values("text")
    )
    assert secret.exists()
    judge = ask(added(rated, owner, server), owner)
    prompts = [asked.body["messages"][0]["content"] for asked in server.received]
    for prompt in prompts:
        assert rated.instructions.strip() in prompt
        for name in (*rated.systems.values_list("name", flat=True), KEY, str(rated.public_id)):
            assert name == "human" or name not in prompt  # which is a word, too
        for criterion in rated.criteria.all():
            assert criterion.statement in prompt
        assert not any(f"\n{item.text}\n" in prompt for item in secret)
    request = server.received[0]
    assert [message["role"] for message in request.body["messages"]] == ["user"]
    assert (request.headers["Authorization"], request.body["max_tokens"]) == (f"Bearer {KEY}", 300)
    assert KEY not in judge.secrets and decrypt_secrets(judge.secrets) == {"api_key": KEY}


def test_a_newer_server_is_told_the_limit_by_its_name(owner, rated, server):
    options = {"base_url": server.base_url, "model": "m", "more_fields": '{"max_completion_tokens": 9000}'}
    ask(added(rated, owner, server, settings=options, max_tokens=200), owner, max_calls=1)
    assert server.received[0].body["max_completion_tokens"] == 200
    assert "max_tokens" not in server.received[0].body


@on_both
def test_an_answer_that_cannot_be_read_is_asked_for_once_more_then_missing(owner, rated, server):
    first = list_pending(added(rated, owner, server))[0].output_id
    judge = Judge.objects.get()
    server.say("I would say 80.", '{"1": 800}')
    judge = ask(judge, owner)
    assert len(server.received) == 25
    mine = judge.answers.filter(output=first)
    assert list(mine.values_list("attempt", "state", "text")) == [
        (1, State.UNPARSABLE, "I would say 80."),
        (2, State.UNPARSABLE, '{"1": 800}'),
    ]
    state = state_of(judge)
    assert (state.n_scored, state.n_missing, state.n_left) == (23, 1, 0)
    assert judge.scores.metrics[0]["n_outputs"] == 23
    assert (state.spent, list_judges(rated).get().spent) == (25 * COST, 25 * COST)
    assert amount(state.spent) == "0.0075"
    with pytest.raises(DomainError, match="every output"):
        start_judge(judge=judge, user=owner, limits={})


@on_both
def test_a_stopped_server_neither_loses_answers_nor_hides_what_was_paid(owner, rated, server):
    """The process dies while it asks: its calls count at their highest price, and are made again."""

    class Dying(JobContext):
        n_left = 4

        def progress(self, done, total, stage=""):
            self.n_left -= 1
            if not self.n_left:
                raise LeaseLostError

    judge = added(rated, owner, server, max_parallel=2)
    start_judge(judge=judge, user=owner, limits={"max_calls": 1000})
    with pytest.raises(LeaseLostError):
        run(fresh(judge), ctx=Dying())
    n_asked, lost = len(server.received), judge.answers.filter(state=State.ASKED)
    n_lost = lost.count()
    assert n_lost and not judge.answers.filter(state=State.ASKED, is_price_known=True).exists()
    judge = run(fresh(judge))
    assert len(server.received) == 24 + n_lost
    assert n_asked < 24
    stopped = judge.answers.filter(state=State.FAILED, message__contains="stopped")
    assert stopped.count() == n_lost and all(each.price > COST for each in stopped)
    assert not state_of(judge).is_spent_known
    assert state_of(judge).n_scored == 24


def test_stopping_keeps_what_is_there(owner, rated, server):
    judge = added(rated, owner, server)

    class Stopping(JobContext):
        def progress(self, done, total, stage=""):
            if done == 3:
                cancel_judge(judge=judge)

    start_judge(judge=judge, user=owner, limits={"max_calls": 1000})
    judge = run(fresh(judge), ctx=Stopping())
    assert 3 <= len(server.received) <= 4
    assert judge.scores.metrics[0]["n_outputs"] == len(server.received)
    with pytest.raises(DomainError, match="nothing to stop"):
        cancel_judge(judge=judge)
    judge = ask(judge, owner)
    assert len(server.received) == 24 and not judge.is_cancelled


def test_a_busy_server_is_asked_again_later(owner, rated, server):
    server.behave("rate_limited", retry_after=0, times=2)
    pauses = []
    judge = added(rated, owner, server)
    start_judge(judge=judge, user=owner, limits={"max_calls": 1000})
    judge = run(fresh(judge), sleep=lambda seconds: (pauses.append(seconds), threading.Event().wait(seconds)))
    assert pauses and len(server.received) == 26
    failed = judge.answers.filter(state=State.FAILED)
    assert [each.price for each in failed] == [0, 0]  # a server that refuses is not paid
    assert "Rate limit" in failed[0].message
    assert state_of(judge).n_scored == 24


def test_a_wrong_key_stops_it_soon_and_says_so_without_the_key(owner, rated, server):
    server.behave("status", status=401, message="Wrong key {key}")
    judge = added(rated, owner, server)
    start_judge(judge=judge, user=owner, limits={"max_calls": 1000})
    with pytest.raises(DomainError) as raised:
        get_handler("analysis.judge")(JobContext(), judge=str(judge.pk))
    assert raised.value.code == "judge_failed" and "401" in raised.value.message and KEY not in raised.value.message
    assert len(server.received) == 5
    assert not any(KEY in each.message for each in judge.answers.all())
    # A retry of the job goes on
    server.behave("well")
    judge = run(fresh(judge))
    assert state_of(judge).n_scored == 24


def test_a_host_that_was_not_allowed_is_not_asked(owner, rated, server, settings):
    settings.CHATBOT_HOSTS = ["models.example.org"]
    judge = added(rated, owner, server)
    with pytest.raises(DomainError, match="may not be called"):
        ask(judge, owner)
    assert server.received == [] and judge.answers.get().price == 0
