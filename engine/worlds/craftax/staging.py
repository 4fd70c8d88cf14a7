"""Made-up later moments of Craftax, so that sampled states show what random play would take days to reach.

A staged moment starts from fresh floors and changes what a long episode would have changed: the floor that the player
is on, time of day, needs, attributes, inventory, enchantments, creatures killed, a table and a furnace near the player.
Then one of ``SCENES`` is set up in front of the player or under it, with an action that suits it. Staged states obey
the schema's ranges but need not be reachable (things may be missing their history); they serve the vetting of programs
only, never training or evaluation.
"""

from __future__ import annotations

from itertools import accumulate
from math import prod
from typing import Final

import jax
import jax.numpy as jnp
import numpy as np
from attrs import frozen
from craftax.craftax.constants import (
    CLOSE_BLOCKS,
    DIRECTIONS,
    FLOOR_MOB_MAPPING,
    LEVEL_ACHIEVEMENT_MAP,
    Action,
    BlockType,
    ItemType,
    MobType,
)
from craftax.craftax.craftax_state import EnvParams, EnvState, Inventory
from craftax.craftax.util.game_logic_utils import calculate_light_level

from engine.worlds.craftax.schema import FLOORS

ANY: Final = -1
"""An action drawn from all of them."""


@frozen
class Scene:
    """What lies before the player or under it, and the action that suits it.

    Without a block the cell in front is free ground; a mob stands on it. The floor is drawn from ``floors`` (first and
    last).
    """

    action: int
    block: BlockType | None = None
    mob: MobType | None = None
    under: ItemType = ItemType.NONE
    floors: tuple[int, int] = (0, FLOORS - 1)

    @property
    def row(self) -> tuple[int, ...]:
        """As numbers: action, block (``INVALID`` for none), mob (-1 for none), item, first and last floor."""
        block = BlockType.INVALID if self.block is None else self.block
        return self.action, block.value, -1 if self.mob is None else self.mob.value, self.under.value, *self.floors


_DO: Final = Action.DO.value
_FOUND: Final = (
    *("TREE", "STONE", "COAL", "IRON", "DIAMOND", "SAPPHIRE", "RUBY", "STALAGMITE", "FIRE_TREE", "ICE_SHRUB"),
    *("WATER", "FOUNTAIN", "GRASS", "CRAFTING_TABLE", "FURNACE"),
)
SCENES: Final = (
    *(Scene(_DO, BlockType[name]) for name in _FOUND),
    *(Scene(_DO, BlockType[name], floors=(0, 0)) for name in ("PLANT", "RIPE_PLANT")),
    *[Scene(_DO, BlockType.CHEST, floors=(1, 4))] * 3,
    *(Scene(_DO, mob=mob, floors=(0, 7)) for mob in (MobType.PASSIVE, MobType.MELEE, MobType.RANGED)),
    Scene(Action.SHOOT_ARROW.value, mob=MobType.PASSIVE, floors=(1, 4)),
    Scene(Action.SHOOT_ARROW.value, mob=MobType.RANGED, floors=(0, 7)),
    Scene(Action.CAST_FIREBALL.value, mob=MobType.MELEE, floors=(0, 7)),
    Scene(Action.CAST_ICEBALL.value, mob=MobType.MELEE, floors=(0, 7)),
    *[Scene(Action.DESCEND.value, under=ItemType.LADDER_DOWN, floors=(0, FLOORS - 2))] * 2,
    Scene(Action.ASCEND.value, under=ItemType.LADDER_UP, floors=(1, FLOORS - 1)),
    *(
        Scene(Action[name].value, table)
        for name in ("ENCHANT_SWORD", "ENCHANT_ARMOUR", "ENCHANT_BOW")
        for table in (BlockType.ENCHANTMENT_TABLE_FIRE, BlockType.ENCHANTMENT_TABLE_ICE)
    ),
    Scene(_DO, BlockType.NECROMANCER, floors=(FLOORS - 1, FLOORS - 1)),
    Scene(Action.SLEEP.value),
    Scene(Action.REST.value),
    Scene(Action.PLACE_TORCH.value),
    Scene(Action.PLACE_PLANT.value, floors=(0, 0)),
    Scene(Action.READ_BOOK.value),
    *[Scene(ANY)] * 5,
)

_TABLE: Final = np.asarray([scene.row for scene in SCENES], np.int32)

