"""Truth, choice between values, and reductions: the rest of what expressions compute with."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from engine.sharp.graph import Node
from engine.sharp.lifting import is_number
from engine.sharp.operators import Operators
from engine.sharp.refusals import Refused
from engine.sharp.values import Items, Traced, Unusable, either, kind_of

MERGE_STEPS = 3
"""Merging two items costs about as much as evaluating this many expressions."""


def start_hint(value: Any) -> str:
    """What a name starts with instead of None, so that it can become ``value``."""
    if isinstance(value, (int, float)) or (isinstance(value, Traced) and value.shape == ()):
        return "instead of None, start with a number that no value has, such as -1"
    if isinstance(value, Items) and 1 <= len(value.items) <= 4 and value.kind == "tuple":
        return f"instead of None, start with ({', '.join(['-1'] * len(value.items))}), or what no value has"
    return "give it a value on every path"


class Numeric(Operators):
    """Operations on values over one graph."""

    # --- truth -------------------------------------------------------------------------------------------------------

    def truth(self, value: Any) -> bool | Node:
        """Python's truth of a value: known, or a traced scalar of bool."""
        value = self.static(value)
        if value is None or is_number(value):
            return bool(value)
        if isinstance(value, Items):
            if value.present is not None:
                return self.truth(self.disjunction(list(value.present)))
            return bool(value.items)
        if isinstance(value, Traced):
            if value.node.size != 1:
                advice = self.rows_of(value) or "add .any() or .all(), and use & and | between arrays"
                raise Refused("shape", f"{kind_of(value)} has no single truth value", advice)
            node = self.nodes.cast(self.fill(value, 0), "bool")
            return self.nodes.reshape(node, ())
        if isinstance(value, Unusable):
            raise value.refused()
        raise Refused("type", f"{kind_of(value)} has no truth value here")

    def as_value(self, truth: bool | Node) -> Any:
        """A truth as a value."""
        return truth if isinstance(truth, bool) else Traced(truth)

    def negation(self, truth: bool | Node | Traced) -> Any:
        """Not, of a truth."""
        if isinstance(truth, bool):
            return not truth
        return Traced(self.nodes.not_(truth.node if isinstance(truth, Traced) else truth))

    def conjunction(self, truths: Sequence[bool | Node]) -> bool | Traced:
        """And, of truths."""
        if any(item is False for item in truths):
            return False
        nodes = [item for item in truths if isinstance(item, Node)]
        return Traced(self.nodes.and_(*nodes)) if nodes else True

    def disjunction(self, truths: Sequence[bool | Node]) -> bool | Traced:
        """Or, of truths."""
        if any(item is True for item in truths):
            return True
        nodes = [item for item in truths if isinstance(item, Node)]
        return Traced(self.nodes.or_(*nodes)) if nodes else False

    def node_of(self, truth: bool | Node) -> Node:
        """A truth as a node."""
        return self.nodes.constant(truth, "bool") if isinstance(truth, bool) else truth

    def known(self, value: Any, what: str) -> bool:
        """A truth that must not depend on the state."""
        truth = self.truth(value)
        if isinstance(truth, bool):
            return truth
        raise Refused("static", f"{what} must be known before the program runs", "write True or False")

    # --- choice ------------------------------------------------------------------------------------------------------

    def fixed(self, items: Items) -> list[Any]:
        """The items of a tuple whose length is known."""
        if items.present is not None:
            raise Refused(
                "shape",
                "which items this list has depends on the state",
                "use it in any, all, sum, len, min, max, in, or a for loop",
            )
        return items.items

    def where(self, test: Any, yes: Any, no: Any) -> Any:
        """``yes`` where ``test`` holds, else ``no``, element by element."""
        condition = self.lift(test)
        a, b = self.promoted(self.lift(yes), self.lift(no))
        condition = Traced(self.nodes.cast(self.fill(condition, 0), "bool"))
        (c, x, y), shape = self.together(condition, a, b)
        mask = None
        if a.mask is not None or b.mask is not None:
            whole = Traced(self.mask_of(a)), Traced(self.mask_of(b))
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
            if isinstance(value, (bool, Traced)) and (
                isinstance(value, bool) or (value.dtype, value.shape) == ("bool", ())
            ):
                merged = self.where(Traced(test), False if yes is None else yes, False if no is None else no)
                return Traced(merged.node, merged.mask, optional=True)
            return Unusable(either(None, value), start_hint(value), returned="return a value on every path")
        numeric = (Traced, bool, int, float)
        if isinstance(yes, numeric) and isinstance(no, numeric):
            a, b = self.lift(yes), self.lift(no)
            if a.optional or b.optional:
                merged = self.where(Traced(test), a, b)
                return Traced(merged.node, merged.mask, optional=True)
            if a.shape != b.shape:
                reason = f"this has shape {list(a.shape)} or {list(b.shape)}, depending on the state"
                return Unusable(reason, "make it one shape on both paths, such as with .any() or an index", "shape")
            return self.where(Traced(test), a, b)
        if isinstance(yes, Items) and isinstance(no, Items) and len(yes.items) == len(no.items):
            if yes.present is None and no.present is None and yes.kind == no.kind:
                self.meter.hold(yes.total)
                self.meter.step(MERGE_STEPS * len(yes.items))
                merged = [self.merge(test, x, y) for x, y in zip(yes.items, no.items, strict=True)]
                return Items(merged, yes.kind, frame=-1)
        if type(yes) is type(no) and yes == no:
            return yes
        if (isinstance(yes, Items) and isinstance(no, numeric)) or (isinstance(no, Items) and isinstance(yes, numeric)):
            a, b = self.lift(yes), self.lift(no)
            if a.shape == b.shape:
                return self.where(Traced(test), a, b)
        return Unusable(either(yes, no), "use values of one kind on both paths")

    # --- reductions --------------------------------------------------------------------------------------------------

    def axes(self, x: Traced, axis: Any) -> tuple[int, ...]:
        """``axis`` as given to a reduction, as non-negative positions."""
        rank = len(x.shape)
        if axis is None:
            return tuple(range(rank))
        given = [self.whole(item, "an axis") for item in (axis.items if isinstance(axis, Items) else [axis])]
        if isinstance(axis, bool) or (isinstance(axis, Items) and any(isinstance(item, bool) for item in axis.items)):
            raise Refused("type", "an axis is a number", "write axis=0 or axis=1")
        for item in given:
            if not -rank <= item < rank:
                raise Refused("shape", f"axis {item} does not exist in shape {list(x.shape)}")
        found = tuple(sorted({item % rank for item in given}))
        if len(found) < len(given):
            raise Refused("shape", "an axis is named twice")
        return found

    def one_axis(self, x: Traced, axis: Any) -> int:
        """An axis where exactly one is meant."""
        return self.axes(x, self.whole(axis, "an axis"))[0]

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
        if self.known(keepdims, "keepdims"):
            result = self.nodes.reshape(
                result, tuple(1 if place in axes else size for place, size in enumerate(x.shape))
            )
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
        place = self.one_axis(x, axis)
        return Traced(self.nodes.locate(op, node, place))

    def member(self, value: Any, items: list[Any], present: list[Node] | None = None) -> Any:
        """``value in items``: an or of equalities."""
        tests: list[bool | Node] = []
        for index, item in enumerate(items):
            self.meter.step()
            test = self.truth(self.binary("==", value, item))
            if present is not None:
                both = self.conjunction([test, present[index]])
                test = both if isinstance(both, bool) else both.node
            tests.append(test)
        return self.disjunction(tests)
