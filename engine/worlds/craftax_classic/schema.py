"""What a skill program may name in Craftax-Classic: every field of the state but the ones listed in ``WITHHELD``."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from craftax.craftax_classic.constants import CLOSE_BLOCKS, DIRECTIONS, OBS_DIM, SOLID_BLOCKS, Action, BlockType

from engine.worlds.craftax_classic import helpers
from engine.worlds.schema import Constant, Enumeration, Field, Group, Helper, Parameter, Schema

WITHHELD: Final = ("achievements", "state_rng", "timestep", "fractal_noise_angles")
"""Fields of the package's ``EnvState`` that no program sees: flags of the evaluation, random key, step counter, and the
seeds of the map's noise."""

MAP: Final = (64, 64)
STEPS: Final = 10_000
LAST_BLOCK: Final = max(block.value for block in BlockType)


def _item(meaning: str) -> Field:
    return Field("int32", (), meaning, "items", 0, 9)


def _need(meaning: str) -> Field:
    return Field("int32", (), meaning, "points", 0, 9)


def _clock(meaning: str, minimum: float, maximum: float) -> Field:
    return Field("float32", (), meaning, "", minimum, maximum)


def _mobs(kind: str, count: int, health: str, cooldown: str, lowest: int, highest: int) -> Group:
    return Group(
        meaning=f"{count} slots for {kind}; an entry counts only where mask is true, which also turns false far away",
        members={
            "position": Field("int32", (count, 2), "row and column of each", "cells", lowest, highest),
            "health": Field("int32", (count,), health, "points", -100, 9),
            "mask": Field("bool", (count,), "whether the slot is in use"),
            "attack_cooldown": Field("int32", (count,), cooldown, "steps", -STEPS, 5),
        },
    )


_CREATURE = "damage lowers it; at 0 or less the creature is dead"
_COOLDOWN = "steps until the next attack; falls below 0 while there is none"
_UNUSED = "not used by the game"

STATE: Final = Group(
    meaning="the state of one episode",
    members={
        "map": Field("int32", MAP, "the BlockType of every cell, indexed [row, column]", "", 0, LAST_BLOCK),
        "mob_map": Field("bool", MAP, "cells occupied by a zombie, cow or skeleton"),
        "player_position": Field("int32", (2,), "row and column; rows grow downwards", "cells", 0, 63),
        "player_direction": Field("int32", (), "where the player looks: LEFT, RIGHT, UP or DOWN of Action", "", 1, 4),
        "player_health": _need("the player dies at 0"),
        "player_food": _need("falls over time, rises by eating; at 0 the player slowly loses health"),
        "player_drink": _need("falls over time, rises by drinking; at 0 the player slowly loses health"),
        "player_energy": _need("falls awake, rises asleep; awake at 0 the player slowly loses health"),
        "is_sleeping": Field("bool", (), "asleep: every action becomes NOOP until the player wakes up"),
        "player_recover": _clock("counter that gives a point of health above 25 and takes one below -15", -15, 25),
        "player_hunger": _clock("counter that takes a point of food above 25", 0, 25),
        "player_thirst": _clock("counter that takes a point of drink above 20", 0, 20),
        "player_fatigue": _clock("counter that takes a point of energy above 30 and gives one below -10", -10, 30),
        "inventory": Group(
            meaning="what the player carries, at most 9 of each",
            members={
                "wood": _item("from trees"),
                "stone": _item("from stone, with a wood pickaxe"),
                "coal": _item("from coal, with a wood pickaxe"),
                "iron": _item("from iron, with a stone pickaxe"),
                "diamond": _item("from diamonds, with an iron pickaxe"),
                "sapling": _item("from grass, at times; can be planted on grass"),
                "wood_pickaxe": _item("made at a crafting table"),
                "stone_pickaxe": _item("made at a crafting table"),
                "iron_pickaxe": _item("made at a crafting table with a furnace near"),
                "wood_sword": _item("made at a crafting table"),
                "stone_sword": _item("made at a crafting table"),
                "iron_sword": _item("made at a crafting table with a furnace near"),
            },
        ),
        "zombies": _mobs("zombies", 3, _CREATURE, _COOLDOWN, 0, 63),
        "cows": _mobs("cows", 3, _CREATURE, _UNUSED, 0, 63),
        "skeletons": _mobs("skeletons", 2, _CREATURE, _COOLDOWN, 0, 63),
        "arrows": _mobs("arrows", 3, _UNUSED, _UNUSED, -STEPS, 2 * STEPS),
        "arrow_directions": Field("int32", (3, 2), "cells that each arrow flies per step", "cells", -1, 1),
        "growing_plants_positions": Field("int32", (10, 2), "row and column of each sapling planted", "cells", 0, 63),
        "growing_plants_age": Field("int32", (10,), "steps since planted or eaten; ripe at 600", "steps", 0, STEPS),
        "growing_plants_mask": Field("bool", (10,), "whether the slot is in use"),
        "light_level": Field("float32", (), "daylight: 1 is day, 0 is night", "", 0, 1),
    },
)

