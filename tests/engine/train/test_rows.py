"""Visiting some rows of a batch: each wanted one once, no other ever."""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
from hypothesis import given
from hypothesis import strategies as st

from engine.train.rows import put, take, visit

BATCH = 7
Held = tuple[jax.Array, jax.Array]


@partial(jax.jit, static_argnames="size")
def visited(wanted: jax.Array, size: int) -> Held:
    """Counts of visits ``[BATCH]`` and a table ``[BATCH, 2]`` whose visited rows are doubled, plus one."""

    def body(rows: jax.Array, held: Held) -> Held:
        counts, table = held
        return counts.at[rows].add(1, mode="drop"), put(table, rows, take(table, rows) * 2 + 1)

    table = jnp.arange(2 * BATCH).reshape(BATCH, 2)
    return visit(wanted, size, body, (jnp.zeros(BATCH, jnp.int32), table))


@given(st.lists(st.booleans(), min_size=BATCH, max_size=BATCH), st.sampled_from([1, 3, BATCH]))
def test_each_wanted_row_is_visited_once(wanted: list[bool], size: int) -> None:
    """Padding with a row that exists (0, say) instead of one out of range makes this fail.

    A known fault of another code: fewer episodes end than there are reset slots, and a bystander's state is lost.
    """
    counts, table = visited(jnp.array(wanted), size)
    assert counts.tolist() == [int(value) for value in wanted]
    for row, (value, pair) in enumerate(zip(wanted, table.tolist(), strict=True)):
        before = [2 * row, 2 * row + 1]
        assert pair == ([2 * number + 1 for number in before] if value else before)
