"""The enums of Craftax: the package's own, and names for numbers that the package explains in comments and pictures."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Final

from craftax.craftax.constants import Action, BlockType, ItemType, MobType, ProjectileType

from engine.worlds.schema import Enumeration

STEPS: Final = 100_000
"""Steps after which an episode ends, at which nothing that counts steps has gone further."""


def _of(enum: type[Enum], meaning: str) -> Enumeration:
    return Enumeration({member.name: member.value for member in enum}, meaning)


def _numbered(names: str, meaning: str) -> Enumeration:
    return Enumeration({name: index for index, name in enumerate(names.split())}, meaning)


ENUMS: Final[Mapping[str, Enumeration]] = {
    "BlockType": _of(BlockType, "what a cell of the map holds"),
    "ItemType": _of(ItemType, "what lies on a cell"),
    "Action": _of(Action, "what the player can do"),
    "MobType": _of(MobType, "the classes of creatures, in the order of the tables"),
    "ProjectileType": _of(ProjectileType, "type_id of projectiles"),
    "Level": _numbered(
        "OVERWORLD DUNGEON GNOMISH_MINES SEWERS VAULTS TROLL_MINES FIRE_REALM ICE_REALM GRAVEYARD", "the nine floors"
    ),
    "PassiveMob": _numbered("COW BAT SNAIL", "type_id of passive_mobs"),
    "MeleeMob": _numbered(
        "ZOMBIE GNOME_WARRIOR ORC_SOLDIER LIZARD KNIGHT TROLL PIGMAN FROST_TROLL", "type_id of melee_mobs"
    ),
    "RangedMob": _numbered(
        "SKELETON GNOME_ARCHER ORC_MAGE KOBOLD KNIGHT_ARCHER DEEP_THING FIRE_ELEMENTAL ICE_ELEMENTAL",
        "type_id of ranged_mobs",
    ),
    "Potion": _numbered("RED GREEN BLUE PINK CYAN YELLOW", "index of potions and potion_mapping"),
    "Spell": _numbered("FIREBALL ICEBALL", "index of learned_spells"),
    "Enchantment": _numbered("NONE FIRE ICE", "value of the enchantments"),
}
