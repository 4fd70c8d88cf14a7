"""The functions that a program may call, as tables: Python's own few, and those of ``jnp`` and ``jax.lax``.

Each entry is a function of the compiler and evaluated arguments; its Python signature is the one programs call it with.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.sharp.numeric import is_number
from engine.sharp.refusals import Refused, did_you_mean
from engine.sharp.values import DtypeValue, EnumValue, FunctionValue, Items, Traced, kind_of

if TYPE_CHECKING:
    from engine.sharp.lower import Compiler

Function = Callable[..., Any]

BUILTINS: dict[str, Function] = {}
JNP: dict[str, Function] = {}
LAX: dict[str, Function] = {}
LINALG: dict[str, Function] = {}
METHODS: dict[str, Function] = {}

DTYPES = {
    "int32": "int32", "int16": "int32", "int8": "int32", "uint8": "int32", "uint32": "int32", "int_": "int32",
    "float32": "float32", "float16": "float32", "bfloat16": "float32", "float_": "float32",
    "bool_": "bool", "bool": "bool", "int": "int32", "float": "float32",
}  # fmt: skip
"""Names of dtypes; narrower ones mean the dtype of their kind."""

CONSTANTS = {"pi": math.pi, "e": math.e, "inf": math.inf, "newaxis": None}

INSTEAD = {
    "while_loop": "use for over a static range",
    "fori_loop": "use for over a static range",
    "scan": "use for over a static range",
    "map": "use a comprehension over a static range",
    "cond": "use if/else, or x if test else y",
    "switch": "use if/elif/else",
    "vmap": "use whole-array functions, or a comprehension over a static range",
    "jit": "leave it out: every program is compiled",
    "argwhere": "count with .sum(), or test with .any(): a result's size cannot depend on the state",
    "nonzero": "count with .sum(), or test with .any(): a result's size cannot depend on the state",
    "unique": "a result's size cannot depend on the state",
    "set": "arrays do not change: use jnp.where(test, new, old)",
    "at": "arrays do not change: use jnp.where(test, new, old)",
    "isinstance": "types are known from the list of fields",
    "print": "leave it out",
    "sorted": "use min, max, or comparisons",
    "reversed": "use range with a negative step",
    "map_": "use a comprehension",
    "filter": "use a comprehension with if",
    "set_": "use a tuple",
    "dict": "use tuples",
    "np": "use jnp",
    "numpy": "use jnp",
    "math": "use jnp",
    "random": "nothing is random in a program",
}


def table(where: dict[str, Function], *names: str) -> Callable[[Function], Function]:
    """Enters a function under each name."""

    def enter(function: Function) -> Function:
        for name in names:
            where[name] = function
        return function

    return enter


def invoke(compiler: Compiler, name: str, function: Function, arguments: list[Any], keywords: dict[str, Any]) -> Any:
    """Call an entry, with errors of the call in the author's terms."""
    signature = inspect.signature(function)
    known = list(signature.parameters)[1:]
    variadic = any(parameter.kind is parameter.VAR_POSITIONAL for parameter in signature.parameters.values())
    for keyword in keywords:
        if keyword not in known or signature.parameters[keyword].kind is inspect.Parameter.VAR_POSITIONAL:
            raise Refused("call", f"{name} has no argument called {keyword}", did_you_mean(keyword, known))
    if variadic:
        return function(compiler, *arguments, **keywords)
    try:
        bound = signature.bind(compiler, *arguments, **keywords)
    except TypeError as error:
        raise Refused("call", f"{name}: {error}", f"it is called as {usage(name, function)}") from None
    return function(*bound.args, **bound.kwargs)


def usage(name: str, function: Function) -> str:
    """How an entry is called: ``sum(a, axis=None)``."""
    parts = []
    for parameter in list(inspect.signature(function).parameters.values())[1:]:
        if parameter.kind is parameter.VAR_POSITIONAL:
            parts.append(f"*{parameter.name}")
        elif parameter.default is parameter.empty:
            parts.append(parameter.name)
        else:
            parts.append(f"{parameter.name}={'...' if parameter.default is MISSING else parameter.default!r}")
    return f"{name}({', '.join(parts)})"


