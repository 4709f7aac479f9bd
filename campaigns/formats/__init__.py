"""The formats that ship with evalsite, a file each: what fields and outputs are."""

from collections.abc import Iterable

from campaigns.contracts.format import ContentFormat, FileFormat
from evalsite.lib.errors import DomainError
from evalsite.lib.plugins import Registry

_formats: Registry[type[ContentFormat]] = Registry("format", "EVALSITE_FORMATS")


def get_format(slug: str) -> type[ContentFormat]:
    """Return the format of `slug`; raise DomainError `unknown_format`."""
    return _formats[slug]


def get_file_format(slug: str) -> type[FileFormat]:
    """Return the format of `slug`, whose values name files; raise DomainError `unknown_format` if they name none."""
    found = get_format(slug)
    if issubclass(found, FileFormat):
        return found
    raise DomainError("unknown_format", f"Values of the format “{found.title}” name no files.")


def has_file_format(slugs: Iterable[str]) -> bool:
    """Tell whether values of one of these formats name files; raise DomainError `unknown_format`."""
    return any(issubclass(get_format(slug), FileFormat) for slug in slugs)


def list_formats() -> list[type[ContentFormat]]:
    """Return every format in the order of the settings."""
    return list(_formats.all().values())


def first_of(*slugs: str) -> str:
    """Return the first of these formats that the site has: how one format has its texts shown by another.

    Raises DomainError `unknown_format` if it has none.
    """
    known = _formats.all()
    return next((slug for slug in slugs if slug in known), "") or get_format(slugs[-1]).slug
