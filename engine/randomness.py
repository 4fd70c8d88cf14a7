"""Device randomness: every key is derived from the run seed and a step's path, never carried from step to step."""

from __future__ import annotations

import hashlib

import jax
import numpy as np

from ledger.vocabulary.path import Path

IMPLEMENTATION = "threefry2x32"
"""Pinned: JAX's default may change between releases, and every recorded number rests on it."""

_WORD = 0xFFFFFFFF


def words(path: Path, *labels: str | int) -> tuple[int, ...]:
    """Eight 32-bit words: SHA-256 of the path's text and the labels, which ``#`` sets apart (no path holds one)."""
    text = "#".join((path.text, *(str(label) for label in labels)))
    return tuple(int(word) for word in np.frombuffer(hashlib.sha256(text.encode()).digest(), dtype="<u4"))


def key(seed: int, path: Path, *labels: str | int) -> jax.Array:
    """The typed key of a step: the run's key with the path folded in, shape ``()``.

    Raises:
        ValueError: if the seed is negative.
    """
    if seed < 0:
        raise ValueError(f"seed {seed} is negative: give a seed of zero or more")
    result = jax.random.key(np.uint32(seed & _WORD), impl=IMPLEMENTATION)
    rest = seed >> 32
    while rest:
        result = jax.random.fold_in(result, np.uint32(rest & _WORD))
        rest >>= 32
    for word in words(path, *labels):
        result = jax.random.fold_in(result, np.uint32(word))
    return result
