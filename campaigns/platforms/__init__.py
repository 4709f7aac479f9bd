"""The crowd platforms that ship with evalsite, a folder each."""

from typing import cast

from django.conf import settings

from campaigns.contracts.platform import CrowdPlatform
from evalsite.lib.plugins import Registry

_registry = Registry("platform", settings.EVALSITE_PLATFORMS)


def get_platform(slug: str) -> CrowdPlatform:
    """Return the crowd platform of `slug`; raise DomainError `unknown_platform`."""
    return cast(type[CrowdPlatform], _registry.get(slug))()


def list_platforms() -> list[type[CrowdPlatform]]:
    """Return every crowd platform in the order of the settings."""
    return list(_registry.all().values())
