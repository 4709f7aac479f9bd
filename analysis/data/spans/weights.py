"""What an error weighs, by its severity and category."""

import math
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from analysis.stats.ratings import Floats
from evalsite.lib.errors import DomainError

NO_ERROR = "no-error"
"""The severity, and category, of the row of an output in which a rater found nothing."""
DEFAULTS = {
    NO_ERROR: 0.0,
    "neutral": 0.0,
    "minor": 1.0,
    "major": 5.0,
    "minor:fluency/punctuation": 0.1,
    ":non-translation": 25.0,
}
"""Freitag et al. 2021, Table 2. A key is a severity, `severity:category` or `:category`."""
_SPACE = re.compile(r"[\s_-]+")


@lru_cache(4096)  # of files with a label on each of a million errors
def plain(label: str) -> str:
    """Return a severity or category as weights name it.

    >>> plain("No error"), plain("Non-translation!"), plain("Fluency / Punctuation")
    ('no-error', 'non-translation', 'fluency/punctuation')
    """
    parts = (_SPACE.sub("-", part.strip().rstrip("!")) for part in label.casefold().split("/"))
    return "/".join(parts)


def read_weights(given: Any) -> dict[str, float]:
    """Return the default weights with those that are given in their place; raise DomainError `bad_settings`."""
    if not isinstance(given, Mapping):
        raise _bad('“weights” must be an object, for instance {"major": 10, "minor:fluency/punctuation": 0.1}.')
    weights = dict(DEFAULTS)
    for key, value in given.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
            raise _bad(f"The weight of “{key}” is {value!r}; it must be a number, 0 or more.")
        severity, colon, category = str(key).partition(":")
        if not (severity.strip() or category.strip()):
            raise _bad("A weight is of a severity, of “severity:category” or of “:category”.")
        weights[plain(severity) + colon + plain(category)] = float(value)
    return weights


def knows(weights: Mapping[str, float], severity: str, category: str) -> bool:
    """Return whether an error of this severity and category has a weight."""
    return bool(_keys(weights, severity, category))


def weigh(weights: Mapping[str, float], severities: Sequence[str], categories: Sequence[str]) -> Floats:
    """Return the weight of each severity in each category, (n_severities, n_categories), NaN where there is none.

    The most specific key counts: severity and category, severity and the part of the category before “/”, category,
    its part, severity.
    """
    found = np.full((len(severities), len(categories)), np.nan)
    for i, severity in enumerate(severities):
        for j, category in enumerate(categories):
            if keys := _keys(weights, severity, category):
                found[i, j] = weights[keys[0]]
    return found


def _keys(weights: Mapping[str, float], severity: str, category: str) -> list[str]:
    severity, category = plain(severity), plain(category)
    part = category.split("/")[0]
    wanted = (f"{severity}:{category}", f"{severity}:{part}", f":{category}", f":{part}", severity)
    return [key for key in wanted if key in weights]


def _bad(message: str) -> DomainError:
    return DomainError("bad_settings", message)
