"""Operations on HIT types and HITs."""

import hashlib
import json
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from simulators.mturk.notifications import announce
from simulators.mturk.pages import page
from simulators.mturk.qualifications import check_requirements
from simulators.mturk.questions import external_address
from simulators.mturk.records import (
    ACCEPTED,
    APPROVED,
    MANY_PLACES,
    REJECTED,
    SUBMITTED,
    Records,
    n_available,
    n_in,
    new_id,
    status_of,
)
from simulators.mturk.refusals import (
    already_processed,
    bad_value,
    does_not_exist,
    hit_already_exists,
    missing,
    out_of_range,
    request_error,
    wrong_hit_state,
)

Operation = Callable[[Records, dict[str, Any]], dict[str, Any]]

_YEAR_S = 31_536_000
_MONTH_S = 2_592_000
_NUMBERS = {
    "MaxAssignments": (1, 1_000_000_000),
    "NumberOfAdditionalAssignments": (1, 1_000_000_000),
    "LifetimeInSeconds": (30, _YEAR_S),
    "AssignmentDurationInSeconds": (30, _YEAR_S),
    "AutoApprovalDelayInSeconds": (0, _MONTH_S),
}
_LENGTHS = {
    "Title": (1, 128),
    "Description": (1, 2000),
    "Keywords": (0, 1000),
    "RequesterAnnotation": (0, 255),
}
_TERMS = (
    "Title",
    "Description",
    "Keywords",
    "Reward",
    "AssignmentDurationInSeconds",
    "AutoApprovalDelayInSeconds",
    "QualificationRequirements",
)
_DAY_FORMAT = "%a %b %d %H:%M:%S UTC %Y"


def _check_ranges(operation: str, request: dict[str, Any]) -> None:
    for name, (least, most) in _NUMBERS.items():
        if name in request and not least <= request[name] <= most:
            raise out_of_range(operation, name, request[name], least, most)
    for name, (least, most) in _LENGTHS.items():
        if name in request and not least <= len(request[name]) <= most:
            raise out_of_range(operation, name, request[name], least, most)


def create_hit_type(records: Records, request: dict[str, Any]) -> dict[str, Any]:
    """Carry out CreateHITType; the same values have the same id."""
    _check_ranges("CreateHITType", request)
    return {"HITTypeId": _hit_type(records, request)}


def _hit_type(records: Records, request: dict[str, Any]) -> str:
    terms = {name: request[name] for name in _TERMS if name in request}
    terms["Reward"] = f"{Decimal(terms['Reward']):.2f}"
    terms.setdefault("AutoApprovalDelayInSeconds", _MONTH_S)
    check_requirements(records, terms.get("QualificationRequirements", []))
    values = json.dumps(terms, sort_keys=True)
    type_id = "3" + hashlib.sha256(values.encode()).hexdigest().upper()[:29]
    if records.ledger.get("hit-type", type_id) is None:
        records.ledger.put("hit-type", type_id, {"terms": terms})
        records.ledger.record("create-hit-type", type_id)
    return type_id


def create_hit(records: Records, request: dict[str, Any]) -> dict[str, Any]:
    """Carry out CreateHIT."""
    _check_ranges("CreateHIT", request)
    _refuse_used_token(records, request)
    return _create(records, request, _hit_type(records, request))


def create_hit_with_hit_type(records: Records, request: dict[str, Any]) -> dict[str, Any]:
    """Carry out CreateHITWithHITType."""
    _check_ranges("CreateHITWithHITType", request)
    _refuse_used_token(records, request)
    return _create(records, request, request["HITTypeId"])


def _refuse_used_token(records: Records, request: dict[str, Any]) -> None:
    made = records.used_token("hit", request.get("UniqueRequestToken", ""))
    if made:
        raise hit_already_exists(made)


def _create(records: Records, request: dict[str, Any], type_id: str) -> dict[str, Any]:
    kind = records.ledger.get("hit-type", type_id)
    if kind is None:
        raise does_not_exist("HITType", type_id)
    if "Question" not in request:
        raise missing("Question", "HITLayoutId")
    external_address(request["Question"])
    token = request.get("UniqueRequestToken", "")
    hit = {
        "id": new_id(),
        "type_id": type_id,
        "terms": kind["terms"],
        "question": request["Question"],
        "annotation": request.get("RequesterAnnotation"),
        "created_at": records.now(),
        "expires_at": records.now() + request["LifetimeInSeconds"],
        "n_places": request.get("MaxAssignments", 1),
        "n_held": 0,
        "states": {},
        "status": "Assignable",
        "is_expired": False,
        "is_reviewing": False,
        "is_disposed": False,
    }
    records.keep_hit(hit)
    records.remind(hit["expires_at"], "hit", hit["id"])
    records.use_token("hit", token, hit["id"])
    records.ledger.record("create-hit", hit["id"], token, n_places=hit["n_places"], annotation=hit["annotation"] or "")
    announce(records.ledger, "HITCreated", hit)
    return {"HIT": describe(hit)}


