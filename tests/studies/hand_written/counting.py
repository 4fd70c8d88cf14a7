"""Flat chains in the project's own evaluation: a world that counts how far each chain has come.

A flat reward program needs memory: which step of its chain is active. The evaluation has none, as T needs none.
Here the world carries it: beside its own state, one position per chain, which moves by the rule of the language
(``engine.sharp.other_forms.flat.advance``). A flat program is then a skill whose condition number j is "the position
is beyond j" and whose prerequisite number j is step j, so that T gives the active step, with the queue of episodes, the
keys, the patience and the judgement of every other evaluation.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from attrs import evolve, frozen

from engine.sharp.other_forms.flat import CompiledFlat, advance, parse_flat
from engine.train.predicates import Predicates, compile_programs
from engine.worlds.protocol import View, World
from engine.worlds.schema import Schema
from ledger.vocabulary.evaluate import Evaluate
from ledger.vocabulary.vet import Known

POSITIONS = "positions of chains"
"""The view's extra member; no program of the language can name it."""


@frozen
class Chains:
    """The flat programs of an evaluation: ``steps`` are rows of the archive, ``sources`` the programs' texts."""

    sources: tuple[str, ...]
    steps: tuple[tuple[int, ...], ...]
    goals: tuple[str, ...]

    @property
    def digest(self) -> str:
        """Identifies what is compiled."""
        return hashlib.sha256(repr((self.sources, self.steps, self.goals)).encode()).hexdigest()


def chains_of(effect: Evaluate, schema: Schema) -> Chains | None:
    """The chains, if the targets are flat reward programs; ``None`` if they are skills.

    Raises:
        ValueError: if only some of them are, or if a target's prerequisites are not the steps before its last.
    """
    archive = tuple(Known(skill.name, "", "", skill.requires) for skill in effect.archive)
    rows = {skill.name: row for row, skill in enumerate(effect.archive)}
    parsed = [parse_flat(target.skill.source.text, schema, archive) for target in effect.targets]
    flat = [each for each in parsed if isinstance(each, CompiledFlat)]
    if not flat:
        return None
    if len(flat) < len(parsed):
        raise ValueError("either all targets of an evaluation are flat reward programs, or none is")
    for target, program in zip(effect.targets, flat, strict=True):
        if (*target.skill.requires, target.skill.name) != program.chain:
            raise ValueError(f"{target.skill.name}: its prerequisites are not the steps before the last of its chain")
    return Chains(
        tuple(target.skill.source.text for target in effect.targets),
        tuple(tuple(rows[name] for name in program.chain) for program in flat),
        tuple(skill.source.text for skill in effect.archive),
    )


class Counted(NamedTuple):
    """The world's own state, and the position in each chain, int32 ``[chains]``."""

    inner: Any
    positions: jax.Array


class Counting:
    """A world that behaves as ``world`` and counts; it meets the protocol of worlds."""

    def __init__(self, world: World, chains: Chains) -> None:
        self.world, self.chains = world, chains
        self.name, self.schema = world.name, world.schema
        self.num_actions, self.observation_size = world.num_actions, world.observation_size
        self.achievement_names = world.achievement_names
        self.goals = compile_programs(chains.goals, world.schema)
        longest = max(map(len, chains.steps))
        places = [[self.goals.success[row] for row in steps] for steps in chains.steps]
        self._places = np.array([each + [each[-1]] * (longest - len(each)) for each in places], np.int32)
        self._lengths = np.array([len(steps) for steps in chains.steps], np.int32)

    def reset(self, key: jax.Array) -> Counted:
        """A fresh episode: every chain at its first step."""
        return Counted(self.world.reset(key), jnp.zeros(len(self._lengths), jnp.int32))

    def step(self, key: jax.Array, state: Counted, action: jax.Array) -> tuple[Counted, jax.Array, jax.Array]:
        """The world's own step; then each chain moves on if its active step succeeded."""
        after, died, timed_out = self.world.step(key, state.inner, action)
        held = self.goals.evaluate(self.world.view(after), self.world.view(state.inner))
        active = jnp.asarray(self._places)[jnp.arange(len(self._lengths)), state.positions]
        fired = held[active] & ~(died | timed_out)
        return Counted(after, advance(state.positions, fired, jnp.asarray(self._lengths))), died, timed_out

    def observe(self, state: Counted) -> jax.Array:
        """What the agent sees, which is nothing of the positions."""
        return self.world.observe(state.inner)

    def view(self, state: Counted) -> View:
        """The world's own view, with the positions beside it."""
        return {**self.world.view(state.inner), POSITIONS: state.positions}

    def achievements(self, state: Counted) -> jax.Array:
        """The world's own flags."""
        return self.world.achievements(state.inner)

    def compile(self, sources: Sequence[str], schema: Schema) -> Predicates:
        """As ``compile_programs``, for skills and for the flat programs of ``chains``."""
        number = {source: index for index, source in enumerate(self.chains.sources)}
        inner = compile_programs([source for source in sources if source not in number], schema)
        starts = np.cumsum([inner.always, *(self._lengths - 1)])
        chain = np.repeat(np.arange(len(self._lengths)), self._lengths - 1)
        beyond = np.concatenate([np.arange(length - 1, dtype=np.int32) for length in self._lengths])
        own = dict(zip((source for source in sources if source not in number), range(len(sources)), strict=False))
        success, conditions = [], []
        for source in sources:
            index = number.get(source)
            if index is None:
                success.append(inner.success[own[source]])
                conditions.append(inner.conditions[own[source]])
            else:
                goal = self.chains.goals[self.chains.steps[index][-1]]
                success.append(inner.success[own[goal]])
                conditions.append(tuple(range(int(starts[index]), int(starts[index + 1]))))

        def evaluate(view: View, previous: View) -> jax.Array:
            positions: jax.Array = view[POSITIONS]
            return jnp.concatenate([inner.evaluate(view, previous), positions[chain] > beyond])

        return evolve(
            inner,
            key=f"{inner.key} {self.chains.digest}",
            evaluate=evaluate,
            success=tuple(success),
            conditions=tuple(conditions),
            always=int(starts[-1]),
        )
