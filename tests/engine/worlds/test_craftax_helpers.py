"""The helpers of Craftax-Classic mean what the package's functions mean, and what their own docstrings say."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from craftax.craftax_classic import game_logic
from craftax.craftax_classic.constants import BlockType

from engine.worlds.craftax_classic import CraftaxClassic, helpers
from engine.worlds.craftax_classic.schema import SCHEMA
from engine.worlds.permissive import permissive
from tests.engine.worlds.conftest import BATCH, Moves

OF_POSITIONS = [
    "in_bounds",
    "is_in_wall",
    "is_in_mob",
    "is_position_in_bounds_not_in_wall_not_in_mob_not_in_lava",
]


@pytest.fixture(scope="module")
def views(classic: CraftaxClassic, moves: Moves) -> Any:
    return jax.vmap(classic.view)(moves.before)


@pytest.fixture(scope="module")
def positions(moves: Moves) -> jax.Array:
    """Cells around the player, in it and anywhere, off the map too: shape ``(BATCH, 60, 2)``."""
    around = jnp.asarray(np.mgrid[-2:3, -2:3].reshape(2, -1).T, jnp.int32)
    near = moves.before.player_position[:, None, :] + around[None]
    far = jax.random.randint(jax.random.key(3), (BATCH, 35, 2), -3, 67, jnp.int32)
    return jnp.concatenate([near, far], axis=1)


@pytest.mark.parametrize("name", OF_POSITIONS)
def test_agrees_with_the_package_on_the_map(name: str, moves: Moves, views: Any, positions: jax.Array) -> None:
    ours = jax.vmap(jax.vmap(getattr(helpers, name), (None, 0)))(views, positions)
    with permissive():
        theirs = jax.vmap(jax.vmap(getattr(game_logic, name), (None, 0)))(moves.before, positions)
    inside = np.asarray(((positions >= 0) & (positions < 64)).all(-1))
    assert np.array_equal(np.asarray(ours)[inside], np.asarray(theirs)[inside])
    assert ours.dtype == jnp.bool_
    if name != "in_bounds":
        assert len(np.unique(np.asarray(ours)[inside])) == 2
    assert not np.asarray(ours)[~inside].any()


def test_near_blocks_and_damage_agree_with_the_package(moves: Moves, views: Any) -> None:
    blocks = jnp.arange(len(BlockType), dtype=jnp.int32)
    ours = jax.vmap(jax.vmap(helpers.is_near_block, (None, 0)), (0, None))(views, blocks)
    damage = jax.vmap(helpers.get_player_attack_damage)(views)
    with permissive():
        theirs = jax.vmap(jax.vmap(game_logic.is_near_block, (None, 0)), (0, None))(moves.before, blocks)
        their_damage = jax.vmap(game_logic.get_player_attack_damage)(moves.before)
    assert bool((ours == theirs).all())
    assert bool((damage == their_damage).all())
    assert len(np.unique(np.asarray(damage))) > 2


def test_at_the_corner_of_the_map_nothing_wraps_around() -> None:
    grid = jnp.full((64, 64), BlockType.GRASS.value, jnp.int32).at[63, 63].set(BlockType.STONE.value)
    view = {
        "map": grid,
        "mob_map": jnp.zeros((64, 64), bool).at[63, 0].set(True),
        "player_position": jnp.zeros(2, jnp.int32),
        "player_direction": jnp.int32(3),
    }
    assert not bool(helpers.is_near_block(view, jnp.int32(BlockType.STONE.value)))
    assert not bool(helpers.is_near_block(view, jnp.int32(BlockType.OUT_OF_BOUNDS.value)))
    assert helpers.facing_position(view).tolist() == [-1, 0]
    assert int(helpers.facing_block(view)) == BlockType.OUT_OF_BOUNDS.value
    assert not bool(helpers.is_facing_mob(view))
    assert int(helpers.count_visible_blocks(view, jnp.int32(BlockType.GRASS.value))) == 4 * 5


def test_facing_and_sight_worked_by_hand() -> None:
    grid = jnp.full((64, 64), BlockType.SAND.value, jnp.int32)
    for cell in ((10, 21), (13, 24), (7, 16), (14, 20), (10, 25)):  # the last two are out of sight
        grid = grid.at[cell].set(BlockType.IRON.value)
    view = {
        "map": grid,
        "mob_map": jnp.zeros((64, 64), bool).at[10, 21].set(True),
        "player_position": jnp.array([10, 20], jnp.int32),
        "player_direction": jnp.int32(2),
    }
    assert helpers.facing_position(view).tolist() == [10, 21]
    assert int(helpers.facing_block(view)) == BlockType.IRON.value
    assert bool(helpers.is_facing_mob(view))
    assert int(helpers.count_visible_blocks(view, jnp.int32(BlockType.IRON.value))) == 3


def test_every_helper_returns_what_the_schema_declares(views: Any, positions: jax.Array) -> None:
    given = {"position": positions[:, 0], "block_type": jnp.full(BATCH, BlockType.GRASS.value, jnp.int32)}
    for name, helper in SCHEMA.helpers.items():
        assert helper.function.__name__ == name
        assert helper.parameters[0].is_state
        arguments = [views if parameter.is_state else given[parameter.name] for parameter in helper.parameters]
        result = jax.vmap(helper.function)(*arguments)
        assert (str(result.dtype), result.shape[1:]) == (helper.result.dtype, helper.result.shape), name
        assert not result.weak_type, name
        if helper.result.minimum is not None and helper.result.maximum is not None:
            assert helper.result.minimum <= int(result.min()) <= int(result.max()) <= helper.result.maximum, name


def test_enums_and_constants_are_the_packages() -> None:
    from craftax.craftax_classic import constants

    for name, enumeration in SCHEMA.enums.items():
        assert dict(enumeration.members) == {member.name: member.value for member in getattr(constants, name)}
    for name, constant in SCHEMA.constants.items():
        assert np.array_equal(np.asarray(constant.values), np.asarray(getattr(constants, name)))
        assert np.asarray(constant.values).shape == constant.shape
