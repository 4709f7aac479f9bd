"""What a judge's calls cost, and the caps that they never pass."""

import threading
from decimal import Decimal

import pytest

from analysis.models import JudgeAnswer, MetricScores
from analysis.web.queries.judges import judged_outputs, prompter_of
from analysis.web.services.judges import start_judge
from evalsite.jobs.models import Job
from evalsite.lib.errors import DomainError
from tests.metrics.judges import COST, added, ask, rating, spent

State = JudgeAnswer.State


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


def test_a_server_that_counts_no_tokens_counts_at_the_highest_price(owner, rated, server):
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
