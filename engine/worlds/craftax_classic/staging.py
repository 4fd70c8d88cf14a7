"""Made-up later moments of Craftax-Classic, so that sampled states show what random play would take hours to reach.

A staged moment starts from a fresh world and changes what a long episode would have changed: time of day, needs,
inventory, a table and a furnace near the player, a planted sapling. Then one of the scenes below is set up in front of
the player, together with an action that suits it. Staged states obey the schema's ranges but need not be reachable
(tools may be missing their history); they serve the vetting of programs only, never training or evaluation.
"""

from __future__ import annotations

from typing import Final

import jax
import jax.numpy as jnp
from craftax.craftax_classic.constants import CLOSE_BLOCKS, DIRECTIONS, Action, BlockType
from craftax.craftax_classic.envs.craftax_state import EnvParams, EnvState, Inventory
from craftax.craftax_classic.game_logic import calculate_light_level

_BLOCKS: Final = tuple(
    BlockType[name].value
    for name in ("TREE", "STONE", "COAL", "IRON", "DIAMOND", "WATER", "GRASS", "LAVA", "PLANT", "RIPE_PLANT")
)
_MOBS: Final = ("zombies", "cows", "skeletons")
_MADE: Final = tuple(action.value for action in Action if action.name.startswith(("MAKE_", "PLACE_")))
_SCENES: Final = len(_BLOCKS) + len(_MOBS) + len(_MADE) + 3
"""A block to act on (lava: to walk into); a mob to hit; something to make or place; a sleeper; walking on (twice)."""

_INNER: Final = 8
"""Cells that a staged player keeps from the map's edge."""


def stage(key: jax.Array, state: EnvState) -> tuple[EnvState, jax.Array]:
    """``(moment, action)`` made from a fresh ``state``: the scene is drawn uniformly, ``action`` is an int32 scalar."""
    keys = iter(jax.random.split(key, 12))
    scene = jax.random.randint(next(keys), (), 0, _SCENES, jnp.int32)
    first_mob, first_made = len(_BLOCKS), len(_BLOCKS) + len(_MOBS)
    asleep = scene == first_made + len(_MADE)

    state = _elsewhere(next(keys), state)
    state = _later(next(keys), state)
    state = _with_needs(next(keys), state, asleep)
    state = _equipped(next(keys), state)
    state = _furnished(next(keys), state)

    front = state.player_position + DIRECTIONS[state.player_direction]
    block = jnp.asarray(_BLOCKS, jnp.int32)[jnp.clip(scene, 0, len(_BLOCKS) - 1)]
    free = jnp.where(jax.random.bernoulli(next(keys), 0.7), BlockType.GRASS.value, BlockType.PATH.value)
    walks = scene > first_made + len(_MADE)
    there = state.map[front[0], front[1]]
    shown = jnp.where(scene < first_mob, block, jnp.where(walks, there, free)).astype(jnp.int32)
    state = state.replace(map=state.map.at[front[0], front[1]].set(shown))
    state = _planted(next(keys), state, front, shown)
    for offset, name in enumerate(_MOBS):
        state = _with_mob(next(keys), state, name, front, scene == first_mob + offset)

    made = jnp.asarray(_MADE, jnp.int32)[jnp.clip(scene - first_made, 0, len(_MADE) - 1)]
    action = jnp.where(scene < first_made, Action.DO.value, made)
    walks |= shown == BlockType.LAVA.value
    action = jnp.where(asleep, Action.SLEEP.value, jnp.where(walks, state.player_direction, action))
    return state, action.astype(jnp.int32)


def _elsewhere(key: jax.Array, state: EnvState) -> EnvState:
    """The player on another cell, which becomes grass where it was solid or lava, looking in a random direction."""
    where, looks = jax.random.split(key)
    position = jax.random.randint(where, (2,), _INNER, state.map.shape[0] - _INNER, jnp.int32)
    block = state.map[position[0], position[1]]
    open_ground = jnp.asarray([BlockType.GRASS.value, BlockType.SAND.value, BlockType.PATH.value], jnp.int32)
    stands = jnp.where((open_ground == block).any(), block, BlockType.GRASS.value).astype(jnp.int32)
    return state.replace(
        player_position=position,
        player_direction=jax.random.randint(looks, (), 1, 5, jnp.int32),
        map=state.map.at[position[0], position[1]].set(stands),
    )