_INNER: Final = 8
"""Cells that a staged player keeps from the map's edge."""

_GROUND: Final = (BlockType.GRASS, *[BlockType.PATH] * 5, BlockType.FIRE_GRASS, BlockType.ICE_GRASS, BlockType.PATH)
"""What one can stand on, by floor."""

_MOBS: Final = {MobType.PASSIVE: "passive_mobs", MobType.MELEE: "melee_mobs", MobType.RANGED: "ranged_mobs"}
_BEST: Final = {"pickaxe": 4, "sword": 4, "bow": 1, "armour": 2, "books": 2}
"""Things of which the player carries at most so many; of all others a staged player has up to 12."""


def stage(key: jax.Array, state: EnvState) -> tuple[EnvState, jax.Array]:
    """``(moment, action)`` made from a fresh ``state``: the scene is drawn uniformly, ``action`` is an int32 scalar."""
    which, wealth, how = jax.random.split(key, 3)
    scene = jax.random.randint(which, (), 0, len(SCENES), jnp.int32)
    return staged(how, state, scene, jax.random.bernoulli(wealth, 0.5))


def staged(key: jax.Array, state: EnvState, scene: jax.Array, rich: jax.Array) -> tuple[EnvState, jax.Array]:
    """The same for the scene of that index; whether the player has everything is for the caller to say."""
    keys = iter(jax.random.split(key, 14))
    action, block, mob, under, first, last = jnp.asarray(_TABLE)[scene]

    state = _on_floor(next(keys), state, first, last)
    state = _elsewhere(next(keys), state)
    state = _visited(next(keys), state, rich, block == BlockType.NECROMANCER.value)
    state = _later(next(keys), state)
    state = _grown(next(keys), state)
    state = _with_needs(next(keys), state, rich)
    state = _equipped(next(keys), state, rich)
    state = _enchanted(next(keys), state)
    state = _furnished(next(keys), state)
    state = _on_ladder(state, under)
    state = _fronted(next(keys), state, block)
    for kind in _MOBS:
        state = _with_mob(next(keys), state, kind, mob == kind.value)
    state = state.replace(is_sleeping=action == Action.SLEEP.value, is_resting=action == Action.REST.value)
    drawn = jax.random.randint(next(keys), (), 0, len(Action), jnp.int32)
    return state, jnp.where(action == ANY, drawn, action)


def _front(state: EnvState) -> tuple[jax.Array, jax.Array]:
    row, column = state.player_position + DIRECTIONS[state.player_direction]
    return row, column


def _on_floor(key: jax.Array, state: EnvState, first: jax.Array, last: jax.Array) -> EnvState:
    return state.replace(player_level=jax.random.randint(key, (), first, last + 1, jnp.int32))


def _elsewhere(key: jax.Array, state: EnvState) -> EnvState:
    """The player on another cell, which becomes ground where none can stand, looking anywhere; half the floors lit."""
    where, looks, lamps = jax.random.split(key, 3)
    row, column = position = jax.random.randint(where, (2,), _INNER, state.map.shape[1] - _INNER, jnp.int32)
    level = state.player_level
    block = state.map[level, row, column]
    ground = jnp.asarray([block.value for block in _GROUND], jnp.int32)
    stands = jnp.where((ground == block).any(), block, ground[level])
    lit = jax.random.bernoulli(lamps, 0.5)
    return state.replace(
        player_position=position,
        player_direction=jax.random.randint(looks, (), 1, 5, jnp.int32),
        map=state.map.at[level, row, column].set(stands),
        light_map=state.light_map.at[level].set(jnp.where(lit, jnp.float32(1), state.light_map[level])),
    )


