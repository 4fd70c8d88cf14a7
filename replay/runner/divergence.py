"""Divergence between a recording and what is recomputed from it: typed data, printed only at the edge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from enum import StrEnum

from attrs import field, frozen


class DivergenceClass(StrEnum):
    """What kind of thing differs; each class has its own exit code."""

    INTEGRITY = "integrity"
    ENVIRONMENT = "environment"
    PROMPT = "prompt"
    PROGRAM = "program"
    DECISION = "decision"
    STRUCTURE = "structure"
    NUMERIC = "numeric"


@frozen
class Divergence:
    """One difference: where, which field, what was recorded and what came out now (both as short text).

    ``diff`` is a unified diff by prompt part, or empty. ``side`` says whether the effect that the loop yields or the
    outcome that a performer computes differs.
    """

    kind: DivergenceClass
    sequence: int | None
    path: str
    side: str
    field: str
    recorded: str
    recomputed: str
    diff: str = ""

    def line(self) -> str:
        """One line for people."""
        at = f" (sequence {self.sequence})" if self.sequence is not None else ""
        what = f"{self.side}.{self.field}" if self.field else self.side
        return f"{self.kind.value}: {self.path}{at}: {what}: recorded {self.recorded}, now {self.recomputed}"


@frozen
class DivergenceReport:
    """All differences of a replay, in order, with the earliest numeric one named: later ones may follow from it."""

    divergences: tuple[Divergence, ...] = field(default=())

    @property
    def totals(self) -> dict[str, int]:
        """Number of differences by class, in the order of the classes."""
        counts = Counter(each.kind for each in self.divergences)
        return {kind.value: counts[kind] for kind in DivergenceClass if counts[kind]}

    @property
    def earliest_numeric(self) -> Divergence | None:
        """The first numeric difference, upstream of whatever else differs after it."""
        return next((each for each in self.divergences if each.kind is DivergenceClass.NUMERIC), None)

    def of(self, *kinds: DivergenceClass) -> tuple[Divergence, ...]:
        """The differences of the given classes."""
        return tuple(each for each in self.divergences if each.kind in kinds)


class Stopped(Exception):
    """A replay stopped at a difference that its use does not carry on from."""

    def __init__(self, divergences: Sequence[Divergence]) -> None:
        self.divergences = tuple(divergences)
        super().__init__(self.divergences[0].line())
