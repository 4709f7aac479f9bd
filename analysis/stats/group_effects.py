"""Scores of systems in groups of answers, and whether differences of systems depend on the group (METHOD §5)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from analysis.stats.codes import dense_ranks
from analysis.stats.ratings import Codes, Floats, Mask
from analysis.stats.significance import adjust

MOST_CELLS = 400
"""Systems times groups, of which covariances are computed."""
LEAST_CLUSTERS = 3
"""A system with fewer clusters of some kind in a group has a mean there, and no part in tests."""
_ENOUGH_DF = 2
"""Degrees of freedom for each contrast of a joint test; with fewer, every two systems are tested by themselves."""
# Of the largest variance: what is left of a smaller one is rounding.
_ROUNDING = 1e-10


class GroupTest(NamedTuple):
    """A test that differences of systems do not depend on the group: p, F and its degrees of freedom, or NaN.

    `is_by_pairs`: p is the least one of all pairs times their number, as a joint test has too few clusters: no F then.
    """

    p_value: float = np.nan
    f: float = np.nan
    df: float = np.nan
    df_error: float = np.nan
    is_by_pairs: bool = False


@dataclass(frozen=True)
class PairInGroups:
    """The difference of two systems, first less second, in each group.

    Attributes
    ----------
    systems : (int, int)
    difference, low, high : float64, (n_groups,)
        With its 95 % interval; NaN where it is undefined.
    holm : float64, (n_groups,)
        Two-sided p with Holm's correction over the groups.
    p_value, p_holm : float
        That the difference does not depend on the group, the latter with Holm's correction over all pairs; NaN where
        it is undefined.
    """

    systems: tuple[int, int]
    difference: Floats
    low: Floats
    high: Floats
    holm: Floats
    p_value: float
    p_holm: float = np.nan


@dataclass(frozen=True)
class GroupEffects:
    """Scores of systems in groups.

    Attributes
    ----------
    mean, low, high : float64, (n_systems, n_groups)
        With its 95 % interval; NaN where a system has no answer on some part in a group. The interval also where
        nothing varies, or there is one cluster.
    n : int64, (n_systems, n_groups)
        Answers, or outputs if answers are averaged by output.
    is_tested : bool, (n_groups,)
        Whether two systems have enough clusters of every kind in the group.
    pairs : list of PairInGroups
        Every two systems.
    """

    mean: Floats
    low: Floats
    high: Floats
    n: NDArray[np.int64]
    is_tested: Mask
    interaction: GroupTest
    pairs: Sequence[PairInGroups]


def compare_groups(
    values: Floats,
    system: Codes,
    group: Codes,
    shape: tuple[int, int],
    clusters: Mapping[str, Codes],
    output: Codes | None = None,
    part: Codes | None = None,
) -> GroupEffects:
    """Compare systems in groups, and test whether their differences depend on the group.

    Parameters
    ----------
    values : float64, (n,)
        Scores of single answers; no NaN.
    system : int, (n,)
        Codes 0 … n_systems − 1.
    group : int, (n,)
        Codes 0 … n_groups − 1; −1: in no group, left out.
    shape : (int, int)
        n_systems, n_groups; their product is at most MOST_CELLS.
    clusters : {name: int, (n,)}
        One or two groupings of answers, such as workers and sources, codes of 0 or more. Answers that share one may
        depend on each other in any way.
    output : int, (n,), optional
        Codes of what was judged: answers of a system in a group are averaged by output, then over outputs.
    part : int, (n,), optional
        Codes 0 … n_parts − 1, such as of criteria: the score of a system in a group is the mean of its parts' means.

    Raises
    ------
    ValueError
        For too many systems and groups.

    Notes
    -----
    An answer has the influence w (y − m) on the score of its system in its group, m being the mean of its part and w
    its share in the score. The interaction is all q contrasts L of these scores that are 0 if each score is an effect
    of the system plus one of the group. With Q = (Lm)′(L V L′)⁻¹(Lm), F = Q (η − q + 1)/(η q) has q and η − q + 1
    degrees of freedom, as Hotelling's T².

    V is the sandwich of the sums U_c of influences over clusters c. If each cluster lies in one group, those of a group
    are a stratum g; else all are one. V = Σ_g V_g, V_g = m_g/(m_g − 1) Σ_c U_c U_c′. m_g is the effective number of
    clusters, ‖Σ A_c‖/Σ ‖A_c‖, where ‖A‖ = tr A² + (tr A)² and A_c is what a cluster adds to L V L′, standardised, if
    answers are independent; of one contrast it is the m of `inference.compare_clustered`. By moments of the
    standardised V_g, η = (q + q²)/Σ_g ‖V_g‖/(m_g − 1). It is m − 1 for one stratum, and Welch's and Satterthwaite's
    number for one contrast.

    Of two groupings, p is the largest one by either and by both: V_a + V_b − V_ab with the lesser η, as far as this is
    positive definite. Where η < 2q, as it is to be expected if answers are independent, p is the least one of every two
    systems, times their number. Intervals and differences follow from the same with q = 1.

    References
    ----------
    METHOD §5 (tasks; what these tests assume); Zhang 2012, Open Journal of Statistics 2 (approximate Hotelling T²);
    Tipton & Pustejovsky 2015, JEBS 40 (the same with clusters); Cameron, Gelbach & Miller 2011, JBES 29; Carter,
    Schnepel & Steigerwald 2017, REStat 99 (effective number of clusters).

    Examples
    --------
    Twenty workers, half of them in each group; the second system is better by 1 in the second group alone.

    >>> worker, system = np.indices((20, 2)).reshape(2, -1)
    >>> values = np.random.default_rng(0).normal(0, 0.5, 40) + system * (worker % 2)
    >>> found = compare_groups(values, system, worker % 2, (2, 2), {"worker": worker})
    >>> found.n.tolist(), found.interaction.p_value < 0.01
    ([[10, 10], [10, 10]], True)
    """
    n_systems, n_groups = shape
    if n_systems * n_groups > MOST_CELLS:
        raise ValueError(f"{n_systems} systems in {n_groups} groups are more than {MOST_CELLS} cells")
    rows = np.flatnonzero(group >= 0)
    values, cell = values[rows], system[rows].astype(np.int64) * n_groups + group[rows]
    n_parts = 1 if part is None else int(part.max(initial=0)) + 1
    own = cell * n_parts + (0 if part is None else part[rows])
    weight, mean_of_part, n = _average(
        values, own, n_systems * n_groups * n_parts, None if output is None else output[rows]
    )
    mean = mean_of_part.reshape(-1, n_parts).mean(axis=1)
    codes = [dense_ranks(code[rows], int(code.max(initial=0)) + 1) for code in clusters.values()]
    cells = _Cells(
        mean, shape, _groupings(codes), cell, weight / n_parts, weight / n_parts * (values - mean_of_part[own])
    )
    n_clusters = np.array([_count_clusters(code, cell, mean.size) for code, _ in codes]).reshape(-1, *shape)
    is_tested = ~np.isnan(mean).reshape(shape) & (n_clusters >= LEAST_CLUSTERS).all(axis=0)
    is_tested &= is_tested.sum(axis=0) > 1
    half = np.array([cells.test(line[None]).half_width for line in np.eye(mean.size)])
    pairs = _compare_pairs(cells, is_tested)
    return GroupEffects(
        mean.reshape(shape),
        (mean - half).reshape(shape),
        (mean + half).reshape(shape),
        n.reshape(*shape, n_parts).sum(axis=2),
        is_tested.any(axis=0),
        _interaction(cells, is_tested, pairs),
        pairs,
    )


def _average(
    values: Floats, cell: Codes, n_cells: int, output: Codes | None
) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Return what each value weighs in the mean of its cell, the means, NaN of an empty one, and what each averages."""
    n = np.bincount(cell, minlength=n_cells)
    share = np.ones(values.size)
    if output is not None:
        size = int(output.max(initial=0)) + 1
        judged, n_judged = dense_ranks(cell * size + output, n_cells * size)
        share = 1 / np.bincount(judged, minlength=n_judged)[judged]
        n = np.rint(np.bincount(cell, share, n_cells)).astype(np.int64)
    mean = np.where(n > 0, np.bincount(cell, share * values, n_cells) / np.maximum(n, 1), np.nan)
    return share / n[cell], mean, n


