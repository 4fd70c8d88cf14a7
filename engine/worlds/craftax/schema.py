"""What a skill program may name in Craftax: every field of the state but the ones listed in ``WITHHELD``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from craftax.craftax import constants as game

from engine.worlds.craftax.helpers_table import HELPERS
from engine.worlds.craftax.names import ENUMS, STEPS
from engine.worlds.schema import Constant, Field, Group, Schema

WITHHELD: Final = ("achievements", "state_rng", "timestep", "fractal_noise_angles")
"""Fields of the package's ``EnvState`` that no program sees: flags of the evaluation, random key, step counter, and the
seeds of the map's noise."""

FLOORS: Final = 9
SIDE: Final = 48
MAP: Final = (FLOORS, SIDE, SIDE)
FULL: Final = 99
"""Of most things the player carries at most so many."""

TOUGHEST: Final = 24
HARDEST_BLOW: Final = 21
"""Health of the toughest creature; a blow of the best enchanted sword takes at most 20.8."""


def _count(meaning: str, unit: str, highest: float, lowest: float = 0) -> Field:
    return Field("int32", (), meaning, unit, lowest, highest)


def _clock(meaning: str, minimum: float, maximum: float) -> Field:
    return Field("float32", (), meaning, "", minimum, maximum)


def _of_floors(dtype: str, meaning: str, lowest: float | None = None, highest: float | None = None) -> Field:
    return Field(dtype, MAP, f"{meaning}, indexed [floor, row, column]", "", lowest, highest)


def _ladders(which: str) -> Field:
    return Field("int32", (FLOORS, 2), f"row and column of each floor's ladder {which}", "cells", 0, SIDE - 1)


def _mobs(
    kind: str, slots: int, kinds: str, last: int, health: tuple[str, int, int], cooldown: tuple[str, int, int]
) -> Group:
    return Group(
        meaning=f"{slots} slots for {kind} on each floor, indexed [floor, slot]; an entry counts only where mask is "
        "true, and only those on the player's floor move",
        members={
            "position": Field("int32", (FLOORS, slots, 2), "row and column of each", "cells", 0, SIDE - 1),
            "health": Field("float32", (FLOORS, slots), health[0], "points", health[1], health[2]),
            "mask": Field("bool", (FLOORS, slots), "whether the slot is in use"),
            "attack_cooldown": Field("int32", (FLOORS, slots), cooldown[0], "steps", cooldown[1], cooldown[2]),
            "type_id": Field("int32", (FLOORS, slots), kinds, "", 0, last),
        },
    )


def _projectiles(whose: str, kinds: str, last: int) -> Group:
    flying = dict(_mobs(f"projectiles of {whose}", 3, kinds, last, ("always 1", 1, 1), _NO_COOLDOWN).members)
    flying["position"] = Field(
        "int32", (FLOORS, 3, 2), "row and column of each; may lie off the map while unused", "cells", -STEPS, 2 * STEPS
    )
    meaning = f"3 slots for projectiles of {whose} on each floor, indexed [floor, slot]; an entry counts only where "
    return Group(meaning=meaning + "mask is true", members=flying)


def _directions(whose: str) -> Field:
    return Field("int32", (FLOORS, 3, 2), f"cells that each projectile of {whose} flies per step", "cells", -1, 1)


_HEALTH = ("damage lowers it; at 0 or less the creature is dead", -HARDEST_BLOW, TOUGHEST)
_NO_COOLDOWN = ("not used by the game", 0, 0)
_COOLDOWN = "steps until the next attack; falls below 0 while there is none"

_BAG: Final = Group(
    meaning="what the player carries",
    members={
        "wood": _count("from trees, fire trees and ice shrubs", "items", FULL),
        "stone": _count("from stone and stalagmites, with any pickaxe", "items", FULL),
        "coal": _count("from coal, with any pickaxe; from chests", "items", FULL),
        "iron": _count("from iron, with a pickaxe of 2 or more; from chests", "items", FULL),
        "diamond": _count("from diamonds, with a pickaxe of 3 or more; from chests", "items", FULL),
        "sapling": _count("from grass, at times; can be planted on grass", "items", FULL),
        "pickaxe": _count("the best one: 0 none, 1 wood, 2 stone, 3 iron, 4 diamond", "", 4),
        "sword": _count("the best one: 0 none, 1 wood, 2 stone, 3 iron, 4 diamond", "", 4),
        "bow": _count("1 with a bow, from the first chest opened on floor 1", "items", 1),
        "arrows": _count("made two at a time at a crafting table; from chests", "items", FULL),
        "armour": Field("int32", (4,), "helmet, chestplate, pants, boots: 0 none, 1 iron, 2 diamond", "", 0, 2),
        "torches": _count("made four at a time at a crafting table; from chests", "items", FULL),
        "ruby": _count("from rubies, with a pickaxe of 4; from chests; for fire enchantments", "items", FULL),
        "sapphire": _count("from sapphires, with a pickaxe of 4; from chests; for ice enchantments", "items", FULL),
        "potions": Field(
            "int32", (6,), "by Potion: red, green, blue, pink, cyan, yellow; from chests", "items", 0, FULL
        ),
        "books": _count("from the first chests opened on floors 3 and 4; each teaches a spell", "items", 2),
    },
)

