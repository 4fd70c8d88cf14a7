"""The recurrent network: a gated recurrent unit between encoder and heads, its state the only memory.

Learning sees windows of ``gradient_window`` steps, each from the state that acting had at the window's start, computed
with the parameters of then; gradients do not flow into it (truncated back-propagation through time).
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from attrs import frozen
from flax import linen as nn

from engine.agent.heads import ROOT_TWO, Encoder, Head, policy_and_value
from engine.agent.products import dense_product, product
from engine.agent.step import Step, applied
from engine.agent.windows import learning_window
from ledger.vocabulary.config import Agent


def orthogonal_gates(key: jax.Array, shape: tuple[int, int], dtype: Any = jnp.float32) -> jax.Array:
    """An orthogonal matrix for each of three gates, side by side: ``[size, 3 * size]``."""
    size = shape[0]
    gate = nn.initializers.orthogonal()
    return jnp.concatenate([gate(part, (size, size), dtype) for part in jax.random.split(key, 3)], axis=1)


class Recurrence(nn.Module):
    """A gated recurrent unit (Cho et al. 2014, section 2.3), with the reset after the product, as in flax and cuDNN.

    r = sigmoid(W_r x + b_r + U_r h), z = sigmoid(W_z x + b_z + U_z h), n = tanh(W_n x + b_n + r (U_n h + c)),
    h' = (1 - z) n + z h. The functions and distributions at the start are those of ``flax.linen.GRUCell``. The gates r,
    z, n stand side by side in one kernel, and the products with inputs are a call of their own: a window makes them all
    at once, so that only the product with h is left from step to step.
    """

    size: int

    def setup(self) -> None:
        self.kernel = self.param("kernel", nn.initializers.lecun_normal(), (self.size, 3 * self.size))
        self.bias = self.param("bias", nn.initializers.zeros_init(), (3 * self.size,))
        self.recurrent_kernel = self.param("recurrent_kernel", orthogonal_gates, (self.size, 3 * self.size))
        self.recurrent_bias = self.param("recurrent_bias", nn.initializers.zeros_init(), (self.size,))

    def inputs(self, x: jax.Array) -> jax.Array:
        """What inputs add to the gates: ``[..., size]`` to ``[..., 3 * size]``."""
        result: jax.Array = product(x, self.kernel) + self.bias.reshape((1,) * (x.ndim - 1) + (-1,))
        return result

    def __call__(self, hidden: jax.Array, inputs: jax.Array, age: jax.Array) -> jax.Array:
        """The next state ``[B, size]``; a state before the episode's start (``age [B]`` of 0) counts as zeros."""
        hidden = jnp.where(age[:, None] == 0, 0.0, hidden)
        reset, update, candidate = jnp.split(inputs, 3, axis=1)
        from_reset, from_update, from_candidate = jnp.split(hidden @ self.recurrent_kernel, 3, axis=1)
        reset = nn.sigmoid(reset + from_reset)
        update = nn.sigmoid(update + from_update)
        candidate = jnp.tanh(candidate + reset * (from_candidate + self.recurrent_bias[None, :]))
        return (1.0 - update) * candidate + update * hidden


