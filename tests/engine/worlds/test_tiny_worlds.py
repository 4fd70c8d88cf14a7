"""The tiny corridor does what its docstring says, so that other tests may rest on it."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from engine.worlds.protocol import World
from engine.worlds.schema import Field, Group
from tests.tiny_worlds import MOVES, SCHEMA, SHORTEST, Corridor, walk


def test_obeys_the_protocol() -> None:
    world: World = Corridor()
    assert isinstance(world, World)


def test_the_shortest_way_lights_the_lamp() -> None:
    trace = walk(Corridor(), SHORTEST)
    assert [int(state.position) for state, _, _ in trace] == [2, 2, 3, 4, 4, 5, 6, 7, 7]
    assert [int(state.keys) for state, _, _ in trace] == [0, 1, 1, 1, 0, 0, 0, 0, 0]
    assert [bool(state.door_open) for state, _, _ in trace] == [False] * 4 + [True] * 5
    assert [bool(state.lamp_lit) for state, _, _ in trace] == [False] * 8 + [True]
    assert [float(state.warmth) for state, _, _ in trace] == [1 - n / 64 for n in range(1, 9)] + [1.0]
    assert np.asarray(trace[-1][0].done_before).tolist() == [True, True, True]
    assert not any(died or late for _, died, late in trace)


def test_a_locked_door_stops_and_needs_the_key() -> None:
    right, unlock = MOVES["RIGHT"], MOVES["OPEN"]
    state = walk(Corridor(), (right, right, right, right, unlock, right))[-1][0]
    assert int(state.position) == 4
    assert not bool(state.door_open)


@pytest.mark.parametrize(
    ("limit", "actions", "expected"),
    [
        (9, (1, 1), [(False, False), (True, False)]),
        (2, (0, 0), [(False, False), (False, True)]),
        (2, (1, 1), [(False, False), (True, False)]),
    ],
)
def test_deaths_and_timeouts(limit: int, actions: tuple[int, ...], expected: list[tuple[bool, bool]]) -> None:
    assert [(died, late) for _, died, late in walk(Corridor(time_limit=limit), actions)] == expected


def test_view_mirrors_the_schema_and_observation_has_its_size() -> None:
    world = Corridor(random_start=True)
    states = jax.vmap(world.reset)(jax.random.split(jax.random.key(3), 32))
    assert set(np.asarray(states.position).tolist()) == {0, 1, 2, 3}
    assert jax.vmap(world.observe)(states).shape == (32, world.observation_size)
    state = world.reset(jax.random.key(0))

    def check(group: Group, view: object) -> None:
        assert isinstance(view, dict)
        assert set(view) == set(group.members)
        for name, member in group.members.items():
            if isinstance(member, Field):
                assert (str(view[name].dtype), view[name].shape) == (member.dtype, member.shape), name
            else:
                check(member, view[name])

    check(SCHEMA.state, world.view(state))


def test_helpers() -> None:
    world = Corridor()
    view = world.view(world.reset(jax.random.key(0)))
    assert int(SCHEMA.helpers["distance_to_lamp"].function(view)) == 6
    assert [int(SCHEMA.helpers["tile_at"].function(view, jnp.int32(cell))) for cell in (-3, 2, 5, 99)] == [0, 1, 2, 3]