STATE: Final = Group(
    meaning="the state of one episode",
    members={
        "map": _of_floors("int32", "the BlockType of every cell", 0, max(block.value for block in game.BlockType)),
        "item_map": _of_floors("int32", "the ItemType lying on every cell", 0, 4),
        "mob_map": _of_floors("bool", "cells occupied by a creature"),
        "light_map": _of_floors("float32", "light of every cell, dark at 0.05 or less", 0, 1),
        "down_ladders": _ladders("down, onto which one comes up from the floor below"),
        "up_ladders": _ladders("up, onto which one comes down from the floor above"),
        "chests_opened": Field("bool", (FLOORS,), "whether a chest of the floor has been opened"),
        "monsters_killed": Field(
            "int32",
            (FLOORS,),
            "melee and ranged creatures killed on the floor; its ladder down opens at MONSTERS_KILLED_TO_CLEAR_LEVEL; "
            "floor 0 begins with 10",
            "creatures",
            0,
            10 + 5 * STEPS,
        ),
        "player_position": Field("int32", (2,), "row and column; rows grow downwards", "cells", 0, SIDE - 1),
        "player_level": _count("the floor that the player is on, a Level; 0 is the overworld", "", FLOORS - 1),
        "player_direction": _count("where the player looks: LEFT, RIGHT, UP or DOWN of Action", "", 4, 1),
        "player_health": Field("float32", (), "the player dies at 0; at most 8 + strength", "points", 0, 13),
        "player_food": _count("falls over time, rises by eating; at 0 health falls slowly", "points", 17),
        "player_drink": _count("falls over time, rises by drinking; at 0 health falls slowly", "points", 17),
        "player_energy": _count("falls awake, rises asleep; awake at 0 health falls slowly", "points", 17),
        "player_mana": _count("rises over time; a spell takes 2, an enchantment 9", "points", 21),
        "is_sleeping": Field("bool", (), "asleep: every action becomes NOOP until energy is full or something hits"),
        "is_resting": Field("bool", (), "resting: every action becomes NOOP until health is full, food or drink gone"),
        "player_recover": _clock("counter that gives a point of health above 25 and takes one below -15", -15, 25),
        "player_hunger": _clock("counter that takes a point of food above 25", 0, 25),
        "player_thirst": _clock("counter that takes a point of drink above 20", 0, 20),
        "player_fatigue": _clock("counter that takes a point of energy above 30 and gives one below -10", -10, 30),
        "player_recover_mana": _clock("counter that gives a point of mana above 30", 0, 30),
        "player_xp": _count("one more for each floor entered for the first time; levelling up takes one", "points", 8),
        "player_dexterity": _count("raises the limits of food, drink and energy, and the damage of arrows", "", 5, 1),
        "player_strength": _count("raises the limit of health, and the damage of blows", "", 5, 1),
        "player_intelligence": _count("raises the limit of mana, and the damage of spells and enchantments", "", 5, 1),
        "inventory": _BAG,
        "melee_mobs": _mobs(
            "melee creatures", 3, "a MeleeMob; each floor has its own kind", 7, _HEALTH, (_COOLDOWN, -STEPS, 5)
        ),
        "passive_mobs": _mobs("passive creatures, which can be eaten", 3, "a PassiveMob", 2, _HEALTH, _NO_COOLDOWN),
        "ranged_mobs": _mobs(
            "ranged creatures", 2, "a RangedMob; each floor has its own kind", 7, _HEALTH, (_COOLDOWN, -STEPS, 4)
        ),
        "mob_projectiles": _projectiles("creatures", "a ProjectileType", 7),
        "mob_projectile_directions": _directions("creatures"),
        "player_projectiles": _projectiles("the player", "a ProjectileType: ARROW2, FIREBALL or ICEBALL", 4),
        "player_projectile_directions": _directions("the player"),
        "growing_plants_positions": Field(
            "int32", (10, 2), "row and column of each sapling planted on floor 0", "cells", 0, SIDE - 1
        ),
        "growing_plants_age": Field("int32", (10,), "steps since planted or eaten; ripe at 600", "steps", 0, STEPS),
        "growing_plants_mask": Field("bool", (10,), "whether the slot is in use"),
        "potion_mapping": Field(
            "int32",
            (6,),
            "what each Potion does in this episode: 0 health +8, 1 health -3, 2 mana +8, 3 mana -3, 4 energy +8, "
            "5 energy -3",
            "",
            0,
            5,
        ),
        "learned_spells": Field("bool", (2,), "whether fireball and iceball are known, by Spell"),
        "sword_enchantment": _count("an Enchantment: 0 none, 1 fire, 2 ice", "", 2),
        "bow_enchantment": _count("an Enchantment: 0 none, 1 fire, 2 ice", "", 2),
        "armour_enchantments": Field("int32", (4,), "an Enchantment for each piece of armour", "", 0, 2),
        "boss_progress": _count("hits that the boss has taken; beaten at 8", "hits", 8),
        "boss_timesteps_to_spawn_this_round": _count(
            "on floor 8: steps during which more monsters rise; the boss can be hit at 0 or less, once none is left",
            "steps",
            game.BOSS_FIGHT_SPAWN_TURNS,
            -STEPS,
        ),
        "light_level": Field("float32", (), "daylight: 1 is day, 0 is night", "", 0, 1),
    },
)

