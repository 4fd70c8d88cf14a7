"""Pure functions of Craftax that skill programs may call; each works on a program view, never on a state.

Those that carry the name of a function of the package mean the same, on the floor that the player is on, and leave out
the package's fixed settings (``static_params``). They differ in one point: the package reads maps with an unchecked
index, which wraps or clamps outside of them; here a cell outside the map is ``OUT_OF_BOUNDS``, neither solid nor
occupied, and holds no item.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from craftax.craftax.constants import (
    BOSS_FIGHT_EXTRA_DAMAGE,
    CLOSE_BLOCKS,
    DIRECTIONS,
    OBS_DIM,
    SOLID_BLOCK_MAPPING,
    BlockType,
    ItemType,
)

from engine.worlds.protocol import View

LIT = 0.05
"""Cells whose light is at or below this show nothing to the player."""

_SWORD_DAMAGES = (1, 2, 3, 5, 8)
_FIRE, _ICE = 1, 2


# --- places ----------------------------------------------------------------------------------------------------------


def in_bounds(state: View, position: jax.Array) -> jax.Array:
    """Whether ``position`` (row, column) lies on the map: bool scalar."""
    _, rows, columns = state["map"].shape
    return (position[0] >= 0) & (position[0] < rows) & (position[1] >= 0) & (position[1] < columns)


def block_at(state: View, position: jax.Array) -> jax.Array:
    """The BlockType at ``position`` on the player's floor, ``OUT_OF_BOUNDS`` outside the map: int32 scalar."""
    return _read(state, "map", position, BlockType.OUT_OF_BOUNDS.value)


def item_at(state: View, position: jax.Array) -> jax.Array:
    """The ItemType lying at ``position`` on the player's floor, ``NONE`` outside the map: int32 scalar."""
    return _read(state, "item_map", position, ItemType.NONE.value)


def is_in_solid_block(state: View, position: jax.Array) -> jax.Array:
    """Whether the block at ``position`` is solid (``SOLID_BLOCK_MAPPING``): bool scalar."""
    solid: jax.Array = SOLID_BLOCK_MAPPING[block_at(state, position)]
    return solid


def is_in_mob(state: View, position: jax.Array) -> jax.Array:
    """Whether a creature of the player's floor or the player stands on ``position``: bool scalar."""
    return _read(state, "mob_map", position, False) | (state["player_position"] == position).all()


def is_position_in_bounds_not_in_mob_not_colliding(
    state: View, position: jax.Array, collision_map: jax.Array
) -> jax.Array:
    """Whether a creature could step onto ``position``: bool scalar.

    ``collision_map`` (bool, shape ``(3,)``) says whether ground, water and lava stop it; solid blocks stop everyone.
    """
    block = block_at(state, position)
    in_lava, in_water = block == BlockType.LAVA.value, block == BlockType.WATER.value
    solid = is_in_solid_block(state, position)
    surface = jnp.stack([~solid & ~in_water & ~in_lava, in_water, in_lava])
    return in_bounds(state, position) & ~is_in_mob(state, position) & ~solid & ~(collision_map & surface).any()


def is_near_block(state: View, block_type: jax.Array) -> jax.Array:
    """Whether one of the eight cells around the player holds ``block_type``: bool scalar."""
    around = state["player_position"][None, :] + CLOSE_BLOCKS
    inside = jax.vmap(in_bounds, (None, 0))(state, around)
    return (inside & (jax.vmap(block_at, (None, 0))(state, around) == block_type)).any()


def facing_position(state: View) -> jax.Array:
    """The cell in front of the player, on which DO and the PLACE and ENCHANT actions act: int32, shape ``(2,)``."""
    position: jax.Array = state["player_position"] + DIRECTIONS[state["player_direction"]]
    return position


def facing_block(state: View) -> jax.Array:
    """The BlockType of the cell in front of the player, ``OUT_OF_BOUNDS`` outside the map: int32 scalar."""
    return block_at(state, facing_position(state))


def is_facing_mob(state: View) -> jax.Array:
    """Whether a creature stands on the cell in front of the player: bool scalar."""
    return _read(state, "mob_map", facing_position(state), False)


