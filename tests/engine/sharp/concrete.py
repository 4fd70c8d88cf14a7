"""Two independent ways to run a program of *ours* on a concrete state: CPython on the text, numpy on the graph.

Only programs that the tests themselves contain or generate are executed; text of a foundation model never is.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from engine.sharp.graph import NUMPY, Node, constant_array, topological
from engine.sharp.kernels import KERNELS
from engine.sharp.program import CompiledProgram
from engine.worlds.schema import Schema


class Array(np.ndarray):
    """An array whose elements and reductions are Python scalars, so that Python's arithmetic applies to them."""

    def __getitem__(self, key: Any) -> Any:
        return _plain(super().__getitem__(key))

    def sum(self, *args: Any, **kwargs: Any) -> Any:  # type: ignore[override]
        return _plain(np.asarray(self).sum(*args, **kwargs))

    def any(self, *args: Any, **kwargs: Any) -> Any:  # type: ignore[override]
        return _plain(np.asarray(self).any(*args, **kwargs))

    def all(self, *args: Any, **kwargs: Any) -> Any:  # type: ignore[override]
        return _plain(np.asarray(self).all(*args, **kwargs))

    def min(self, *args: Any, **kwargs: Any) -> Any:  # type: ignore[override]
        return _plain(np.asarray(self).min(*args, **kwargs))

    def max(self, *args: Any, **kwargs: Any) -> Any:  # type: ignore[override]
        return _plain(np.asarray(self).max(*args, **kwargs))

    def mean(self, *args: Any, **kwargs: Any) -> Any:  # type: ignore[override]
        return _plain(np.asarray(self).mean(*args, **kwargs))

    def __iter__(self) -> Any:
        return iter([self[index] for index in range(len(self))])


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.view(Array)
    return value


class _Numpy:
    """numpy under the name ``jnp``, with results as above."""

    linalg = SimpleNamespace(norm=lambda x, **kwargs: _plain(np.linalg.norm(np.asarray(x, np.float32), **kwargs)))
    int32, float32, bool_, inf, pi = np.int32, np.float32, np.bool_, np.inf, np.pi

    def __getattr__(self, name: str) -> Any:
        function = getattr(np, {"absolute": "abs"}.get(name, name))
        return lambda *args, **kwargs: _plain(function(*args, **kwargs))


def _dynamic_slice(operand: Any, starts: Any, sizes: Any) -> Any:
    corner = []
    for start, size, length in zip(starts, sizes, operand.shape, strict=True):
        start = start + length if start < 0 else start
        corner.append(min(max(int(start), 0), length - size))
    return operand[tuple(slice(start, start + size) for start, size in zip(corner, sizes, strict=True))]


def _dynamic_slice_in_dim(operand: Any, start: Any, size: Any, axis: int = 0) -> Any:
    starts, sizes = [0] * operand.ndim, list(operand.shape)
    starts[axis], sizes[axis] = start, size
    return _dynamic_slice(operand, starts, sizes)


class Tag(int):
    """An enum member in CPython: an integer with ``.value``."""

    @property
    def value(self) -> int:
        return int(self)


class _EnumLike:
    def __init__(self, members: Mapping[str, int]) -> None:
        self.__dict__.update({name: Tag(value) for name, value in members.items()})
        self._members = [Tag(value) for value in members.values()]

    def __iter__(self) -> Any:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)


class _Base:
    """Stands for ``Sharp`` and ``Policy``."""


def namespace(view: Mapping[str, Any]) -> Any:
    """A view as attributes, scalars as Python's."""
    return SimpleNamespace(
        **{
            name: namespace(member) if isinstance(member, Mapping) else _plain(np.asarray(member))
            for name, member in view.items()
        }
    )


