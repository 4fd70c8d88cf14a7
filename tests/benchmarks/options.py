"""What a run of the benchmarks was asked for."""

from __future__ import annotations

from collections.abc import Callable

from attrs import frozen


@frozen
class Options:
    """The peer's checkout, measurements of each side, networks for figures that have several, where to report."""

    peer: str
    pairs: int
    networks: tuple[str, ...]
    say: Callable[[str], None]


SKILLS = 10
"""Size of the archive wherever it is not what is measured."""
