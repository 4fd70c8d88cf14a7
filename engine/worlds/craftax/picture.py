"""A picture of one Craftax state for people, from its view, drawn from the package's own images.

The package's pixel renderer is left alone: on its first use it spends minutes on textures and writes a file into the
installed package.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from craftax.craftax.constants import OBS_DIM, BlockType, ItemType, ProjectileType

from engine.worlds.craftax.helpers import LIT
from engine.worlds.craftax.names import ENUMS
from engine.worlds.protocol import View
from engine.worlds.tiles import TILE, Tiles, blend

TILES: Final = Tiles("craftax.craftax")

GREY: Final = 128
BAG_ROWS: Final = 3
"""Rows below the map: needs, attributes and what is carried."""

_BLOCKS: Final = {
    BlockType.INVALID: "debug_tile",
    BlockType.CRAFTING_TABLE: "table",
    BlockType.PLANT: "plant_on_grass",
    BlockType.RIPE_PLANT: "ripe_plant_on_grass",
    BlockType.WALL: "wall2",
}
_ITEMS: Final = {ItemType.TORCH: "torch_in_inventory"}
_PLAYER: Final = {1: "player-left", 2: "player-right", 3: "player-up", 4: "player-down"}
_CREATURES: Final = {"passive_mobs": "PassiveMob", "melee_mobs": "MeleeMob", "ranged_mobs": "RangedMob"}
_FLYING: Final = ("mob_projectiles", "player_projectiles")
_ARROW: Final = {(0, -1): "arrow-left", (0, 1): "arrow-right", (-1, 0): "arrow-up", (1, 0): "arrow-down"}
_POINTS: Final = ("health", "food", "drink", "energy", "mana", "xp", "dexterity", "strength", "intelligence")
_COUNTED: Final = ("sapling", "wood", "stone", "coal", "iron", "diamond", "sapphire", "ruby")
_MATERIALS: Final = ("", "wood", "stone", "iron", "diamond")
_ARMOUR: Final = ("helmet", "chestplate", "pants", "boots")


def picture(view: View) -> np.ndarray:
    """The cells around the player (``OBS_DIM``) and what it carries below: uint8, shape ``(192, 176, 3)``.

    ``view`` is that of a single state. Dark cells are black, those off the map grey; night is not drawn, enchantments
    are not.
    """
    rows, columns = OBS_DIM
    canvas = np.zeros(((rows + BAG_ROWS) * TILE, columns * TILE, 3), np.uint8)
    level = int(view["player_level"])
    corner = np.asarray(view["player_position"]) - np.array([rows // 2, columns // 2])
    blocks, items, light = (np.asarray(view[name])[level] for name in ("map", "item_map", "light_map"))
    lit = np.ones((rows, columns), bool)
    for row in range(rows):
        for column in range(columns):
            at = tuple(corner + np.array([row, column]))
            if not all(0 <= place < side for place, side in zip(at, blocks.shape, strict=True)):
                canvas[row * TILE : (row + 1) * TILE, column * TILE : (column + 1) * TILE] = GREY
                continue
            block, item = BlockType(int(blocks[at])), ItemType(int(items[at]))
            lit[row, column] = light[at] > LIT
            if lit[row, column] and block is not BlockType.DARKNESS:
                TILES.paint(canvas, row, column, _BLOCKS.get(block, block.name.lower()))
            if lit[row, column] and item is not ItemType.NONE:
                TILES.paint(canvas, row, column, _ITEMS.get(item, item.name.lower()))
    for position, image in _moving(view, level):
        row, column = (int(place) for place in position - corner)
        if 0 <= row < rows and 0 <= column < columns and lit[row, column]:
            TILES.paint(canvas, row, column, image)
    looks = "player-sleep" if bool(view["is_sleeping"]) else _PLAYER[int(view["player_direction"])]
    TILES.paint(canvas, rows // 2, columns // 2, looks)
    for slot, (image, count) in enumerate(_carried(view)):
        row, column = rows + slot // columns, slot % columns
        TILES.paint(canvas, row, column, image)
        _count(canvas, row, column, count)
    return canvas


def _moving(view: View, level: int) -> Iterator[tuple[np.ndarray, str]]:
    """Position and image of every creature and projectile of the player's floor."""
    for group, enum in _CREATURES.items():
        names = {value: name.lower() for name, value in ENUMS[enum].members.items()}
        mask, position, kind = (np.asarray(view[group][name])[level] for name in ("mask", "position", "type_id"))
        yield from ((position[slot], names[int(kind[slot])]) for slot in np.flatnonzero(mask))
    for group in _FLYING:
        mask, position, kind = (np.asarray(view[group][name])[level] for name in ("mask", "position", "type_id"))
        directions = np.asarray(view[f"{group[:-1]}_directions"])[level]
        for slot in np.flatnonzero(mask):
            name = ProjectileType(int(kind[slot])).name.lower().removesuffix("2")
            arrow = _ARROW.get(tuple(directions[slot].tolist()), "arrow-up")
            yield position[slot], arrow if name == "arrow" else name


def _carried(view: View) -> Iterator[tuple[str, int]]:
    """Image and number of whatever is there, in the order of the slots; tools and armour by what they are made of."""
    bag = view["inventory"]
    yield from ((name, count) for name in _POINTS if (count := int(view[f"player_{name}"])) > 0)
    for tool in ("pickaxe", "sword"):
        if made := int(bag[tool]):
            yield f"{_MATERIALS[made]}_{tool}", 1
    for piece, made in zip(_ARMOUR, np.asarray(bag["armour"]).tolist(), strict=True):
        if made:
            yield f"{('', 'iron', 'diamond')[made]}_{piece}", 1
    counted = {name: bag[name] for name in _COUNTED}
    counted |= {"bow": bag["bow"], "arrow-up": bag["arrows"], "torch_in_inventory": bag["torches"]}
    potions = zip(ENUMS["Potion"].members, np.asarray(bag["potions"]).tolist(), strict=True)
    counted |= {"book": bag["books"], **{f"potion_{name.lower()}": count for name, count in potions}}
    yield from ((image, int(count)) for image, count in counted.items() if int(count) > 0)


def _count(canvas: np.ndarray, row: int, column: int, count: int) -> None:
    """A number from 2 to 99 at half size, right-aligned at the bottom of a cell."""
    bottom, right, half = (row + 1) * TILE, (column + 1) * TILE, TILE // 2
    for place, digit in enumerate(reversed(str(count) if count > 1 else "")):
        area = canvas[bottom - half : bottom, right - (place + 1) * half : right - place * half]
        blend(area, TILES.image(digit)[::2, ::2])
