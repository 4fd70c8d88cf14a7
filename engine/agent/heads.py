"""Parts that all networks share: the encoder of observation and active skill, and multi-layer heads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from flax import linen as nn

ROOT_TWO = 2.0**0.5


class Encoder(nn.Module):
    """One dense layer on the observation concatenated with the active skill's name embedding (paper 000, section 2.5).

    The layer's kernel is split by rows, so that the product with the embeddings is made once per skill and not once
    per step: ``skills`` first, then ``__call__`` with the row of each step's active skill. Embeddings of unit length
    are scaled to unit mean square, the scale that an initialisation by fan-in supposes of every input.
    """

    observation_size: int
    vector_size: int
    features: int
    scale: float
    product: Callable[[jax.Array, jax.Array], jax.Array] = jnp.matmul

    def setup(self) -> None:
        shape = (self.observation_size + self.vector_size, self.features)
        self.kernel = self.param("kernel", nn.initializers.orthogonal(self.scale), shape)
        self.bias = self.param("bias", nn.initializers.zeros_init(), (self.features,))

    def skills(self, vectors: jax.Array) -> jax.Array:
        """Embeddings ``[skills, vector_size]`` to their part of the layer's output ``[skills, features]``."""
        scaled = vectors * float(self.vector_size) ** 0.5
        return scaled @ self.kernel[self.observation_size :] + self.bias[None, :]

    def __call__(self, observation: jax.Array, skill: jax.Array) -> jax.Array:
        """``[..., observation_size]`` and ``[..., features]`` to ``[..., features]``."""
        result: jax.Array = self.product(observation, self.kernel[: self.observation_size]) + skill
        return result


class Head(nn.Module):
    """``depth`` hidden layers with rectifiers, then a linear layer of ``outputs``."""

    hidden: int
    depth: int
    outputs: int
    output_scale: float
    dot_general: Callable[..., Any] = jax.lax.dot_general

    @nn.compact
    def __call__(self, features: jax.Array) -> jax.Array:
        """``[..., any]`` to ``[..., outputs]``."""
        for index in range(self.depth):
            features = nn.relu(self._dense(self.hidden, ROOT_TWO, f"hidden_{index}")(features))
        out = self._dense(self.outputs, self.output_scale, "output")
        result: jax.Array = out(features)
        return result

    def _dense(self, units: int, scale: float, name: str) -> nn.Dense:
        initial = nn.initializers.orthogonal(scale)
        return nn.Dense(units, kernel_init=initial, dot_general=self.dot_general, name=name)


def policy_and_value(features: jax.Array, policy: Head, value: Head) -> tuple[jax.Array, jax.Array]:
    """Logits ``[..., actions]`` and values ``[...]``."""
    return policy(features), jnp.squeeze(value(features), -1)
