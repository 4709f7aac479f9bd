"""Calls and workers that come at once, and calls that fail at random: each effect happens once."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from botocore.exceptions import BotoCoreError, ClientError

from simulators.faults import Fault
from simulators.mturk import WorkerRefusedError
from tests.simulators.turk import Turk, running


@pytest.fixture
def turk() -> Iterator[Turk]:
    with running() as turk:
        yield turk


def outcomes(act: Callable[[int], Any], n: int = 8) -> list[Any]:
    """Do something `n` times at once; return what each gave, None for a refusal."""

    def one(i: int) -> Any:
        try:
            return act(i)
        except (ClientError, WorkerRefusedError):
            return None

    with ThreadPoolExecutor(n) as pool:
        return list(pool.map(one, range(n)))


def test_a_token_makes_one_hit_when_calls_come_at_once(turk: Turk) -> None:
    made = outcomes(lambda _: turk.hit(UniqueRequestToken="token-1"))

    assert sum(each is not None for each in made) == 1
    assert len(turk.effects("create-hit")) == 1


def test_a_place_is_given_to_one_of_many_workers(turk: Turk) -> None:
    hit_id = turk.hit(n_places=3)

    given = outcomes(lambda i: turk.api.accept(hit_id, f"AWORKER{i}"))

    assert sum(each is not None for each in given) == 3
    assert len(set(given) - {None}) == 3


def test_an_assignment_is_approved_once_when_calls_come_at_once(turk: Turk) -> None:
    assignment_id = turk.work(turk.hit(n_places=1))

    outcomes(lambda _: turk.requester.approve_assignment(AssignmentId=assignment_id))

    assert turk.effects("approve") == [assignment_id]
    assert turk.funds() == ("999.40", "0.00")


def test_who_repeats_with_tokens_until_an_answer_comes_has_each_effect_once(turk: Turk) -> None:
    def insist(call: Callable[[], Any]) -> None:
        for _ in range(50):
            try:
                call()
            except ClientError as error:
                if error.response["Error"]["Code"] == "RequestError":
                    return  # done before, though nobody heard of it
            except BotoCoreError:
                continue
            else:
                return

    turk.faults.rate, turk.faults.kinds = 0.5, tuple(Fault)
    for i in range(6):
        insist(lambda i=i: turk.hit(UniqueRequestToken=f"hit-{i}"))
    hit_ids = turk.effects("create-hit")
    for hit_id in hit_ids:
        assignment_id = turk.work(hit_id)
        bonus = {"WorkerId": "AWORKER1", "BonusAmount": "1", "AssignmentId": assignment_id, "Reason": "Thanks"}
        insist(lambda id=assignment_id: turk.requester.approve_assignment(AssignmentId=id))
        insist(lambda bonus=bonus: turk.requester.send_bonus(**bonus, UniqueRequestToken=bonus["AssignmentId"]))
    turk.faults.rate = 0

    assert len(hit_ids) == len(turk.requester.list_hits()["HITs"]) == 6
    assert sorted(turk.effects("approve")) == sorted(turk.effects("bonus")) == sorted(turk.effects("submit"))
    assert {outcome for _, _, outcome in turk.ledger.calls()} >= {"ok", "error-after", "silence-after"}
    assert turk.funds() == ("985.60", "3.60")  # 6 × (2 × 0.60 held or paid + 1.20)
