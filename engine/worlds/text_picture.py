"""A picture of one state in letters, from its view and the world's schema alone: the map around the player.

Nothing here knows a world. The map is the first field of named integers with two axes (or one, or three of which the
first counts floors); the player is where a field called ``…position`` says, creatures are where groups of ``position``
and ``mask`` say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from attrs import frozen

from engine.worlds.protocol import View
from engine.worlds.schema import Enumeration, Field, Group, Identified, Schema

PLAYER = "@"
OUTSIDE = "#"
FACING = {"LEFT": "<", "RIGHT": ">", "UP": "^", "DOWN": "v"}
WHOLE = (12, 24)
"""A map of no more rows and columns is shown whole."""

AROUND = (9, 11)
"""Rows and columns around the player in a world that does not say how far it sees."""

CELL = 2


@frozen
class TextPicture:
    """Rows of glyphs of one or two letters, and what those that occur mean."""

    rows: tuple[tuple[str, ...], ...]
    legend: tuple[tuple[str, str], ...]

    def lines(self) -> list[str]:
        """The rows as text, every cell equally wide."""
        return [" ".join(f"{glyph:<{CELL}}" for glyph in row).rstrip() for row in self.rows]

    @property
    def width(self) -> int:
        """Characters of the widest row."""
        return max(map(len, self.lines()), default=0)


def named_values(field: Field, schema: Schema) -> tuple[str, Enumeration] | None:
    """The enum whose members the values of an integer field are, as far as its unit or meaning says so."""
    if field.dtype != "int32":
        return None
    for name, enumeration in schema.enums.items():
        if field.unit == name or re.search(rf"\b(?:[Aa]|[Aa]n|[Tt]he|[Oo]f) {name}\b", field.meaning):
            return name, enumeration
    return None


def text_picture(view: View, schema: Schema) -> TextPicture | None:
    """The map around the player of a view of a single state; None if the schema has no map that is understood."""
    layout = _layout_of(schema)
    return None if layout is None else layout.draw(view)


# --- what the schema says --------------------------------------------------------------------------------------------


@frozen
class _Layer:
    """A field of the map's shape, with a glyph and a name for each of its values."""

    path: tuple[str, ...]
    glyphs: Mapping[int, tuple[str, str]]


