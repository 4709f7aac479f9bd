"""Plug-in look-up: a line of a list names a class, a slug finds it."""

from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

from django.conf import settings
from django.utils.module_loading import import_string

from evalsite.lib.errors import DomainError
from evalsite.lib.folders import APPS, IS_INSTALLED

T = TypeVar("T")
_registries: list["Registry[Any]"] = []
GROUPS = {
    "EVALSITE_CONNECTORS": "evalsite.connectors",
    "EVALSITE_FORMATS": "evalsite.formats",
    "EVALSITE_METRICS": "evalsite.metrics",
    "EVALSITE_PLATFORMS": "evalsite.platforms",
    "EVALSITE_PROTOCOLS": "evalsite.protocols",
    "EVALSITE_QUESTIONS": "evalsite.questions",
    "EVALSITE_RESPONSES": "evalsite.responses",
    "EVALSITE_RESPONSE_METHODS": "evalsite.methods",
}
"""The groups of entry points by which packages of others add to the lists of plug-ins."""
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
    """Return a list of `evalsite.plug_ins` as the settings have it; as it is there, where Django has no settings.

    Behind it are what installed packages offer: entry points of the group that GROUPS names.
    """
    names = getattr(settings if settings.configured else import_module("evalsite.plug_ins"), setting)
    found = _entry_points().select(group=GROUPS[setting]) if setting in GROUPS else ()
    return [*names, *(f"{point.module}.{point.attr}" for point in found)] if found else names


def folders_in_packages(name: str) -> list[Path]:
    """Return the folders called `name`, such as templates, of packages that offer plug-ins by entry points."""
    points = (point for group in GROUPS.values() for point in _entry_points().select(group=group))
    specs = (find_spec(package) for package in sorted({point.module.partition(".")[0] for point in points}))
    places = [place for spec in specs if spec for place in spec.submodule_search_locations or ()]
    return [folder for place in places if (folder := Path(place) / name).is_dir()]


@cache
def _entry_points() -> Any:
    return entry_points()  # reads a file of each package that is installed


def load_registered() -> None:
    """Import the plug-ins of every registry, so that no request waits for them."""
    for registry in _registries:
        registry.all()


class Registry(dict[str, T]):
    """Classes by their `slug`, imported when the first one is asked for: by `[slug]`, or by `all()`.

    Of threads that ask at once, each finds all of them: a job worker and a page may be the first together.

    `[slug]` raises DomainError `unknown_<kind>` that lists the known ones.
    """

    def __init__(self, kind: str, setting: str) -> None:
        super().__init__()
        self._kind = kind
        self._setting = setting
        _registries.append(self)

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
