"""A world small enough to work out by hand: a corridor with a key, a locked door and a lamp."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from attrs import frozen

from engine.worlds.protocol import View
from engine.worlds.schema import Constant, Enumeration, Field, Group, Helper, Parameter, Schema

LENGTH = 8
START_CELL, KEY_CELL, DOOR_CELL, LAMP_CELL = 1, 2, 5, 7
COOLING = 1 / 64

ACHIEVEMENTS: tuple[str, ...] = ("take_key", "open_door", "light_lamp")
TILES = {"FLOOR": 0, "KEY": 1, "DOOR": 2, "LAMP": 3}
MOVES = {"WAIT": 0, "LEFT": 1, "RIGHT": 2, "TAKE": 3, "OPEN": 4, "LIGHT": 5}

SHORTEST = (2, 3, 2, 2, 4, 2, 2, 2, 5)
"""RIGHT, TAKE, RIGHT, RIGHT, OPEN, RIGHT, RIGHT, RIGHT, LIGHT: from cell 1 to the lit lamp; key at step 2, door
at step 5."""

PROGRAMS = {
    "TakeKey": '''class TakeKey(Sharp):
    """Pick up the key."""

    def success(self, state, previous):
        return state.bag.keys > previous.bag.keys
''',
    "OpenDoor": '''class OpenDoor(Sharp):
    """Unlock the door."""

    def success(self, state, previous):
        return state.door_open and not previous.door_open

    def has_key(self, state):
        return state.bag.keys >= 1

    requires = [(has_key, "TakeKey")]
''',
    "LightLamp": '''class LightLamp(Sharp):
    """Light the lamp at the end of the corridor."""

    def success(self, state, previous):
        return state.lamp_lit and not previous.lamp_lit

    def door_is_open(self, state):
        return state.door_open

    requires = [(door_is_open, "OpenDoor")]
''',
}
"""One skill per achievement, each requiring the one before it."""


class CorridorState(NamedTuple):
    """Everything the corridor remembers; ``done_before`` are the evaluation-only flags, ``time`` the step counter."""

    position: jax.Array
    cells: jax.Array
    keys: jax.Array
    door_open: jax.Array
    lamp_lit: jax.Array
    warmth: jax.Array
    done_before: jax.Array
    time: jax.Array


def _distance_to_lamp(state: View) -> jax.Array:
    position: jax.Array = state["position"]
    return LAMP_CELL - position


def _tile_at(state: View, cell: jax.Array) -> jax.Array:
    cells: jax.Array = state["cells"]
    return cells[jnp.clip(cell, 0, LENGTH - 1)]


SCHEMA = Schema(
    world="corridor",
    state=Group(
        meaning="the corridor and who walks in it",
        members={
            "position": Field("int32", (), "the walker's cell", "cells", 0, LENGTH - 1),
            "cells": Field("int32", (LENGTH,), "the tile on each cell, a Tile", "", 0, 3),
            "bag": Group(members={"keys": Field("int32", (), "keys carried", "keys", 0, 1)}, meaning="what is carried"),
            "door_open": Field("bool", (), "whether the door has been unlocked"),
            "lamp_lit": Field("bool", (), "whether the lamp burns"),
            "warmth": Field("float32", (), "falls by 1/64 a step, is 1 again when the lamp is lit", "", 0, 1),
        },
    ),
    enums={
        "Tile": Enumeration(TILES, "what lies on a cell; an open door is FLOOR"),
        "Move": Enumeration(MOVES, "the actions"),
    },
    constants={"OFFSETS": Constant("int32", (3,), (0, -1, 1), "how WAIT, LEFT and RIGHT move the walker")},
    helpers={
        "distance_to_lamp": Helper(
            (Parameter("state", "int32", (), is_state=True),),
            Field("int32", (), "cells between the walker and the lamp", "cells", 0, LENGTH - 1),
            _distance_to_lamp,
            1,
            "how far the lamp is",
        ),
        "tile_at": Helper(
            (Parameter("state", "int32", (), is_state=True), Parameter("cell", "int32", ())),
            Field("int32", (), "the tile, a Tile", "", 0, 3),
            _tile_at,
            2,
            "the tile on a cell; cells outside mean the nearest one inside",
        ),
    },
)


@frozen
class Corridor:
    """Deterministic: no step draws anything, and neither does the reset unless ``random_start``.

    Cells 0 to 7: key on 2, locked door on 5, lamp on 7; the walker starts on 1, or on 0 to 3 with ``random_start``.

    - LEFT from cell 0 is a fall: the episode ends (``died``) and the walker stays on cell 0. RIGHT from cell 7 waits.
    - A locked door cannot be entered. OPEN on cell 4 with a key unlocks it and uses the key up.
    - TAKE on the key's cell picks it up; LIGHT on cell 7 lights the lamp. Anything else in the wrong place waits.
    - The episode times out with its ``time_limit``-th step; a death in that very step is a death and no timeout.
    """

    time_limit: int = 40
    random_start: bool = False

    name = "corridor"
    num_actions = len(MOVES)
    observation_size = LENGTH + 3
    schema = SCHEMA
    achievement_names = ACHIEVEMENTS

    def reset(self, key: jax.Array) -> CorridorState:
        drawn = jax.random.randint(key, (), 0, 4, jnp.int32)
        tiles = [TILES["FLOOR"]] * LENGTH
        for cell, tile in ((KEY_CELL, "KEY"), (DOOR_CELL, "DOOR"), (LAMP_CELL, "LAMP")):
            tiles[cell] = TILES[tile]
        return CorridorState(
            position=drawn if self.random_start else jnp.int32(START_CELL),
            cells=jnp.asarray(tiles, jnp.int32),
            keys=jnp.int32(0),
            door_open=jnp.bool_(False),
            lamp_lit=jnp.bool_(False),
            warmth=jnp.float32(1),
            done_before=jnp.zeros(3, bool),
            time=jnp.int32(0),
        )

    def step(
        self, key: jax.Array, state: CorridorState, action: jax.Array
    ) -> tuple[CorridorState, jax.Array, jax.Array]:
        del key
        fell = (action == MOVES["LEFT"]) & (state.position == 0)
        offset = (action == MOVES["RIGHT"]).astype(jnp.int32) - (action == MOVES["LEFT"]).astype(jnp.int32)
        target = jnp.clip(state.position + offset, 0, LENGTH - 1)
        target = jnp.where(state.cells[target] == TILES["DOOR"], state.position, target)
        here = state.cells[state.position]
        takes = (action == MOVES["TAKE"]) & (here == TILES["KEY"])
        opens = (action == MOVES["OPEN"]) & (state.position == DOOR_CELL - 1) & (state.keys > 0)
        lights = (action == MOVES["LIGHT"]) & (here == TILES["LAMP"]) & ~state.lamp_lit
        cells = jnp.where(takes & (jnp.arange(LENGTH) == KEY_CELL), TILES["FLOOR"], state.cells)
        cells = jnp.where(opens & (jnp.arange(LENGTH) == DOOR_CELL), TILES["FLOOR"], cells)
        time = state.time + 1
        following = CorridorState(
            position=target,
            cells=cells,
            keys=state.keys + takes.astype(jnp.int32) - opens.astype(jnp.int32),
            door_open=state.door_open | opens,
            lamp_lit=state.lamp_lit | lights,
            warmth=jnp.where(lights, jnp.float32(1), jnp.maximum(state.warmth - COOLING, jnp.float32(0))),
            done_before=state.done_before | jnp.stack([takes, opens, lights]),
            time=time,
        )
        return following, fell, (time >= self.time_limit) & ~fell

    def observe(self, state: CorridorState) -> jax.Array:
        where = (jnp.arange(LENGTH) == state.position).astype(jnp.float32)
        flags = jnp.stack([state.keys > 0, state.door_open, state.lamp_lit]).astype(jnp.float32)
        return jnp.concatenate([where, flags])

    def view(self, state: CorridorState) -> View:
        return {
            "position": state.position,
            "cells": state.cells,
            "bag": {"keys": state.keys},
            "door_open": state.door_open,
            "lamp_lit": state.lamp_lit,
            "warmth": state.warmth,
        }

    def achievements(self, state: CorridorState) -> jax.Array:
        return state.done_before


def walk(world: Corridor, actions: tuple[int, ...]) -> list[tuple[Any, bool, bool]]:
    """The states, deaths and timeouts that ``actions`` lead to from a fresh episode, one per action; never resets."""
    key = jax.random.key(0)
    state, trace = world.reset(key), []
    step = jax.jit(world.step)
    for action in actions:
        state, died, timed_out = step(key, state, jnp.int32(action))
        trace.append((state, bool(died), bool(timed_out)))
    return trace
