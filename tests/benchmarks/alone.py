"""The environment alone: random actions in one scan, with the resets that its episodes need, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from engine.train.rollout import blank_states
from engine.worlds.protocol import World

Alone = Callable[[Any, jax.Array, jax.Array], tuple[Any, jax.Array, jax.Array]]


def environment_alone(world: World, batch: int, steps: int) -> Alone:
    """The function ``(states, over, key) -> (states, over, observations)`` of ``steps`` steps of ``batch`` worlds.

    Per step: a reset wherever an episode is over, a few at a time and none if none is; the observation of every world,
    kept as a rollout has to keep it; a uniform action; the transition.
    """
    rows = min(max(batch // 128, 1), 8)

    def reset(key: jax.Array, states: Any, over: jax.Array) -> Any:
        def some(carry: tuple[Any, jax.Array]) -> tuple[Any, jax.Array]:
            states, over = carry
            # Rows past the last episode that is over are out of range: reset for nothing and dropped.
            which = jnp.nonzero(over, size=rows, fill_value=batch)[0]
            fresh = jax.vmap(world.reset)(jax.vmap(lambda row: jax.random.fold_in(key, row))(which))
            states = jax.tree.map(lambda old, new: old.at[which].set(new, mode="drop"), states, fresh)
            return states, over.at[which].set(False, mode="drop")

        return jax.lax.while_loop(lambda carry: carry[1].any(), some, (states, over))[0]

    def run(states: Any, over: jax.Array, key: jax.Array) -> tuple[Any, jax.Array, jax.Array]:
        def step(carry: tuple[Any, jax.Array], time: jax.Array) -> tuple[tuple[Any, jax.Array], jax.Array]:
            states, over = carry
            reset_key, action_key, world_key = jax.random.split(jax.random.fold_in(key, time), 3)
            states = reset(reset_key, states, over)
            observation = jax.vmap(world.observe)(states)
            action = jax.random.randint(action_key, (batch,), 0, world.num_actions)
            states, died, timed_out = jax.vmap(world.step)(jax.random.split(world_key, batch), states, action)
            return (states, died | timed_out), observation

        (states, over), observations = jax.lax.scan(step, (states, over), jnp.arange(steps))
        return states, over, observations

    return run


def unbegun(world: World, batch: int) -> tuple[Any, jax.Array]:
    """States to be overwritten, and that every episode is over."""
    return blank_states(world, batch), jnp.ones(batch, bool)