def _count_clusters(code: Codes, cell: Codes, n_cells: int) -> NDArray[np.int64]:
    """Return how many clusters each cell has answers of, (n_cells,)."""
    return np.bincount(np.unique(code * n_cells + cell) % n_cells, minlength=n_cells)


def _groupings(codes: Sequence[tuple[Codes, int]]) -> list[Codes]:
    """Return the groupings, and of two the one by both."""
    found = [code for code, _ in codes]
    if len(codes) == 2:
        found.append(dense_ranks(found[0] * codes[1][1] + found[1], codes[0][1] * codes[1][1])[0])
    return found


class _Stratum(NamedTuple):
    """Sums over clusters of which each says as much as another about the same cells.

    Of these `cells`, (k,): `influence`, products of the sums of influences, and `expected`, those of the sums of
    squared weights, (k, k); `weight`, (k,): the latter sums over all clusters.
    """

    cells: NDArray[np.int64]
    influence: Floats
    expected: Floats
    weight: Floats


def _strata(code: Codes, cell: Codes, shape: tuple[int, int], weight: Floats, influence: Floats) -> list[_Stratum]:
    """Return the clusters of each group, or all as one where some are in several groups."""
    from scipy.sparse import csr_array

    n_systems, n_groups = shape
    n_clusters = int(code.max(initial=-1)) + 1
    of_clusters = (n_clusters, n_systems * n_groups)
    influences, weights = (csr_array((x, (code, cell)), shape=of_clusters) for x in (influence, weight**2))
    pairs = np.unique(code * n_groups + cell % n_groups)
    is_nested = pairs.size == n_clusters
    every = np.arange(n_systems * n_groups)
    found = []
    for own in every.reshape(n_systems, n_groups).T if is_nested else [every]:
        u, d = influences[:, own], weights[:, own]
        found.append(_Stratum(own, (u.T @ u).toarray(), (d.T @ d).toarray(), np.asarray(d.sum(axis=0))))
    return found


