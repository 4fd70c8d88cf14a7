"""Nearest skill of a text in embedding space (paper 000, section 3: achievement names against skill names)."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence

from ledger.vocabulary.body import Data


def floats(vector: Data) -> tuple[float, ...]:
    """The components of a little-endian float32 vector.

    Raises:
        ValueError: if the byte count is no multiple of four.
    """
    if len(vector.raw) % 4:
        raise ValueError(f"a float32 vector has 4 bytes per component, not {len(vector.raw)} in all")
    return struct.unpack(f"<{len(vector.raw) // 4}f", vector.raw)


def cosine(left: Data, right: Data) -> float:
    """Cosine similarity, summed exactly (``fsum``) so that it is the same on every machine; 0 for a zero vector."""
    a, b = floats(left), floats(right)
    if len(a) != len(b):
        raise ValueError(f"vectors of {len(a)} and {len(b)} components cannot be compared")
    norm = math.sqrt(math.fsum(x * x for x in a)) * math.sqrt(math.fsum(y * y for y in b))
    return math.fsum(x * y for x, y in zip(a, b, strict=True)) / norm if norm else 0.0


def nearest(text: Data, candidates: Sequence[Data]) -> tuple[int, float]:
    """Index and similarity of the most similar candidate; the first of equals.

    Raises:
        ValueError: if there are no candidates.
    """
    if not candidates:
        raise ValueError("there is no skill to match against")
    similarities = [cosine(text, candidate) for candidate in candidates]
    index = max(range(len(candidates)), key=lambda i: (similarities[i], -i))
    return index, similarities[index]


def words(name: str) -> str:
    """A CamelCase or SNAKE_CASE name as plain lower-case words: ``MakeWoodPickaxe`` reads ``make wood pickaxe``."""
    spaced = "".join(f" {c}" if c.isupper() and i and not name[i - 1].isupper() else c for i, c in enumerate(name))
    return " ".join(spaced.replace("_", " ").lower().split())
