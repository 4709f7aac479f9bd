"""Attributes of raters and sources, such as a pool or a domain: columns beside responses, for results by groups."""

from collections.abc import Iterator, Sequence

from campaigns.design.style import STYLE_FEATURES
from evalsite.lib.tables.errors import shorten

MOST_ATTRIBUTES = 20
LONGEST_ATTRIBUTE, LONGEST_VALUE = 50, 100
TAKEN_ATTRIBUTES = frozenset(
    {
        *("name", "email", "mail", "emailaddress", "worker", "rater", "assignment", "hit", "page", "position", "turn"),
        *("source", "system", "kind", "criterion", "score", "state", "ratedat", "seconds", "response", "abstained"),
        *("answer", "correct", "value", "reference", "output", "edited", "keystrokes", "present", "missing"),
        *("doc", "docid", "document", "segid", "target", "category", "severity", "comment", "errors"),
        *("systema", "systemb", "winner", "strength", "degraded", "rank", "best", "worst"),
        "drawweight",
        *(f"system{place}" for place in range(1, 11)),
    }
)
"""What attributes cannot be called, since it stands for something else in lists of raters and files of responses."""
_OF_OUTPUTS = frozenset(
    called.format(feature.replace("_", "")) for feature in STYLE_FEATURES for called in ("{}a", "{}b", "output{}")
)
DRAW_WEIGHT = "draw_weight"
"""The column with what answers weigh, because HITs were not drawn with equal probabilities."""
OF_RATERS = "pool"
"""The attribute that is one of raters alone: *Reliability* compares them by it."""


def problems_of_names(names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield a code and a sentence for each name that an attribute cannot have."""
    plain = [plain_attribute(name) for name in names]
    for k, name in enumerate(names):
        shown = f"“{shorten(name)}”"
        if not plain[k]:
            yield "attribute_name", f"The name {shown} of an attribute has no letter or digit."
        elif len(name) > LONGEST_ATTRIBUTE:
            text = f"The column {shown} has a name of {len(name)} characters; at most {LONGEST_ATTRIBUTE} are possible."
            yield "attribute_name", f"{text} Shorten it."
        elif plain[k] in TAKEN_ATTRIBUTES | _OF_OUTPUTS:
            text = f"An attribute cannot be called {shown}: files of responses have something else there."
            yield "attribute_taken", f"{text} Give the column another name."
        elif plain[k] in plain[:k]:
            text = f"The column {shown} is there twice. Delete one of them, or give it another name."
            yield "attribute_twice", text
    if len(names) > MOST_ATTRIBUTES:
        yield "many_attributes", too_many_attributes(len(names))


def too_many_attributes(n: int) -> str:
    """Return what to say where there would be more attributes than there can be."""
    return f"There would be {n} attributes; at most {MOST_ATTRIBUTES} are possible. Leave columns out."


def plain_attribute(name: str) -> str:
    """Return the name of an attribute without what does not matter: capitals, spaces and punctuation.

    >>> plain_attribute("Native language")
    'nativelanguage'
    """
    return "".join(c for c in name.casefold() if c.isalnum())
