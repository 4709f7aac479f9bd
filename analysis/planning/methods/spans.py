"""Marked errors, of which penalties are compared (MQM)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from analysis.data.spans.rows import Side, SpanData
from analysis.data.spans.weights import DEFAULTS
from analysis.methods.spans import Spans
from analysis.planning.methods.campaigns import names
from analysis.planning.methods.planned import ModelWords, SimulatedMethod, bad_plan
from analysis.results.sections import Cell
from analysis.stats.designs import PlannedDesign, RatingModel, draw_items, evenly_spaced
from analysis.stats.power import approximate_workers
from analysis.stats.ratings import Floats
from campaigns.design.composition import Kind
from campaigns.design.worker_test import NO_TEST

MOST_ERRORS = 5
"""Of an output, that raters are asked to mark (Freitag et al. 2021)."""
MINOR, MAJOR = DEFAULTS["minor"], DEFAULTS["major"]
_SEVERITIES = ["major", "minor"]
_LEAST_PENALTY, _MOST_PENALTY = 0.5, 10.0


@dataclass(frozen=True)
class ErrorModel:
    """How marked errors vary, as in the TED talks of WMT21, Chinese–English (docs/method/planning.md, Planning).

    `penalty` is the mean of a segment, in points. `source`, `output` and `rater` are standard deviations of the number
    of errors over its mean, between segments, outputs of a segment, and raters. `major` is the share of major errors,
    `major_sd` its standard deviation between raters. In a share `degradation` of degraded outputs a careful rater marks
    one more major error; a share `careless` of the raters marks errors whatever they see.
    """

    penalty: float = 2.3
    source: float = 0.7
    output: float = 0.2
    rater: float = 0.5
    major: float = 0.6
    major_sd: float = 0.25
    degradation: float = 0.8
    careless: float = 0.25

    @property
    def weight(self) -> float:
        """What an error weighs in the mean."""
        return self.major * MAJOR + (1 - self.major) * MINOR

    @property
    def log_variance(self) -> float:
        """The variance of the log of the expected number of errors."""
        return float(np.log1p(np.square([self.source, self.output, self.rater])).sum())


def expected_errors(penalty: float, model: ErrorModel) -> float:
    """Return the expected number of errors, before there are too many, with which outputs have a mean penalty.

    Parameters
    ----------
    penalty : float
        In points, above 0 and below what `MOST_ERRORS` weigh.
    model : ErrorModel
        Expected numbers are log-normal; those above `MOST_ERRORS` are cut, which this makes up for.

    Notes
    -----
    The mean of min(L, c), L log-normal with the mean m and the log variance s², is
    m·Φ((ln(c/m) − s²/2)/s) + c·Φ((ln(m/c) − s²/2)/s).

    Examples
    --------
    >>> model = ErrorModel()
    >>> round(expected_errors(0.034, model), 3)  # hardly ever cut: 0.034 points over the mean weight of 3.4
    0.01
    """
    from scipy.optimize import brentq
    from scipy.special import ndtr

    s2 = model.log_variance
    s = np.sqrt(s2)

    def missing(log_mean: float) -> float:
        below = np.log(MOST_ERRORS) - log_mean
        mean = np.exp(log_mean) * ndtr((below - s2 / 2) / s) + MOST_ERRORS * ndtr((-below - s2 / 2) / s)
        return float(mean - penalty / model.weight)

    return float(np.exp(brentq(missing, np.log(penalty / model.weight) - 1e-9, 20.0)))


def penalties_of_systems(n_systems: int, difference: float, model: ErrorModel) -> Floats:
    """Return the mean penalty of each system, best first: around the model's, or higher if the best would have less
    than half a point.
    """
    return evenly_spaced(n_systems, -difference, max(model.penalty, _LEAST_PENALTY + difference * (n_systems - 1) / 2))


def simulate_errors(design: PlannedDesign, model: ErrorModel, difference: float, rng: np.random.Generator) -> SpanData:
    """Return the marked errors of one simulated campaign; systems are named in the order of quality, best first.

    `difference` is in points of the mean penalty of a segment. The number of errors of an output is binomial, of
    `MOST_ERRORS`, with an expected number that is the product of what the system, the segment, the output and the rater
    have. Errors have severities and no place, as the method's scores need none.
    """
    k, n = design.n_systems, design.n_workers
    items = draw_items(design, rng)
    rater, source, system = items.worker[:, None], items.source, items.system
    penalties = penalties_of_systems(k, difference, model)
    expected = np.array([expected_errors(penalty, model) for penalty in penalties])
    of_output = expected * _factors(model.source, (design.n_sources, 1), rng)
    of_output = of_output * _factors(model.output, (design.n_sources, k), rng)
    severity = _factors(model.rater, n, rng)
    major = _shares(model.major, model.major_sd, n, rng)
    is_careless = rng.random(n) < model.careless
    wanted = np.where(is_careless[rater], penalties.mean() / model.weight, of_output[source, system] * severity[rater])
    n_errors = rng.binomial(MOST_ERRORS, np.minimum(wanted / MOST_ERRORS, 1))
    n_major = rng.binomial(n_errors, np.broadcast_to(major[rater], n_errors.shape))
    is_worse = (items.kind == Kind.DEGRADED) & ~is_careless[rater] & (rng.random(system.shape) < model.degradation)
    counts = np.stack([n_major + is_worse, n_errors - n_major], axis=-1).reshape(-1, 2)
    return marked_errors(design, items.as_ratings(counts.astype(float), n, k), counts)


def _factors(sd: float, shape: Any, rng: np.random.Generator) -> Floats:
    """Return log-normal factors whose mean is 1."""
    variance = np.log1p(sd**2)
    return np.asarray(np.exp(rng.normal(-variance / 2, np.sqrt(variance), shape)))


def _shares(mean: float, sd: float, n: int, rng: np.random.Generator) -> Floats:
    """Return shares of a beta distribution."""
    total = mean * (1 - mean) / sd**2 - 1
    return rng.beta(mean * total, (1 - mean) * total, n)


def marked_errors(design: PlannedDesign, ratings: Any, counts: Any) -> SpanData:
    """Return annotations with so many major and minor errors, (n_annotations, 2)."""
    n_annotations, n_errors = counts.shape[0], int(counts.sum())
    nothing = np.zeros(n_annotations, np.int64)
    return SpanData(
        systems=names("s", design.n_systems),
        segments=[("", name) for name in names("q", design.n_sources)],
        documents=[""],
        document_ids=[""] * design.n_sources,
        raters=names("w", design.n_workers),
        categories=["error"],
        severities=_SEVERITIES,
        system=ratings.system,
        segment=ratings.source,
        rater=ratings.worker,
        document_of=np.zeros(design.n_sources, np.int64),
        source_texts=[""],
        target_texts=[""],
        target_length=np.zeros(1, np.int64),
        source=nothing,
        target=nothing,
        annotation=np.repeat(np.arange(n_annotations), counts.sum(axis=1)),
        side=np.full(n_errors, Side.NONE),
        start=np.zeros(n_errors, np.int64),
        end=np.zeros(n_errors, np.int64),
        category=np.zeros(n_errors, np.int64),
        severity=np.repeat(np.tile([0, 1], n_annotations), counts.ravel()),
        kind=ratings.kind,
        assignment=ratings.assignment,
    )


class PlannedSpans(SimulatedMethod[SpanData]):
    """The difference is in points of the mean penalty of a segment."""

    slug, unit, called, decimals = Spans.slug, "points of penalty", "marked errors", 2
    compared_by = "the comparison of mean penalties, with errors clustered by raters if there are six or more"
    asked = "points of penalty of a segment"
    method = Spans
    item, responses, count = "segment", "annotations", "n_annotations"
    first_values: ClassVar[Mapping[str, Any]] = {"difference": 0.5, "n_criteria": 1}

    def check_difference(self, design: PlannedDesign) -> None:
        """The worst system's errors are not too many to be marked."""
        most = (_MOST_PENALTY - _LEAST_PENALTY) / (design.n_systems - 1)
        if not 0 < self.difference <= most:
            raise bad_plan(
                f"The difference is {self.difference:g} points of penalty; with {design.n_systems} systems it must be "
                f"above 0 and at most {most:.3g}, so that none has more than {_MOST_PENALTY:g} points a segment."
            )

    def words(self) -> str:
        """Return the points."""
        return f"a difference of {self.difference:g} points of penalty per segment between two systems"

    def model_for(self, design: PlannedDesign, pilot: RatingModel | None, careless: float | None) -> ErrorModel:
        """Return the assumed model; without a worker test raters are taken to be careful."""
        model = replace(ErrorModel(), careless=0.0) if design.worker_test == NO_TEST else ErrorModel()
        return model if careless is None else replace(model, careless=careless)

    def simulate(self, design: PlannedDesign, model: ErrorModel, rng: np.random.Generator) -> SpanData:
        """Return marked errors."""
        return simulate_errors(design, model, self.difference, rng)

    def first_guess(self, design: PlannedDesign, model: Any, target: float, *, sources_grow: bool) -> float:
        """Return what the formula of variances says of penalties, as if numbers of errors were Poisson's."""
        penalty = float(penalties_of_systems(design.n_systems, self.difference, model).mean())
        of_square = model.major * MAJOR**2 + (1 - model.major) * MINOR**2
        scores = RatingModel(
            worker=0.0,
            liking=0.0,
            source=model.source * penalty,
            output=model.output * penalty,
            residual=float(np.sqrt(penalty * of_square / model.weight + (model.rater * penalty) ** 2)),
            careless=model.careless,
        )
        return approximate_workers(design, scores, self.difference, target=target, sources_grow=sources_grow)

    def describe_model(self, sd: Mapping[str, float], *, is_pilot: bool) -> ModelWords:
        """Return means and standard deviations of errors."""
        effects = {
            "penalty": "mean penalty of a segment, points",
            "source": "errors between segments (SD over mean)",
            "output": "… between outputs of a segment",
            "rater": "… between raters",
            "major": "share of major errors",
            "major_sd": "… its SD between raters",
            "degradation": "share of degraded outputs with one more major error",
        }
        rows: list[list[Cell]] = [[words, sd[name]] for name, words in effects.items()]
        caption = (
            f"Numbers as in the TED talks of WMT21, Chinese–English; an output has at most {MOST_ERRORS} errors, of "
            f"{MINOR:g} point (minor) or {MAJOR:g} (major). {100 * sd['careless']:.0f} % of the raters are taken to "
            "mark errors whatever they see."
        )
        return ModelWords(caption, "value", rows, 2)
