"""LOWESS: the values that R prints for its own example, and what must always hold."""

import numpy as np
import pytest

from analysis.stats.smoothing import lowess

# R's data set `cars`, and lowess(cars) and lowess(cars, f = .2), one value for each speed
SPEED = [4, 4, 7, 7, 8, 9, 10, 10, 10, 11, 11, 12, 12, 12, 12, 13, 13, 13, 13, 14, 14, 14, 14, 15, 15, 15, 16, 16, 17]
SPEED += [17, 17, 18, 18, 18, 18, 19, 19, 19, 20, 20, 20, 20, 20, 22, 23, 24, 24, 24, 24, 25]
DISTANCE = [2, 10, 4, 22, 16, 10, 18, 26, 34, 17, 28, 14, 20, 24, 28, 26, 34, 34, 46, 26, 36, 60, 80, 20, 26, 54, 32]
DISTANCE += [40, 32, 40, 50, 42, 56, 76, 84, 36, 46, 68, 32, 48, 52, 56, 64, 66, 54, 70, 92, 93, 120, 85]
WIDE = [4.965459, 13.124495, 15.858633, 18.579691, 21.280313, 24.129277, 27.119549, 30.027276, 32.962506, 36.757728]
WIDE += [40.435075, 43.463492, 46.885479, 50.793152, 56.491224, 67.585824, 73.079695, 78.643164, 84.328698]
NARROW = [6.030408, 12.678893, 15.383796, 18.668847, 22.227571, 23.306483, 21.525372, 34.882735, 47.059947, 37.937118]
NARROW += [36.805260, 46.267862]


def test_the_line_through_rs_example_is_rs():
    cars = np.array(SPEED, float), np.array(DISTANCE, float)
    shuffled = np.random.default_rng(1).permutation(len(SPEED))
    at, line = lowess(cars[0][shuffled], cars[1][shuffled])
    assert at.tolist() == sorted(set(SPEED))
    assert line == pytest.approx(WIDE, abs=1e-6)
    assert lowess(*cars, share=0.2)[1][: len(NARROW)] == pytest.approx(NARROW, abs=1e-6)


def test_a_line_stays_a_line_whatever_one_outlier_says():
    x = np.arange(30.0)
    y = 2 * x + 1
    y[15] = 900
    assert lowess(x, y)[1] == pytest.approx(2 * x + 1, abs=1e-6)
    assert lowess(x, np.full(30, 5.0))[1] == pytest.approx(5)


def test_few_and_equal_points_give_what_there_is():
    assert lowess(np.array([1.0]), np.array([2.0]))[0].size == 0
    at, line = lowess(np.array([3.0, 3.0, 3.0]), np.array([1.0, 2.0, 6.0]), n_iterations=0)
    assert (at.tolist(), line.tolist()) == ([3], [3])
