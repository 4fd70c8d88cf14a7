"""Python's operators on known and traced values. Truth values count as 0 and 1 in arithmetic, arrays included."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from engine.sharp.graph import Node, scalar_of
from engine.sharp.lifting import Lifting, checked, is_number
from engine.sharp.refusals import Refused
from engine.sharp.values import Items, Traced, kind_of

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


class Operators(Lifting):
    """Operators, conversions and rounding."""

    def truth(self, value: Any) -> bool | Node:
        """Python's truth of a value."""
        raise NotImplementedError

    def conjunction(self, truths: Sequence[bool | Node]) -> bool | Traced:
        """And, of truths."""
        raise NotImplementedError

    def negation(self, truth: Any) -> Any:
        """Not, of a truth."""
        raise NotImplementedError

    def fixed(self, items: Items) -> list[Any]:
        """The items of a tuple whose length is known."""
        raise NotImplementedError

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
        if op in ("*", "==", "!=") and isinstance(a, Items) != isinstance(b, Items):
            other = b if isinstance(a, Items) else a
            if is_number(other) or (isinstance(other, Traced) and other.shape == ()):
                self._of_one(op)
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

    def _of_one(self, op: str) -> NoReturn:
        """Refuse a tuple beside a single number, which Python does not take item by item."""
        if op == "*":
            reason = "how often a list is repeated must be known before the program runs"
            raise Refused("static", reason, "use jnp.array(...) to multiply the items")
        raise Refused("type", "a number never equals a tuple", "compare with an item, or use in")

    def _items_equal(self, op: str, a: Items, b: Items) -> Any:
        if a.kind != b.kind and "list" in (a.kind, b.kind):
            raise Refused("type", "a list never equals a tuple", "write both as tuples")
        left, right = self.fixed(a), self.fixed(b)
        self.meter.hold(len(left))
        self.meter.step(len(left))
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
            return Traced(nodes.and_(x, y) if op == "&" else nodes.or_(x, y) if op == "|" else nodes.xor(x, y))
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
            raise Refused(
                "type", "an integer power needs a known exponent from 0 to 8", "multiply, or use a float base"
            )
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
