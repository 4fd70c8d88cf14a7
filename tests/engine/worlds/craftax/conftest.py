"""Craftax compiled once: every scene staged some times, what one step makes of them, and a stretch of random play."""

from __future__ import annotations

from collections.abc import Callable
from itertools import cycle
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from attrs import frozen
from craftax.craftax.constants import Action

from engine.worlds.craftax import Craftax
from engine.worlds.craftax.staging import ANY, SCENES, staged
from engine.worlds.registry import world

TIMES = 6
BATCH = TIMES * len(SCENES)
PLAYED = 12


@frozen
class Moves:
    """States before and after one step each, all with a leading axis of ``BATCH``: scenes in order, ``TIMES`` over."""

    keys: jax.Array
    fresh: Any
    before: Any
    actions: jax.Array
    after: Any
    died: jax.Array
    timed_out: jax.Array


@pytest.fixture(scope="session")
def full() -> Craftax:
    built = world("craftax")
    assert isinstance(built, Craftax)
    return built


@pytest.fixture(scope="session")
def advance(full: Craftax) -> Callable[..., Any]:
    """``advance(keys, states, actions)``: the world's own step on a batch of ``BATCH``."""
    return jax.jit(jax.vmap(full.step))


@pytest.fixture(scope="session")
def look(full: Craftax) -> Callable[..., Any]:
    return jax.jit(jax.vmap(full.view))


@pytest.fixture(scope="session")
def moves(full: Craftax, advance: Callable[..., Any]) -> Moves:
    keys = jax.random.split(jax.random.key(7), BATCH)
    fresh = jax.jit(lambda keys: jax.lax.map(full.reset, keys, batch_size=TIMES * 4))(keys)
    scenes = jnp.tile(jnp.arange(len(SCENES), dtype=jnp.int32), TIMES)
    rich = jnp.arange(BATCH, dtype=jnp.int32) // len(SCENES) % 2 == 0
    before, actions = jax.jit(jax.vmap(staged))(keys, fresh, scenes, rich)
    actions = jnp.asarray(_in_turn(actions.tolist()), jnp.int32)
    after, died, timed_out = advance(keys, before, actions)
    return Moves(keys, fresh, before, actions, after, died, timed_out)


@pytest.fixture(scope="session")
def played(moves: Moves, advance: Callable[..., Any], look: Callable[..., Any]) -> list[Any]:
    """Views along random play that goes on from the staged moments; an ended episode begins anew."""
    views, states, over = [], moves.after, moves.died | moves.timed_out
    for key in jax.random.split(jax.random.key(5), PLAYED):
        states = jax.tree.map(lambda first, now, over=over: _where(over, first, now), moves.before, states)
        actions = jax.random.randint(key, (BATCH,), 0, 43, jnp.int32)
        states, died, timed_out = advance(jax.random.split(key, BATCH), states, actions)
        over = died | timed_out
        views.append(look(states))
    return views


def _in_turn(actions: list[int]) -> list[int]:
    """Where a scene takes any action: those that no scene is made for, moves apart, each at least once."""
    made_for = {scene.action for scene in SCENES} | {0, 1, 2, 3, 4}
    others = cycle(action.value for action in Action if action.value not in made_for)
    return [next(others) if SCENES[at % len(SCENES)].action == ANY else action for at, action in enumerate(actions)]


def _where(chosen: jax.Array, one: jax.Array, other: jax.Array) -> jax.Array:
    return jnp.where(chosen.reshape(-1, *[1] * (one.ndim - 1)), one, other)
