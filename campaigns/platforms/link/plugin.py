"""Workers who follow a link: an open one, or one made for each of them. Needs no account anywhere."""

import math
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from campaigns.contracts.options import Choice, Number, OptionsForm
from campaigns.contracts.platform import Arrival, CampaignRef, CrowdPlatform, bad_link
from evalsite.lib.encryption import is_signed, sign
from evalsite.lib.words import counted

OPEN, PERSONAL = "open", "personal"
_PERSONAL_LINK = "link.invitation"
_RESERVE = 2
"""How many times the workers that a design needs are proposed as the cap: some leave after an item or a HIT."""


class Options(OptionsForm):
    """Who may follow the link, and how many."""

    access = Choice(
        label="Who may take part",
        choices=((OPEN, "Anybody with the link"), (PERSONAL, "Only raters with a personal link")),
        initial=OPEN,
    )
    max_workers = Number(
        label="At most this many workers",
        help_text="Twice as many as the HITs need leaves room for those who stop early. Empty: no limit.",
        min_value=1,
        is_operational=True,
    )


class Link(CrowdPlatform):
    """An open link whose workers are counted, or a personal link for each invited rater."""

    slug = "link"
    title = "Link"
    summary = "Send raters a link: one for everybody, or one for each of them. No account needed."
    options = Options

    def identify(self, campaign: CampaignRef, params: Mapping[str, str]) -> Arrival:
        """Return the rater whose invitation is signed in the link, or somebody new where the link is open."""
        if invitation := params.get("invitation"):
            key, _, signature = invitation.partition(".")
            if not is_signed(signature, _PERSONAL_LINK, str(campaign.public_id), key):
                raise bad_link("This link is not complete. Copy it whole from the message that you were sent.")
            return Arrival(invitation=key)
        # Links that were made before invitations had keys carry the rater's name. They were sent, and stay valid.
        if name := params.get("rater"):
            if not is_signed(params.get("key", ""), self.slug, str(campaign.public_id), name):
                raise bad_link("This link is not complete. Copy it whole from the message that you were sent.")
            return Arrival(_key_of(campaign, name))
        if self._access(campaign.settings) == PERSONAL:
            raise bad_link("This study is open to invited raters only. Use the link that you were sent.")
        return Arrival()

    def invite(self, campaign: CampaignRef, name: str) -> str:
        """Return the key of the rater, whose name is this campaign's own."""
        return _key_of(campaign, name)

    def personal_query(self, campaign: CampaignRef, invitation: str) -> str:
        """Return the query of a link: the key of the invitation and its signature, and nothing about the rater."""
        return urlencode({"invitation": f"{invitation}.{sign(_PERSONAL_LINK, str(campaign.public_id), invitation)}"})

    @classmethod
    def propose(cls, settings: Mapping[str, Any], *, n_places: int, hits_per_worker: int | None) -> Mapping[str, Any]:
        """Return a cap for an open link: twice as many workers as the HITs need."""
        if "max_workers" in settings or not n_places or cls._access(settings) != OPEN:
            return {}
        return {"max_workers": _RESERVE * math.ceil(n_places / (hits_per_worker or 1))}

    @classmethod
    def for_known_raters(cls) -> Mapping[str, Any]:
        """Let only raters in who have a personal link."""
        return {"access": PERSONAL}

    @classmethod
    def describe(cls, settings: Mapping[str, Any]) -> str:
        """Say who may take part, and how many."""
        who = "Anybody with the link" if cls._access(settings) == OPEN else "Only raters with a personal link"
        most = settings.get("max_workers")
        return f"{who} may take part, {'without a limit' if most is None else 'at most ' + counted(most, 'worker')}."

    @classmethod
    def remark(cls, settings: Mapping[str, Any]) -> str:
        """Say of an open link without a cap what that means."""
        if cls._access(settings) != OPEN or settings.get("max_workers") is not None:
            return ""
        return "One person can come back as many workers: set how many may take part."

    def max_workers(self, campaign: CampaignRef) -> int | None:
        """Return the cap of the link."""
        return campaign.settings.get("max_workers")

    @staticmethod
    def _access(settings: Mapping[str, Any]) -> str:
        return settings.get("access", OPEN)


def _key_of(campaign: CampaignRef, name: str) -> str:
    return f"{campaign.public_id}:{name}"
