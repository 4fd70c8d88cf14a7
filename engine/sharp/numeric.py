"""Python's arithmetic on known and traced values: promotion, broadcasting, windows, truth, choice between values.

Promotion is bool < int32 < float32 and happens here, so that graphs hold operations on equal dtypes and shapes only.
Truth values count as 0 and 1 in arithmetic, arrays of them included.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from engine.sharp.graph import Node, scalar_of
from engine.sharp.limits import INT_MAX, INT_MIN, Meter
from engine.sharp.refusals import Refused
from engine.sharp.shaping import Shaping
from engine.sharp.values import DtypeValue, Items, Member, StateValue, Static, Traced, Unusable, kind_of

ORDER = {"bool": 0, "int32": 1, "float32": 2}

PYTHON: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "<<": operator.lshift,
    ">>": operator.rshift,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
MAX_NESTED_ITEMS = 16


def is_number(value: Any) -> bool:
    """Whether a value is a known number or truth value."""
    return isinstance(value, (bool, int, float))


def checked(value: Any) -> Any:
    """A known number, refused if an integer leaves 32 bits."""
    if isinstance(value, int) and not isinstance(value, bool) and not INT_MIN <= value <= INT_MAX:
        raise Refused("budget", "integers must fit into 32 bits")
    if isinstance(value, complex) or (isinstance(value, float) and math.isnan(value)):
        raise Refused("type", "this computes something that is no number")
    return value


class Numeric:
    """Operations on values over one graph."""

    def __init__(self, shaping: Shaping, meter: Meter) -> None:
        self.nodes = shaping
        self.meter = meter

    # --- from values to nodes ----------------------------------------------------------------------------------------

    def lift(self, value: Any, what: str = "a number or an array") -> Traced:
        """A number, array, or tuple of them as a traced value."""
        if isinstance(value, Traced):
            return value
        if is_number(value):
            dtype = "bool" if isinstance(value, bool) else "int32" if isinstance(value, int) else "float32"
            return Traced(self.nodes.constant(checked(value if dtype == "float32" else int(value)), dtype))
        if isinstance(value, Items):
            return self.stack(value)
        if isinstance(value, Unusable):
            raise Refused("name", value.reason, value.suggestion)
        if isinstance(value, StateValue):
            members = ", ".join(list(value.group.members)[:6])
            raise Refused("type", f"{what} is needed, not {kind_of(value)}", f"name one of its fields: {members}, …")
        raise Refused("type", f"{what} is needed, not {kind_of(value)}")

    def stack(self, items: Items) -> Traced:
        """A tuple of equal-shaped values as an array."""
        if items.present is not None:
            raise Refused("shape", "how many items this list has depends on the state, so it is no array",
                          "count with sum(...), or test with any(...) or all(...)")
        if items.depth > MAX_NESTED_ITEMS:
            raise Refused("budget", f"tuples nested deeper than {MAX_NESTED_ITEMS}")
        self.meter.hold(items.total)
        known = self._known_array(items)
        if known is not None:
            return Traced(known)
        if not items.items:
            return Traced(self.nodes.constant(np.zeros((0,)), "float32"))
        parts = [self.lift(item) for item in items.items]
        dtype = max((part.dtype for part in parts), key=ORDER.__getitem__)
        shapes = {part.shape for part in parts}
        if len(shapes) > 1:
            raise Refused("shape", "the items of an array must have one shape: here they are "
                          + " and ".join(str(list(shape)) for shape in sorted(shapes)))
        node = self.nodes.stack([self.nodes.cast(part.node, dtype) for part in parts])
        if all(part.mask is None for part in parts):
            return Traced(node)
        return Traced(node, self.nodes.stack([self._mask(part) for part in parts]))

    def _known_array(self, items: Items) -> Node | None:
        def plain(value: Any) -> Any:
            if isinstance(value, Items):
                return [plain(item) for item in value.items]
            if not is_number(value):
                raise LookupError
            return checked(value)

        try:
            array = np.array(plain(items))
        except LookupError:
            return None
        except ValueError:
            raise Refused("shape", "the rows of an array must have equal lengths") from None
        if array.dtype == np.bool_:
            return self.nodes.constant(array, "bool")
        return self.nodes.constant(array, "int32" if np.issubdtype(array.dtype, np.integer) else "float32")

    def static(self, value: Any) -> Static | Traced | Any:
        """The Python number, where a traced value turns out to be known."""
        if isinstance(value, Traced) and value.shape == () and value.mask is None:
            known = scalar_of(value.node)
            return value if known is None else known
        return value

    def whole(self, value: Any, what: str, suggestion: str | None = None) -> int:
        """A known integer, or a refusal that says what it was needed for."""
        known = self.static(value)
        if isinstance(known, int):
            return int(known)
        if isinstance(known, Traced):
            raise Refused("static", f"{what} must be known before the program runs; this depends on the state", suggestion)
        raise Refused("type", f"{what} must be an integer, not {kind_of(known)}", suggestion)

    # --- windows -----------------------------------------------------------------------------------------------------

    def _mask(self, x: Traced) -> Node:
        return self.nodes.broadcast(self.nodes.constant(True, "bool"), x.shape) if x.mask is None else x.mask

    def fill(self, x: Traced, value: bool | int | float) -> Node:
        """The node of ``x`` with cells outside the map replaced."""
        if x.mask is None:
            return x.node
        return self.nodes.select(x.mask, x.node, self.nodes.like(value, x.node))

    def masks(self, values: Sequence[Traced], shape: tuple[int, ...]) -> Node | None:
        """Which elements of a result rest on cells inside the map only."""
        found = [self.nodes.broadcast(x.mask, shape) for x in values if x.mask is not None]
        return self.nodes.and_(*found) if found else None

    # --- broadcasting ------------------------------------------------------------------------------------------------

    def together(self, *values: Traced) -> tuple[tuple[Node, ...], tuple[int, ...]]:
        """Nodes broadcast to one shape."""
        try:
            shape = np.broadcast_shapes(*(x.shape for x in values))
        except ValueError:
            listed = " and ".join(str(list(x.shape)) for x in values)
            raise Refused("shape", f"arrays of shape {listed} do not fit together") from None
        self.meter.hold(math.prod(shape))
        return tuple(self.nodes.broadcast(x.node, shape) for x in values), shape

    def promoted(self, *values: Traced, least: str = "bool") -> tuple[Traced, ...]:
        """Values cast to their common dtype, at least ``least``."""
        dtype = max((*(x.dtype for x in values), least), key=ORDER.__getitem__)
        return tuple(Traced(self.nodes.cast(x.node, dtype), x.mask) for x in values)

    # --- operators ---------------------------------------------------------------------------------------------------

    def binary(self, op: str, a: Any, b: Any) -> Any:
        """``a op b`` for the operators of Python, comparisons included."""
        if is_number(a) and is_number(b):
            return self._known(op, a, b)
        if isinstance(a, Items) and isinstance(b, Items):
            if op == "+":
                self.meter.hold(len(a.items) + len(b.items))
                return Items(list(self.fixed(a)) + list(self.fixed(b)), a.kind)
            if op in ("==", "!="):
                return self._items_equal(op, a, b)
        if op == "*" and isinstance(a, Items) and isinstance(self.static(b), int):
            count = max(self.whole(b, "a repetition"), 0)
            self.meter.hold(max(a.total, 1) * count)
            return Items(list(self.fixed(a)) * count, a.kind)
        if op == "*" and isinstance(b, Items) and isinstance(a, int):
            return self.binary(op, b, a)
        if op in ("==", "!=") and (a is None or b is None):
            return (a is b) is (op == "==")
        return self.traced(op, self.lift(a), self.lift(b))

    def _known(self, op: str, a: Any, b: Any) -> Any:
        if op in ("<<", "**") and isinstance(b, int) and abs(b) > 1024:
            raise Refused("budget", f"{op} with so large a right side does not fit into 32 bits")
        if op in ("<<", ">>") and isinstance(b, int) and b < 0:
            raise Refused("type", "a shift by a negative number does not exist")
        try:
            return checked(PYTHON[op](a, b))
        except ZeroDivisionError:
            raise Refused("type", "division by zero") from None
        except OverflowError:
            raise Refused("budget", "this number is too large") from None
        except TypeError:
            raise Refused("type", f"{op} does not work on {kind_of(a)} and {kind_of(b)}") from None

    def _items_equal(self, op: str, a: Items, b: Items) -> Any:
        left, right = self.fixed(a), self.fixed(b)
        if len(left) != len(right):
            return op == "!="
        tests = [self.truth(self.binary("==", x, y)) for x, y in zip(left, right, strict=True)]
        equal = self.conjunction(tests)
        return equal if op == "==" else self.negation(equal)

    def traced(self, op: str, a: Traced, b: Traced) -> Traced:
        """``a op b`` on arrays, element by element."""
        if op in COMPARISONS:
            return self._compare(op, a, b)
        if op in ("&", "|", "^", "<<", ">>"):
            return self._bits(op, a, b)
        least = "float32" if op == "/" else "int32"
        if op == "**":
            return self._power(a, b)
        a, b = self.promoted(a, b, least=least)
        (x, y), shape = self.together(a, b)
        mask = self.masks((a, b), shape)
        if op in ("/", "//", "%") and scalar_of(y) == 0:
            raise Refused("type", "division by zero")
        nodes = self.nodes
        if op == "+":
            return Traced(nodes.add(x, y), mask)
        if op == "-":
            return Traced(nodes.sub(x, y), mask)
        if op == "*":
            return Traced(nodes.mul(x, y), mask)
        if scalar_of(y) == 1 and op in ("/", "//") and (op == "/" or a.dtype == "int32"):
            return Traced(x, mask)
        name = {"/": "div", "//": "floordiv", "%": "mod"}[op]
        divisor = scalar_of(y)
        bounds = None
        if name == "mod" and isinstance(divisor, int):
            bounds = (0, divisor - 1) if divisor > 0 else (divisor + 1, 0)
        return Traced(nodes.plain(name, x, y, bounds=bounds), mask)

    def _compare(self, op: str, a: Traced, b: Traced) -> Traced:
        a, b = self.promoted(a, b)
        if a.dtype == "bool" and op not in ("==", "!="):
            a, b = self.promoted(a, b, least="int32")
        (x, y), shape = self.together(a, b)
        nodes = self.nodes
        if op in ("==", "!="):
            result = nodes.eq(x, y)
        else:
            first, second = (x, y) if op in ("<", "<=") else (y, x)
            result = nodes.lt(first, second) if op in ("<", ">") else nodes.le(first, second)
        mask = self.masks((a, b), shape)
        if mask is not None:
            result = nodes.and_(result, mask)
        return Traced(nodes.not_(result) if op == "!=" else result)

    def _bits(self, op: str, a: Traced, b: Traced) -> Traced:
        if "float32" in (a.dtype, b.dtype):
            raise Refused("type", f"{op} does not work on floats", "use and, or, not on conditions")
        nodes = self.nodes
        if a.dtype == b.dtype == "bool" and op in ("&", "|", "^"):
            (x, y), _ = self.together(Traced(self.fill(a, False)), Traced(self.fill(b, False)))
            return Traced({"&": nodes.and_, "|": nodes.or_, "^": nodes.xor}[op](x, y))
        a, b = self.promoted(a, b, least="int32")
        (x, y), shape = self.together(a, b)
        name = {"&": "bitand", "|": "bitor", "^": "bitxor", "<<": "shl", ">>": "shr"}[op]
        if name.startswith("bit"):
            x, y = sorted((x, y), key=lambda node: node.digest)
        return Traced(nodes.plain(name, x, y), self.masks((a, b), shape))

    def _power(self, a: Traced, b: Traced) -> Traced:
        exponent = scalar_of(b.node) if b.shape == () else None
        if isinstance(exponent, (int, float)) and float(exponent).is_integer() and 0 <= exponent <= 8:
            (base,) = self.promoted(a, least="float32" if isinstance(exponent, float) else "int32")
            if exponent == 0:
                return Traced(self.nodes.like(1, base.node), base.mask)
            return Traced(self.nodes.mul(*[base.node] * int(exponent)), base.mask)
        if exponent == 0.5:
            return self.root(a)
        if a.dtype != "float32" and b.dtype != "float32" and not (isinstance(exponent, int) and exponent < 0):
            raise Refused("type", "an integer power needs a known exponent from 0 to 8", "multiply, or use a float base")
        a, b = self.promoted(a, b, least="float32")
        (x, y), shape = self.together(a, b)
        return Traced(self.nodes.plain("pow", x, y), self.masks((a, b), shape))

    def root(self, x: Traced) -> Traced:
        """Square root, as float32."""
        (x,) = self.promoted(x, least="float32")
        return Traced(self.nodes.plain("sqrt", x.node), x.mask)

    def unary(self, op: str, value: Any) -> Any:
        """``not``, ``-``, ``+`` or ``~``."""
        if op == "not":
            return self.negation(self.truth(value))
        if is_number(value):
            if op == "~":
                if isinstance(value, (bool, float)):
                    raise Refused("type", f"~ does not work on {kind_of(value)}", "use not")
                return checked(~value)
            return checked(-value if op == "-" else +value)
        x = self.lift(value)
        if op == "~":
            if x.dtype == "float32":
                raise Refused("type", "~ does not work on floats", "use not")
            if x.dtype == "bool":
                return Traced(self.nodes.not_(self.fill(x, False)))
            return Traced(self.nodes.plain("invert", x.node), x.mask)
        (x,) = self.promoted(x, least="int32")
        return Traced(self.nodes.neg(x.node), x.mask) if op == "-" else x

    def absolute(self, value: Any) -> Any:
        """``abs``."""
        if is_number(value):
            return checked(abs(value))
        (x,) = self.promoted(self.lift(value), least="int32")
        bounds = None
        if x.node.bounds is not None:
            low, high = x.node.bounds
            bounds = (0 if low <= 0 <= high else min(abs(low), abs(high)), max(abs(low), abs(high)))
        node = x.node.operands[0] if x.node.op == "neg" else x.node
        if node.dtype == "int32" and node.op == "add":  # |a − b| and |b − a| are one value
            node = min(node, self.nodes.neg(node), key=lambda item: item.digest)
        return Traced(self.nodes.plain("abs", node, bounds=bounds), x.mask)

    def extreme(self, op: str, a: Any, b: Any) -> Any:
        """The smaller (``min``) or larger (``max``) of two values, element by element."""
        if is_number(a) and is_number(b):
            return (min if op == "min" else max)(a, b)
        left, right = self.promoted(self.lift(a), self.lift(b))
        (x, y), shape = self.together(left, right)
        if left.dtype == "bool":
            return Traced((self.nodes.and_ if op == "min" else self.nodes.or_)(x, y), self.masks((left, right), shape))
        return Traced(self.nodes.extreme(op, x, y), self.masks((left, right), shape))

    def convert(self, value: Any, dtype: str) -> Any:
        """``int()``, ``float()``, ``bool()`` and ``astype`` on numbers and arrays."""
        if is_number(value):
            if dtype == "int32" and isinstance(value, float) and not math.isfinite(value):
                raise Refused("type", "infinity is no integer")
            return checked({"bool": bool, "int32": int, "float32": float}[dtype](value))
        x = self.lift(value)
        if dtype == "bool":
            return Traced(self.nodes.cast(self.fill(x, 0), "bool"))
        return Traced(self.nodes.cast(x.node, dtype), x.mask)

    def rounded(self, op: str, value: Any) -> Traced:
        """``floor``, ``ceil`` or ``round`` of an array, as float32; halves round to even."""
        (x,) = self.promoted(self.lift(value), least="float32")
        return Traced(self.nodes.plain(op, x.node), x.mask)

    # --- truth -------------------------------------------------------------------------------------------------------

    def truth(self, value: Any) -> bool | Node:
        """Python's truth of a value: known, or a traced scalar of bool."""
        value = self.static(value)
        if value is None or is_number(value):
            return bool(value)
        if isinstance(value, Items):
            if value.present is not None:
                return self.disjunction(list(value.present))
            return bool(value.items)
        if isinstance(value, Traced):
            if value.node.size != 1:
                raise Refused("shape", f"{kind_of(value)} has no single truth value", "add .any() or .all(), and use & and | between arrays")
            node = self.nodes.cast(self.fill(value, 0), "bool")
            return self.nodes.reshape(node, ())
        if isinstance(value, Unusable):
            raise Refused("name", value.reason, value.suggestion)
        raise Refused("type", f"{kind_of(value)} has no truth value here")

    def as_value(self, truth: bool | Node) -> Any:
        """A truth as a value."""
        return truth if isinstance(truth, bool) else Traced(truth)

    def negation(self, truth: bool | Node | Traced) -> Any:
        """Not, of a truth."""
        if isinstance(truth, bool):
            return not truth
        return Traced(self.nodes.not_(truth.node if isinstance(truth, Traced) else truth))

    def conjunction(self, truths: Sequence[bool | Node]) -> Any:
        """And, of truths."""
        if any(item is False for item in truths):
            return False
        nodes = [item for item in truths if isinstance(item, Node)]
        return self.static_truth(self.nodes.and_(*nodes)) if nodes else True

    def disjunction(self, truths: Sequence[bool | Node]) -> Any:
        """Or, of truths."""
        if any(item is True for item in truths):
            return True
        nodes = [item for item in truths if isinstance(item, Node)]
        return self.static_truth(self.nodes.or_(*nodes)) if nodes else False

    def static_truth(self, node: Node) -> Any:
        """A traced truth as a value that remembers if it is known."""
        return Traced(node)

    def node_of(self, truth: bool | Node) -> Node:
        """A truth as a node."""
        return self.nodes.constant(truth, "bool") if isinstance(truth, bool) else truth

    # --- choice ------------------------------------------------------------------------------------------------------

    def fixed(self, items: Items) -> list[Any]:
        """The items of a tuple whose length is known."""
        if items.present is not None:
            raise Refused("shape", "which items this list has depends on the state",
                          "use it in any, all, sum, len, min, max, in, or a for loop")
        return items.items

    def where(self, test: Any, yes: Any, no: Any) -> Any:
        """``yes`` where ``test`` holds, else ``no``, element by element."""
        condition = self.lift(test)
        a, b = self.promoted(self.lift(yes), self.lift(no))
        condition = Traced(self.nodes.cast(self.fill(condition, 0), "bool"))
        (c, x, y), shape = self.together(condition, a, b)
        mask = None
        if a.mask is not None or b.mask is not None:
            whole = Traced(self._mask(a)), Traced(self._mask(b))
            (p, q) = (self.nodes.broadcast(item.node, shape) for item in whole)
            mask = self.nodes.select(c, p, q)
        return Traced(self.nodes.select(c, x, y), mask)

    def merge(self, test: Node, yes: Any, no: Any) -> Any:
        """The value of a name after two branches; ``Unusable`` where the two cannot be one value."""
        if yes is no:
            return yes
        if isinstance(yes, Unusable) or isinstance(no, Unusable):
            return yes if isinstance(yes, Unusable) else no
        if is_number(yes) and is_number(no) and type(yes) is type(no) and yes == no:
            return yes
        if (yes is None) != (no is None):
            value = no if yes is None else yes
            if isinstance(value, (bool, Traced)) and (isinstance(value, bool) or (value.dtype, value.shape) == ("bool", ())):
                return self.where(Traced(test), False if yes is None else yes, False if no is None else no)
            return Unusable(f"this is None or {kind_of(value)}, depending on the state", "return a value on every path")
        numeric = (Traced, bool, int, float)
        if isinstance(yes, numeric) and isinstance(no, numeric):
            a, b = self.lift(yes), self.lift(no)
            if a.shape != b.shape:
                return Unusable(f"this has shape {list(a.shape)} or {list(b.shape)}, depending on the state")
            return self.where(Traced(test), a, b)
        if isinstance(yes, Items) and isinstance(no, Items) and len(yes.items) == len(no.items):
            if yes.present is None and no.present is None and yes.kind == no.kind:
                merged = [self.merge(test, x, y) for x, y in zip(yes.items, no.items, strict=True)]
                return Items(merged, yes.kind, frame=-1)
        if type(yes) is type(no) and yes == no:
            return yes
        if isinstance(yes, Items) and isinstance(no, numeric) or isinstance(no, Items) and isinstance(yes, numeric):
            a, b = self.lift(yes), self.lift(no)
            if a.shape == b.shape:
                return self.where(Traced(test), a, b)
        return Unusable(f"this is {kind_of(yes)} or {kind_of(no)}, depending on the state", "use values of one kind on both paths")

    # --- reductions --------------------------------------------------------------------------------------------------

    def axes(self, x: Traced, axis: Any) -> tuple[int, ...]:
        """``axis`` as given to a reduction, as non-negative positions."""
        rank = len(x.shape)
        if axis is None:
            return tuple(range(rank))
        given = [self.whole(item, "an axis") for item in (axis.items if isinstance(axis, Items) else [axis])]
        for item in given:
            if not -rank <= item < rank:
                raise Refused("shape", f"axis {item} does not exist in shape {list(x.shape)}")
        found = tuple(sorted({item % rank for item in given}))
        if len(found) < len(given):
            raise Refused("shape", "an axis is named twice")
        return found

    def reduce(self, op: str, value: Any, axis: Any = None, keepdims: Any = False) -> Traced:
        """``sum``, ``prod``, ``any``, ``all``, ``max``, ``min`` over axes; cells outside the map do not count."""
        x = self.lift(value)
        axes = self.axes(x, axis)
        if op in ("any", "all"):
            node = self.nodes.cast(self.fill(x, 0), "bool")
        elif op in ("sum", "prod"):
            (x,) = self.promoted(x, least="int32")
            node = self.fill(x, 0 if op == "sum" else 1)
        else:
            node = self.fill(x, self.nodes.least(x.dtype) if op == "max" else self.nodes.greatest(x.dtype))
        if op in ("max", "min"):
            op = {"bool": {"max": "any", "min": "all"}[op]}.get(x.dtype, f"reduce_{op}")
        result = self.nodes.reduce(op, node, axes)
        if self.truth(keepdims) is True:
            result = self.nodes.reshape(result, tuple(1 if place in axes else size for place, size in enumerate(x.shape)))
        return Traced(result)

    def mean(self, value: Any, axis: Any = None, keepdims: Any = False) -> Traced:
        """Mean, as float32; cells outside the map count as 0."""
        x = self.lift(value)
        count = math.prod(x.shape[place] for place in self.axes(x, axis))
        if count == 0:
            raise Refused("shape", "the mean of no elements does not exist")
        total = self.reduce("sum", self.convert(x, "float32"), axis, keepdims)
        return self.traced("/", total, self.lift(float(count)))

    def locate(self, op: str, value: Any, axis: Any = None) -> Traced:
        """``argmax`` or ``argmin``; without an axis, of the flattened array."""
        x = self.lift(value)
        node = self.fill(x, self.nodes.least(x.dtype) if op == "argmax" else self.nodes.greatest(x.dtype))
        if axis is None:
            return Traced(self.nodes.locate(op, self.nodes.reshape(node, (x.node.size,)), 0))
        (place,) = self.axes(x, axis)
        return Traced(self.nodes.locate(op, node, place))

    def member(self, value: Any, items: list[Any], present: list[Node] | None = None) -> Any:
        """``value in items``: an or of equalities."""
        tests: list[bool | Node] = []
        for index, item in enumerate(items):
            test = self.truth(self.binary("==", value, item))
            if present is not None:
                both = self.conjunction([test, present[index]])
                test = both if isinstance(both, bool) else both.node
            tests.append(test)
        return self.disjunction(tests)


def plain_number(value: Any) -> Any:
    """An enum member as its plain integer."""
    return int(value) if isinstance(value, Member) else value


def dtype_name(value: Any) -> str | None:
    """The dtype that ``dtype=`` names, if it names one."""
    return value.dtype if isinstance(value, DtypeValue) else None
