"""Queues like Amazon's SQS: at least once, in no promised order, hidden for a while once received."""

import base64
import binascii
import hashlib
import re
import uuid
from typing import Any
from urllib.parse import urlsplit

from simulators.faults import Faults
from simulators.ledger import Ledger
from simulators.mturk.refusals import RefusalError

ACCOUNT = "000000000000"
SENDER = "AIDAIXO4EZE6RHVSXIN4E"  # whom Mechanical Turk sends notifications as
_VISIBILITY_S = 30
_MAX_RECEIVED = 10
_NAME = re.compile(r"[A-Za-z0-9_-]{1,80}")


def queue_name(url: str) -> str:
    """Return the name of the queue at an address, "" if it is not one: /account/name."""
    parts = urlsplit(url).path.strip("/").split("/")
    return parts[1] if len(parts) == 2 and parts[0].isdecimal() and _NAME.fullmatch(parts[1]) else ""


class Queues:
    """All queues of a ledger. Methods are operations: the request's members in, the response's out."""

    def __init__(self, ledger: Ledger, faults: Faults, outbox: str) -> None:
        self._ledger = ledger
        self._faults = faults
        self._outbox = outbox

    def create(self, request: dict[str, Any], address: str) -> dict[str, Any]:
        """Carry out CreateQueue; a queue of the name is found again."""
        if not _NAME.fullmatch(request["QueueName"]):
            words = "Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length"
            raise _invalid(words)
        self._ledger.put("queue", request["QueueName"], {})
        return self.get_url(request, address)

    def get_url(self, request: dict[str, Any], address: str) -> dict[str, Any]:
        """Carry out GetQueueUrl."""
        if self._ledger.get("queue", request["QueueName"]) is None:
            raise _no_queue()
        return {"QueueUrl": f"{address}/{ACCOUNT}/{request['QueueName']}"}

    def get_attributes(self, request: dict[str, Any], address: str) -> dict[str, Any]:
        """Carry out GetQueueAttributes: how many messages there are, and the name."""
        queue = self._queue(request)
        self._deliver()
        now = self._ledger.now().timestamp()
        hidden = [message["visible_at"] > now for message in self._messages(queue).values()]
        payload = {
            "ApproximateNumberOfMessages": str(hidden.count(False)),
            "ApproximateNumberOfMessagesNotVisible": str(hidden.count(True)),
            "QueueArn": f"arn:aws:sqs:us-east-1:{ACCOUNT}:{queue}",
            "VisibilityTimeout": str(_VISIBILITY_S),
        }
        asked = request.get("AttributeNames", [])
        return {"Attributes": {name: value for name, value in payload.items() if name in asked or "All" in asked}}

    def send(self, request: dict[str, Any], address: str) -> dict[str, Any]:
        """Carry out SendMessage."""
        queue = self._queue(request)
        message_id = self._add(queue, request["MessageBody"], delay_s=request.get("DelaySeconds", 0))
        return {"MessageId": message_id, "MD5OfMessageBody": _md5(request["MessageBody"])}

    def receive(self, request: dict[str, Any], address: str) -> dict[str, Any]:
        """Carry out ReceiveMessage, without waiting."""
        queue = self._queue(request)
        n = _between(request, "MaxNumberOfMessages", 1, 1, _MAX_RECEIVED)
        hidden_s = _between(request, "VisibilityTimeout", _VISIBILITY_S, 0, 43_200)
        self._deliver()
        now = self._ledger.now().timestamp()
        seen = [(id, message) for id, message in self._messages(queue).items() if message["visible_at"] <= now][:n]
        return {"Messages": [self._give(id, message, now + hidden_s, request) for id, message in seen]} if seen else {}

    def _give(self, id: str, message: dict[str, Any], visible_at: float, request: dict[str, Any]) -> dict[str, Any]:
        message |= {"visible_at": visible_at, "n_received": message["n_received"] + 1}
        self._ledger.put("message", id, message)
        payload = {
            "SenderId": SENDER,
            "SentTimestamp": str(round(message["sent_at"] * 1000)),
            "ApproximateReceiveCount": str(message["n_received"]),
        }
        asked = {*request.get("AttributeNames", []), *request.get("MessageSystemAttributeNames", [])}
        attributes = {name: value for name, value in payload.items() if name in asked or "All" in asked}
        given = {
            "MessageId": id,
            "ReceiptHandle": _receipt(id, message["n_received"]),
            "MD5OfBody": _md5(message["body"]),
            "Body": message["body"],
        }
        return given | ({"Attributes": attributes} if attributes else {})

    def delete(self, request: dict[str, Any], address: str) -> dict[str, Any]:
        """Carry out DeleteMessage. A receipt from before the message was received again deletes nothing, silently."""
        self._queue(request)
        id, n_received = _read_receipt(request["ReceiptHandle"])
        message = self._ledger.get("message", id)
        if message is not None and message["n_received"] == n_received:
            self._ledger.remove("message", id)
        return {}

    def delete_batch(self, request: dict[str, Any], address: str) -> dict[str, Any]:
        """Carry out DeleteMessageBatch."""
        if not 1 <= len(request["Entries"]) <= _MAX_RECEIVED:
            raise _invalid(
                f"Maximum number of entries per request are {_MAX_RECEIVED}.", "TooManyEntriesInBatchRequest"
            )
        members: dict[str, Any] = {"Successful": [], "Failed": []}
        for entry in request["Entries"]:
            try:
                self.delete({"QueueUrl": request["QueueUrl"], "ReceiptHandle": entry["ReceiptHandle"]}, address)
                members["Successful"].append({"Id": entry["Id"]})
            except RefusalError as refusal:
                failure = {"Id": entry["Id"], "SenderFault": True, "Code": refusal.code}
                members["Failed"].append(failure)
        return members

    def _queue(self, request: dict[str, Any]) -> str:
        name = queue_name(request["QueueUrl"])
        if self._ledger.get("queue", name) is None:
            raise _no_queue()
        return name

    def _messages(self, queue: str) -> dict[str, dict[str, Any]]:
        return {id: each for id, each in self._ledger.all("message").items() if each["queue"] == queue}

    def _deliver(self) -> None:
        """Let notifications arrive that are on their way, some twice and some late."""
        sent = self._ledger.all(self._outbox)
        for note in self._faults.deliver(list(sent.values())):
            self._add(note["queue"], note["body"])
        for id in sent:
            self._ledger.remove(self._outbox, id)

    def _add(self, queue: str, body: str, *, delay_s: float = 0) -> str:
        now = self._ledger.now().timestamp()
        message_id = str(uuid.uuid4())
        message = {"queue": queue, "body": body, "sent_at": now, "visible_at": now + delay_s, "n_received": 0}
        self._ledger.put("message", message_id, message)
        return message_id


def _between(request: dict[str, Any], name: str, default: int, least: int, most: int) -> int:
    value = request.get(name, default)
    if not least <= value <= most:
        reason = f"Must be between {least} and {most}, if provided."
        raise _invalid(f"Value {value} for parameter {name} is invalid. Reason: {reason}", "InvalidParameterValue")
    return value


def _md5(body: str) -> str:
    return hashlib.md5(body.encode(), usedforsecurity=False).hexdigest()


def _receipt(message_id: str, n_received: int) -> str:
    return base64.b64encode(f"{message_id}#{n_received}".encode()).decode()


def _read_receipt(receipt: str) -> tuple[str, int]:
    try:
        id, _, n_received = base64.b64decode(receipt, validate=True).decode().partition("#")
        return id, int(n_received)
    except (binascii.Error, ValueError):
        words = f'The input receipt handle "{receipt}" is not a valid receipt handle.'
        raise RefusalError(400, "ReceiptHandleIsInvalid", message=words) from None


def _no_queue() -> RefusalError:
    return RefusalError(400, "QueueDoesNotExist", message="The specified queue does not exist.")


def _invalid(words: str, code: str = "InvalidParameterValue") -> RefusalError:
    return RefusalError(400, code, message=words)
