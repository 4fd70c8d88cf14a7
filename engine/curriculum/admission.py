"""Admission and mutation decisions of CODE-SHARP from integer counts (paper 000, sections 2.3 and 2.4)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from ledger.vocabulary.note import Rate


def success_rate(rate: Rate) -> Fraction:
    """rho = successes / episodes as an exact number; 0 before the first episode."""
    return Fraction(rate.successes, rate.episodes) if rate.episodes else Fraction(0)


def learned(before: Rate, after: Rate, threshold: str) -> bool:
    """Whether the success rate rose by at least ``threshold`` (tau = 0.05; section 2.3), compared exactly.

    Args:
        threshold: tau as a decimal text, so that 0.05 means one twentieth and not the nearest float.

    Raises:
        ValueError: if ``threshold`` is no decimal number.
    """
    return success_rate(after) - success_rate(before) >= Fraction(threshold)


def chance_without_progress(before: Rate, after: Rate, threshold: str) -> float:
    """Probability that a skill of unchanged success rate would have passed ``learned`` with these episode counts.

    The unchanged rate is taken to be the pooled one, (successes before + after) / (episodes before + after); both
    counts are independent binomials. Ours, not the paper's: shown beside every admission.
    """
    episodes = before.episodes + after.episodes
    if not before.episodes or not after.episodes:
        return 1.0
    rate = Fraction(before.successes + after.successes, episodes)
    first = _binomial(before.episodes, rate)
    second = _binomial(after.episodes, rate)
    tails = [0.0] * (after.episodes + 2)
    for count in range(after.episodes, -1, -1):
        tails[count] = tails[count + 1] + second[count]
    tau = Fraction(threshold)
    terms = []
    for count in range(before.episodes + 1):
        least = math.ceil((Fraction(count, before.episodes) + tau) * after.episodes)
        if least <= after.episodes:
            terms.append(first[count] * tails[max(0, least)])
    return min(1.0, math.fsum(terms))


def _binomial(trials: int, rate: Fraction) -> list[float]:
    hit, miss = rate.numerator, rate.denominator - rate.numerator
    whole = rate.denominator**trials
    return [float(Fraction(math.comb(trials, k) * hit**k * miss ** (trials - k), whole)) for k in range(trials + 1)]


def mutation_weights(rates: Sequence[Rate]) -> tuple[float, ...]:
    """P(k) proportional to 1 - rho_k (section 2.4); uniform when every rho is 1 (not stated in the paper)."""
    weights = [1 - success_rate(rate) for rate in rates]
    if not any(weights):
        return tuple(1.0 for _ in rates)
    return tuple(float(weight) for weight in weights)


def best_mutant(parent: Rate, mutants: Sequence[Rate]) -> int | None:
    """Index of the mutant that replaces its parent: the first of the highest rates, if strictly above the parent's.

    Section 2.4: the archive is updated in place if a mutation shows a higher success rate than the currently best.
    """
    best: int | None = None
    highest = success_rate(parent)
    for index, rate in enumerate(mutants):
        if success_rate(rate) > highest:
            best, highest = index, success_rate(rate)
    return best
