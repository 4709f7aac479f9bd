"""Plug-in look-up: a line of a list names a class, a slug finds it."""

from importlib import import_module
from typing import Any, TypeVar

from django.conf import settings
from django.utils.module_loading import import_string

from evalsite.lib.errors import DomainError
from evalsite.lib.folders import APPS, IS_INSTALLED

T = TypeVar("T")
_PACKAGE = "evalsite."


def place_of(name: str) -> str:
    """Return where the thing called `name` (dotted, as in a checkout) is here: apps of a wheel lie in `evalsite`."""
    return f"{_PACKAGE}{name}" if IS_INSTALLED and name.partition(".")[0] in APPS else name


def name_of(place: str) -> str:
    """Return what a thing is called in a checkout, as stored names are: the inverse of `place_of`."""
    name = place.removeprefix(_PACKAGE)
    return name if name.partition(".")[0] in APPS else place


def load(name: str) -> Any:
    """Return the class or function called `name`; raise ImportError if there is none."""
    return import_string(place_of(name))


def listed(setting: str) -> Any:
    """Return a list of `evalsite.plug_ins` as the settings have it; as it is there, where Django has no settings."""
    return getattr(settings if settings.configured else import_module("evalsite.plug_ins"), setting)


class Registry(dict[str, T]):
    """Classes by their `slug`, imported when the first one is asked for: by `[slug]`, or by `all()`.

    Of threads that ask at once, each finds all of them: a job worker and a page may be the first together.

    `[slug]` raises DomainError `unknown_<kind>` that lists the known ones.
    """

    def __init__(self, kind: str, setting: str) -> None:
        super().__init__()
        self._kind = kind
        self._setting = setting

    def all(self) -> dict[str, T]:
        """Return every registered class by slug, in the order of the list."""
        if not self:
            found = {cls.slug: cls for cls in map(load, listed(self._setting))}
            self.update(found)  # in one step
        return self

    def __missing__(self, slug: str) -> T:
        if slug in self.all():
            return self[slug]
        raise DomainError(
            f"unknown_{self._kind.replace(' ', '_')}",
            f"There is no {self._kind} “{slug}”. Choose one of: {', '.join(self)}.",
        )
