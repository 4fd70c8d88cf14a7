"""Pictures in letters: drawn by hand for small worlds, and properties that hold in every world of the registry."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from attrs import evolve

from engine.worlds.pictures import Drawing, side_by_side
from engine.worlds.schema import Enumeration, Field, Group, Schema
from engine.worlds.text_picture import named_values, text_picture
from tests.tiny_worlds import SCHEMA

CORRIDOR = {
    "position": np.int32(3),
    "cells": np.array([0, 1, 0, 0, 0, 2, 0, 3], np.int32),
    "bag": {"keys": np.int32(0)},
    "door_open": np.bool_(False),
    "lamp_lit": np.bool_(False),
    "warmth": np.float32(1),
}

GRID = (40, 50)
LAND = Enumeration({"SEA": 0, "SAND": 1, "SALT": 2, "SEA_ICE": 3}, "kinds of land")
THINGS = Enumeration({"NONE": 0, "SHELL": 1}, "things that lie about")
TURNS = Enumeration({"LEFT": 1, "RIGHT": 2, "UP": 3, "DOWN": 4}, "directions")


def shore(floors: int = 0) -> Schema:
    """A schema with a map, things on it, gulls and a walker; with floors if there are any."""
    lead = (floors,) if floors else ()
    members: dict[str, Field | Group] = {
        "land": Field("int32", (*lead, *GRID), "the Land of every cell"),
        "things": Field("int32", (*lead, *GRID), "the Thing lying on every cell"),
        "steps": Field("int32", (), "steps walked"),
        "walker_position": Field("int32", (2,), "row and column"),
        "walker_direction": Field("int32", (), "LEFT, RIGHT, UP or DOWN of Turn"),
        "gulls": Group(
            {"position": Field("int32", (*lead, 2, 2), "where"), "mask": Field("bool", (*lead, 2), "which")}, "birds"
        ),
    }
    if floors:
        members["level"] = Field("int32", (), "the floor")
    return Schema("shore", Group(members, "all"), {"Land": LAND, "Thing": THINGS, "Turn": TURNS}, {}, {})


def shore_view(position: tuple[int, int]) -> dict[str, Any]:
    land = np.full(GRID, 1, np.int32)
    land[0], land[:, 0] = 0, 3
    things = np.zeros(GRID, np.int32)
    things[2, 2] = 1
    return {
        "land": land,
        "things": things,
        "steps": np.int32(0),
        "walker_position": np.array(position, np.int32),
        "walker_direction": np.int32(4),
        "gulls": {"position": np.array([[1, 3], [1, 4]], np.int32), "mask": np.array([True, False])},
    }


def test_a_corridor_is_one_row() -> None:
    picture = text_picture(CORRIDOR, SCHEMA)
    assert picture is not None
    assert picture.lines() == ["f  k  f  @  f  d  f  l"]
    assert picture.legend == (("@", "position"), ("f", "FLOOR"), ("k", "KEY"), ("d", "DOOR"), ("l", "LAMP"))


def test_a_large_map_is_shown_around_the_player() -> None:
    picture = text_picture(shore_view((2, 2)), shore())
    assert picture is not None
    assert [len(row) for row in picture.rows] == [11] * 9
    assert picture.lines()[:5] == [
        "#  #  #  #  #  #  #  #  #  #  #",
        "#  #  #  #  #  #  #  #  #  #  #",
        "#  #  #  si s  s  s  s  s  s  s",
        "#  #  #  si sa sa G  sa sa sa sa",
        "#  #  #  si sa @v sa sa sa sa sa",
    ]
    assert dict(picture.legend) == {
        "@v": "the player, facing DOWN",
        "s": "SEA",
        "sa": "SAND",
        "si": "SEA_ICE",
        "G": "gulls",
        "#": "off the map",
    }


def test_things_lie_on_the_land_and_floors_are_told_apart() -> None:
    flat = shore_view((6, 4))
    picture = text_picture(flat, shore())
    assert picture is not None
    assert picture.rows[0][3] == "sh"
    stacked = {name: value if name in ("steps", "walker_position", "walker_direction", "gulls") else
               np.stack([np.zeros_like(value), value]) for name, value in flat.items()}  # fmt: skip
    gulls = flat["gulls"]
    stacked["gulls"] = {
        "position": np.stack([gulls["position"]] * 2),
        "mask": np.stack([~gulls["mask"], gulls["mask"]]),
    }
    on_floor = {**stacked, "level": np.int32(1)}
    assert text_picture(on_floor, shore(floors=2)) == picture
    below = text_picture({**stacked, "level": np.int32(0)}, shore(floors=2))
    assert below is not None
    assert dict(below.legend).get("s") == "SEA"
    assert "SAND" not in dict(below.legend).values()


def test_a_world_without_a_map_has_no_picture() -> None:
    state = Group({"stamina": Field("int32", (), "strength")}, "all")
    assert text_picture({"stamina": np.int32(1)}, evolve(SCHEMA, state=state)) is None


@pytest.mark.parametrize(
    ("meaning", "unit", "expected"),
    [
        ("the tile on each cell, a Tile", "", "Tile"),
        ("what lies there", "Tile", "Tile"),
        ("LEFT or RIGHT of Move", "", "Move"),
        ("how many of each kind, by Tile", "", None),
        ("what each Tile does", "", None),
        ("a Tiles", "", None),
    ],
)
def test_values_have_names_where_the_meaning_says_so(meaning: str, unit: str, expected: str | None) -> None:
    found = named_values(Field("int32", (), meaning, unit), SCHEMA)
    assert (None if found is None else found[0]) == expected
    assert named_values(Field("float32", (), meaning, unit), SCHEMA) is None


def test_glyphs_are_unique_whatever_the_names() -> None:
    names = {f"{first}{second}": index for index, (first, second) in enumerate((a, b) for a in "AB" for b in "ABCDEF")}
    more = {"A": 12, "AA_B": 13, "B_A": 14}
    enums = {"Tile": Enumeration({**names, **more}, "many"), "Move": SCHEMA.enums["Move"]}
    schema = evolve(SCHEMA, enums=enums)
    seen = {}
    for value in range(15):
        picture = text_picture({**CORRIDOR, "cells": np.full(8, value, np.int32)}, schema)
        assert picture is not None
        seen[value] = picture.rows[0][0]
    assert len(set(seen.values())) == 15
    assert all(1 <= len(glyph) <= 2 for glyph in seen.values())
    unknown = text_picture({**CORRIDOR, "cells": np.full(8, 99, np.int32)}, schema)
    assert unknown is not None
    assert unknown.rows[0][0] == "?"


def test_two_states_stand_side_by_side() -> None:
    class Painter:
        def draw(self, view: Any) -> np.ndarray:
            return np.full((view["height"], 3, 3), view["shade"], np.uint8)

    painter = Painter()
    assert isinstance(painter, Drawing)
    both = side_by_side(painter, {"height": 2, "shade": 10}, {"height": 4, "shade": 20})
    assert both.shape == (8, 2 * (3 + 16 + 3), 3)
    assert (both[:4, :6] == 10).all()
    assert (both[4:, :6] == 255).all()
    assert (both[:, 6:38] == 255).all()
    assert (both[:, 38:] == 20).all()
