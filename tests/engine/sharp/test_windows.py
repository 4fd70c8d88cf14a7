"""Windows, slices and indices that depend on the state, by hand on a numbered grid."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.sharp.concrete import evaluate
from tests.engine.sharp.invented import GRID, SCHEMA, some_views
from tests.engine.sharp.programs import compiled, holds, refused

WINDOW = "i, j = state.walker_position\nw = state.field[i - 1:i + 2, j - 2:j + 3]\n"


def at(views: list[Any], row: int, column: int, tile: int = 1) -> Any:
    """A state whose field is all ``tile``, flooded everywhere, the walker at a place."""
    return {
        **views[0],
        "field": np.full(GRID, tile, np.int32),
        "flooded": np.ones(GRID, bool),
        "walker_position": np.array([row, column], np.int32),
    }


def test_cells_outside_equal_nothing(views: list[Any]) -> None:
    """At the corner 2 × 3 of the window's 3 × 5 cells lie on the map."""
    corner, middle = at(views, 0, 0), at(views, 4, 5)
    for text, at_corner, in_middle in (
        ("(w == 1).sum()", 6, 15),
        ("(w != 1).sum()", 9, 0),
        ("(w != 2).sum()", 15, 15),
        ("(w < 9).sum()", 6, 15),
        ("w.sum()", 6, 15),
        ("(w + 1).sum()", 12, 30),
        ("w.max()", 1, 1),
        ("w.min()", 1, 1),
        ("jnp.count_nonzero(w)", 6, 15),
        ("sum(cell == 1 for row in w for cell in row)", 6, 15),
        ("jnp.isin(w, jnp.array([1, 2])).sum()", 6, 15),
        ("jnp.where(w == 1, 1, 0).sum()", 6, 15),
        ("int(w[0, 0] == 1)", 0, 1),
        ("int((w == 1).all())", 0, 1),
        ("int(1 in w) * 7", 7, 7),
        ("w.size", 15, 15),
        ("state.flooded[i - 1:i + 2, j].sum()", 2, 3),
        ("(~state.flooded[i - 1:i + 2, j]).sum()", 1, 0),
        ("state.flooded[i - 1:i + 2, j - 2:j + 3].sum(axis=0).max()", 2, 3),
    ):
        assert holds(f"{WINDOW}return {text} == {at_corner} and state.stamina >= 0", corner), text
        assert holds(f"{WINDOW}return {text} == {in_middle} and state.stamina >= 0", middle), text


@given(st.integers(-2, 12), st.integers(-3, 14))
def test_windows_equal_padding(row: int, column: int) -> None:
    """Anywhere, even wholly outside: a window is a slice of the grid padded with cells that equal nothing."""
    field = some_views()[1]["field"]
    herons = {**some_views()[1]["herons"], "position": np.array([[row, column]] * 3, np.int32)}
    state = {**some_views()[1], "herons": herons}
    padded = np.pad(field, 20, constant_values=-1)
    window = padded[row - 2 + 20 : row + 3 + 20, column - 1 + 20 : column + 2 + 20]
    program = compiled(
        "i, j = state.herons.position[0]\nreturn (state.field[i - 2:i + 3, j - 1:j + 2] == Tile.CLAY).sum() > 2"
    )
    (value,) = evaluate([program.success], state, state, SCHEMA)
    assert bool(value) is bool((window == 2).sum() > 2)


def test_other_traced_bounds_are_refused_with_the_way_out() -> None:
    for text in (
        "state.field[max(i - 1, 0):i + 2, j]",
        "state.field[0:i]",
        "state.field[i:]",
        "state.field[i:j]",
        "state.field[i - 1:2 * i + 1]",
        "state.field[i:i]",
        "state.field[i - 1:i + 2:2]",
        "state.field[i / 2:i / 2 + 1]",
    ):
        found = refused(f"i, j = state.walker_position\nreturn ({text} == 1).any()")
        assert found.kind in ("shape", "type"), text
    found = refused("i, j = state.walker_position\nreturn (state.field[max(i - 1, 0):i + 2, j] == 1).any()")
    assert "dynamic_slice" in str(found.suggestion)


