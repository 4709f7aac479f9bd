"""How values are spread: counts in equal steps from zero."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_MOST_SHOWN_SHARE = 0.97


@dataclass(frozen=True)
class Histogram:
    """Counts of values in equal steps from 0 to `top`. `is_cut`: the last step also has the few values beyond it."""

    counts: tuple[int, ...]
    top: float
    is_cut: bool = False


def count_in_steps(values: NDArray[np.float64], *, n_steps: int, top: float | None = None) -> Histogram | None:
    """Return the histogram of values ≥ 0; None without any. `top` is a round number that 97 % of them do not exceed."""
    if not values.size:
        return None
    top = round_top(values) if top is None else top
    counts, _ = np.histogram(np.minimum(values, top), bins=n_steps, range=(0, top))
    return Histogram(tuple(counts.tolist()), top, bool(values.max() > top))


def round_top(values: NDArray[np.float64]) -> float:
    """Return 1, 2, 4, 6, 8 or 10 times a power of ten, so that its half is round too; above 97 % of the values.

    A few very large values would press all others into one step.

    >>> round_top(np.array([3.0, 0.5])), round_top(np.array([]))
    (4.0, 0.1)
    """
    value = float(np.quantile(values, _MOST_SHOWN_SHARE)) if values.size else 0.0
    power = 10.0 ** np.floor(np.log10(max(value, 0.1)))
    steps = [step * power for step in (1, 2, 4, 6, 8, 10)]
    return float(next((step for step in steps if step >= value), steps[-1]))
