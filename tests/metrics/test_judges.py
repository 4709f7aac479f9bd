"""Judges of a campaign's outputs: asked through a real server, priced, capped, stopped, gone on with, compared."""

import csv
import io
import re
import threading
from decimal import Decimal

import pytest
from django.urls import reverse
from django.utils import timezone

from analysis.judge_queries import judged_outputs, list_judges, list_pending, prompter_of, state_of
from analysis.models import AnalysisRun, Judge, JudgeAnswer, MetricScores
from analysis.services.judges import add_judge, cancel_judge, remove_judge, start_judge
from analysis.services.judging import judge_outputs
from campaigns.design.composition import Kind
from campaigns.models import Campaign, HitItem, Output
from campaigns.services.chatbots import add_chatbot
from campaigns.services.deletion import execute_deletion, refusals_of, request_deletion
from campaigns.templatetags.words import amount
from evalsite.jobs.handlers import JobContext, LeaseLostError, get_handler
from evalsite.jobs.models import Job
from evalsite.lib.encryption import decrypt_secrets
from evalsite.lib.errors import DomainError
from simulators.chat_completions import ChatServer
from tests.analysis.campaigns import analysed, rated_campaign
from tests.analysis.conftest import finish
from tests.campaigns.cast import add_member, make_campaign
from tests.databases import on_both

KEY = "sk-judge-0123456789"
TOKENS = (100, 20)
# 100 · 1 + 20 · 10 in millionths: what a call costs by the tokens that the server counts.
PRICES = {"price_in": Decimal(1), "price_out": Decimal(10)}
COST = Decimal("0.0003")
State = JudgeAnswer.State


@pytest.fixture
def server(settings):
    with ChatServer(tokens=TOKENS) as server:
        settings.CHATBOT_HOSTS = [server.host]
        server.reply_to = rating
        yield server


