"""The helpers of Craftax mean what the package's functions mean, and what their own docstrings say."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from craftax.craftax.constants import BlockType, ItemType
from craftax.craftax.craftax_state import StaticEnvParams
from craftax.craftax.util import game_logic_utils as package

from engine.worlds.craftax import helpers
from engine.worlds.craftax.schema import SCHEMA
from engine.worlds.permissive import permissive
from tests.engine.worlds.craftax.conftest import BATCH, Moves

OF_PLACES = ["in_bounds", "is_in_solid_block", "is_in_mob"]
OF_STATES = [
    *("get_max_health", "get_max_food", "get_max_drink", "get_max_energy", "get_max_mana"),
    *("get_player_damage_vector", "is_boss_vulnerable", "is_fighting_boss", "is_boss_spawn_wave", "has_beaten_boss"),
]
OURS = {"block_at", "item_at", "facing_position", "facing_block", "is_facing_mob", "count_visible_blocks"}
WITH_SETTINGS = ("is_fighting_boss", "is_boss_spawn_wave", "has_beaten_boss")
SIDE = 48


@pytest.fixture(scope="module")
def states(moves: Moves) -> Any:
    """After one step creatures have spawned and moved; some bosses are beaten by decree."""
    beaten = jnp.where(jnp.arange(BATCH) % 7 == 0, 8, moves.after.boss_progress)
    return moves.after.replace(boss_progress=beaten)


@pytest.fixture(scope="module")
def views(look: Any, states: Any) -> Any:
    return look(states)


@pytest.fixture(scope="module")
def positions(states: Any) -> jax.Array:
    """Cells around the player, in it and anywhere, off the map too: shape ``(BATCH, 60, 2)``."""
    around = jnp.asarray(np.mgrid[-2:3, -2:3].reshape(2, -1).T, jnp.int32)
    near = states.player_position[:, None, :] + around[None]
    far = jax.random.randint(jax.random.key(3), (BATCH, 35, 2), -3, SIDE + 3, jnp.int32)
    return jnp.concatenate([near, far], axis=1)


def test_helpers_that_carry_a_name_of_the_package_are_all_compared() -> None:
    compared = {*OF_PLACES, *OF_STATES, "is_near_block", "is_position_in_bounds_not_in_mob_not_colliding"}
    compared |= {"get_damage", "get_damage_done_to_player"}
    assert set(SCHEMA.helpers) == compared | OURS
    assert all(hasattr(package, name) for name in compared)
    assert not any(hasattr(package, name) for name in OURS)


@pytest.mark.parametrize("name", OF_PLACES)
def test_places_agree_with_the_package(name: str, states: Any, views: Any, positions: jax.Array) -> None:
    ours = jax.jit(jax.vmap(jax.vmap(getattr(helpers, name), (None, 0))))(views, positions)
    with permissive():
        theirs = jax.jit(jax.vmap(jax.vmap(getattr(package, name), (None, 0))))(states, positions)
    inside = np.asarray(((positions >= 0) & (positions < SIDE)).all(-1))
    assert np.array_equal(np.asarray(ours)[inside], np.asarray(theirs)[inside])
    if name != "in_bounds":
        assert len(np.unique(np.asarray(ours)[inside])) == 2
    assert not np.asarray(ours)[~inside].any()


@pytest.mark.parametrize("kind", ["LAND_CREATURE", "FLYING", "AQUATIC", "AMPHIBIAN"])
def test_steps_of_every_kind_of_creature_agree(kind: str, states: Any, views: Any, positions: jax.Array) -> None:
    collision = jnp.asarray(SCHEMA.constants[f"COLLISION_{kind}"].values, bool)
    name = "is_position_in_bounds_not_in_mob_not_colliding"
    ours, theirs = (
        jax.jit(jax.vmap(jax.vmap(getattr(module, name), (None, 0, None)), (0, 0, None)))
        for module in (helpers, package)
    )
    with permissive():
        expected = theirs(states, positions, collision)
    given = ours(views, positions, collision)
    assert np.array_equal(np.asarray(given), np.asarray(expected))
    assert len(np.unique(np.asarray(given))) == 2


@pytest.mark.parametrize("name", OF_STATES)
def test_the_player_and_the_boss_agree_with_the_package(name: str, states: Any, views: Any) -> None:
    settings = (StaticEnvParams(),) if name in WITH_SETTINGS else ()
    ours = jax.jit(jax.vmap(getattr(helpers, name)))(views)
    with permissive():
        theirs = jax.jit(jax.vmap(lambda state: getattr(package, name)(state, *settings)))(states)
    assert np.allclose(np.asarray(ours), np.asarray(theirs), rtol=1e-6)
    assert len(np.unique(np.asarray(ours))) > 1, "a case of each kind"


def test_near_blocks_agree_with_the_package(states: Any, views: Any) -> None:
    blocks = jnp.arange(len(BlockType), dtype=jnp.int32)
    ours = jax.jit(jax.vmap(jax.vmap(helpers.is_near_block, (None, 0)), (0, None)))(views, blocks)
    with permissive():
        theirs = jax.jit(jax.vmap(jax.vmap(package.is_near_block, (None, 0)), (0, None)))(states, blocks)
    assert bool((ours == theirs).all())
    assert int(ours.sum()) > BATCH


def test_damage_agrees_with_the_package(states: Any, views: Any) -> None:
    damage = jax.random.uniform(jax.random.key(1), (BATCH, 3), jnp.float32, 0, 6)
    defence = jax.random.uniform(jax.random.key(2), (BATCH, 3), jnp.float32)
    ours = jax.jit(jax.vmap(helpers.get_damage_done_to_player))(views, damage)
    left = jax.jit(jax.vmap(helpers.get_damage))(damage, defence)

    def done(state: Any, vector: jax.Array) -> Any:
        return package.get_damage_done_to_player(state, StaticEnvParams(), vector)

    with permissive():
        theirs = jax.jit(jax.vmap(done))(states, damage)
        their_left = jax.jit(jax.vmap(package.get_damage))(damage, defence)
    assert np.allclose(np.asarray(ours), np.asarray(theirs), rtol=1e-5, atol=1e-6)
    assert np.allclose(np.asarray(left), np.asarray(their_left), rtol=1e-6)


def by_hand(block: BlockType, **changes: Any) -> dict[str, Any]:
    """A view of nine floors of one block, the player on floor 3 at (10, 20), looking right."""
    return {
        "map": np.full((9, SIDE, SIDE), block.value, np.int32),
        "item_map": np.zeros((9, SIDE, SIDE), np.int32),
        "mob_map": np.zeros((9, SIDE, SIDE), bool),
        "light_map": np.ones((9, SIDE, SIDE), np.float32),
        "player_level": np.int32(3),
        "player_position": np.array([10, 20], np.int32),
        "player_direction": np.int32(2),
    } | changes


def called(name: str, *arguments: Any) -> Any:
    """The helper, compiled as one piece."""
    return np.asarray(jax.jit(getattr(helpers, name))(*arguments))


def test_at_the_corner_of_the_map_nothing_wraps_around() -> None:
    view = by_hand(BlockType.GRASS, player_position=np.zeros(2, np.int32), player_direction=np.int32(3))
    view["map"][3, 47, 47] = BlockType.STONE.value
    view["mob_map"][3, 47, 0] = True
    view["item_map"][3, 47, 0] = ItemType.TORCH.value
    assert not bool(called("is_near_block", view, np.int32(BlockType.STONE.value)))
    assert not bool(called("is_near_block", view, np.int32(BlockType.OUT_OF_BOUNDS.value)))
    assert called("facing_position", view).tolist() == [-1, 0]
    assert int(called("facing_block", view)) == BlockType.OUT_OF_BOUNDS.value
    assert int(called("item_at", view, np.array([-1, 0], np.int32))) == ItemType.NONE.value
    assert not bool(called("is_facing_mob", view))
    assert not bool(called("is_in_solid_block", view, np.array([-1, 47], np.int32)))
    assert int(called("count_visible_blocks", view, np.int32(BlockType.GRASS.value))) == 5 * 6


def test_sight_is_of_this_floor_in_the_light() -> None:
    view = by_hand(BlockType.SAND)
    for cell in ((3, 10, 21), (3, 14, 25), (3, 6, 15), (3, 15, 20), (3, 10, 26), (4, 10, 22)):  # three are out of sight
        view["map"][cell] = BlockType.IRON.value
    view["mob_map"][3, 10, 21] = True
    view["item_map"][3, 10, 20], view["item_map"][4, 10, 21] = ItemType.LADDER_DOWN.value, ItemType.TORCH.value
    iron = np.int32(BlockType.IRON.value)
    assert called("facing_position", view).tolist() == [10, 21]
    assert int(called("facing_block", view)) == BlockType.IRON.value
    assert bool(called("is_facing_mob", view))
    assert int(called("item_at", view, view["player_position"])) == ItemType.LADDER_DOWN.value
    assert int(called("item_at", view, called("facing_position", view))) == ItemType.NONE.value
    assert int(called("count_visible_blocks", view, iron)) == 3
    view["light_map"][3, 14, 25] = 0.05
    assert int(called("count_visible_blocks", view, iron)) == 2
    above = view | {"player_level": np.int32(2)}
    assert int(called("count_visible_blocks", above, iron)) == 0
    assert not bool(called("is_facing_mob", above))


def test_every_helper_returns_what_the_schema_declares(views: Any, positions: jax.Array) -> None:
    given = {
        "position": positions[:, 0],
        "block_type": jnp.full(BATCH, BlockType.GRASS.value, jnp.int32),
        "collision_map": jnp.zeros((BATCH, 3), bool),
        "damage_vector": jnp.ones((BATCH, 3), jnp.float32),
        "defense_vector": jnp.zeros((BATCH, 3), jnp.float32),
    }
    for name, helper in SCHEMA.helpers.items():
        assert helper.function.__name__ == name
        arguments = [views if parameter.is_state else given[parameter.name] for parameter in helper.parameters]
        result = jax.jit(jax.vmap(helper.function))(*arguments)
        assert (str(result.dtype), result.shape[1:]) == (helper.result.dtype, helper.result.shape), name
        assert not result.weak_type, name
        if helper.result.minimum is not None and helper.result.maximum is not None:
            assert helper.result.minimum <= float(result.min()) <= float(result.max()) <= helper.result.maximum, name
