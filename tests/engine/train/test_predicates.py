"""Predicates: what they are made of, and that a function for more conditions serves fewer."""

from __future__ import annotations

from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.train.predicates import Predicates, compile_programs
from engine.train.tables import assemble, looking, shape_of
from ledger.vocabulary.train import Skill
from tests.engine.train.effects import SKILLS, program
from tests.tiny_worlds import PROGRAMS, Corridor

WORLD = Corridor()

FAR = '''class WalkFar(Sharp):
    """Reach the far end."""

    def success(self, state, previous):
        return state.position >= 6

    def door_is_open(self, state):
        return state.door_open

    def has_key(self, state):
        return state.bag.keys >= 1

    requires = [(door_is_open, "OpenDoor"), (has_key, "TakeKey")]
'''
AJAR = '''class LeaveAjar(Sharp):
    """Have the door open: what LightLamp asks for."""

    def success(self, state, previous):
        return state.door_open
'''
POOL = (*SKILLS, program("WalkFar", "OpenDoor", "TakeKey", source=FAR), program("LeaveAjar", source=AJAR))


def predicates(*skills: Skill) -> Predicates:
    return compile_programs([skill.source.text for skill in skills], WORLD.schema)


@cache
def transitions() -> tuple[Any, Any]:
    """A batch of states and of those after one step, from random play: ``[B]`` each."""
    keys = jax.random.split(jax.random.key(0), 8)
    state = jax.jit(jax.vmap(WORLD.reset))(keys)
    step = jax.jit(jax.vmap(WORLD.step))
    before, after = [], []
    for time in range(40):
        actions = jax.random.randint(jax.random.key(time), (8,), 0, WORLD.num_actions)
        following = step(keys, state, actions)[0]
        before.append(state)
        after.append(following)
        state = following
    joined = [jax.tree.map(lambda *leaves: jnp.concatenate(leaves), *states) for states in (before, after)]
    return joined[0], joined[1]


def seen(skills: tuple[Skill, ...], compiled: Predicates, found: Predicates) -> tuple[np.ndarray, np.ndarray]:
    """What the function of ``compiled`` shows of ``skills`` through the tables of ``found``."""
    shape = shape_of(skills, 0)
    nowhere = np.full((shape.skills, shape.slots), -1, np.int32)  # whether a condition holds is no matter of wiring
    blank = np.zeros(len(skills))
    tables = assemble(skills, found, nowhere, shape, blank, blank)
    success, conditions = looking(WORLD, compiled)(tables, *transitions())
    return np.asarray(success)[:, : len(skills)], np.asarray(conditions)[:, : len(skills)]


def test_what_a_reset_asks_about_comes_first() -> None:
    """Two conditions on the way and three goals; that the lamp is lit is asked after steps only."""
    compiled = predicates(*SKILLS)
    assert compiled.asked == 2
    assert compiled.always == 5
    assert sorted(place for places in compiled.conditions for place in places) == [0, 1]
    assert sorted(compiled.success) == [2, 3, 4]
    assert len(set(compiled.meanings)) == 5


def test_a_goal_that_others_ask_for_is_computed_once() -> None:
    compiled = predicates(SKILLS[2], POOL[4])
    assert compiled.always == 2
    assert compiled.conditions[0] == (compiled.success[1],) == (0,)


def test_order_and_names_do_not_matter() -> None:
    renamed = evolve(SKILLS[0], source=evolve(SKILLS[0].source, text=PROGRAMS["TakeKey"].replace("TakeKey", "Grab")))
    assert predicates(SKILLS[2], SKILLS[1], renamed).key == predicates(*SKILLS).key
    assert predicates(*SKILLS[:2]).key != predicates(*SKILLS).key


def test_fewer_are_served_and_more_are_not() -> None:
    few, many = predicates(*SKILLS[:2]), predicates(*POOL)
    served = many.serving(few)
    assert served is not None
    assert (served.key, served.always) == (many.key, many.always)
    assert few.serving(many) is None
    assert few.serving(few) == few


def test_a_goal_does_not_serve_as_a_condition() -> None:
    """Goals are not computed at a reset, so a function in which something is but a goal cannot route by it."""
    goals = predicates(SKILLS[0], POOL[4])
    asking = predicates(SKILLS[0], SKILLS[2], POOL[4])
    assert goals.asked == 0
    assert goals.serving(asking) is None
    assert asking.serving(goals) is not None


def test_without_meanings_only_the_own_key_is_served() -> None:
    few, many = predicates(*SKILLS[:2]), predicates(*POOL)
    assert evolve(many, meanings=()).serving(few) is None
    assert many.serving(evolve(few, meanings=(), key="another")) is None
    assert evolve(many, meanings=()).serving(many) == many


subsets = st.lists(st.sampled_from(range(len(POOL))), min_size=1, max_size=len(POOL), unique=True)


@given(subsets, subsets)
@settings(max_examples=25)
def test_what_is_served_is_what_would_have_been_compiled(kept: list[int], wanted: list[int]) -> None:
    """Whenever a function serves, success and conditions of every skill are those of a function of its own."""
    skills = tuple(POOL[row] for row in wanted)
    own, other = predicates(*skills), predicates(*(POOL[row] for row in kept))
    served = other.serving(own)
    assert served is not None or not set(wanted) <= set(kept)
    if served is not None:
        mine, theirs = seen(skills, own, own), seen(skills, other, served)
        np.testing.assert_array_equal(mine[0], theirs[0])
        np.testing.assert_array_equal(mine[1], theirs[1])


def test_random_play_shows_each_skill_and_each_condition_in_both_ways() -> None:
    """So that the comparison above compares something."""
    success, conditions = seen(POOL, predicates(*POOL), predicates(*POOL))
    for column in (*success.T, conditions[:, 1, 0], conditions[:, 2, 0]):
        assert 0 < column.sum() < len(column)


def test_a_source_that_is_no_program_is_refused() -> None:
    with pytest.raises(ValueError, match="train only on vetted programs"):
        predicates(program("TakeKey", source="import os"))