_MEANINGS: Final[Mapping[str, tuple[str, str]]] = {
    "DIRECTIONS": ("int32", "(row, column) moved by each Action; LEFT, RIGHT, UP, DOWN are 1 to 4"),
    "CLOSE_BLOCKS": ("int32", "(row, column) offsets of the eight cells around a position"),
    "SOLID_BLOCKS": ("int32", "the BlockTypes that nobody can walk through"),
    "SOLID_BLOCK_MAPPING": ("bool", "whether each BlockType is solid"),
    "CAN_PLACE_ITEM_BLOCKS": ("int32", "the BlockTypes that a torch can be placed on"),
    "CAN_PLACE_ITEM_MAPPING": ("bool", "whether a torch can be placed on each BlockType"),
    "OBS_DIM": ("int32", "rows and columns of the player's field of view"),
    "MONSTERS_KILLED_TO_CLEAR_LEVEL": ("int32", "creatures to kill on a floor before its ladder down opens"),
    "BOSS_FIGHT_SPAWN_TURNS": ("int32", "steps of one wave of monsters on floor 8"),
    "BOSS_FIGHT_EXTRA_DAMAGE": ("float32", "share by which damage to the player grows on floor 8"),
    "FLOOR_MOB_MAPPING": ("int32", "type_id of the (passive, melee, ranged) creatures of each floor"),
    "MOB_TYPE_HEALTH_MAPPING": ("float32", "health of new (passive, melee, ranged) creatures by type_id"),
    "MOB_TYPE_DAMAGE_MAPPING": ("float32", "[type_id, MobType]: physical, fire and ice damage done"),
    "MOB_TYPE_DEFENSE_MAPPING": ("float32", "[type_id, MobType]: share of physical, fire, ice damage withstood"),
    "MOB_TYPE_COLLISION_MAPPING": ("bool", "[type_id, MobType]: whether ground, water and lava stop it"),
    "RANGED_MOB_TYPE_TO_PROJECTILE_TYPE_MAPPING": ("int32", "ProjectileType that each RangedMob shoots"),
    "COLLISION_LAND_CREATURE": ("bool", "whether ground, water and lava stop creatures on land, and the player"),
    "COLLISION_FLYING": ("bool", "the same for those that fly"),
    "COLLISION_AQUATIC": ("bool", "the same for those that swim"),
    "COLLISION_AMPHIBIAN": ("bool", "the same for those that do both, walk and swim"),
}


def _constant(name: str) -> Constant:
    dtype, meaning = _MEANINGS[name]
    values = np.asarray(getattr(game, name), dtype)
    return Constant(dtype, values.shape, _nested(values.tolist()), meaning)


def _nested(values: Any) -> Any:
    return tuple(_nested(value) for value in values) if isinstance(values, list) else values


SCHEMA: Final = Schema(
    world="craftax",
    state=STATE,
    enums=ENUMS,
    constants={name: _constant(name) for name in _MEANINGS},
    helpers=HELPERS,
)
