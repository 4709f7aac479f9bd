"""Amazon Mechanical Turk, and whatever site shows external questions as it does."""

import re
from collections.abc import Mapping
from decimal import ROUND_HALF_UP, Decimal
from typing import Any
from urllib.parse import urlencode, urlsplit

from django.conf import settings as site
from django.views.decorators.debug import sensitive_variables

from campaigns.contracts.account import CrowdAccount
from campaigns.contracts.platform import Arrival, CampaignRef, CrowdPlatform, Handover, Place, bad_link
from campaigns.platforms.mturk.options import CODE, MIN_FEE, PRODUCTION, Options, value_of
from campaigns.platforms.mturk.qualifications import MASTERS, requirements
from evalsite.lib.encryption import is_signed, sign
from evalsite.lib.errors import DomainError
from evalsite.lib.extras import missing

_NOT_ACCEPTED = "ASSIGNMENT_ID_NOT_AVAILABLE"
_WORKER = re.compile(r"A[A-Z0-9]{5,30}", re.ASCII)
_ID = re.compile(r"[A-Z0-9]{20,64}", re.ASCII)
_HIT_NUMBER = re.compile(r"[0-9]{0,9}", re.ASCII)
_RATE, _MORE_FOR_MANY, _MORE_FOR_MASTERS = Decimal("0.20"), Decimal("0.20"), Decimal("0.05")
_MANY_PLACES = 10
# Workers see HITs in a frame of worker.mturk.com or of the sandbox. `turkSubmitTo` is www.mturk.com, which sends the
# form on to worker.mturk.com: browsers that check each redirect want both among the targets of forms.
AMAZON = ("https://worker.mturk.com", "https://workersandbox.mturk.com", "https://www.mturk.com")
_PORTS = {"http": 80, "https": 443}


