"""What people call the worker tests, the units and the protocols that settings name by slug; numbers as text."""

from analysis.stats.procedures import ALPHA, Procedure
from analysis.stats.quality import Verdict
from analysis.stats.scores import Unit
from campaigns.design.worker_test import NO_TEST, WORKER_TESTS
from campaigns.methods import methods
from campaigns.protocols import find_protocol

CORRECTED = f"p < {ALPHA:g} after Holm’s correction"
"""At which level pairs of systems differ."""
AT_EVERY_LOOK = "valid whenever you look"
"""What is said of conclusions from responses that are looked at while they come."""
_TRUSTED = Verdict.TRUSTED.name.lower()
VERDICTS = {
    **{verdict.name.lower(): verdict.name.lower() for verdict in (Verdict.PASSED, Verdict.FAILED, Verdict.UNTESTED)},
    _TRUSTED: "not tested, counts",
}
"""The verdicts on workers, as pages name them."""

UNITS = {
    Unit.RATING.value: ("rating", "every rated item counts once"),
    Unit.OUTPUT.value: ("output", "all ratings of one output are averaged first"),
}

PROCEDURES = {
    Procedure.CLUSTERED.value: ("recommended", "least squares, errors clustered by worker and by source"),
    Procedure.CROSSED.value: ("crossed random effects", "a mixed model of workers, sources, and both by system"),
    Procedure.PERMUTED.value: ("labels exchanged within sources", "a permutation test of each pair of systems"),
    Procedure.STUDIES.value: ("as in the studies", "rank-sum tests of single ratings, not corrected"),
}
"""By what systems are said to differ: name and meaning."""

N_COUNTS = {"outputs": "rated outputs, repeats included", "ratings": "ratings, one a criterion"}
"""What n of a system counts."""

DASH = "–"

assert set(UNITS) == {unit.value for unit in Unit}
assert set(PROCEDURES) == set(Procedure)


def level_in_words(workers_planned: int | None) -> str:
    """Return at which level systems differ; `workers_planned`: of responses that are looked at while they come."""
    return f"{CORRECTED}, {AT_EVERY_LOOK}" if workers_planned else CORRECTED


def looks_in_words(n_planned: int) -> str:
    """Return what intervals and p of differences hold for, of which more are awaited."""
    return (
        "Intervals and p hold at every look at the campaign, and if what a look shows ends it (a confidence sequence "
        f"for {n_planned:,} workers); a dash: too little is known for an end of the interval."
    )


def verdicts_of(preset: str) -> dict[str, str]:
    """Return the verdicts that a worker test can give, as pages name them."""
    return {name: words for name, words in VERDICTS.items() if (name == _TRUSTED) == (preset == NO_TEST)}


def worker_test_name(preset: str) -> str:
    """Return what people call a worker test."""
    return WORKER_TESTS[preset].name


def method_title(slug: str) -> str:
    """Return what people call a response method; its slug if this site does not have it."""
    method = methods.all().get(slug)
    return method.title if method else slug


def protocol_title(slug: str) -> str:
    """Return the title of a protocol; a name that no plug-in has is a protocol of the researcher's own."""
    found = find_protocol(slug)
    return found.title if found else f"{slug.capitalize()} protocol"


def number(value: float | None, decimals: int = 3) -> str:
    """Return a number with a true minus sign; a dash for None."""
    return DASH if value is None else with_minus(f"{value:.{decimals}f}")


def with_minus(text: str) -> str:
    """Return a formatted number with a true minus sign, and none of a zero."""
    is_zero = not text.strip("+-0.")
    return text.lstrip("-") if is_zero else text.replace("-", "−")


def p_value(p: float | None) -> str:
    """Return a p-value with four decimals, as papers print it: .0312, < .0001, > .9999; a dash for None."""
    if p is None:
        return DASH
    if p < 0.0001:
        return "< .0001"
    return "> .9999" if p > 0.9999 else f"{p:.4f}".lstrip("0")


def p_equals(p: float | None) -> str:
    """Return a p-value as it follows "p" in a sentence: = .0312, < .0001, > .9999; a dash for None."""
    text = p_value(p)
    return text if p is None or text[0] in "<>" else f"= {text}"
