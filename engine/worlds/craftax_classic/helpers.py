"""Pure functions of Craftax-Classic that skill programs may call; each works on a program view, never on a state.

The first six carry the names and the meaning of the package's own functions. They differ in one point: the package
reads the map with an unchecked index, which wraps or clamps outside of it; here a cell outside the map is
``OUT_OF_BOUNDS``, which is neither solid nor occupied.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from craftax.craftax_classic.constants import CLOSE_BLOCKS, DIRECTIONS, OBS_DIM, SOLID_BLOCKS, BlockType

from engine.worlds.protocol import View


def in_bounds(state: View, position: jax.Array) -> jax.Array:
    """Whether ``position`` (row, column) lies on the map: bool scalar."""
    rows, columns = state["map"].shape
    return (position[0] >= 0) & (position[0] < rows) & (position[1] >= 0) & (position[1] < columns)


def block_at(state: View, position: jax.Array) -> jax.Array:
    """The BlockType at ``position``, ``OUT_OF_BOUNDS`` outside the map: int32 scalar."""
    return _read(state["map"], position, BlockType.OUT_OF_BOUNDS.value)


def is_in_wall(state: View, position: jax.Array) -> jax.Array:
    """Whether the block at ``position`` is one of ``SOLID_BLOCKS``: bool scalar."""
    return (block_at(state, position) == SOLID_BLOCKS).any()


def is_in_mob(state: View, position: jax.Array) -> jax.Array:
    """Whether a zombie, cow, skeleton or the player stands on ``position``: bool scalar."""
    return _read(state["mob_map"], position, False) | (state["player_position"] == position).all()


def is_position_in_bounds_not_in_wall_not_in_mob_not_in_lava(state: View, position: jax.Array) -> jax.Array:
    """Whether a creature could step onto ``position``: bool scalar."""
    block = block_at(state, position)
    blocked = is_in_wall(state, position) | is_in_mob(state, position) | (block == BlockType.LAVA.value)
    return in_bounds(state, position) & ~blocked


def is_near_block(state: View, block_type: jax.Array) -> jax.Array:
    """Whether one of the eight cells around the player holds ``block_type``: bool scalar."""
    around = state["player_position"][None, :] + CLOSE_BLOCKS
    return (jax.vmap(block_at, (None, 0))(state, around) == block_type).any() & (
        block_type != BlockType.OUT_OF_BOUNDS.value
    )


def get_player_attack_damage(state: View) -> jax.Array:
    """Health that one blow of the player takes from a mob, by the best sword carried: int32 scalar."""
    bag = state["inventory"]
    damages = [jnp.int32(1), 2 * bag["wood_sword"], 3 * bag["stone_sword"], 5 * bag["iron_sword"]]
    return jnp.stack(damages).max()


def facing_position(state: View) -> jax.Array:
    """The cell in front of the player, on which DO and the PLACE actions act: int32, shape ``(2,)``."""
    position: jax.Array = state["player_position"] + DIRECTIONS[state["player_direction"]]
    return position


def facing_block(state: View) -> jax.Array:
    """The BlockType of the cell in front of the player, ``OUT_OF_BOUNDS`` outside the map: int32 scalar."""
    return block_at(state, facing_position(state))


def is_facing_mob(state: View) -> jax.Array:
    """Whether a zombie, cow or skeleton stands on the cell in front of the player: bool scalar."""
    return _read(state["mob_map"], facing_position(state), False)


def count_visible_blocks(state: View, block_type: jax.Array) -> jax.Array:
    """How many cells of the player's field of view (``OBS_DIM``, centred on it) hold ``block_type``: int32 scalar."""
    height, width = OBS_DIM
    row, column = state["player_position"]
    rows = jnp.arange(state["map"].shape[0], dtype=jnp.int32)
    columns = jnp.arange(state["map"].shape[1], dtype=jnp.int32)
    seen = (jnp.abs(rows - row) <= height // 2)[:, None] & (jnp.abs(columns - column) <= width // 2)[None, :]
    return (seen & (state["map"] == block_type)).sum(dtype=jnp.int32)


def _read(grid: jax.Array, position: jax.Array, outside: int) -> jax.Array:
    grid = jnp.asarray(grid)
    rows, columns = grid.shape
    row, column = jnp.clip(position[0], 0, rows - 1), jnp.clip(position[1], 0, columns - 1)
    inside = (row == position[0]) & (column == position[1])
    return jnp.where(inside, grid[row, column], jnp.asarray(outside, grid.dtype))
