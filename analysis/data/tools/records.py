"""JSON of other tools: an array of objects, or an object on each line."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evalsite.lib.tables import Problem, TableError

Record = dict[str, Any]
# What is longer than any name or level is a text.
_LONGEST_NUMBER = 400


def read_records(path: Path, file: str, *, is_one: bool = False) -> Iterator[tuple[int, Record]]:
    """Yield each object with its number: its place in the array, or its line, from 1. If it `is_one`, the file is one.

    Raises TableError for anything else.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise _bad(file, None, "the text is not UTF-8. Save it as UTF-8.", "encoding") from None
    if is_one:
        yield 1, _object(_load(text, file, None), file, 1)
        return
    if text.lstrip().startswith("["):
        for number, each in enumerate(_load(text, file, None), start=1):
            yield number, _object(each, file, number)
        return
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield number, _object(_load(line, file, number), file, number)


def _load(text: str, file: str, number: int | None) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        number = number or error.lineno
        message = f"this is not JSON ({error.msg}, at character {error.colno}). Export the file again."
        raise _bad(file, number, message) from None
    except (RecursionError, ValueError):  # a number of thousands of digits
        raise _bad(file, number, "this is nested too deep, or a number is too long. Export the file again.") from None


def _object(value: Any, file: str, number: int) -> Record:
    if isinstance(value, dict):
        return value
    raise _bad(file, number, "this is not an object. Export the file again.")


def _bad(file: str, number: int | None, message: str, code: str = "bad_json") -> TableError:
    return TableError(file, [Problem(number, None, message, code)])


def as_text(value: object) -> str:
    """Return one value as a cell's text; "" for what is missing, a list or an object.

    >>> as_text(3.0), as_text(True), as_text(None), as_text([1])
    ('3', 'true', '', '')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    if isinstance(value, str):
        return value.strip()
    return str(value)[:_LONGEST_NUMBER] if isinstance(value, int | float) else ""


def as_list(value: object) -> list[Any]:
    """Return a list as it is, and nothing for anything else."""
    return value if isinstance(value, list) else []


def as_dict(value: object) -> Record:
    """Return an object as it is, and an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def utf16_offset(text: str, offset: int) -> int:
    """Return the characters (Unicode code points) before an offset that counts UTF-16 code units, as browsers do.

    >>> utf16_offset("\\U0001F600 hi", 3)
    2
    """
    if text.isascii():
        return offset
    units = text.encode("utf-16-le", "surrogatepass")
    return len(units[: 2 * offset].decode("utf-16-le", "replace")) + max(0, offset - len(units) // 2)


def browser_offset(text: str, value: object) -> int:
    """Return the characters before an offset of a browser, a number or its digits; −1 for anything else."""
    if type(value) is str and value.isdecimal() and len(value) < 10:
        value = int(value)
    return utf16_offset(text, value) if type(value) is int and 0 <= value < 2**31 else -1
