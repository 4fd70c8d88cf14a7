"""Witnesses and readings: worked by hand on transitions of a corridor, and against the programs themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import jax
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.sharp.explaining.readings import Reading, inputs, readings
from engine.sharp.explaining.witnesses import Truth, truths
from engine.sharp.program import CompiledProgram, parse_program
from engine.sharp.sampled import SampledViews
from engine.worlds.schema import Field
from tests.engine.sharp.concrete import evaluate
from tests.engine.sharp.invented import SCHEMA as INVENTED
from tests.engine.sharp.invented import some_views
from tests.engine.sharp.programs import compiled
from tests.tiny_worlds import SCHEMA, TILES

CELLS = [0, 1, 0, 0, 0, 2, 0, 3]


def view(position: int = 1, keys: int = 0, door_open: bool = False, warmth: float = 1.0) -> dict[str, Any]:
    return {
        "position": np.int32(position),
        "cells": np.array(CELLS, np.int32),
        "bag": {"keys": np.int32(keys)},
        "door_open": np.bool_(door_open),
        "lamp_lit": np.bool_(False),
        "warmth": np.float32(warmth),
    }


def stacked(views: Sequence[Mapping[str, Any]]) -> Any:
    return jax.tree.map(lambda *leaves: np.stack(leaves), *views)


def sampled(transitions: Sequence[tuple[Any, Any]], resets: Sequence[Any] | None = None) -> SampledViews:
    return SampledViews(
        resets=stacked(resets or [view()]),
        previous=stacked([before for before, _ in transitions]),
        current=stacked([after for _, after in transitions]),
    )


def corridor(success: str, requires: str = "") -> CompiledProgram:
    tail = f"    requires = [{requires}]\n" if requires else ""
    text = (
        f'class Probe(Sharp):\n    """A probe."""\n    def success(self, state, previous):\n        {success}\n{tail}'
    )
    program = parse_program(text, SCHEMA)
    assert isinstance(program, CompiledProgram), program
    return program


TRANSITIONS = (
    (view(1), view(2)),
    (view(2), view(2, keys=1)),
    (view(2, keys=1), view(3, keys=1)),
    (view(7), view(6)),
    (view(2), view(2)),
)


def of(program: CompiledProgram, states: SampledViews) -> Truth:
    return truths(program, SCHEMA, states)[0]


# --- truths ----------------------------------------------------------------------------------------------------------


def test_an_event_has_its_moment_and_the_state_nearest_to_it() -> None:
    truth = of(corridor("return state.bag.keys > previous.bag.keys"), sampled(TRANSITIONS))
    assert (truth.visited, truth.visited_true, truth.resets, truth.resets_true) == (5, 1, 1, 0)
    assert truth.when_true is not None
    assert truth.when_false is not None
    assert (truth.when_true.where, truth.when_true.index, truth.when_true.fresh) == ("visited", 1, True)
    assert truth.when_true.apart == ()
    # 0, 3 and 4 differ in the current keys alone, 2 in the previous ones alone; 4 is at the same place as 1
    assert truth.when_false.index == 4
    assert truth.when_false.apart == (("state", ("bag", "keys")),)
    assert [(each.name, each.of) for each in truth.when_true.readings] == [("bag.keys", ("previous", "state"))]
    assert truth.when_true.readings[0].changed.all()


def test_a_state_counts_from_the_transition_at_which_it_is_reached() -> None:
    """Cell 2 is reached in the first transition; in the second the walker stands there already."""
    states = sampled([(view(2), view(2)), (view(1), view(2)), (view(2), view(3))])
    truth = of(corridor("return state.position == 2"), states)
    assert truth.when_true is not None
    assert (truth.when_true.index, truth.when_true.fresh) == (1, True)
    standing = of(corridor("return state.position == 2"), sampled([(view(2), view(2)), (view(2), view(3))]))
    assert standing.when_true is not None
    assert (standing.when_true.index, standing.when_true.fresh) == (0, False)


def test_fewest_fields_come_before_fewest_elements() -> None:
    """Transition 1 differs from the true one in seven cells of one field, transition 2 in one cell and the position."""
    full, other = view(3, keys=1), view(4, keys=1)
    full["cells"], other["cells"] = np.full(8, 3, np.int32), np.array([1, *[3] * 7], np.int32)
    many = {**full, "cells": np.array([*[0] * 7, 3], np.int32)}
    states = sampled([(full, full), (many, many), (other, other)])
    truth = of(corridor("return (state.cells == Tile.LAMP).all() and state.position == 3"), states)
    assert truth.when_true is not None
    assert truth.when_false is not None
    assert (truth.when_true.index, truth.when_false.index) == (0, 1)
    assert truth.when_false.apart == (("state", ("cells",)),)


def test_what_is_never_true_shows_where_something_that_is_read_changes() -> None:
    truth = of(corridor("return state.door_open and state.position > 0"), sampled(TRANSITIONS[1:]))
    assert (truth.visited_true, truth.resets_true, truth.when_true) == (0, 0, None)
    assert truth.when_false is not None
    assert (truth.when_false.where, truth.when_false.index) == ("visited", 1)


def test_what_is_always_true_has_no_state_where_it_is_false() -> None:
    truth = of(corridor("return state.warmth > 0.1"), sampled(TRANSITIONS))
    assert (truth.visited_true, truth.when_false) == (5, None)
    assert truth.when_true is not None
    assert not truth.when_true.fresh


def test_resets_stand_in_where_no_transition_does() -> None:
    states = sampled([(view(2), view(2))], resets=[view(2), view(3, keys=1)])
    truth = of(corridor("return state.bag.keys > 0"), states)
    assert truth.when_true is not None
    assert (truth.when_true.where, truth.when_true.index, truth.when_true.fresh) == ("reset", 1, False)
    assert not truth.when_true.readings[0].changed.any()
    no_false = of(corridor("return state.position == 2"), states)
    assert no_false.when_false is not None
    assert no_false.when_false.where == "reset"


def test_each_condition_has_its_own_truth() -> None:
    program = corridor(
        "return state.bag.keys > previous.bag.keys",
        '(lambda state: state.position >= 2, "Walk"), (lambda state: state.door_open, "OpenDoor")',
    )
    found = truths(program, SCHEMA, sampled(TRANSITIONS))
    assert [(each.name, each.prerequisite, each.visited_true) for each in found] == [
        ("success", None, 1),
        ("lambda[0]", "Walk", 5),
        ("lambda[1]", "OpenDoor", 0),
    ]


PROGRAMS = (
    "return state.field[0, 0] == Tile.KILN",
    "return state.stamina > previous.stamina",
    "row, column = state.walker_position\nreturn state.field[row, column] == previous.field[row, column]",
    "return count_near(state, Tile.KILN) > 1",
    "return state.herons.mask.any() and state.warmth > previous.warmth",
)


@pytest.mark.parametrize("text", PROGRAMS)
def test_witnesses_are_what_they_say(text: str, views: list[dict[str, Any]]) -> None:
    """The program itself, evaluated on the witnesses, agrees; the counts are those of evaluating it row by row."""
    program = compiled(text)
    pairs = list(pairwise(views))
    truth = truths(program, INVENTED, sampled(pairs, resets=views[:5]))[0]
    expected = [bool(evaluate([program.success], after, before, INVENTED)[0]) for before, after in pairs]
    assert truth.visited_true == sum(expected)
    for value, witness in ((True, truth.when_true), (False, truth.when_false)):
        assert witness is not None
        assert bool(evaluate([program.success], witness.state, witness.previous, INVENTED)[0]) is value
    assert truths(program, INVENTED, sampled(pairs, resets=views[:5]))[0].when_false is not None


@given(seed=st.integers(0, 1000), text=st.sampled_from(PROGRAMS))
def test_changing_what_is_not_read_changes_no_value(seed: int, text: str) -> None:
    """What ``inputs`` leaves out has no influence, helpers included."""
    program = compiled(text)
    one, other = list(some_views())[seed % 40], list(some_views())[(seed * 7 + 3) % 40]
    read = {path for which, path in inputs([program.success], INVENTED) if which == "state"}

    def mixed(mine: Any, others: Any, path: tuple[str, ...] = ()) -> Any:
        if isinstance(mine, dict):
            return {name: mixed(mine[name], others[name], (*path, name)) for name in mine}
        return mine if path in read else others

    before = evaluate([program.success], one, one, INVENTED)[0]
    assert evaluate([program.success], mixed(one, other), one, INVENTED)[0] == before


# --- readings --------------------------------------------------------------------------------------------------------


def test_a_helper_reads_what_its_result_depends_on() -> None:
    program = compiled("return count_near(previous, Tile.KILN) > 1 and state.resting")
    assert inputs([program.success], INVENTED) == (
        ("previous", ("field",)),
        ("previous", ("walker_position",)),
        ("state", ("resting",)),
    )


def test_a_reading_joins_the_states_in_which_a_field_is_read() -> None:
    wanted = (("previous", ("bag", "keys")), ("state", ("bag", "keys")), ("state", ("position",)))
    keys, position = readings(wanted, SCHEMA, view(3, keys=1), view(2))
    assert (keys.name, keys.of, keys.previous.item(), keys.state.item()) == ("bag.keys", ("previous", "state"), 0, 1)
    assert (position.name, position.of, position.previous.item()) == ("position", ("state",), 2)


def test_a_float_that_is_no_number_has_not_changed() -> None:
    field = Field("float32", (2,), "two floats")
    nan = np.array([np.nan, 1], np.float32)
    assert Reading(("x",), field, ("state",), nan, nan.copy()).changed.tolist() == [False, False]
    assert Reading(("x",), field, ("state",), nan, np.zeros(2, np.float32)).changed.tolist() == [True, True]


def test_the_corridor_of_these_tests_is_the_worlds() -> None:
    assert [CELLS[index] for index in (1, 5, 7)] == [TILES["KEY"], TILES["DOOR"], TILES["LAMP"]]
