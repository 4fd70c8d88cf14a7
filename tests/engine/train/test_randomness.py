"""Device keys: a function of seed, path and labels."""

from __future__ import annotations

import jax
import numpy as np
import pytest

from engine.randomness import key, words
from ledger.vocabulary.path import Path


def data(value: jax.Array) -> tuple[int, ...]:
    return tuple(int(word) for word in np.asarray(jax.random.key_data(value)))


def test_golden_key() -> None:
    """Pinned: every recorded training rests on it."""
    assert data(key(0, Path("a"))) == (1434527991, 3026815980)
    assert str(jax.random.key_impl(key(0, Path("a")))) == "threefry2x32"


def test_words_are_the_digest_of_the_path() -> None:
    # SHA-256 of "a" begins with the bytes ca 97 81 12 ca 1b bd ca; words are little-endian.
    assert words(Path("a"))[:2] == (0x128197CA, 0xCABD1BCA)
    assert len(words(Path("a"))) == 8


def test_every_part_matters() -> None:
    keys = [
        key(0, Path("a")),
        key(1, Path("a")),
        key(2**32, Path("a")),
        key(2**32 + 1, Path("a")),
        key(2**64, Path("a")),
        key(0, Path("b")),
        key(0, Path("a/b")),
        key(0, Path("a"), "b"),
        key(0, Path("a"), "b", 0),
        key(0, Path("a"), "b0"),
    ]
    assert len({data(value) for value in keys}) == len(keys)


def test_negative_seed_is_refused() -> None:
    with pytest.raises(ValueError, match="seed -1 is negative"):
        key(-1, Path("a"))
