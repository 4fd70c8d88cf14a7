"""What rollout, update and evaluation need of a network: memory between steps, acting, and learning on windows."""

from __future__ import annotations

from typing import Any, Protocol

import jax

from engine.agent.gru import GruNetwork
from engine.agent.gtrxl import GtrxlNetwork
from engine.agent.mlp import MlpNetwork
from engine.agent.step import Step
from ledger.vocabulary.config import Agent

Parameters = Any
Memory = Any
Cache = Any
Record = Any


class Network(Protocol):
    """A policy with a value estimate, conditioned on the active skill.

    ``age [B]`` counts the steps since the episode's start (0 at its first state): memory older than that belongs to
    another episode and is never attended to. ``skill`` is a row of ``skills(parameters, vectors)``.
    """

    def initialise(self, key: jax.Array) -> Parameters:
        """Fresh parameters: a nested mapping of float32 arrays."""
        ...

    def skills(self, parameters: Parameters, vectors: jax.Array) -> jax.Array:
        """Embeddings ``[skills, vector_size]`` to what acting takes per skill ``[skills, features]``."""
        ...

    def initial_memory(self, batch: int) -> Memory:
        """The memory of ``batch`` episodes that have not begun."""
        ...

    def open(self, parameters: Parameters, memory: Memory) -> Cache:
        """The cache to act from: valid for these parameters only."""
        ...

    def act(
        self, parameters: Parameters, cache: Cache, observation: jax.Array, skill: jax.Array, age: jax.Array
    ) -> Step:
        """One step for ``observation [B, size]``, ``skill [B, features]``, ``age [B]``."""
        ...

    def rows(self, cache: Cache, rows: jax.Array) -> Cache:
        """The cache of some environments only; rows out of range are clamped."""
        ...

    def close(self, memory: Memory, records: Record) -> Memory:
        """The memory after a rollout whose records are stacked along a leading time axis."""
        ...

    def window(self, steps: int) -> int:
        """How many steps of a rollout of ``steps`` form one learning sequence."""
        ...

    def sequences(self, memory: Memory, records: Record, steps: int) -> Memory:
        """The memory at the start of every sequence, leading axis ``steps // window * B``, windows outermost."""
        ...

    def unroll(
        self, parameters: Parameters, memory: Memory, observation: jax.Array, skill: jax.Array, age: jax.Array
    ) -> tuple[jax.Array, jax.Array]:
        """Logits ``[S, W, actions]`` and values ``[S, W]`` for sequences ``observation [S, W, size]``."""
        ...


def build(agent: Agent, *, observation_size: int, vector_size: int, actions: int) -> Network:
    """The network that a configuration names."""
    if agent.kind == "mlp":
        return MlpNetwork.build(agent, observation_size, vector_size, actions)
    if agent.kind == "gru":
        return GruNetwork.build(agent, observation_size, vector_size, actions)
    return GtrxlNetwork.build(agent, observation_size, vector_size, actions)
