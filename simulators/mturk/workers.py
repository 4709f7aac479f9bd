"""Operations on workers: blocks and messages."""

from collections.abc import Callable
from typing import Any

from simulators.mturk.pages import page
from simulators.mturk.records import Records
from simulators.mturk.refusals import bad_value, out_of_range

Operation = Callable[[Records, dict[str, Any]], dict[str, Any]]

_MAX_NOTIFIED = 100
_MAX_SUBJECT, _MAX_TEXT = 200, 4096


def create_worker_block(records: Records, request: dict[str, Any]) -> dict[str, Any]:
    """Carry out CreateWorkerBlock; of a blocked worker it changes the reason."""
    if not request["Reason"].strip():
        raise bad_value("Reason", request["Reason"])
    if records.ledger.get("block", request["WorkerId"]) is None:
        records.ledger.record("block", request["WorkerId"], reason=request["Reason"])
    records.ledger.put("block", request["WorkerId"], {"reason": request["Reason"]})
    return {}


def delete_worker_block(records: Records, request: dict[str, Any]) -> dict[str, Any]:
    """Carry out DeleteWorkerBlock; nothing changes for a worker who is not blocked."""
    if records.ledger.get("block", request["WorkerId"]) is not None:
        records.ledger.remove("block", request["WorkerId"])
        records.ledger.record("unblock", request["WorkerId"], reason=request.get("Reason", ""))
    return {}


def list_worker_blocks(records: Records, request: dict[str, Any]) -> dict[str, Any]:
    """Carry out ListWorkerBlocks."""
    blocks = [{"WorkerId": id, "Reason": block["reason"]} for id, block in records.ledger.all("block").items()]
    return page(blocks, request, "WorkerBlocks", dict)


def notify_workers(records: Records, request: dict[str, Any]) -> dict[str, Any]:
    """Carry out NotifyWorkers; it reaches workers on whose work something was decided."""
    subject, text, worker_ids = request["Subject"], request["MessageText"], request["WorkerIds"]
    if not 1 <= len(subject) <= _MAX_SUBJECT:
        raise out_of_range("NotifyWorkers", "Subject", subject, 1, _MAX_SUBJECT)
    if not 1 <= len(text) <= _MAX_TEXT:
        raise out_of_range("NotifyWorkers", "MessageText", f"{text[:40]}…", 1, _MAX_TEXT)
    if not 1 <= len(worker_ids) <= _MAX_NOTIFIED:
        raise out_of_range("NotifyWorkers", "WorkerIds", f"{len(worker_ids)} ids", 1, _MAX_NOTIFIED)
    failures = []
    for worker_id in worker_ids:
        if records.ledger.get("known-worker", worker_id) is None:
            failures.append(_stranger(worker_id))
        else:
            records.ledger.record("notify", worker_id, subject=subject, text=text)
    return {"NotifyWorkersFailureStatuses": failures}


def _stranger(worker_id: str) -> dict[str, Any]:
    return {
        "NotifyWorkersFailureCode": "HardFailure",
        "NotifyWorkersFailureMessage": f"We can't process your request: {worker_id} has not worked for you.",
        "WorkerId": worker_id,
    }


OPERATIONS: dict[str, Operation] = {
    "CreateWorkerBlock": create_worker_block,
    "DeleteWorkerBlock": delete_worker_block,
    "ListWorkerBlocks": list_worker_blocks,
    "NotifyWorkers": notify_workers,
}
