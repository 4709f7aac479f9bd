"""What Mechanical Turk tells by a queue: it comes until it is acknowledged, and is read whatever it is."""

from dataclasses import replace

from campaigns.contracts.account import Event, SubmissionState
from tests.campaigns.platforms.mturk import OTHER_WORKER, WORKER, Amazon, open_account, spec, terms


def test_without_a_queue_there_are_no_events(amazon: Amazon) -> None:
    account = open_account()
    account.prepare(terms())
    assert account.events() == []
    assert amazon.n("set-notifications") == 0


def test_events_come_until_they_are_acknowledged(amazon: Amazon) -> None:
    account = open_account({"sqs_queue_url": f"{amazon.url}/000000000000/ours"})
    account.prepare(terms())
    hit_id = account.draft(spec())
    given_back, left = amazon.api.accept(hit_id, WORKER), amazon.api.accept(hit_id, OTHER_WORKER)
    amazon.api.return_(given_back)
    amazon.api.abandon(left)
    events = account.events()
    payload = {(event.posting_id, event.submission_id, event.state) for event in events}
    assert payload == {
        (hit_id, given_back, None),
        (hit_id, left, None),
        (hit_id, given_back, SubmissionState.RETURNED),
        (hit_id, left, SubmissionState.ABANDONED),
    }
    assert all(event.at for event in events)
    account.acknowledge([*events, *events])
    assert amazon.ledger.all("message") == {}
    assert account.events() == []


def test_more_messages_than_one_call_gives_are_received_and_deleted(amazon: Amazon) -> None:
    account = open_account({"sqs_queue_url": f"{amazon.url}/000000000000/ours"})
    account.prepare(terms())
    hit_id = account.draft(spec(n_places=25))
    for n in range(25):
        amazon.api.accept(hit_id, f"A{n:012}")
    events = account.events()
    assert len(events) == 25
    account.acknowledge(events)
    assert account.events() == []


def test_a_message_that_cannot_be_read_is_taken_away(amazon: Amazon) -> None:
    url = f"{amazon.url}/000000000000/ours"
    account = open_account({"sqs_queue_url": url})
    account.prepare(terms())
    for body in ("no JSON", "[]", '{"Events": [1]}', '{"Events": []}'):
        account._queues.call("send_message", QueueUrl=url, MessageBody=body)
    events = account.events()
    assert {replace(event, receipt="") for event in events} == {Event(posting_id="")}
    assert len(events) == 4
    account.acknowledge(events)
    assert account.events() == []
