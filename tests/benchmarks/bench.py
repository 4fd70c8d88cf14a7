"""A rollout and an update, compiled by themselves and timed by themselves, as the core would make them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from attrs import define, field, frozen

from engine import randomness
from engine.agent.network import Network, build
from engine.train.ppo import build_update, optimiser
from engine.train.predicates import compile_programs
from engine.train.rollout import Rolled, before_first, build_rollout
from engine.train.tables import Shape, Tables, assemble, longest_chain, shape_of, wire
from engine.worlds.protocol import World
from engine.worlds.registry import world
from ledger.vocabulary.train import Skill
from tests.benchmarks import setups
from tests.benchmarks.counting import Sizes


@frozen
class Functions:
    """What training in ``setup`` on ``skills`` is made of."""

    setup: setups.Setup
    world: World
    network: Network
    shape: Shape
    tables: Tables
    rollout: Callable[..., Rolled]
    update: Callable[..., Any]

    @property
    def sizes(self) -> Sizes:
        """What counting operations needs to know of world and archive."""
        return Sizes(
            self.world.observation_size, self.shape.dimensions, self.world.num_actions, self.tables.vectors.shape[0]
        )


def functions(setup: setups.Setup, skills: tuple[Skill, ...]) -> Functions:
    """The functions of a setup, not compiled yet."""
    place = world(setups.WORLD)
    predicates = compile_programs(tuple(skill.source.text for skill in skills), place.schema)
    index = {skill.name: row for row, skill in enumerate(skills)}
    shape = shape_of(skills, longest_chain(wire(skills, index, shape_of(skills, 0))))
    tables = assemble(
        skills, predicates, wire(skills, index, shape), shape, np.zeros(len(skills)), np.ones(len(skills))
    )
    network = build(
        setup.agent,
        observation_size=place.observation_size,
        vector_size=shape.dimensions,
        actions=place.num_actions,
    )
    return Functions(
        setup=setup,
        world=place,
        network=network,
        shape=shape,
        tables=tables,
        rollout=build_rollout(place, network, predicates, shape, setup.ppo, setup.routing),
        update=build_update(network, setup.ppo),
    )


@define
class Bench:
    """Training by hand: every call goes on where the one before ended, and returns its seconds."""

    made: Functions
    rollout: Callable[..., Rolled]
    update: Callable[..., Any]
    parameters: Any
    optimiser: Any
    episodes: Any
    memory: Any
    key: jax.Array
    calls: Iterator[int] = field(factory=lambda: iter(range(1 << 30)))
    experience: Any = None

    @classmethod
    def of(cls, made: Functions) -> Bench:
        """Fresh parameters, and episodes that have not begun."""
        key = jax.random.key(0, impl=randomness.IMPLEMENTATION)
        ppo = made.setup.ppo
        parameters = jax.jit(made.network.initialise)(key)
        return cls(
            made,
            jax.jit(made.rollout),
            jax.jit(made.update),
            parameters,
            optimiser(ppo).init(parameters),
            before_first(made.world, ppo.environments),
            made.network.initial_memory(ppo.environments),
            key,
        )

    def roll(self) -> float:
        """One rollout."""
        key = jax.random.fold_in(self.key, next(self.calls))
        began = time.perf_counter()
        rolled = jax.block_until_ready(self.rollout(self.parameters, self.episodes, self.memory, self.made.tables, key))
        seconds = time.perf_counter() - began
        self.experience = (self.memory, rolled.trajectory, rolled.last_value)
        self.episodes, self.memory = rolled.episodes, rolled.memory
        return seconds

    def learn(self) -> float:
        """One update on the last rollout."""
        rate = jnp.float32(self.made.setup.ppo.learning_rate)
        vectors = self.made.tables.vectors
        began = time.perf_counter()
        self.parameters, self.optimiser, _ = jax.block_until_ready(
            self.update(self.parameters, self.optimiser, *self.experience, vectors, self.key, rate)
        )
        return time.perf_counter() - began
