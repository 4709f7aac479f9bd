"""A requester's account at Mechanical Turk."""

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal, InvalidOperation
from functools import cached_property
from typing import Any
from uuid import UUID
from xml.sax.saxutils import escape

from django.conf import settings
from django.views.decorators.debug import sensitive_variables

from campaigns.contracts.account import (
    AccountState,
    BonusSpec,
    CrowdAccount,
    Event,
    PlatformRefusedError,
    PlatformUnsureError,
    PolledPosting,
    PostingSpec,
    PostingState,
    Prepared,
    SubmissionState,
    Terms,
)
from campaigns.contracts.platform import CampaignRef
from campaigns.platforms.mturk.client import (
    Keys,
    Service,
    existing_hit,
    is_hit_gone,
    is_name_taken,
    is_token_used,
)
from campaigns.platforms.mturk.options import value_of
from campaigns.platforms.mturk.polling import EVENT_TYPES, STATUSES, VERSION, read_message, read_posting
from campaigns.platforms.mturk.qualifications import never_had, requirements

CURRENCY = "USD"
_CENT = Decimal("0.01")
_MINUTE_S, _DAY_S = 60, 86_400
_PAGE, _WORKERS_A_CALL, _MESSAGES_A_CALL, _LONGEST_SUBJECT = 100, 100, 10, 200
_MOST_RECEIVED = 20  # calls for messages in a row
_HIDDEN_S = 60  # until a message that was not acknowledged comes again
_PAST = timedelta(hours=1)  # more than Amazon's clock and ours may be apart
_WORKER = re.compile(r"A[A-Z0-9]{1,63}", re.ASCII)
# A page in a frame as large as the worker's window.
_QUESTION = (
    '<ExternalQuestion xmlns="http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2006-07-14/'
    'ExternalQuestion.xsd"><ExternalURL>{}</ExternalURL><FrameHeight>0</FrameHeight></ExternalQuestion>'
)


