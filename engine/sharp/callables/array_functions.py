"""Functions of ``jnp`` that compute element by element or reduce, and the array methods of the same names."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.sharp.callables.functions import DTYPES, JNP, LAX, LINALG, METHODS, MISSING, table
from engine.sharp.refusals import Refused
from engine.sharp.values import DtypeValue, FunctionValue, Items, Traced

if TYPE_CHECKING:
    from engine.sharp.lower import Compiler


def dtype_of(c: Compiler, dtype: Any) -> str | None:
    if dtype is None:
        return None
    if isinstance(dtype, DtypeValue):
        return dtype.dtype
    if isinstance(dtype, FunctionValue) and dtype.name in ("int", "float", "bool"):
        return DTYPES[dtype.name]
    if isinstance(dtype, str) and dtype in DTYPES:
        return DTYPES[dtype]
    raise Refused("type", "dtype must be jnp.int32, jnp.float32 or jnp.bool_")


@table(JNP, "array", "asarray")
def _array(c: Compiler, object: Any, dtype: Any = None) -> Any:
    value = c.numeric.lift(object)
    name = dtype_of(c, dtype)
    return value if name is None else c.numeric.convert(value, name)


def shape_of(c: Compiler, shape: Any) -> tuple[int, ...]:
    parts = c.numeric.fixed(shape) if isinstance(shape, Items) else [shape]
    sizes = tuple(c.numeric.whole(part, "a shape") for part in parts)
    if any(size < 0 for size in sizes):
        raise Refused("shape", "a shape has no negative sizes")
    c.meter.shape(sizes)
    return sizes


def spread(c: Compiler, value: Traced, shape: tuple[int, ...]) -> Traced:
    """A value broadcast to ``shape``, or a refusal."""
    try:
        fits = np.broadcast_shapes(value.shape, shape) == shape
    except ValueError:
        fits = False
    if not fits:
        raise Refused("shape", f"shape {list(value.shape)} does not spread over {list(shape)}")
    mask = None if value.mask is None else c.nodes.broadcast(value.mask, shape)
    return Traced(c.nodes.broadcast(value.node, shape), mask)


@table(JNP, "zeros")
def _zeros(c: Compiler, shape: Any, dtype: Any = None) -> Any:
    return _full(c, shape, 0, DtypeValue(dtype_of(c, dtype) or "float32"))


@table(JNP, "ones")
def _ones(c: Compiler, shape: Any, dtype: Any = None) -> Any:
    return _full(c, shape, 1, DtypeValue(dtype_of(c, dtype) or "float32"))


@table(JNP, "full")
def _full(c: Compiler, shape: Any, fill_value: Any, dtype: Any = None) -> Any:
    value = c.numeric.lift(fill_value)
    name = dtype_of(c, dtype)
    filled = value if name is None else c.numeric.convert(value, name)
    return spread(c, filled, shape_of(c, shape))


@table(JNP, "zeros_like")
def _zeros_like(c: Compiler, a: Any, dtype: Any = None) -> Any:
    return _full_like(c, a, 0, dtype)


@table(JNP, "ones_like")
def _ones_like(c: Compiler, a: Any, dtype: Any = None) -> Any:
    return _full_like(c, a, 1, dtype)


@table(JNP, "full_like")
def _full_like(c: Compiler, a: Any, fill_value: Any, dtype: Any = None) -> Any:
    like = c.numeric.lift(a)
    value = c.numeric.lift(fill_value)
    return spread(c, c.numeric.convert(value, dtype_of(c, dtype) or like.dtype), like.shape)


@table(JNP, "arange")
def _arange(c: Compiler, start: Any, stop: Any = None, step: Any = 1, dtype: Any = None) -> Any:
    first, last = (0, start) if stop is None else (start, stop)
    advice = "use a fixed arange and compare with the value that depends on the state"
    numbers = [c.numeric.whole(part, "a bound of arange", advice) for part in (first, last, step)]
    if numbers[2] == 0:
        raise Refused("type", "the step of arange cannot be 0")
    c.meter.hold(len(range(*numbers)))
    value = Traced(c.nodes.constant(np.arange(*numbers), "int32"))
    name = dtype_of(c, dtype)
    return value if name is None else c.numeric.convert(value, name)


@table(JNP, "where")
@table(LAX, "select")
def _where(c: Compiler, condition: Any, x: Any = MISSING, y: Any = MISSING) -> Any:
    if x is MISSING or y is MISSING:
        raise Refused(
            "call",
            "where with one argument has a result whose size depends on the state",
            "use jnp.where(condition, x, y), or condition.sum()",
        )
    return c.numeric.where(condition, x, y)


def _reduction(*names: str) -> None:
    op = {"amax": "max", "amin": "min"}.get(names[0], names[0])

    def function(c: Compiler, a: Any, axis: Any = None, keepdims: Any = False) -> Any:
        return c.numeric.reduce(op, a, axis, keepdims)

    def method(c: Compiler, a: Any, axis: Any = None, keepdims: Any = False) -> Any:
        return c.numeric.reduce(op, a, axis, keepdims)

    table(JNP, *names)(function)
    table(METHODS, names[0])(method)


_reduction("prod")
_reduction("any")
_reduction("all")
_reduction("max", "amax")
_reduction("min", "amin")


@table(JNP, "sum")
@table(METHODS, "sum")
def _jnp_sum(c: Compiler, a: Any, axis: Any = None, dtype: Any = None, keepdims: Any = False) -> Any:
    total = c.numeric.reduce("sum", a, axis, keepdims)
    name = dtype_of(c, dtype)
    return total if name is None else c.numeric.convert(total, name)


@table(JNP, "count_nonzero")
def _count_nonzero(c: Compiler, a: Any, axis: Any = None) -> Any:
    return c.numeric.reduce("sum", c.numeric.convert(c.numeric.lift(a), "bool"), axis)


@table(JNP, "mean")
@table(METHODS, "mean")
def _mean(c: Compiler, a: Any, axis: Any = None, keepdims: Any = False) -> Any:
    return c.numeric.mean(a, axis, keepdims)


@table(JNP, "argmax")
@table(METHODS, "argmax")
def _argmax(c: Compiler, a: Any, axis: Any = None) -> Any:
    return c.numeric.locate("argmax", a, axis)


@table(JNP, "argmin")
@table(METHODS, "argmin")
def _argmin(c: Compiler, a: Any, axis: Any = None) -> Any:
    return c.numeric.locate("argmin", a, axis)


@table(JNP, "abs", "absolute")
def _jnp_abs(c: Compiler, x: Any) -> Any:
    return c.numeric.absolute(c.numeric.lift(x))


@table(JNP, "minimum")
def _minimum(c: Compiler, x: Any, y: Any) -> Any:
    return c.numeric.extreme("min", x, y)


@table(JNP, "maximum")
def _maximum(c: Compiler, x: Any, y: Any) -> Any:
    return c.numeric.extreme("max", x, y)


@table(JNP, "clip")
def _clip(c: Compiler, x: Any, min: Any = None, max: Any = None) -> Any:
    if min is not None:
        x = c.numeric.extreme("max", x, min)
    return x if max is None else c.numeric.extreme("min", x, max)


@table(METHODS, "clip")
def _clip_method(c: Compiler, x: Any, min: Any = None, max: Any = None) -> Any:
    return _clip(c, x, min, max)


def _logical(name: str, op: str) -> None:
    def function(c: Compiler, x: Any, y: Any) -> Any:
        left, right = (c.numeric.convert(c.numeric.lift(item), "bool") for item in (x, y))
        return c.numeric.traced(op, left, right)

    table(JNP, name)(function)


_logical("logical_and", "&")
_logical("logical_or", "|")
_logical("logical_xor", "^")


@table(JNP, "logical_not")
def _logical_not(c: Compiler, x: Any) -> Any:
    return c.numeric.unary("~", c.numeric.convert(c.numeric.lift(x), "bool"))


def _operator(op: str, *names: str) -> None:
    def function(c: Compiler, x: Any, y: Any) -> Any:
        return c.numeric.binary(op, c.numeric.lift(x), c.numeric.lift(y))

    table(JNP, *names)(function)


_operator("==", "equal")
_operator("!=", "not_equal")
_operator(">", "greater")
_operator(">=", "greater_equal")
_operator("<", "less")
_operator("<=", "less_equal")
_operator("+", "add")
_operator("-", "subtract")
_operator("*", "multiply")
_operator("/", "divide", "true_divide")
_operator("//", "floor_divide")
_operator("%", "mod", "remainder")
_operator("**", "power")
_operator("&", "bitwise_and")
_operator("|", "bitwise_or")
_operator("^", "bitwise_xor")


@table(JNP, "sqrt")
def _sqrt(c: Compiler, x: Any) -> Any:
    return c.numeric.root(c.numeric.lift(x))


@table(JNP, "square")
def _square(c: Compiler, x: Any) -> Any:
    value = c.numeric.lift(x)
    return c.numeric.traced("*", value, value)


def _rounding(name: str) -> None:
    def function(c: Compiler, x: Any) -> Any:
        return c.numeric.rounded(name, x)

    table(JNP, name)(function)


_rounding("floor")
_rounding("ceil")
_rounding("round")


@table(JNP, "sign")
def _sign(c: Compiler, x: Any) -> Any:
    (value,) = c.numeric.promoted(c.numeric.lift(x), least="int32")
    return Traced(c.nodes.plain("sign", value.node, bounds=(-1, 1) if value.dtype == "int32" else None), value.mask)


@table(LINALG, "norm")
def _norm(c: Compiler, x: Any, ord: Any = None, axis: Any = None) -> Any:
    value = c.numeric.convert(c.numeric.lift(x), "float32")
    order = 2 if ord is None else c.numeric.static(ord)
    if order != 2 and len(value.shape) > 1 and (axis is None or isinstance(axis, Items)):
        raise Refused("call", "norm knows the orders 1, 2 and jnp.inf of vectors", "give one axis")
    if order == 1:
        return c.numeric.reduce("sum", c.numeric.absolute(value), axis)
    if order == math.inf:
        return c.numeric.reduce("max", c.numeric.absolute(value), axis)
    if order != 2 or (ord is not None and len(value.shape) > 1 and axis is None):
        raise Refused("call", "norm knows the orders 1, 2 and jnp.inf of vectors")
    return c.numeric.root(c.numeric.reduce("sum", c.numeric.traced("*", value, value), axis))