def _visited(key: jax.Array, state: EnvState, rich: jax.Array, exposed: jax.Array) -> EnvState:
    """The way down to here: floors cleared, chests opened, a point of experience left of each floor or spent.

    The boss has been hit some times; where it is ``exposed``, its monsters have risen and are gone.

    The package remembers the floors entered in its achievements; without them the next step would give another point.
    """
    kills, chests, points, waves, hits = jax.random.split(key, 5)
    floors = jnp.arange(FLOORS, dtype=jnp.int32)
    level = state.player_level
    killed = jax.random.randint(kills, (FLOORS,), 0, 15, jnp.int32)
    killed = jnp.where((floors < level) | (rich & (floors == level)), killed + 8, jnp.where(floors > level, 0, killed))
    opened = jax.random.bernoulli(chests, jnp.where(floors < level, 0.5, 0.2)) & (floors <= level)
    below = jnp.asarray(LEVEL_ACHIEVEMENT_MAP, jnp.int32)[1:]
    boss = level == FLOORS - 1
    turns = jax.random.randint(waves, (), -5, jnp.where(exposed, 1, 8), jnp.int32)
    return state.replace(
        monsters_killed=killed.at[0].add(10),
        chests_opened=opened,
        achievements=state.achievements.at[below].set(floors[1:] <= level),
        player_xp=jax.random.randint(points, (), 0, level + 1, jnp.int32),
        boss_progress=jnp.where(boss, jax.random.randint(hits, (), 0, FLOORS - 1, jnp.int32), 0),
        boss_timesteps_to_spawn_this_round=jnp.where(boss, turns, state.boss_timesteps_to_spawn_this_round),
    )


def _later(key: jax.Array, state: EnvState) -> EnvState:
    """Any time of day in the first 9,000 steps."""
    timestep = jax.random.randint(key, (), 0, 9_000, jnp.int32)
    with jax.numpy_dtype_promotion("standard"):
        light = calculate_light_level(timestep, EnvParams())
    return state.replace(timestep=timestep, light_level=jax.lax.convert_element_type(light, jnp.float32))


def _grown(key: jax.Array, state: EnvState) -> EnvState:
    """Attributes: half the time as at the start, else anything from 1 to 5 each."""
    grown, levels = jax.random.split(key)
    drawn = jax.random.randint(levels, (3,), 1, 6, jnp.int32)
    dexterity, strength, intelligence = jnp.where(jax.random.bernoulli(grown), drawn, 1)
    return state.replace(player_dexterity=dexterity, player_strength=strength, player_intelligence=intelligence)


def _with_needs(key: jax.Array, state: EnvState, rich: jax.Array) -> EnvState:
    """Each need full if rich, anything from 1 to full otherwise; counters anywhere in their range."""
    levels, counters = jax.random.split(key)
    dexterity, strength, intelligence = state.player_dexterity, state.player_strength, state.player_intelligence
    most = jnp.stack([8 + strength, *[7 + 2 * dexterity] * 3, 6 + 3 * intelligence])
    amounts = jnp.where(rich, most, jax.random.randint(levels, (5,), 1, most + 1, jnp.int32))
    lowest = jnp.asarray([-30, 0, 0, -20, 0], jnp.int32)
    halves = jax.random.randint(counters, (5,), lowest, jnp.asarray([51, 51, 41, 61, 61], jnp.int32), jnp.int32)
    steps = halves.astype(jnp.float32) / 2
    return state.replace(
        player_health=amounts[0].astype(jnp.float32),
        player_food=amounts[1],
        player_drink=amounts[2],
        player_energy=amounts[3],
        player_mana=amounts[4],
        player_recover=steps[0],
        player_hunger=steps[1],
        player_thirst=steps[2],
        player_fatigue=steps[3],
        player_recover_mana=steps[4],
    )


def _equipped(key: jax.Array, state: EnvState, rich: jax.Array) -> EnvState:
    """Everything if rich, else each thing with probability one half; the chests that books come from are open."""
    has, amounts = jax.random.split(key)
    shapes = {name: getattr(state.inventory, name).shape for name in Inventory.__dataclass_fields__}
    ends = list(accumulate(prod(shape) for shape in shapes.values()))
    most = jnp.concatenate([jnp.full(prod(shape), _BEST.get(name, 12), jnp.int32) for name, shape in shapes.items()])
    present = jax.random.bernoulli(has, 0.5, most.shape) | rich
    counts = jnp.where(present, jax.random.randint(amounts, most.shape, 1, most + 1, jnp.int32), 0)
    parts = jnp.split(counts, ends[:-1])
    carried = {name: part.reshape(shape) for (name, shape), part in zip(shapes.items(), parts, strict=True)}
    found = state.chests_opened | (jnp.arange(FLOORS, dtype=jnp.int32) == 3) & (carried["books"] >= 1)
    found |= (jnp.arange(FLOORS, dtype=jnp.int32) == 4) & (carried["books"] >= 2)
    return state.replace(inventory=Inventory(**carried), chests_opened=found)


