"""From operation graphs to JAX: one function for a whole archive, every shared sub-expression computed once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from attrs import frozen

from engine.sharp.editions import LATEST
from engine.sharp.graph import Node, constant_array, operations, topological, work
from engine.sharp.kernels import KERNELS
from engine.sharp.limits import Limits
from engine.sharp.program import CompiledProgram
from engine.sharp.refusals import Refused
from engine.worlds.protocol import View
from engine.worlds.schema import Schema

Predicates = Callable[[View, View], tuple[jax.Array, jax.Array]]


@frozen
class OperationCount:
    """Operations of an archive: summed over programs, and after equal ones are shared."""

    before: int
    after: int


def operation_count(programs: Sequence[CompiledProgram]) -> OperationCount:
    """How much sharing saves. Inputs, constants and broadcasts do not count."""
    alone = sum(len(operations([program.success, *program.conditions])) for program in programs)
    return OperationCount(alone, len(operations(_roots(programs))))


def archive_work(programs: Sequence[CompiledProgram], schema: Schema) -> int:
    """Element operations of one evaluation of all programs for one state, after sharing."""
    nodes = topological(_roots(programs))
    return sum(schema.helpers[str(node.attributes[0])].cost if node.op == "helper" else work(node) for node in nodes)


def check_archive(programs: Sequence[CompiledProgram], schema: Schema, limits: Limits = LATEST.limits) -> None:
    """Raise if the archive as a whole is over its budget.

    Raises:
        Refused: naming the costliest program.
    """
    total = archive_work(programs, schema)
    if total > limits.archive_work:
        costliest = max(programs, key=lambda program: (archive_work([program], schema), program.name))
        raise Refused(
            "budget",
            f"the archive is over its budget of {limits.archive_work:,} elements × operations with {total:,}; "
            f"the costliest program is {costliest.name}",
            "use whole-array functions, or fewer and shorter loops",
        )


def predicates(programs: Sequence[CompiledProgram], schema: Schema) -> Predicates:
    """One function of ``(view, previous)`` for all programs.

    It returns ``(success, conditions)``: bool ``(n,)`` and bool ``(n, max(1, k))`` where ``k`` is the largest number of
    conditions; absent ones are True. Views are of a single state; batch with ``jax.vmap``. Works under ``jit``.

    Raises (the returned function):
        TypeError: if a view's leaf has another dtype or shape than the schema declares.
        KeyError: if a declared field is missing from the view.
    """
    roots = _roots(programs)
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


def _roots(programs: Sequence[CompiledProgram]) -> list[Node]:
    return [node for program in programs for node in (program.success, *program.conditions)]


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
