"""Gated Transformer-XL: relative attention over a memory, gates in place of residual sums.

Sources: relative positions, Dai et al. 2019, section 3.3; gates and placement of the normalisation, Parisotto et al.
2020, sections 3.1 and 3.2 (GRU-type gating); sizes, paper 000, Table 10. Products of one input stand side by side in
one kernel: a few wide products are faster than many narrow ones.
"""

from __future__ import annotations

from collections.abc import Sequence

import jax
import jax.numpy as jnp
from flax import linen as nn

from engine.agent.attention import MASKED, attend, positions, window_mask
from engine.agent.heads import Encoder, Head, policy_and_value
from engine.agent.products import dense_product, held, product

BLOCK = 64
"""Steps of a window that attend together; each block sees the ``memory`` steps before it and its own.

Fewer steps discard fewer scores by the mask, more make larger products: 64 took a tenth less time than 128 on a CPU."""


def standardised(x: jax.Array) -> jax.Array:
    """Zero mean and unit variance over the last axis (layer normalisation without its parameters)."""
    centred = x - jnp.mean(x, axis=-1, keepdims=True)
    return centred * jax.lax.rsqrt(jnp.mean(jnp.square(centred), axis=-1, keepdims=True) + 1e-6)


class Gate(nn.Module):
    """GRU-type gate g(x, y) = (1 - z) x + z h (Parisotto et al. 2020, section 3.2).

    r = sigmoid(W_r y + U_r x), z = sigmoid(W_z y + U_z x - b), h = tanh(W_g y + U_g (r x)). A positive ``bias`` b keeps
    the gate near x at first. Kernels: ``from_y`` W_r W_z W_g, ``from_x`` U_r U_z, ``from_reset`` U_g.
    """

    bias: float

    @nn.compact
    def __call__(self, x: jax.Array, y: jax.Array) -> jax.Array:
        """``x`` and ``y`` of shape ``[..., size]`` to the same shape."""
        size = x.shape[-1]

        def dense(name: str, value: jax.Array, parts: int) -> jax.Array:
            result: jax.Array = nn.Dense(parts * size, use_bias=False, dot_general=dense_product, name=name)(value)
            return result

        bias = self.param("bias", nn.initializers.constant(self.bias), (size,))
        bias = bias.reshape((1,) * (x.ndim - 1) + (size,))
        reset_y, update_y, candidate_y = jnp.split(dense("from_y", y, 3), 3, axis=-1)
        reset_x, update_x = jnp.split(dense("from_x", x, 2), 2, axis=-1)
        reset = nn.sigmoid(reset_y + reset_x)
        update = nn.sigmoid(update_y + update_x - bias)
        candidate = jnp.tanh(candidate_y + dense("from_reset", reset * x, 1))
        return (1.0 - update) * x + update * candidate


