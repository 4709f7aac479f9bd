"""Plug-in look-up: a settings line names a class, a slug finds it."""

from collections.abc import Iterable
from typing import TypeVar

from django.utils.module_loading import import_string

from evalsite.lib.errors import DomainError

T = TypeVar("T")


class Registry(dict[str, T]):
    """Classes by their `slug`, imported when the first one is asked for: by `[slug]`, or by `all()`.

    Of threads that ask at once, each finds all of them: a job worker and a page may be the first together.

    `[slug]` raises DomainError `unknown_<kind>` that lists the known ones.
    """

    def __init__(self, kind: str, paths: Iterable[str]) -> None:
        super().__init__()
        self._kind = kind
        self._paths = list(paths)

    def all(self) -> dict[str, T]:
        """Return every registered class by slug, in the order of the settings."""
        if not self:
            found = {cls.slug: cls for cls in map(import_string, self._paths)}
            self.update(found)  # in one step
        return self

    def __missing__(self, slug: str) -> T:
        if slug in self.all():
            return self[slug]
        raise DomainError(
            f"unknown_{self._kind.replace(' ', '_')}",
            f"There is no {self._kind} “{slug}”. Choose one of: {', '.join(self)}.",
        )
