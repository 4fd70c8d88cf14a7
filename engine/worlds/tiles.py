"""Painting with the images that a game's package brings: square tiles with opacity, on a canvas of cells."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Final

import imageio.v3 as imageio
import numpy as np
from attrs import frozen

TILE: Final = 16
"""Side of a cell in pixels: the size of the packages' images."""


@frozen
class Tiles:
    """The images in the folder ``assets`` of an installed ``package``."""

    package: str

    def image(self, name: str) -> np.ndarray:
        """One image: uint8, red, green, blue and opacity, shape ``(16, 16, 4)``.

        Raises:
            ValueError: if it has another size.
        """
        return _image(self.package, name)

    def paint(self, canvas: np.ndarray, row: int, column: int, image: str) -> None:
        """Paint an image over a cell of the canvas (uint8, shape ``(h, w, 3)``)."""
        blend(canvas[row * TILE : (row + 1) * TILE, column * TILE : (column + 1) * TILE], self.image(image))


def blend(area: np.ndarray, drawn: np.ndarray) -> None:
    """Lay pixels with opacity (``(h, w, 4)``) over an area of a canvas (``(h, w, 3)``) of the same size."""
    cover = drawn[:, :, 3:].astype(np.float32) / 255
    area[:] = np.round(cover * drawn[:, :, :3] + (1 - cover) * area).astype(np.uint8)


@cache
def _image(package: str, name: str) -> np.ndarray:
    pixels = np.asarray(imageio.imread(files(package).joinpath("assets", f"{name}.png").read_bytes(), mode="RGBA"))
    if pixels.shape != (TILE, TILE, 4):
        raise ValueError(f"the image {name}.png of the package {package} has shape {pixels.shape}, not 16 x 16 pixels")
    return pixels.astype(np.uint8)
