"""Interquartile means by hand, and intervals that are the same every time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tests.studies.hand_written.statistics import difference_of_iqms, estimate, iqm


def test_eight_values_by_hand() -> None:
    # sorted: 0 .1 | .2 .3 .5 .8 | .9 1; a quarter of eight is two from each end; (.2 + .3 + .5 + .8) / 4 = .45
    assert iqm(np.array([0.9, 0.2, 1.0, 0.5, 0.1, 0.3, 0.0, 0.8])) == pytest.approx(0.45)


def test_five_seeds_lose_one_at_each_end() -> None:
    assert iqm(np.array([0.0, 0.3, 0.4, 0.5, 1.0])) == pytest.approx(0.4)


def test_all_values_count_alike_whatever_their_shape() -> None:
    values = np.array([[0.9, 0.2, 1.0, 0.5], [0.1, 0.3, 0.0, 0.8]])
    assert iqm(values) == iqm(values.ravel()) == pytest.approx(0.45)


def test_two_seeds_by_hand() -> None:
    """Two seeds are drawn as (a, a), (a, b), (b, b) in 1/4, 1/2, 1/4 of all draws: the interval spans both."""
    found = estimate(np.array([0.2, 0.6]))
    assert (found.low, found.value, found.high) == (pytest.approx(0.2), pytest.approx(0.4), pytest.approx(0.6))
    half = estimate(np.array([0.2, 0.6]), level=0.4)
    assert (half.low, half.high) == (pytest.approx(0.4), pytest.approx(0.4))


def test_the_same_every_time_and_another_for_another_seed() -> None:
    values = np.random.Generator(np.random.Philox(key=3)).random((5, 4))
    assert estimate(values) == estimate(values.copy())
    few = [estimate(values, resamples=50, seed=seed) for seed in range(6)]
    assert len({(each.low, each.high) for each in few}) > 1


def test_seeds_are_drawn_whole() -> None:
    """Two skills that always add up to one: drawn with their seed, they average to a half in every draw."""
    first = np.array([0.0, 0.1, 0.3, 0.7, 1.0])
    found = estimate(np.stack([first, 1 - first], axis=1), lambda values: float(values.mean()))
    assert (found.low, found.value, found.high) == (pytest.approx(0.5),) * 3


def test_a_paired_difference_draws_the_same_seeds_for_both_arms() -> None:
    second = np.array([0.1, 0.2, 0.4, 0.5, 0.6])
    found = estimate(np.stack([second + 0.25, second], axis=1), difference_of_iqms)
    assert (found.low, found.value, found.high) == (pytest.approx(0.25),) * 3


@given(arrays(np.float64, (5, 3), elements=st.floats(0, 1)))
def test_intervals_hold_their_value_within_the_values(values: np.ndarray) -> None:
    found = estimate(values, resamples=200)
    assert values.min() - 1e-12 <= found.low <= found.high <= values.max() + 1e-12
    assert values.min() - 1e-12 <= found.value <= values.max() + 1e-12


def test_nothing_cannot_be_estimated() -> None:
    with pytest.raises(ValueError, match="no seed has a value"):
        estimate(np.zeros((0, 3)))
    with pytest.raises(ValueError, match="no seed has a value"):
        estimate(np.zeros((3, 0)))
