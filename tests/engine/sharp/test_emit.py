"""Predicates in JAX: shapes, padding, sharing, and errors of a view that is not what the schema says."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from engine.sharp.emit import predicates
from engine.sharp.sharing import OperationCount, operation_count
from tests.engine.sharp.concrete import graph_truths
from tests.engine.sharp.invented import SCHEMA, stacked
from tests.engine.sharp.programs import compiled

BRICKS = compiled(
    "return state.basket.bricks > previous.basket.bricks",
    name="Bricks",
    extra="def rich(self, state):\n    return state.basket.clay >= 2",
    requires='(rich, "Dig"), (lambda self, s: count_near(s, Tile.KILN) > 0, "Walk")',
)
RICH = compiled("return state.basket.clay >= 2", name="Rich")
FULL = compiled("return state.basket.clay >= 2 and (state.field == 1).sum() > 3", name="Full")


def test_shapes_padding_and_values(views: list[Any]) -> None:
    programs = [BRICKS, RICH, FULL]
    success, conditions = jax.jit(jax.vmap(predicates(programs, SCHEMA)))(
        stacked(views), stacked(views[1:] + views[:1])
    )
    assert (success.shape, success.dtype) == ((40, 3), jnp.bool_)
    assert (conditions.shape, conditions.dtype) == ((40, 3, 2), jnp.bool_)
    assert np.asarray(conditions)[:, 1:].all()
    for row, (view, previous) in enumerate(zip(views, views[1:] + views[:1], strict=True)):
        for column, program in enumerate(programs):
            truth, held = graph_truths(program, view, previous, SCHEMA)
            assert bool(success[row, column]) is truth
            assert tuple(conditions[row, column, : len(held)].tolist()) == held


def test_without_conditions_one_column_of_true(views: list[Any]) -> None:
    success, conditions = predicates([RICH], SCHEMA)(views[0], views[1])
    assert success.shape == (1,)
    assert conditions.tolist() == [[True]]


def test_an_empty_archive(views: list[Any]) -> None:
    success, conditions = predicates([], SCHEMA)(views[0], views[0])
    assert (success.shape, conditions.shape) == ((0,), (0, 1))


def test_sharing_counts_equal_operations_once() -> None:
    """By hand: Rich is one comparison; Full is comparison, comparison, sum, comparison, and; they share the first."""
    assert operation_count([RICH]) == OperationCount(1, 1)
    assert operation_count([FULL]).before == operation_count([FULL]).after
    both = operation_count([RICH, FULL])
    assert both.before - both.after == 1
    assert operation_count([RICH, RICH, RICH]) == OperationCount(3, 1)


def test_sharing_reaches_the_emitted_computation(views: list[Any]) -> None:
    """Ten skills of one meaning compile to no more JAX equations than one, apart from stacking the results."""
    one = jax.make_jaxpr(predicates([FULL], SCHEMA))(views[0], views[0])
    ten = jax.make_jaxpr(predicates([FULL] * 10, SCHEMA))(views[0], views[0])
    heavy = [str(equation.primitive) for equation in one.eqns].count("reduce_sum")
    assert [str(equation.primitive) for equation in ten.eqns].count("reduce_sum") == heavy == 1


def test_a_view_of_another_type_is_an_error_that_names_the_field(views: list[Any]) -> None:
    wrong = {**views[0], "basket": {**views[0]["basket"], "clay": np.float32(1)}}
    with pytest.raises(TypeError, match=r"basket\.clay is float32\[\], but the schema declares int32"):
        predicates([RICH], SCHEMA)(wrong, views[0])
    missing = {key: value for key, value in views[0].items() if key != "basket"}
    with pytest.raises(KeyError, match="basket"):
        predicates([RICH], SCHEMA)(missing, views[0])


def test_previous_and_state_are_not_confused(views: list[Any]) -> None:
    poor = {**views[0], "basket": {**views[0]["basket"], "bricks": np.int32(0)}}
    rich = {**views[0], "basket": {**views[0]["basket"], "bricks": np.int32(1)}}
    evaluate = predicates([BRICKS], SCHEMA)
    assert [bool(evaluate(*pair)[0][0]) for pair in ((rich, poor), (poor, rich), (rich, rich))] == [True, False, False]


def test_parsing_needs_no_jax() -> None:
    script = "import sys; import engine.sharp.program, engine.sharp.reference; assert 'jax' not in sys.modules"
    root = Path(__file__).resolve().parents[3]
    environment = {**os.environ, "PYTHONPATH": str(root)}
    subprocess.run([sys.executable, "-c", script], cwd=root, env=environment, check=True)