@pytest.fixture
def rated(owner, settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path / "media"
    return rated_campaign(owner, negative="answerability")


def rating(body):
    """Rate by the length of the output, the same for each statement."""
    prompt = body["messages"][0]["content"]
    n = len(re.findall(r"^\d+\. ", prompt, re.MULTILINE))
    text = re.search(r"\(rate this\):\n(.*)", prompt)[1]
    return "{" + ", ".join(f'"{k}": {len(text) % 101}' for k in range(1, n + 1)) + "}"


def added(campaign, owner, server, **more):
    options = {"base_url": server.base_url, "model": "judge-1"}
    values = {
        "name": "J",
        "connector": "openai-chat",
        "settings": options,
        "secrets": {"api_key": KEY},
        "max_parallel": 1,
    }
    made = add_judge(campaign=campaign, user=owner, **(values | PRICES | more))
    return Judge.objects.select_related("campaign", "created_by", "job", "scores").get(pk=made.pk)


def fresh(judge):
    return Judge.objects.select_related("campaign", "created_by", "job", "scores").get(pk=judge.pk)


def ask(judge, owner, **limits):
    """Start a judge and run its job to the end."""
    start_judge(judge=judge, user=owner, limits={"max_calls": 1000} | limits)
    return run(fresh(judge))


def run(judge, sleep=lambda seconds: None, ctx=None):
    ctx = ctx or JobContext()
    judge_outputs(judge=judge, on_progress=ctx.progress, saving=ctx.saving, sleep=sleep)
    Job.objects.filter(pk=judge.job_id).update(status=Job.Status.SUCCEEDED, finished_at=timezone.now())
    return fresh(judge)


def spent(judge):
    return sum(answer.price for answer in judge.answers.all())


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
    assert [metric["name"] for metric in report["metrics"]["metrics"]] == sorted(metrics)


def read_csv(file):
    with file.open("rb") as content:
        return list(csv.DictReader(io.TextIOWrapper(content, "utf-8")))


def test_the_judge_sees_what_workers_see_and_nothing_else(owner, rated, server):
    secret = HitItem.objects.filter(hit__campaign=rated, kind=Kind.DEGRADED).exclude(
        text__in=Output.objects.values("text")
    )
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


def test_no_call_is_made_that_could_pass_the_cap_in_money(owner, rated, server):
    judge = added(rated, owner, server, max_parallel=4)
    prompter = prompter_of(judge)
    longest = max(
        prompter.n_bytes(prompter.prompt(output.source.fields, output.text))
        for output in judged_outputs(rated).select_related("source")
    )
    # A call may read as many tokens as it has bytes and write 300; it costs less in the end
    most = judge.price_out * 300 / 10**6 + Decimal(longest + 64) / 10**6
    cap = Decimal("0.01")
    assert cap < 4 * most  # four calls at once could pass it
    judge = ask(judge, owner, max_cost=cap, max_calls=None)
    assert cap - most < spent(judge) == judge.answers.count() * COST <= cap
    assert 0 < judge.answers.count() < 24
    n_made = len(server.received)
    ask(judge, owner, max_cost=cap, max_calls=None)
    assert len(server.received) == n_made


def test_a_cap_smaller_than_a_call_may_cost_lets_none_through(owner, rated, server):
    judge = ask(added(rated, owner, server), owner, max_cost=Decimal("0.00"), max_calls=None)
    assert server.received == [] and not judge.answers.exists() and judge.scores is None


def test_calls_under_way_count_for_the_cap(owner, rated, server):
    """Four threads, and a cap that two calls at their highest price fill."""
    began, go = threading.Semaphore(0), threading.Event()

    def wait(body):
        began.release()
        go.wait(5)
        return rating(body)

    server.reply_to = wait
    judge = added(rated, owner, server, max_parallel=4, price_in=Decimal(0), price_out=Decimal(1000))
    # At most 300 tokens at 0.001 each, in the end 20: the third call has to wait for one of two
    at_once = []
    threading.Timer(0.5, lambda: (at_once.append(len(server.received)), go.set())).start()
    judge = ask(judge, owner, max_cost=Decimal("0.70"), max_calls=None)
    assert at_once == [2]
    assert spent(judge) == judge.answers.count() * Decimal("0.02") <= Decimal("0.70")
    assert spent(judge) + Decimal("0.3") > Decimal("0.70")


def test_the_cap_in_calls_holds_for_all_starts_and_what_is_stored_is_not_asked_again(owner, rated, server):
    judge = ask(added(rated, owner, server), owner, max_calls=5)
    assert len(server.received) == 5
    assert judge.scores.metrics[0]["n_outputs"] == 5
    first = judge.scores_id
    done = set(judge.answers.values_list("output", flat=True))
    judge = ask(judge, owner, max_calls=9)
    assert len(server.received) == 9
    assert set(judge.answers.values_list("output", flat=True)) > done
    assert judge.answers.values("output").distinct().count() == 9
    # The scores of all answers take the place of those of some
    assert judge.scores.metrics[0]["n_outputs"] == 9
    assert not MetricScores.objects.filter(pk=first).exists()
    judge = ask(judge, owner, max_calls=1000)
    assert len(server.received) == 24
    # All outputs of a source follow one another, so systems are judged alike at any time
    sources = list(judge.answers.order_by("pk").values_list("output__source", flat=True))
    assert [source for k, source in enumerate(sources) if source not in sources[:k]] == sources[::6]


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


def test_a_server_that_counts_no_tokens_is_reckoned_at_the_highest_price(owner, rated, server):
    server.reply_to = None
    options = {"url": server.chat_url, "template": '{"text": "{{text}}"}'}
    server.say(*['{"1": 50, "2": 50}'] * 24)
    criteria = list(rated.criteria.values_list("pk", flat=True))[:2]
    judge = added(rated, owner, server, connector="http-json", settings=options, secrets={}, criteria=criteria)
    judge = ask(judge, owner, max_calls=2)
    answer = judge.answers.first()
    assert (answer.state, answer.n_tokens_in, answer.is_price_known) == (State.SCORED, 0, False)
    assert answer.price > Decimal("0.003")
    assert rated.instructions.strip() in server.received[0].body["text"]
    assert judge.scores.metrics[-1]["name"] == "J: mean"


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ({"max_cost": None, "max_calls": None}, "Set a cap"),
        (
            {"max_cost": Decimal(1), "max_calls": None, "price_in": Decimal(0), "price_out": Decimal(0)},
            "Without a price",
        ),
    ],
)
def test_a_cap_that_holds_nothing_is_refused(owner, rated, server, limits, said):
    with pytest.raises(DomainError, match=said):
        start_judge(judge=added(rated, owner, server), user=owner, limits=limits)
    assert not Job.objects.filter(kind="analysis.judge").exists()


