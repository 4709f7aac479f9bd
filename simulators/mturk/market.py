"""What workers do at Mechanical Turk: look, accept, submit, return. For its simulated web site and workers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode, urlsplit, urlunsplit

from simulators.ledger import Ledger
from simulators.mturk.qualifications import meets
from simulators.mturk.questions import answers_document, external_address
from simulators.mturk.records import ABANDONED, ACCEPTED, RETURNED, SUBMITTED, TAKING, Records, n_available, new_id
from simulators.mturk.refusals import RefusalError

PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"


class WorkerRefusedError(Exception):
    """Mechanical Turk does not let a worker do this; `code` says why in a word."""

    def __init__(self, code: str, words: str) -> None:
        super().__init__(words)
        self.code = code


@dataclass(frozen=True)
class Offer:
    """A HIT as workers find it. `reward` is in dollars, `duration_s` what they have from accepting it."""

    hit_id: str
    title: str
    description: str
    keywords: str
    reward: str
    duration_s: int
    n_available: int


class Market:
    """The marketplace as its web site and its workers use it. Threads share it."""

    def __init__(self, ledger: Ledger, balance: str) -> None:
        self.ledger = ledger
        self.records = Records(ledger, balance)

    def put_worker(self, worker_id: str, **profile: Any) -> None:
        """Say who a worker is: country, subdivision, n_approved, approval_rate (percent), is_master."""
        self.ledger.put("worker", worker_id, profile)

    def list_hits(self, worker_id: str = "") -> list[Offer]:
        """Return the HITs that can be accepted; for a worker, those that they may find and have not taken."""
        with self.records.open():
            hits = [hit for hit in self.ledger.all("hit").values() if hit["status"] == "Assignable"]
            return [_offer(hit) for hit in hits if not worker_id or self._is_shown(hit, worker_id)]

    def preview_url(self, hit_id: str) -> str:
        """Return the address that is framed for somebody who has not accepted a HIT."""
        with self.records.open():
            return _extended(self._hit(hit_id), {"assignmentId": PREVIEW, "hitId": hit_id})

    def accept(self, hit_id: str, worker_id: str) -> str:
        """Give a worker a place of a HIT and return the assignment's id.

        Raises WorkerRefusedError `no_hit`, `ended`, `no_places`, `blocked`, `not_qualified` or `taken_before`. Who has
        returned or abandoned a HIT may take it again. A place that was given up is given away under the same id, as
        Amazon does.
        """
        with self.records.open():
            hit = self._hit(hit_id)
            self._check_acceptance(hit, worker_id)
            now = self.records.now()
            assignment = {
                "id": next((each["id"] for each in self.records.assignments(hit, RETURNED, ABANDONED)), new_id()),
                "hit_id": hit_id,
                "worker_id": worker_id,
                "state": ACCEPTED,
                "accepted_at": now,
                "deadline": now + hit["terms"]["AssignmentDurationInSeconds"],
                "feedback": "",
                "bonuses": [],
            }
            self.records.keep_assignment(assignment)
            self.ledger.record("accept", assignment["id"], worker=worker_id, hit=hit_id)
            return assignment["id"]

    def assignment_of(self, hit_id: str, worker_id: str) -> str | None:
        """Return the id of the assignment that a worker is at, None if they hold no place of this HIT."""
        with self.records.open():
            held = self.records.assignments(self._hit(hit_id), ACCEPTED)
            return next((each["id"] for each in held if each["worker_id"] == worker_id), None)

    def external_url(self, assignment_id: str, submit_to: str) -> str:
        """Return the address that is framed for a worker at an assignment, who submits to the site `submit_to`."""
        with self.records.open():
            assignment = self._assignment(assignment_id)
            added = {
                "assignmentId": assignment_id,
                "hitId": assignment["hit_id"],
                "workerId": assignment["worker_id"],
                "turkSubmitTo": submit_to,
            }
            return _extended(self._hit(assignment["hit_id"]), added)

    def submit(self, assignment_id: str, fields: Mapping[str, str]) -> None:
        """Take in the fields of a form that was posted to externalSubmit.

        Raises WorkerRefusedError `no_assignment`, `other_assignment` if the fields name another one, `no_answer`
        unless there is a field beside assignmentId, `not_active` if it was submitted, returned or abandoned.
        """
        with self.records.open():
            assignment = self._active(assignment_id)
            if fields.get("assignmentId", assignment_id) != assignment_id:
                raise WorkerRefusedError("other_assignment", "The form names another assignment.")
            answers = {name: value for name, value in fields.items() if name != "assignmentId"}
            if not answers:
                raise WorkerRefusedError("no_answer", "The form has no field beside assignmentId.")
            terms = self._hit(assignment["hit_id"])["terms"]
            now = self.records.now()
            assignment |= {"state": SUBMITTED, "submitted_at": now, "answer": answers_document(answers)}
            assignment["approves_at"] = now + terms["AutoApprovalDelayInSeconds"]
            self.records.keep_assignment(assignment)
            self.ledger.record("submit", assignment_id, worker=assignment["worker_id"])

    def return_(self, assignment_id: str) -> None:
        """Give a place back; raise WorkerRefusedError `no_assignment` or `not_active`."""
        with self.records.open():
            assignment = self._active(assignment_id)
            assignment["state"] = RETURNED
            self.records.keep_assignment(assignment)
            self.ledger.record("return", assignment_id, worker=assignment["worker_id"])

    def abandon(self, assignment_id: str) -> None:
        """Let the time of an assignment have run out; raise WorkerRefusedError `no_assignment` or `not_active`."""
        with self.records.open():
            self.records.abandon(self._active(assignment_id))

    def _check_acceptance(self, hit: dict[str, Any], worker_id: str) -> None:
        if hit["is_disposed"] or hit["is_expired"]:
            raise WorkerRefusedError("ended", "This HIT has expired.")
        if self.ledger.get("block", worker_id) is not None:
            raise WorkerRefusedError("blocked", "The requester has blocked this worker.")
        if not all(meets(self.records, worker_id, each) for each in hit["terms"].get("QualificationRequirements", [])):
            raise WorkerRefusedError("not_qualified", "This worker does not have the qualifications of this HIT.")
        if self._has_taken(hit, worker_id):
            raise WorkerRefusedError("taken_before", "This worker has an assignment of this HIT.")
        if n_available(hit) < 1:
            raise WorkerRefusedError("no_places", "All assignments of this HIT are taken.")

    def _has_taken(self, hit: dict[str, Any], worker_id: str) -> bool:
        return any(each["worker_id"] == worker_id for each in self.records.assignments(hit, *TAKING))

    def _is_shown(self, hit: dict[str, Any], worker_id: str) -> bool:
        hiding = [
            each
            for each in hit["terms"].get("QualificationRequirements", [])
            if each.get("ActionsGuarded") == "DiscoverPreviewAndAccept"
        ]
        is_hidden = not all(meets(self.records, worker_id, each) for each in hiding)
        return not is_hidden and not self._has_taken(hit, worker_id)

    def _hit(self, hit_id: str) -> dict[str, Any]:
        try:
            return self.records.hit(hit_id)
        except RefusalError:
            raise WorkerRefusedError("no_hit", "There is no such HIT.") from None

    def _assignment(self, assignment_id: str) -> dict[str, Any]:
        try:
            return self.records.assignment(assignment_id)
        except RefusalError:
            raise WorkerRefusedError("no_assignment", "There is no such assignment.") from None

    def _active(self, assignment_id: str) -> dict[str, Any]:
        assignment = self._assignment(assignment_id)
        if assignment["state"] != ACCEPTED:
            raise WorkerRefusedError("not_active", f"This assignment is {assignment['state'].lower()}.")
        return assignment


def _offer(hit: dict[str, Any]) -> Offer:
    terms = hit["terms"]
    return Offer(
        hit_id=hit["id"],
        title=terms["Title"],
        description=terms["Description"],
        keywords=terms.get("Keywords", ""),
        reward=terms["Reward"],
        duration_s=terms["AssignmentDurationInSeconds"],
        n_available=n_available(hit),
    )


def _extended(hit: dict[str, Any], added: Mapping[str, str]) -> str:
    parts = urlsplit(external_address(hit["question"]))
    query = "&".join(filter(None, (parts.query, urlencode(added))))
    return urlunsplit(parts._replace(query=query))