def test_traced_indices_select_wrap_and_clamp(views: list[Any]) -> None:
    """A traced -1 is the last element, as in Python; beyond the ends the index is clamped, with a warning."""
    for stamina, expected in ((0, 10), (2, 12), (3, 12), (9, 12)):
        state = {**views[0], "stamina": np.int32(stamina)}
        assert holds(f"return (10, 11, 12)[state.stamina] == {expected}", state)
    for stamina, expected in ((0, 12), (1, 10), (9, 12)):
        state = {**views[0], "stamina": np.int32(stamina)}
        assert holds(f"return (10, 11, 12)[state.stamina - 1] == {expected}", state)
    program = compiled("return (10, 11, 12)[state.stamina] == 11")
    assert any("may leave its axis of 3" in text for text in program.warnings)
    assert compiled("return (1, 2, 3, 4, 5)[state.heading] == 2").warnings == ()
    assert compiled("return (1, 2, 3)[state.stamina % 3] == 2").warnings == ()


def test_static_indices_outside_are_refused() -> None:
    for text in (
        "state.walker_position[2]",
        "state.field[9, 0]",
        "(1, 2)[2]",
        "state.field[0, 0, 0]",
        "state.stamina[0]",
    ):
        assert refused(f"return {text} == 1").kind in ("shape", "type"), text


def test_dynamic_slice_keeps_jax_semantics(views: list[Any]) -> None:
    """Shifted inwards at the far edge; a negative start counts from the end, as JAX does it."""
    import jax

    for row, column in ((0, 0), (4, 5), (8, 10), (1, 9)):
        state = {**views[2], "walker_position": np.array([row, column], np.int32)}
        expected = int(jax.lax.dynamic_slice(state["field"], (np.int32(row - 1), np.int32(column)), (3, 4)).sum())
        text = "i, j = state.walker_position\nreturn jax.lax.dynamic_slice(state.field, (i - 1, j), (3, 4)).sum() == "
        assert holds(text + str(expected), state)
    assert any("counts from the end" in text for text in compiled(f"{text}3").warnings)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("state.field[1]", (11,)),
        ("state.field[:, 1]", (9,)),
        ("state.field[1:3]", (2, 11)),
        ("state.field[::-2, 1:]", (5, 10)),
        ("state.field[..., 0]", (9,)),
        ("state.field[None, 2]", (1, 11)),
        ("state.field[state.heading]", (11,)),
        ("state.field[:, state.heading]", (9,)),
        ("state.field[state.herons.position[:, 0], state.herons.position[:, 1]]", (3,)),
        ("state.field[[0, 2]]", (2, 11)),
        ("state.field[state.heading - 1:state.heading + 2]", (3, 11)),
        ("state.field.T", (11, 9)),
        ("state.field.reshape(-1, 3)", (33, 3)),
        ("state.field.ravel()", (99,)),
        ("jnp.stack([state.field[0], state.field[1]], axis=1)", (11, 2)),
        ("jnp.concatenate([state.field, state.field[:1]])", (10, 11)),
        ("state.field.sum(axis=0)", (11,)),
        ("state.field.max(axis=-1, keepdims=True)", (9, 1)),
        ("state.field * HEADINGS[:, 0][0]", (9, 11)),
        ("jnp.expand_dims(state.herons.mask, 1) & state.herons.position.any(axis=1)", (3, 3)),
        ("jnp.take(state.field, jnp.array([0, 1]), axis=1)", (9, 2)),
    ],
)
def test_shapes(text: str, expected: tuple[int, ...]) -> None:
    assert refused(f"return ({text}) > 1").reason.endswith(f"of shape {list(expected)}, not one truth value")
