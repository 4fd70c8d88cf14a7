"""The conditions of a set of programs as one function, in an order that depends on their meanings alone.

Conditions that mean the same are computed once. Rewiring prerequisites, reordering conditions and renaming skills change
index tables, not this function, so nothing is compiled again for them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import jax
from attrs import frozen

from engine.worlds.protocol import View
from engine.worlds.schema import Schema

Evaluate = Callable[[View, View], tuple[jax.Array, jax.Array]]


@frozen
class Predicates:
    """``evaluate(view, previous_view)`` gives success ``bool [p]`` and conditions ``bool [q]``, each distinct one once.

    ``success[i]`` is the place of program i's success condition, ``conditions[i]`` those of its conditions in order;
    ``always`` (= q) is the place of a condition that holds always. ``key`` identifies what is compiled.
    """

    key: str
    evaluate: Evaluate
    success: tuple[int, ...]
    conditions: tuple[tuple[int, ...], ...]
    always: int


Compile = Callable[[Sequence[str], Schema], Predicates]
"""From the sources of programs, in order, to their predicates."""