class _Missing:
    def __repr__(self) -> str:
        return "..."


MISSING = _Missing()

# --- Python's own ----------------------------------------------------------------------------------------------------


@table(BUILTINS, "abs")
def _abs(c: Compiler, x: Any) -> Any:
    return c.numeric.absolute(x)


@table(BUILTINS, "len")
def _len(c: Compiler, x: Any) -> Any:
    if isinstance(x, Items):
        if x.present is None:
            return len(x.items)
        return _total(c, [Traced(item) for item in x.present], 0)
    if isinstance(x, EnumValue):
        return len(x.enumeration.members)
    if isinstance(x, Traced) and x.shape:
        return x.shape[0]
    raise Refused("type", f"{kind_of(x)} has no length")


@table(BUILTINS, "range")
def _range(c: Compiler, start: Any, stop: Any = MISSING, step: Any = 1) -> Any:
    if stop is MISSING:
        start, stop = 0, start
    advice = "loop over a fixed range and test inside: for i in range(9): if i < n: ..."
    first, last, stride = (c.numeric.whole(part, "a bound of range", advice) for part in (start, stop, step))
    if stride == 0:
        raise Refused("type", "the step of range cannot be 0")
    count = len(range(first, last, stride))
    if count > c.meter.limits.iterations:
        raise Refused("budget", f"a range of {count:,} is over the budget of {c.meter.limits.iterations:,} loop iterations")
    return Items(list(range(first, last, stride)), "range")


@table(BUILTINS, "enumerate")
def _enumerate(c: Compiler, iterable: Any, start: Any = 0) -> Any:
    first = c.numeric.whole(start, "the start of enumerate")
    items = c.elements(iterable)
    c.numeric.fixed(items)
    return Items([Items([first + index, item]) for index, item in enumerate(items.items)])


@table(BUILTINS, "zip")
def _zip(c: Compiler, *iterables: Any) -> Any:
    rows = [c.numeric.fixed(c.elements(iterable)) for iterable in iterables]
    return Items([Items(list(row)) for row in zip(*rows, strict=False)])


@table(BUILTINS, "int")
def _int(c: Compiler, x: Any = 0) -> Any:
    return _scalar(c, "int", x, "int32")


@table(BUILTINS, "float")
def _float(c: Compiler, x: Any = 0.0) -> Any:
    if isinstance(x, str) and x.strip().lower() in ("inf", "+inf", "-inf", "infinity", "-infinity"):
        return float(x)
    return _scalar(c, "float", x, "float32")


@table(BUILTINS, "bool")
def _bool(c: Compiler, x: Any = False) -> Any:
    return c.numeric.as_value(c.numeric.truth(x))


def _scalar(c: Compiler, name: str, x: Any, dtype: str) -> Any:
    if is_number(x):
        return c.numeric.convert(x, dtype)
    value = c.numeric.lift(x)
    if value.node.size != 1:
        raise Refused("shape", f"{name}() takes a scalar, not {kind_of(value)}", "use .astype(...) for arrays")
    result = c.numeric.convert(value, dtype)
    mask = None if result.mask is None else c.nodes.reshape(result.mask, ())
    return Traced(c.nodes.reshape(result.node, ()), mask)


@table(BUILTINS, "round")
def _round(c: Compiler, x: Any, ndigits: Any = None) -> Any:
    if ndigits is not None and c.numeric.whole(ndigits, "the digits of round") != 0:
        raise Refused("type", "round to whole numbers only", "compare with a tolerance instead")
    if is_number(x):
        return c.numeric.convert(round(x), "int32" if ndigits is None else "float32")
    value = c.numeric.lift(x)
    if value.dtype != "float32":
        return value
    rounded = c.numeric.rounded("round", value)
    return c.numeric.convert(rounded, "int32") if ndigits is None and value.shape == () else rounded


