"""From raters and their time to HITs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from campaigns.design.composition import POOL_OF_100, SOURCE_OF_20, SYSTEMS_OF_6, Mix
from campaigns.design.errors import DesignError
from campaigns.design.raters import LARGEST_HIT, SITUATIONS, Raters, RaterTime, choose_mix, share_out

PRESETS = [POOL_OF_100, SOURCE_OF_20, SYSTEMS_OF_6, Mix(7, 2, 1)]


def five_pairs(mix: Mix) -> bool:
    """What a paired test on one criterion needs for p < .05: 2⁻⁵."""
    return mix.n_degraded >= 5


def chosen(raters: Raters, time: RaterTime, preset: Mix = POOL_OF_100, most: int = 1000) -> tuple[Mix, int]:
    return choose_mix(raters, time, preset, most_ordinary=most, is_passable=five_pairs)


def test_a_crowd_worker_gets_one_hit_with_the_protocol_s_shares() -> None:
    assert chosen(Raters.CROWD, RaterTime(60, 30, 18)) == (POOL_OF_100, 1)
    mix, n_hits = chosen(Raters.CROWD, RaterTime(12, 10, 15))
    assert (mix.size, mix.n_ordinary, mix.n_degraded, mix.n_repeat, mix.n_reference, n_hits) == (40, 27, 5, 4, 4, 1)


def test_the_lab_gets_several_short_hits_without_degraded_items() -> None:
    mix, n_hits = chosen(Raters.LAB, RaterTime(12, 30, 20))
    assert (mix.size, mix.n_degraded, mix.n_repeat, n_hits) == (45, 0, 4, 2)
    mix, n_hits = chosen(Raters.EXPERTS, RaterTime(3, 60, 20))
    assert (mix.size, mix.n_copies, n_hits) == (90, 0, 2)


def test_hits_of_one_source_and_of_chats_stay_as_long_as_the_protocol_s() -> None:
    mix, n_hits = choose_mix(
        Raters.CROWD, RaterTime(10, 30, 20), SOURCE_OF_20, most_ordinary=15, is_passable=lambda mix: mix.n_degraded >= 2
    )
    assert (mix, n_hits) == (SOURCE_OF_20, 4)  # 90 items are four HITs of 20
    mix, n_hits = choose_mix(
        Raters.CROWD, RaterTime(10, 30, 360), SYSTEMS_OF_6, most_ordinary=8, is_passable=lambda mix: True
    )
    assert (mix.n_ordinary, mix.n_degraded, n_hits) == (4, 1, 1)


@pytest.mark.parametrize(
    ("raters", "time", "code"),
    [
        (Raters.LAB, RaterTime(5, 0.5, 31), "too_few_minutes"),
        (Raters.CROWD, RaterTime(5, 2, 15), "too_few_minutes_to_test"),
    ],
)
def test_too_little_time_is_refused(raters: Raters, time: RaterTime, code: str) -> None:
    with pytest.raises(DesignError) as caught:
        chosen(raters, time)
    assert caught.value.code == code


def test_one_expert_cannot_rate_each_output_twice() -> None:
    with pytest.raises(DesignError) as caught:
        share_out(Raters.EXPERTS, 1, 2, 10)
    assert caught.value.code == "too_few_raters"


@given(
    raters=st.sampled_from(Raters),
    preset=st.sampled_from(PRESETS),
    n_raters=st.integers(2, 300),
    minutes=st.floats(1, 300),
    seconds=st.floats(1, 600),
    most=st.integers(1, 800),
    n_to_cover=st.integers(1, 500),
)
def test_no_rater_works_longer_than_said_or_does_a_hit_twice(
    raters: Raters, preset: Mix, n_raters: int, minutes: float, seconds: float, most: int, n_to_cover: int
) -> None:
    time = RaterTime(n_raters, minutes, seconds)
    try:
        mix, n_hits = choose_mix(raters, time, preset, most_ordinary=most, is_passable=five_pairs)
    except DesignError:
        return
    shares = share_out(raters, n_raters, n_hits, n_to_cover)

    assert mix.n_ordinary <= most
    assert mix.size <= LARGEST_HIT
    assert shares.hits_per_worker * mix.size * seconds <= minutes * 60 * (1 + 1e-6)
    assert shares.workers_per_hit <= n_raters
    assert 1 <= shares.hits_per_worker <= max(shares.n_hits, 1)
    assert shares.n_hits * shares.workers_per_hit <= n_raters * shares.hits_per_worker
    if limits := SITUATIONS[raters].workers_per_output:
        assert limits[0] <= shares.workers_per_hit <= limits[1]
    assert bool(mix.n_degraded) == SITUATIONS[raters].is_tested
