"""What every effect is: a request that a loop yields, with the type of the outcome it is answered with."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, Generic, TypeVar

from attrs import frozen

from ledger.vocabulary.path import Path

R = TypeVar("R")


@frozen
class Effect(Generic[R]):
    """A request of a loop; ``R`` is the type of its outcome. Every input is a field: performers see nothing else."""

    path: Path


@frozen
class Together(Generic[R]):
    """A group of effects that may be performed in any order; their steps are kept in the declared one."""

    effects: tuple[Effect[R], ...]


Loop = Generator[Any, Any, R]
"""A generator of effects that returns an ``R``."""


def do(effect: Effect[R]) -> Loop[R]:
    """Yield one effect; ``yield from do(...)`` keeps the outcome's type, which a bare ``yield`` would lose."""
    outcome: R = yield effect
    return outcome


def together(effects: tuple[Effect[R], ...]) -> Loop[tuple[R, ...]]:
    """Yield a group of effects and return their outcomes in the declared order."""
    if not effects:
        return ()
    outcomes: tuple[R, ...] = yield Together(effects)
    return outcomes


def side_by_side(loops: tuple[Loop[R], ...]) -> Loop[tuple[R, ...]]:
    """Run several loops in lockstep: each round yields the pending effects of all of them as one group.

    Lockstep rather than free running keeps the order of steps a function of the loops alone, whatever finishes first.
    """
    results: dict[int, R] = {}
    pending: dict[int, Any] = {}

    def advance(index: int, value: Any) -> None:
        try:
            pending[index] = loops[index].send(value)
        except StopIteration as stop:
            results[index] = stop.value

    for index in range(len(loops)):
        advance(index, None)
    while pending:
        waiting, pending = pending, {}
        effects: list[Effect[Any]] = []
        for item in waiting.values():
            effects.extend(item.effects if isinstance(item, Together) else (item,))
        outcomes = iter((yield Together(tuple(effects))))
        for index, item in waiting.items():
            if isinstance(item, Together):
                advance(index, tuple(next(outcomes) for _ in item.effects))
            else:
                advance(index, next(outcomes))
    return tuple(results[index] for index in range(len(loops)))