class Gru(nn.Module):
    """Encoder with rectifier, recurrent unit, and heads of ``layers`` - 1 hidden layers, all of ``hidden`` units."""

    observation_size: int
    vector_size: int
    actions: int
    hidden: int
    layers: int

    def setup(self) -> None:
        self.encoder = Encoder(self.observation_size, self.vector_size, self.hidden, ROOT_TWO, product=product)
        self.recurrence = Recurrence(self.hidden)
        self.policy = Head(self.hidden, self.layers - 1, self.actions, 0.01, dot_general=dense_product)
        self.value = Head(self.hidden, self.layers - 1, 1, 1.0, dot_general=dense_product)

    def skills(self, vectors: jax.Array) -> jax.Array:
        return self.encoder.skills(vectors)

    def _inputs(self, observation: jax.Array, skill: jax.Array) -> jax.Array:
        return self.recurrence.inputs(nn.relu(self.encoder(observation, skill)))

    def act(
        self, hidden: jax.Array, observation: jax.Array, skill: jax.Array, age: jax.Array
    ) -> tuple[jax.Array, jax.Array, jax.Array]:
        """One step: logits ``[B, actions]``, values ``[B]``, and the next state ``[B, hidden]``."""
        hidden = self.recurrence(hidden, self._inputs(observation, skill), age)
        logits, value = policy_and_value(hidden, self.policy, self.value)
        return logits, value, hidden

    def __call__(
        self, hidden: jax.Array, observation: jax.Array, skill: jax.Array, age: jax.Array
    ) -> tuple[jax.Array, jax.Array]:
        """Windows ``[S, W, …]`` from states ``[S, hidden]``: logits ``[S, W, actions]`` and values ``[S, W]``."""
        inputs = self._inputs(observation, skill)

        def step(recurrence: Recurrence, hidden: jax.Array, now: tuple[jax.Array, jax.Array]) -> Any:
            hidden = recurrence(hidden, *now)
            return hidden, hidden

        over_time = nn.scan(step, variable_broadcast="params", split_rngs={"params": False}, in_axes=1, out_axes=1)
        _, states = over_time(self.recurrence, hidden, (inputs, age))
        return policy_and_value(states, self.policy, self.value)


@frozen
class GruNetwork:
    """``engine.agent.network.Network`` whose memory, cache and record of a step are one state ``[B, hidden]``.

    A record is the state *after* its step, so the states before the steps of a rollout are the memory and all records
    but the last.
    """

    module: Gru
    gradient_window: int

    @classmethod
    def build(cls, agent: Agent, observation_size: int, vector_size: int, actions: int) -> GruNetwork:
        """The network of ``agent``; ``hidden_size``, ``layers`` and ``gradient_window`` are used."""
        module = Gru(observation_size, vector_size, actions, agent.hidden_size, agent.layers)
        return cls(module, agent.gradient_window)

    def initialise(self, key: jax.Array) -> Any:
        module = self.module
        observation, skill = jnp.zeros((1, module.observation_size)), jnp.zeros((1, module.hidden))
        return module.init(key, self.initial_memory(1), observation, skill, jnp.zeros(1, jnp.int32), method="act")

    def skills(self, parameters: Any, vectors: jax.Array) -> jax.Array:
        result: jax.Array = applied(self.module, parameters, vectors, method="skills")
        return result

    def initial_memory(self, batch: int) -> jax.Array:
        return jnp.zeros((batch, self.module.hidden))

    def open(self, parameters: Any, memory: jax.Array) -> jax.Array:
        return memory

    def act(self, parameters: Any, cache: jax.Array, observation: jax.Array, skill: jax.Array, age: jax.Array) -> Step:
        logits, value, hidden = applied(self.module, parameters, cache, observation, skill, age, method="act")
        return Step(logits, value, hidden, hidden)

    def rows(self, cache: jax.Array, rows: jax.Array) -> jax.Array:
        return cache.at[rows].get(mode="clip")

    def close(self, memory: jax.Array, records: jax.Array) -> jax.Array:
        return records[-1]

    def window(self, steps: int) -> int:
        """The gradient window, or the whole rollout if that is shorter.

        Raises:
            ValueError: if a longer rollout is not a multiple of the gradient window.
        """
        return learning_window(steps, self.gradient_window)

    def sequences(self, memory: jax.Array, records: jax.Array, steps: int) -> jax.Array:
        window = self.window(steps)
        return jnp.concatenate([memory, *(records[start - 1] for start in range(window, steps, window))])

    def unroll(
        self, parameters: Any, memory: jax.Array, observation: jax.Array, skill: jax.Array, age: jax.Array
    ) -> tuple[jax.Array, jax.Array]:
        logits, value = applied(self.module, parameters, jax.lax.stop_gradient(memory), observation, skill, age)
        return logits, value
