"""JSON from outside, refused if it holds what cannot be stored."""

import json
import re
from math import isfinite
from typing import Any

_MAY_BE_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def parse_json(data: bytes) -> Any:
    """Return the values; raise ValueError, in a sentence, for what is not JSON or cannot be stored.

    That is half of a surrogate pair, a number that is too large, or too many levels.
    """
    try:
        text = data.decode()
        found = json.loads(text, parse_constant=_refuse, parse_float=_finite)
        if _MAY_BE_SURROGATE.search(text):
            json.dumps(found, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise ValueError("A text has half of a surrogate pair, which is no character.") from None
    except RecursionError:
        raise ValueError("The JSON has too many levels.") from None
    except ValueError as error:
        raise ValueError(f"This is not JSON: {error}") from None
    return found


def _finite(text: str) -> float:
    if not isfinite(number := float(text)):
        _refuse(text)
    return number


def _refuse(text: str) -> None:
    raise ValueError(f"{text[:40]} is not a number that can be kept")
