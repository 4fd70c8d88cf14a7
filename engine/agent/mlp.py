"""The small network: no memory, one shared layer, then separate layers for policy and value."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from attrs import frozen
from flax import linen as nn

from engine.agent.heads import ROOT_TWO, Encoder, Head, policy_and_value
from engine.agent.step import Step, applied
from ledger.vocabulary.config import Agent


class Mlp(nn.Module):
    """``layers`` hidden layers of ``hidden`` units; the first is shared between policy and value."""

    observation_size: int
    vector_size: int
    actions: int
    hidden: int
    layers: int

    def setup(self) -> None:
        self.encoder = Encoder(self.observation_size, self.vector_size, self.hidden, ROOT_TWO)
        self.policy = Head(self.hidden, self.layers - 1, self.actions, 0.01)
        self.value = Head(self.hidden, self.layers - 1, 1, 1.0)

    def skills(self, vectors: jax.Array) -> jax.Array:
        return self.encoder.skills(vectors)

    def __call__(self, observation: jax.Array, skill: jax.Array) -> tuple[jax.Array, jax.Array]:
        return policy_and_value(nn.relu(self.encoder(observation, skill)), self.policy, self.value)


@frozen
class MlpNetwork:
    """``engine.agent.network.Network`` without memory: every step is a learning sequence of its own."""

    module: Mlp

    @classmethod
    def build(cls, agent: Agent, observation_size: int, vector_size: int, actions: int) -> MlpNetwork:
        """The network of ``agent``; ``hidden_size`` and ``layers`` are used."""
        return cls(Mlp(observation_size, vector_size, actions, agent.hidden_size, agent.layers))

    def initialise(self, key: jax.Array) -> Any:
        observation = jnp.zeros((1, self.module.observation_size))
        return self.module.init(key, observation, jnp.zeros((1, self.module.hidden)))

    def skills(self, parameters: Any, vectors: jax.Array) -> jax.Array:
        result: jax.Array = applied(self.module, parameters, vectors, method="skills")
        return result

    def initial_memory(self, batch: int) -> Any:
        return ()

    def open(self, parameters: Any, memory: Any) -> Any:
        return ()

    def act(self, parameters: Any, cache: Any, observation: jax.Array, skill: jax.Array, age: jax.Array) -> Step:
        logits, value = applied(self.module, parameters, observation, skill)
        return Step(logits, value, (), ())

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
        logits, value = applied(self.module, parameters, observation, skill)
        return logits, value
