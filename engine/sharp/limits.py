"""Budgets: counts only, so that a verdict never depends on the machine it was reached on."""

from __future__ import annotations

import math
from collections.abc import Sequence

from attrs import define, field, frozen

from engine.sharp.refusals import Refused


@frozen
class Limits:
    """What one program may use, and (last) what a whole archive may use after sharing; None is not counted.

    ``strict``: what no path reaches, and what prerequisites are called, is checked as well.
    """

    source_bytes: int = 32 * 1024
    nodes: int = 4_000
    depth: int = 40
    nesting: int = 100
    iterations: int = 4_096
    steps: int = 100_000
    elements: int = 65_536
    volume: int = 16_000_000
    operations: int = 8_192
    work: int = 1_000_000
    chain: int | None = None
    requirements: int | None = None
    name: int | None = None
    strict: bool = False
    archive_work: int = 20_000_000


MAX_RANK = 16
INT_MIN = -(2**31)
INT_MAX = 2**31 - 1
LARGEST = f"the largest is {INT_MAX:,}"

WHOLE_ARRAYS = "functions of whole arrays, such as (grid == x).any()"

MEANINGS = {
    "source_bytes": "bytes of source",
    "nodes": "nodes of the syntax tree",
    "depth": "levels of the syntax tree",
    "nesting": "nested evaluations, helpers included",
    "iterations": "loop iterations in total",
    "steps": "evaluated expressions, loops unrolled and helpers inlined",
    "elements": "elements of one value",
    "volume": "elements of all values made while compiling",
    "operations": "operations",
    "work": "elements × operations",
    "chain": "operations that rest on one another",
    "requirements": "requirements of one skill",
    "name": "characters of a name",
    "archive_work": "elements × operations of the whole archive",
}


@define
class Meter:
    """Counts what a compilation uses, by source line, and refuses at a limit."""

    limits: Limits
    line: int = 0
    iterations: int = 0
    steps: int = 0
    operations: int = 0
    work: int = 0
    volume: int = 0
    _work_by_line: dict[int, int] = field(factory=dict)
    _steps_by_line: dict[int, int] = field(factory=dict)
    _iterations_by_line: dict[int, int] = field(factory=dict)
    _volume_by_line: dict[int, int] = field(factory=dict)

    def step(self, count: int = 1) -> None:
        """An expression or statement is evaluated, or ``count`` items are visited."""
        self.steps += count
        self._steps_by_line[self.line] = self._steps_by_line.get(self.line, 0) + count
        if self.steps > self.limits.steps:
            raise self._over("steps", self._steps_by_line)

    def iterate(self, count: int) -> None:
        """A loop of ``count`` iterations begins."""
        self.iterations += count
        self._iterations_by_line[self.line] = self._iterations_by_line.get(self.line, 0) + count
        if self.iterations > self.limits.iterations:
            raise self._over("iterations", self._iterations_by_line)

    def operate(self, cost: int) -> None:
        """An operation of ``cost`` element operations is added."""
        self.operations += 1
        self.work += cost
        self._work_by_line[self.line] = self._work_by_line.get(self.line, 0) + max(cost, 1)
        if self.operations > self.limits.operations:
            raise self._over("operations", self._work_by_line)
        if self.work > self.limits.work:
            raise self._over("work", self._work_by_line)

    def rest(self, level: int) -> None:
        """An operation is added that rests on others, ``level`` of them in a chain, itself included."""
        if self.limits.chain is not None and level > self.limits.chain:
            reason = f"over the budget of {self.limits.chain:,} {MEANINGS['chain']}"
            raise Refused("budget", reason, WHOLE_ARRAYS)

    def hold(self, elements: int) -> None:
        """A value of ``elements`` elements is made."""
        self.fit(elements)
        self.volume += elements
        self._volume_by_line[self.line] = self._volume_by_line.get(self.line, 0) + elements
        if self.volume > self.limits.volume:
            raise self._over("volume", self._volume_by_line)

    def shape(self, shape: Sequence[int]) -> None:
        """A value of ``shape`` is made; an empty one has no elements, but axes all the same."""
        if len(shape) > MAX_RANK:
            raise Refused("budget", f"an array of {len(shape)} axes is over the budget of {MAX_RANK}")
        for size in shape:
            self.fit(size)
        self.hold(math.prod(shape))

    def fit(self, elements: int) -> None:
        """A value has ``elements`` elements."""
        if elements > self.limits.elements:
            raise Refused("budget", f"a value of {elements:,} elements is over the budget of {self.limits.elements:,}")

    def _over(self, name: str, by_line: dict[int, int]) -> Refused:
        line, _ = max(by_line.items(), key=lambda item: (item[1], -item[0]))
        allowed = getattr(self.limits, name)
        reason = f"over the budget of {allowed:,} {MEANINGS[name]}; the costliest line is {line}"
        return Refused("budget", reason, f"use {WHOLE_ARRAYS}, or fewer and shorter loops", line, 1)