@table(BUILTINS, "tuple")
def _tuple(c: Compiler, iterable: Any = None) -> Any:
    items = Items([]) if iterable is None else c.elements(iterable)
    return Items(list(items.items), "tuple", items.present)


@table(BUILTINS, "list")
def _list(c: Compiler, iterable: Any = None) -> Any:
    items = Items([]) if iterable is None else c.elements(iterable)
    return c.new_list(list(items.items), items.present)


@table(BUILTINS, "sum")
def _sum(c: Compiler, iterable: Any, start: Any = 0) -> Any:
    if isinstance(iterable, Traced) and iterable.shape:
        total = c.numeric.reduce("sum", iterable, 0)
        return total if is_number(start) and start == 0 else c.numeric.binary("+", start, total)
    items = c.elements(iterable)
    values = items.items
    if items.present is not None:
        values = [c.numeric.where(Traced(test), value, 0) for value, test in zip(values, items.present, strict=True)]
    return _total(c, values, start)


def _total(c: Compiler, values: list[Any], start: Any) -> Any:
    total = start
    for value in values:
        c.meter.step()
        total = c.numeric.binary("+", total, value)
    return total


def _truths(c: Compiler, iterable: Any, absent: bool) -> list[Any]:
    if isinstance(iterable, Traced) and len(iterable.shape) > 1 and c.numeric.lift(iterable).node.size != 1:
        raise Refused("shape", f"{kind_of(iterable)} has rows, not truth values", "use .any() or .all()")
    items = c.elements(iterable)
    truths = [c.numeric.truth(item) for item in items.items]
    if items.present is None:
        return truths
    both = []
    for truth, test in zip(truths, items.present, strict=True):
        value = c.numeric.disjunction([truth, c.nodes.not_(test)]) if absent else c.numeric.conjunction([truth, test])
        both.append(c.numeric.truth(value))
    return both


@table(BUILTINS, "any")
def _any(c: Compiler, iterable: Any) -> Any:
    if isinstance(iterable, Traced) and len(iterable.shape) == 1:
        return c.numeric.reduce("any", iterable)
    return c.numeric.disjunction(_truths(c, iterable, absent=False))


@table(BUILTINS, "all")
def _all(c: Compiler, iterable: Any) -> Any:
    if isinstance(iterable, Traced) and len(iterable.shape) == 1:
        return c.numeric.reduce("all", iterable)
    return c.numeric.conjunction(_truths(c, iterable, absent=True))


@table(BUILTINS, "max")
def _max(c: Compiler, *values: Any, default: Any = MISSING) -> Any:
    return _best(c, "max", values, default)


@table(BUILTINS, "min")
def _min(c: Compiler, *values: Any, default: Any = MISSING) -> Any:
    return _best(c, "min", values, default)


def _best(c: Compiler, op: str, values: tuple[Any, ...], default: Any) -> Any:
    if not values:
        raise Refused("call", f"{op} needs values", f"it is called as {op}(a, b) or {op}(items, default=...)")
    if len(values) > 1:
        candidates, present = list(values), None
        for value in candidates:
            if isinstance(value, Traced) and value.node.size != 1:
                raise Refused("shape", f"{op}(a, b) compares scalars, not {kind_of(value)}", f"use jnp.{op}imum(a, b)")
    else:
        (only,) = values
        if isinstance(only, Traced) and len(only.shape) == 1 and only.node.size:
            return c.numeric.reduce(op, only)
        if isinstance(only, Traced) and len(only.shape) > 1:
            raise Refused("shape", f"{op} of an array with rows", f"use .{op}()")
        items = c.elements(only)
        candidates, present = items.items, items.present
    if not candidates:
        if default is MISSING:
            raise Refused("type", f"{op} of nothing does not exist", "give default=...")
        return default
    if present is None:
        best = candidates[0]
        for value in candidates[1:]:
            c.meter.step()
            best = c.numeric.extreme(op, best, value)
        return best
    if default is MISSING:
        raise Refused("type", f"which items {op} sees depends on the state, and there may be none", "give default=...")
    best, found = default, c.nodes.constant(False, "bool")
    for value, test in zip(candidates, present, strict=True):
        chosen = c.numeric.where(Traced(found), c.numeric.extreme(op, best, value), value)
        best = c.numeric.where(Traced(test), chosen, best)
        found = c.nodes.or_(found, test)
    return best


