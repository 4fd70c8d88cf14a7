"""Visit only some rows of a batch: resets and bootstrap values are needed by few environments at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import jax
import jax.numpy as jnp

C = TypeVar("C")


def visit(wanted: jax.Array, size: int, body: Callable[[jax.Array, C], C], carry: C) -> C:
    """Call ``body(rows, carry)`` until every True row of ``wanted [B]`` was visited once, ``size`` rows at a time.

    Fewer rows than ``size`` are padded with B, which is out of range: read with ``take`` (clamped) and write with
    ``put`` (dropped), so that padding never touches another environment.
    """
    batch = wanted.shape[0]

    def more(state: tuple[jax.Array, C]) -> jax.Array:
        return jnp.any(state[0])

    def some(state: tuple[jax.Array, C]) -> tuple[jax.Array, C]:
        left, inner = state
        (rows,) = jnp.nonzero(left, size=size, fill_value=batch)
        return left.at[rows].set(False, mode="drop"), body(rows, inner)

    return jax.lax.while_loop(more, some, (wanted, carry))[1]


def take(tree: Any, rows: jax.Array) -> Any:
    """The rows of every leaf; padding rows read the last one."""
    return jax.tree.map(lambda leaf: leaf.at[rows].get(mode="clip"), tree)


def put(tree: Any, rows: jax.Array, values: Any) -> Any:
    """Every leaf with ``values`` at ``rows``; padding rows are dropped."""
    return jax.tree.map(lambda leaf, value: leaf.at[rows].set(value, mode="drop"), tree, values)
