"""Interquartile means over seeds and skills, with bootstrap intervals.

The interquartile mean (IQM) of n values is the mean of what is left after the n // 4 lowest and the n // 4 highest
(Agarwal et al., "Deep Reinforcement Learning at the Edge of the Statistical Precipice", NeurIPS 2021). Seeds are what
is drawn again by the bootstrap, each with all of its skills: the skills of a seed share one agent and are not
independent of one another. Arms are compared by drawing the same seeds for both.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from attrs import frozen
from scipy.stats import trim_mean

RESAMPLES = 10_000
SEED = 0
LEVEL = 0.95


@frozen
class Estimate:
    """A value with its interval."""

    value: float
    low: float
    high: float


def iqm(values: np.ndarray) -> float:
    """The interquartile mean of all values, whatever their shape."""
    return float(trim_mean(values, 0.25, axis=None))


def difference_of_iqms(pairs: np.ndarray) -> float:
    """IQM of the first arm minus IQM of the second; ``pairs [seeds, 2, …]``."""
    return iqm(pairs[:, 0]) - iqm(pairs[:, 1])


def estimate(
    values: np.ndarray,
    statistic: Callable[[np.ndarray], float] = iqm,
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    level: float = LEVEL,
) -> Estimate:
    """The statistic and its percentile bootstrap interval; the first axis of ``values`` is the seeds.

    Deterministic: the draws depend on ``seed`` and the number of seeds only.

    Raises:
        ValueError: if there are no values.
    """
    count = len(values)
    if not count or not values.size:
        raise ValueError("nothing to estimate from: no seed has a value")
    draws = np.random.Generator(np.random.Philox(key=seed)).integers(0, count, (resamples, count))
    rows, places = np.unique(np.sort(draws, axis=1), axis=0, return_inverse=True)
    drawn = np.array([statistic(values[row]) for row in rows])[places.ravel()]
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    return Estimate(statistic(values), float(low), float(high))