class _Variance(NamedTuple):
    """The covariance of contrasts, (q, q), and its degrees of freedom: by it, and what to expect of the design."""

    covariance: Floats
    df: float
    df_of_design: float


class _Tested(NamedTuple):
    """A test, and of one contrast half of its 95 % interval."""

    test: GroupTest
    half_width: float = np.nan


class _Cells:
    """The scores of systems in groups, (n_systems × n_groups,), and sums over the clusters of each grouping.

    `least`: a variance that is no more than this is rounding.
    """

    def __init__(
        self,
        mean: Floats,
        shape: tuple[int, int],
        groupings: Iterable[Codes],
        cell: Codes,
        weight: Floats,
        influence: Floats,
    ) -> None:
        self.mean, self.shape = mean, shape
        self.least = (_ROUNDING * np.abs(mean[~np.isnan(mean)]).max(initial=0)) ** 2
        self.groupings = [_strata(code, cell, shape, weight, influence) for code in groupings]

    def test(self, contrasts: Floats, enough: float = 1) -> _Tested:
        """Return the test that contrasts, (q, n_cells), are 0, by the grouping with the largest p.

        It is undefined where fewer than `enough` degrees of freedom for each contrast are to be expected.
        """
        from scipy.special import fdtrc, stdtrit

        q = len(contrasts)
        used = contrasts.any(axis=0)
        found = self._variances(contrasts) if q and not np.isnan(self.mean[used]).any() else None
        if found is None or min(each.df for each in found) <= q - 1:
            return _Tested(GroupTest())
        if min(each.df_of_design for each in found) < enough * q:
            return _Tested(GroupTest())
        value = contrasts[:, used] @ self.mean[used]
        tests = []
        for covariance, df, _ in found:
            rest = df - q + 1
            f = float(value @ np.linalg.solve(covariance, value)) * rest / (df * q)
            tests.append(GroupTest(float(fdtrc(q, rest, f)), f, q, rest))
        reach = [float(stdtrit(df, 0.975) * np.sqrt(covariance[0, 0])) for covariance, df, _ in found]
        return _Tested(max(tests, key=lambda each: each.p_value), max(reach) if q == 1 else np.nan)

    def _variances(self, contrasts: Floats) -> list[_Variance] | None:
        """Return the variances of contrasts by each grouping, and by both of two; None if one is undefined."""
        one_way = [_variance(strata, contrasts, self.least) for strata in self.groupings[:2]]
        found = [each for each in one_way if each is not None]
        if len(found) < len(one_way) or not found:
            return None
        of_both = [_variance(strata, contrasts, self.least) for strata in self.groupings[2:]]
        for each in filter(None, of_both):
            total = found[0].covariance + found[1].covariance - each.covariance
            if _is_positive(total, self.least):
                df, of_design = (min(getattr(one, name) for one in found) for name in ("df", "df_of_design"))
                found.append(_Variance(total, df, of_design))
        return found


