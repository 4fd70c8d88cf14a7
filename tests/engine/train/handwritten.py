"""Predicates written by hand for the corridor, in place of compiled programs: a source is the name of one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from attrs import frozen

from engine.agent.step import Step
from engine.train.predicates import Predicates
from engine.worlds.protocol import View
from engine.worlds.schema import Schema
from ledger.vocabulary.body import Body, Data
from ledger.vocabulary.train import Skill

Success = Callable[[View, View], jax.Array]
Condition = Callable[[View], jax.Array]

PROGRAMS: dict[str, tuple[Success, tuple[Condition, ...]]] = {
    "TakeKey": (lambda now, before: now["bag"]["keys"] > before["bag"]["keys"], ()),
    "OpenDoor": (
        lambda now, before: now["door_open"] & ~before["door_open"],
        (lambda now: now["bag"]["keys"] >= 1,),
    ),
    "LightLamp": (lambda now, before: now["lamp_lit"] & ~before["lamp_lit"], (lambda now: now["door_open"],)),
    "LampOnly": (lambda now, before: now["lamp_lit"] & ~before["lamp_lit"], ()),
    "LampBehindCell7": (lambda now, before: now["lamp_lit"] & ~before["lamp_lit"], (lambda now: now["position"] >= 7,)),
    "StandOnStart": (lambda now, before: now["position"] == 1, ()),
    "StandFar": (lambda now, before: now["position"] >= 4, (lambda now: now["position"] >= 2,)),
    "Always": (lambda now, before: jnp.bool_(True), ()),
    "Never": (lambda now, before: jnp.bool_(False), ()),
    "NeverWithoutDoor": (lambda now, before: jnp.bool_(False), (lambda now: now["door_open"],)),
    "NeverAimsFar": (lambda now, before: now["position"] >= 4, (lambda now: now["door_open"],)),
    "Cooled": (lambda now, before: now["warmth"] < before["warmth"], ()),
    "BackToStart": (lambda now, before: (now["position"] == 1) & (before["position"] > 2), ()),
}


def compile_handwritten(sources: Sequence[str], schema: Schema) -> Predicates:
    """As ``compile_programs``; every condition stands for itself."""
    del schema
    distinct = sorted(set(sources))
    starts = np.cumsum([0, *(1 + len(PROGRAMS[name][1]) for name in distinct)])
    place = {name: int(start) for name, start in zip(distinct, starts, strict=False)}

    def evaluate(now: View, before: View) -> jax.Array:
        held = []
        for name in distinct:
            success, conditions = PROGRAMS[name]
            held += [success(now, before), *(condition(now) for condition in conditions)]
        return jnp.stack(held)

    return Predicates(
        key=" ".join(distinct),
        evaluate=evaluate,
        success=tuple(place[name] for name in sources),
        conditions=tuple(tuple(place[name] + 1 + slot for slot in range(len(PROGRAMS[name][1]))) for name in sources),
        always=int(starts[-1]),
    )


def vector(name: str, dimensions: int = 8) -> Data:
    """A unit vector that depends on the name only."""
    values = np.random.Generator(np.random.Philox(key=sum(name.encode()))).normal(size=dimensions)
    return Data((values / np.linalg.norm(values)).astype("<f4").tobytes())


def skill(name: str, *requires: str, successes: int = 0, attempts: int = 0, source: str | None = None) -> Skill:
    """A skill whose program is ``PROGRAMS[source or name]``."""
    return Skill(name, Body(source or name), requires, vector(name), successes, attempts)


CHAIN = (skill("TakeKey"), skill("OpenDoor", "TakeKey"), skill("LightLamp", "OpenDoor"))
"""The corridor's three skills, each requiring the one before."""


@frozen
class Scripted:
    """A network that plays ``script[age]``, and ``script[-1]`` beyond its end; its value is 100 + active skill's row.

    An empty script plays every action with equal probability.

    ``skills`` returns each skill's row number, found by the order of the tables, so values show the conditioning.
    """

    script: tuple[int, ...]
    actions: int = 6

    def initialise(self, key: jax.Array) -> Any:
        return ()

    def skills(self, parameters: Any, vectors: jax.Array) -> jax.Array:
        return jnp.arange(vectors.shape[0], dtype=jnp.float32)

    def initial_memory(self, batch: int) -> Any:
        return ()

    def open(self, parameters: Any, memory: Any) -> Any:
        return ()

    def act(self, parameters: Any, cache: Any, observation: jax.Array, skill: jax.Array, age: jax.Array) -> Step:
        if not self.script:
            return Step(jnp.zeros((age.shape[0], self.actions)), 100.0 + skill, (), ())
        action = jnp.asarray(self.script)[jnp.minimum(age, len(self.script) - 1)]
        logits = jnp.where(action[:, None] == jnp.arange(self.actions)[None, :], 1e6, 0.0)
        return Step(logits, 100.0 + skill, (), ())

    def rows(self, cache: Any, rows: jax.Array) -> Any:
        return ()

    def close(self, memory: Any, records: Any) -> Any:
        return ()

    def window(self, steps: int) -> int:
        return 1

    def sequences(self, memory: Any, records: Any, steps: int) -> Any:
        return ()

    def unroll(
        self, parameters: Any, memory: Any, observation: jax.Array, skill: jax.Array, age: jax.Array
    ) -> tuple[jax.Array, jax.Array]:
        raise AssertionError("a scripted network never learns")
