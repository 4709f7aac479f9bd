"""Groups of participants of the simulated workspaces."""

from collections.abc import Mapping
from typing import Any

from simulators.ledger import Ledger
from simulators.prolific.checks import RefusedError, check_body, identifier, identifiers, text
from simulators.prolific.studies import new_id


class Groups:
    """Lists of participants that studies may keep out. Its methods raise RefusedError."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def listed(self, workspace: str) -> list[dict[str, Any]]:
        """Return the groups of a workspace, deleted ones too."""
        return [_told(each) for each in self._ledger.all("group").values() if each["workspace_id"] == workspace]

    def create(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Make a group."""
        fields = {"workspace_id": identifier, "name": text, "description": text, "participant_ids": identifiers}
        check_body(body, fields, frozenset({"workspace_id", "name"}))
        self._check_known(body.get("participant_ids", []))
        made = {
            "id": new_id(),
            "name": body["name"],
            "workspace_id": body["workspace_id"],
            "is_deleted": False,
            "members": body.get("participant_ids", []),
        }
        self._ledger.put("group", made["id"], made)
        self._ledger.record("group", made["id"], made["name"])
        return _told(made)

    def delete(self, id: str) -> None:
        """Delete a group, which is still listed."""
        self._ledger.put("group", id, {**self._group(id), "is_deleted": True})

    def add(self, id: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Add participants, all or, if one is unknown, none; those in it already are ignored."""
        group, ids = self._of(id, body)
        self._check_known(ids)
        return self._store(group, [*group["members"], *(one for one in ids if one not in group["members"])])

    def remove(self, id: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Take participants out; those who are not in it are ignored."""
        group, ids = self._of(id, body)
        return self._store(group, [one for one in group["members"] if one not in ids])

    def _of(self, id: str, body: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
        check_body(body, {"participant_ids": identifiers}, frozenset({"participant_ids"}))
        return self._group(id), body["participant_ids"]

    def _group(self, id: str) -> dict[str, Any]:
        group = self._ledger.get("group", id)
        if group is None or group["is_deleted"]:
            raise RefusedError(404, "The participant group does not exist.")
        return group

    def _check_known(self, ids: list[str]) -> None:
        """Refuse ids of nobody, and of participants who have deleted their account."""
        if unknown := [id for id in ids if self._ledger.get("participant", id) is None]:
            raise RefusedError(400, {"participant_ids": [f"Unknown participants: {', '.join(unknown)}."]})

    def _store(self, group: Mapping[str, Any], members: list[str]) -> dict[str, Any]:
        self._ledger.put("group", group["id"], {**group, "members": members})
        return {"results": [{"participant_id": one} for one in members]}


def _told(group: Mapping[str, Any]) -> dict[str, Any]:
    payload = {name: group[name] for name in ("id", "name", "workspace_id", "is_deleted")}
    return {**payload, "participant_count": len(group["members"])}
