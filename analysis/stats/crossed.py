"""Which systems differ by a mixed model: crossed random effects of workers, sources, and both by system (METHOD §5)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from analysis.stats.codes import n_distinct
from analysis.stats.inference import Comparison, TooLargeError, count_shared, make_comparison
from analysis.stats.pairs import variance_of_differences
from analysis.stats.ratings import Codes, Floats, Mask

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MOST_EFFECTS = 2500
"""Of workers and workers × systems, or of sources and outputs, whichever are fewer: so many are solved for at once."""
_LEAST = 1e-8  # Of all variance; what is smaller is taken to be 0
_MOST_STEPS, _MOST_HALVINGS = 100, 12
_SMALL_STEP = 1e-7  # Of all variance
Labels = NDArray[np.int64]


@dataclass(frozen=True)
class CrossedComponents:
    """Variances of random effects, in squared z, by restricted maximum likelihood; 0 where none is seen.

    Attributes
    ----------
    worker, worker_system, source, output, residual : float
        `output` is source × system. NaN of an effect that cannot be separated from another one, whose variance
        then includes it.
    log_likelihood : float
        Restricted, with all constants, as lme4 and statsmodels have it.
    """

    worker: float
    worker_system: float
    source: float
    output: float
    residual: float
    log_likelihood: float


@dataclass(frozen=True)
class _Side:
    """Two groupings of the ratings, `fine` within `coarse`, (n,) without gaps; `has_…`: whether it is in the model."""

    coarse: Labels
    fine: Labels
    has_coarse: bool
    has_fine: bool

    @property
    def n_effects(self) -> int:
        """How many effects the model has of this side."""
        groups = ((self.coarse, self.has_coarse), (self.fine, self.has_fine))
        return sum(int(codes.max()) + 1 for codes, is_in in groups if is_in)


@dataclass(frozen=True)
class _Model:
    """Sums of the ratings that do not change with the variances.

    The effects of the `outer` side are integrated out group by group, those of the `inner` one, with the systems, are
    the columns of B; `own` are the columns of systems, of coarse and of fine effects. `inner` sums B over the fine
    groups of the outer side.
    """

    z: Floats
    outer: _Side
    codes: tuple[Labels, ...]
    sizes: tuple[int, ...]
    columns: "csr_array"
    gram: Floats
    inner: "csr_array"
    count: Floats
    coarse_of_fine: Labels
    own: tuple[slice, slice, slice]


@dataclass(frozen=True)
class _State:
    """What follows from one value of the variances (outer coarse, outer fine, inner coarse, inner fine, residual)."""

    variance: Floats
    inverse: Floats
    solution: Floats
    log_likelihood: float
    score: Floats
    information: Floats
    traces: Floats
    contribution: tuple[Floats, ...]


def compare_crossed(z: Floats, system: Codes, worker: Codes, source: Codes, n_systems: int) -> Comparison:
    """Compare every two systems by a mixed model with crossed random effects, fitted by REML.

    Parameters
    ----------
    z : float64, (n,)
        Standardised scores of single ratings; NaN is left out.
    system : int, (n,)
        Codes 0 … n_systems − 1.
    worker, source : int, (n,)
        Who rated, and of which source the output is; −1 for a source that is not known.

    Returns
    -------
    Comparison
        All NaN but `difference` where nothing varies, there is one worker, or too few ratings to estimate anything.

    Raises
    ------
    TooLargeError
        As `fit_components`.

    Notes
    -----
    z = β_system + worker + worker × system + source + output + ε, all effects normal and independent. β is estimated by
    generalised least squares at the REML estimates of the variances. The variance of a difference is Σ σ_k² g_k, g_k
    being what one unit of each component adds; degrees of freedom are Satterthwaite's, 2 (Σ σ_k² g_k)² / g′ I⁻¹ g, with
    the average information I of the components that are not 0.

    It takes every worker to like systems with the same variance and every rating to be as noisy as any other. Where
    that is so, it uses what all pairs say of each variance, and has more degrees of freedom than the clustered
    comparison. Draws of HITs that follow from the ratings so far need no weights: the likelihood is the same.

    References
    ----------
    METHOD §5; Baayen, Davidson & Bates 2008, J. Memory and Language 59; Patterson & Thompson 1971, Biometrika 58;
    Gilmour, Thompson & Cullis 1995, Biometrics 51 (average information); Giesbrecht & Burns 1985, Biometrics 41 (df).

    Examples
    --------
    Every worker rates both systems once, sources unknown: Student's paired t.

    >>> found = compare_crossed(
    ...     np.array([1.0, 0.2, 2.0, 0.1, 3.0, 0.0]), np.tile([0, 1], 3), np.repeat([0, 1, 2], 2), np.full(6, -1), 2)
    >>> round(float(found.difference[0, 1]), 4)
    1.9
    """
    is_number = ~np.isnan(z)
    z, system, worker, source = z[is_number], system[is_number], worker[is_number], source[is_number]
    n_shared = count_shared(system, source, n_systems)
    difference = np.full((n_systems, n_systems), np.nan)
    variance, df = difference.copy(), difference.copy()
    if not z.size:
        return make_comparison((difference, variance, df), n_shared)
    rated, code = np.unique(system, return_inverse=True)
    among = np.ix_(rated, rated)
    model, _ = _make_model(z, code, worker, source)
    state = _fit(model)
    if state is None or n_distinct(worker) < 2:
        mean = np.bincount(code, weights=z) / np.bincount(code)
        difference[among] = mean[:, None] - mean
    else:
        beta, n = state.solution[: rated.size], rated.size
        difference[among] = beta[:, None] - beta
        variance[among] = variance_of_differences(state.inverse[:n, :n])
        df[among] = _satterthwaite(state)
    apart = np.eye(n_systems, dtype=bool)
    for each in (difference, variance, df):
        each[apart] = np.nan
    return make_comparison((difference, variance, df), n_shared)


def fit_components(z: Floats, system: Codes, worker: Codes, source: Codes) -> CrossedComponents:
    """Return the variance components of the mixed model of `compare_crossed`.

    Parameters
    ----------
    z, system, worker, source
        As in `compare_crossed`, without NaN.

    Returns
    -------
    CrossedComponents
        All NaN where nothing varies, or there are no more ratings than systems.

    Raises
    ------
    TooLargeError
        If workers with workers × systems, and sources with outputs, are both more than `MOST_EFFECTS`.

    Notes
    -----
    The side with more effects is integrated out in closed form, as its fine groups (outputs) are within its coarse ones
    (sources); the effects of the other side are solved for at once. The likelihood is climbed by average information,
    with steps of expectation and maximisation where that would lead down. A component whose estimate is below 10⁻⁸ of
    all variance is 0. Effects that cannot be separated are one: of outputs that are rated once each and ratings; of
    workers who rate one system each and workers × systems; of sources with one output each and outputs. A rating of
    an unknown source is of a source of its own; one source for all is no effect.

    Examples
    --------
    >>> system, worker = np.indices((2, 3)).reshape(2, -1)
    >>> fit_components(np.array([1.0, 2.0, 4.0, 0.0, 2.0, 3.0]), system, worker, np.full(6, -1)).worker.__round__(4)
    2.1667
    """
    code = np.unique(system, return_inverse=True)[1]
    nothing = CrossedComponents(np.nan, np.nan, np.nan, np.nan, np.nan, np.nan)
    if not z.size:
        return nothing
    model, is_swapped = _make_model(z, code, worker, source)
    state = _fit(model)
    if state is None:
        return nothing
    found = np.where(_is_in(model), np.where(state.variance > _LEAST * state.variance.sum(), state.variance, 0), np.nan)
    a, b, c, d, residual = map(float, found)
    ordered = (a, b, c, d) if is_swapped else (c, d, a, b)
    return CrossedComponents(*ordered, residual, state.log_likelihood)


def _make_model(z: Floats, system: Labels, worker: Codes, source: Codes) -> tuple[_Model, bool]:
    """Return the model, and whether its outer side are the workers."""
    from scipy.sparse import csr_array, hstack

    n_systems = int(system.max()) + 1
    alone = int(source.max()) + 2 + np.arange(z.size)
    sides = [_side(worker, system, n_systems), _side(np.where(source >= 0, source, alone), system, n_systems)]
    is_swapped = sides[1].n_effects < sides[0].n_effects
    inner, outer = sides[::-1] if is_swapped else sides
    if inner.n_effects > MOST_EFFECTS:
        raise TooLargeError(
            f"crossed random effects are for up to {MOST_EFFECTS:,} effects of workers, or of sources; "
            f"here are {inner.n_effects:,}"
        )
    rows = np.arange(z.size)
    blocks = [csr_array((np.ones(z.size), (rows, system)))]
    edges = [0, n_systems]
    for group, is_in in ((inner.coarse, inner.has_coarse), (inner.fine, inner.has_fine)):
        if is_in:
            blocks.append(csr_array((np.ones(z.size), (rows, group))))
        edges.append(edges[-1] + (int(group.max()) + 1 if is_in else 0))
    columns = csr_array(hstack(blocks))
    sums = csr_array((np.ones(z.size), (outer.fine, rows)))
    coarse_of_fine = np.empty(sums.shape[0], dtype=np.int64)
    coarse_of_fine[outer.fine] = outer.coarse
    codes = (outer.coarse, outer.fine, inner.coarse, inner.fine)
    model = _Model(
        z,
        outer,
        codes,
        tuple(int(each.max()) + 1 for each in codes),
        columns,
        (columns.T @ columns).toarray(),
        csr_array(sums @ columns),
        np.bincount(outer.fine).astype(np.float64),
        coarse_of_fine,
        (slice(0, edges[1]), slice(edges[1], edges[2]), slice(edges[2], edges[3])),
    )
    return model, is_swapped


def _side(group: Codes, system: Labels, n_systems: int) -> _Side:
    coarse = np.unique(group, return_inverse=True)[1].astype(np.int64)
    fine = np.unique(coarse * np.int64(n_systems) + system, return_inverse=True)[1].astype(np.int64)
    n, n_coarse, n_fine = coarse.size, int(coarse.max()) + 1, int(fine.max()) + 1
    # With one group for all, the fine ones are the systems; groups of one rating each are the residuals
    return _Side(coarse, fine, 1 < n_coarse < n_fine, n_coarse > 1 and n_fine < n)


def _is_in(model: _Model) -> Mask:
    """Return which components the model has, (5,)."""
    inner = [own.stop > own.start for own in model.own[1:]]
    return np.array([model.outer.has_coarse, model.outer.has_fine, *inner, True])


def _fit(model: _Model) -> _State | None:
    """Return the state at the REML estimates; None where nothing varies or too few ratings are there."""
    n, n_systems = model.z.size, model.own[0].stop
    of_systems = model.columns[:, :n_systems]
    residual = model.z - of_systems @ ((of_systems.T @ model.z) / np.diag(model.gram)[:n_systems])
    total = float(residual @ residual) / max(n - n_systems, 1)
    if n <= n_systems or total <= (1e-10 * np.abs(model.z).max()) ** 2:
        return None
    is_in = _is_in(model)
    variance = np.where(is_in, total / is_in.sum(), 0.0)
    state = _at(model, variance)
    for _ in range(_MOST_STEPS):
        later = _step(model, state, is_in)
        change = np.abs(later.variance - state.variance).max() / state.variance.sum()
        state = later
        if change < _SMALL_STEP:
            break
    return state


def _step(model: _Model, state: _State, is_in: Mask) -> _State:
    """Return a state that is more likely: by average information if that leads up, else by expectation."""
    least = _LEAST * state.variance.sum() / 10
    is_free = is_in & ((state.variance > least * 1.01) | (state.score > 0))
    direction = np.zeros(is_in.size)
    free = np.flatnonzero(is_free)
    size = np.array([*model.sizes, model.z.size])
    information = state.information[np.ix_(free, free)]
    # Where hardly any of a component is seen, so is its average information: tr(P V P V) is at least tr(P V)²/size
    least_seen = state.traces[free] ** 2 / size[free] / 2
    information[np.diag_indices_from(information)] += np.maximum(least_seen - np.diag(information), 0)
    direction[free] = np.linalg.lstsq(information, state.score[free], rcond=1e-12)[0]
    for halving in range(_MOST_HALVINGS):
        variance = np.where(is_in, np.maximum(state.variance + direction / 2**halving, least), 0)
        if variance[-1] <= least:
            continue
        found = _at(model, variance)
        if found.log_likelihood >= state.log_likelihood - 1e-10:
            return found
    expected = state.variance + 2 * state.variance**2 * state.score / size
    found = _at(model, np.where(is_in, np.maximum(expected, least), 0))
    return found if found.log_likelihood > state.log_likelihood else state


@dataclass(frozen=True)
class _Outer:
    """The inverse of the variance of the outer side: (I − Z k Z′)/σ² − Z u R c R′ u Z′, as METHOD §5 has it.

    Z are the fine groups, R the coarse ones that these are in; `held`: t = Σ n u of each coarse group.
    """

    k: Floats
    u: Floats
    c: Floats
    held: Floats
    log_determinant: float


def _outer(model: _Model, variance: Floats) -> _Outer:
    of_coarse, of_fine, residual = variance[0], variance[1], variance[4]
    n = model.count
    u = 1 / (residual + n * of_fine)
    held = np.bincount(model.coarse_of_fine, weights=n * u).astype(np.float64)
    log_determinant = model.z.size * np.log(residual) + np.log1p(n * of_fine / residual).sum()
    log_determinant += np.log1p(of_coarse * held).sum()
    return _Outer(of_fine * u, u, of_coarse / (1 + of_coarse * held), held, float(log_determinant))


def _solve_outer(model: _Model, outer: _Outer, residual: float, values: Floats) -> Floats:
    """Return V⁻¹ values, (n, m), V being the variance of residuals and of the outer side."""
    fine = np.stack([np.bincount(model.outer.fine, weights=column) for column in values.T], axis=1)
    coarse = np.stack([np.bincount(model.coarse_of_fine, weights=outer.u * column) for column in fine.T], axis=1)
    back = fine * (outer.k / residual)[:, None] + outer.u[:, None] * (outer.c[:, None] * coarse)[model.coarse_of_fine]
    solved: Floats = values / residual - back[model.outer.fine]
    return solved


def _at(model: _Model, variance: Floats) -> _State:
    """Return likelihood, its gradient and average information at these variances."""
    from scipy.linalg import cho_factor, cho_solve
    from scipy.sparse import csr_array

    residual = float(variance[4])
    outer = _outer(model, variance)
    n_fine = model.count.size
    group = csr_array((outer.u, (model.coarse_of_fine, np.arange(n_fine))))
    coarse = csr_array(group @ model.inner)
    precision = model.gram / residual
    precision -= (model.inner.T @ (model.inner * (outer.k / residual)[:, None])).toarray()
    precision -= (coarse.T @ (coarse * outer.c[:, None])).toarray()
    ridge = np.zeros(precision.shape[0])
    log_prior = 0.0
    for own, each in zip(model.own[1:], variance[2:4], strict=True):
        if own.stop > own.start:
            ridge[own] = 1 / each
            log_prior += (own.stop - own.start) * np.log(each)
    precision[np.diag_indices_from(precision)] += ridge
    factor = cho_factor(precision, lower=True)
    inverse: Floats = cho_solve(factor, np.eye(precision.shape[0]))

    def solve(values: Floats) -> tuple[Floats, Floats]:
        """Return P values and the solution of the effects."""
        solved = _solve_outer(model, outer, residual, values)
        effects = inverse @ (model.columns.T @ solved)
        return solved - _solve_outer(model, outer, residual, model.columns @ effects), effects

    projected, effects = solve(model.z[:, None])
    prediction = projected[:, 0]
    squares = float(model.z @ prediction)
    n, n_systems = model.z.size, model.own[0].stop
    log_likelihood = -0.5 * (
        outer.log_determinant
        + log_prior
        + 2 * np.log(np.diag(factor[0])).sum()
        + squares
        + (n - n_systems) * np.log(2 * np.pi)
    )
    sums = [np.bincount(codes, weights=prediction) for codes in model.codes]
    traces = _traces(model, outer, variance, inverse, coarse)
    is_in = _is_in(model)
    traces[4] = (n - n_systems - (variance[:4] * traces[:4])[is_in[:4]].sum()) / residual
    quadratic = np.array([*(float(each @ each) for each in sums), float(prediction @ prediction)])
    score = np.where(is_in, (quadratic - traces) / 2, 0)
    working = np.stack([*(each[codes] for each, codes in zip(sums, model.codes, strict=True)), prediction], axis=1)
    information = working.T @ solve(working)[0] / 2
    added = _contributions(model, outer, variance, inverse, coarse)
    return _State(variance, inverse, effects[:, 0], float(log_likelihood), score, information, traces, added)


def _traces(model: _Model, outer: _Outer, variance: Floats, inverse: Floats, coarse: "csr_array") -> Floats:
    """Return tr(P Z Z′) of each random effect; the last, of residuals, is left 0."""
    from scipy.sparse import csr_array

    traces = np.zeros(5)
    less = 1 / (1 + variance[0] * outer.held)
    traces[0] = (outer.held * less).sum() - (inverse * (coarse.T @ (coarse * (less**2)[:, None])).toarray()).sum()
    weight = outer.u * model.count
    n_fine = model.count.size
    by_coarse = csr_array((weight * outer.u, (model.coarse_of_fine, np.arange(n_fine)))) @ model.inner
    squared = np.bincount(model.coarse_of_fine, weights=weight**2)
    own = (model.inner.T @ (model.inner * (outer.u**2)[:, None])).toarray()
    mixed = (by_coarse.T @ (coarse * outer.c[:, None])).toarray()
    own += (coarse.T @ (coarse * (outer.c**2 * squared)[:, None])).toarray() - mixed - mixed.T
    traces[1] = weight.sum() - (outer.c * squared).sum() - (inverse * own).sum()
    for place, own_columns in enumerate(model.own[1:], start=2):
        n_own = own_columns.stop - own_columns.start
        if n_own:
            held = np.diag(inverse)[own_columns].sum()
            traces[place] = (n_own - held / variance[place]) / variance[place]
    return traces


def _contributions(
    model: _Model, outer: _Outer, variance: Floats, inverse: Floats, coarse: "csr_array"
) -> tuple[Floats, ...]:
    """Return what one unit of each variance adds to the covariance of the systems' coefficients, (p, p) each."""
    n_systems = model.own[0].stop
    rows = inverse[:n_systems]
    of_coarse = (coarse @ rows.T).T
    less = 1 / (1 + variance[0] * outer.held)
    first = of_coarse * less
    second = (model.inner @ rows.T).T * outer.u
    second -= (of_coarse * outer.c)[:, model.coarse_of_fine] * (outer.u * model.count)
    found = [first @ first.T, second @ second.T]
    for place, own in enumerate(model.own[1:], start=2):
        # The weights of ratings, summed over the groups of an inner effect, are −(the inverse's part)/its variance
        part = rows[:, own] / variance[place] if own.stop > own.start else np.zeros((n_systems, 0))
        found.append(part @ part.T)
    rest = rows[:, :n_systems] - sum(v * each for v, each in zip(variance[:4], found, strict=True))
    found.append(rest / variance[4])
    return tuple(found)


def _satterthwaite(state: _State) -> Floats:
    """Return the degrees of freedom of every pair's difference."""
    free = np.flatnonzero(state.variance > _LEAST * state.variance.sum())
    gradient = np.stack([variance_of_differences(state.contribution[k]) for k in free])
    covariance = np.linalg.pinv(state.information[np.ix_(free, free)], rcond=1e-12, hermitian=True)
    spread = np.einsum("kij,kl,lij->ij", gradient, covariance, gradient)
    value = np.einsum("kij,k->ij", gradient, state.variance[free])
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(2 * value**2 / spread)
