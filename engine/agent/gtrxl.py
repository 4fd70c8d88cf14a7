"""The Gated Transformer-XL behind the network interface: memory of layer inputs, a key/value ring while acting.

Between rollouts the memory holds the standardised *inputs* of every layer at the last ``memory_window`` steps, because
keys and values go stale when the parameters change. While acting the parameters are fixed, so keys and values are
projected once per step into a ring of ``memory_window + 1`` slots. Learning sees windows of ``gradient_window`` steps;
gradients do not flow into the memory (Dai et al. 2019, section 3.2; Parisotto et al. 2020, section 3).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from attrs import frozen

from engine.agent.step import Step, applied
from engine.agent.transformer import Transformer
from engine.agent.windows import learning_window
from ledger.vocabulary.config import Agent


class Ring(NamedTuple):
    """Per layer the keys and values ``[B, heads, memory_window + 1, depth]``, the projected positions of all distances
    ``[heads, memory_window + 1, depth]``; the slot of the next step, shape ``()``.

    Layers are separate arrays, so that a step writes one slot of each in place.
    """

    layers: tuple[tuple[jax.Array, jax.Array, jax.Array], ...]
    cursor: jax.Array


@frozen
class GtrxlNetwork:
    """``engine.agent.network.Network`` with memory."""

    module: Transformer
    memory_window: int
    gradient_window: int

    @classmethod
    def build(cls, agent: Agent, observation_size: int, vector_size: int, actions: int) -> GtrxlNetwork:
        """The network of ``agent``.

        Raises:
            ValueError: if the heads do not divide the query/key/value size.
        """
        if agent.qkv_size % agent.heads:
            raise ValueError(f"qkv_size {agent.qkv_size} must be a multiple of heads {agent.heads}")
        module = Transformer(
            observation_size=observation_size,
            vector_size=vector_size,
            actions=actions,
            layers=agent.layers,
            heads=agent.heads,
            size=agent.embedding_size,
            qkv_size=agent.qkv_size,
            hidden=agent.hidden_size,
            gating=agent.gating,
            gate_bias=agent.gate_bias,
            second_gate=agent.second_gate,
        )
        return cls(module, agent.memory_window, agent.gradient_window)

    def initialise(self, key: jax.Array) -> Any:
        module = self.module
        return module.init(
            key,
            self.initial_memory(1),
            jnp.zeros((1, 1, module.observation_size)),
            jnp.zeros((1, 1, module.size)),
            jnp.zeros((1, 1), jnp.int32),
        )

    def skills(self, parameters: Any, vectors: jax.Array) -> jax.Array:
        result: jax.Array = applied(self.module, parameters, vectors, method="skills")
        return result

    def initial_memory(self, batch: int) -> jax.Array:
        """Standardised layer inputs, oldest first: ``[B, layers, memory_window, size]``."""
        return jnp.zeros((batch, self.module.layers, self.memory_window, self.module.size))

    def open(self, parameters: Any, memory: jax.Array) -> Ring:
        # Slot 0 is the next step's; the memory of distance d stands d slots before it on the ring.
        pad = [(0, 0), (0, 0), (1, 0), (0, 0)]
        layers = applied(self.module, parameters, memory, method="open")
        padded = tuple((jnp.pad(keys, pad), jnp.pad(values, pad), distances) for keys, values, distances in layers)
        return Ring(padded, jnp.zeros((), jnp.int32))

    def act(self, parameters: Any, cache: Ring, observation: jax.Array, skill: jax.Array, age: jax.Array) -> Step:
        logits, value, layers, record = applied(
            self.module, parameters, cache.layers, cache.cursor, observation, skill, age, method="act"
        )
        return Step(logits, value, Ring(tuple(layers), (cache.cursor + 1) % (self.memory_window + 1)), record)

    def rows(self, cache: Ring, rows: jax.Array) -> Ring:
        layers = tuple(
            (keys.at[rows].get(mode="clip"), values.at[rows].get(mode="clip"), distances)
            for keys, values, distances in cache.layers
        )
        return Ring(layers, cache.cursor)

    def close(self, memory: jax.Array, records: jax.Array) -> jax.Array:
        return _timeline(memory, records)[:, :, -self.memory_window :]

    def window(self, steps: int) -> int:
        return learning_window(steps, self.gradient_window)

    def sequences(self, memory: jax.Array, records: jax.Array, steps: int) -> jax.Array:
        if self.window(steps) == steps:
            return memory
        timeline = _timeline(memory, records)
        starts = range(0, steps, self.window(steps))
        return jnp.concatenate([timeline[:, :, start : start + self.memory_window] for start in starts])

    def unroll(
        self, parameters: Any, memory: jax.Array, observation: jax.Array, skill: jax.Array, age: jax.Array
    ) -> tuple[jax.Array, jax.Array]:
        logits, value = applied(self.module, parameters, jax.lax.stop_gradient(memory), observation, skill, age)
        return logits, value


def _timeline(memory: jax.Array, records: jax.Array) -> jax.Array:
    """Memory ``[B, layers, M, size]`` followed by records ``[T, B, layers, size]``: ``[B, layers, M + T, size]``."""
    return jnp.concatenate([memory, jnp.moveaxis(records, 0, 2)], axis=2)