def count_visible_blocks(state: View, block_type: jax.Array) -> jax.Array:
    """How many lit cells of the player's field of view (``OBS_DIM``, centred on it) hold ``block_type``: int32."""
    height, width = OBS_DIM
    _, rows, columns = state["map"].shape
    row = state["player_position"][0] + jnp.arange(-(height // 2), height // 2 + 1, dtype=jnp.int32)
    column = state["player_position"][1] + jnp.arange(-(width // 2), width // 2 + 1, dtype=jnp.int32)
    inside = ((row >= 0) & (row < rows))[:, None] & ((column >= 0) & (column < columns))[None, :]
    cells = (state["player_level"], jnp.clip(row, 0, rows - 1)[:, None], jnp.clip(column, 0, columns - 1)[None, :])
    blocks, light = jnp.asarray(state["map"])[cells], jnp.asarray(state["light_map"])[cells]
    return (inside & (light > LIT) & (blocks == block_type)).sum(dtype=jnp.int32)


# --- the player's limits ---------------------------------------------------------------------------------------------


def get_max_health(state: View) -> jax.Array:
    """Health that the player can have, by strength: int32 scalar."""
    return jnp.asarray(8 + state["player_strength"])


def get_max_food(state: View) -> jax.Array:
    """Food that the player can have, by dexterity: int32 scalar."""
    return jnp.asarray(7 + 2 * state["player_dexterity"])


def get_max_drink(state: View) -> jax.Array:
    """Drink that the player can have, by dexterity: int32 scalar."""
    return jnp.asarray(7 + 2 * state["player_dexterity"])


def get_max_energy(state: View) -> jax.Array:
    """Energy that the player can have, by dexterity: int32 scalar."""
    return jnp.asarray(7 + 2 * state["player_dexterity"])


def get_max_mana(state: View) -> jax.Array:
    """Mana that the player can have, by intelligence: int32 scalar."""
    return jnp.asarray(6 + 3 * state["player_intelligence"])


# --- damage ----------------------------------------------------------------------------------------------------------


def get_player_damage_vector(state: View) -> jax.Array:
    """Physical, fire and ice damage of one blow of the player, before defences: float32, shape ``(3,)``."""
    sword = jnp.asarray(_SWORD_DAMAGES, jnp.float32)[state["inventory"]["sword"]]
    strength = 1 + jnp.float32(0.25) * _number(state["player_strength"] - 1)
    magic = jnp.float32(0.5) * (1 + jnp.float32(0.05) * _number(state["player_intelligence"] - 1))
    fire, ice = (jnp.where(state["sword_enchantment"] == kind, sword * magic, jnp.float32(0)) for kind in (_FIRE, _ICE))
    return jnp.stack([sword * strength, fire, ice])


def get_damage(damage_vector: jax.Array, defense_vector: jax.Array) -> jax.Array:
    """Damage that is left of ``damage_vector`` after defences, summed over the three kinds: float32 scalar."""
    return ((1 - defense_vector) * damage_vector).sum()


def get_damage_done_to_player(state: View, damage_vector: jax.Array) -> jax.Array:
    """Health that ``damage_vector`` takes from the player, by armour and its enchantments: float32 scalar."""
    enchanted = state["armour_enchantments"]
    physical = jnp.float32(0.1) * _number(state["inventory"]["armour"]).sum()
    fire, ice = (jnp.float32(0.2) * _number(enchanted == kind).sum() for kind in (_FIRE, _ICE))
    more = jnp.float32(1) + jnp.float32(BOSS_FIGHT_EXTRA_DAMAGE) * _number(is_fighting_boss(state))
    return get_damage(more * damage_vector, jnp.stack([physical, fire, ice]))


# --- the boss --------------------------------------------------------------------------------------------------------


def is_fighting_boss(state: View) -> jax.Array:
    """Whether the player is on the last floor: bool scalar."""
    return jnp.asarray(state["player_level"] == state["map"].shape[0] - 1)


def is_boss_spawn_wave(state: View) -> jax.Array:
    """Whether monsters are rising around the boss: bool scalar."""
    return is_fighting_boss(state) & (state["boss_timesteps_to_spawn_this_round"] >= 1)


def is_boss_vulnerable(state: View) -> jax.Array:
    """Whether a wave is over and no monster of the player's floor is left: bool scalar."""
    level = state["player_level"]
    melee, ranged = (jnp.asarray(state[name]["mask"])[level].any() for name in ("melee_mobs", "ranged_mobs"))
    return ~melee & ~ranged & (state["boss_timesteps_to_spawn_this_round"] <= 0)


def has_beaten_boss(state: View) -> jax.Array:
    """Whether the boss has been hit often enough, which ends the episode: bool scalar."""
    return jnp.asarray(state["boss_progress"] >= state["map"].shape[0] - 1)


# --- reading ---------------------------------------------------------------------------------------------------------


def _number(value: jax.Array) -> jax.Array:
    return jnp.asarray(value).astype(jnp.float32)


def _read(state: View, name: str, position: jax.Array, outside: int) -> jax.Array:
    """A cell of the player's floor, or ``outside``."""
    grid = jnp.asarray(state[name])
    _, rows, columns = grid.shape
    row, column = jnp.clip(position[0], 0, rows - 1), jnp.clip(position[1], 0, columns - 1)
    inside = (row == position[0]) & (column == position[1])
    return jnp.where(inside, grid[state["player_level"], row, column], jnp.asarray(outside, grid.dtype))