def python_runner(source: str, schema: Schema, helpers: Mapping[str, Any] | None = None) -> Any:
    """The class of one of our own programs, executed by CPython; returns ``(success, conditions)`` of two views."""
    scope: dict[str, Any] = {"Sharp": _Base, "SHARP": _Base, "jnp": _Numpy()}
    lax = SimpleNamespace(dynamic_slice=_dynamic_slice, dynamic_slice_in_dim=_dynamic_slice_in_dim)
    scope["jax"] = SimpleNamespace(lax=lax, numpy=scope["jnp"])
    scope.update({name: _EnumLike(enumeration.members) for name, enumeration in schema.enums.items()})
    scope.update({name: _plain(np.array(constant.values)) for name, constant in schema.constants.items()})
    scope.update(helpers or {})
    tree = ast.parse(source)
    (definition,) = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    names = {
        pair.elts[1].id
        for node in ast.walk(definition)
        if isinstance(node, ast.Assign) and isinstance(node.value, (ast.List, ast.Tuple))
        for pair in node.value.elts
        if isinstance(pair, (ast.Tuple, ast.List)) and len(pair.elts) == 2 and isinstance(pair.elts[1], ast.Name)
    }
    scope.update({name: name for name in names if name not in scope and name[:1].isupper()})
    exec(compile(tree, "<our own program>", "exec"), scope)
    instance = scope[definition.name]()

    def run(view: Any, previous: Any) -> tuple[bool, tuple[bool, ...]]:
        success = bool(_invoke(type(instance).success, instance, view, previous))
        conditions = []
        for condition, _ in getattr(instance, "requires", ()):
            function = getattr(type(instance), condition) if isinstance(condition, str) else condition
            conditions.append(bool(_invoke(function, instance, view, previous)))
        return success, tuple(conditions)

    return run


def python_scope(schema: Schema, helpers: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The names that a text of this world finds, for CPython."""
    scope: dict[str, Any] = {"Sharp": _Base, "SHARP": _Base, "Policy": _Base, "jnp": _Numpy()}
    scope["jax"] = SimpleNamespace(lax=SimpleNamespace(dynamic_slice=_dynamic_slice), numpy=scope["jnp"])
    scope.update({name: _EnumLike(enumeration.members) for name, enumeration in schema.enums.items()})
    scope.update({name: _plain(np.array(constant.values)) for name, constant in schema.constants.items()})
    scope.update(helpers or {})
    return scope


def policy_runner(source: str, schema: Schema, names: Sequence[str], helpers: Mapping[str, Any] | None = None) -> Any:
    """The class of one of our own policies, executed by CPython; returns the name that it gives for two views."""
    scope = python_scope(schema, helpers)
    scope.update({name: name for name in names})
    exec(compile(source, "<our own policy>", "exec"), scope)
    (definition,) = [node for node in ast.parse(source).body if isinstance(node, ast.ClassDef)]
    instance = scope[definition.name]()
    return lambda view, previous: _invoke(type(instance).skill, instance, view, previous)


def _invoke(function: Any, instance: Any, view: Any, previous: Any) -> Any:
    defaults = [value for value in (function.__defaults__ or ()) if value is not None]
    count = function.__code__.co_argcount - len(defaults)
    if function.__code__.co_varnames[0] != "self":
        return function(*(view, previous)[:count])
    return function(*(instance, view, previous)[:count])


def evaluate(
    roots: Sequence[Node], view: Mapping[str, Any], previous: Mapping[str, Any], schema: Schema
) -> list[np.ndarray]:
    """The values of graph roots on concrete views, by numpy."""
    values: dict[bytes, np.ndarray] = {}
    for node in topological(roots):
        operands = [values[operand.digest] for operand in node.operands]
        if node.op == "constant":
            value = constant_array(node)
        elif node.op == "input":
            leaf: Any = view if node.attributes[0] == "state" else previous
            for name in node.attributes[1:]:
                leaf = leaf[name]
            value = np.asarray(leaf, NUMPY[node.dtype])
        elif node.op == "helper":
            helper = schema.helpers[str(node.attributes[0])]
            states = iter([view if which == "state" else previous for which in node.attributes[1:]])
            given = iter(operands)
            value = np.asarray(
                helper.function(*(next(states) if item.is_state else next(given) for item in helper.parameters))
            )
        else:
            with np.errstate(all="ignore"):
                value = np.asarray(KERNELS[node.op](np, node.attributes, *operands))
        assert value.shape == node.shape, node
        assert value.dtype == NUMPY[node.dtype], node
        if node.bounds is not None and value.size:
            assert node.bounds[0] <= value.min(), (node, node.bounds)
            assert value.max() <= node.bounds[1], (node, node.bounds)
        values[node.digest] = value
    return [values[root.digest] for root in roots]


def graph_truths(program: CompiledProgram, view: Any, previous: Any, schema: Schema) -> tuple[bool, tuple[bool, ...]]:
    """What a compiled program says of two concrete views."""
    success, *conditions = evaluate([program.success, *program.conditions], view, previous, schema)
    return bool(success), tuple(bool(value) for value in conditions)