# --- jnp -------------------------------------------------------------------------------------------------------------


def _dtype(c: Compiler, dtype: Any) -> str | None:
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
def _array(c: Compiler, object: Any, dtype: Any = None) -> Any:  # noqa: A002
    value = c.numeric.lift(object)
    name = _dtype(c, dtype)
    return value if name is None else c.numeric.convert(value, name)


def _shape(c: Compiler, shape: Any) -> tuple[int, ...]:
    parts = c.numeric.fixed(shape) if isinstance(shape, Items) else [shape]
    sizes = tuple(c.numeric.whole(part, "a shape") for part in parts)
    if any(size < 0 for size in sizes):
        raise Refused("shape", "a shape has no negative sizes")
    c.meter.hold(math.prod(sizes))
    return sizes


@table(JNP, "zeros")
def _zeros(c: Compiler, shape: Any, dtype: Any = None) -> Any:
    return _full(c, shape, 0, DtypeValue(_dtype(c, dtype) or "float32"))


@table(JNP, "ones")
def _ones(c: Compiler, shape: Any, dtype: Any = None) -> Any:
    return _full(c, shape, 1, DtypeValue(_dtype(c, dtype) or "float32"))


@table(JNP, "full")
def _full(c: Compiler, shape: Any, fill_value: Any, dtype: Any = None) -> Any:
    value = c.numeric.lift(fill_value)
    name = _dtype(c, dtype)
    node = value.node if name is None else c.nodes.cast(value.node, name)
    return Traced(c.nodes.broadcast(node, _shape(c, shape)))


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
    return Traced(c.nodes.broadcast(c.nodes.cast(value.node, _dtype(c, dtype) or like.dtype), like.shape))


@table(JNP, "arange")
def _arange(c: Compiler, start: Any, stop: Any = None, step: Any = 1, dtype: Any = None) -> Any:
    first, last = (0, start) if stop is None else (start, stop)
    advice = "use a fixed arange and compare with the traced value"
    numbers = [c.numeric.whole(part, "a bound of arange", advice) for part in (first, last, step)]
    if numbers[2] == 0:
        raise Refused("type", "the step of arange cannot be 0")
    c.meter.hold(len(range(*numbers)))
    value = Traced(c.nodes.constant(np.arange(*numbers), "int32"))
    name = _dtype(c, dtype)
    return value if name is None else c.numeric.convert(value, name)


@table(JNP, "where")
@table(LAX, "select")
def _where(c: Compiler, condition: Any, x: Any = MISSING, y: Any = MISSING) -> Any:
    if x is MISSING or y is MISSING:
        raise Refused("call", "where with one argument has a result whose size depends on the state",
                      "use jnp.where(condition, x, y), or condition.sum()")
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
    name = _dtype(c, dtype)
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
def _clip(c: Compiler, x: Any, min: Any = None, max: Any = None) -> Any:  # noqa: A002
    if min is not None:
        x = c.numeric.extreme("max", x, min)
    return x if max is None else c.numeric.extreme("min", x, max)


@table(METHODS, "clip")
def _clip_method(c: Compiler, x: Any, min: Any = None, max: Any = None) -> Any:  # noqa: A002
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


