"""Generators and donors."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from campaigns.design.errors import DesignError
from campaigns.design.seeds import draw_donors, generator

seeds = st.integers(0, 2**64)


def test_a_seed_gives_the_same_numbers_on_every_machine():
    np.testing.assert_array_equal(
        generator(2026).random(3), [0.17893481367543618, 0.6399131657151546, 0.4672684011434851]
    )


def test_places_draw_independently():
    draws = [generator(1, *place).random() for place in [(), (0,), (1,), (0, 1), (1, 0)]]
    assert len(set(draws)) == 5


@pytest.mark.parametrize("place", [(-1,), (0, -3)])
def test_a_negative_seed_is_refused(place):
    with pytest.raises(DesignError) as refused:
        generator(*place)
    assert refused.value.code == "negative_seed"


@given(st.lists(st.integers(0, 5), max_size=60), st.integers(0, 5), st.integers(1, 30), seeds)
def test_donors_are_texts_of_other_sources_and_as_many_as_there_are(sources, own, n_donors, seed):
    sources = np.array(sources, dtype=int)
    drawn = draw_donors(sources, own, generator(seed), n_donors=n_donors)
    assert len(set(drawn.tolist())) == drawn.size == min(n_donors, int((sources != own).sum()))
    assert (sources[drawn] != own).all()


def test_every_donor_comes_first_equally_often():
    sources = np.arange(8)
    first = [draw_donors(sources, 3, generator(7, k), n_donors=1)[0] for k in range(4000)]
    counts = np.bincount(first, minlength=8)
    assert counts[3] == 0 and counts[np.arange(8) != 3].min() > 480