@frozen
class _Layout:
    """Where a schema keeps the map, the player and the creatures."""

    shape: tuple[int, int]
    layers: tuple[_Layer, ...]
    floor: tuple[str, ...] | None
    position: tuple[str, ...] | None
    direction: tuple[tuple[str, ...], Mapping[int, str]] | None
    creatures: Mapping[str, tuple[str, ...]]
    window: tuple[int, int]

    def draw(self, view: View) -> TextPicture:
        """The picture of one view."""
        floor = None if self.floor is None else int(_leaf(view, self.floor))
        player = None if self.position is None else _place(_leaf(view, self.position))
        corner, (rows, columns) = self._window(player)
        meanings: dict[str, str] = {}
        cells = [[self._cell(view, floor, corner[0] + row, corner[1] + column, meanings) for column in range(columns)]
                 for row in range(rows)]  # fmt: skip
        for glyph, path in self.creatures.items():
            for place in self._creatures(view, path, floor):
                self._put(cells, corner, place, glyph, path[-1].replace("_", " "), meanings)
        if player is not None and self.position is not None:
            facing = self._facing(view)
            meaning = f"the player, facing {facing}" if facing else self.position[-1].replace("_", " ")
            self._put(cells, corner, player, PLAYER + FACING.get(facing, ""), meaning, meanings)
        shown = {glyph for row in cells for glyph in row}
        order = [*(glyph for layer in self.layers for glyph, _ in layer.glyphs.values()), *self.creatures]
        order = [*(glyph for glyph in meanings if glyph.startswith(PLAYER)), *order, OUTSIDE]
        legend = tuple((glyph, meanings[glyph]) for glyph in dict.fromkeys(order) if glyph in shown)
        return TextPicture(tuple(tuple(row) for row in cells), legend)

    def _window(self, player: tuple[int, int] | None) -> tuple[tuple[int, int], tuple[int, int]]:
        rows, columns = self.shape
        if player is None or (rows <= WHOLE[0] and columns <= WHOLE[1]):
            return (0, 0), (min(rows, WHOLE[0]), min(columns, WHOLE[1]))
        return (player[0] - self.window[0] // 2, player[1] - self.window[1] // 2), self.window

    def _cell(self, view: View, floor: int | None, row: int, column: int, meanings: dict[str, str]) -> str:
        if not (0 <= row < self.shape[0] and 0 <= column < self.shape[1]):
            meanings[OUTSIDE] = "off the map"
            return OUTSIDE
        chosen = ("?", "no name")
        for index, layer in enumerate(self.layers):
            grid = np.asarray(_leaf(view, layer.path))
            grid = grid if floor is None else grid[floor]
            value = int(grid.reshape(self.shape)[row, column])
            glyph = layer.glyphs.get(value)
            if glyph is not None and (index == 0 or glyph[1] != "NONE"):
                chosen = glyph
        meanings[chosen[0]] = chosen[1]
        return chosen[0]

    def _creatures(self, view: View, path: tuple[str, ...], floor: int | None) -> Iterator[tuple[int, int]]:
        group = _leaf(view, path)
        positions, mask = np.asarray(group["position"]), np.asarray(group["mask"])
        if floor is not None and positions.ndim == 3:
            positions, mask = positions[floor], mask[floor]
        yield from (_place(each) for each in positions[mask])

    def _put(
        self, cells: list[list[str]], corner: tuple[int, int], place: tuple[int, int], glyph: str, meaning: str,
        meanings: dict[str, str],
    ) -> None:  # fmt: skip
        row, column = place[0] - corner[0], place[1] - corner[1]
        if 0 <= row < len(cells) and 0 <= column < len(cells[row]):
            cells[row][column] = glyph
            meanings[glyph] = meaning

    def _facing(self, view: View) -> str:
        if self.direction is None:
            return ""
        path, names = self.direction
        return names.get(int(_leaf(view, path)), "")


def _layout_of(schema: Schema) -> _Layout | None:
    return _layout(Identified(schema))


@lru_cache(maxsize=8)
def _layout(key: Identified) -> _Layout | None:
    schema = key.schema
    fields = {name: each for name, each in schema.state.members.items() if isinstance(each, Field)}
    named = {name: found[1] for name, each in fields.items() if (found := named_values(each, schema)) is not None}
    floor = next((name for name, each in fields.items() if each.shape == () and re.search("level|floor", name)
                  and each.dtype == "int32"), None)  # fmt: skip
    bases = [name for name in named if len(fields[name].shape) == 2]
    bases = bases or [name for name in named if len(fields[name].shape) == 3 and floor is not None]
    bases = bases or [name for name in named if len(fields[name].shape) == 1 and fields[name].shape[0] > 1]
    base = next((name for name in bases if (_position(fields, len(fields[name].shape)) is not None)), None)
    if base is None:
        return None
    whole = fields[base].shape
    taken: set[str] = {PLAYER, OUTSIDE, "?"}
    layers = tuple(_Layer((name,), _glyphs(named[name], taken)) for name in named if fields[name].shape == whole)
    creatures = _creature_glyphs(schema.state, taken)
    position = _position(fields, len(whole))
    constant = schema.constants.get("OBS_DIM")
    return _Layout(
        shape=(1, whole[0]) if len(whole) == 1 else (whole[-2], whole[-1]),
        layers=layers,
        floor=(floor,) if len(whole) == 3 and floor is not None else None,
        position=None if position is None else (position,),
        direction=_direction(fields, named),
        creatures=creatures,
        window=(int(constant.values[0]), int(constant.values[1])) if constant is not None else AROUND,
    )


def _position(fields: Mapping[str, Field], axes: int) -> str | None:
    """The field that says where the player is: a number on a line, a pair on a plane."""
    shape = () if axes == 1 else (2,)
    found = [name for name, each in fields.items() if name.endswith("position") and each.shape == shape]
    return "player_position" if "player_position" in found else found[0] if found else None


def _direction(
    fields: Mapping[str, Field], named: Mapping[str, Enumeration]
) -> tuple[tuple[str, ...], Mapping[int, str]] | None:
    for name, enumeration in named.items():
        if fields[name].shape == () and "direction" in name and FACING.keys() <= enumeration.members.keys():
            return (name,), {value: member for member, value in enumeration.members.items()}
    return None


def _glyphs(enumeration: Enumeration, taken: set[str]) -> dict[int, tuple[str, str]]:
    glyphs: dict[int, tuple[str, str]] = {}
    for member, value in enumeration.members.items():
        if value not in glyphs:
            glyphs[value] = (_glyph(member.lower(), taken), member)
    return glyphs


def _creature_glyphs(state: Group, taken: set[str]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for name, group in state.members.items():
        if not isinstance(group, Group):
            continue
        position, mask = group.members.get("position"), group.members.get("mask")
        if isinstance(position, Field) and isinstance(mask, Field) and position.shape == (*mask.shape, 2):
            found[_glyph(name.upper(), taken)] = (name,)
    return found


def _glyph(name: str, taken: set[str]) -> str:
    """One or two letters of a name that nothing else has."""
    words = [word for word in name.split("_") if word]
    letters = "".join(words)
    initials = words[0][0] + words[1][0] if len(words) > 1 else ""
    candidates: Sequence[str] = [letters[0], *([initials] if initials else []), *(letters[0] + x for x in letters[1:]),
                                 *(letters[0] + x for x in "0123456789"), *(x + y for x in "0123456789"
                                 for y in "0123456789")]  # fmt: skip
    glyph = next((each for each in candidates if each not in taken), "??")
    taken.add(glyph)
    return glyph


def _leaf(view: View, path: tuple[str, ...]) -> Any:
    value: Any = view
    for name in path:
        value = value[name]
    return value


def _place(value: Any) -> tuple[int, int]:
    """A position as row and column; a number on a line lies in row 0."""
    array = np.asarray(value)
    return (0, int(array)) if array.shape == () else (int(array[0]), int(array[1]))