@table(JNP, "stack")
def _stack(c: Compiler, arrays: Any, axis: Any = 0) -> Any:
    stacked = c.numeric.stack(c.elements(arrays))
    rank = len(stacked.shape)
    place = c.numeric.whole(axis, "an axis")
    if not -rank <= place < rank:
        raise Refused("shape", f"axis {place} does not exist")
    order = list(range(1, rank))
    order.insert(place % rank, 0)
    return _transposed(c, stacked, tuple(order))


@table(JNP, "concatenate")
def _concatenate(c: Compiler, arrays: Any, axis: Any = 0) -> Any:
    parts = c.numeric.promoted(*(c.numeric.lift(item) for item in c.numeric.fixed(c.elements(arrays))))
    if not parts or not parts[0].shape:
        raise Refused("shape", "concatenate joins arrays, not scalars", "use jnp.array([...])")
    (place,) = c.numeric.axes(parts[0], axis)
    rest = {part.shape[:place] + part.shape[place + 1 :] for part in parts}
    if len(rest) > 1 or len({len(part.shape) for part in parts}) > 1:
        raise Refused("shape", "concatenate joins arrays that agree in all other axes")
    c.meter.hold(sum(part.node.size for part in parts))
    node = c.nodes.concat([part.node for part in parts], place)
    if all(part.mask is None for part in parts):
        return Traced(node)
    return Traced(node, c.nodes.concat([c.numeric._mask(part) for part in parts], place))


@table(JNP, "isin")
def _isin(c: Compiler, element: Any, test_elements: Any) -> Any:
    candidates = c.numeric.lift(test_elements)
    flat = _reshaped(c, candidates, (candidates.node.size,))
    result: Any = None
    value = c.numeric.lift(element)
    for item in c.elements(flat).items:
        same = c.numeric.traced("==", value, c.numeric.lift(item))
        result = same if result is None else c.numeric.traced("|", result, same)
    return Traced(c.nodes.like(False, value.node)) if result is None else result


@table(JNP, "array_equal")
def _array_equal(c: Compiler, a1: Any, a2: Any) -> Any:
    left, right = c.numeric.lift(a1), c.numeric.lift(a2)
    if left.shape != right.shape:
        return False
    return c.numeric.reduce("all", c.numeric.traced("==", left, right))


@table(JNP, "squeeze")
@table(METHODS, "squeeze")
def _squeeze(c: Compiler, a: Any) -> Any:
    value = c.numeric.lift(a)
    return _reshaped(c, value, tuple(size for size in value.shape if size != 1))


@table(JNP, "expand_dims")
def _expand_dims(c: Compiler, a: Any, axis: Any) -> Any:
    value = c.numeric.lift(a)
    rank = len(value.shape) + 1
    place = c.numeric.whole(axis, "an axis")
    if not -rank <= place < rank:
        raise Refused("shape", f"axis {place} does not exist")
    shape = list(value.shape)
    shape.insert(place % rank, 1)
    return _reshaped(c, value, tuple(shape))


@table(JNP, "reshape")
def _reshape(c: Compiler, a: Any, shape: Any) -> Any:
    return _reshape_method(c, a, shape)


@table(METHODS, "reshape")
def _reshape_method(c: Compiler, a: Any, *shape: Any) -> Any:
    value = c.numeric.lift(a)
    given = shape[0] if len(shape) == 1 else Items(list(shape))
    parts = c.numeric.fixed(given) if isinstance(given, Items) else [given]
    sizes = [c.numeric.whole(part, "a shape") for part in parts]
    if sizes.count(-1) == 1:
        rest = math.prod(size for size in sizes if size != -1)
        if rest > 0 and value.node.size % rest == 0:
            sizes[sizes.index(-1)] = value.node.size // rest
    if any(size < 0 for size in sizes) or math.prod(sizes) != value.node.size:
        raise Refused("shape", f"shape {list(value.shape)} cannot be reshaped to {sizes}")
    return _reshaped(c, value, tuple(sizes))