def _enchanted(key: jax.Array, state: EnvState) -> EnvState:
    """Any enchantment of what is carried, and each spell known with probability one half."""
    kinds, spells = jax.random.split(key)
    sword, bow, *armour = jax.random.randint(kinds, (6,), 0, 3, jnp.int32)
    bag = state.inventory
    return state.replace(
        sword_enchantment=jnp.where(bag.sword > 0, sword, 0),
        bow_enchantment=jnp.where(bag.bow > 0, bow, 0),
        armour_enchantments=jnp.where(bag.armour > 0, jnp.stack(armour), 0),
        learned_spells=jax.random.bernoulli(spells, 0.5, (2,)),
    )


def _furnished(key: jax.Array, state: EnvState) -> EnvState:
    """A crafting table and a furnace, each with probability 0.7, on two of the eight cells around the player."""
    where, which = jax.random.split(key)
    cells = jax.random.permutation(where, CLOSE_BLOCKS)
    present = jax.random.bernoulli(which, 0.7, (2,))
    level = state.player_level
    for index, block in enumerate((BlockType.CRAFTING_TABLE, BlockType.FURNACE)):
        row, column = state.player_position + cells[index]
        value = jnp.where(present[index], block.value, state.map[level, row, column])
        state = state.replace(map=state.map.at[level, row, column].set(value))
    return state


def _on_ladder(state: EnvState, item: jax.Array) -> EnvState:
    """Move the floor's ladder of this kind, if it is one, under the player."""
    level, (row, column) = state.player_level, state.player_position
    for kind, name in ((ItemType.LADDER_DOWN, "down_ladders"), (ItemType.LADDER_UP, "up_ladders")):
        ladders, moved = getattr(state, name), item == kind.value
        old_row, old_column = ladders[level]
        items = state.item_map
        left = jnp.where(moved, ItemType.NONE.value, items[level, old_row, old_column])
        items = items.at[level, old_row, old_column].set(left)
        items = items.at[level, row, column].set(jnp.where(moved, kind.value, items[level, row, column]))
        position = jnp.where(moved, state.player_position, ladders[level])
        state = state.replace(item_map=items, **{name: ladders.at[level].set(position)})
    return state


def _fronted(key: jax.Array, state: EnvState, block: jax.Array) -> EnvState:
    """The block in front of the player, or ground where none is wanted; a plant gets the slot the game would keep."""
    level, (row, column) = state.player_level, _front(state)
    ground = jnp.asarray([block.value for block in _GROUND], jnp.int32)[level]
    ripe = block == BlockType.RIPE_PLANT.value
    planted = ripe | (block == BlockType.PLANT.value)
    age = jax.random.randint(key, (), 0, 599, jnp.int32) + jnp.where(ripe, jnp.int32(600), jnp.int32(0))
    place = jnp.where(planted, jnp.stack([row, column]), state.growing_plants_positions[0])
    return state.replace(
        map=state.map.at[level, row, column].set(jnp.where(block == BlockType.INVALID.value, ground, block)),
        item_map=state.item_map.at[level, row, column].set(ItemType.NONE.value),
        growing_plants_positions=state.growing_plants_positions.at[0].set(place),
        growing_plants_age=state.growing_plants_age.at[0].set(jnp.where(planted, age, 0)),
        growing_plants_mask=state.growing_plants_mask.at[0].set(planted),
    )


def _with_mob(key: jax.Array, state: EnvState, kind: MobType, present: jax.Array) -> EnvState:
    """Put a creature of the floor on the cell in front of the player, with 1 to 5 points of health."""
    mobs, level, (row, column) = getattr(state, _MOBS[kind]), state.player_level, _front(state)
    health = jax.random.randint(key, (), 1, 6, jnp.int32).astype(jnp.float32)
    mobs = mobs.replace(
        position=mobs.position.at[level, 0].set(jnp.where(present, jnp.stack([row, column]), mobs.position[level, 0])),
        health=mobs.health.at[level, 0].set(jnp.where(present, health, mobs.health[level, 0])),
        mask=mobs.mask.at[level, 0].set(mobs.mask[level, 0] | present),
        type_id=mobs.type_id.at[level, 0].set(
            jnp.where(present, FLOOR_MOB_MAPPING[level, kind.value], mobs.type_id[level, 0])
        ),
    )
    occupied = state.mob_map.at[level, row, column].set(state.mob_map[level, row, column] | present)
    return state.replace(**{_MOBS[kind]: mobs}, mob_map=occupied)