class Layer(nn.Module):
    """One block: relative attention, then a feed-forward part, each after its own normalisation and before a gate.

    What is remembered of a step is its standardised input: keys and values need no more of it. ``second_gate`` names
    two variants seen in published code. ``residual``: gate(stream, feed-forward), as Parisotto et al. define it.
    ``swapped``: gate(feed-forward, stream), the operands exchanged.
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
        self.scale = self.param("scale", nn.initializers.ones_init(), (self.size,))
        self.shift = self.param("shift", nn.initializers.zeros_init(), (self.size,))
        # Queries, keys and values: fan-in alone decides the initial scale, so the three need no kernels of their own.
        self.projection = self.param("projection", nn.initializers.lecun_normal(), (self.size, 3 * self.qkv_size))
        self.position = nn.Dense(self.qkv_size, use_bias=False)
        self.content_bias = self.param("content_bias", nn.initializers.zeros_init(), (self.heads, depth))
        self.position_bias = self.param("position_bias", nn.initializers.zeros_init(), (self.heads, depth))
        self.output = nn.Dense(self.size, dot_general=dense_product)
        self.forward_norm = nn.LayerNorm()
        self.forward_in = nn.Dense(self.hidden, dot_general=dense_product)
        self.forward_out = nn.Dense(self.size, dot_general=dense_product)
        if self.gating:
            self.attention_gate = Gate(self.gate_bias)
            self.forward_gate = Gate(self.gate_bias)

    @property
    def depth(self) -> int:
        """Units of one head."""
        return self.qkv_size // self.heads

    def _project(self, inputs: jax.Array, first: int) -> list[jax.Array]:
        """Queries, keys, values from the ``first`` on, each ``[heads, B, N, depth]``, of inputs ``[B, N, size]``.

        The normalisation's parameters are folded into the kernel, so that no gradient is owed to the inputs' scale.
        """
        kernel = self.projection[:, first * self.qkv_size :]
        flat = product(inputs, self.scale[:, None] * kernel) + (self.shift @ kernel)[None, None]
        by_head = (*inputs.shape[:2], self.heads, self.depth)
        return [part.reshape(by_head).transpose(2, 0, 1, 3) for part in jnp.split(flat, 3 - first, axis=-1)]

    def _biased(self, queries: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Queries ``[heads, B, N, depth]`` with either bias, scaled by the root of the depth."""
        scale = self.depth**-0.5
        content, position = self.content_bias[:, None, None], self.position_bias[:, None, None]
        return (queries + content) * scale, (queries + position) * scale

    def remembered(self, inputs: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Standardised inputs ``[B, N, size]`` to keys and values ``[B, heads, N, depth]``."""
        keys, values = self._project(inputs, 1)
        return keys.swapaxes(0, 1), values.swapaxes(0, 1)

    def distances(self, count: int) -> jax.Array:
        """Projected positions of the distances 0 … ``count`` - 1: ``[heads, count, depth]``."""
        return self.position(positions(count, self.size)).reshape(count, self.heads, self.depth).swapaxes(0, 1)

    def _finish(self, x: jax.Array, attended: jax.Array) -> jax.Array:
        """Stream ``[..., size]`` and attention's result ``[..., qkv_size]`` to the block's output ``[..., size]``."""
        y = self.output(attended)
        x = self.attention_gate(x, nn.relu(y)) if self.gating else x + y
        y = self.forward_out(nn.gelu(self.forward_in(self.forward_norm(x))))
        if not self.gating:
            return x + y
        result: jax.Array = (
            self.forward_gate(x, nn.relu(y)) if self.second_gate == "residual" else self.forward_gate(nn.relu(y), x)
        )
        return result

    def learn(self, x: jax.Array, memory: jax.Array, mask: jax.Array) -> jax.Array:
        """A window ``[S, W, size]`` after its remembered inputs ``[S, M, size]``, additive mask ``[S, W, M + W]``."""
        batch, count, _ = x.shape
        window = memory.shape[1]
        queries, keys, values = self._project(standardised(x), 0)
        earlier_keys, earlier_values = self._project(memory, 1)
        keys = jnp.concatenate([earlier_keys, keys], axis=2)
        values = jnp.concatenate([earlier_values, values], axis=2)
        content, position = self._biased(queries)
        far_first = self.distances(window + 1)[:, ::-1]
        parts = []
        for start in range(0, count, BLOCK):
            rows, seen = slice(start, start + BLOCK), slice(start, start + BLOCK + window)
            block = content[:, :, rows], position[:, :, rows], keys[:, :, seen], values[:, :, seen]
            parts.append(attend(*block, far_first, mask[:, rows, seen]))
        attended = jnp.concatenate(parts, axis=2) if len(parts) > 1 else parts[0]
        return self._finish(x, attended.transpose(1, 2, 0, 3).reshape(batch, count, self.qkv_size))

    def act(
        self,
        x: jax.Array,
        keys: jax.Array,
        values: jax.Array,
        distances: jax.Array,
        cursor: jax.Array,
        age: jax.Array,
    ) -> tuple[jax.Array, jax.Array, jax.Array, jax.Array]:
        """One step ``[B, size]`` on rings ``[B, heads, M + 1, depth]`` and ``distances [heads, M + 1, depth]``.

        Returns:
            The output, the rings with this step, and what to remember of it ``[B, size]``.
        """
        batch, slots = x.shape[0], keys.shape[2]
        own = standardised(x)
        normed = own * self.scale[None] + self.shift[None]
        query, key, value = jnp.moveaxis((normed @ self.projection).reshape(batch, 3, self.heads, self.depth), 1, 0)
        keys = jax.lax.dynamic_update_slice_in_dim(keys, key[:, :, None], cursor, axis=2)
        values = jax.lax.dynamic_update_slice_in_dim(values, value[:, :, None], cursor, axis=2)
        scale = self.depth**-0.5
        content, position = (query + self.content_bias[None]) * scale, (query + self.position_bias[None]) * scale
        distance = (cursor - jnp.arange(slots)) % slots
        scores = jnp.einsum("bhd,bhjd->bhj", content, keys)
        scores += jnp.einsum("bhd,hjd->bhj", position, jnp.take(distances, distance, axis=1))
        mask = jnp.where(distance[None, :] <= age[:, None], 0.0, MASKED)
        attended = jnp.einsum("bhj,bhjd->bhd", nn.softmax(scores + mask[:, None]), values)
        return self._finish(x, attended.reshape(batch, self.qkv_size)), keys, values, own


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
        self.encoder = Encoder(self.observation_size, self.vector_size, self.size, 1.0, product)
        self.blocks = [
            Layer(self.heads, self.size, self.qkv_size, self.hidden, self.gating, self.gate_bias, self.second_gate)
            for _ in range(self.layers)
        ]
        self.policy = Head(self.hidden, 2, self.actions, 0.01, dense_product)
        self.critic = Head(self.hidden, 2, 1, 1.0, dense_product)

    def skills(self, vectors: jax.Array) -> jax.Array:
        """Embeddings ``[skills, vector_size]`` to the encoder's part of them ``[skills, size]``."""
        return self.encoder.skills(vectors)

    def open(self, memory: jax.Array) -> list[tuple[jax.Array, jax.Array, jax.Array]]:
        """Per layer of memory ``[B, layers, M, size]``: keys, values ``[B, heads, M, depth]``, and ``distances``."""
        slots = memory.shape[2] + 1
        return [
            (*block.remembered(memory[:, index]), block.distances(slots)) for index, block in enumerate(self.blocks)
        ]

    def act(
        self,
        rings: Sequence[tuple[jax.Array, jax.Array, jax.Array]],
        cursor: jax.Array,
        observation: jax.Array,
        skill: jax.Array,
        age: jax.Array,
    ) -> tuple[jax.Array, jax.Array, list[tuple[jax.Array, jax.Array, jax.Array]], jax.Array]:
        """One step: logits, values, the layers' rings, and what to remember of the step ``[B, layers, size]``."""
        x = self.encoder(observation, skill)
        remembered, following = [], []
        for block, (keys, values, distances) in zip(self.blocks, rings, strict=True):
            x, keys, values, own = block.act(x, keys, values, distances, cursor, age)
            remembered.append(own)
            following.append((keys, values, distances))
        logits, estimate = policy_and_value(x, self.policy, self.critic)
        return logits, estimate, following, jnp.stack(remembered, axis=1)

    def __call__(
        self, memory: jax.Array, observation: jax.Array, skill: jax.Array, age: jax.Array
    ) -> tuple[jax.Array, jax.Array]:
        """Windows ``[S, W, …]`` after memories ``[S, layers, M, size]``: logits ``[S, W, actions]`` and values."""
        x = self.encoder(observation, skill)
        mask = held(window_mask(age, memory.shape[2]))
        for index, block in enumerate(self.blocks):
            x = block.learn(x, memory[:, index], mask)
        return policy_and_value(x, self.policy, self.critic)
