"""Notifications of what happens to HITs: who wants them, and what they say."""

import json
import uuid
from typing import Any

from simulators.ledger import Ledger
from simulators.mturk.queue import queue_name
from simulators.mturk.refusals import bad_value, does_not_exist, missing

OUTBOX = "notification"
CUSTOMER = "A1SIMULATEDREQUESTER"
_VERSIONS = ("2006-05-05", "2014-08-15")


def announce(ledger: Ledger, event: str, hit: dict[str, Any], assignment_id: str = "") -> None:
    """Send word of an event of a HIT, if its type wants it; it is on its way until somebody looks into the queue."""
    kind = ledger.get("hit-type", hit["type_id"]) or {}
    wish = kind.get("notification")
    if wish and kind["is_notifying"] and event in wish["EventTypes"]:
        _send(ledger, wish, event, hit["type_id"], hit["id"], assignment_id)


def _send(ledger: Ledger, wish: dict[str, Any], event: str, type_id: str, hit_id: str, assignment_id: str) -> None:
    if wish["Transport"] != "SQS":
        return  # e-mail and SNS are accepted, and go nowhere
    said = {
        "EventType": event,
        "EventTimestamp": f"{ledger.now():%Y-%m-%dT%H:%M:%SZ}",
        "HITTypeId": type_id,
        "HITId": hit_id,
    }
    if assignment_id:
        said["AssignmentId"] = assignment_id
    document = {
        "EventDocVersion": wish["Version"],
        "EventDocId": uuid.uuid4().hex,
        "CustomerId": CUSTOMER,
        "Events": [said],
    }
    note = {"queue": queue_name(wish["Destination"]), "body": json.dumps(document)}
    ledger.put(OUTBOX, document["EventDocId"], note)


def update_notification_settings(ledger: Ledger, request: dict[str, Any]) -> dict[str, Any]:
    """Carry out UpdateNotificationSettings. A queue that it names comes to be."""
    kind = ledger.get("hit-type", request["HITTypeId"])
    if kind is None:
        raise does_not_exist("HITType", request["HITTypeId"])
    wish = request.get("Notification", kind.get("notification"))
    if wish is None or not {"Notification", "Active"} & set(request):
        raise missing("Notification", "Active")
    _check(wish)
    if "Ping" in wish["EventTypes"]:
        raise bad_value("EventTypes", "Ping")
    if wish["Transport"] == "SQS":
        ledger.put("queue", queue_name(wish["Destination"]), {})
    kind |= {"notification": wish, "is_notifying": request.get("Active", kind.get("is_notifying", True))}
    ledger.put("hit-type", request["HITTypeId"], kind)
    ledger.record("set-notifications", request["HITTypeId"], events=wish["EventTypes"])
    return {}


def send_test_event_notification(ledger: Ledger, request: dict[str, Any]) -> dict[str, Any]:
    """Carry out SendTestEventNotification."""
    wish, event = request["Notification"], request["TestEventType"]
    _check(wish)
    if wish["Transport"] == "SQS":
        ledger.put("queue", queue_name(wish["Destination"]), {})
    assignment_id = "3TESTASSIGNMENT" if event.startswith("Assignment") else ""
    _send(ledger, wish, event, "3TESTHITTYPE", "3TESTHIT", assignment_id)
    return {}


def _check(wish: dict[str, Any]) -> None:
    if wish["Version"] not in _VERSIONS:
        raise bad_value("Version", wish["Version"])
    if wish["Transport"] == "SQS" and not queue_name(wish["Destination"]):
        raise bad_value("Destination", wish["Destination"])
