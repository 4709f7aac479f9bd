"""The response kinds that ship with evalsite, a file each."""

from django.conf import settings

from campaigns.contracts.response import ResponseKind
from evalsite.lib.plugins import Registry

_kinds: Registry[type[ResponseKind]] = Registry("response kind", settings.EVALSITE_RESPONSES)


def get_response_kind(slug: str) -> type[ResponseKind]:
    """Return the response kind of `slug`; raise DomainError `unknown_response_kind`."""
    return _kinds[slug]


def list_response_kinds() -> list[type[ResponseKind]]:
    """Return every response kind in the order of the settings."""
    return list(_kinds.all().values())
