"""How far two texts are apart."""


def edit_distance(text: str, other: str) -> int:
    """Return how many characters are inserted, deleted or replaced between two texts (Levenshtein).

    Notes
    -----
    All rows of the table of a column are bits of one integer, so that time grows with the length of one text where the
    other has some thousand characters.

    References
    ----------
    Levenshtein 1966; Hyyrö 2003, A bit-vector algorithm for computing Levenshtein and Damerau edit distances.

    Examples
    --------
    >>> edit_distance("kitten", "sitting")
    3
    """
    if text == other:
        return 0
    shared = _shared(text, other)
    text, other = text[shared:], other[shared:]
    shared = _shared(text[::-1], other[::-1])
    text, other = text[: len(text) - shared], other[: len(other) - shared]
    if not text or not other:
        return len(text) + len(other)
    place: dict[str, int] = {}
    for k, character in enumerate(text):
        place[character] = place.get(character, 0) | 1 << k
    distance, last, every = len(text), 1 << len(text) - 1, (1 << len(text)) - 1
    plus, minus = every, 0
    for character in other:
        same = place.get(character, 0)
        diagonal = (((same & plus) + plus) ^ plus) | same | minus
        up, down = minus | ~(diagonal | plus) & every, plus & diagonal
        distance += bool(up & last) - bool(down & last)
        up, down = (up << 1 | 1) & every, down << 1 & every
        plus, minus = (down | ~(diagonal | up)) & every, up & diagonal
    return distance


def _shared(text: str, other: str) -> int:
    """Return with how many equal characters two texts begin."""
    for k, (one, two) in enumerate(zip(text, other, strict=False)):
        if one != two:
            return k
    return min(len(text), len(other))
