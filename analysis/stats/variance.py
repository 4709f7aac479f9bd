"""Variance components of crossed, unbalanced ratings: systems, workers, sources and the rest (METHOD §8)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.stats.codes import n_distinct
from analysis.stats.ratings import Codes, Floats

# Of the least singular value of the scaled equations: below, two components have the same equation.
_SINGULAR = 1e-9
_RESIDUAL, _MEAN = "residual", "mean"
COMPONENTS = ("system", "worker", "source", "worker x system", "source x system", _RESIDUAL)
"""The components of `estimate_components`, in this order."""


@dataclass(frozen=True)
class Components:
    """Variance components, in squared units of the ratings.

    Attributes
    ----------
    variance : dict of str to float
        By the names of `COMPONENTS`, without those that cannot be separated. The method of moments may give negative
        estimates: they are kept, and mean that the component is small for so few ratings.
    n_levels : dict of str to int
        How many systems, workers, sources and pairs of them have ratings; under "residual" the number of ratings.
    """

    variance: dict[str, float]
    n_levels: dict[str, int]

    @property
    def not_separated(self) -> list[str]:
        """Components that these ratings cannot tell from others: their variance is in those."""
        return [name for name in COMPONENTS if name not in self.variance]

    def positive(self, name: str) -> float:
        """Return a variance, 0 where it is negative or cannot be separated."""
        return max(0.0, self.variance.get(name, 0.0))


def estimate_components(rating: Floats, system: Codes, worker: Codes, source: Codes) -> Components:
    """Estimate the variance components of ratings of several systems, by several workers, for several sources.

    Parameters
    ----------
    rating : float64, (n,)
        One a row; NaN is left out.
    system, worker, source : int, (n,)
        Codes from 0; −1 for a source that is not known. Without two known sources there is no component of sources;
        with them, ratings of unknown sources are left out.

    Returns
    -------
    Components
        All undefined, an empty dict, with fewer than two ratings.

    Notes
    -----
    Henderson's method 1 for the model with all effects random,
    y = μ + system + worker + source + worker × system + source × system + residual. For each grouping A of the
    ratings, T_A = Σ_a (sum of level a)²/n_a has the expectation n·μ² + Σ_B σ_B² Σ_a Σ_b n_ab²/n_a, where n_ab is how
    many ratings level a of A and level b of B share. These linear equations are solved for the σ². Estimates are
    unbiased, and for balanced ratings those of the analysis of variance. A component is left out where its equation
    follows from the others: so with one rating of each output, source × system is part of the residual.

    References
    ----------
    Henderson 1953, Biometrics 9; Searle, Casella & McCulloch 1992, *Variance Components*, §5.3.

    Examples
    --------
    Shrout & Fleiss (1979), table 2: six targets (here sources) rated by four judges. Their mean squares are 11.24
    between targets, 32.49 between judges and 1.02 of the residual.

    >>> table = np.array([[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]], float)
    >>> source, worker = np.indices(table.shape).reshape(2, -1)
    >>> found = estimate_components(table.ravel(), np.zeros(24, int), worker, source)
    >>> {name: round(value, 3) for name, value in found.variance.items()}
    {'worker': 5.244, 'source': 2.556, 'residual': 1.019}
    """
    used = ~np.isnan(rating)
    is_known = used & (source >= 0)
    has_sources = n_distinct(source[is_known]) > 1
    used = is_known if has_sources else used
    y, system, worker, source = rating[used], system[used], worker[used], source[used]
    if y.size < 2:
        return Components({}, {})
    groups = {"system": _codes(system), "worker": _codes(worker), "worker x system": _codes(worker, system)}
    if has_sources:
        groups |= {"source": _codes(source), "source x system": _codes(source, system)}
    groups = {_MEAN: np.zeros(y.size, np.int64), _RESIDUAL: np.arange(y.size)} | {
        name: groups[name] for name in COMPONENTS if name in groups
    }
    y = y - y.mean()  # no estimate changes, and sums of squares lose no digits
    total = {
        name: float((np.bincount(code, weights=y) ** 2 / np.bincount(code)).sum()) for name, code in groups.items()
    }
    shared = {(a, b): _shared(groups[a], groups[b]) for a in groups for b in groups}
    kept = [_MEAN]
    for name in (_RESIDUAL, *COMPONENTS[:-1]):
        if name in groups and _is_separable([*kept, name], shared):
            kept.append(name)
    matrix = np.array([[shared[a, b] for b in kept] for a in kept])
    solved = dict(zip(kept, np.linalg.solve(matrix, [total[name] for name in kept]), strict=True))
    return Components(
        {name: float(solved[name]) for name in COMPONENTS if name in solved},
        {name: int(groups[name].max()) + 1 for name in COMPONENTS if name in groups},
    )


def _codes(*codes: Codes) -> NDArray[np.int64]:
    """Return a code without gaps for each combination of codes."""
    key = np.zeros(codes[0].size, np.int64)
    for code in codes:
        key = key * (int(code.max()) + 1) + code
    return np.unique(key, return_inverse=True)[1].astype(np.int64)


def _shared(a: NDArray[np.int64], b: NDArray[np.int64]) -> float:
    """Return Σ_a Σ_b n_ab²/n_a."""
    n_b = int(b.max()) + 1
    pair, n = np.unique(a * n_b + b, return_counts=True)
    return float((n.astype(np.float64) ** 2 / np.bincount(a)[pair // n_b]).sum())


def _is_separable(names: list[str], shared: dict[tuple[str, str], float]) -> bool:
    """Tell whether the equations of these groupings have one solution."""
    matrix = np.array([[shared[a, b] for b in names] for a in names])
    scaled = matrix / np.abs(matrix).max(axis=0)
    value = np.linalg.svd(scaled, compute_uv=False)
    return bool(value[-1] > _SINGULAR * value[0])
