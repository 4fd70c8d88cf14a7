"""The helpers of Craftax as the schema declares them: parameters, result, meaning and cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from craftax.craftax.constants import OBS_DIM, BlockType

from engine.worlds.craftax import helpers
from engine.worlds.schema import Field, Helper, Parameter

_VIEW = Parameter("state", "int32", (), is_state=True)
_POSITION = Parameter("position", "int32", (2,))
_BLOCK = Parameter("block_type", "int32", ())
_COLLISION = Parameter("collision_map", "bool", (3,))
_DAMAGE = Parameter("damage_vector", "float32", (3,))
_DEFENSE = Parameter("defense_vector", "float32", (3,))

_YES_OR_NO = Field("bool", (), "true or false")
_A_BLOCK = Field("int32", (), "a BlockType", "", 0, max(block.value for block in BlockType))
_LOST = Field("float32", (), "health lost", "points")


def _limit(highest: int) -> Field:
    return Field("int32", (), "a number of points", "points", 9, highest)


def _of_player(function: Callable[..., Any], result: Field, cost: int, meaning: str) -> Helper:
    return Helper((_VIEW,), result, function, cost, meaning)


def _of_place(function: Callable[..., Any], result: Field, cost: int, meaning: str) -> Helper:
    return Helper((_VIEW, _POSITION), result, function, cost, meaning)


HELPERS: Final[Mapping[str, Helper]] = {
    "in_bounds": _of_place(helpers.in_bounds, _YES_OR_NO, 8, "whether a position (row, column) lies on the map"),
    "block_at": _of_place(
        helpers.block_at, _A_BLOCK, 8, "the block there on the player's floor, OUT_OF_BOUNDS off the map"
    ),
    "item_at": _of_place(
        helpers.item_at,
        Field("int32", (), "an ItemType", "", 0, 4),
        8,
        "the item there on the player's floor, NONE off the map",
    ),
    "is_in_solid_block": _of_place(helpers.is_in_solid_block, _YES_OR_NO, 10, "whether the block there is solid"),
    "is_in_mob": _of_place(helpers.is_in_mob, _YES_OR_NO, 12, "whether a creature or the player stands there"),
    "is_position_in_bounds_not_in_mob_not_colliding": Helper(
        (_VIEW, _POSITION, _COLLISION),
        _YES_OR_NO,
        helpers.is_position_in_bounds_not_in_mob_not_colliding,
        60,
        "whether a creature of that collision map (COLLISION_LAND_CREATURE and so on) could step there",
    ),
    "is_near_block": Helper(
        (_VIEW, _BLOCK),
        _YES_OR_NO,
        helpers.is_near_block,
        120,
        "whether one of the eight cells around the player is it",
    ),
    "facing_position": _of_player(
        helpers.facing_position,
        Field("int32", (2,), "row and column, possibly off the map", "cells", -1, 48),
        4,
        "the cell in front of the player, on which DO and the PLACE and ENCHANT actions act",
    ),
    "facing_block": _of_player(helpers.facing_block, _A_BLOCK, 12, "the block in front of the player"),
    "is_facing_mob": _of_player(helpers.is_facing_mob, _YES_OR_NO, 12, "whether a creature is right in front"),
    "count_visible_blocks": Helper(
        (_VIEW, _BLOCK),
        Field("int32", (), "a number of cells", "cells", 0, OBS_DIM[0] * OBS_DIM[1]),
        helpers.count_visible_blocks,
        8 * OBS_DIM[0] * OBS_DIM[1],
        "how many cells of that block the player sees (OBS_DIM cells, centred on it, those in the light)",
    ),
    "get_max_health": _of_player(helpers.get_max_health, _limit(13), 1, "the most health, by strength"),
    "get_max_food": _of_player(helpers.get_max_food, _limit(17), 2, "the most food, by dexterity"),
    "get_max_drink": _of_player(helpers.get_max_drink, _limit(17), 2, "the most drink, by dexterity"),
    "get_max_energy": _of_player(helpers.get_max_energy, _limit(17), 2, "the most energy, by dexterity"),
    "get_max_mana": _of_player(helpers.get_max_mana, _limit(21), 2, "the most mana, by intelligence"),
    "get_player_damage_vector": _of_player(
        helpers.get_player_damage_vector,
        Field("float32", (3,), "physical, fire and ice damage", "points", 0, 16),
        20,
        "damage of one blow of the player, by sword, enchantment, strength and intelligence",
    ),
    "get_damage": Helper(
        (_DAMAGE, _DEFENSE), _LOST, helpers.get_damage, 9, "damage left after defences (a share of each kind)"
    ),
    "get_damage_done_to_player": Helper(
        (_VIEW, _DAMAGE),
        _LOST,
        helpers.get_damage_done_to_player,
        40,
        "health that such damage takes from the player, by armour and its enchantments",
    ),
    "is_fighting_boss": _of_player(helpers.is_fighting_boss, _YES_OR_NO, 1, "whether the player is on floor 8"),
    "is_boss_spawn_wave": _of_player(
        helpers.is_boss_spawn_wave, _YES_OR_NO, 3, "whether monsters are rising around the boss"
    ),
    "is_boss_vulnerable": _of_player(
        helpers.is_boss_vulnerable, _YES_OR_NO, 12, "whether the wave is over and no monster of the floor is left"
    ),
    "has_beaten_boss": _of_player(helpers.has_beaten_boss, _YES_OR_NO, 1, "whether the boss is beaten"),
}
