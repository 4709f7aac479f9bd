"""A simulated Prolific to call in tests, with its studies and participants."""

import json
from collections.abc import Callable, Iterable
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from simulators.faults import Faults
from simulators.ledger import Ledger
from simulators.prolific import ProlificApi
from simulators.prolific.workspaces import PROJECT

TOKEN = "simulated-token-of-prolific"


def make_api(faults: Faults | None = None, **more: Any) -> ProlificApi:
    """Return the interface of two workspaces with £10,000 each, where waiting takes no time."""
    return ProlificApi(Ledger(), faults, **{"token": TOKEN, "retry_after_s": 0, **more})


class CurrentInterface:
    """An application that answers with one interface after the other: a server takes half a second to end."""

    api: ProlificApi

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        """Have the interface of the running test answer."""
        return self.api(environ, start_response)


def study_body(**changes: Any) -> dict[str, Any]:
    """Return what a study of two places for £1.50 is made of."""
    return {
        "name": "Rate short texts",
        "internal_name": "token-1",
        "description": "Ten texts.",
        "external_study_url": "https://evalsite.example/rate/?p={{%PROLIFIC_PID%}}&s={{%STUDY_ID%}}&x={{%SESSION_ID%}}",
        "prolific_id_option": "url_parameters",
        "completion_codes": [{"code": "ABC", "code_type": "COMPLETED", "actions": [{"action": "MANUALLY_REVIEW"}]}],
        "total_available_places": 2,
        "estimated_completion_time": 9,
        "reward": 150,
        "project": PROJECT,
        **changes,
    }


class Caller:
    """Calls a served interface as a client with its token would."""

    def __init__(self, url: str, token: str = TOKEN) -> None:
        self._url = url
        self._token = token

    def __call__(self, method: str, path: str, body: dict[str, Any] | None = None) -> tuple[int, Any]:
        """Return the status and the body of the answer."""
        headers = {"Authorization": f"Token {self._token}", "Content-Type": "application/json"}
        sent = None if body is None else json.dumps(body).encode()
        try:
            with urlopen(Request(f"{self._url}{path}", sent, headers, method=method)) as answer:
                raw = answer.read()
                is_json = answer.headers["Content-Type"] == "application/json"
                return answer.status, json.loads(raw or "null") if is_json else raw.decode()
        except HTTPError as error:
            with error:
                return error.code, json.loads(error.read())
