"""Numbers and times in words."""

from collections.abc import Sequence
from datetime import timedelta


def counted(n: int, noun: str) -> str:
    """Return a number with its noun, in the plural if need be.

    >>> counted(1, "HIT"), counted(1200, "HIT")
    ('1 HIT', '1,200 HITs')
    """
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def listed(parts: Sequence[str], last: str = "and") -> str:
    """Return words as a list in a sentence.

    >>> listed(["a", "b", "c"], "or")
    'a, b or c'
    """
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} {last} {parts[-1]}"


def short_duration(seconds: float) -> str:
    """Return a duration in few characters.

    >>> short_duration(0.24), short_duration(8.25), short_duration(75), short_duration(7300)
    ('0.2 s', '8.2 s', '1 min 15 s', '2 h 1 min')
    """
    if seconds < 60:
        return f"{max(seconds, 0.0):.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def long_duration(time: timedelta) -> str:
    """Return a duration in its natural unit, from two of it: 90 minutes, not 1.5 hours.

    >>> long_duration(timedelta(minutes=90)), long_duration(timedelta(hours=7)), long_duration(timedelta(days=12))
    ('90 minutes', '7 hours', '12 days')
    """
    minutes = time.total_seconds() / 60
    if minutes < 2 * 60:
        return counted(max(round(minutes), 1), "minute")
    return counted(round(minutes / 60), "hour") if minutes < 2 * 24 * 60 else counted(round(minutes / 60 / 24), "day")
