"""What all HITs of a campaign share: their type, the queue of its events, and the mark of who worked before."""

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from campaigns.contracts.account import PlatformRefusedError, PlatformUnsureError, Terms
from campaigns.contracts.platform import CampaignRef
from campaigns.platforms.mturk.client import Service
from campaigns.platforms.mturk.notifications import EVENT_TYPES, VERSION
from campaigns.platforms.mturk.options import number_of, text_of
from campaigns.platforms.mturk.qualifications import never_had, requirements
from campaigns.platforms.mturk.refusals import is_name_taken

CURRENCY = "USD"
_CENT = Decimal("0.01")
_MINUTE_S, _DAY_S = 60, 86_400
_WORKER = re.compile(r"A[A-Z0-9]{1,63}", re.ASCII)


def money(amount: Decimal) -> str:
    """Return an amount as Amazon wants it: a text with two decimals."""
    return str(amount.quantize(_CENT))


class Sharing:
    """Makes what is shared once for each `Terms`, and finds it if it was made before. Goes on where a fault stopped it.

    Keeps in `memory` what it need not ask again, apart for sandbox and production.
    """

    def __init__(self, mturk: Service, campaign: CampaignRef, *, is_sandbox: bool) -> None:
        self._mturk = mturk
        self._campaign = campaign
        self._is_sandbox = is_sandbox
        self._name = f"mturk_{'sandbox' if is_sandbox else 'production'}"
        known: Mapping[str, Any] = campaign.memory.get(self._name) or {}
        self._worked_before_type = str(known.get("worked_before_type") or "")
        self._marked = set(known.get("worked_before") or ())
        self._refused: dict[str, PlatformRefusedError] = {}
        self._hit_types: dict[Terms, str] = {}

    @property
    def memory(self) -> dict[str, Any]:
        """What is to be remembered with the campaign."""
        if not self._worked_before_type:
            return {}
        return {self._name: {"worked_before_type": self._worked_before_type, "worked_before": sorted(self._marked)}}

    def prepare(self, terms: Terms) -> bool:
        """Mark a worker of an earlier run or, if all are, make the HIT type; return whether that was the last step.

        Raises what `hit_type` raises.
        """
        self._wanted(terms)  # for what cannot be published nobody is marked
        asked = self._marked | self._refused.keys()
        if left := [each for each in _earlier(terms) if each not in asked]:
            self._mark(min(left))
            return False
        self._judge_refusals()
        self.hit_type(terms)
        return True

    def hit_type(self, terms: Terms) -> str:
        """Return the HIT type of these terms.

        Raises DomainError `wrong_currency` or `bad_option`, and what calls raise.
        """
        if terms not in self._hit_types:
            hit_type = self._create_hit_type(terms)
            self._notify_of(hit_type)
            self._hit_types[terms] = hit_type
        return self._hit_types[terms]

    def _wanted(self, terms: Terms) -> list[dict[str, Any]]:
        """Return what workers must have and must not."""
        if terms.currency != CURRENCY:
            raise PlatformRefusedError(
                "wrong_currency",
                f"Mechanical Turk pays in US dollars. The reward is in {terms.currency}: set it in USD.",
            )
        wanted = requirements(self._campaign.settings)
        if any(_earlier(terms)):
            wanted.append(never_had(self._mark_type()))
        return wanted

    def _create_hit_type(self, terms: Terms) -> str:
        """Amazon gives the HIT type of the same values, if there is one, instead of a second."""
        options = self._campaign.settings
        answer = self._mturk.call(
            "create_hit_type",
            Title=text_of(options, "title") or terms.title,
            Description=text_of(options, "description") or terms.description,
            Keywords=text_of(options, "keywords"),
            Reward=money(terms.reward),
            AssignmentDurationInSeconds=(number_of(options, "assignment_minutes") or terms.minutes) * _MINUTE_S,
            AutoApprovalDelayInSeconds=(number_of(options, "auto_approval_days") or 0) * _DAY_S,
            QualificationRequirements=self._wanted(terms),
        )
        if not answer.get("HITTypeId"):
            raise PlatformUnsureError("Amazon answered without a HIT type.")
        return str(answer["HITTypeId"])

    def _notify_of(self, hit_type: str) -> None:
        if queue := text_of(self._campaign.settings, "sqs_queue_url"):
            notification = {
                "Destination": queue,
                "Transport": "SQS",
                "Version": VERSION,
                "EventTypes": list(EVENT_TYPES),
            }
            self._mturk.call("update_notification_settings", HITTypeId=hit_type, Notification=notification, Active=True)

    # --- Workers of earlier runs

    def _mark(self, worker: str) -> None:
        """Give the qualification to a worker.

        Whom Amazon refuses has closed their account or never was in the sandbox, and cannot come.
        """
        try:
            self._mturk.call(
                "associate_qualification_with_worker",
                QualificationTypeId=self._mark_type(),
                WorkerId=worker,
                IntegerValue=1,
                SendNotification=False,
            )
        except PlatformRefusedError as error:
            self._refused[worker] = error
        else:
            self._marked.add(worker)

    def _judge_refusals(self) -> None:
        """Raise a refusal if Amazon has refused everybody: then something else is wrong."""
        if self._refused and not self._marked and not self._is_sandbox:
            raise next(iter(self._refused.values()))

    def _mark_type(self) -> str:
        """Return the qualification of earlier workers, found or made."""
        if not self._worked_before_type:
            self._worked_before_type = self._find_type() or self._create_type()
        return self._worked_before_type

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
                Description="Given to who took part in an earlier run of a study that wants new people each time.",
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


def _earlier(terms: Terms) -> Iterator[str]:
    """Yield the workers of earlier runs who can be Amazon's."""
    return filter(_WORKER.fullmatch, terms.worked_before)