def _later(key: jax.Array, state: EnvState) -> EnvState:
    """Any time of day in the first nine tenths of an episode."""
    timestep = jax.random.randint(key, (), 0, 9_000, jnp.int32)
    with jax.numpy_dtype_promotion("standard"):
        light = calculate_light_level(timestep, EnvParams())
    return state.replace(timestep=timestep, light_level=jax.lax.convert_element_type(light, jnp.float32))


def _with_needs(key: jax.Array, state: EnvState, asleep: jax.Array) -> EnvState:
    """Each need full half of the time, anything from 1 to 9 otherwise; counters anywhere in their range."""
    full, levels, counters = jax.random.split(key, 3)
    amounts = jnp.where(
        jax.random.bernoulli(full, 0.5, (4,)), jnp.int32(9), jax.random.randint(levels, (4,), 1, 10, jnp.int32)
    )
    halves = jax.random.randint(
        counters, (4,), jnp.array([-30, 0, 0, -20], jnp.int32), jnp.array([51, 51, 41, 61], jnp.int32), jnp.int32
    )
    steps = halves.astype(jnp.float32) / 2
    return state.replace(
        player_health=amounts[0],
        player_food=amounts[1],
        player_drink=amounts[2],
        player_energy=amounts[3],
        is_sleeping=asleep,
        player_recover=steps[0],
        player_hunger=steps[1],
        player_thirst=steps[2],
        player_fatigue=steps[3],
    )


def _equipped(key: jax.Array, state: EnvState) -> EnvState:
    """A third of the time everything, else each item with probability one half: 1 to 8 materials, one of each tool."""
    everything, some, amounts = jax.random.split(key, 3)
    names = tuple(Inventory.__dataclass_fields__)
    has = jax.random.bernoulli(some, 0.5, (len(names),)) | jax.random.bernoulli(everything, 1 / 3)
    counts = jnp.where(has, jax.random.randint(amounts, (len(names),), 1, 9, jnp.int32), 0)
    tool = jnp.asarray([name.endswith(("_pickaxe", "_sword")) for name in names])
    counts = jnp.where(tool, jnp.minimum(counts, 1), counts)
    return state.replace(inventory=Inventory(**{name: counts[index] for index, name in enumerate(names)}))


def _furnished(key: jax.Array, state: EnvState) -> EnvState:
    """A crafting table and a furnace, each with probability 0.7, on two of the eight cells around the player."""
    where, which = jax.random.split(key)
    cells = jax.random.permutation(where, CLOSE_BLOCKS)
    present = jax.random.bernoulli(which, 0.7, (2,))
    for index, block in enumerate((BlockType.CRAFTING_TABLE, BlockType.FURNACE)):
        row, column = state.player_position + cells[index]
        value = jnp.where(present[index], block.value, state.map[row, column])
        state = state.replace(map=state.map.at[row, column].set(value.astype(jnp.int32)))
    return state


def _planted(key: jax.Array, state: EnvState, front: jax.Array, shown: jax.Array) -> EnvState:
    """Give the plant in front, if one is shown, the slot and the age that the game would keep for it."""
    ripe = shown == BlockType.RIPE_PLANT.value
    planted = ripe | (shown == BlockType.PLANT.value)
    age = jax.random.randint(key, (), 0, 599, jnp.int32) + jnp.where(ripe, jnp.int32(600), jnp.int32(0))
    return state.replace(
        growing_plants_positions=state.growing_plants_positions.at[0].set(jnp.where(planted, front, jnp.int32(0))),
        growing_plants_age=state.growing_plants_age.at[0].set(jnp.where(planted, age, jnp.int32(0))),
        growing_plants_mask=state.growing_plants_mask.at[0].set(planted),
    )


def _with_mob(key: jax.Array, state: EnvState, name: str, front: jax.Array, present: jax.Array) -> EnvState:
    """Put the first mob of a kind on the cell in front of the player, with 1 to 5 points of health."""
    mobs = getattr(state, name)
    health = jax.random.randint(key, (), 1, 6, jnp.int32)
    mobs = mobs.replace(
        position=mobs.position.at[0].set(jnp.where(present, front, mobs.position[0])),
        health=mobs.health.at[0].set(jnp.where(present, health, mobs.health[0])),
        mask=mobs.mask.at[0].set(mobs.mask[0] | present),
    )
    occupied = state.mob_map.at[front[0], front[1]].set(state.mob_map[front[0], front[1]] | present)
    return state.replace(**{name: mobs}, mob_map=occupied)