def _is_positive(covariance: Floats, least: float) -> bool:
    value = np.linalg.eigvalsh(covariance)
    return bool(value[0] > max(_ROUNDING * value[-1], least))


def _variance(strata: Sequence[_Stratum], contrasts: Floats, least: float) -> _Variance | None:
    """Return covariance and degrees of freedom of contrasts, (q, n_cells); None with too few clusters in a stratum."""
    q = len(contrasts)
    parts, n_effective, of_design = [], [], 0.0
    total = sum((contrasts[:, s.cells] * s.weight) @ contrasts[:, s.cells].T for s in strata)
    standard = np.linalg.pinv(total, hermitian=True)
    for stratum in strata:
        used = np.flatnonzero(contrasts[:, stratum.cells].any(axis=0))
        if not used.size:
            continue
        line, weight = contrasts[:, stratum.cells[used]], stratum.weight[used]
        h = line.T @ standard @ line
        norm = h**2 + np.outer(np.diag(h), np.diag(h))
        alone = float((stratum.expected[np.ix_(used, used)] * norm).sum())
        together = float((np.outer(weight, weight) * norm).sum())
        m = together / alone if alone > 0 else 0.0
        if m <= 1 + _ROUNDING:
            return None
        parts.append(m / (m - 1) * line @ stratum.influence[np.ix_(used, used)] @ line.T)
        n_effective.append(m)
        of_design += together / (m - 1)
    covariance = np.asarray(sum(parts))
    if not parts or not _is_positive(covariance, least):
        return None
    spread = 0.0
    for part, m in zip(parts, n_effective, strict=True):
        a = np.linalg.solve(covariance, part)
        spread += (np.trace(a @ a) + np.trace(a) ** 2) / (m - 1)
    return _Variance(covariance, (q + q * q) / float(spread), (q + q * q) / of_design)


def _interaction(cells: _Cells, is_tested: Mask, pairs: Sequence[PairInGroups]) -> GroupTest:
    """Return the joint test of all contrasts of the interaction; where it has too few clusters, that by pairs."""
    from scipy.linalg import null_space

    there = np.flatnonzero(is_tested)
    system, group = np.divmod(there, cells.shape[1])
    additive = np.hstack([np.eye(cells.shape[0])[system], np.eye(cells.shape[1])[group]])
    basis = null_space(additive.T) if there.size else np.empty((0, 0))
    contrasts = np.zeros((basis.shape[1], cells.mean.size))
    contrasts[:, there] = basis.T
    joint = cells.test(contrasts, _ENOUGH_DF).test
    known = [pair.p_value for pair in pairs if not np.isnan(pair.p_value)]
    if known and np.isnan(joint.p_value):
        return GroupTest(min(1.0, min(known) * len(known)), is_by_pairs=True)
    return joint


def _compare_pairs(cells: _Cells, is_tested: Mask) -> list[PairInGroups]:
    """Return every two systems in each group, without Holm's correction over the pairs."""
    n_systems, n_groups = cells.shape
    pairs = []
    for a, b in combinations(range(n_systems), 2):
        lines = np.kron(np.eye(n_systems)[a] - np.eye(n_systems)[b], np.eye(n_groups))
        is_both = is_tested[a] & is_tested[b]
        tests = [
            cells.test(line[None]) if both else _Tested(GroupTest()) for line, both in zip(lines, is_both, strict=True)
        ]
        half = np.array([each.half_width for each in tests])
        difference = lines @ np.nan_to_num(cells.mean)
        difference[np.isnan(cells.mean.reshape(cells.shape)[[a, b]]).any(axis=0)] = np.nan
        between = lines[is_both][1:] - lines[is_both][:1]
        pairs.append(
            PairInGroups(
                (a, b),
                difference,
                difference - half,
                difference + half,
                adjust(np.array([each.test.p_value for each in tests]), "holm"),
                cells.test(between).test.p_value,
            )
        )
    holm = adjust(np.array([pair.p_value for pair in pairs]), "holm")
    return [replace(pair, p_holm=float(p)) for pair, p in zip(pairs, holm, strict=True)]
