"""The records of the simulated marketplace: HITs, assignments and money, as they are now, and what Amazon asks for."""

import heapq
import secrets
import string
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from simulators.ledger import Ledger
from simulators.mturk.notifications import announce
from simulators.mturk.refusals import does_not_exist, insufficient_funds

CENT = Decimal("0.01")
MANY_PLACES = 10
MASTERS = frozenset({"2F1QJWKUDD8XADTFD2Q0G6UTO95ALH", "2ARFPLSP75KLA8M8DH1HTEQVJT3SY6"})
_SHARE, _SHARE_OF_MANY, _SHARE_OF_MASTERS = Decimal("0.20"), Decimal("0.20"), Decimal("0.05")


def fee(amount: Decimal, *, n_places: int = 1, of_masters: bool = False) -> Decimal:
    """Return the fee in dollars for one reward or bonus; at least a cent."""
    share = _SHARE + _SHARE_OF_MANY * (n_places >= MANY_PLACES) + _SHARE_OF_MASTERS * of_masters
    return max(CENT, (amount * share).quantize(CENT, ROUND_HALF_UP))


def reward_fee(hit: dict[str, Any]) -> Decimal:
    """Return the fee for one assignment of a HIT."""
    wanted = {requirement["QualificationTypeId"] for requirement in hit["terms"].get("QualificationRequirements", [])}
    return fee(Decimal(hit["terms"]["Reward"]), n_places=hit["n_places"], of_masters=bool(wanted & MASTERS))


def price_of_place(hit: dict[str, Any]) -> Decimal:
    """Return what an approved assignment of a HIT costs, reward and fee."""
    return Decimal(hit["terms"]["Reward"]) + reward_fee(hit)


ACCEPTED, SUBMITTED, APPROVED, REJECTED = "Accepted", "Submitted", "Approved", "Rejected"
RETURNED, ABANDONED = "Returned", "Abandoned"
TAKING = (ACCEPTED, SUBMITTED, APPROVED, REJECTED)  # states of assignments that take one of their HIT's places
REPORTED = (SUBMITTED, APPROVED, REJECTED)  # states of assignments that the requester sees
_TOKEN_S = 24 * 3600
_LETTERS = string.ascii_uppercase + string.digits


def new_id(first: str = "3") -> str:
    """Return an id that nothing has yet."""
    return first + "".join(secrets.choice(_LETTERS) for _ in range(29))


def n_in(hit: dict[str, Any], *states: str) -> int:
    """Return how many assignments of a HIT are in these states."""
    counts = Counter(hit["states"].values())
    return sum(counts[state] for state in states)


def n_available(hit: dict[str, Any]) -> int:
    """Return how many places of a HIT nobody has taken, expired or not."""
    return hit["n_places"] - n_in(hit, *TAKING)


def status_of(hit: dict[str, Any]) -> str:
    """Return the HITStatus."""
    if hit["is_disposed"]:
        return "Disposed"
    if n_available(hit) and not hit["is_expired"]:
        return "Assignable"
    if n_in(hit, ACCEPTED):
        return "Unassignable"
    return "Reviewing" if hit["is_reviewing"] else "Reviewable"