def test_names_are_taken_once(owner, rated, server):
    added(rated, owner, server)
    with pytest.raises(DomainError, match="Another judge"):
        added(rated, owner, server)
    MetricScores.objects.create(campaign=rated, created_by=owner, name="x.csv", metrics=[{"name": "K: mean"}])
    with pytest.raises(DomainError, match="There are scores"):
        added(rated, owner, server, name="K")


@on_both
def test_removing_a_judge_removes_answers_scores_and_job(owner, rated, server):
    judge = added(rated, owner, server)
    start_judge(judge=judge, user=owner, limits={"max_calls": 3})
    with pytest.raises(DomainError, match="Stop it first"):
        remove_judge(judge=judge)
    judge = run(fresh(judge))
    remove_judge(judge=judge)
    assert not (JudgeAnswer.objects.exists() or MetricScores.objects.exists() or Judge.objects.exists())
    assert not Job.objects.filter(kind="analysis.judge").exists()


def test_a_campaign_is_deleted_with_its_judges_but_not_while_one_is_asked(owner, rated, server):
    judge = added(rated, owner, server)
    Campaign.objects.filter(pk=rated.pk).update(status=Campaign.Status.CLOSED)
    rated.refresh_from_db()
    start_judge(judge=judge, user=owner, limits={"max_calls": 3})
    assert any("being computed" in text for text in refusals_of(rated))
    run(fresh(judge))
    request_deletion(campaign=rated, user=owner, name=rated.name)
    rated.refresh_from_db()
    execute_deletion(campaign=rated, on_progress=lambda done, total, stage: None)
    assert not (Campaign.objects.exists() or Judge.objects.exists() or JudgeAnswer.objects.exists())


# --- Pages


def url_of(name, judge, *more):
    return reverse(f"analysis:{name}", args=[judge.campaign.public_id, judge.pk, *more])


def test_a_judge_is_added_estimated_started_and_read_on_pages(owner, owner_client, rated, server):
    analysed(rated, owner)
    metrics = reverse("analysis:campaign_metrics", args=[rated.public_id])
    add = reverse("analysis:judge_add", args=[rated.public_id, "openai-chat"])
    assert add in owner_client.get(metrics).text
    assert "system_prompt" not in owner_client.get(add).text
    sent = {
        "name": "Judge <1>",
        "option_base_url": server.base_url,
        "option_model": "judge-1",
        "secret_api_key": KEY,
        "criteria": [rated.criteria.first().pk],
        "price_in": "1",
        "price_out": "10",
        "max_cost": "2",
    }
    assert owner_client.post(add, sent | {"criteria": []}).status_code == 422
    answer = owner_client.post(add, sent)
    judge = Judge.objects.get()
    assert answer.url == url_of("judge", judge)
    page = owner_client.get(answer.url).text
    assert f"<bdi>{server.host.partition(':')[0]}</bdi>" in page and "Texts leave this site" in page
    assert "24 calls" in page and KEY not in page
    assert "Rate what is to be rated on each statement" in page and rated.criteria.first().statement in page
    refused = owner_client.post(url_of("judge_start", judge), {"max_cost": "", "max_calls": ""})
    assert refused.status_code == 422 and "Set a cap" in refused.text
    assert server.received == []
    owner_client.post(url_of("judge_start", judge), {"price_in": "1", "price_out": "10", "max_calls": "4"})
    assert "Stop" in owner_client.get(answer.url).text
    judge = run(fresh(judge))
    page = owner_client.get(answer.url).text
    assert "4" in page and "could have passed the cap" in page and "20 calls" in page
    assert "Judge &lt;1&gt;" in owner_client.get(metrics).text
    assert [each["name"] for each in judge.scores.metrics] == ["Judge <1>"]


