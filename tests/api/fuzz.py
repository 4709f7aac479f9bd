"""Requests that follow the schema, and some that do not, by several people, each after what others have done."""

import json
import random
import re
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import schemathesis
from django.core.signals import got_request_exception, request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections, transaction
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import FailureGroup
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

_STEPS = 20
_CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
# How often a parameter of an address is one that there is, and how often something sent follows the schema.
_KNOWN, _FOLLOWS = 0.9, 0.75


@dataclass
class Fuzz:
    """What requests are made with, and what came of them.

    Attributes
    ----------
    tokens : mapping
        The token of everybody who asks.
    places : list
        What there is: parameters of addresses that belong together.
    secret : pattern
        What must not be in the answers to the `stranger`.
    statuses : Counter
        How many answers had which status.
    answered : Counter
        How often each operation did what it is for.
    failures : dict
        What went wrong, by operation and kind; the first of each.
    """

    tokens: Mapping[str, str]
    places: list[dict[str, Any]]
    secret: re.Pattern[str]
    statuses: Counter[int] = field(default_factory=Counter)
    answered: Counter[str] = field(default_factory=Counter)
    failures: dict[tuple[str, str], str] = field(default_factory=dict)

    def run(self, n_requests: int, *, at: int, only: str = "") -> None:
        """Send this many requests, in scenarios that are undone; `at` is the seed, `only` a pattern of addresses."""
        with one_connection():
            schema = schemathesis.openapi.from_wsgi("/api/v1/schema/", closing(get_wsgi_application()))
        schema.config.generation.update(with_security_parameters=False)
        operations = [each.ok() for each in schema.include(path_regex=only).get_all_operations()]
        paths = {each.path for each in operations}

        @seed(at)
        @settings(
            max_examples=-(-n_requests // _STEPS),
            phases=[Phase.generate],
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
        )
        @given(st.data(), st.randoms(use_true_random=False))
        def scenario(data: st.DataObject, rng: random.Random) -> None:
            places = [dict(place) for place in self.places]
            with transaction.atomic():
                for _ in range(_STEPS):
                    who = rng.choice([*self.tokens])
                    operation = rng.choice(operations)
                    is_varied = bool(operation.body or operation.query) and rng.random() > _FOLLOWS
                    mode = GenerationMode.NEGATIVE if is_varied else GenerationMode.POSITIVE
                    case = data.draw(operation.as_strategy(mode))
                    names = {*(case.path_parameters or {})}
                    place = rng.choice([each for each in places if names <= {*each}] or places)
                    for name in names & {*place}:
                        if rng.random() < _KNOWN:
                            case.path_parameters[name] = place[name]
                    body = self.send(case, who)
                    for name, value in _named_in(body, operation.path, paths):
                        places.append(place | {name: value})
                transaction.set_rollback(True)

        with one_connection():
            scenario()

    def send(self, case: Case, who: str) -> Any:
        """Send a request; note what is wrong with its answer; return its JSON if all is well."""
        with faults() as found:
            response = case.call(headers={"Authorization": f"Bearer {self.tokens[who]}"})
        self.statuses[response.status_code] += 1
        self.answered[case.operation.label] += response.status_code < 400
        sent = f"{who}: {case.as_curl_command()}\n{response.status_code} {response.content[:500]!r}"
        try:
            case.validate_response(response, checks=_CHECKS)
        except FailureGroup as group:
            for each in group.exceptions:
                self.fail(case, type(each).__name__, f"{each}\n{sent}\n{''.join(found)}")
        shown = {*self.secret.findall(response.content.decode(errors="replace"))} if who == "stranger" else set()
        if shown - {*self.secret.findall(sent.partition("\n")[0])}:
            self.fail(case, "shows a stranger", f"{shown}\n{sent}")
        is_json = response.status_code < 300 and response.headers.get("content-type") == ["application/json"]
        return json.loads(response.content) if is_json else None

    def fail(self, case: Case, kind: str, text: str) -> None:
        """Note a failure, unless the operation has failed so before."""
        self.failures.setdefault((case.operation.label, kind), text)


@contextmanager
def one_connection() -> Iterator[None]:
    """Keep the connection to the database open, with its transaction, between requests."""
    signals = (request_started, request_finished)
    for each in signals:
        each.disconnect(close_old_connections)
    yield
    for each in signals:
        each.connect(close_old_connections)


@contextmanager
def faults() -> Iterator[list[str]]:
    """Return a list that holds the faults of the application afterwards."""
    found: list[str] = []

    def note(sender: object, **_: Any) -> None:
        found.append(traceback.format_exc(limit=-6))

    got_request_exception.connect(note)
    try:
        yield found
    finally:
        got_request_exception.disconnect(note)


def _named_in(body: Any, path: str, paths: set[str]) -> Iterator[tuple[str, Any]]:
    """Return what a list, or what was made in it, names in the addresses below: the parameter and its value."""
    below = re.compile(rf"{re.escape(path)}{{(\w+)}}/?$")
    rows = body if isinstance(body, list) else body.get("results", [body]) if isinstance(body, dict) else []
    for name in {match[1] for other in paths if (match := below.match(other))}:
        for row in rows[:3]:
            if found := [
                row[key] for key in (name, "public_id", "id", "number") if isinstance(row, dict) and key in row
            ]:
                yield name, found[0]


def closing(application: Callable[..., Any]) -> Callable[..., list[bytes]]:
    """Return an application whose answers are read to their end, and closed."""

    def answer(environ: dict[str, Any], start_response: Any) -> list[bytes]:
        body = application(environ, start_response)
        try:
            return [b"".join(body)]
        finally:
            body.close()

    return answer
