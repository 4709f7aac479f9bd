"""The progress page: bars, histograms, durations in words."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annotation.progress import Spread, SystemCount, Totals, spread_of
from evalsite.lib.words import counted

_HISTOGRAM_WIDTH, _HISTOGRAM_HEIGHT, _N_BARS = 320, 90, 16
# A few very long times would press all others into one bar.
_MOST_SHOWN_SHARE = 0.97
_S_PER_MIN, _MIN_PER_HOUR, _HOURS_PER_DAY = 60, 60, 24
# A unit is used from two of it: 90 minutes, not 1.5 hours.
_ENOUGH = 2


@dataclass(frozen=True)
class Words:
    """What the items of a campaign are called, and how long one takes: in which unit, and of which ones."""

    items: str
    duration: str
    timed: str
    unit: str


ITEMS = Words("Items", "Seconds per item", "newest item", "s")
CHATS = Words("Chats", "Minutes per chat", "newest chat", "min")


def progress_shown(
    totals: Totals,
    minutes: NDArray[np.float64],
    durations: NDArray[np.float64],
    systems: Iterable[SystemCount],
    words: Words = ITEMS,
) -> dict[str, Any]:
    """Return the numbers, bars and histograms of the progress page; `durations` are those of items, in their unit."""
    return {
        "stats": _stats(totals, spread_of(minutes), spread_of(durations), words),
        "totals": totals,
        "pace": _pace(totals),
        "bar": stacked_bar(totals.n_wanted, totals.n_finished, totals.n_active),
        "systems": [
            {"count": count, "bar": stacked_bar(count.n_planned, count.n_rated), "percent": _percent(count)}
            for count in systems
        ],
        "histograms": [
            drawing
            for drawing in (
                _histogram(minutes, "Minutes per HIT", "finished HIT", "min"),
                _histogram(durations, words.duration, words.timed, words.unit),
            )
            if drawing
        ],
    }


def _stats(totals: Totals, minutes: Spread | None, durations: Spread | None, words: Words) -> list[dict[str, str]]:
    return [
        {
            "label": "Assignments finished",
            "value": f"{totals.n_finished:,}",
            "note": f"of {totals.n_wanted:,} asked for",
        },
        {"label": "Active", "value": f"{totals.n_active:,}", "note": ""},
        {
            "label": f"{words.items} rated",
            "value": f"{totals.n_items_rated:,}",
            "note": f"of {totals.n_items_wanted:,}",
        },
        {"label": "Workers", "value": f"{totals.n_workers:,}", "note": ""},
        {
            "label": "Minutes per HIT, median",
            "value": f"{minutes.median:.1f}" if minutes else "–",
            "note": f"half: {minutes.lower:.1f} to {minutes.upper:.1f}" if minutes else "",
        },
        {
            "label": f"{words.duration}, median",
            "value": f"{durations.median:.1f}" if durations else "–",
            "note": f"half: {durations.lower:.1f} to {durations.upper:.1f}" if durations else "",
        },
        {"label": "Returned", "value": f"{totals.n_returned:,}", "note": "offered again"},
        {"label": "Expired", "value": f"{totals.n_expired:,}", "note": "offered again"},
        *(
            [{"label": "Rejected", "value": f"{totals.n_rejected:,}", "note": "not counted"}]
            if totals.n_rejected
            else []
        ),
    ]


def _pace(totals: Totals) -> str:
    """Return when the campaign will be done, in a sentence; nothing where there is nothing left or nobody came yet."""
    if totals.n_finished >= totals.n_wanted or not totals.n_assignments:
        return ""
    if totals.was_quiet:
        return "Nobody has rated anything in the last 24 hours."
    if totals.time_left is None:
        return "No assignment was finished in the last 24 hours, so the time that the rest takes is not known."
    finished = counted(totals.n_finished_lately, "assignment")
    return f"At the pace of the last 24 hours ({finished} finished) the rest takes about {in_words(totals.time_left)}."


def in_words(duration: timedelta) -> str:
    """Return a duration in its natural unit: 40 minutes, 7 hours, 12 days."""
    minutes = duration.total_seconds() / _S_PER_MIN
    hours = minutes / _MIN_PER_HOUR
    if hours < _ENOUGH:
        return counted(max(round(minutes), 1), "minute")
    if hours < _ENOUGH * _HOURS_PER_DAY:
        return counted(round(hours), "hour")
    return counted(round(hours / _HOURS_PER_DAY), "day")


def _percent(count: SystemCount) -> str:
    return f"{100 * count.n_rated / count.n_planned:.0f} %" if count.n_planned else "–"


def stacked_bar(n_all: int, *parts: int) -> list[dict[str, float]]:
    """Return start and width, in hundredths of `n_all`, of each part as monitoring/bar.html draws it."""
    ends = np.minimum(np.cumsum([0, *parts]) / max(n_all, 1), 1) * 100
    return [{"x": round(float(start), 2), "width": round(float(end - start), 2)} for start, end in pairwise(ends)]


def _histogram(values: NDArray[np.float64], title: str, of_what: str, unit: str) -> dict[str, Any] | None:
    """Return what components/histogram.html draws."""
    if not values.size:
        return None
    top = round_up(float(np.quantile(values, _MOST_SHOWN_SHARE)))
    spread = spread_of(values)
    quartiles = f"median {spread.median:.1f}, half between {spread.lower:.1f} and {spread.upper:.1f}" if spread else ""
    return {
        "title": title,
        "bars": histogram_bars(values, top, unit, n_bars=_N_BARS, width=_HISTOGRAM_WIDTH, height=_HISTOGRAM_HEIGHT),
        "width": _HISTOGRAM_WIDTH,
        "height": _HISTOGRAM_HEIGHT,
        "ticks": ["0", f"{top / 2:g}", f"{top:g}{' +' if values.max() > top else ''} {unit}"],
        "label": f"{title}: {quartiles}.",
        "caption": f"{counted(values.size, of_what)}.",
    }


def histogram_bars(
    values: NDArray[np.float64], top: float, unit: str, *, n_bars: int, width: float, height: float
) -> list[dict[str, Any]]:
    """Return the bars of a histogram from 0 to `top` as components/histogram.html draws them; none without values.

    The last bar also counts the few that lie beyond it.
    """
    if not values.size:
        return []
    counts, edges = np.histogram(np.minimum(values, top), bins=n_bars, range=(0, top))
    heights = (counts / counts.max() * height).tolist()
    step = width / n_bars
    more = " or more" if values.max() > top else ""
    return [
        {
            "x": round(k * step, 1),
            "y": round(height - heights[k], 1),
            "width": round(step - 1, 1),
            "height": round(heights[k], 1),
            "title": f"{edges[k]:.3g}–{edges[k + 1]:.3g} {unit}{more if k == n_bars - 1 else ''}: {n}",
        }
        for k, n in enumerate(counts.tolist())
    ]


def round_up(value: float) -> float:
    """Return the next of 1, 2, 4, 6, 8 or 10 times a power of ten, so that its half is round too."""
    power = 10.0 ** np.floor(np.log10(max(value, 0.1)))
    steps = [step * power for step in (1, 2, 4, 6, 8, 10)]
    return float(next((step for step in steps if step >= value), steps[-1]))
