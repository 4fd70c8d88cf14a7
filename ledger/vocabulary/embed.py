"""Embed: vectors for texts, recorded so that a replay never needs the embedding model."""

from __future__ import annotations

from attrs import frozen

from ledger.vocabulary.body import Data
from ledger.vocabulary.effect import Effect


@frozen
class Embedded:
    """One unit-length vector per text: ``dimensions`` little-endian float32 values each."""

    dimensions: int
    vectors: tuple[Data, ...]


@frozen
class Embed(Effect[Embedded]):
    """Embed each text with the named model."""

    model: str
    texts: tuple[str, ...]
