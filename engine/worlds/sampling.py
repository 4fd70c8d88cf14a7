"""Sampled states for vetting: first states of episodes, and transitions along short random walks."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any, Final, Protocol, runtime_checkable

import jax
import jax.numpy as jnp

from engine.sharp.sampled import SampledViews
from engine.worlds.protocol import State, View, World

RESETS: Final = 256
EPISODES: Final = 128
STEPS: Final = 8
STAGED_OF_FOUR: Final = 3
"""Of four episodes, how many begin at a staged moment in a world that can stage any."""


@runtime_checkable
class Staging(Protocol):
    """A world that can make up later moments, so that samples show what random play rarely reaches."""

    def stage(self, key: jax.Array, state: State) -> tuple[State, jax.Array]:
        """From a fresh state: a later moment, and an action that suits it (int32 scalar)."""
        ...


def sampled_views(
    world: World, seed: int, resets: int = RESETS, episodes: int = EPISODES, steps: int = STEPS
) -> SampledViews:
    """Views of ``resets`` first states and of ``episodes * steps`` transitions; pinned by ``seed``, kept per process.

    Each episode takes ``steps`` uniformly random actions. Where the world can stage moments (``Staging``), three of
    four episodes begin at one and take its fitting action first; the others begin at a reset. The two views of a
    transition belong to the same episode: after an end (the last view is kept) the episode starts over from its own
    first state. Transitions are ordered by step, then by episode.

    Raises:
        ValueError: if a count is below 1 or ``seed`` is negative.
    """
    if min(resets, episodes, steps) < 1 or seed < 0:
        raise ValueError("sampling needs at least one reset, one episode and one step, and a seed of 0 or more")
    hashable: Any = world
    sampled: SampledViews = _sampled(hashable, seed, resets, episodes, steps)
    return sampled


@lru_cache(maxsize=2)
def _sampled(world: World, seed: int, resets: int, episodes: int, steps: int) -> SampledViews:
    key = jax.random.key(seed, impl="threefry2x32")
    for_resets, for_stages, for_walks = (jax.random.fold_in(key, index) for index in range(3))
    hashable: Any = world
    programs = _programs(hashable)
    fresh = programs.reset(jax.random.split(for_resets, resets + episodes))
    firsts = jax.tree.map(lambda leaf: leaf[:resets], fresh)
    states = jax.tree.map(lambda leaf: leaf[resets:], fresh)
    openings = jnp.full(episodes, -1, jnp.int32)
    if programs.stage is not None:
        moments, apt = programs.stage(jax.random.split(for_stages, episodes), states)
        staged = jnp.arange(episodes, dtype=jnp.int32) % 4 < STAGED_OF_FOUR
        states = jax.tree.map(lambda moment, state: _where(staged, moment, state), moments, states)
        openings = jnp.where(staged, apt, openings)
    before, after, begun = [], [], states
    for for_step in jax.random.split(for_walks, steps):
        before.append(programs.view(states))
        following, over = programs.advance(for_step, states, openings)
        after.append(programs.view(following))
        states = jax.tree.map(lambda first, state, over=over: _where(over, first, state), begun, following)
        openings = jnp.full(episodes, -1, jnp.int32)
    return SampledViews(resets=programs.view(firsts), previous=_joined(before), current=_joined(after))


class _Programs:
    """The compiled functions of one world; JAX compiles each again for another batch size."""

    def __init__(self, world: World) -> None:
        # A game's world may take megabytes to make: in chunks it stays in the processor's cache.
        self.reset = jax.jit(lambda keys: jax.lax.map(world.reset, keys, batch_size=64))
        self.view = jax.vmap(world.view)
        self.stage = jax.jit(jax.vmap(world.stage)) if isinstance(world, Staging) else None

        def advance(key: jax.Array, states: State, planned: jax.Array) -> tuple[State, jax.Array]:
            """One step of each episode, by its planned action or (where that is -1) a random one."""
            count = planned.shape[0]
            for_actions, for_steps = jax.random.split(key)
            drawn = jax.random.randint(for_actions, (count,), 0, world.num_actions, jnp.int32)
            actions = jnp.where(planned >= 0, planned, drawn)
            following, died, timed_out = jax.vmap(world.step)(jax.random.split(for_steps, count), states, actions)
            return following, died | timed_out

        self.advance = jax.jit(advance)


@cache
def _programs(world: World) -> _Programs:
    return _Programs(world)


def _where(chosen: jax.Array, one: jax.Array, other: jax.Array) -> jax.Array:
    """``one`` where ``chosen`` (shape ``(b,)``), else ``other``; leaves have shape ``(b, ...)``."""
    return jnp.where(chosen.reshape(-1, *[1] * (one.ndim - 1)), one, other)


def _joined(views: list[View]) -> View:
    joined: View = jax.tree.map(lambda *leaves: jnp.concatenate(leaves), *views)
    return joined