class MTurk(CrowdPlatform):
    """One external question for each HIT."""

    slug = "mturk"
    title = "Amazon Mechanical Turk"
    summary = "Each HIT is published as a HIT of Mechanical Turk; first in its sandbox, where nothing is paid."
    task_name = "HIT"
    task_note = "A HIT (Human Intelligence Task) is one task on Mechanical Turk."
    options = Options
    has_account = True

    @property
    def frame_ancestors(self) -> tuple[str, ...]:
        """Return Amazon's sites for workers, and those that the admin has added."""
        return allowed_sites()

    @property
    def form_action(self) -> tuple[str, ...]:
        """Return the same sites: work is submitted to the one that shows it."""
        return allowed_sites()

    @classmethod
    def check(cls, settings: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the options; raise DomainError `bad_option` for a value that Amazon would refuse."""
        requirements(settings)
        _check_queue(value_of(settings, "sqs_queue_url"))
        return super().check(settings)

    def identify(self, campaign: CampaignRef, params: Mapping[str, str]) -> Arrival:
        """Return the worker and their assignment on Mechanical Turk, or a preview.

        Raises DomainError `bad_link` for an address that was not published for this campaign, ids that are none of
        Amazon's, and a site to submit to that is not allowed.
        """
        hit = params.get("hit", "")
        key, parts = params.get("key", ""), (str(campaign.public_id), hit)
        if not _HIT_NUMBER.fullmatch(hit) or not is_signed(key, self.slug, *parts):
            raise bad_link("This address is not complete. Open the HIT from your list on Mechanical Turk.")
        if params.get("assignmentId", _NOT_ACCEPTED) == _NOT_ACCEPTED:
            return Arrival(is_preview=True)
        worker, submit_to = params.get("workerId", ""), origin_of(params.get("turkSubmitTo", ""))
        ids = (params["assignmentId"], params.get("hitId", ""))
        if not _WORKER.fullmatch(worker) or not all(map(_ID.fullmatch, ids)):
            raise bad_link("Mechanical Turk has not said who you are. Open this HIT from your list of HITs there.")
        if submit_to not in allowed_sites():
            raise bad_link("This page was opened from a site that it does not know. Open the HIT on Mechanical Turk.")
        assignment_id, posting_id = ids
        place = Place(assignment_id, int(hit) if hit else None, data={"submit_to": submit_to, "posting": posting_id})
        return Arrival(worker, place=place)

    def finish(self, campaign: CampaignRef, place: Place | None, code: str) -> Handover:
        """Return the form that submits the assignment, or the code alone if there is no assignment to submit."""
        submit_to = place.data.get("submit_to", "") if place else ""
        if place is None or submit_to not in allowed_sites():
            return Handover(code=code)
        # Amazon refuses a form that has no field besides the assignment's.
        fields = {"assignmentId": place.platform_id, CODE: code}
        return Handover(form_url=f"{submit_to}/mturk/externalSubmit", fields=fields)

    def arrival_query(self, campaign: CampaignRef, hit_number: int | None) -> str:
        """Return the number of the HIT, and the signature without which nobody can name another one."""
        hit = "" if hit_number is None else str(hit_number)
        return urlencode({"hit": hit, "key": sign(self.slug, str(campaign.public_id), hit)})

    def fee(self, campaign: CampaignRef, amount: Decimal, *, n_places: int, is_bonus: bool = False) -> Decimal:
        """Return 20 % of a reward or a bonus, 40 % of a reward of a HIT with 10 places or more, 5 % more for Masters.

        At least a cent. Not in it: what Amazon asks for premium qualifications.
        """
        if not amount:
            return Decimal("0.00")
        rate = _RATE
        if not is_bonus:
            rate += _MORE_FOR_MANY if n_places >= _MANY_PLACES else 0
            lines = value_of(campaign.settings, "qualifications").splitlines()
            is_for_masters = any(line.split()[0] in MASTERS for line in lines if line.strip())
            rate += _MORE_FOR_MASTERS if is_for_masters else 0
        return max((amount * rate).quantize(MIN_FEE, ROUND_HALF_UP), MIN_FEE)

    @classmethod
    def lacks(cls) -> str:
        """Return whether Amazon's library is to be installed."""
        return missing("mturk", cls.title)

    @sensitive_variables()
    def open_account(self, campaign: CampaignRef, secrets: Mapping[str, str]) -> CrowdAccount:
        """Return the account of the campaign's keys, or else of this installation's.

        Raises DomainError `no_keys` or `missing_library`.
        """
        if lacking := self.lacks():
            raise DomainError("missing_library", lacking)
        from campaigns.platforms.mturk.account import MTurkAccount  # botocore takes a while to import
        from campaigns.platforms.mturk.client import Keys

        own = secrets.get("access_key_id", "").strip(), secrets.get("secret_access_key", "").strip()
        # Never the one of the campaign with the other of the installation.
        keys = own if any(own) else (site.MTURK_ACCESS_KEY_ID.strip(), site.MTURK_SECRET_ACCESS_KEY.strip())
        if not all(keys):
            raise DomainError("no_keys", "Mechanical Turk needs two keys: an access key ID and its secret access key.")
        return MTurkAccount(campaign, Keys(*keys), is_sandbox=value_of(campaign.settings, "mode") != PRODUCTION)


def _check_queue(url: str) -> None:
    own = origin_of(site.MTURK_SANDBOX_URL)
    amazons = re.fullmatch(r"https://sqs\.us-east-1\.amazonaws\.com/[0-9]{12}/[\w.-]{1,80}", url, re.ASCII)
    if url and not amazons and not (own and origin_of(url) == own):
        raise DomainError(
            "bad_option",
            "Queue for notifications: an address such as https://sqs.us-east-1.amazonaws.com/123456789012/my-queue.",
        )


def allowed_sites() -> tuple[str, ...]:
    """Return the origins, each once."""
    own = (origin_of(site.MTURK_SANDBOX_URL), *map(origin_of, site.EXTERNAL_SITES))
    return tuple(dict.fromkeys((*AMAZON, *filter(None, own))))


def origin_of(address: str) -> str:
    """Return scheme, host and port of an address in one spelling; "" if it has none, or a user name in it."""
    try:
        parts = urlsplit(address.strip())
        port = parts.port
    except ValueError:
        return ""
    if parts.scheme not in _PORTS or not parts.hostname or "@" in parts.netloc:
        return ""
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{host}" + (f":{port}" if port not in (None, _PORTS[parts.scheme]) else "")
