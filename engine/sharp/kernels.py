"""What each operation computes, written once for numpy (folding, reference) and JAX (emission).

Every kernel takes the array module, the node's attributes and operands of equal dtype and (element-wise) equal shape.
Operations are total: an integer division by zero gives 0, a float that is no number becomes integer 0.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from itertools import pairwise
from typing import Any

import numpy as np

Kernel = Callable[..., Any]


def _cast(xp: Any, attributes: Any, x: Any) -> Any:
    (dtype,) = attributes
    if dtype == "bool":
        return x != xp.zeros((), x.dtype)
    if dtype == "int32" and x.dtype == xp.float32:
        finite = xp.where(xp.isnan(x), xp.float32(0), xp.trunc(x))
        return xp.clip(finite, xp.float32(-2147483648.0), xp.float32(2147483520.0)).astype(xp.int32)
    return x.astype(getattr(xp, dtype))


def _floor_divide(xp: Any, attributes: Any, x: Any, y: Any) -> Any:
    if x.dtype == xp.float32:
        return xp.floor_divide(x, y)
    zero, one = xp.zeros((), x.dtype), xp.ones((), x.dtype)
    divisor = xp.where(y == zero, one, y)
    # jnp.floor_divide makes XLA's time grow with the square of a chain's length; an exact division does not.
    rest = xp.fmod(x, divisor)
    quotient = _exact_quotient(xp, x - rest, divisor)
    rounded = xp.where((rest != zero) & ((rest < zero) != (divisor < zero)), quotient - one, quotient)
    return xp.where(y == zero, zero, rounded)


def _exact_quotient(xp: Any, x: Any, y: Any) -> Any:
    """``x / y`` of integers where nothing remains."""
    if xp is np:
        return np.floor_divide(x, y)
    from jax import lax  # this module serves folding without JAX, too

    return lax.div(x, y)


def _modulo(xp: Any, attributes: Any, x: Any, y: Any) -> Any:
    if x.dtype == xp.float32:
        return xp.mod(x, y)
    zero, one = xp.zeros((), x.dtype), xp.ones((), x.dtype)
    return xp.where(y == zero, zero, xp.mod(x, xp.where(y == zero, one, y)))


def _shift_left(xp: Any, attributes: Any, x: Any, y: Any) -> Any:
    far = (y < 0) | (y > 31)
    return xp.where(far, xp.zeros((), x.dtype), xp.left_shift(x, xp.where(far, xp.zeros((), x.dtype), y)))


def _shift_right(xp: Any, attributes: Any, x: Any, y: Any) -> Any:
    return xp.right_shift(x, xp.clip(y, xp.zeros((), x.dtype), xp.full((), 31, x.dtype)))


def _slice(xp: Any, attributes: Any, x: Any) -> Any:
    (spans,) = attributes
    return x[tuple(span if isinstance(span, int) else _python_slice(*span) for span in spans)]


def _python_slice(start: int, count: int, step: int) -> slice:
    stop = start + count * step
    return slice(start, None if stop < 0 else stop, step)


def _gather(xp: Any, attributes: Any, x: Any, *indices: Any) -> Any:
    (axes,) = attributes
    moved = xp.moveaxis(x, axes, tuple(range(len(axes))))
    places = tuple(xp.clip(index, 0, size - 1) for index, size in zip(indices, moved.shape, strict=False))
    picked = moved[places]
    rank = indices[0].ndim
    front = tuple(range(rank))
    adjacent = all(after - before == 1 for before, after in pairwise(axes))
    start = axes[0] if adjacent else 0
    return xp.moveaxis(picked, front, tuple(start + axis for axis in front))


def _window(xp: Any, attributes: Any, x: Any, *starts: Any) -> Any:
    axes, sizes = attributes
    for axis, size, start in zip(axes, sizes, starts, strict=True):
        places = xp.clip(start + xp.arange(size, dtype=xp.int32), 0, x.shape[axis] - 1)
        x = xp.take(x, places, axis=axis)
    return x


def _reduce(name: str) -> Kernel:
    def kernel(xp: Any, attributes: Any, x: Any) -> Any:
        (axes,) = attributes
        return getattr(xp, name)(x, axis=axes)

    return kernel


def _total(name: str) -> Kernel:
    def kernel(xp: Any, attributes: Any, x: Any) -> Any:
        (axes,) = attributes
        return getattr(xp, name)(x, axis=axes, dtype=x.dtype)

    return kernel


def _locate(name: str) -> Kernel:
    def kernel(xp: Any, attributes: Any, x: Any) -> Any:
        (axis,) = attributes
        return getattr(xp, name)(x, axis=axis).astype(xp.int32)

    return kernel


def _along(name: str) -> Kernel:
    def kernel(xp: Any, attributes: Any, x: Any) -> Any:
        (axis,) = attributes
        more = {"dtype": x.dtype} if name == "cumsum" else {}
        return getattr(xp, name)(x, axis=axis, **more)

    return kernel


def _direct(name: str) -> Kernel:
    return lambda xp, attributes, *operands: getattr(xp, name)(*operands)


def _chain(name: str) -> Kernel:
    return lambda xp, attributes, *operands: reduce(getattr(xp, name), operands)


KERNELS: dict[str, Kernel] = {
    "cast": _cast,
    "not": _direct("logical_not"),
    "invert": _direct("bitwise_not"),
    "neg": _direct("negative"),
    "abs": _direct("abs"),
    "sign": _direct("sign"),
    "floor": _direct("floor"),
    "ceil": _direct("ceil"),
    "round": _direct("round"),
    "sqrt": _direct("sqrt"),
    "add": _chain("add"),
    "mul": _chain("multiply"),
    "and": _chain("logical_and"),
    "or": _chain("logical_or"),
    "min": _chain("minimum"),
    "max": _chain("maximum"),
    "sub": _direct("subtract"),
    "div": _direct("divide"),
    "floordiv": _floor_divide,
    "mod": _modulo,
    "pow": _direct("power"),
    "xor": _direct("logical_xor"),
    "bitand": _direct("bitwise_and"),
    "bitor": _direct("bitwise_or"),
    "bitxor": _direct("bitwise_xor"),
    "shl": _shift_left,
    "shr": _shift_right,
    "eq": _direct("equal"),
    "ne": _direct("not_equal"),
    "lt": _direct("less"),
    "le": _direct("less_equal"),
    "select": _direct("where"),
    "broadcast": lambda xp, attributes, x: xp.broadcast_to(x, attributes[0]),
    "reshape": lambda xp, attributes, x: xp.reshape(x, attributes[0]),
    "transpose": lambda xp, attributes, x: xp.transpose(x, attributes[0]),
    "concat": lambda xp, attributes, *operands: xp.concatenate(operands, axis=attributes[0]),
    "slice": _slice,
    "gather": _gather,
    "window": _window,
    "sum": _total("sum"),
    "prod": _total("prod"),
    "any": _reduce("any"),
    "all": _reduce("all"),
    "reduce_max": _reduce("max"),
    "reduce_min": _reduce("min"),
    "argmax": _locate("argmax"),
    "argmin": _locate("argmin"),
    "sort": _along("sort"),
    "cumsum": _along("cumsum"),
}
"""Every operation but ``input``, ``constant`` and ``helper``, which the evaluator supplies."""

FOLDED = frozenset(KERNELS) - {"broadcast", "pow"}
"""Folded at compile time. ``pow`` is not correctly rounded everywhere; a broadcast says more than its elements."""
