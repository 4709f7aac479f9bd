"""Numbers in sentences."""


def counted(n: int, noun: str) -> str:
    """Return a number with its noun, in the plural if need be.

    >>> counted(1, "HIT"), counted(1200, "HIT")
    ('1 HIT', '1,200 HITs')
    """
    return f"{n:,} {noun}{'' if n == 1 else 's'}"
