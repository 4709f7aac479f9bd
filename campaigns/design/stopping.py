"""When a campaign may end before all of its HITs are finished: which pairs of systems must be decided. Pure."""

from collections.abc import Sequence
from enum import StrEnum
from itertools import combinations

from evalsite.lib.words import listed


class StoppingRule(StrEnum):
    """Which pairs must be decided for a campaign to close itself. `AGAINST` and `AMONG` are about chosen systems."""

    OFF = "off"
    ALL = "all"
    AGAINST = "against"
    AMONG = "among"


STOPPING_RULES = [
    (StoppingRule.OFF.value, "Only when all HITs are finished"),
    (StoppingRule.ALL.value, "As soon as every pair of systems is decided"),
    (StoppingRule.AGAINST.value, "As soon as the ticked systems are decided against each of the others"),
    (StoppingRule.AMONG.value, "As soon as every pair of the ticked systems is decided"),
]


def pairs_to_decide(rule: str, chosen: Sequence[str], systems: Sequence[str]) -> list[tuple[str, str]]:
    """Return the pairs of systems that a rule waits for, in the order of the systems.

    None where the rule is off or too few of its chosen systems are there: then it closes nothing.

    Examples
    --------
    >>> pairs_to_decide("against", ["b"], ["a", "b", "c"])
    [('a', 'b'), ('b', 'c')]
    >>> pairs_to_decide("among", ["c", "a"], ["a", "b", "c"])
    [('a', 'c')]
    """
    pairs, known = list(combinations(systems, 2)), set(chosen)
    match StoppingRule(rule):
        case StoppingRule.ALL:
            return pairs
        case StoppingRule.AGAINST:
            return [pair for pair in pairs if known & set(pair)]
        case StoppingRule.AMONG:
            return [pair for pair in pairs if known >= set(pair)]
        case _:
            return []


def describe_pairs(rule: str, chosen: Sequence[str]) -> str:
    """Return in words what must be decided, to be followed by *is decided*; "" where the rule is off.

    Examples
    --------
    >>> describe_pairs("among", ["a", "b", "c"])
    'every pair of a, b and c'
    """
    match StoppingRule(rule):
        case StoppingRule.ALL:
            return "every pair of systems"
        case StoppingRule.AGAINST:
            return f"every pair of {listed(chosen, 'or')} with another system" if chosen else "no pair"
        case StoppingRule.AMONG:
            return f"every pair of {listed(chosen)}" if len(chosen) > 1 else "no pair"
        case _:
            return ""
