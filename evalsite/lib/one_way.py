"""A relation to one other object that does not know of it."""

from typing import Any

from django.db import models


class _OneWay(models.OneToOneRel):
    def set_cached_value(self, instance: Any, value: Any) -> None:
        """Keep nothing: two objects that know each other stay until garbage is collected, with all that they have."""


class OneWayField(models.OneToOneField):
    """A `OneToOneField` without a way back, in the tables the same; use it with `related_name="+"`."""

    rel_class = _OneWay

    def deconstruct(self) -> Any:
        """Return the field as migrations know it."""
        name, _, args, kwargs = super().deconstruct()
        return name, "django.db.models.OneToOneField", args, kwargs
