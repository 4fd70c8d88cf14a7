"""Host randomness: draws keyed by run seed and path, exact on every machine, without any numerical library's sampler.

Only a counter-based bit generator's raw stream is taken from numpy (its stream is promised never to change); the
inverse of the cumulative distribution is integer arithmetic of our own, so no rounding can decide a draw. This module
imports no JAX: recomputing recorded decisions needs none.
"""

from __future__ import annotations

import hashlib
import math
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

import numpy as np

from ledger.vocabulary.draw import Draw, Drawn


def raw_words(seed: int, path: str, purpose: str, count: int) -> tuple[int, ...]:
    """``count`` independent 64-bit words: Philox-4x64 keyed by the first 128 bits of SHA-256(seed, path, purpose)."""
    text = f"{seed}\n{path}\n{purpose}".encode("utf-8", "surrogatepass")
    key = int.from_bytes(hashlib.sha256(text).digest()[:16], "little")
    return tuple(int(word) for word in np.random.Philox(key=key).random_raw(count))


def integer_weights(weights: Sequence[float]) -> tuple[int, ...]:
    """Integers in exactly the ratio of ``weights``; all ones if every weight is zero.

    Raises:
        ValueError: if there is no weight, or one is negative, NaN or infinite.
    """
    if not weights:
        raise ValueError("nothing to draw from: give at least one weight")
    for index, weight in enumerate(weights):
        if not math.isfinite(weight) or weight < 0:
            raise ValueError(
                f"weight {index} is {weight!r}: a draw weight must be a finite number that is not negative"
            )
    ratios = [float(weight).as_integer_ratio() for weight in weights]
    # A float's denominator is a power of two, so the largest one is common to all.
    common = max(denominator for _, denominator in ratios)
    scaled = tuple(numerator * (common // denominator) for numerator, denominator in ratios)
    return scaled if any(scaled) else (1,) * len(scaled)


def inverse_cdf(weights: Sequence[int], word: int) -> int:
    """The index at which the cumulative weight first exceeds ``word / 2**64`` of the total."""
    cumulative = list(accumulate(weights))
    return bisect_right(cumulative, (word * cumulative[-1]) >> 64)


def draw(effect: Draw) -> Drawn:
    """Perform a draw: ``count`` indices with replacement, each with probability weight over sum of weights.

    Raises:
        ValueError: as ``integer_weights``, and if ``count`` is negative.
    """
    if effect.count < 0:
        raise ValueError(f"cannot draw {effect.count} times: give a count of zero or more")
    weights = integer_weights(effect.weights)
    words = raw_words(effect.seed, effect.path.text, effect.purpose, effect.count)
    return Drawn(tuple(inverse_cdf(weights, word) for word in words))
