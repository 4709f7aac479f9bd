"""Codes by tables are those that sorting gives."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from analysis.stats.codes import count_codes, dense_ranks, number_values

few, far = st.integers(0, 9), st.integers(0, 10**6)
numbers = st.one_of(
    st.integers(-3, 3).map(float),
    st.sampled_from([0.5, 1.5, 0.1, -0.0, 1e-27, -1e-27, 2.0**60, -(2.0**60), np.nan, np.inf]),
    st.floats(allow_nan=False, width=32),
)


@given(codes=st.one_of(st.lists(few, max_size=30), st.lists(far, max_size=30)))
def test_codes_are_counted_and_ranked(codes: list[int]) -> None:
    array = np.array(codes, np.int64)
    size = int(array.max(initial=-1)) + 1
    found, n_of, place = *count_codes(array, size), dense_ranks(array, size)[0]
    expected, expected_place, expected_n = np.unique(array, return_inverse=True, return_counts=True)
    assert_array_equal(found, expected)
    assert_array_equal(n_of, expected_n)
    assert_array_equal(place, expected_place)


@given(values=st.lists(numbers, max_size=30))
def test_values_are_numbered(values: list[float]) -> None:
    array = np.array(values, float)
    for one, other in zip(number_values(array), np.unique(array, return_inverse=True, return_counts=True), strict=True):
        assert_array_equal(one, other)
