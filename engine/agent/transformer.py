"""Gated Transformer-XL: relative attention over a memory, gates in place of residual sums.

Sources: relative positions, Dai et al. 2019, section 3.3; gates and placement of the normalisation, Parisotto et al.
2020, sections 3.1 and 3.2 (GRU-type gating); sizes, paper 000, Table 10.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from flax import linen as nn

from engine.agent.heads import Encoder, Head, policy_and_value

MASKED = -1e9
"""Added to a score that must not be attended to; finite, so that a row without any other key stays a number."""


def positions(count: int, size: int) -> jax.Array:
    """Sinusoids of the distances 0 … ``count`` - 1: ``[count, size]``, the first half sines (Dai et al. 2019)."""
    half = (size + 1) // 2
    frequency = 1.0 / (10_000.0 ** (jnp.arange(half, dtype=jnp.float32) * 2.0 / float(size)))
    angle = jnp.arange(count, dtype=jnp.float32)[:, None] * frequency[None, :]
    return jnp.concatenate([jnp.sin(angle), jnp.cos(angle)], axis=1)[:, :size]


def distances_to_keys(by_distance: jax.Array, keys: int) -> jax.Array:
    """Spread scores by distance over the keys of a window.

    ``by_distance [..., T, M + 1]`` holds, for query i, the score at distance M - e in column e. Key j of the ``keys`` =
    M + T stands at distance i + M - j from query i, so row i moves i places to the right: pad, then cut the flat
    array at another width. Keys out of reach get 0.
    """
    *lead, queries, width = by_distance.shape
    padded = jnp.pad(by_distance, [(0, 0)] * len(lead) + [(0, 0), (0, keys + 1 - width)])
    flat = padded.reshape((*lead, queries * (keys + 1)))[..., : queries * keys]
    return flat.reshape((*lead, queries, keys))


def window_mask(age: jax.Array, memory: int) -> jax.Array:
    """Additive mask ``[S, W, memory + W]``: key j is seen by query i at distance 0 … min(age of i, memory)."""
    steps = age.shape[1]
    distance = jnp.arange(steps)[:, None] + memory - jnp.arange(memory + steps)[None, :]
    seen = (distance[None] >= 0) & (distance[None] <= jnp.minimum(age, memory)[:, :, None])
    return jnp.where(seen, 0.0, MASKED)


class Gate(nn.Module):
    """GRU-type gate g(x, y) = (1 - z) x + z h (Parisotto et al. 2020, section 3.2).

    r = sigmoid(W_r y + U_r x), z = sigmoid(W_z y + U_z x - b), h = tanh(W_g y + U_g (r x)). A positive ``bias`` b keeps
    the gate near x at first.
    """

    bias: float

    @nn.compact
    def __call__(self, x: jax.Array, y: jax.Array) -> jax.Array:
        """``x`` and ``y`` of shape ``[..., size]`` to the same shape."""
        size = x.shape[-1]

        def dense(name: str, value: jax.Array) -> jax.Array:
            result: jax.Array = nn.Dense(size, use_bias=False, name=name)(value)
            return result

        bias = self.param("bias", nn.initializers.constant(self.bias), (size,))
        bias = bias.reshape((1,) * (x.ndim - 1) + (size,))
        reset = nn.sigmoid(dense("reset_y", y) + dense("reset_x", x))
        update = nn.sigmoid(dense("update_y", y) + dense("update_x", x) - bias)
        candidate = jnp.tanh(dense("candidate_y", y) + dense("candidate_x", reset * x))
        return (1.0 - update) * x + update * candidate


class Layer(nn.Module):
    """One block: relative attention, then a feed-forward part, each after its own normalisation and before a gate.

    ``second_gate`` names two variants seen in published code. ``residual``: gate(stream, feed-forward), as Parisotto et
    al. define it. ``swapped``: gate(feed-forward, stream), the operands exchanged.
    """

    heads: int
    size: int
    qkv_size: int
    hidden: int
    gating: bool
    gate_bias: float
    second_gate: str

    def setup(self) -> None:
        depth = self.qkv_size // self.heads
        self.attention_norm = nn.LayerNorm()
        self.query = nn.Dense(self.qkv_size, use_bias=False)
        self.key = nn.Dense(self.qkv_size, use_bias=False)
        self.value = nn.Dense(self.qkv_size, use_bias=False)
        self.position = nn.Dense(self.qkv_size, use_bias=False)
        self.content_bias = self.param("content_bias", nn.initializers.zeros_init(), (self.heads, depth))
        self.position_bias = self.param("position_bias", nn.initializers.zeros_init(), (self.heads, depth))
        self.output = nn.Dense(self.size)
        self.forward_norm = nn.LayerNorm()
        self.forward_in = nn.Dense(self.hidden)
        self.forward_out = nn.Dense(self.size)
        if self.gating:
            self.attention_gate = Gate(self.gate_bias)
            self.forward_gate = Gate(self.gate_bias)

    def _split(self, flat: jax.Array) -> jax.Array:
        """``[B, N, qkv_size]`` to ``[B, heads, N, depth]``."""
        batch, count, _ = flat.shape
        return flat.reshape(batch, count, self.heads, self.qkv_size // self.heads).swapaxes(1, 2)

    def keys_values(self, inputs: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Layer inputs ``[B, N, size]`` to keys and values ``[B, heads, N, depth]``."""
        normed = self.attention_norm(inputs)
        return self._split(self.key(normed)), self._split(self.value(normed))

    def _queries(self, x: jax.Array) -> tuple[jax.Array, jax.Array]:
        query = self._split(self.query(self.attention_norm(x)))
        return query + self.content_bias[None, :, None, :], query + self.position_bias[None, :, None, :]

    def _distances(self, count: int) -> jax.Array:
        return self.position(positions(count, self.size)).reshape(count, self.heads, self.qkv_size // self.heads)

    def _finish(self, x: jax.Array, attended: jax.Array) -> jax.Array:
        batch, _, count, _ = attended.shape
        y = self.output(attended.swapaxes(1, 2).reshape(batch, count, self.qkv_size))
        x = self.attention_gate(x, nn.relu(y)) if self.gating else x + y
        y = self.forward_out(nn.gelu(self.forward_in(self.forward_norm(x))))
        if not self.gating:
            return x + y
        result: jax.Array = (
            self.forward_gate(x, nn.relu(y)) if self.second_gate == "residual" else self.forward_gate(nn.relu(y), x)
        )
        return result

    def learn(self, x: jax.Array, memory: jax.Array, mask: jax.Array) -> jax.Array:
        """A window ``[S, W, size]`` after its memory ``[S, M, size]``, additive mask ``[S, W, M + W]``."""
        window = memory.shape[1]
        keys, values = self.keys_values(jnp.concatenate([memory, x], axis=1))
        content, position = self._queries(x)
        scores = jnp.einsum("bhtd,bhjd->bhtj", content, keys)
        farthest_first = self._distances(window + 1)[::-1]
        scores += distances_to_keys(jnp.einsum("bhtd,ehd->bhte", position, farthest_first), keys.shape[2])
        weights = nn.softmax(scores / (self.qkv_size // self.heads) ** 0.5 + mask[:, None])
        return self._finish(x, jnp.einsum("bhtj,bhjd->bhtd", weights, values))

    def act(
        self, x: jax.Array, keys: jax.Array, values: jax.Array, cursor: jax.Array, age: jax.Array
    ) -> tuple[jax.Array, jax.Array, jax.Array]:
        """One step ``[B, size]`` on rings ``[B, heads, M + 1, depth]``: output, and the rings with this step."""
        slots = keys.shape[2]
        key, value = self.keys_values(x[:, None])
        keys = jax.lax.dynamic_update_slice_in_dim(keys, key, cursor, axis=2)
        values = jax.lax.dynamic_update_slice_in_dim(values, value, cursor, axis=2)
        content, position = self._queries(x[:, None])
        distance = (cursor - jnp.arange(slots)) % slots
        by_distance = jnp.einsum("bhtd,ehd->bhte", position, self._distances(slots))
        scores = jnp.einsum("bhtd,bhjd->bhtj", content, keys) + jnp.take(by_distance, distance, axis=3)
        mask = jnp.where(distance[None, :] <= age[:, None], 0.0, MASKED)
        weights = nn.softmax(scores / (self.qkv_size // self.heads) ** 0.5 + mask[:, None, None])
        out = self._finish(x[:, None], jnp.einsum("bhtj,bhjd->bhtd", weights, values))
        return out[:, 0], keys, values


class Transformer(nn.Module):
    """Encoder, gated layers, and heads of two hidden layers each."""

    observation_size: int
    vector_size: int
    actions: int
    layers: int
    heads: int
    size: int
    qkv_size: int
    hidden: int
    gating: bool
    gate_bias: float
    second_gate: str

    def setup(self) -> None:
        self.encoder = Encoder(self.observation_size, self.vector_size, self.size, 1.0)
        self.blocks = [
            Layer(self.heads, self.size, self.qkv_size, self.hidden, self.gating, self.gate_bias, self.second_gate)
            for _ in range(self.layers)
        ]
        self.policy = Head(self.hidden, 2, self.actions, 0.01)
        self.critic = Head(self.hidden, 2, 1, 1.0)

    def skills(self, vectors: jax.Array) -> jax.Array:
        """Embeddings ``[skills, vector_size]`` to the encoder's part of them ``[skills, size]``."""
        return self.encoder.skills(vectors)

    def project(self, memory: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Layer inputs ``[B, layers, M, size]`` to keys and values ``[layers, B, heads, M, depth]``."""
        pairs = [block.keys_values(memory[:, index]) for index, block in enumerate(self.blocks)]
        return jnp.stack([pair[0] for pair in pairs]), jnp.stack([pair[1] for pair in pairs])

    def act(
        self,
        keys: jax.Array,
        values: jax.Array,
        cursor: jax.Array,
        observation: jax.Array,
        skill: jax.Array,
        age: jax.Array,
    ) -> tuple[jax.Array, jax.Array, jax.Array, jax.Array, jax.Array]:
        """One step: logits, values, both rings, and this step's layer inputs ``[B, layers, size]``."""
        x = self.encoder(observation, skill)
        inputs = []
        for index, block in enumerate(self.blocks):
            inputs.append(x)
            x, key, value = block.act(x, keys[index], values[index], cursor, age)
            keys, values = keys.at[index].set(key), values.at[index].set(value)
        logits, estimate = policy_and_value(x, self.policy, self.critic)
        return logits, estimate, keys, values, jnp.stack(inputs, axis=1)

    def __call__(
        self, memory: jax.Array, observation: jax.Array, skill: jax.Array, age: jax.Array
    ) -> tuple[jax.Array, jax.Array]:
        """Windows ``[S, W, …]`` after memories ``[S, layers, M, size]``: logits ``[S, W, actions]`` and values."""
        x = self.encoder(observation, skill)
        mask = window_mask(age, memory.shape[2])
        for index, block in enumerate(self.blocks):
            x = block.learn(x, memory[:, index], mask)
        return policy_and_value(x, self.policy, self.critic)
