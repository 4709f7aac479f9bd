"""A simulated Mechanical Turk, served over HTTP, with a real boto3 client as its requester."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from typing import Any

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from simulators.faults import Faults
from simulators.ledger import Ledger
from simulators.mturk import MTurkApi
from simulators.server import Served

ACCESS_KEY, SECRET_KEY = "AKIAREQUESTER", "a secret of the requester"
SITE = "https://rate.example.org/rate/c/1/?hit=1&key=k"
QUESTION = f"""<ExternalQuestion
  xmlns="http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2006-07-14/ExternalQuestion.xsd">
  <ExternalURL>{SITE.replace("&", "&amp;")}</ExternalURL><FrameHeight>0</FrameHeight>
</ExternalQuestion>"""
TERMS = {
    "Title": "Rate translations",
    "Description": "Say how well they read.",
    "Reward": "0.50",
    "AssignmentDurationInSeconds": 120,
    "AutoApprovalDelayInSeconds": 300,
}
QUEUE = "/000000000000/campaign"


class Clock(Ledger):
    """A ledger whose clock can be put forward."""

    def pass_time(self, seconds: float) -> None:
        self._skew += timedelta(seconds=seconds)


@cache
def _session() -> boto3.Session:
    return boto3.Session(aws_access_key_id=ACCESS_KEY, aws_secret_access_key=SECRET_KEY, region_name="us-east-1")


class _Door:
    """The one address of the tests, at which each serves its own Mechanical Turk: ending a server takes a while."""

    api: MTurkApi

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        return self.api(environ, start_response)


@cache
def _open_door() -> tuple[_Door, str]:
    door = _Door()
    return door, Served(door).__enter__().url


@cache
def connect(url: str, service: str = "mturk", **options: Any) -> Any:
    """Return a client that asks once."""
    config = Config(retries={"total_max_attempts": 1}, read_timeout=5, proxies={})
    return _session().client(service, endpoint_url=url, config=config, **options)


@dataclass
class Turk:
    ledger: Clock
    faults: Faults
    api: MTurkApi
    url: str
    requester: Any

    @property
    def queue(self) -> Any:
        return connect(self.url, "sqs")

    @property
    def queue_url(self) -> str:
        return self.url + QUEUE

    def hit(self, n_places: int = 2, **changed: Any) -> str:
        """Make a HIT and return its id."""
        values = {"Question": QUESTION, "MaxAssignments": n_places, "LifetimeInSeconds": 600, **TERMS, **changed}
        return self.requester.create_hit(**values)["HIT"]["HITId"]

    def work(self, hit_id: str, worker_id: str = "AWORKER1") -> str:
        """Let a worker accept a HIT and submit it; return the assignment's id."""
        assignment_id = self.api.accept(hit_id, worker_id)
        self.api.submit(assignment_id, {"assignmentId": assignment_id, "code": "QX7"})
        return assignment_id

    def status(self, hit_id: str) -> str:
        return self.requester.get_hit(HITId=hit_id)["HIT"]["HITStatus"]

    def funds(self) -> tuple[str, str]:
        """Return what may be spent and what is held."""
        balance = self.requester.get_account_balance()
        return balance["AvailableBalance"], balance["OnHoldBalance"]

    def want_notifications(self, hit_id: str, *events: str) -> None:
        wish = {"Destination": self.queue_url, "Transport": "SQS", "Version": "2014-08-15", "EventTypes": list(events)}
        type_id = self.requester.get_hit(HITId=hit_id)["HIT"]["HITTypeId"]
        self.requester.update_notification_settings(HITTypeId=type_id, Notification=wish, Active=True)

    def effects(self, operation: str) -> list[str]:
        """Return the targets of an operation's effects."""
        return [effect.target for effect in self.ledger.effects(operation)]


@contextmanager
def running(**options: Any) -> Iterator[Turk]:
    """Serve a Mechanical Turk; at the end it must never have broken its service model."""
    ledger, faults = Clock(), Faults(seed=1, silence_s=0.01)
    api = MTurkApi(ledger, faults, access_key=ACCESS_KEY, **({"secret_key": SECRET_KEY} | options))
    door, url = _open_door()
    door.api = api
    yield Turk(ledger, faults, api, url, connect(url))
    assert api.breaches == []


@contextmanager
def refused(code: str, words: str = "", turk_code: str = "") -> Iterator[Any]:
    """Expect a refusal with this code, whose message has these words."""
    with pytest.raises(ClientError) as caught:
        yield caught
    error = caught.value.response["Error"]
    assert error["Code"] == code, error
    assert words in error["Message"], error
    assert caught.value.response.get("TurkErrorCode", "").endswith(turk_code), caught.value.response
