"""Draw: host randomness, keyed by run seed and path."""

from __future__ import annotations

from attrs import field, frozen

from ledger.vocabulary.comparison import CLOSE, compared
from ledger.vocabulary.effect import Effect


@frozen
class Drawn:
    """Indices into the weights, in the order drawn."""

    indices: tuple[int, ...]


@frozen
class Draw(Effect[Drawn]):
    """Draw ``count`` indices with replacement, with probabilities proportional to ``weights``.

    ``purpose`` says in a word what is drawn. All weights zero means uniform.
    """

    purpose: str
    seed: int
    weights: tuple[float, ...] = field(metadata=compared(CLOSE))
    count: int = 1
