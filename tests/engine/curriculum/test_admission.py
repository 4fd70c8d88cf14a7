"""Admission, mutation and matching: worked by hand, and against slow references."""

from __future__ import annotations

import itertools
import struct
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.curriculum.admission import best_mutant, chance_without_progress, learned, mutation_weights, success_rate
from engine.curriculum.matching import cosine, nearest, words
from ledger.vocabulary.body import Data
from ledger.vocabulary.note import Rate

counts = st.integers(0, 12).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))).map(lambda c: Rate(*c))


def test_admission_worked_by_hand() -> None:
    """tau = 0.05 (section 2.3): 3/60 is exactly one twentieth above 0/60 and passes; 2/60 does not."""
    assert learned(Rate(0, 60), Rate(3, 60), "0.05")
    assert not learned(Rate(0, 60), Rate(2, 60), "0.05")
    assert learned(Rate(1, 20), Rate(2, 20), "0.05"), "0.10 - 0.05 is 0.05 exactly, though not in floats"
    assert not learned(Rate(5, 20), Rate(1, 20), "0.05")
    assert learned(Rate(0, 0), Rate(1, 20), "0.05"), "no episode counts as rate 0"


def test_false_admission_worked_by_hand() -> None:
    """One episode each, one success in all: p = 1/2; passing needs 0 then 1, which has probability 1/4."""
    assert chance_without_progress(Rate(0, 1), Rate(1, 1), "0.05") == pytest.approx(0.25)
    assert chance_without_progress(Rate(0, 9), Rate(0, 9), "0.05") == 0.0
    assert chance_without_progress(Rate(0, 0), Rate(1, 9), "0.05") == 1.0


@given(counts, counts, st.sampled_from(["0.05", "0.2", "0", "1"]))
def test_false_admission_equals_enumeration(before: Rate, after: Rate, threshold: str) -> None:
    if not before.episodes or not after.episodes:
        return
    p = Fraction(before.successes + after.successes, before.episodes + after.episodes)

    def binomial(n: int, k: int) -> Fraction:
        ways = len(list(itertools.combinations(range(n), k)))
        return ways * p**k * (1 - p) ** (n - k)

    total = sum(
        binomial(before.episodes, a) * binomial(after.episodes, b)
        for a in range(before.episodes + 1)
        for b in range(after.episodes + 1)
        if learned(Rate(a, before.episodes), Rate(b, after.episodes), threshold)
    )
    assert chance_without_progress(before, after, threshold) == pytest.approx(float(total), abs=1e-12)


@given(st.lists(counts, min_size=1, max_size=8))
def test_mutation_weights_follow_one_minus_rho(rates: list[Rate]) -> None:
    """P(k) proportional to 1 - rho_k (section 2.4)."""
    weights = mutation_weights(rates)
    assert all(weight >= 0 for weight in weights)
    assert sum(weights) > 0
    if any(success_rate(rate) < 1 for rate in rates):
        assert weights == tuple(float(1 - success_rate(rate)) for rate in rates)
    else:
        assert set(weights) == {1.0}


def test_mutation_weights_worked_by_hand() -> None:
    assert mutation_weights([Rate(1, 4), Rate(4, 4), Rate(0, 0)]) == (0.75, 0.0, 1.0)
    assert mutation_weights([Rate(4, 4), Rate(2, 2)]) == (1.0, 1.0)


@given(counts, st.lists(counts, max_size=6))
def test_the_first_of_the_best_mutants_replaces_only_if_strictly_better(parent: Rate, mutants: list[Rate]) -> None:
    best = best_mutant(parent, mutants)
    rates = [success_rate(rate) for rate in mutants]
    if best is None:
        assert all(rate <= success_rate(parent) for rate in rates)
    else:
        assert rates[best] > success_rate(parent)
        assert rates[best] == max(rates)
        assert best == rates.index(max(rates))


def vector(*values: float) -> Data:
    return Data(struct.pack(f"<{len(values)}f", *values))


def test_nearest_takes_the_first_of_equals() -> None:
    east, north, zero = vector(1, 0), vector(0, 1), vector(0, 0)
    assert nearest(vector(2, 0), [north, east, east]) == (1, pytest.approx(1.0))
    assert cosine(east, north) == 0.0
    assert cosine(east, zero) == 0.0
    with pytest.raises(ValueError, match="no skill"):
        nearest(east, [])
    with pytest.raises(ValueError, match="components"):
        cosine(east, vector(1, 0, 0))


@pytest.mark.parametrize(
    ("name", "text"),
    [("FetchFlour", "fetch flour"), ("FETCH_FLOUR", "fetch flour"), ("fetch_flour", "fetch flour"), ("Bake", "bake")],
)
def test_names_read_as_words(name: str, text: str) -> None:
    assert words(name) == text
