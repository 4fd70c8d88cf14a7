"""Functions of the second edition that authors reached for: order and accumulate, coordinates, masked reductions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.sharp.callables.array_functions import dtype_of, shape_of
from engine.sharp.callables.functions import BUILTINS, JNP, LAX, METHODS, table
from engine.sharp.callables.shape_functions import concatenated, reshaped
from engine.sharp.lifting import is_number
from engine.sharp.refusals import Refused
from engine.sharp.values import Items, Traced, kind_of

if TYPE_CHECKING:
    from engine.sharp.lower import Compiler

SINCE = 2


# --- order -----------------------------------------------------------------------------------------------------------


@table(JNP, "sort", since=SINCE)
def _sort(c: Compiler, a: Any, axis: Any = -1) -> Any:
    value = c.numeric.lift(a)
    node = c.numeric.fill(value, c.nodes.greatest(value.dtype))
    if axis is None:
        return Traced(c.nodes.along("sort", c.nodes.reshape(node, (node.size,)), 0))
    return Traced(c.nodes.along("sort", node, c.numeric.one_axis(value, axis)))


@table(BUILTINS, "sorted", since=SINCE)
def _sorted(c: Compiler, iterable: Any, reverse: Any = False) -> Any:
    items = c.numeric.fixed(c.elements(iterable))
    c.meter.hold(len(items))
    c.meter.step(len(items))
    backwards = c.numeric.known(reverse, "reverse")
    if all(is_number(item) for item in items):
        return c.new_list(sorted(items, reverse=backwards), None)
    stacked = c.numeric.lift(Items(list(items)))
    if len(stacked.shape) != 1:
        raise Refused("shape", "sorted puts numbers in order, not arrays", "use jnp.sort, or compare by hand")
    ordered = c.elements(_sort(c, stacked)).items
    return c.new_list(ordered[::-1] if backwards else ordered, None)


@table(BUILTINS, "reversed", since=SINCE)
def _reversed(c: Compiler, sequence: Any) -> Any:
    items = c.elements(sequence)
    c.meter.hold(items.total)
    present = None if items.present is None else items.present[::-1]
    return Items(items.items[::-1], "tuple", present)


@table(JNP, "flip", since=SINCE)
def _flip(c: Compiler, m: Any, axis: Any = None) -> Any:
    value = c.numeric.lift(m)
    axes = c.numeric.axes(value, axis)
    spans = [(size - 1, size, -1) if place in axes else (0, size, 1) for place, size in enumerate(value.shape)]
    return Traced(c.nodes.slice(value.node, spans), None if value.mask is None else c.nodes.slice(value.mask, spans))


@table(JNP, "roll", since=SINCE)
def _roll(c: Compiler, a: Any, shift: Any, axis: Any = None) -> Any:
    value = c.numeric.lift(a)
    steps = c.numeric.whole(shift, "a shift", "roll by a known number, or index with (i + n) % size")
    if axis is None:
        flat = _rolled(c, reshaped(c, value, (value.node.size,)), steps, 0)
        return reshaped(c, flat, value.shape)
    return _rolled(c, value, steps, c.numeric.one_axis(value, axis))


def _rolled(c: Compiler, value: Traced, steps: int, axis: int) -> Traced:
    size = value.shape[axis]
    cut = -steps % size if size else 0
    return (
        value if cut == 0 else concatenated(c, [_part(c, value, axis, cut, size), _part(c, value, axis, 0, cut)], axis)
    )


def _part(c: Compiler, value: Traced, axis: int, start: int, stop: int) -> Traced:
    """The positions from ``start`` to ``stop`` along one axis."""
    spans = [(start, stop - start, 1) if place == axis else (0, size, 1) for place, size in enumerate(value.shape)]
    return Traced(c.nodes.slice(value.node, spans), None if value.mask is None else c.nodes.slice(value.mask, spans))


@table(JNP, "tile", since=SINCE)
def _tile(c: Compiler, A: Any, reps: Any) -> Any:
    value = c.numeric.lift(A)
    counts = [
        c.numeric.whole(item, "a number of copies") for item in (reps.items if isinstance(reps, Items) else [reps])
    ]
    if any(count < 1 for count in counts) or not counts:
        raise Refused("shape", "tile makes at least one copy")
    rank = max(len(counts), len(value.shape))
    value = reshaped(c, value, (*[1] * (rank - len(value.shape)), *value.shape))
    for axis, count in enumerate([*[1] * (rank - len(counts)), *counts]):
        c.meter.hold(max(value.node.size, 1) * count)
        value = value if count == 1 else concatenated(c, [value] * count, axis)
    return value


@table(JNP, "repeat", since=SINCE)
def _repeat(c: Compiler, a: Any, repeats: Any, axis: Any = None) -> Any:
    value = c.numeric.lift(a)
    count = c.numeric.whole(repeats, "a number of copies")
    if count < 1:
        raise Refused("shape", "repeat makes at least one copy")
    if axis is None:
        value, place = reshaped(c, value, (value.node.size,)), 0
    else:
        place = c.numeric.one_axis(value, axis)
    c.meter.hold(max(value.node.size, 1) * count)
    positions = Traced(c.nodes.constant(np.repeat(np.arange(value.shape[place]), count), "int32"))
    return c.indexing.subscript(value, Items([c.whole_axis()] * place + [positions]))


@table(JNP, "pad", since=SINCE)
def _pad(c: Compiler, array: Any, pad_width: Any, constant_values: Any = 0) -> Any:
    value = c.numeric.lift(array)
    widths = _widths(c, pad_width, len(value.shape))
    (filler,) = c.numeric.promoted(c.numeric.convert(c.numeric.lift(constant_values), value.dtype), least=value.dtype)
    if filler.shape != ():
        raise Refused("shape", "pad fills with one number")
    for axis, (before, after) in enumerate(widths):
        parts = []
        for width in (before, after):
            shape = tuple(width if place == axis else size for place, size in enumerate(value.shape))
            c.meter.shape(shape)
            parts.append([] if width == 0 else [Traced(c.nodes.broadcast(filler.node, shape))])
        value = concatenated(c, [*parts[0], value, *parts[1]], axis)
    return value


def _widths(c: Compiler, given: Any, rank: int) -> list[tuple[int, int]]:
    """What ``pad_width`` says for each axis: a number, a pair, or a pair for each axis."""

    def pair(item: Any) -> tuple[int, int]:
        parts = c.numeric.fixed(c.elements(item)) if isinstance(item, Items) else [item, item]
        numbers = [c.numeric.whole(part, "a width") for part in parts]
        if len(numbers) != 2 or min(numbers) < 0:
            raise Refused("shape", "a width of pad is a number, or a pair of them", "write jnp.pad(grid, 1)")
        return numbers[0], numbers[1]

    if isinstance(given, Items) and any(isinstance(item, Items) for item in given.items):
        found = [pair(item) for item in c.numeric.fixed(given)]
        if len(found) == 1:
            return found * rank
        if len(found) != rank:
            raise Refused("shape", f"pad needs a pair for each of {rank} axes")
        return found
    return [pair(given)] * rank


# --- accumulate ------------------------------------------------------------------------------------------------------


@table(JNP, "cumsum", since=SINCE)
@table(METHODS, "cumsum", since=SINCE)
def _cumsum(c: Compiler, a: Any, axis: Any = None) -> Any:
    (value,) = c.numeric.promoted(c.numeric.lift(a), least="int32")
    node = c.numeric.fill(value, 0)
    if axis is None:
        return Traced(c.nodes.along("cumsum", c.nodes.reshape(node, (node.size,)), 0))
    return Traced(c.nodes.along("cumsum", node, c.numeric.one_axis(value, axis)))


@table(JNP, "diff", since=SINCE)
def _diff(c: Compiler, a: Any, axis: Any = -1) -> Any:
    value = c.numeric.lift(a)
    place = c.numeric.one_axis(value, axis)
    size = value.shape[place]
    after, before = _part(c, value, place, min(1, size), size), _part(c, value, place, 0, max(size - 1, 0))
    if value.dtype == "bool":
        return c.numeric.traced("!=", after, before)
    return c.numeric.traced("-", after, before)


def _reduction(*names: str) -> None:
    op = names[0]
    neutral = {"sum": 0, "prod": 1, "any": False, "all": True}.get(op)

    def chosen(c: Compiler, a: Any, where: Any, initial: Any) -> Any:
        if where is None:
            return a
        if neutral is None and initial is None:
            raise Refused("call", f"{op} with where= needs initial=, for when nothing is chosen")
        return c.numeric.where(where, a, initial if neutral is None else neutral)

    def reduced(c: Compiler, a: Any, axis: Any, keepdims: Any, initial: Any, where: Any) -> Any:
        result = c.numeric.reduce(op, chosen(c, a, where, initial), axis, keepdims)
        if initial is None or op in ("any", "all"):
            return result
        if op in ("sum", "prod"):
            return c.numeric.binary("+" if op == "sum" else "*", result, initial)
        return c.numeric.extreme(op, result, initial)

    if op in ("any", "all"):

        def function(c: Compiler, a: Any, axis: Any = None, keepdims: Any = False, where: Any = None) -> Any:
            return reduced(c, a, axis, keepdims, None, where)

    elif op == "sum":

        def function(  # type: ignore[misc]
            c: Compiler, a: Any, axis: Any = None, dtype: Any = None, keepdims: Any = False, initial: Any = None,
            where: Any = None,
        ) -> Any:  # fmt: skip
            name = dtype_of(c, dtype)
            values = a if name is None else c.numeric.convert(c.numeric.lift(a), name)
            return reduced(c, values, axis, keepdims, initial, where)

    else:

        def function(  # type: ignore[misc]
            c: Compiler, a: Any, axis: Any = None, keepdims: Any = False, initial: Any = None, where: Any = None
        ) -> Any:
            return reduced(c, a, axis, keepdims, initial, where)

    table(JNP, *names, since=SINCE)(function)
    table(METHODS, op, since=SINCE)(function)


_reduction("sum")
_reduction("prod")
_reduction("any")
_reduction("all")
_reduction("max", "amax")
_reduction("min", "amin")


@table(JNP, "select", since=SINCE)
def _select(c: Compiler, condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    tests, values = c.numeric.fixed(c.elements(condlist)), c.numeric.fixed(c.elements(choicelist))
    if len(tests) != len(values):
        raise Refused("shape", f"select needs as many choices as conditions: {len(values)} for {len(tests)}")
    result = default
    for test, value in zip(reversed(tests), reversed(values), strict=True):
        result = c.numeric.where(test, value, result)
    return result


# --- closeness and products ------------------------------------------------------------------------------------------


@table(JNP, "isclose", since=SINCE)
def _isclose(c: Compiler, a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08) -> Any:
    left, right = c.numeric.lift(a), c.numeric.lift(b)
    gap = c.numeric.absolute(c.numeric.traced("-", *c.numeric.promoted(left, right, least="float32")))
    allowed = c.numeric.binary("+", atol, c.numeric.binary("*", rtol, c.numeric.absolute(right)))
    equal = c.numeric.traced("==", left, right)  # infinities are close to themselves
    return c.numeric.traced("|", equal, c.numeric.lift(c.numeric.binary("<=", gap, allowed)))


@table(JNP, "allclose", since=SINCE)
def _allclose(c: Compiler, a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08) -> Any:
    return c.numeric.reduce("all", _isclose(c, a, b, rtol, atol))


@table(JNP, "hypot", since=SINCE)
def _hypot(c: Compiler, x1: Any, x2: Any) -> Any:
    x, y = (c.numeric.convert(c.numeric.lift(item), "float32") for item in (x1, x2))
    return c.numeric.root(c.numeric.traced("+", c.numeric.traced("*", x, x), c.numeric.traced("*", y, y)))


@table(JNP, "dot", since=SINCE)
def _dot(c: Compiler, a: Any, b: Any) -> Any:
    left, right = c.numeric.lift(a), c.numeric.lift(b)
    if len(left.shape) != 1 or left.shape != right.shape:
        raise Refused("shape", f"dot takes two vectors, not {kind_of(left)} and {kind_of(right)}", "multiply and sum")
    return c.numeric.reduce("sum", c.numeric.traced("*", left, right))


@table(JNP, "outer", since=SINCE)
def _outer(c: Compiler, a: Any, b: Any) -> Any:
    left, right = c.numeric.lift(a), c.numeric.lift(b)
    column, row = reshaped(c, left, (left.node.size, 1)), reshaped(c, right, (1, right.node.size))
    return c.numeric.traced("*", column, row)


@table(BUILTINS, "pow", since=SINCE)
def _pow(c: Compiler, base: Any, exp: Any) -> Any:
    return c.numeric.binary("**", base, exp)


@table(BUILTINS, "divmod", since=SINCE)
def _divmod(c: Compiler, x: Any, y: Any) -> Any:
    return Items([c.numeric.binary("//", x, y), c.numeric.binary("%", x, y)])


# --- coordinates -----------------------------------------------------------------------------------------------------


@table(JNP, "meshgrid", since=SINCE)
def _meshgrid(c: Compiler, x: Any, y: Any, indexing: Any = "xy") -> Any:
    if indexing not in ("xy", "ij"):
        raise Refused("call", 'indexing is "ij" (rows first) or "xy"')
    first, second = c.numeric.lift(x), c.numeric.lift(y)
    if len(first.shape) != 1 or len(second.shape) != 1:
        raise Refused("shape", "meshgrid takes two vectors")
    wide, high = first.node.size, second.node.size
    shape = (high, wide) if indexing == "xy" else (wide, high)
    c.meter.hold(2 * wide * high)
    along = reshaped(c, first, (1, wide) if indexing == "xy" else (wide, 1))
    across = reshaped(c, second, (high, 1) if indexing == "xy" else (1, high))
    return Items([_spread(c, along, shape), _spread(c, across, shape)])


def _spread(c: Compiler, x: Traced, shape: tuple[int, ...]) -> Traced:
    return Traced(c.nodes.broadcast(x.node, shape), None if x.mask is None else c.nodes.broadcast(x.mask, shape))


@table(JNP, "indices", since=SINCE)
def _indices(c: Compiler, dimensions: Any) -> Any:
    sizes = shape_of(c, dimensions)
    c.meter.hold(math.prod(sizes) * max(len(sizes), 1))
    return Traced(c.nodes.constant(np.indices(sizes), "int32"))


@table(JNP, "unravel_index", since=SINCE)
def _unravel_index(c: Compiler, indices: Any, shape: Any) -> Any:
    sizes = shape_of(c, shape)
    places: list[Any] = []
    rest = indices
    for size in reversed(sizes[1:]):
        places.append(c.numeric.binary("%", rest, size))
        rest = c.numeric.binary("//", rest, size)
    return Items([rest, *reversed(places)])


@table(JNP, "eye", since=SINCE)
def _eye(c: Compiler, N: Any, dtype: Any = None) -> Any:
    size = c.numeric.whole(N, "a shape")
    if size < 0:
        raise Refused("shape", "a shape has no negative sizes")
    c.meter.hold(size * size)
    return Traced(c.nodes.constant(np.eye(size), dtype_of(c, dtype) or "float32"))


@table(LAX, "dynamic_slice_in_dim", since=SINCE)
def _dynamic_slice_in_dim(c: Compiler, operand: Any, start_index: Any, slice_size: Any, axis: Any = 0) -> Any:
    value = c.numeric.lift(operand)
    place = c.numeric.one_axis(value, axis)
    starts = [start_index if axis_ == place else 0 for axis_ in range(len(value.shape))]
    sizes = [slice_size if axis_ == place else size for axis_, size in enumerate(value.shape)]
    return c.indexing.dynamic_slice(value, Items(starts), Items(sizes))
