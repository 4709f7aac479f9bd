"""The formats that ship with evalsite, a file each: what fields and outputs are."""

from campaigns.contracts.format import ContentFormat
from evalsite.lib.plugins import Registry

_formats: Registry[type[ContentFormat]] = Registry("format", "EVALSITE_FORMATS")


def get_format(slug: str) -> type[ContentFormat]:
    """Return the format of `slug`; raise DomainError `unknown_format`."""
    return _formats[slug]


def list_formats() -> list[type[ContentFormat]]:
    """Return every format in the order of the settings."""
    return list(_formats.all().values())
