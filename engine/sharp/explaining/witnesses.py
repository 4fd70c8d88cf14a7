"""Witnesses: how often each condition of a program holds on sampled states, and two states that show its boundary.

The witness for true is the first transition at which a condition has just become true: it would not hold if the
previous state had stayed as it was. The witness for false is, of all sampled transitions at which the condition does
not hold, the one that differs from the first in the fewest fields that the condition reads (then in the fewest elements
of these, then of all fields, then the first), so that what is different between the two is what decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import jax
import numpy as np
from attrs import frozen

from engine.sharp.emit import predicates
from engine.sharp.explaining.readings import Input, Reading, inputs, leaf, leaves, readings
from engine.sharp.graph import Node
from engine.sharp.program import CompiledProgram
from engine.sharp.sampled import SampledViews
from engine.worlds.protocol import View
from engine.worlds.schema import Schema

SUCCESS = "success"
Where = Literal["visited", "reset"]


@frozen(eq=False)
class Witness:
    """One sampled transition: views of a single state each, and the fields that the condition reads.

    ``where`` and ``index`` say which: a transition by its number, or a reset, whose previous state is itself. ``fresh``
    tells whether the condition became true at this very transition. ``apart`` names the fields, as ``(state, path)``,
    that differ from the witness for true; empty for that one itself.
    """

    where: Where
    index: int
    fresh: bool
    state: View
    previous: View
    readings: tuple[Reading, ...]
    apart: tuple[Input, ...]


@frozen(eq=False)
class Truth:
    """How often a condition holds, and witnesses for both values where there are any.

    ``name`` is ``success`` or that of a condition of ``requires``; ``prerequisite`` is what stands beside it there.
    """

    name: str
    prerequisite: str | None
    visited: int
    visited_true: int
    resets: int
    resets_true: int
    when_true: Witness | None
    when_false: Witness | None


@frozen(eq=False)
class _Values:
    """Values of every condition, ``success`` first: bool, shape ``(rows, 1 + k)``."""

    visited: np.ndarray
    stayed: np.ndarray
    resets: np.ndarray


def truths(program: CompiledProgram, schema: Schema, states: SampledViews) -> tuple[Truth, ...]:
    """Of ``success`` and of each condition in order. Depends on the program and the states only."""
    values = _values(program, schema, states)
    roots = (program.success, *program.conditions)
    names = (SUCCESS, *(each.condition for each in program.requires))
    prerequisites = (None, *(each.prerequisite for each in program.requires))
    return tuple(
        _Chooser(root, schema, states, column, values).truth(name, prerequisite)
        for column, (root, name, prerequisite) in enumerate(zip(roots, names, prerequisites, strict=True))
    )


def _values(program: CompiledProgram, schema: Schema, states: SampledViews) -> _Values:
    evaluate = jax.jit(jax.vmap(predicates([program], schema)))

    def table(state: View, previous: View) -> np.ndarray:
        success, conditions = evaluate(state, previous)
        return np.concatenate([success, np.asarray(conditions)[:, 0, : len(program.conditions)]], axis=1)

    return _Values(
        visited=table(states.current, states.previous),
        stayed=table(states.previous, states.previous),
        resets=table(states.resets, states.resets),
    )


class _Chooser:
    """Chooses the witnesses of one condition."""

    def __init__(self, root: Node, schema: Schema, states: SampledViews, column: int, values: _Values) -> None:
        self.schema = schema
        self.states = states
        self.wanted = inputs([root], schema)
        self.holds: dict[Where, np.ndarray] = {"visited": values.visited[:, column], "reset": values.resets[:, column]}
        self.stayed = values.stayed[:, column]

    def truth(self, name: str, prerequisite: str | None) -> Truth:
        """Counts and witnesses."""
        when_true = self._true()
        visited, resets = self.holds["visited"], self.holds["reset"]
        return Truth(
            name=name,
            prerequisite=prerequisite,
            visited=len(visited),
            visited_true=int(visited.sum()),
            resets=len(resets),
            resets_true=int(resets.sum()),
            when_true=when_true,
            when_false=self._false(when_true),
        )

    def _true(self) -> Witness | None:
        visited, resets = self.holds["visited"], self.holds["reset"]
        choices: tuple[tuple[Where, np.ndarray], ...] = (
            ("visited", visited & ~self.stayed),
            ("visited", visited),
            ("reset", resets),
        )
        for where, chosen in choices:
            if chosen.any():
                return self._witness(where, int(np.argmax(chosen)), None)
        return None

    def _false(self, other: Witness | None) -> Witness | None:
        places: tuple[Where, ...] = ("visited", "reset")
        for where in places:
            rows = np.flatnonzero(~self.holds[where])
            if not rows.size:
                continue
            if other is not None:
                index = self._nearest(where, rows, other)
            else:
                index = self._changing(rows) if where == "visited" else int(rows[0])
            return self._witness(where, index, other)
        return None

    def _nearest(self, where: Where, rows: np.ndarray, other: Witness) -> int:
        """The row that differs least from ``other``."""
        apart = np.stack([self._differing(where, rows, each, other) for each in self.wanted])
        measures = np.stack([(apart > 0).sum(axis=0), apart.sum(axis=0)])
        rows = rows[(measures == _least(measures)).all(axis=0)]
        everywhere = [(which, path) for path in leaves(self.schema.state) for which in ("state", "previous")]
        return int(rows[np.argmin(sum(self._differing(where, rows, each, other) for each in everywhere))])

    def _changing(self, rows: np.ndarray) -> int:
        """The first transition at which a field that is read changes; the first of all if there is none."""
        for index in rows:
            here = [leaf(self.states.current, path)[index] for _, path in self.wanted]
            there = [leaf(self.states.previous, path)[index] for _, path in self.wanted]
            if not all(np.array_equal(*each) for each in zip(here, there, strict=True)):
                return int(index)
        return int(rows[0])

    def _differing(self, where: Where, rows: np.ndarray, wanted: Input, other: Witness) -> np.ndarray:
        """In how many elements of one field each row differs from ``other``: int64, shape ``(rows,)``."""
        which, path = wanted
        here = np.asarray(leaf(self._view(where, which), path))[rows]
        there = np.asarray(leaf(other.state if which == "state" else other.previous, path))
        return np.asarray((here != there[None]).reshape(rows.size, -1).sum(axis=1))

    def _view(self, where: Where, which: str) -> View:
        if where == "reset":
            return self.states.resets
        return self.states.current if which == "state" else self.states.previous

    def _witness(self, where: Where, index: int, other: Witness | None) -> Witness:
        state, previous = (_row(self._view(where, which), index) for which in ("state", "previous"))
        fresh = where == "visited" and bool(self.holds[where][index]) and not bool(self.stayed[index])
        return Witness(
            where=where,
            index=index,
            fresh=fresh,
            state=state,
            previous=previous,
            readings=readings(self.wanted, self.schema, state, previous),
            apart=() if other is None else _apart(self.wanted, state, previous, other),
        )


def _apart(wanted: Sequence[Input], state: View, previous: View, other: Witness) -> tuple[Input, ...]:
    found = []
    for which, path in wanted:
        mine = leaf(state if which == "state" else previous, path)
        others = leaf(other.state if which == "state" else other.previous, path)
        if not np.array_equal(mine, others):
            found.append((which, path))
    return tuple(found)


def _least(measures: np.ndarray) -> np.ndarray:
    """The smallest column, in the order of tuples, as a column."""
    return measures[:, np.lexsort(measures[::-1])[:1]]


def _row(view: View, index: int) -> View:
    row: View = jax.tree.map(lambda each: np.asarray(each)[index], view)
    return row
