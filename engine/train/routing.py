"""Routing decisions: targets, progress, rewards and success (paper 000, section 2.5).

Pure functions; ``n`` skills with ``k`` condition slots each. A slot without a condition has prerequisite -1 and
condition True.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np


def success_rates(successes: Sequence[int], attempts: Sequence[int]) -> np.ndarray:
    """rho ``[n]`` in float64: successes / attempts as target; 0 before the first attempt."""
    return np.array([done / tried if tried else 0.0 for done, tried in zip(successes, attempts, strict=True)])


def reward_scale(rates: np.ndarray, *, adaptive: bool, cap: float, epsilon: float) -> np.ndarray:
    """Reward of each skill, float32 ``[n]``: r_i = min(1 / rho_i + epsilon, cap) (section 2.5, reward scaling).

    rho = 0 gives the cap. Every reward is 1 if not ``adaptive``.
    """
    if not adaptive:
        return np.ones(len(rates), np.float32)
    inverse = np.array([1.0 / rate if rate > 0 else np.inf for rate in rates])
    return np.minimum(inverse + epsilon, cap).astype(np.float32)


def sampling_log_weights(prerequisite: jax.Array, conditions: jax.Array, log_rates: jax.Array) -> jax.Array:
    """log B_j ``[n]`` with B_j = 1 / prod_k (rho_k + epsilon)^N_jk (section 2.5, opportunistic sampling).

    N_jk is 1 if skill k is the prerequisite of *some* condition of j that holds in s_t, so a skill that stands behind
    two conditions counts once. ``prerequisite [n, k]``; ``conditions [n, k]``; ``log_rates [n]`` = log(rho + epsilon).
    """
    holds = conditions & (prerequisite >= 0)
    slots = prerequisite.shape[1]
    same = prerequisite[:, :, None] == prerequisite[:, None, :]
    earlier = np.tri(slots, slots, -1, dtype=bool)[None]
    repeated = jnp.any(same & earlier & holds[:, None, :], axis=2)
    factors = log_rates[jnp.maximum(prerequisite, 0)]
    return -jnp.sum(jnp.where(holds & ~repeated, factors, 0.0), axis=1)


def target_logits(log_weights: jax.Array, success: jax.Array, valid: jax.Array) -> jax.Array:
    """Log probabilities, up to a constant, of the next target inside an episode: ``[n]``.

    Skills whose success condition holds in s_t are masked (section 2.5). If it holds for every skill: uniform over the
    archive. ``success`` and ``valid`` are bool ``[n]``; rows beyond the archive are not ``valid``.
    """
    free = valid & ~success
    some = jnp.any(free)
    return jnp.where(jnp.where(some, free, valid), jnp.where(some, log_weights, 0.0), -jnp.inf)


def next_target(key: jax.Array, log_weights: jax.Array, success: jax.Array, valid: jax.Array) -> jax.Array:
    """Draw the next target inside an episode, int32 ``()``: see ``target_logits``."""
    return jax.random.categorical(key, target_logits(log_weights, success, valid)).astype(jnp.int32)


def first_target(key: jax.Array, valid: jax.Array) -> jax.Array:
    """Draw the target at an episode's start: uniform over the archive, int32 ``()`` (section 2.5)."""
    return jax.random.categorical(key, jnp.where(valid, 0.0, -jnp.inf)).astype(jnp.int32)


class Judged(NamedTuple):
    """What one transition meant, each ``[B]``.

    ``fired``: the active skill succeeded, which pays its reward and is progress. ``succeeded``: the target succeeded.
    ``exhausted``: the patience ran out. ``attempt_ended``: by success, the episode's end, or exhaustion.
    ``idle``: steps since the last progress, this one included.
    """

    fired: jax.Array
    succeeded: jax.Array
    exhausted: jax.Array
    attempt_ended: jax.Array
    idle: jax.Array


def judge(
    success: jax.Array,
    target: jax.Array,
    active: jax.Array,
    idle: jax.Array,
    ended: jax.Array,
    patience: jax.Array,
) -> Judged:
    """Judge transitions (s_t, s_{t+1}) of one episode each.

    ``success [B, n]`` is phi of every skill on the transition; ``target`` and ``active`` are those during it.
    "Completed successfully" is read as: phi of the target fires on the transition, whichever skill was active.
    A transition that ends the episode, by death or by the world's time limit, never counts as a success.
    """
    honest = success & ~ended[:, None]
    rows = jnp.arange(success.shape[0])
    fired = honest[rows, active]
    succeeded = honest[rows, target]
    idle = jnp.where(fired, 0, idle + 1)
    exhausted = ~succeeded & (idle >= patience)
    return Judged(fired, succeeded, exhausted, succeeded | ended | exhausted, idle)
