"""Prolific: studies whose participants come with their ids and leave with a completion code."""

import re
from collections.abc import Mapping
from decimal import ROUND_HALF_UP, Decimal
from typing import ClassVar
from urllib.parse import urlencode

from django.conf import settings as site
from django.views.decorators.debug import sensitive_variables

from campaigns.contracts.account import CrowdAccount, Event
from campaigns.contracts.platform import Arrival, CampaignRef, CrowdPlatform, Handover, Place, bad_link
from campaigns.platforms.prolific import authenticity
from campaigns.platforms.prolific.account import ProlificAccount
from campaigns.platforms.prolific.options import Options, value_of
from evalsite.lib.encryption import is_signed, sign
from evalsite.lib.errors import DomainError

_IDS = ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID")
_ID = re.compile(r"[0-9a-f]{24}", re.ASCII)
_CENT = Decimal("0.01")


class Prolific(CrowdPlatform):
    """One study for each wave of HITs."""

    slug = "prolific"
    title = "Prolific"
    summary = "Each wave of HITs is published as a study of Prolific."
    options = Options
    has_account = True
    posts_each_hit = False
    deletes_postings = False
    frees_rejected = True
    minimum_hourly: ClassVar[Mapping[str, Decimal]] = {"GBP": Decimal("6.00"), "USD": Decimal("8.00")}
    bonus_note = (
        "Prolific accepts a bonus at once and pays it in the following minutes; “done” means that it was accepted. If "
        "the answer is lost, the site looks for the bonus on the submission for 15 minutes before it orders it again. "
        "One that Prolific paid later than that would be paid twice: then compare the sums with your wallet there."
    )
    shortest_rejection = 100
    rejection_effect = f"{CrowdPlatform.rejection_effect} Another participant gets the place, and is paid."
    rejection_categories = (
        ("LOW_EFFORT", "Little effort"),
        ("FAILED_CHECK", "Failed a fair check of attention"),
        ("FAILED_INSTRUCTIONS", "Did not follow the instructions"),
        ("TOO_QUICKLY", "Far too quick"),
        ("TOO_SLOWLY", "Far too slow"),
        ("MALINGERING", "Gave untrue answers"),
        ("NO_DATA", "No data"),
        ("NO_CODE", "No completion code"),
        ("BAD_CODE", "Wrong completion code"),
        ("UNSUPP_DEVICE", "A device that the study does not allow"),
        ("INCOMP_LONGITUDINAL", "Did not take part in all sessions"),
        ("OTHER", "Something else"),
    )

    def identify(self, campaign: CampaignRef, params: Mapping[str, str]) -> Arrival:
        """Return the participant and their submission on Prolific, or a preview.

        In a preview of a draft Prolific sends names instead of ids. Raises DomainError `bad_link` for an address
        that was not published for this campaign, ids that are none of Prolific's and, where Prolific signs who comes,
        a signature that is missing, old, or another participant's.
        """
        if not is_signed(params.get("key", ""), self.slug, str(campaign.public_id)):
            raise bad_link("This address is not complete. Open the study from your list on Prolific.")
        ids = [params.get(name, "") for name in _IDS]
        if any(_is_placeholder(each) for each in ids):
            return Arrival(is_preview=True)
        if not all(map(_ID.fullmatch, ids)):
            raise bad_link("Prolific has not said who you are. Open the study from your list on Prolific.")
        if value_of(campaign.settings, "secure_url"):
            authenticity.check_arrival(campaign, params, dict(zip(_IDS, ids, strict=True)))
        participant, study, session = ids
        return Arrival(participant, place=Place(session, data={"posting": study}))

    def finish(self, campaign: CampaignRef, place: Place | None, code: str) -> Handover:
        """Return the link that completes the submission: the code is the same for all participants of a campaign."""
        if place is None:
            return Handover(code=code)
        ours = authenticity.completion_code(campaign.public_id)
        return Handover(code=ours, link_url=f"{_site_of_prolific()}/submissions/complete?{urlencode({'cc': ours})}")

    def arrival_query(self, campaign: CampaignRef, hit_number: int | None) -> str:
        """Return our signature, and the names that Prolific replaces with ids."""
        names = "&".join(f"{name}={{{{%{name}%}}}}" for name in _IDS)
        return f"{urlencode({'key': sign(self.slug, str(campaign.public_id))})}&{names}"

    def fee(self, campaign: CampaignRef, amount: Decimal, *, n_places: int, is_bonus: bool = False) -> Decimal:
        """Return the percentage that is set, of a reward or a bonus alike, with the tax on it."""
        fee = amount * value_of(campaign.settings, "fee_percent") / 100
        tax = fee * value_of(campaign.settings, "vat_percent") / 100
        return (fee + tax).quantize(_CENT, ROUND_HALF_UP)

    @sensitive_variables()
    def open_account(self, campaign: CampaignRef, secrets: Mapping[str, str]) -> CrowdAccount:
        """Return the account of the campaign's token, or else of this installation's; raise DomainError `no_keys`."""
        token = secrets.get("token", "").strip() or site.PROLIFIC_TOKEN.strip()
        if not token:
            raise DomainError("no_keys", "Prolific needs an API token. Create one in your settings there.")
        return ProlificAccount(campaign, token)

    @sensitive_variables()
    def read_hook(
        self, campaign: CampaignRef, secrets: Mapping[str, str], headers: Mapping[str, str], body: bytes
    ) -> list[Event]:
        """Return the study or the submission whose state has changed; raise DomainError `bad_signature`."""
        authenticity.check_signature(secrets.get(authenticity.SECRET, ""), headers, body)
        return authenticity.read_events(body)

    def hook_fingerprint(self, headers: Mapping[str, str], body: bytes) -> str:
        """Return a digest of what is signed, the time included: a study may be in one state twice."""
        return authenticity.fingerprint(headers, body)


def _is_placeholder(value: str) -> bool:
    return not value or "%" in value or "{" in value


def _site_of_prolific() -> str:
    """Return the site that participants use; a simulator has it at the address of its interface."""
    return site.PROLIFIC_URL.rstrip("/") or "https://app.prolific.com"