def describe(hit: dict[str, Any]) -> dict[str, Any]:
    """Return a HIT as the API tells it."""
    payload = {
        "HITId": hit["id"],
        "HITTypeId": hit["type_id"],
        "HITGroupId": "3" + hit["type_id"][:0:-1],
        "CreationTime": round(hit["created_at"], 3),
        "Question": hit["question"],
        "HITStatus": status_of(hit),
        "MaxAssignments": hit["n_places"],
        "Expiration": round(hit["expires_at"], 3),
        "QualificationRequirements": [],
        "HITReviewStatus": "NotReviewed",
        "NumberOfAssignmentsPending": n_in(hit, ACCEPTED),
        "NumberOfAssignmentsAvailable": n_available(hit),
        "NumberOfAssignmentsCompleted": n_in(hit, APPROVED, REJECTED),
        **hit["terms"],
    }
    return payload | ({"RequesterAnnotation": hit["annotation"]} if hit["annotation"] is not None else {})


def get_hit(records: Records, request: dict[str, Any]) -> dict[str, Any]:
    """Carry out GetHIT."""
    return {"HIT": describe(records.hit(request["HITId"]))}


def list_hits(records: Records, request: dict[str, Any]) -> dict[str, Any]:
    """Carry out ListHITs: all that were not deleted."""
    hits = [hit for hit in records.ledger.all("hit").values() if not hit["is_disposed"]]
    return page(hits, request, "HITs", describe)


def list_reviewable_hits(records: Records, request: dict[str, Any]) -> dict[str, Any]:
    """Carry out ListReviewableHITs."""
    status, type_id = request.get("Status", "Reviewable"), request.get("HITTypeId")
    hits = [
        hit
        for hit in records.ledger.all("hit").values()
        if hit["status"] == status and type_id in (None, hit["type_id"])
    ]
    return page(hits, request, "HITs", describe)


def create_additional_assignments(records: Records, request: dict[str, Any]) -> dict[str, Any]:
    """Carry out CreateAdditionalAssignmentsForHIT."""
    _check_ranges("CreateAdditionalAssignmentsForHIT", request)
    token, n = request.get("UniqueRequestToken", ""), request["NumberOfAdditionalAssignments"]
    if records.used_token("places", token):
        raise already_processed(token)
    hit = _not_disposed(records, request["HITId"])
    if hit["n_places"] < MANY_PLACES <= hit["n_places"] + n:
        words = "HITs created with fewer than 10 assignments cannot be extended to have 10 or more assignments."
        raise request_error("MechanicalTurk.InvalidMaximumAssignmentsIncrease", words)
    hit["n_places"] += n
    records.keep_hit(hit)
    records.use_token("places", token, hit["id"])
    records.ledger.record("add-places", hit["id"], token, n=n)
    announce(records.ledger, "HITExtended", hit)
    return {}


def update_expiration(records: Records, request: dict[str, Any]) -> dict[str, Any]:
    """Carry out UpdateExpirationForHIT. As at Amazon the same time to come cannot be set twice within a day."""
    hit, at = _not_disposed(records, request["HITId"]), request["ExpireAt"]
    if at <= records.now():
        if not hit["is_expired"]:
            hit["expires_at"] = records.now()
            records.expire(hit)
            records.ledger.record("expire", hit["id"])
        return {}
    if at > records.now() + _YEAR_S:
        raise bad_value("ExpireAt", at)
    token = f"{hit['id']}{datetime.fromtimestamp(at, UTC).strftime(_DAY_FORMAT)}"
    if records.used_token("extend", token):
        raise already_processed(token)
    hit |= {"expires_at": at, "is_expired": False}
    records.keep_hit(hit)
    records.remind(at, "hit", hit["id"])
    records.use_token("extend", token, hit["id"])
    records.ledger.record("extend", hit["id"], token, until=at)
    announce(records.ledger, "HITExtended", hit)
    return {}


def _not_disposed(records: Records, hit_id: str) -> dict[str, Any]:
    hit = records.hit(hit_id)
    if hit["is_disposed"]:
        raise wrong_hit_state("Disposed", "Assignable", "Unassignable", "Reviewable", "Reviewing")
    return hit


def delete_hit(records: Records, request: dict[str, Any]) -> dict[str, Any]:
    """Carry out DeleteHIT: of one that nobody can accept or is at, all of whose submissions are decided."""
    hit = records.hit(request["HITId"])
    if hit["status"] not in ("Reviewable", "Reviewing"):
        raise wrong_hit_state(hit["status"], "Reviewing", "Reviewable")
    if n_in(hit, SUBMITTED):
        words = "This HIT has submitted assignments that have been neither approved nor rejected."
        raise request_error("MechanicalTurk.InvalidHITState", words)
    hit["is_disposed"] = True
    records.keep_hit(hit)
    records.ledger.record("delete-hit", hit["id"])
    announce(records.ledger, "HITDisposed", hit)
    return {}


def update_review_status(records: Records, request: dict[str, Any]) -> dict[str, Any]:
    """Carry out UpdateHITReviewStatus."""
    hit, back = records.hit(request["HITId"]), request.get("Revert", False)
    wanted = "Reviewing" if back else "Reviewable"
    if hit["status"] != wanted:
        raise wrong_hit_state(hit["status"], wanted)
    hit["is_reviewing"] = not back
    records.keep_hit(hit)
    return {}


OPERATIONS: dict[str, Operation] = {
    "CreateHITType": create_hit_type,
    "CreateHIT": create_hit,
    "CreateHITWithHITType": create_hit_with_hit_type,
    "GetHIT": get_hit,
    "ListHITs": list_hits,
    "ListReviewableHITs": list_reviewable_hits,
    "CreateAdditionalAssignmentsForHIT": create_additional_assignments,
    "UpdateExpirationForHIT": update_expiration,
    "DeleteHIT": delete_hit,
    "UpdateHITReviewStatus": update_review_status,
}
