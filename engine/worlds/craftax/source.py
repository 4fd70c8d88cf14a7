"""Which files of the game a model is shown, and where rewards enter them."""

from __future__ import annotations

from typing import Final

from engine.worlds.description import Description, describe_package
from engine.worlds.stripping import Origin

SHOWN: Final = (
    "constants.py",
    "craftax_state.py",
    "util/game_logic_utils.py",
    "game_logic.py",
    "world_gen/world_gen_configs.py",
    "world_gen/world_gen.py",
)
"""Enough to play: blocks and actions, the state, the rules, how the floors are made. The renderer, the textures and
the environment class around the rules add nothing to that."""

ORIGIN: Final = Origin(
    returned={"craftax_step": (1,)},
    fields=("achievements",),
    enums=("Achievement",),
    roots=(
        *("OBS_DIM", "BlockType", "ItemType", "Action", "MobType", "ProjectileType"),
        *("DIRECTIONS", "CLOSE_BLOCKS", "SOLID_BLOCKS"),
        *("EnvState", "EnvParams", "StaticEnvParams"),
        *("craftax_step", "is_game_over", "generate_world"),
    ),
)
"""One rule of the game reads achievements, and is taken out with them: a floor that is entered for the first time gives
a point of experience. The schema says so where it explains ``player_xp``."""


def describe() -> Description:
    """The installed Craftax, stripped of rewards and achievements (paper 000, section 3.1)."""
    return describe_package("craftax", "craftax.craftax", SHOWN, ORIGIN)