class MTurkAccount(CrowdAccount):
    """The account that a campaign's keys open, in the sandbox or in production.

    Amazon keeps request tokens for a day. What is repeated later is found by its token in the annotation of the HIT,
    or in the reason of the bonus. Stored with the campaign, apart for sandbox and production, are the qualification of
    workers of earlier runs and who has it.
    """

    @sensitive_variables()
    def __init__(self, campaign: CampaignRef, keys: Keys, *, is_sandbox: bool) -> None:
        self._campaign, self._options = campaign, campaign.settings
        self._queue_url = value_of(self._options, "sqs_queue_url")
        self._lifetime_days = value_of(self._options, "lifetime_days") or 1
        self._keys = keys
        self._is_sandbox = is_sandbox
        self._mturk = Service("mturk", keys, is_sandbox=is_sandbox)
        self._stored_as = f"mturk_{'sandbox' if is_sandbox else 'production'}"
        stored: Mapping[str, Any] = campaign.stored.get(self._stored_as) or {}
        self._worked_before_type = str(stored.get("worked_before_type") or "")
        self._marked = set(stored.get("worked_before") or ())
        self._refused: dict[str, PlatformRefusedError] = {}
        self._hit_types: dict[Terms, str] = {}

    def check(self) -> AccountState:
        """Return the balance: prepaid, or what is left to spend if AWS sends the bill."""
        available = self._mturk.call("get_account_balance").get("AvailableBalance")
        try:
            balance = None if available is None else Decimal(available)
        except InvalidOperation:
            balance = None
        name = "Mechanical Turk, sandbox" if self._is_sandbox else "Mechanical Turk"
        return AccountState(name, balance, CURRENCY, self._is_sandbox)

    # --- Publishing

    def prepare(self, terms: Terms) -> Prepared:
        """Mark the workers of earlier runs, one by each call; then make the HIT type, and ask for notifications.

        Raises DomainError `wrong_currency` or `bad_option` too.
        """
        required = self._required(terms)  # for what cannot be published nobody is marked
        left = terms.worked_before - self._marked - self._refused.keys()
        is_done = not (of_amazon := sorted(filter(_WORKER.fullmatch, left)))
        if of_amazon:
            self._mark(of_amazon[0])
        elif self._refused and not self._marked and not self._is_sandbox:
            raise next(iter(self._refused.values()))  # Amazon has refused everybody: then something else is wrong
        else:
            self._make_hit_type(terms, required)
        stored = {"worked_before_type": self._worked_before_type, "worked_before": sorted(self._marked)}
        return Prepared(stored={self._stored_as: stored} if self._worked_before_type else {}, is_done=is_done)

    def draft(self, posting: PostingSpec) -> str:
        """Return the id of the HIT of this token. Amazon has no drafts: workers see it at once."""
        is_simulated = self._is_sandbox and settings.MTURK_SANDBOX_URL
        if not posting.url.startswith("https://") and not is_simulated:
            raise PlatformRefusedError(
                "needs_https",
                "Mechanical Turk shows pages by HTTPS only. Ask an administrator to set SITE_URL=https://…, the public "
                "address of this site, and to restart it.",
            )
        if posting.terms not in self._hit_types:
            self._make_hit_type(posting.terms, self._required(posting.terms))
        token = str(posting.token)
        if posting.is_repeat and (found := self._hits.find(token)):
            return found
        try:
            answer = self._mturk.call(
                "create_hit_with_hit_type",
                HITTypeId=self._hit_types[posting.terms],
                MaxAssignments=posting.n_places,
                LifetimeInSeconds=self._lifetime_days * _DAY_S,
                Question=_QUESTION.format(escape(posting.url)),
                RequesterAnnotation=token,
                UniqueRequestToken=token,
            )
        except PlatformRefusedError as error:
            if found := existing_hit(error):
                return found
            if not is_token_used(error):
                raise
            answer = {"HIT": {"HITId": _HitsByToken(self._mturk).find(token)}}
        return str(_part(answer, "HIT", "HITId"))

    def publish(self, posting_id: str) -> None:
        """Do nothing: a HIT is on offer since it was made."""

    def poll(self, posting_id: str) -> PolledPosting:
        """Return a HIT and what was submitted; who has accepted and not submitted is only counted."""
        try:
            # First what was submitted: who submits in between is pending no longer, but has finished here.
            assignments = [
                each
                for page in self._mturk.pages(
                    "list_assignments_for_hit",
                    HITId=posting_id,
                    AssignmentStatuses=list(STATUSES),
                    MaxResults=_PAGE,
                )
                for each in page.get("Assignments", [])
            ]
            hit = _part(self._mturk.call("get_hit", HITId=posting_id), "HIT")
        except PlatformRefusedError as error:
            if not is_hit_gone(error):
                raise
            return PolledPosting(PostingState.GONE, n_pending=0)
        return read_posting(hit, assignments, datetime.now(UTC))

    def add_places(self, posting_id: str, n: int, token: UUID) -> None:
        """Let more workers take a HIT; once for a token, within a day."""
        try:
            self._mturk.call(
                "create_additional_assignments_for_hit",
                HITId=posting_id,
                NumberOfAdditionalAssignments=n,
                UniqueRequestToken=str(token),
            )
        except PlatformRefusedError as error:
            if not is_token_used(error):
                raise

    def pause(self, posting_id: str) -> None:
        """Let the HIT's time be over."""
        self._expire(posting_id, datetime.now(UTC) - _PAST)

    def resume(self, posting_id: str) -> None:
        """Give the HIT its time once more from now on."""
        self._expire(posting_id, datetime.now(UTC) + timedelta(days=self._lifetime_days))

    def stop(self, posting_id: str) -> None:
        """Let the HIT's time be over; Amazon knows no other end."""
        self.pause(posting_id)

    def delete(self, posting_id: str) -> None:
        """Take away a HIT whose assignments are all decided."""
        try:
            self._mturk.call("delete_hit", HITId=posting_id)
        except PlatformRefusedError:
            if self.poll(posting_id).state != PostingState.GONE:
                raise

    def _expire(self, posting_id: str, at: datetime) -> None:
        try:
            self._mturk.call("update_expiration_for_hit", HITId=posting_id, ExpireAt=at.replace(microsecond=0))
        except PlatformRefusedError as error:
            if not is_token_used(error):  # Amazon's own token is made of the HIT and the second
                raise

    # --- What all HITs of a campaign share

    def _required(self, terms: Terms) -> list[dict[str, Any]]:
        """Return what workers must have and must not; raise PlatformRefusedError `wrong_currency`."""
        if terms.currency != CURRENCY:
            raise PlatformRefusedError(
                "wrong_currency",
                f"Mechanical Turk pays in US dollars. The reward is in {terms.currency}: set it in USD.",
            )
        required = requirements(self._options)
        if any(map(_WORKER.fullmatch, terms.worked_before)):
            self._worked_before_type = self._worked_before_type or self._find_type() or self._create_type()
            required.append(never_had(self._worked_before_type))
        return required

    def _make_hit_type(self, terms: Terms, required: list[dict[str, Any]]) -> None:
        """Amazon gives the HIT type of the same values, if there is one, instead of a second."""
        options = self._options
        answer = self._mturk.call(
            "create_hit_type",
            Title=value_of(options, "title") or terms.title,
            Description=value_of(options, "description") or terms.description,
            Keywords=value_of(options, "keywords"),
            Reward=str(terms.reward.quantize(_CENT)),
            AssignmentDurationInSeconds=(value_of(options, "assignment_minutes") or terms.minutes) * _MINUTE_S,
            AutoApprovalDelayInSeconds=(value_of(options, "auto_approval_days") or 0) * _DAY_S,
            QualificationRequirements=required,
        )
        if not (hit_type := answer.get("HITTypeId")):
            raise PlatformUnsureError("Amazon answered without a HIT type.")
        if self._queue_url:
            notification = {
                "Destination": self._queue_url,
                "Transport": "SQS",
                "Version": VERSION,
                "EventTypes": list(EVENT_TYPES),
            }
            self._mturk.call("update_notification_settings", HITTypeId=hit_type, Notification=notification, Active=True)
        self._hit_types[terms] = str(hit_type)

    def _mark(self, worker: str) -> None:
        """Give the qualification to a worker.

        Whom Amazon refuses has closed their account or never was in the sandbox, and cannot come.
        """
        try:
            self._mturk.call(
                "associate_qualification_with_worker",
                QualificationTypeId=self._worked_before_type,
                WorkerId=worker,
                IntegerValue=1,
                SendNotification=False,
            )
        except PlatformRefusedError as error:
            self._refused[worker] = error
        else:
            self._marked.add(worker)

    @property
    def _type_name(self) -> str:
        return f"Took part before ({self._campaign.public_id.hex})"

    def _find_type(self) -> str:
        pages = self._mturk.pages(
            "list_qualification_types",
            Query=self._type_name,
            MustBeRequestable=False,
            MustBeOwnedByCaller=True,
            MaxResults=100,
        )
        for each in (each for page in pages for each in page.get("QualificationTypes", [])):
            if each.get("Name") == self._type_name:
                return str(each["QualificationTypeId"])
        return ""

    def _create_type(self) -> str:
        try:
            answer = self._mturk.call(
                "create_qualification_type",
                Name=self._type_name,
                Description="Given to workers of earlier runs of a study that needs new workers each time.",
                QualificationTypeStatus="Active",
            )
        except PlatformRefusedError as error:
            if not is_name_taken(error):
                raise
            answer = {"QualificationType": {"QualificationTypeId": self._find_type()}}
        made = str((answer.get("QualificationType") or {}).get("QualificationTypeId") or "")
        if not made:  # made by an earlier try, and not in Amazon's index yet
            raise PlatformUnsureError("The qualification of earlier workers cannot be found yet.")
        return made

    # --- Deciding and paying

    def approve(self, submission_id: str, message: str = "", *, was_rejected: bool = False) -> None:
        """Pay the reward; Amazon takes it from the account now."""
        params: dict[str, Any] = {"AssignmentId": submission_id, "OverrideRejection": was_rejected}
        if message:
            params["RequesterFeedback"] = message
        self._decide("approve_assignment", params, SubmissionState.APPROVED)

    def reject(self, submission_id: str, message: str, category: str = "") -> None:
        """Refuse the reward, with a message that the worker reads; Amazon has no categories."""
        params = {"AssignmentId": submission_id, "RequesterFeedback": message}
        self._decide("reject_assignment", params, SubmissionState.REJECTED)

    def _decide(self, operation: str, params: dict[str, Any], wanted: SubmissionState) -> None:
        try:
            self._mturk.call(operation, **params)
        except PlatformRefusedError as refusal:
            if self._state_of(params["AssignmentId"]) != wanted:
                raise refusal from None

    def _state_of(self, submission_id: str) -> SubmissionState | None:
        try:
            answer = self._mturk.call("get_assignment", AssignmentId=submission_id)
        except PlatformRefusedError:
            return None
        return STATUSES.get(_part(answer, "Assignment", "AssignmentStatus"))

    def draft_bonus(self, bonus: BonusSpec) -> str:
        """Return the token: with it Amazon pays once."""
        return str(bonus.token)

    def pay_bonus(self, bonus: BonusSpec, draft_id: str) -> None:
        """Pay a bonus. Its reason ends in a reference, by which it is found when Amazon has forgotten the token."""
        reference = f"Reference: {UUID(draft_id).hex[:16]}"
        if bonus.is_repeat and self._is_paid(bonus.submission_id, reference):
            return
        try:
            self._mturk.call(
                "send_bonus",
                WorkerId=bonus.worker_key,
                AssignmentId=bonus.submission_id,
                BonusAmount=str(bonus.amount.quantize(_CENT)),
                Reason=f"{bonus.message}\n\n{reference}".strip(),
                UniqueRequestToken=draft_id,
            )
        except PlatformRefusedError as error:
            if not is_token_used(error):
                raise

    def _is_paid(self, submission_id: str, reference: str) -> bool:
        """Look for a bonus that may have been paid; raise PlatformUnsureError if that is refused."""
        pages = self._mturk.pages("list_bonus_payments", AssignmentId=submission_id, MaxResults=_PAGE)
        try:
            return any(reference in each.get("Reason", "") for page in pages for each in page.get("BonusPayments", []))
        except PlatformRefusedError as error:
            raise PlatformUnsureError(f"It cannot be seen whether the bonus was paid: {error.message}") from error

    # --- Workers

    def notify(self, worker_keys: Iterable[str], subject: str, text: str, posting_id: str) -> None:
        """Send e-mails; Amazon writes only to workers whose work was approved or rejected.

        Raises PlatformRefusedError `not_notified` with those who do not get it; the others do.
        """
        workers = list(worker_keys)
        failed: list[dict[str, str]] = []
        for begin in range(0, len(workers), _WORKERS_A_CALL):
            answer = self._mturk.call(
                "notify_workers",
                Subject=subject[:_LONGEST_SUBJECT],
                MessageText=text,
                WorkerIds=workers[begin : begin + _WORKERS_A_CALL],
            )
            failed += answer.get("NotifyWorkersFailureStatuses") or []
        if failed:
            said = "; ".join(
                f"{each.get('WorkerId', '')}: {each.get('NotifyWorkersFailureMessage', '')}" for each in failed[:5]
            )
            raise PlatformRefusedError("not_notified", f"{len(failed)} of {len(workers)} do not get it. {said}")

    def block(self, worker_key: str, reason: str) -> None:
        """Keep a worker from all HITs of this account; the reason is for Amazon, the worker does not see it."""
        self._mturk.call("create_worker_block", WorkerId=worker_key, Reason=reason)

    def unblock(self, worker_key: str) -> None:
        """Let a worker come again; one who is not blocked may."""
        self._mturk.call("delete_worker_block", WorkerId=worker_key)

    # --- Notifications

    def events(self) -> list[Event]:
        """Return what waits in the queue; what is not acknowledged comes again after a minute."""
        events: list[Event] = []
        if not self._queue_url:
            return events
        for _ in range(_MOST_RECEIVED):
            try:
                answer = self._queues.call(
                    "receive_message",
                    QueueUrl=self._queue_url,
                    MaxNumberOfMessages=_MESSAGES_A_CALL,
                    VisibilityTimeout=_HIDDEN_S,
                    WaitTimeSeconds=0,
                )
            except PlatformUnsureError:
                if not events:
                    raise
                break
            messages = answer.get("Messages") or []
            if not messages:
                break
            for each in messages:
                events += read_message(each.get("Body", ""), each.get("ReceiptHandle", ""))
        return events

    def acknowledge(self, events: Iterable[Event]) -> None:
        """Delete messages; one that stays comes again, which does no harm."""
        receipts = list(dict.fromkeys(event.receipt for event in events if event.receipt))
        for begin in range(0, len(receipts), _MESSAGES_A_CALL):
            batch = receipts[begin : begin + _MESSAGES_A_CALL]
            self._queues.call(
                "delete_message_batch",
                QueueUrl=self._queue_url,
                Entries=[{"Id": str(n), "ReceiptHandle": receipt} for n, receipt in enumerate(batch)],
            )

    @cached_property
    def _queues(self) -> Service:
        return Service("sqs", self._keys, is_sandbox=self._is_sandbox)

    @cached_property
    def _hits(self) -> "_HitsByToken":
        return _HitsByToken(self._mturk)


class _HitsByToken:
    """All HITs of an account by their annotation, read page by page until the one that is wanted.

    Read once: what is made later by this account's own tries still has a token that Amazon knows. A fault loses
    nothing of what was read.
    """

    def __init__(self, mturk: Service) -> None:
        self._mturk = mturk
        self._found: dict[str, str] = {}
        self._next: str | None = ""

    def find(self, annotation: str) -> str:
        """Return the id of the HIT with an annotation, "" if there is none."""
        while annotation not in self._found and self._next is not None:
            page = self._mturk.call("list_hits", MaxResults=_PAGE, **({"NextToken": self._next} if self._next else {}))
            for hit in page.get("HITs", []):
                if hit.get("RequesterAnnotation"):
                    self._found[hit["RequesterAnnotation"]] = hit["HITId"]
            self._next = page.get("NextToken") or None
        return self._found.get(annotation, "")


def _part(answer: dict[str, Any], *names: str) -> Any:
    """Return a part of an answer; an answer without it was cut off on its way."""
    part: Any = answer
    for name in names:
        part = part.get(name) if isinstance(part, dict) else None
    if not part:
        raise PlatformUnsureError(f"Amazon answered without “{names[-1]}”.")
    return part