def test_a_judge_has_the_key_of_a_chatbot_that_one_may_edit_for_its_host_only(
    owner, owner_client, stranger, rated, server
):
    live = make_campaign(owner, "dialogue-free")
    settings = {"base_url": server.base_url, "model": "chatty"}
    chatbot = add_chatbot(
        campaign=live, name="Bot", connector="openai-chat", settings=settings, secrets={"api_key": KEY}
    )
    others = make_campaign(stranger, "dialogue-free")
    hidden = add_chatbot(campaign=others, name="Hidden", connector="openai-chat", settings=settings)
    add = reverse("analysis:judge_add", args=[rated.public_id, "openai-chat"])
    page = owner_client.get(add, {"like": f"chatbot:{chatbot.pk}"}).text
    assert "Bot (" in page and "Hidden" not in page and 'value="chatty"' in page and KEY not in page
    sent = {
        "name": "J",
        "option_base_url": server.base_url,
        "option_model": "m",
        "criteria": [rated.criteria.first().pk],
    }
    assert owner_client.post(add, sent | {"like": f"chatbot:{hidden.pk}"}).status_code == 422
    elsewhere = {"like": f"chatbot:{chatbot.pk}", "option_base_url": "https://evil.example.org/v1"}
    refused = owner_client.post(add, sent | elsewhere)
    assert refused.status_code == 422 and "is for another address" in refused.text
    assert not Judge.objects.exists()
    owner_client.post(add, sent | {"like": f"chatbot:{chatbot.pk}"})
    ask(fresh(Judge.objects.get()), owner, max_calls=1)
    assert server.received[0].headers["Authorization"] == f"Bearer {KEY}"
    assert "J (Questions)" in owner_client.get(add).text


@on_both
def test_answers_are_downloaded_as_they_came_and_no_spreadsheet_runs_them(owner, owner_client, rated, server):
    server.say('=HYPERLINK("http://evil.example")')
    judge = ask(added(rated, owner, server), owner, max_calls=3)
    content = b"".join(owner_client.get(url_of("judge_answers", judge)).streaming_content).decode()
    rows = list(csv.DictReader(io.StringIO(content)))
    assert len(rows) == 3
    assert rows[0]["answer"] == '\'=HYPERLINK("http://evil.example")'
    assert (rows[0]["state"], rows[1]["state"], rows[1]["tokens_in"]) == ("unparsable", "scored", "100")
    assert rows[1][f"score: {rated.criteria.first().name}"]
    assert len(rows[0]["prompt_sha256"]) == 64 and KEY not in content


def test_viewers_read_and_editors_ask(owner, client, stranger, rated, server):
    add_member(rated, stranger, "viewer")
    judge = ask(added(rated, owner, server), owner, max_calls=2)
    client.force_login(stranger)
    page = client.get(url_of("judge", judge))
    assert page.status_code == 200 and "Start" not in page.text.partition("What it is asked")[0].partition("<h1")[2]
    assert client.post(url_of("judge_start", judge), {"max_calls": "9"}).status_code == 403


def test_keys_are_changed_and_cleared(owner, owner_client, rated, server):
    judge = added(rated, owner, server)
    owner_client.post(url_of("judge_keys", judge), {"secret_api_key": "sk-other"})
    assert decrypt_secrets(fresh(judge).secrets) == {"api_key": "sk-other"}
    owner_client.post(url_of("judge_keys", judge), {"clear": "api_key"})
    assert decrypt_secrets(fresh(judge).secrets) == {}


def test_scores_that_were_removed_are_made_again_without_a_call(owner, owner_client, rated, server):
    run_of = analysed(rated, owner)
    judge = ask(added(rated, owner, server), owner)
    owner_client.post(reverse("analysis:metric_remove", args=[run_of.pk, judge.scores_id]))
    judge = fresh(judge)
    assert judge.scores is None
    assert "Compare its scores again" in owner_client.get(url_of("judge", judge)).text
    judge = ask(judge, owner)
    assert len(server.received) == 24 and judge.scores.metrics[0]["n_outputs"] == 24


def test_live_chats_and_drafts_are_not_judged(owner, rated, server):
    rated.launched_at = None
    rated.save()
    with pytest.raises(DomainError, match="Launch the campaign"):
        added(rated, owner, server)
