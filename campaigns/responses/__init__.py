"""The response kinds that ship with evalsite, a file each."""

from typing import TYPE_CHECKING, Any

from evalsite.lib.errors import DomainError
from evalsite.lib.plugins import Registry

if TYPE_CHECKING:
    from campaigns.contracts.response import ResponseKind, Settings

_kinds: "Registry[type[ResponseKind]]" = Registry("response kind", "EVALSITE_RESPONSES")


def get_response_kind(slug: str) -> "type[ResponseKind]":
    """Return the response kind of `slug`; raise DomainError `unknown_response_kind`."""
    return _kinds[slug]


def check_settings(slug: str, given: "Settings") -> dict[str, Any]:
    """Return all settings of a response kind, those that are not given by default.

    Raises DomainError `unknown_response_kind` or `bad_option`.
    """
    kind = get_response_kind(slug)
    if unknown := set(given) - kind.options.named().keys():
        raise DomainError("bad_option", f"{kind.title} has no option “{min(unknown)}”.")
    checked = kind.options.check(kind.options.defaults() | dict(given))
    kind.check(checked)
    return checked


def list_response_kinds() -> "list[type[ResponseKind]]":
    """Return every response kind in the order of the settings."""
    return list(_kinds.all().values())
