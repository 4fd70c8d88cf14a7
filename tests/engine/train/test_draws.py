"""Host draws: exact, keyed by seed, path and purpose, without JAX."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.draws import draw, integer_weights, inverse_cdf, raw_words
from ledger.vocabulary.draw import Draw
from ledger.vocabulary.path import Path

PATH = Path("iteration=3/propose")
weights_lists = st.lists(st.floats(0, 1e300, allow_subnormal=True), min_size=1, max_size=12)


def test_golden_draw() -> None:
    """The stream is pinned: recorded draws must come out for ever."""
    assert raw_words(7, "iteration=3/propose", "categories", 2) == (
        6615378862165535561,
        177101756561115241,
    )
    drawn = draw(Draw(PATH, "categories", 7, (1.0, 2.0, 3.0, 4.0), 10))
    assert drawn.indices == (2, 0, 2, 0, 3, 1, 1, 2, 3, 3)


def test_inverse_cdf_by_hand() -> None:
    # Weights 1, 0, 3: a word below a quarter of 2**64 gives 0, every other one 2; index 1 has no probability.
    quarter = 2**62
    assert [inverse_cdf((1, 0, 3), word) for word in (0, quarter - 1, quarter, 2**64 - 1)] == [0, 0, 2, 2]


def test_all_zero_weights_mean_uniform() -> None:
    assert integer_weights((0.0, -0.0, 0.0)) == (1, 1, 1)


@given(weights_lists)
def test_integer_weights_keep_the_exact_ratio(weights: list[float]) -> None:
    whole = integer_weights(weights)
    total = sum(Fraction(weight) for weight in weights)
    for weight, integer in zip(weights, whole, strict=True):
        expected = Fraction(weight) / total if total else Fraction(1, len(weights))
        assert Fraction(integer, sum(whole)) == expected


@given(weights_lists, st.integers(0, 2**64 - 1))
def test_inverse_cdf_agrees_with_rational_arithmetic(weights: list[float], word: int) -> None:
    whole = integer_weights(weights)
    place = Fraction(word, 2**64)
    cumulative = [Fraction(sum(whole[: i + 1]), sum(whole)) for i in range(len(whole))]
    assert inverse_cdf(whole, word) == next(i for i, mass in enumerate(cumulative) if mass > place)


def test_frequencies_follow_the_weights() -> None:
    """10,000 draws: every count within four standard deviations of its expectation."""
    weights, count = (0.1, 0.0, 0.2, 0.7), 10_000
    indices = draw(Draw(PATH, "test", 0, weights, count)).indices
    for index, weight in enumerate(weights):
        assert abs(indices.count(index) - count * weight) <= 4 * (count * weight * (1 - weight)) ** 0.5


def test_seed_path_and_purpose_all_matter_and_a_prefix_does_not() -> None:
    base = Draw(PATH, "a", 0, (1.0,) * 1000, 20)
    others = [Draw(PATH, "a", 1, base.weights, 20), Draw(PATH, "b", 0, base.weights, 20)]
    others.append(Draw(PATH / "x", "a", 0, base.weights, 20))
    assert len({draw(effect).indices for effect in (base, *others)}) == 4
    assert draw(Draw(PATH, "a", 0, base.weights, 5)).indices == draw(base).indices[:5]


@pytest.mark.parametrize("weight", [-1e-300, float("nan"), float("inf"), float("-inf")])
def test_impossible_weights_are_refused(weight: float) -> None:
    with pytest.raises(ValueError, match="weight 1 is"):
        draw(Draw(PATH, "a", 0, (1.0, weight)))


def test_nothing_to_draw_from_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one weight"):
        draw(Draw(PATH, "a", 0, ()))
    with pytest.raises(ValueError, match="zero or more"):
        draw(Draw(PATH, "a", 0, (1.0,), -1))


def test_drawing_never_imports_jax() -> None:
    code = "import sys, engine.draws; sys.exit('jax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
