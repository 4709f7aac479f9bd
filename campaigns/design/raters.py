"""From raters and their time to a design: size and mix of HITs, how many there are, how many workers rate each."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from campaigns.design.composition import Layout, Mix
from campaigns.design.errors import DesignError


class Raters(StrEnum):
    """Who rates."""

    CROWD = "crowd"  # many workers who are not known
    LAB = "lab"  # a few who are known
    EXPERTS = "experts"  # a few whose every judgement is wanted, each output by several of them


@dataclass(frozen=True)
class Situation:
    """What follows from who rates.

    Attributes
    ----------
    is_tested : bool
        Whether there are degraded items and a worker test.
    repeats : float or None
        Repeats for each ordinary item; None as in the protocol's mix.
    minutes_per_hit : float or None
        How long a HIT should be; None: as long as a rater has.
    workers_per_output : (int, int) or None
        Fewest and most raters of an output; None: as many as there is time for once each output is rated.
    share_counted : float
        Share of the workers whose ratings are expected to count.
    """

    is_tested: bool
    repeats: float | None
    minutes_per_hit: float | None
    workers_per_output: tuple[int, int] | None
    share_counted: float


# 173 of 248 workers passed in the dialogue study, 24 of 29 in the public batch of Direct Assessment.
SITUATIONS = {
    Raters.CROWD: Situation(True, None, None, None, 0.75),
    Raters.LAB: Situation(False, 0.1, 15, None, 1.0),
    Raters.EXPERTS: Situation(False, 0.0, 30, (2, 3), 1.0),
}


LARGEST_HIT = 500
"""Items that a HIT has at most, however much time there is."""


@dataclass(frozen=True)
class RaterTime:
    """So many raters, for so many minutes each, who need so many seconds for an item. All greater than 0."""

    n_raters: int
    minutes: float
    seconds_per_item: float

    @property
    def n_items(self) -> int:
        """Items that one rater can rate."""
        return int(self.minutes * 60 / self.seconds_per_item + 1e-9)


@dataclass(frozen=True)
class Shares:
    """How the work is shared out: HITs, workers of each, and HITs of each worker at most."""

    n_hits: int
    workers_per_hit: int
    hits_per_worker: int


def choose_mix(
    raters: Raters,
    time: RaterTime,
    preset: Mix,
    *,
    most_ordinary: int,
    most_degraded: int | None = None,
    is_passable: Callable[[Mix], bool],
) -> tuple[Mix, int]:
    """Return the mix of a HIT, and how many such HITs a rater has time for.

    Parameters
    ----------
    raters : Raters
    time : RaterTime
    preset : Mix
        The protocol's. Its layout is kept, and its shares of copies where workers are tested.
    most_ordinary : int
        Ordinary items that a HIT can have: outputs, or systems with an output for one source, or families.
    most_degraded : int, optional
        Degraded items that a HIT can have; by default as many as ordinary ones, and of systems met live one.
    is_passable : callable
        Whether a worker can pass the worker test with one such HIT. Not called where workers are not tested.

    Returns
    -------
    mix : Mix
        The one with the most ordinary items that a rater has time for.
    n_hits : int
        At least 1.

    Raises
    ------
    DesignError
        ``too_few_minutes`` if there is no time for an ordinary item, ``too_few_minutes_to_test`` if there is none for
        the degraded items that the worker test needs.

    Notes
    -----
    In a pool the HIT is as long as the situation wants it, and the protocol's length does not matter. Of one source,
    or of chatbots, a HIT is no longer than the protocol's; a rater with more time does more of them.
    """
    situation = SITUATIONS[raters]
    if time.n_items < 1 or most_ordinary < 1:
        raise DesignError(
            "too_few_minutes",
            f"one item takes {time.seconds_per_item:g} seconds, and each rater has {time.minutes * 60:g}",
        )
    is_pooled = preset.layout == Layout.POOLED
    n_wanted = 1
    if is_pooled and situation.minutes_per_hit:
        n_wanted = min(max(1, round(time.minutes / situation.minutes_per_hit)), time.n_items)
    size = min(time.n_items // n_wanted, LARGEST_HIT)
    most = min(most_ordinary, size) if is_pooled else min(most_ordinary, size, preset.n_ordinary)
    for n_ordinary in range(most, 0, -1):
        mix = _mix(situation, preset, n_ordinary, most_degraded, is_passable)
        if mix and mix.size <= size:
            return mix, n_wanted if is_pooled else max(1, size // mix.size)
    raise DesignError(
        "too_few_minutes_to_test",
        f"the {size} items that a rater has time for do not hold the degraded items that the worker test needs",
    )


def _mix(
    situation: Situation, preset: Mix, n_ordinary: int, most_degraded: int | None, is_passable: Callable[[Mix], bool]
) -> Mix | None:
    """Return the mix with so many ordinary items, and copies in proportion; None if there is none."""

    def scaled(n: int) -> int:
        return round(n * n_ordinary / preset.n_ordinary)

    is_live = preset.layout == Layout.BY_SYSTEM
    n_repeat = scaled(preset.n_repeat) if situation.repeats is None else round(situation.repeats * n_ordinary)
    n_repeat = 0 if is_live or n_ordinary == 1 else n_repeat
    if not situation.is_tested:
        return Mix(n_ordinary, n_repeat=n_repeat, layout=preset.layout)
    if most_degraded is None:
        most_degraded = 1 if is_live else n_ordinary
    for n_degraded in range(max(1, min(scaled(preset.n_degraded), most_degraded)), most_degraded + 1):
        has_anchor = preset.has_anchor and n_repeat > 0
        try:
            mix = Mix(
                n_ordinary,
                n_degraded,
                n_repeat,
                scaled(preset.n_reference),
                layout=preset.layout,
                has_anchor=has_anchor,
            )
        except DesignError:  # its twins do not fit
            return None
        if is_passable(mix):
            return mix
    return None


def share_out(raters: Raters, n_raters: int, n_hits_each: int, n_to_cover: int | None) -> Shares:
    """Return how many HITs there are, and who rates them.

    Parameters
    ----------
    raters : Raters
    n_raters : int
    n_hits_each : int
        HITs that a rater has time for.
    n_to_cover : int or None
        HITs that have each output once; None where an output is a chat that begins in the HIT.

    Returns
    -------
    Shares
        First as many outputs are rated as there is time for, each by the fewest raters that the situation allows; what
        time is left goes into further raters of each output. No rater does a HIT twice.

    Raises
    ------
    DesignError
        ``too_few_raters`` if there are fewer than have to rate each output.

    Examples
    --------
    >>> share_out(Raters.LAB, 12, 2, 6)
    Shares(n_hits=6, workers_per_hit=4, hits_per_worker=2)
    """
    if n_to_cover is None:
        return Shares(n_raters * n_hits_each, 1, n_hits_each)
    n_hits_each = min(n_hits_each, n_to_cover)
    n_assignments = n_raters * n_hits_each
    limits = SITUATIONS[raters].workers_per_output
    if limits is None:
        n_workers = min(max(1, n_assignments // n_to_cover), n_raters)
        return Shares(n_assignments // n_workers, n_workers, n_hits_each)
    fewest, most = limits
    if n_raters < fewest:
        raise DesignError(
            "too_few_raters",
            f"each output is to be rated by {fewest} raters or more, and there {'is' if n_raters == 1 else 'are'} "
            f"{n_raters}",
        )
    n_workers = min(max(fewest, n_assignments // n_to_cover), most, n_raters)
    n_hits = min(n_to_cover, n_assignments // n_workers)
    return Shares(n_hits, n_workers, -(-n_hits * n_workers // n_raters))
