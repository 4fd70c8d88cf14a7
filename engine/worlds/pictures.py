"""Pictures of states for people, in worlds that can draw their views."""

from __future__ import annotations

from typing import Final, Protocol, runtime_checkable

import numpy as np

from engine.worlds.protocol import View

SCALE: Final = 2
GAP: Final = 16
WHITE: Final = 255


@runtime_checkable
class Drawing(Protocol):
    """A world that can draw a view of a single state."""

    def draw(self, view: View) -> np.ndarray:
        """Red, green and blue: uint8, shape ``(h, w, 3)``."""
        ...


def side_by_side(world: Drawing, previous: View, state: View) -> np.ndarray:
    """The previous state on the left, the state on the right, at twice their size: uint8, shape ``(h, w, 3)``."""
    left, right = world.draw(previous), world.draw(state)
    height = max(left.shape[0], right.shape[0])
    gap = np.full((height, GAP, 3), WHITE, np.uint8)
    both = np.concatenate([_tall(left, height), gap, _tall(right, height)], axis=1)
    return both.repeat(SCALE, axis=0).repeat(SCALE, axis=1)


def _tall(picture: np.ndarray, height: int) -> np.ndarray:
    """The picture with a white margin below, if it is lower than ``height``."""
    below = ((0, height - picture.shape[0]), (0, 0), (0, 0))
    return np.pad(picture, below, constant_values=WHITE)
