"""Generalised advantage estimation with cuts (Schulman et al. 2016, equations 11 to 16)."""

from __future__ import annotations

import jax
import jax.numpy as jnp


def advantages(
    rewards: jax.Array,
    values: jax.Array,
    last_value: jax.Array,
    cut: jax.Array,
    cut_value: jax.Array,
    *,
    discount: float,
    gae_lambda: float,
) -> jax.Array:
    """A_t ``[T, B]`` from rewards and values ``[T, B]`` and the value after the last step ``[B]``.

    delta_t = r_t + gamma V' - V_t and A_t = delta_t + gamma lambda A_{t+1}. Where ``cut`` is False, V' = V_{t+1}.
    Where it is True the trace stops: V' is ``cut_value`` (0 at a true end, the value of the terminal observation at a
    truncation) and A_{t+1} is left out.
    """
    following = jnp.where(cut, cut_value, jnp.concatenate([values[1:], last_value[None]]))
    deltas = rewards + discount * following - values
    decay = jnp.where(cut, 0.0, discount * gae_lambda)

    def back(later: jax.Array, step: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        delta, factor = step
        now = delta + factor * later
        return now, now

    _, result = jax.lax.scan(back, jnp.zeros_like(last_value), (deltas, decay), reverse=True)
    return result
