"""What people call the worker tests, the units and the protocols that settings name by slug."""

from typing import NamedTuple

from analysis.stats.quality import NO_TEST, PRESETS, Verdict
from analysis.stats.scores import Unit
from campaigns.protocols import list_protocols


class Words(NamedTuple):
    """A worker test: what people call it, what it compares, what it counts, what degraded items are set against."""

    name: str
    meaning: str
    compared: str
    others: str


_TWINS = "pairs of a degraded item and its twin"
WORKER_TESTS = {
    "paired-wilcoxon": Words(
        "paired Wilcoxon", "each degraded item against its twin, by signed ranks", _TWINS, "their twins"
    ),
    "unpaired-ranksum": Words(
        "unpaired rank-sum",
        "all degraded items against all ordinary ones",
        "ratings of degraded items",
        "ordinary ones",
    ),
    "paired-t": Words("paired t", "each degraded item against its twin, by means", _TWINS, "their twins"),
    NO_TEST: Words("no worker test", "every worker counts", "", ""),
}
"""The presets of the worker test; `none` compares nothing."""

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

assert set(WORKER_TESTS) == set(PRESETS)
assert set(UNITS) == {unit.value for unit in Unit}


def verdicts_of(preset: str) -> dict[str, str]:
    """Return the verdicts that a worker test can give, as pages name them."""
    return {name: words for name, words in VERDICTS.items() if (name == _TRUSTED) == (preset == NO_TEST)}


def worker_test_name(preset: str) -> str:
    """Return what people call a worker test."""
    return WORKER_TESTS[preset].name


def protocol_title(slug: str) -> str:
    """Return the title of a protocol; a name that no plug-in has is a protocol of the researcher's own."""
    return next((p.title for p in list_protocols() if p.slug == slug), f"{slug.capitalize()} protocol")
