"""From a package's state to ours: leaves of definite types, and the part of it that programs may read."""

from __future__ import annotations

from typing import TypeVar

import jax
import jax.numpy as jnp

from engine.worlds.protocol import View
from engine.worlds.schema import Field, Group

S = TypeVar("S")


def settled(state: S) -> S:
    """The state with every leaf an array of a definite type, and random keys as raw data.

    So a reset and a step have the same structure, shapes and types, as ``lax.scan``, ``where`` and checkpoints need.
    """

    def settle(leaf: jax.Array) -> jax.Array:
        array = jnp.asarray(leaf)
        if jnp.issubdtype(array.dtype, jax.dtypes.prng_key):
            return jax.random.key_data(array)
        return jax.lax.convert_element_type(array, array.dtype)

    made: S = jax.tree.map(settle, state)
    return made


def view_of(group: Group, part: object) -> View:
    """The fields that ``group`` declares, read from the attributes of ``part``: nested dicts of arrays."""
    view: dict[str, object] = {}
    for name, member in group.members.items():
        value = getattr(part, name)
        if isinstance(member, Field):
            view[name] = jax.lax.convert_element_type(value, jnp.dtype(member.dtype))
        else:
            view[name] = view_of(member, value)
    return view
