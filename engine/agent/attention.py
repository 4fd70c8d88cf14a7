"""Relative attention of a window over its memory (Dai et al. 2019, section 3.3), with a gradient of its own.

Heads come first in every array, so that scores by content and scores by distance are both plain batched products and
nothing is transposed between them.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from engine.agent.products import held

MASKED = -1e9
"""Added to a score that must not be attended to; finite, so that a row without any other key stays a number."""

Saved = tuple[jax.Array, jax.Array, jax.Array, jax.Array, jax.Array, jax.Array]


def positions(count: int, size: int) -> jax.Array:
    """Sinusoids of the distances 0 … ``count`` - 1: ``[count, size]``, the first half sines (Dai et al. 2019)."""
    half = (size + 1) // 2
    frequency = 1.0 / (10_000.0 ** (jnp.arange(half, dtype=jnp.float32) * 2.0 / float(size)))
    angle = jnp.arange(count, dtype=jnp.float32)[:, None] * frequency[None, :]
    return jnp.concatenate([jnp.sin(angle), jnp.cos(angle)], axis=1)[:, :size]


def distances_to_keys(by_distance: jax.Array, keys: int) -> jax.Array:
    """Spread scores by distance over the keys of a window.

    ``by_distance [..., T, keys + 1]`` holds, for query i, the score at distance M - e in column e, and 0 in the columns
    beyond M. Key j of the ``keys`` = M + T stands at distance i + M - j from query i, so row i moves i places to the
    right: cut the flat array at another width. Keys out of reach get 0.
    """
    *lead, queries, width = by_distance.shape
    flat = by_distance.reshape((*lead, queries * width))[..., : queries * keys]
    return flat.reshape((*lead, queries, keys))


def keys_to_distances(by_key: jax.Array) -> jax.Array:
    """The transpose of ``distances_to_keys``: ``[..., T, keys]`` to ``[..., T, keys + 1]``."""
    *lead, queries, keys = by_key.shape
    flat = jnp.pad(by_key.reshape((*lead, queries * keys)), [(0, 0)] * len(lead) + [(0, queries)])
    return flat.reshape((*lead, queries, keys + 1))


def window_mask(age: jax.Array, memory: int) -> jax.Array:
    """Additive mask ``[S, W, memory + W]``: key j is seen by query i at distance 0 … min(age of i, memory)."""
    steps = age.shape[1]
    distance = jnp.arange(steps)[:, None] + memory - jnp.arange(memory + steps)[None, :]
    seen = (distance[None] >= 0) & (distance[None] <= jnp.minimum(age, memory)[:, :, None])
    return jnp.where(seen, 0.0, MASKED)


@jax.custom_vjp
def attend(
    content: jax.Array, position: jax.Array, keys: jax.Array, values: jax.Array, far_first: jax.Array, mask: jax.Array
) -> jax.Array:
    """Softmax attention of W queries over J = M + W keys: ``[heads, S, W, depth]``.

    ``content`` and ``position [heads, S, W, depth]`` are the scaled queries with either bias; ``keys`` and ``values``
    ``[heads, S, J, depth]``; ``far_first [heads, M + 1, depth]`` the projected positions of the distances M … 0;
    ``mask [S, W, J]`` is additive and gets no gradient.
    """
    return _weighted(content, position, keys, values, far_first, mask)[0]


def _padded(far_first: jax.Array, keys: int) -> jax.Array:
    return jnp.pad(far_first, [(0, 0), (0, keys + 1 - far_first.shape[1]), (0, 0)])


def _weighted(
    content: jax.Array, position: jax.Array, keys: jax.Array, values: jax.Array, far_first: jax.Array, mask: jax.Array
) -> tuple[jax.Array, jax.Array]:
    heads, sequences, queries, depth = position.shape
    flat = position.reshape(heads, sequences * queries, depth)
    by_distance = held(jnp.einsum("hnd,hed->hne", flat, _padded(far_first, keys.shape[2])))
    scores = held(jnp.einsum("hstd,hsjd->hstj", content, keys))
    scores += distances_to_keys(by_distance.reshape(heads, sequences, queries, -1), keys.shape[2]) + mask[None]
    grown = jnp.exp(scores - jnp.max(scores, axis=-1, keepdims=True))
    weights = held(grown / jnp.sum(grown, axis=-1, keepdims=True))
    return jnp.einsum("hstj,hsjd->hstd", weights, values), weights


def _forward(
    content: jax.Array, position: jax.Array, keys: jax.Array, values: jax.Array, far_first: jax.Array, mask: jax.Array
) -> tuple[jax.Array, Saved]:
    out, weights = _weighted(content, position, keys, values, far_first, mask)
    return out, (content, position, keys, values, far_first, weights)


def _backward(saved: Saved, gradient: jax.Array) -> tuple[jax.Array | None, ...]:
    content, position, keys, values, far_first, weights = saved
    heads, sequences, queries, depth = position.shape
    gradient = held(gradient)
    to_weights = held(jnp.einsum("hstd,hsjd->hstj", gradient, values))
    to_values = jnp.einsum("hstj,hstd->hsjd", weights, gradient)
    to_scores = held(weights * (to_weights - jnp.sum(to_weights * weights, axis=-1, keepdims=True)))
    to_content = jnp.einsum("hstj,hsjd->hstd", to_scores, keys)
    to_keys = jnp.einsum("hstj,hstd->hsjd", to_scores, content)
    by_distance = held(keys_to_distances(to_scores).reshape(heads, sequences * queries, -1))
    padded = _padded(far_first, keys.shape[2])
    to_position = jnp.einsum("hne,hed->hnd", by_distance, padded).reshape(position.shape)
    flat = position.reshape(heads, sequences * queries, depth)
    to_distances = jnp.einsum("hne,hnd->hed", by_distance, flat)[:, : far_first.shape[1]]
    return to_content, to_position, to_keys, to_values, to_distances, None


attend.defvjp(_forward, _backward)
