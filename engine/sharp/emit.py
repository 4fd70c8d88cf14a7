"""From operation graphs to JAX: one function for a whole archive, every shared sub-expression computed once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from engine.sharp.graph import PASSIVE, Node, constant_array, topological
from engine.sharp.kernels import KERNELS
from engine.sharp.other_forms.policy import CompiledPolicy
from engine.sharp.program import CompiledProgram
from engine.sharp.sharing import roots_of
from engine.worlds.protocol import View
from engine.worlds.schema import Schema

BARRIER_EVERY = 24
"""XLA fuses a chain of operations into one loop and computes what has several users once for each: the time to
compile and to run it can double with every level. A value of so many levels is therefore computed and kept."""

Predicates = Callable[[View, View], tuple[jax.Array, jax.Array]]
Choose = Callable[[View, View], jax.Array]


def predicates(programs: Sequence[CompiledProgram], schema: Schema) -> Predicates:
    """One function of ``(view, previous)`` for all programs.

    It returns ``(success, conditions)``: bool ``(n,)`` and bool ``(n, max(1, k))`` where ``k`` is the largest number of
    conditions; absent ones are True. Views are of a single state; batch with ``jax.vmap``. Works under ``jit``.

    Raises (the returned function):
        TypeError: if a view's leaf has another dtype or shape than the schema declares.
        KeyError: if a declared field is missing from the view.
    """
    roots = roots_of(programs)
    order = topological(roots)
    widest = max(1, *(len(program.conditions) for program in programs)) if programs else 1

    def evaluate(view: View, previous: View) -> tuple[jax.Array, jax.Array]:
        values = _values(order, {"state": view, "previous": previous}, schema)
        true = jnp.ones((), jnp.bool_)
        success = [values[program.success.digest] for program in programs]
        rows = [
            jnp.stack(
                [*(values[node.digest] for node in program.conditions), *[true] * (widest - len(program.conditions))]
            )
            for program in programs
        ]
        if not programs:
            return jnp.zeros((0,), jnp.bool_), jnp.ones((0, 1), jnp.bool_)
        return jnp.stack(success), jnp.stack(rows)

    return evaluate


def policy_function(policy: CompiledPolicy, schema: Schema) -> Choose:
    """A function of ``(view, previous)``: the int32 scalar index into ``policy.skills`` of the skill to follow.

    Views are of a single state; batch with ``jax.vmap``. Works under ``jit``. Errors are those of ``predicates``.
    """
    evaluate = scalars([policy.choice], schema)

    def choose(view: View, previous: View) -> jax.Array:
        (choice,) = evaluate(view, previous)
        return choice

    return choose


def scalars(roots: Sequence[Node], schema: Schema) -> Callable[[View, View], tuple[jax.Array, ...]]:
    """A function of ``(view, previous)`` of a single state: the value of each root, with its dtype and shape."""
    order = topological(roots)

    def evaluate(view: View, previous: View) -> tuple[jax.Array, ...]:
        values = _values(order, {"state": view, "previous": previous}, schema)
        return tuple(values[root.digest] for root in roots)

    return evaluate


def _values(order: Sequence[Node], states: Mapping[str, View], schema: Schema) -> dict[bytes, jax.Array]:
    values: dict[bytes, jax.Array] = {}
    for node in order:
        operands = [values[operand.digest] for operand in node.operands]
        if node.op == "constant":
            value = jnp.asarray(constant_array(node))
        elif node.op == "input":
            which, *path = (str(part) for part in node.attributes)
            value = _leaf(states[which], path, node)
        elif node.op == "helper":
            value = _helped(node, operands, states, schema)
        else:
            value = KERNELS[node.op](jnp, node.attributes, *operands)
        if node.level % BARRIER_EVERY == 0 and node.op not in PASSIVE:
            value = jax.lax.optimization_barrier(value)
        values[node.digest] = value
    return values


def _leaf(view: View, path: Sequence[str], node: Node) -> jax.Array:
    leaf: Any = view
    for name in path:
        leaf = leaf[name]
    value = jnp.asarray(leaf)
    if str(value.dtype) != node.dtype or value.shape != node.shape:
        raise TypeError(
            f"the view's {'.'.join(path)} is {value.dtype}{list(value.shape)}, "
            f"but the schema declares {node.dtype}{list(node.shape)}: correct the world's view or its schema"
        )
    return value


def _helped(node: Node, operands: list[jax.Array], states: Mapping[str, View], schema: Schema) -> jax.Array:
    name, *which = (str(part) for part in node.attributes)
    helper = schema.helpers[name]
    given, views = iter(operands), iter(which)
    arguments = [states[next(views)] if parameter.is_state else next(given) for parameter in helper.parameters]
    value = jnp.asarray(helper.function(*arguments))
    if str(value.dtype) != node.dtype or value.shape != node.shape:
        raise TypeError(
            f"the helper {name} returned {value.dtype}{list(value.shape)}, "
            f"but the schema declares {node.dtype}{list(node.shape)}: correct the world's schema"
        )
    return value
