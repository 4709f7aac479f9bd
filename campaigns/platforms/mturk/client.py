"""Calls to Amazon: Mechanical Turk and its queue. The only module of the application that knows botocore."""

import logging
import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, ParamValidationError
from botocore.parsers import ResponseParserError
from botocore.session import Session
from django.conf import settings
from django.views.decorators.debug import sensitive_variables

from campaigns.contracts.account import PlatformRefusedError, PlatformUnsureError

# Another region has a host name too, at which nobody answers.
REGION = "us-east-1"
PRODUCTION_URL = f"https://mturk-requester.{REGION}.amazonaws.com"
SANDBOX_URL = f"https://mturk-requester-sandbox.{REGION}.amazonaws.com"
QUEUE_URL = f"https://sqs.{REGION}.amazonaws.com"
CONNECT_S, READ_S = 5, 30

_SERVER_ERROR, _TOO_MANY = 500, 429
# Refusals that pass. Amazon gives some of them the status 400.
_PASSING = ("throttl", "toomanyrequests", "requestlimitexceeded", "slowdown", "servicefault", "unavailable", "timeout")
_making = threading.Lock()

# At its most talkative botocore logs whole requests, with the key's id and the signature in them.
logging.getLogger("botocore").setLevel(logging.INFO)


@dataclass(frozen=True)
class Keys:
    """What an account is opened with; not in its `repr`."""

    access_key_id: str = field(repr=False)
    secret_access_key: str = field(repr=False)

    def hide_in(self, text: str) -> str:
        """Return a text without the keys: Amazon repeats what it was sent when a signature is wrong."""
        for key in (self.secret_access_key, self.access_key_id):
            text = text.replace(key, "…")
        return text


class Service:
    """One of Amazon's services, opened with keys. Each call is one request: nothing is sent twice by itself.

    botocore would repeat a request up to five times after a server error, and a payment with it.
    """

    @sensitive_variables()
    def __init__(self, name: str, url: str, keys: Keys) -> None:
        if not all(key.isascii() and key.isprintable() for key in (keys.access_key_id, keys.secret_access_key)):
            raise PlatformRefusedError("bad_keys", "The keys have characters that no key has. Copy them again.")
        self._keys = keys
        with _making:  # a session makes one client at a time
            self.client = _session().create_client(
                name,
                region_name=REGION,
                endpoint_url=url,
                aws_access_key_id=keys.access_key_id,
                aws_secret_access_key=keys.secret_access_key,
                verify=os.environ.get("SSL_CERT_FILE") or None,
                config=_CONFIG,
            )

    @sensitive_variables()
    def call(self, operation: str, **params: Any) -> dict[str, Any]:
        """Return the answer to an operation, which is named as in Python (`get_hit`).

        Raises PlatformRefusedError with Amazon's code and words, PlatformUnsureError for what may pass.
        """
        try:
            return getattr(self.client, operation)(**params)
        except ClientError as error:
            raise self._judge(error) from None
        except ParamValidationError as error:
            raise PlatformRefusedError("bad_request", self._keys.hide_in(str(error))) from None
        except (BotoCoreError, ResponseParserError) as error:
            # Not heard of: cut off, too late, or not in the words of the service.
            raise PlatformUnsureError(self._keys.hide_in(f"{type(error).__name__}: {error}")) from None

    def pages(self, operation: str, **params: Any) -> Iterator[dict[str, Any]]:
        """Yield the pages of an answer; raise what `call` raises, between them too."""
        token = None
        while True:
            page = self.call(operation, **params, **({"NextToken": token} if token else {}))
            yield page
            token = page.get("NextToken")
            if not token:
                return

    def _judge(self, error: ClientError) -> PlatformRefusedError | PlatformUnsureError:
        answer: Any = error.response
        told, http = answer.get("Error", {}), answer.get("ResponseMetadata", {})
        kind, status = str(told.get("Code") or ""), int(http.get("HTTPStatusCode") or 0)
        code = str(answer.get("TurkErrorCode") or kind)
        words = self._keys.hide_in(str(told.get("Message") or code))
        is_passing = any(each in name.lower() for each in _PASSING for name in (kind, code))
        if is_passing or status >= _SERVER_ERROR or status == _TOO_MANY:
            return PlatformUnsureError(f"{code}: {words}", _seconds(http.get("HTTPHeaders", {}).get("retry-after")))
        return PlatformRefusedError(code, words)


def open_mturk(keys: Keys, *, is_sandbox: bool) -> Service:
    """Return Mechanical Turk, or its sandbox, or the simulator that stands for the sandbox."""
    sandbox = settings.MTURK_SANDBOX_URL or SANDBOX_URL
    return Service("mturk", sandbox if is_sandbox else PRODUCTION_URL, keys)


def open_queues(keys: Keys, *, is_sandbox: bool) -> Service:
    """Return SQS, which has no sandbox; a simulator of Mechanical Turk has queues too."""
    return Service("sqs", (is_sandbox and settings.MTURK_SANDBOX_URL) or QUEUE_URL, keys)


_CONFIG = Config(
    signature_version="v4",
    retries={"total_max_attempts": 1, "mode": "standard"},
    connect_timeout=CONNECT_S,
    read_timeout=READ_S,
    proxies={},
    use_fips_endpoint=False,
    use_dualstack_endpoint=False,
)


@cache
def _session() -> Session:
    """Return what clients are made of. Files and profiles of this machine are not for it."""
    nowhere: Any = (None, [], os.devnull, None)
    return Session(
        session_vars={
            "profile": (None, [], None, None),
            "config_file": nowhere,
            "credentials_file": nowhere,
        }
    )


def _seconds(text: Any) -> float | None:
    try:
        return max(float(text), 0.0)
    except (TypeError, ValueError):
        return None