@table(JNP, "ravel")
@table(METHODS, "ravel", "flatten")
def _ravel(c: Compiler, a: Any) -> Any:
    value = c.numeric.lift(a)
    return _reshaped(c, value, (value.node.size,))


@table(JNP, "transpose")
@table(METHODS, "transpose")
def _transpose(c: Compiler, a: Any) -> Any:
    value = c.numeric.lift(a)
    return _transposed(c, value, tuple(reversed(range(len(value.shape)))))


@table(JNP, "broadcast_to")
def _broadcast_to(c: Compiler, array: Any, shape: Any) -> Any:
    value = c.numeric.lift(array)
    sizes = _shape(c, shape)
    try:
        fits = np.broadcast_shapes(value.shape, sizes) == sizes
    except ValueError:
        fits = False
    if not fits:
        raise Refused("shape", f"shape {list(value.shape)} does not spread over {list(sizes)}")
    mask = None if value.mask is None else c.nodes.broadcast(value.mask, sizes)
    return Traced(c.nodes.broadcast(value.node, sizes), mask)


@table(JNP, "take")
def _take(c: Compiler, a: Any, indices: Any, axis: Any = None) -> Any:
    value = c.numeric.lift(a)
    if axis is None:
        return c.indexing.subscript(_ravel(c, value), indices)
    (place,) = c.numeric.axes(value, axis)
    if isinstance(indices, Items):
        indices = c.numeric.lift(indices)
    return c.indexing.subscript(value, Items([c.whole_axis()] * place + [indices]))


def _reshaped(c: Compiler, x: Traced, shape: tuple[int, ...]) -> Traced:
    return Traced(c.nodes.reshape(x.node, shape), None if x.mask is None else c.nodes.reshape(x.mask, shape))


def _transposed(c: Compiler, x: Traced, axes: tuple[int, ...]) -> Traced:
    return Traced(c.nodes.transpose(x.node, axes), None if x.mask is None else c.nodes.transpose(x.mask, axes))


@table(LINALG, "norm")
def _norm(c: Compiler, x: Any, ord: Any = None, axis: Any = None) -> Any:  # noqa: A002
    value = c.numeric.convert(c.numeric.lift(x), "float32")
    order = 2 if ord is None else c.numeric.static(ord)
    if order == 1:
        return c.numeric.reduce("sum", c.numeric.absolute(value), axis)
    if order == math.inf:
        return c.numeric.reduce("max", c.numeric.absolute(value), axis)
    if order != 2 or (ord is not None and len(value.shape) > 1 and axis is None):
        raise Refused("call", "norm knows the orders 1, 2 and jnp.inf of vectors")
    return c.numeric.root(c.numeric.reduce("sum", c.numeric.traced("*", value, value), axis))


@table(LAX, "dynamic_slice")
def _dynamic_slice(c: Compiler, operand: Any, start_indices: Any, slice_sizes: Any) -> Any:
    return c.indexing.dynamic_slice(operand, start_indices, slice_sizes)


# --- methods of arrays -----------------------------------------------------------------------------------------------


@table(METHODS, "astype")
def _astype(c: Compiler, x: Any, dtype: Any) -> Any:
    return c.numeric.convert(c.numeric.lift(x), _dtype(c, dtype) or "float32")


@table(METHODS, "item")
def _item(c: Compiler, x: Any) -> Any:
    value = c.numeric.lift(x)
    if value.node.size != 1:
        raise Refused("shape", f".item() needs one element, not {kind_of(value)}")
    return _reshaped(c, value, ())


@table(METHODS, "round")
def _round_method(c: Compiler, x: Any) -> Any:
    return c.numeric.rounded("round", x)


@table(METHODS, "copy")
def _copy(c: Compiler, x: Any) -> Any:
    return x


@table(METHODS, "tolist")
def _tolist(c: Compiler, x: Any) -> Any:
    items = c.elements(x)
    return c.new_list([_tolist(c, item) if isinstance(item, Traced) and item.shape else item for item in items.items], None)
