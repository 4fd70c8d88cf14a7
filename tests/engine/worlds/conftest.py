"""Craftax-Classic compiled once: a batch of staged moments, and what one step makes of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from attrs import frozen

from engine.worlds.craftax_classic import CraftaxClassic
from engine.worlds.registry import world

BATCH = 48


@frozen
class Moves:
    """States before and after one step each, all with a leading axis of ``BATCH``."""

    keys: jax.Array
    fresh: Any
    before: Any
    actions: jax.Array
    after: Any
    died: jax.Array
    timed_out: jax.Array


@pytest.fixture(scope="session")
def classic() -> CraftaxClassic:
    built = world("craftax_classic")
    assert isinstance(built, CraftaxClassic)
    return built


@pytest.fixture(scope="session")
def advance(classic: CraftaxClassic) -> Callable[..., Any]:
    """``advance(keys, states, actions)``: the world's own step on a batch of ``BATCH``."""
    return jax.jit(jax.vmap(classic.step))


@pytest.fixture(scope="session")
def observe(classic: CraftaxClassic) -> Callable[..., Any]:
    return jax.jit(jax.vmap(classic.observe))


@pytest.fixture(scope="session")
def moves(classic: CraftaxClassic, advance: Callable[..., Any]) -> Moves:
    keys = jax.random.split(jax.random.key(7), BATCH)
    fresh = jax.jit(jax.vmap(classic.reset))(keys)
    before, actions = jax.jit(jax.vmap(classic.stage))(keys, fresh)
    after, died, timed_out = advance(keys, before, actions)
    return Moves(keys, fresh, before, actions, after, died, timed_out)


@pytest.fixture
def quiet(moves: Moves) -> Any:
    """Fresh states in which nothing threatens the player for one step, to be changed by a test."""
    grass = jnp.full_like(moves.fresh.map, 2)
    return moves.fresh.replace(map=grass)
