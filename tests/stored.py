"""Reports as the databases give them back."""

import json
from typing import Any


def as_jsonb_keeps(value: Any) -> Any:
    """Return JSON as PostgreSQL's jsonb gives it back: keys by their length in bytes, then by their bytes.

    >>> list(as_jsonb_keeps({"ordinal": 1, "nominal": 2, "ratio": 3}))
    ['ratio', 'nominal', 'ordinal']
    """
    if isinstance(value, dict):
        keys = sorted(value, key=lambda key: (len(key.encode()), key.encode()))
        return {key: as_jsonb_keeps(value[key]) for key in keys}
    if isinstance(value, list):
        return [as_jsonb_keeps(item) for item in value]
    return value


def stored(report: Any) -> Any:
    """Return a report after it was written as JSON and read again, keys in their order."""
    return json.loads(json.dumps(report))
