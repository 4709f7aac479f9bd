"""Checking values in JSON against the shapes of a service model: types, required members, enums, lengths, patterns.

botocore's own validator is for clients: it knows no enums, patterns or largest lengths, and no unknown JSON types.
"""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from botocore.model import ListShape, MapShape, Shape, StructureShape

_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "blob": (str,),
    "integer": (int,),
    "long": (int,),
    "float": (int, float),
    "double": (int, float),
    "timestamp": (int, float),  # seconds of the epoch
    "boolean": (bool,),
    "list": (list,),
    "map": (dict,),
    "structure": (dict,),
}


class Breach(NamedTuple):
    """Where and how a value is not of its shape; `is_type`: it cannot even be read."""

    path: str
    value: Any
    rule: str
    is_type: bool = False

    def __str__(self) -> str:
        value = "null" if self.value is None else f"'{self.value}'"
        return f"Value {value} at '{self.path}' failed to satisfy constraint: {self.rule}"


def breaches(value: Any, shape: Shape, path: str = "") -> Iterator[Breach]:
    """Yield everything that is wrong with a value."""
    if not _is_of_type(value, shape.type_name):
        yield Breach(path, value, f"Member must be of type {shape.type_name}", is_type=True)
    elif isinstance(shape, StructureShape):
        yield from _structure_breaches(value, shape, path)
    elif isinstance(shape, ListShape):
        yield from _size_breaches(len(value), value, shape, path)
        for i, member in enumerate(value):
            yield from breaches(member, shape.member, f"{path}.{i + 1}.member")
    elif isinstance(shape, MapShape):
        for key, member in value.items():
            yield from breaches(key, shape.key, f"{path}.key")
            yield from breaches(member, shape.value, f"{path}.{key}")
    else:
        yield from _scalar_breaches(value, shape, path)


def _is_of_type(value: Any, type_name: str) -> bool:
    if isinstance(value, bool):
        return type_name == "boolean"
    return isinstance(value, _TYPES[type_name])


def _structure_breaches(value: dict[str, Any], shape: StructureShape, path: str) -> Iterator[Breach]:
    prefix = f"{path}." if path else ""
    for name in shape.required_members:
        if name not in value:
            yield Breach(prefix + _as_written(name), None, "Member must not be null")
    for name, member in value.items():
        if name in shape.members:
            yield from breaches(member, shape.members[name], prefix + _as_written(name))
        else:
            yield Breach(prefix + name, member, f"Member must be one of: {', '.join(shape.members)}")


def _as_written(name: str) -> str:
    return name[:1].lower() + name[1:]  # Amazon's messages do so: 'hITId'


def _scalar_breaches(value: Any, shape: Shape, path: str) -> Iterator[Breach]:
    rules = shape.metadata
    if "enum" in rules and value not in rules["enum"]:
        yield Breach(path, value, f"Member must satisfy enum value set: [{', '.join(rules['enum'])}]")
    if "pattern" in rules and not re.fullmatch(rules["pattern"], value):
        yield Breach(path, value, f"Member must satisfy regular expression pattern: {rules['pattern']}")
    yield from _size_breaches(len(value) if isinstance(value, str) else value, value, shape, path)


def _size_breaches(size: float, value: Any, shape: Shape, path: str) -> Iterator[Breach]:
    what = "have value" if shape.type_name in ("integer", "long", "float", "double") else "have length"
    if "min" in shape.metadata and size < shape.metadata["min"]:
        yield Breach(path, value, f"Member must {what} greater than or equal to {shape.metadata['min']}")
    if "max" in shape.metadata and size > shape.metadata["max"]:
        yield Breach(path, value, f"Member must {what} less than or equal to {shape.metadata['max']}")
