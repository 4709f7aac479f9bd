"""Plug-in look-up: a settings line names a class, a slug finds it."""

from collections.abc import Iterable

from django.utils.module_loading import import_string

from evalsite.lib.errors import DomainError


class Registry:
    """Classes by their `slug`, imported when the first one is asked for."""

    def __init__(self, kind: str, paths: Iterable[str]) -> None:
        self._kind = kind
        self._paths = list(paths)
        self._classes: dict[str, type] = {}

    def all(self) -> dict[str, type]:
        """Return every registered class by slug, in the order of the settings."""
        if not self._classes:
            self._classes = {cls.slug: cls for cls in map(import_string, self._paths)}
        return self._classes

    def get(self, slug: str) -> type:
        """Return the class of `slug`; raise DomainError `unknown_<kind>` that lists the known ones."""
        try:
            return self.all()[slug]
        except KeyError:
            known = ", ".join(self.all())
            raise DomainError(
                f"unknown_{self._kind}", f"There is no {self._kind} “{slug}”. Choose one of: {known}."
            ) from None
