"""The API of the simulated Mechanical Turk, and of the queue beside it, as one WSGI application."""

import json
import logging
import time
from collections.abc import Callable, Iterable
from http import HTTPStatus
from typing import Any

from botocore.model import OperationModel, ServiceModel

from simulators.faults import Fault, Faults
from simulators.ledger import Ledger
from simulators.mturk import assignments, hits, notifications, qualifications, workers
from simulators.mturk.market import Market
from simulators.mturk.queue import Queues
from simulators.mturk.records import Records
from simulators.mturk.refusals import RefusalError, service_fault
from simulators.mturk.wire import (
    Answer,
    HttpRequest,
    ModelBreachError,
    check_result,
    check_sender,
    content_type,
    find_operation,
    http_headers,
    read_members,
    refusal_answer,
)
from simulators.server import HangUpError

logger = logging.getLogger(__name__)

_BEFORE = (Fault.THROTTLED, Fault.ERROR_BEFORE, Fault.SILENCE_BEFORE)
_SILENT = (Fault.SILENCE_BEFORE, Fault.SILENCE_AFTER)
_MAX_WAIT_S = 20
_LOOK_EVERY_S = 0.05


class MTurkApi(Market):
    """The application. `breaches` names what went wrong within it: a test asserts that it is empty.

    `secret_key`: with it signatures are checked; without it, only which access key they name. Every call is noted in
    the ledger: `ok`, `refused`, the name of a fault, or `broken`.
    """

    def __init__(
        self,
        ledger: Ledger,
        faults: Faults,
        *,
        access_key: str = "AKIASIMULATEDREQUEST",
        secret_key: str | None = None,
        balance: str = "1000.00",
    ) -> None:
        super().__init__(ledger, balance)
        self.access_key = access_key
        self.breaches: list[str] = []
        self._secret_key = secret_key
        self._faults = faults
        self._queues = Queues(ledger, faults, notifications.OUTBOX)
        self._mturk_operations = {
            **hits.OPERATIONS,
            **assignments.OPERATIONS,
            **qualifications.OPERATIONS,
            **workers.OPERATIONS,
            "UpdateNotificationSettings": _on_ledger(notifications.update_notification_settings),
            "SendTestEventNotification": _on_ledger(notifications.send_test_event_notification),
        }
        self._queue_operations = {
            "CreateQueue": self._queues.create,
            "GetQueueUrl": self._queues.get_url,
            "GetQueueAttributes": self._queues.get_attributes,
            "SendMessage": self._queues.send,
            "ReceiveMessage": self._queues.receive,
            "DeleteMessage": self._queues.delete,
            "DeleteMessageBatch": self._queues.delete_batch,
        }

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        """Answer a request; raise HangUpError for a silent one."""
        answer = self._answer(HttpRequest.read(environ))
        body = json.dumps(answer.members).encode()
        status = HTTPStatus(answer.status)
        start_response(f"{status.value} {status.phrase}", http_headers(answer, len(body)))
        return [body]

    def _answer(self, request: HttpRequest) -> Answer:
        operation = None
        try:
            operation = find_operation(request)
            service = operation.service_model
            check_sender(request, service, self.access_key, self._secret_key, self.ledger.now())
            members = read_members(request, operation)
        except RefusalError as refusal:
            self.ledger.note_call(operation.name if operation else "?", "refused")
            return refusal_answer(refusal, operation.service_model if operation else None)
        fault = self._faults.draw()
        if fault not in _BEFORE:
            outcome, answer = self._carry_out(operation, members, request)
        if fault is None:
            self.ledger.note_call(operation.name, outcome)
            return answer
        self.ledger.note_call(operation.name, fault.value)
        return self._fail(fault, service)

    def _fail(self, fault: Fault, service: ServiceModel) -> Answer:
        if fault in _SILENT:
            time.sleep(self._faults.silence_s)
            raise HangUpError
        if fault is Fault.THROTTLED:
            return refusal_answer(RefusalError(400, "ThrottlingException", message="Rate exceeded"), service)
        return refusal_answer(_out_of_order(service), service)

    def _carry_out(
        self, operation: OperationModel, members: dict[str, Any], request: HttpRequest
    ) -> tuple[str, Answer]:
        service = operation.service_model
        try:
            result = self._result(operation, members, request)
            return "ok", Answer(200, result, content_type(service))
        except RefusalError as refusal:
            return "refused", refusal_answer(refusal, service)
        except ModelBreachError as error:
            self.breaches.append(str(error))
        except Exception as error:
            logger.exception("%s has failed", operation.name)
            self.breaches.append(f"{operation.name}: {error!r}")
        return "broken", refusal_answer(_out_of_order(service), service)

    def _result(self, operation: OperationModel, members: dict[str, Any], request: HttpRequest) -> dict[str, Any]:
        """Return what a call gives; a queue is waited for, up to the time that the call asks for."""
        wait_s = members.get("WaitTimeSeconds", 0) if operation.name == "ReceiveMessage" else 0
        until = time.monotonic() + min(wait_s, _MAX_WAIT_S)
        while True:
            with self.records.open():
                result = self._operate(operation, members, request)
                check_result(operation, result)
            if not wait_s or result or time.monotonic() >= until:
                return result
            time.sleep(_LOOK_EVERY_S)

    def _operate(self, operation: OperationModel, members: dict[str, Any], request: HttpRequest) -> dict[str, Any]:
        name = operation.name
        if operation.service_model.service_name == "mturk" and name in self._mturk_operations:
            return self._mturk_operations[name](self.records, members)
        if operation.service_model.service_name == "sqs" and name in self._queue_operations:
            return self._queue_operations[name](members, _address(request))
        raise RefusalError(400, "UnknownOperationException", message=f"{name} is not simulated")


def _on_ledger(
    operation: Callable[[Ledger, dict[str, Any]], dict[str, Any]],
) -> Callable[[Records, dict[str, Any]], dict[str, Any]]:
    return lambda records, request: operation(records.ledger, request)


def _address(request: HttpRequest) -> str:
    scheme, _, rest = request.url.partition("://")
    return f"{scheme}://{rest.partition('/')[0]}"


def _out_of_order(service: ServiceModel) -> RefusalError:
    if service.service_name == "mturk":
        return service_fault()
    return RefusalError(
        500, "InternalFailure", message="The request processing has failed because of an unknown error."
    )
