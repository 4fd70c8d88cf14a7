"""Compiled functions that are kept from effect to effect, by what they were compiled for."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any

import jax
from attrs import define, field

from engine.train.predicates import Predicates


@define
class Compiled:
    """At most ``limit`` functions; the least recently used are dropped.

    A function with predicates depends on its conditions and on capacities. One that was compiled for more conditions
    serves as well, with the same bits: the tables point past those that nobody asks about. One of other capacities does
    not: a draw over more rows, masked or not, takes other random numbers.
    """

    limit: int
    _functions: OrderedDict[Hashable, tuple[Any, Predicates | None]] = field(factory=OrderedDict)

    def get(self, key: Hashable, build: Callable[[], Callable[..., Any]]) -> Any:
        """The function of ``key``."""
        if key not in self._functions:
            self._functions[key] = (jax.jit(build()), None)
        return self._used(key)[0]

    def serving(
        self, capacities: Hashable, wanted: Predicates, build: Callable[[Predicates], Callable[..., Any]]
    ) -> tuple[Any, Predicates]:
        """A function for ``wanted`` and where it computes them: of those that serve the one with fewest conditions.

        Of several the most recently used. If there is none, it is built for exactly the conditions that are wanted, so
        that what a fresh process compiles depends on the effect alone.
        """
        found = []
        for key, (_, held) in reversed(self._functions.items()):
            if held is not None and key == (capacities, held.key) and (served := held.serving(wanted)) is not None:
                found.append((held.always, key, served))
        if found:
            _, key, served = min(found, key=lambda each: each[0])
            return self._used(key)[0], served
        key = (capacities, wanted.key)
        self._functions[key] = (jax.jit(build(wanted)), wanted)
        return self._used(key)[0], wanted

    def _used(self, key: Hashable) -> tuple[Any, Predicates | None]:
        self._functions.move_to_end(key)
        while len(self._functions) > self.limit:
            self._functions.popitem(last=False)
        return self._functions[key]