class Records:
    """The marketplace's records in a ledger. Times are seconds of the epoch."""

    def __init__(self, ledger: Ledger, balance: str) -> None:
        self.ledger = ledger
        self._agenda: list[tuple[float, str, str]] = []
        with ledger.changing():
            if ledger.get("account", "") is None:
                ledger.put("account", "", {"total": f"{Decimal(balance):.2f}", "held": "0.00"})
            for hit in ledger.all("hit").values():
                self.remind(hit["expires_at"], "hit", hit["id"])
            for assignment in ledger.all("assignment").values():
                self._remind_of(assignment)

    def now(self) -> float:
        """Return the marketplace's time."""
        return self.ledger.now().timestamp()

    @contextmanager
    def open(self) -> Iterator[None]:
        """Bring the records up to now, and make the changes of the block, all or none."""
        with self.ledger.changing():
            self._follow_time()
        with self.ledger.changing():
            yield

    # --- Time

    def remind(self, at: float, kind: str, id: str) -> None:
        """Look at a thing when a time has come."""
        heapq.heappush(self._agenda, (at, kind, id))

    def _remind_of(self, assignment: dict[str, Any]) -> None:
        if assignment["state"] == ACCEPTED:
            self.remind(assignment["deadline"], "assignment", assignment["id"])
        elif assignment["state"] == SUBMITTED:
            self.remind(assignment["approves_at"], "assignment", assignment["id"])

    def _follow_time(self) -> None:
        """Let expire, be abandoned and be approved whose time has come, in the order of time."""
        while self._agenda and self._agenda[0][0] <= self.now():
            _, kind, id = heapq.heappop(self._agenda)
            thing = self.ledger.get(kind, id)
            if thing is None:
                continue
            if kind == "hit":
                self._expire_if_due(thing)
            elif thing["state"] == ACCEPTED and thing["deadline"] <= self.now():
                self.abandon(thing)
            elif thing["state"] == SUBMITTED and thing["approves_at"] <= self.now():
                self.approve(thing, by="time")

    def _expire_if_due(self, hit: dict[str, Any]) -> None:
        if not hit["is_expired"] and not hit["is_disposed"] and hit["expires_at"] <= self.now():
            self.expire(hit)

    # --- HITs

    def hit(self, hit_id: str) -> dict[str, Any]:
        """Return a HIT; raise RefusalError if there is none."""
        hit = self.ledger.get("hit", hit_id)
        if hit is None:
            raise does_not_exist("HIT", hit_id)
        return hit

    def keep_hit(self, hit: dict[str, Any]) -> None:
        """Store a HIT as it has become, hold the money for its places, and tell if it has become reviewable.

        Raises RefusalError if there is no money to hold.
        """
        before, status = hit["status"], status_of(hit)
        hit |= {"status": status, "is_reviewing": status == "Reviewing"}
        n_open = n_available(hit) if status == "Assignable" else 0
        n_held = n_open + n_in(hit, ACCEPTED, SUBMITTED)
        self._hold((n_held - hit["n_held"]) * price_of_place(hit))
        hit["n_held"] = n_held
        self.ledger.put("hit", hit["id"], hit)
        if status == "Reviewable" and before in ("Assignable", "Unassignable"):
            announce(self.ledger, "HITReviewable", hit)

    def expire(self, hit: dict[str, Any]) -> None:
        """Let nobody else accept a HIT."""
        hit["is_expired"] = True
        announce(self.ledger, "HITExpired", hit)
        self.keep_hit(hit)

    # --- Assignments

    def assignment(self, assignment_id: str) -> dict[str, Any]:
        """Return an assignment; raise RefusalError if there is none."""
        assignment = self.ledger.get("assignment", assignment_id)
        if assignment is None:
            raise does_not_exist("Assignment", assignment_id)
        return assignment

    def assignments(self, hit: dict[str, Any], *states: str) -> list[dict[str, Any]]:
        """Return the assignments of a HIT that are in these states, as they were accepted."""
        return [self.assignment(id) for id, state in hit["states"].items() if state in states]

    def keep_assignment(self, assignment: dict[str, Any]) -> None:
        """Store an assignment as it has become, with the count of its HIT, and tell of it."""
        self.ledger.put("assignment", assignment["id"], assignment)
        self._remind_of(assignment)
        hit = self.hit(assignment["hit_id"])
        hit["states"][assignment["id"]] = assignment["state"]
        announce(self.ledger, f"Assignment{assignment['state']}", hit, assignment["id"])
        self.keep_hit(hit)

    def abandon(self, assignment: dict[str, Any]) -> None:
        """Give back the place of a worker whose time has run out."""
        assignment["state"] = ABANDONED
        self.keep_assignment(assignment)
        self.ledger.record("abandon", assignment["id"], worker=assignment["worker_id"])

    def approve(self, assignment: dict[str, Any], *, by: str, feedback: str = "") -> None:
        """Pay an assignment; raise RefusalError if the account cannot. What was held for it is free again."""
        hit = self.hit(assignment["hit_id"])
        was = assignment["state"]
        self.decide(assignment, APPROVED, feedback)
        self.spend(price_of_place(hit))
        amounts = {"amount": hit["terms"]["Reward"], "fee": str(reward_fee(hit))}
        self.ledger.record("approve", assignment["id"], by=by, was=was, worker=assignment["worker_id"], **amounts)

    def decide(self, assignment: dict[str, Any], state: str, feedback: str) -> None:
        """Store the decision on a submitted assignment."""
        assignment |= {"state": state, "decided_at": self.now(), "feedback": feedback}
        self.ledger.put("known-worker", assignment["worker_id"], {})
        self.keep_assignment(assignment)

    # --- Money and tokens

    def account(self) -> tuple[Decimal, Decimal]:
        """Return what may be spent, and what is held for places of HITs, in dollars."""
        account = self.ledger.get("account", "") or {}
        held = Decimal(account["held"])
        return Decimal(account["total"]) - held, held

    def spend(self, amount: Decimal) -> None:
        """Pay from the account; raise RefusalError if it has too little."""
        self._change(total=-amount)

    def _hold(self, amount: Decimal) -> None:
        if amount:
            self._change(held=amount)

    def _change(self, *, total: Decimal = Decimal(0), held: Decimal = Decimal(0)) -> None:
        available, before = self.account()
        if total < held and available + total - held < 0:
            raise insufficient_funds()
        account = {"total": f"{available + before + total:.2f}", "held": f"{before + held:.2f}"}
        self.ledger.put("account", "", account)

    def used_token(self, kind: str, token: str) -> str | None:
        """Return what a token was used for within the last day, None if it was not."""
        use = self.ledger.get(f"{kind}-token", token) if token else None
        return use["target"] if use and use["at"] > self.now() - _TOKEN_S else None

    def use_token(self, kind: str, token: str, target: str) -> None:
        """Remember what a token was used for."""
        if token:
            self.ledger.put(f"{kind}-token", token, {"at": self.now(), "target": target})
