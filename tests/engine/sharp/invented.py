"""A small invented world's schema, concrete states of it, and enums that CPython can run programs against."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from engine.worlds.schema import Constant, Enumeration, Field, Group, Helper, Parameter, Schema

GRID = (9, 11)
TILES = {"MEADOW": 0, "REED": 1, "CLAY": 2, "KILN": 3, "BROOK": 4, "THICKET": 5}
TOOLS = {"NONE": 0, "SICKLE": 1, "SPADE": 2}
HEADINGS = ((0, 0), (0, -1), (0, 1), (-1, 0), (1, 0))
NEARBY = ((0, -1), (0, 1), (-1, 0), (1, 0), (-1, -1), (-1, 1), (1, -1), (1, 1))


def _count_near(state: Any, tile: Any) -> Any:
    """Of arrays of numpy or of JAX, which is imported only where arrays of its own arrive."""
    xp: Any = np
    if not isinstance(state["field"], np.ndarray):
        import jax.numpy

        xp = jax.numpy
    row, column = state["walker_position"][0], state["walker_position"][1]
    rows = xp.arange(GRID[0], dtype=xp.int32)[:, None]
    columns = xp.arange(GRID[1], dtype=xp.int32)[None, :]
    near = (xp.abs(rows - row) <= 1) & (xp.abs(columns - column) <= 1)
    return xp.sum(near & (state["field"] == tile), dtype=xp.int32)


SCHEMA = Schema(
    world="invented",
    state=Group(
        {
            "field": Field("int32", GRID, "tile of each cell", "Tile", 0, 5),
            "flooded": Field("bool", GRID, "cells under water"),
            "walker_position": Field("int32", (2,), "row and column", "cells", 0, 10),
            "heading": Field("int32", (), "index into HEADINGS", "", 0, 4),
            "stamina": Field("int32", (), "strength left", "points", 0, 9),
            "warmth": Field("float32", (), "body warmth", "", 0.0, 1.0),
            "resting": Field("bool", (), "whether the walker rests"),
            "basket": Group(
                {
                    "reeds": Field("int32", (), "reeds carried", "pieces", 0, 99),
                    "clay": Field("int32", (), "clay carried", "pieces", 0, 99),
                    "bricks": Field("int32", (), "bricks carried", "pieces", 0, 99),
                    "tool": Field("int32", (), "tool in hand", "Tool", 0, 2),
                },
                "what the walker carries",
            ),
            "herons": Group(
                {
                    "position": Field("int32", (3, 2), "row and column of each heron", "cells"),
                    "calm": Field("float32", (3,), "how calm each heron is", "", 0.0, 1.0),
                    "mask": Field("bool", (3,), "which herons exist"),
                },
                "wading birds",
            ),
        },
        "the whole state",
    ),
    enums={"Tile": Enumeration(TILES, "tiles of the field"), "Tool": Enumeration(TOOLS, "tools")},
    constants={
        "HEADINGS": Constant("int32", (5, 2), HEADINGS, "row and column step of each heading"),
        "NEARBY": Constant("int32", (8, 2), NEARBY, "offsets of the eight cells around one"),
        "MAX_STAMINA": Constant("int32", (), 9, "the most stamina"),
    },
    helpers={
        "count_near": Helper(
            (Parameter("state", "int32", (), is_state=True), Parameter("tile", "int32", ())),
            Field("int32", (), "number of cells", "cells", 0, 9),
            _count_near,
            99,
            "how many of the nine cells around the walker are of a tile",
        )
    },
)


def random_view(generator: np.random.Generator) -> dict[str, Any]:
    """A concrete state as nested dicts of numpy arrays and scalars, with the declared dtypes."""
    row, column = int(generator.integers(0, GRID[0])), int(generator.integers(0, GRID[1]))
    return {
        "field": generator.integers(0, 6, GRID).astype(np.int32),
        "flooded": generator.random(GRID) < 0.3,
        "walker_position": np.array([row, column], np.int32),
        "heading": np.int32(generator.integers(0, 5)),
        "stamina": np.int32(generator.integers(0, 10)),
        "warmth": np.float32(generator.integers(0, 9) / 8),
        "resting": np.bool_(generator.random() < 0.5),
        "basket": {
            "reeds": np.int32(generator.integers(0, 4)),
            "clay": np.int32(generator.integers(0, 4)),
            "bricks": np.int32(generator.integers(0, 3)),
            "tool": np.int32(generator.integers(0, 3)),
        },
        "herons": {
            "position": generator.integers(0, 9, (3, 2)).astype(np.int32),
            "calm": (generator.integers(0, 5, 3) / 4).astype(np.float32),
            "mask": generator.random(3) < 0.6,
        },
    }


@cache
def some_views() -> tuple[dict[str, Any], ...]:
    """Forty states, walkers anywhere. (Not a fixture: hypothesis would print it whole.)"""
    generator = np.random.default_rng(3)
    return tuple(random_view(generator) for _ in range(40))


@cache
def inner_views() -> tuple[dict[str, Any], ...]:
    """States whose walker is at least two cells from every edge."""
    generator = np.random.default_rng(0)
    drawn = [random_view(generator) for _ in range(400)]
    return tuple(
        view for view in drawn if 2 <= view["walker_position"][0] <= 6 and 2 <= view["walker_position"][1] <= 8
    )


def stacked(views: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Views with a leading batch axis."""
    first = views[0]
    return {
        name: stacked([view[name] for view in views])
        if isinstance(first[name], Mapping)
        else np.stack([view[name] for view in views])
        for name in first
    }
