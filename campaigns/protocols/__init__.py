"""The protocols that ship with evalsite, a file for each kind of evaluation."""

from campaigns.contracts.protocol import Protocol
from evalsite.lib.plugins import Registry

_protocols: Registry[type[Protocol]] = Registry("protocol", "EVALSITE_PROTOCOLS")


def get_protocol(slug: str) -> type[Protocol]:
    """Return the protocol of `slug`; raise DomainError `unknown_protocol`."""
    return _protocols[slug]


def find_protocol(slug: str) -> type[Protocol] | None:
    """Return the protocol of `slug`, None if there is none."""
    return _protocols.all().get(slug)


def list_protocols() -> list[type[Protocol]]:
    """Return every protocol in the order of the settings."""
    return list(_protocols.all().values())
