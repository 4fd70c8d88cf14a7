"""Which fields of the state a program reads, helpers of the world included, and what they hold in given states."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from attrs import frozen

from engine.sharp.graph import Node, topological
from engine.worlds.protocol import View
from engine.worlds.schema import Field, Group, Helper, Schema

Path = tuple[str, ...]
Input = tuple[str, Path]
"""``state`` or ``previous``, and the path of one of its fields."""


@frozen(eq=False)
class Reading:
    """A field that a program reads, in two successive states. ``of`` names the states in which it is read."""

    path: Path
    field: Field
    of: tuple[str, ...]
    previous: np.ndarray
    state: np.ndarray

    @property
    def name(self) -> str:
        """The field as programs write it, without the state."""
        return ".".join(self.path)

    @property
    def changed(self) -> np.ndarray:
        """Which elements differ between the two states: bool, the field's shape."""
        return ~_equal(self.previous, self.state)


def inputs(roots: Iterable[Node], schema: Schema) -> tuple[Input, ...]:
    """What the graphs read, in the order of the schema. A helper reads what its result depends on by data flow."""
    found: set[Input] = set()
    for node in topological(roots):
        if node.op == "input":
            which, *names = (str(part) for part in node.attributes)
            found.add((which, tuple(names)))
        elif node.op == "helper":
            name, *states = (str(part) for part in node.attributes)
            for position, path in _helper_reads(schema.helpers[name], schema):
                found.add((states[position], path))
    order = {path: index for index, path in enumerate(leaves(schema.state))}
    return tuple(sorted(found, key=lambda each: (order[each[1]], each[0])))


def leaves(group: Group, path: Path = ()) -> dict[Path, Field]:
    """Every field by its path, in the order of the schema."""
    found: dict[Path, Field] = {}
    for name, member in group.members.items():
        if isinstance(member, Group):
            found.update(leaves(member, (*path, name)))
        else:
            found[(*path, name)] = member
    return found


def leaf(view: View, path: Path) -> Any:
    """The array of one field."""
    value: Any = view
    for name in path:
        value = value[name]
    return value


def readings(wanted: Iterable[Input], schema: Schema, state: View, previous: View) -> tuple[Reading, ...]:
    """Every field of ``wanted`` once, with its values in two views of a single state each."""
    fields = leaves(schema.state)
    of: dict[Path, list[str]] = {}
    for which, path in wanted:
        of.setdefault(path, []).append(which)
    return tuple(
        Reading(path, fields[path], tuple(states), np.asarray(leaf(previous, path)), np.asarray(leaf(state, path)))
        for path, states in of.items()
    )


def _helper_reads(helper: Helper, schema: Schema) -> set[tuple[int, Path]]:
    """Fields by the position of the state parameter through which a helper's result depends on them."""
    arguments = [
        _abstract(schema.state) if each.is_state else _leaf_of(each.dtype, each.shape) for each in helper.parameters
    ]
    jaxpr = jax.make_jaxpr(helper.function)(*arguments).jaxpr
    needed = {id(each) for each in jaxpr.outvars}
    for equation in reversed(jaxpr.eqns):
        if any(id(each) in needed for each in equation.outvars):
            needed.update(id(each) for each in equation.invars)
    paths, _ = jax.tree_util.tree_flatten_with_path(tuple(arguments))
    state_parameters = [index for index, each in enumerate(helper.parameters) if each.is_state]
    found: set[tuple[int, Path]] = set()
    for (keys, _), variable in zip(paths, jaxpr.invars, strict=True):
        position, *names = keys
        if id(variable) in needed and position.idx in state_parameters:
            found.add((state_parameters.index(position.idx), tuple(each.key for each in names)))
    return found


def _abstract(group: Group) -> Mapping[str, Any]:
    return {
        name: _abstract(member) if isinstance(member, Group) else _leaf_of(member.dtype, member.shape)
        for name, member in group.members.items()
    }


def _leaf_of(dtype: str, shape: tuple[int, ...]) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(shape, jnp.dtype(dtype))


def _equal(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Element by element; a float that is no number equals itself."""
    if one.dtype.kind == "f":
        return np.asarray((one == other) | (np.isnan(one) & np.isnan(other)))
    return np.asarray(one == other)
