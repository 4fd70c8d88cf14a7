"""Element-wise operations in canonical form, so that programs that differ in words only get one graph.

Commutative operands are flattened, ordered and deduplicated; integer sums are linear forms; comparisons are ``eq``,
``ne``, ``lt``, ``le``; selects between truth values are logic. Every rule holds for all values of the operands,
wrapping 32-bit integers included; terms are moved across ``<`` only where declared bounds exclude a wrap.
All operands of one call have one dtype and one shape: promotion and broadcasting come before (``arrays``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from engine.sharp.graph import Bounds, Graph, Node, constant_array, is_constant, scalar_of
from engine.sharp.limits import INT_MAX, INT_MIN

FLATTENED = 64
"""An n-ary operation takes at most this many operands; beyond it, it nests."""


def _wrap(value: int) -> int:
    return (value - INT_MIN) % 2**32 + INT_MIN


def _hull(nodes: Sequence[Node]) -> Bounds | None:
    known = [node.bounds for node in nodes if node.bounds is not None]
    if len(known) < len(nodes):
        return None
    return min(low for low, _ in known), max(high for _, high in known)


class Algebra:
    """Constructors of element-wise nodes over one graph."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph

    # --- leaves and shapes -------------------------------------------------------------------------------------------

    def constant(self, values: object, dtype: str) -> Node:
        """A constant node."""
        return self.graph.constant(values, dtype)

    def like(self, value: bool | int | float, node: Node) -> Node:
        """A constant of the dtype and shape of ``node``."""
        return self.broadcast(self.graph.constant(value, node.dtype), node.shape)

    def broadcast(self, x: Node, shape: tuple[int, ...]) -> Node:
        """``x`` spread over ``shape`` as numpy does."""
        if x.shape == shape:
            return x
        source = x.operands[0] if x.op == "broadcast" else x
        if source.shape == shape:
            return source
        return self.graph.make("broadcast", (source,), x.dtype, shape, (shape,), x.bounds)

    def materialise(self, x: Node) -> Node:
        """A constant that is spread over a shape as a constant array; anything else as it is."""
        if x.op != "broadcast" or x.operands[0].op != "constant":
            return x
        return self.graph.constant(np.broadcast_to(constant_array(x.operands[0]), x.shape), x.dtype)

    def _spread(self, operands: Sequence[Node], build: Callable[..., Node]) -> Node | None:
        """Operations on spread scalars are done on the scalars."""
        shape = operands[0].shape
        if shape == () or not all(x.op == "broadcast" and x.operands[0].shape == () for x in operands):
            return None
        return self.broadcast(build(*(x.operands[0] for x in operands)), shape)

    def plain(self, op: str, *operands: Node, dtype: str | None = None, bounds: Bounds | None = None) -> Node:
        """An element-wise operation without rules of its own."""
        spread = self._spread(operands, lambda *xs: self.plain(op, *xs, dtype=dtype, bounds=bounds))
        if spread is not None:
            return spread
        if all(is_constant(x) for x in operands):
            operands = tuple(self.materialise(x) for x in operands)
        return self.graph.make(op, operands, dtype or operands[0].dtype, operands[0].shape, bounds=bounds)

    def cast(self, x: Node, dtype: str) -> Node:
        """``x`` as ``dtype``: truth, integer part, or number."""
        if x.dtype == dtype:
            return x
        if dtype == "bool":
            if x.op == "cast" and x.operands[0].dtype == "bool":
                return x.operands[0]
            return self.ne(x, self.like(0, x))
        spread = self._spread((x,), lambda y: self.cast(y, dtype))
        if spread is not None:
            return spread
        if x.op == "cast" and x.operands[0].dtype == "bool":
            return self.cast(x.operands[0], dtype)
        bounds = (0, 1) if x.dtype == "bool" and dtype == "int32" else None
        return self.graph.make("cast", (x,), dtype, x.shape, (dtype,), bounds)

    # --- logic -------------------------------------------------------------------------------------------------------

    def not_(self, x: Node) -> Node:
        """Negation of a bool node."""
        if x.op == "not":
            return x.operands[0]
        if x.op in ("eq", "ne"):
            a, b = x.operands
            return self.graph.make("ne" if x.op == "eq" else "eq", (a, b), "bool", x.shape)
        if x.op in ("lt", "le") and x.operands[0].dtype == "int32":
            a, b = x.operands
            return self.le(b, a) if x.op == "lt" else self.lt(b, a)
        return self.plain("not", x, dtype="bool")

    def and_(self, *operands: Node) -> Node:
        """Conjunction of bool nodes."""
        return self._connect("and", operands, neutral=True)

    def or_(self, *operands: Node) -> Node:
        """Disjunction of bool nodes."""
        return self._connect("or", operands, neutral=False)

    def _connect(self, op: str, operands: Sequence[Node], neutral: bool) -> Node:
        spread = self._spread(operands, lambda *xs: self._connect(op, xs, neutral))
        if spread is not None:
            return spread
        shape = operands[0].shape
        kept: dict[bytes, Node] = {}
        for x in self._flatten(op, operands):
            value = scalar_of(x)
            if value is None:
                kept[x.digest] = x
            elif bool(value) is not neutral:
                return x
        for x in list(kept.values()):
            opposite = x.operands[0] if x.op == "not" else None
            if opposite is not None and opposite.digest in kept:
                return self.broadcast(self.constant(not neutral, "bool"), shape)
        if not kept:
            return self.broadcast(self.constant(neutral, "bool"), shape)
        return self._nary(op, list(kept.values()), "bool", shape, None)

    def xor(self, a: Node, b: Node) -> Node:
        """Exclusive or of bool nodes."""
        return self.ne(a, b)

    def select(self, test: Node, yes: Node, no: Node) -> Node:
        """``yes`` where ``test``, else ``no``."""
        if yes == no:
            return yes
        spread = self._spread((test, yes, no), self.select)
        if spread is not None:
            return spread
        known = scalar_of(test)
        if known is not None:
            return yes if known else no
        if yes.dtype == "bool":
            opposite = self.not_(test)
            yes = self.like(True, yes) if yes == test else self.like(False, yes) if yes == opposite else yes
            no = self.like(False, no) if no == test else self.like(True, no) if no == opposite else no
        if test.op == "not":
            return self.select(test.operands[0], no, yes)
        if yes.op == "select" and yes.operands[0] == test:
            yes = yes.operands[1]
        if no.op == "select" and no.operands[0] == test:
            no = no.operands[2]
        if yes.dtype == "bool":
            first, second = scalar_of(yes), scalar_of(no)
            if first is not None:
                return self.or_(test, no) if first else self.and_(self.not_(test), no)
            if second is not None:
                return self.or_(self.not_(test), yes) if second else self.and_(test, yes)
            if yes == no:
                return yes
        elif yes.dtype == "int32" and (scalar_of(yes), scalar_of(no)) in ((1, 0), (0, 1)):
            return self.cast(test if scalar_of(yes) == 1 else self.not_(test), "int32")
        if test.op == "ne" and test.operands[0].dtype != "float32":
            test, yes, no = self.not_(test), no, yes
        return self.graph.make("select", (test, yes, no), yes.dtype, yes.shape, bounds=_hull((yes, no)))

    # --- arithmetic --------------------------------------------------------------------------------------------------

    def add(self, *operands: Node) -> Node:
        """Sum. Integers wrap and are a linear form; floats keep their association and only order their operands."""
        spread = self._spread(operands, self.add)
        if spread is not None:
            return spread
        if operands[0].dtype == "float32":
            result = operands[0]
            for x in operands[1:]:
                result = self._float_pair("add", result, x, identity=0.0)
            return result
        terms, offset = self._linear(operands)
        return self._sum(terms, offset, operands[0])

    def neg(self, x: Node) -> Node:
        """The negative."""
        spread = self._spread((x,), self.neg)
        if spread is not None:
            return spread
        if x.op == "neg":
            return x.operands[0]
        if x.dtype == "int32" and x.op == "add":
            terms, offset = self._linear([x])
            return self._sum(Counter({term: -count for term, count in terms.items()}), -offset, x)
        return self.plain("neg", x, bounds=None if x.bounds is None else (-x.bounds[1], -x.bounds[0]))

    def sub(self, a: Node, b: Node) -> Node:
        """Difference."""
        if a.dtype == "int32":
            return self.add(a, self.neg(b))
        return a if scalar_of(b) == 0.0 else self.plain("sub", a, b)

    def mul(self, *operands: Node) -> Node:
        """Product; integers wrap."""
        spread = self._spread(operands, self.mul)
        if spread is not None:
            return spread
        if operands[0].dtype == "float32":
            result = operands[0]
            for x in operands[1:]:
                result = self._float_pair("mul", result, x, identity=1.0)
            return result
        factor, kept = 1, []
        for x in self._flatten("mul", operands):
            value = scalar_of(x)
            if value is None:
                inner = x.operands[0] if x.op == "neg" else x
                factor = -factor if x.op == "neg" else factor
                kept.append(inner)
            else:
                factor = _wrap(factor * int(value))
        shape = operands[0].shape
        if factor == 0 or not kept:
            return self.broadcast(self.constant(factor, "int32"), shape)
        if factor == -1:
            return self.neg(self._product(kept, shape))
        if factor != 1:
            kept.append(self.broadcast(self.constant(factor, "int32"), shape))
        return self._product(kept, shape)

    def _product(self, factors: list[Node], shape: tuple[int, ...]) -> Node:
        bounds: Bounds | None = (1, 1)
        for x in factors:
            if bounds is None or x.bounds is None:
                bounds = None
                break
            corners = [a * b for a in bounds for b in x.bounds]
            bounds = (min(corners), max(corners))
        return self._nary("mul", factors, "int32", shape, bounds)

    def extreme(self, op: str, *operands: Node) -> Node:
        """Element-wise ``min`` or ``max``."""
        spread = self._spread(operands, lambda *xs: self.extreme(op, *xs))
        if spread is not None:
            return spread
        kept = {x.digest: x for x in self._flatten(op, operands)}
        constants = [self.materialise(x) for x in kept.values() if is_constant(x)]
        others = [x for x in kept.values() if not is_constant(x)]
        if len(constants) > 1:
            folded = self.graph.make(op, tuple(constants), operands[0].dtype, operands[0].shape)
            return self.extreme(op, *others, folded) if others else folded
        known = [x.bounds for x in kept.values() if x.bounds is not None]
        bounds = None
        if len(known) == len(kept) and operands[0].dtype == "int32":
            pick = min if op == "min" else max
            bounds = (pick(low for low, _ in known), pick(high for _, high in known))
        return self._nary(op, list(kept.values()), operands[0].dtype, operands[0].shape, bounds)

    def _float_pair(self, op: str, a: Node, b: Node, identity: float) -> Node:
        if scalar_of(a) == identity:
            return b
        if scalar_of(b) == identity:
            return a
        first, second = sorted((a, b), key=lambda x: x.digest)
        return self.plain(op, first, second)

    # --- comparison --------------------------------------------------------------------------------------------------

    def eq(self, a: Node, b: Node) -> Node:
        """Equality; of integers in the canonical form of their difference, which wrapping respects."""
        spread = self._spread((a, b), self.eq)
        if spread is not None:
            return spread
        if a.dtype == "bool":
            for x, y in ((a, b), (b, a)):
                value = scalar_of(x)
                if value is not None:
                    return y if value else self.not_(y)
        if a == b and a.dtype != "float32":
            return self.broadcast(self.constant(True, "bool"), a.shape)
        if a.dtype == "int32":
            a, b = self._balanced(a, b)
            for x, y in ((a, b), (b, a)):
                value = scalar_of(x)
                if value is not None and y.op == "cast" and y.operands[0].dtype == "bool":
                    truth = y.operands[0]
                    if value in (0, 1):
                        return truth if value == 1 else self.not_(truth)
                    return self.broadcast(self.constant(False, "bool"), a.shape)
            if scalar_of(a) is not None and scalar_of(b) is not None:
                return self.broadcast(self.constant(scalar_of(a) == scalar_of(b), "bool"), a.shape)
        first, second = sorted((a, b), key=lambda x: x.digest)
        return self.plain("eq", first, second, dtype="bool")

    def ne(self, a: Node, b: Node) -> Node:
        """Inequality: always the negation of ``eq``, NaN included."""
        return self.not_(self.eq(a, b))

    def lt(self, a: Node, b: Node) -> Node:
        """``a < b``."""
        spread = self._spread((a, b), self.lt)
        if spread is not None:
            return spread
        if a.dtype == "int32":
            if a == b:
                return self.broadcast(self.constant(False, "bool"), a.shape)
            moved = self._difference(a, b, 0)
            if moved is not None:
                a, b = moved
            low, high = scalar_of(a), scalar_of(b)
            if low is not None and high is not None:
                return self.broadcast(self.constant(low < high, "bool"), a.shape)
            if low == 0 and b.op == "cast" and b.operands[0].dtype == "bool":
                return b.operands[0]
            if high == 1 and a.op == "cast" and a.operands[0].dtype == "bool":
                return self.not_(a.operands[0])
        return self.plain("lt", a, b, dtype="bool")

    def le(self, a: Node, b: Node) -> Node:
        """``a <= b``; of integers as ``<`` wherever one can be taken off or added without a wrap."""
        spread = self._spread((a, b), self.le)
        if spread is not None:
            return spread
        if a.dtype == "int32":
            if a == b:
                return self.broadcast(self.constant(True, "bool"), a.shape)
            low, high = scalar_of(a), scalar_of(b)
            if low is not None and low > INT_MIN:
                return self.lt(self.like(int(low) - 1, b), b)
            if high is not None and high < INT_MAX:
                return self.lt(a, self.like(int(high) + 1, a))
            moved = self._difference(a, b, 1)
            if moved is not None:
                return self.lt(*moved)
        return self.plain("le", a, b, dtype="bool")

    # --- linear forms ------------------------------------------------------------------------------------------------

    def _linear(self, operands: Sequence[Node]) -> tuple[Counter[Node], int]:
        """Terms with signed counts, and a constant; counts of equal terms are merged."""
        terms: Counter[Node] = Counter()
        offset = 0
        for x in self._flatten("add", operands):
            value = scalar_of(x)
            if value is not None:
                offset += int(value)
            elif x.op == "neg":
                terms[x.operands[0]] -= 1
            else:
                terms[x] += 1
        return terms, _wrap(offset)

    def _sum(self, terms: Counter[Node], offset: int, like: Node) -> Node:
        parts: list[Node] = []
        low = high = offset = _wrap(offset)
        bounded = True
        constants = [term for term, count in terms.items() if is_constant(term) and count]
        if constants and (offset or len(constants) > 1 or len(constants) == len(terms)):
            array = np.full(like.shape, offset, np.int64)
            for term in constants:
                array = array + terms.pop(term) * constant_array(self.materialise(term)).astype(np.int64)
            folded = self.constant((array - INT_MIN) % 2**32 + INT_MIN, "int32")
            offset = low = high = 0
            terms[folded] += 1
        for term, count in terms.items():
            if count == 0:
                continue
            if abs(count) == 1:
                parts.append(term if count == 1 else self._minus(term))
            else:
                factor = self.broadcast(self.constant(count, "int32"), like.shape)
                parts.append(self._product([term, factor], like.shape))
            if term.bounds is None:
                bounded = False
            else:
                ends = sorted((count * term.bounds[0], count * term.bounds[1]))
                low, high = low + ends[0], high + ends[1]
        if not parts:
            return self.broadcast(self.constant(offset, "int32"), like.shape)
        if offset:
            parts.append(self.broadcast(self.constant(offset, "int32"), like.shape))
        return self._nary("add", parts, "int32", like.shape, (low, high) if bounded else None)

    def _minus(self, term: Node) -> Node:
        return self.plain("neg", term, bounds=None if term.bounds is None else (-term.bounds[1], -term.bounds[0]))

    def _balanced(self, a: Node, b: Node) -> tuple[Node, Node]:
        """Both sides of an integer equation, rearranged: the term that orders first counts positive."""
        left, offset = self._linear([a])
        right, other = self._linear([b])
        left.subtract(right)
        offset = _wrap(offset - other)
        terms = {term: count for term, count in left.items() if count}
        if not terms or any(term.op == "constant" for term in terms):
            return (self.like(offset, a), self.like(0, a)) if not terms else (a, b)
        if terms[min(terms, key=lambda term: term.digest)] < 0:
            terms = {term: -count for term, count in terms.items()}
            offset = _wrap(-offset)
        positive = Counter({term: count for term, count in terms.items() if count > 0})
        negative = Counter({term: -count for term, count in terms.items() if count < 0})
        return self._sum(positive, 0, a), self._sum(negative, -offset, a)

    def _difference(self, a: Node, b: Node, slack: int) -> tuple[Node, Node] | None:
        """The sides of ``a < b + slack`` without common terms; None where bounds do not exclude a wrap."""
        terms, offset = self._linear([b])
        left, other = self._linear([a])
        if any(term.op == "constant" or term.bounds is None for term in (*terms, *left)):
            return None
        if a.bounds is None or b.bounds is None:
            return None
        terms.subtract(left)
        offset = offset - other + slack
        spans = [
            abs(count) * max(abs(term.bounds[0]), abs(term.bounds[1])) for term, count in terms.items() if term.bounds
        ]
        if sum(spans) + abs(offset) > INT_MAX:
            return None
        positive = Counter({term: count for term, count in terms.items() if count > 0})
        negative = Counter({term: -count for term, count in terms.items() if count < 0})
        if not negative or (positive and offset < 0):
            return self._sum(negative, -offset, a), self._sum(positive, 0, a)
        return self._sum(negative, 0, a), self._sum(positive, offset, a)

    # --- n-ary nodes -------------------------------------------------------------------------------------------------

    def _flatten(self, op: str, operands: Sequence[Node]) -> list[Node]:
        width = sum(len(x.operands) if x.op == op else 1 for x in operands)
        if width > FLATTENED:
            return list(operands)
        flat: list[Node] = []
        for x in operands:
            flat.extend(x.operands if x.op == op else (x,))
        return flat

    def _nary(self, op: str, operands: list[Node], dtype: str, shape: tuple[int, ...], bounds: Bounds | None) -> Node:
        if len(operands) == 1:
            return operands[0]
        ordered = sorted(operands, key=lambda x: x.digest)
        if all(is_constant(x) for x in ordered):
            ordered = [self.materialise(x) for x in ordered]
        return self.graph.make(op, tuple(ordered), dtype, shape, bounds=bounds)
