"""A picture of one Craftax-Classic state for people, from its view, drawn from the package's own images.

The package's pixel renderer is left alone: on its first use it spends a minute on textures and writes a file into the
installed package.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from craftax.craftax_classic.constants import BlockType

from engine.worlds.protocol import View
from engine.worlds.tiles import TILE, Tiles, blend

TILES: Final = Tiles("craftax.craftax_classic")

_BLOCKS: Final = {
    BlockType.INVALID: "debug_tile",
    BlockType.OUT_OF_BOUNDS: "debug_tile",
    BlockType.CRAFTING_TABLE: "table",
    BlockType.PLANT: "plant_on_grass",
    BlockType.RIPE_PLANT: "ripe_plant_on_grass",
}
_PLAYER: Final = {1: "player-left", 2: "player-right", 3: "player-up", 4: "player-down"}
_ARROW: Final = {(0, -1): "arrow-left", (0, 1): "arrow-right", (-1, 0): "arrow-up", (1, 0): "arrow-down"}
_NEEDS: Final = {"health": "player_health", "food": "player_food", "drink": "player_drink", "energy": "player_energy"}


def picture(view: View, view_cells: tuple[int, int]) -> np.ndarray:
    """The cells around the player, two rows of needs and inventory below them: uint8, shape ``(h, w, 3)``.

    ``view`` is that of a single state; ``view_cells`` are the rows and columns shown. Night is not drawn.
    """
    rows, columns = view_cells
    player = np.asarray(view["player_position"])
    canvas = np.zeros(((rows + 2) * TILE, columns * TILE, 3), np.uint8)
    corner = player - np.array([rows // 2, columns // 2])
    grid = np.asarray(view["map"])
    for row in range(rows):
        for column in range(columns):
            at = corner + np.array([row, column])
            inside = bool((at >= 0).all() and (at < grid.shape).all())
            block = BlockType(int(grid[at[0], at[1]])) if inside else BlockType.OUT_OF_BOUNDS
            TILES.paint(canvas, row, column, _BLOCKS.get(block, block.name.lower()))
    for group, name in (("zombies", "zombie"), ("cows", "cow"), ("skeletons", "skeleton")):
        for at in np.asarray(view[group]["position"])[np.asarray(view[group]["mask"])]:
            _paint_inside(canvas, at - corner, view_cells, name)
    for index in np.flatnonzero(np.asarray(view["arrows"]["mask"])):
        direction = tuple(np.asarray(view["arrow_directions"])[index].tolist())
        at = np.asarray(view["arrows"]["position"])[index]
        _paint_inside(canvas, at - corner, view_cells, _ARROW.get(direction, "arrow-up"))
    looks = "player-sleep" if bool(view["is_sleeping"]) else _PLAYER[int(view["player_direction"])]
    TILES.paint(canvas, rows // 2, columns // 2, looks)
    carried = {image: int(view[field]) for image, field in _NEEDS.items()}
    carried |= {name: int(count) for name, count in view["inventory"].items()}
    for slot, (image, count) in enumerate((image, count) for image, count in carried.items() if count > 0):
        row, column = rows + slot // columns, slot % columns
        TILES.paint(canvas, row, column, image)
        _count(canvas, row, column, count)
    return canvas


def _paint_inside(canvas: np.ndarray, at: np.ndarray, view_cells: tuple[int, int], image: str) -> None:
    if (at >= 0).all() and (at < view_cells).all():
        TILES.paint(canvas, int(at[0]), int(at[1]), image)


def _count(canvas: np.ndarray, row: int, column: int, count: int) -> None:
    """A number from 1 to 9 at half size, in the lower right corner of a cell."""
    bottom, right = (row + 1) * TILE, (column + 1) * TILE
    blend(canvas[bottom - TILE // 2 : bottom, right - TILE // 2 : right], TILES.image(str(count))[::2, ::2])