_VIEW = Parameter("state", "int32", (), is_state=True)
_POSITION = Parameter("position", "int32", (2,))
_BLOCK = Parameter("block_type", "int32", ())
_YES_OR_NO = Field("bool", (), "true or false")


def _block(meaning: str) -> Field:
    return Field("int32", (), meaning, "", 0, LAST_BLOCK)


HELPERS: Final = {
    "in_bounds": Helper(
        (_VIEW, _POSITION), _YES_OR_NO, helpers.in_bounds, 8, "whether a position (row, column) lies on the map"
    ),
    "block_at": Helper(
        (_VIEW, _POSITION), _block("a BlockType"), helpers.block_at, 8, "the block there, OUT_OF_BOUNDS off the map"
    ),
    "is_in_wall": Helper(
        (_VIEW, _POSITION), _YES_OR_NO, helpers.is_in_wall, 30, "whether the block there is one of SOLID_BLOCKS"
    ),
    "is_in_mob": Helper(
        (_VIEW, _POSITION), _YES_OR_NO, helpers.is_in_mob, 12, "whether a mob or the player stands there"
    ),
    "is_position_in_bounds_not_in_wall_not_in_mob_not_in_lava": Helper(
        (_VIEW, _POSITION),
        _YES_OR_NO,
        helpers.is_position_in_bounds_not_in_wall_not_in_mob_not_in_lava,
        60,
        "whether a creature could step there",
    ),
    "is_near_block": Helper(
        (_VIEW, _BLOCK), _YES_OR_NO, helpers.is_near_block, 80, "whether one of the eight cells around the player is it"
    ),
    "get_player_attack_damage": Helper(
        (_VIEW,),
        Field("int32", (), "health per blow", "points", 1, 45),
        helpers.get_player_attack_damage,
        7,
        "damage of one blow, by the best sword carried",
    ),
    "facing_position": Helper(
        (_VIEW,),
        Field("int32", (2,), "row and column, possibly off the map", "cells", -1, 64),
        helpers.facing_position,
        4,
        "the cell in front of the player, on which DO and the PLACE actions act",
    ),
    "facing_block": Helper(
        (_VIEW,), _block("a BlockType"), helpers.facing_block, 12, "the block in front of the player"
    ),
    "is_facing_mob": Helper(
        (_VIEW,), _YES_OR_NO, helpers.is_facing_mob, 12, "whether a zombie, cow or skeleton is right in front"
    ),
    "count_visible_blocks": Helper(
        (_VIEW, _BLOCK),
        Field("int32", (), "a number of cells", "cells", 0, OBS_DIM[0] * OBS_DIM[1]),
        helpers.count_visible_blocks,
        4 * MAP[0] * MAP[1],
        "how many cells of that block the player sees (OBS_DIM cells, centred on it)",
    ),
}


def _constant(array: Any, meaning: str) -> Constant:
    values = np.asarray(array, np.int32)
    return Constant("int32", values.shape, _nested(values.tolist()), meaning)


def _nested(values: Any) -> Any:
    return tuple(_nested(value) for value in values) if isinstance(values, list) else values


SCHEMA: Final = Schema(
    world="craftax_classic",
    state=STATE,
    enums={
        "BlockType": Enumeration({block.name: block.value for block in BlockType}, "what a cell of the map holds"),
        "Action": Enumeration({action.name: action.value for action in Action}, "what the player can do"),
    },
    constants={
        "DIRECTIONS": _constant(DIRECTIONS, "(row, column) moved by each Action; LEFT, RIGHT, UP, DOWN are 1 to 4"),
        "CLOSE_BLOCKS": _constant(CLOSE_BLOCKS, "(row, column) offsets of the eight cells around a position"),
        "SOLID_BLOCKS": _constant(SOLID_BLOCKS, "the BlockTypes that nobody can walk through"),
        "OBS_DIM": _constant(OBS_DIM, "rows and columns of the player's field of view"),
    },
    helpers=HELPERS,
)
