"""Prediction intervals: by hand, against simulation, and the file they are kept in."""

from __future__ import annotations

import math
import pathlib
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.vocabulary.note import Rate
from replay.statistics import BadExpected, Expected, Interval, expected_toml, prediction_interval, read_expected

T_975_4 = 2.7764451051977987
"""The 0.975 quantile of Student's t with 4 degrees of freedom, from a table."""


def test_an_interval_worked_by_hand() -> None:
    """Counts 10, 12, 14, 16, 18 of 20: mean 0.7, sample variance 0.025, above the binomial floor of about 0.0104."""
    rates = [Rate(count, 20) for count in (10, 12, 14, 16, 18)]
    half = T_975_4 * math.sqrt(0.025 * 1.2)
    interval = prediction_interval(rates, 0.05)
    assert interval.low == pytest.approx(0.7 - half)
    assert interval.high == 1.0, "clipped"
    assert 0.7 + half > 1


def test_equal_counts_do_not_prove_a_rate_without_noise() -> None:
    """The floor is p(1 - p)/n at p = (50 + 1/2)/(100 + 1) = 1/2."""
    interval = prediction_interval([Rate(10, 20)] * 5, 0.05)
    half = T_975_4 * math.sqrt(0.25 / 20 * 1.2)
    assert (interval.low, interval.high) == (pytest.approx(0.5 - half), pytest.approx(0.5 + half))


def test_never_succeeding_still_leaves_room() -> None:
    interval = prediction_interval([Rate(0, 64)] * 5, 0.01)
    assert interval.low == 0.0
    assert interval.holds(Rate(1, 64))
    assert not interval.holds(Rate(32, 64))


def test_coverage_in_simulation() -> None:
    """Seeds whose rates scatter about 0.6: a further one lies inside in about 95 % of cases, and never much less."""
    source = random.Random(1)

    def rate() -> Rate:
        p = min(1.0, max(0.0, source.gauss(0.6, 0.08)))
        return Rate(sum(source.random() < p for _ in range(64)), 64)

    trials = 1_500
    inside = sum(prediction_interval([rate() for _ in range(5)], 0.05).holds(rate()) for _ in range(trials))
    assert 0.93 < inside / trials < 0.985


@given(
    st.lists(st.integers(0, 16), min_size=2, max_size=8),
    st.floats(0.001, 0.2),
)
def test_intervals_hold_the_mean_and_grow_with_certainty(counts: list[int], error: float) -> None:
    rates = [Rate(count, 16) for count in counts]
    wide, narrow = prediction_interval(rates, error), prediction_interval(rates, error * 2)
    mean = sum(counts) / (16 * len(counts))
    assert 0 <= wide.low <= narrow.low <= mean + 1e-12
    assert mean - 1e-12 <= narrow.high <= wide.high <= 1


@pytest.mark.parametrize(
    ("rates", "error"),
    [([Rate(1, 2)], 0.05), ([Rate(1, 2), Rate(0, 0)], 0.05), ([Rate(1, 2)] * 2, 0.0), ([Rate(1, 2)] * 2, 1.0)],
)
def test_what_cannot_be_predicted_is_refused(rates: list[Rate], error: float) -> None:
    with pytest.raises(ValueError, match="prediction interval"):
        prediction_interval(rates, error)


def test_a_rate_without_episodes_lies_nowhere() -> None:
    assert not Interval(0, 1).holds(Rate(0, 0))


def test_more_skills_make_each_interval_wider() -> None:
    """Bonferroni: with k skills each takes a k-th of the family-wise error."""
    rates = tuple(Rate(count, 20) for count in (10, 11, 12, 11, 10))
    one = Expected((1, 2, 3, 4, 5), 0.05, {"A": rates}).intervals["A"]
    two = Expected((1, 2, 3, 4, 5), 0.05, {"A": rates, "B": rates}).intervals["A"]
    assert two == prediction_interval(rates, 0.025)
    assert two.low < one.low
    assert two.high > one.high


def test_the_file_keeps_integers_and_reads_back(tmp_path: pathlib.Path) -> None:
    expected = Expected((1, 2), 0.05, {"A": (Rate(3, 8), Rate(4, 8)), "B": (Rate(0, 8), Rate(8, 8))})
    file = tmp_path / "expected.toml"
    file.write_text(expected_toml(expected, "made by a test\nin two lines"))
    assert read_expected(file) == expected
    assert file.read_text().startswith("# made by a test\n# in two lines\n")


@pytest.mark.parametrize(
    "text",
    [
        "seeds = 3",
        "seeds = [1, 2]\nfamily_error = 0.05\nepisodes = 8\n[successes]\nA = [1]",
        "seeds = [1, 2]\nfamily_error = 0.05\nepisodes = 8\n[successes]\nA = [1, true]",
        "seeds = [1, 2]\nfamily_error = 0.05\nepisodes = 8\n[successes]\nA = [1, -2]",
        "= nonsense",
    ],
)
def test_a_file_of_another_form_is_refused_with_what_to_do(tmp_path: pathlib.Path, text: str) -> None:
    file = tmp_path / "expected.toml"
    file.write_text(text)
    with pytest.raises(BadExpected):
        read_expected(file)
