"""What belongs to a workspace of Prolific: its money, its groups of participants, its notifications."""

import ipaddress
import logging
from collections.abc import Sequence
from decimal import Decimal
from urllib.parse import urlsplit

from django.conf import settings

from campaigns.contracts.account import PlatformRefusedError
from campaigns.platforms.prolific.authenticity import EVENT_TYPES, SECRET
from campaigns.platforms.prolific.client import ProlificClient

logger = logging.getLogger(__name__)

BLOCKED = "evalsite: blocked participants"
_IDS_AT_ONCE = 500
_SUBSCRIPTIONS = "/api/v1/hooks/subscriptions/"
_BAD_REQUEST = "400"


class Workspace:
    """The workspace that pays: the one that is named, or the only one. Its methods call the network."""

    def __init__(self, client: ProlificClient, id: str) -> None:
        self._client = client
        self._id = id

    @property
    def id(self) -> str:
        """Its id; raises PlatformRefusedError if there are several to choose from."""
        if not self._id:
            found = {str(each["id"]): str(each.get("title", "")) for each in self._client.every("/api/v1/workspaces/")}
            if len(found) != 1:
                names = ", ".join(f"{title} ({id})" for id, title in found.items())
                raise PlatformRefusedError(
                    "workspace",
                    f"You have {len(found)} workspaces on Prolific. Say in the options which one pays: {names}.",
                )
            (self._id,) = found
        return self._id

    def project(self, named: str) -> str:
        """Return the project that studies are made in: the one that is named, or the first of the workspace.

        Without one a study goes to the first project of the account, and the wallet of that workspace pays. Raises
        PlatformRefusedError if the workspace has no such project.
        """
        found = [str(each["id"]) for each in self._client.every(f"/api/v1/workspaces/{self.id}/projects/")]
        if named and named not in found:
            raise PlatformRefusedError(
                "project",
                f"The workspace {self.id} has no project {named} that you may use. Another workspace would pay for it.",
            )
        if not found:
            raise PlatformRefusedError("project", f"The workspace {self.id} has no project. Create one on Prolific.")
        return named or found[0]

    def balance(self) -> tuple[Decimal | None, str]:
        """Return what can be spent, None if it is not known, and the currency."""
        payload = self._client.get(f"/api/v1/workspaces/{self.id}/balance/")
        available = payload.get("available_balance")
        return None if available is None else Decimal(available) / 100, str(payload.get("currency_code") or "")

    def group(self, name: str, *, create: bool = False) -> str:
        """Return the id of the group of a name, "" if there is none and it is not to be created."""
        listed = self._client.every("/api/v1/participant-groups/", workspace_id=self.id, active="true")
        found = next((str(each["id"]) for each in listed if each["name"] == name and not each.get("is_deleted")), "")
        if found or not create:
            return found
        return str(self._client.create("/api/v1/participant-groups/", {"workspace_id": self.id, "name": name})["id"])

    def add_to_group(self, group: str, ids: Sequence[str]) -> None:
        """Add participants, except those whom Prolific does not know; those in it already stay."""
        unknown: list[str] = []
        for start in range(0, len(ids), _IDS_AT_ONCE):
            unknown += self._add_known(group, ids[start : start + _IDS_AT_ONCE])
        if unknown:
            logger.warning("%d of %d participants are unknown to Prolific and in no group", len(unknown), len(ids))

    def _add_known(self, group: str, ids: Sequence[str]) -> list[str]:
        """Add participants and return those who are refused: one unknown id has Prolific refuse all that come with it.

        So what is refused is tried again in halves.
        """
        try:
            self.add_all_to_group(group, ids)
        except PlatformRefusedError as error:
            if error.code != _BAD_REQUEST:
                raise
            if len(ids) == 1:
                return list(ids)
            half = len(ids) // 2
            return self._add_known(group, ids[:half]) + self._add_known(group, ids[half:])
        return []

    def add_all_to_group(self, group: str, ids: Sequence[str]) -> None:
        """Add participants; raise PlatformRefusedError if Prolific does not know one of them."""
        self._client.post(f"/api/v1/participant-groups/{group}/participants/", {"participant_ids": list(ids)})

    def remove_from_group(self, group: str, id: str) -> None:
        """Take a participant out."""
        self._client.delete(f"/api/v1/participant-groups/{group}/participants/", {"participant_ids": [id]})

    def subscribe(self, url: str) -> dict[str, str]:
        """Have changes of states sent to an address; return the secret that they are signed with.

        A workspace has one secret, which other campaigns may use: a new one is made only if there is none.
        """
        kept = self._client.get("/api/v1/hooks/secrets/", workspace_id=self.id)["results"]
        secret = kept[0] if kept else self._client.create("/api/v1/hooks/secrets/", {"workspace_id": self.id})
        subscribed: set[str] = set()
        for id, event_type, target in self._subscriptions(url):
            if target == url and event_type in EVENT_TYPES and event_type not in subscribed:
                subscribed.add(event_type)
            else:  # to an address that the site had before
                self._client.delete(f"{_SUBSCRIPTIONS}{id}/")
        for event_type in EVENT_TYPES:
            if event_type not in subscribed:
                self._subscribe(event_type, url)
        return {SECRET: str(secret["value"])}

    def unsubscribe(self, url: str) -> None:
        """Have nothing more sent to an address, nor to those that its campaign had before."""
        for id, _, _ in self._subscriptions(url):
            self._client.delete(f"{_SUBSCRIPTIONS}{id}/")

    def _subscriptions(self, url: str) -> list[tuple[str, str, str]]:
        """Return id, event type and address of the subscriptions of a campaign, whose id is in the path of `url`."""
        path = urlsplit(url).path
        listed = self._client.every(_SUBSCRIPTIONS, workspace_id=self.id)
        found = [(str(each["id"]), str(each["event_type"]), str(each["target_url"])) for each in listed]
        return [each for each in found if urlsplit(each[2]).path == path]

    def _subscribe(self, event_type: str, url: str) -> None:
        body = {"workspace_id": self.id, "event_type": event_type, "target_url": url}
        made, word = self._client.create_for_header(_SUBSCRIPTIONS, body, "X-Hook-Secret")
        self._client.post(f"{_SUBSCRIPTIONS}{made['id']}/", {"secret": word})


def is_public(url: str) -> bool:
    """Tell whether Prolific would send notifications to an address; a simulator sends them anywhere."""
    address = urlsplit(url)
    if settings.PROLIFIC_URL or not url:
        return bool(url)
    host = address.hostname or ""
    try:
        is_known_as_private = not ipaddress.ip_address(host).is_global
    except ValueError:
        is_known_as_private = host == "localhost" or "." not in host
    return address.scheme == "https" and not is_known_as_private
