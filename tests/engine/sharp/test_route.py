"""The transition operator on tables equals the definition, terminates, and never routes through what is satisfied."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.sharp.route import route, route_batch

SKILLS, CONDITIONS, BATCH = 7, 3, 8
ROUTE = jax.jit(route_batch, static_argnames="depth")


def test_by_hand() -> None:
    """Stone needs a pickaxe (then wood); a torch needs stone first, then wood."""
    requires = {"wood": (), "pickaxe": ("wood",), "stone": ("pickaxe",), "torch": ("stone", "wood")}
    satisfied = {"wood": (), "pickaxe": (False,), "stone": (False,), "torch": (False, True)}
    assert route("torch", requires, satisfied) == "wood"
    assert route("torch", requires, {**satisfied, "pickaxe": (True,)}) == "pickaxe"
    assert route("torch", requires, {**satisfied, "stone": (True,)}) == "stone"
    assert route("torch", requires, {**satisfied, "torch": (True, False)}) == "wood"
    assert route("torch", requires, {**satisfied, "torch": (True, True)}) == "torch"
    assert route("wood", requires, satisfied) == "wood"


def test_a_cycle_is_an_error() -> None:
    with pytest.raises(ValueError, match="cycle"):
        route("a", {"a": ("b",), "b": ("a",)}, {"a": (False,), "b": (False,)})


def test_missing_condition_is_an_error() -> None:
    with pytest.raises(ValueError, match="zip"):
        route("a", {"a": ("b",), "b": ()}, {"a": (), "b": ()})


@settings(max_examples=300)
@given(st.data())
def test_tables_equal_the_definition(data: st.DataObject) -> None:
    """Random acyclic prerequisites: skill i requires only skills before it, in a random naming."""
    names = data.draw(st.permutations(range(SKILLS)))
    prerequisites: list[list[int]] = [
        [data.draw(st.integers(0, i - 1)) for _ in range(data.draw(st.integers(0, CONDITIONS if i else 0)))]
        for i in range(SKILLS)
    ]
    truths = data.draw(
        st.lists(
            st.lists(
                st.lists(st.booleans(), min_size=CONDITIONS, max_size=CONDITIONS), min_size=SKILLS, max_size=SKILLS
            ),
            min_size=BATCH,
            max_size=BATCH,
        )
    )
    targets = data.draw(st.lists(st.integers(0, SKILLS - 1), min_size=BATCH, max_size=BATCH))
    table = np.zeros((SKILLS, CONDITIONS), np.int32)
    held = np.ones((BATCH, SKILLS, CONDITIONS), bool)
    for i, needed in enumerate(prerequisites):
        for k, prerequisite in enumerate(needed):
            table[names[i], k] = names[prerequisite]
            for row in range(BATCH):
                held[row, names[i], k] = truths[row][i][k]
    active = np.asarray(ROUTE(jnp.asarray(targets, jnp.int32), table, held))
    for row, target in enumerate(targets):
        requires = {str(names[i]): [str(names[p]) for p in needed] for i, needed in enumerate(prerequisites)}
        satisfied = {
            str(names[i]): held[row, names[i], : len(needed)].tolist() for i, needed in enumerate(prerequisites)
        }
        expected = route(str(target), requires, satisfied)
        assert str(active[row]) == expected
        assert all(satisfied[expected]), "the active skill has nothing unmet"
        here = str(target)
        while here != expected:
            first = satisfied[here].index(False)
            assert all(satisfied[here][:first])
            here = requires[here][first]


def test_depth_bounds_the_chain() -> None:
    table = np.array([[0], [0], [1], [2]], np.int32)
    unmet = np.array([[[True], [False], [False], [False]]])
    target = jnp.array([3], jnp.int32)
    assert [int(ROUTE(target, table, unmet, depth=depth)[0]) for depth in range(4)] == [3, 2, 1, 0]
    assert int(ROUTE(target, table, unmet)[0]) == 0


def test_one_skill_alone() -> None:
    assert int(ROUTE(jnp.array([0], jnp.int32), np.zeros((1, 1), np.int32), np.ones((1, 1, 1), bool))[0]) == 0
