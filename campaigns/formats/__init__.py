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


def first_of(*slugs: str) -> str:
    """Return the first of these formats that the site has: how one format has its texts shown by another.

    Raises DomainError `unknown_format` if it has none.
    """
    known = _formats.all()
    return next((slug for slug in slugs if slug in known), "") or get_format(slugs[-1]).slug
