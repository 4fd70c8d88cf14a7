"""Python's own functions on known and traced values."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from engine.sharp.callables.functions import BUILTINS, MISSING, table
from engine.sharp.hints import listed
from engine.sharp.lifting import is_number
from engine.sharp.refusals import Refused
from engine.sharp.values import EnumValue, Items, StateValue, Traced, kind_of

if TYPE_CHECKING:
    from engine.sharp.lower import Compiler


@table(BUILTINS, "abs")
def _abs(c: Compiler, x: Any) -> Any:
    return c.numeric.absolute(x)


@table(BUILTINS, "len")
def _len(c: Compiler, x: Any) -> Any:
    if isinstance(x, Items):
        if x.kind == "set":
            raise Refused("type", "how many different items a set has depends on the state", "use a tuple")
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
    c.meter.hold(count)
    return Items(list(range(first, last, stride)), "range")


@table(BUILTINS, "enumerate")
def _enumerate(c: Compiler, iterable: Any, start: Any = 0) -> Any:
    first = c.numeric.whole(start, "the start of enumerate")
    items = c.elements(iterable)
    c.meter.hold(3 * len(c.numeric.fixed(items)))
    c.meter.step(len(items.items))
    return Items([Items([first + index, item]) for index, item in enumerate(items.items)])


@table(BUILTINS, "zip")
def _zip(c: Compiler, *iterables: Any) -> Any:
    rows = [c.numeric.fixed(c.elements(iterable)) for iterable in iterables]
    c.meter.hold(sum(len(row) + 1 for row in rows))
    c.meter.step(min((len(row) for row in rows), default=0))
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
        if isinstance(x, float) and not math.isfinite(x):
            raise Refused("type", "infinity is no integer")
        return c.numeric.convert(round(x), "int32" if ndigits is None else "float32")
    value = c.numeric.lift(x)
    if value.dtype != "float32":
        return value
    rounded = c.numeric.rounded("round", value)
    return c.numeric.convert(rounded, "int32") if ndigits is None and value.shape == () else rounded


@table(BUILTINS, "tuple")
def _tuple(c: Compiler, iterable: Any = None) -> Any:
    items = Items([]) if iterable is None else c.elements(iterable)
    c.meter.hold(items.total)
    return Items(list(items.items), "tuple", items.present)


@table(BUILTINS, "list")
def _list(c: Compiler, iterable: Any = None) -> Any:
    items = Items([]) if iterable is None else c.elements(iterable)
    c.meter.hold(items.total)
    return c.new_list(list(items.items), items.present)


@table(BUILTINS, "sum")
def _sum(c: Compiler, iterable: Any, start: Any = 0) -> Any:
    if isinstance(iterable, Traced) and iterable.shape:
        total = c.numeric.reduce("sum", iterable, 0)
        return total if is_number(start) and start == 0 else c.numeric.binary("+", start, total)
    if isinstance(iterable, StateValue):
        advice = f"add its fields: {listed(iterable.members, 2).replace(', ', ' + ')}"
        raise Refused("type", f"{kind_of(iterable)} cannot be looped over", advice)
    items = c.elements(iterable)
    values = items.items
    if items.present is not None and any(isinstance(value, Items) for value in values):
        raise Refused("shape", "which lists are joined depends on the state", "count or test the items instead")
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
    c.meter.hold(len(items.items))
    c.meter.step(len(items.items))
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
    if any(isinstance(candidate, Items) for candidate in candidates):
        advice = f"compare one number made of them, such as {op}(a * 100 + b for a, b in pairs)"
        raise Refused("type", f"{op} compares numbers, not tuples", advice)
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
