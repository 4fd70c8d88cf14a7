"""Choosing between names: a name that depends on the state is kept as the condition of each name.

Conditions are kept in negation normal form, and a name that was returned before counts first. So the same decisions
written as ``elif``, as early returns, as nested branches or with a local variable get the same conditions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from engine.sharp.graph import Node
from engine.sharp.indexing import Indexing
from engine.sharp.limits import Meter
from engine.sharp.numeric import Numeric
from engine.sharp.refusals import Refused
from engine.sharp.shaping import Shaping
from engine.sharp.values import Choice, Items, Named, Traced

Condition = bool | Node

ADVICE = "a name can be kept, put into tuples, chosen by if / else or by an index, and returned; it is no number"


PARTS_PER_STEP = 16
"""Comparing this many conditions costs about as much as evaluating an expression."""


def is_name(value: Any) -> bool:
    """Whether a value is the name of a skill, known or chosen."""
    return isinstance(value, (Named, Choice))


def holds_names(value: Any) -> bool:
    """Whether a value is a name, or a tuple that has one somewhere."""
    if isinstance(value, Items):
        return any(holds_names(item) for item in value.items)
    return is_name(value)


class Choosing(Numeric):
    """Operations on values, some of which are names."""

    def __init__(self, shaping: Shaping, meter: Meter) -> None:
        super().__init__(shaping, meter)
        self._normal: dict[tuple[bytes, bool], Node] = {}

    def lift(self, value: Any, what: str = "a number or an array") -> Traced:
        """As for other values; a name is no number."""
        if is_name(value):
            raise Refused("type", f"{what} is needed, not the name of a skill", ADVICE)
        return super().lift(value, what)

    def merge(self, test: Node, yes: Any, no: Any) -> Any:
        """As for other values; of two names the one that ``test`` says."""
        if is_name(yes) and is_name(no) and yes is not no:
            return self.choose(test, yes, no)
        return super().merge(test, yes, no)

    # --- names -------------------------------------------------------------------------------------------------------

    def choose(self, test: Node, yes: Named | Choice, no: Named | Choice) -> Named | Choice:
        """``yes`` where ``test`` holds, else ``no``."""
        a, b = conditions(yes), conditions(no)
        holds = self.normal(test)
        return self._choice(a, b, lambda x, y: self._either(holds, x, y))

    def or_else(self, first: Named | Choice, then: Named | Choice) -> Named | Choice:
        """``first`` where it names anything, else ``then``."""
        a, b = conditions(first), conditions(then)
        none = self._opposite(self._any(*a.values()))
        return self._choice(a, b, lambda x, y: self._any(x, self._all(none, y)))

    def only(self, test: Node, name: Named | Choice) -> Named | Choice:
        """``name`` where ``test`` holds, else nothing."""
        holds = self.normal(test)
        return self._choice(conditions(name), {}, lambda x, _: self._all(holds, x))

    def always(self, name: Named | Choice) -> bool:
        """Whether it is plain that some name is chosen in every state."""
        return self._any(*conditions(name).values()) is True

    def _choice(
        self,
        a: Mapping[Named, Condition],
        b: Mapping[Named, Condition],
        combine: Callable[[Condition, Condition], Condition],
    ) -> Named | Choice:
        when: dict[Named, Node] = {}
        for name in {**a, **b}:
            self.meter.step()
            condition = combine(a.get(name, False), b.get(name, False))
            if condition is True:
                return name
            if isinstance(condition, Node):
                when[name] = condition
        return Choice(when)

    # --- conditions in normal form -----------------------------------------------------------------------------------

    def normal(self, root: Node, negated: bool = False) -> Node:
        """A boolean scalar, or its negation, with every ``not`` moved down to the tests."""
        known = self._normal.get((root.digest, negated))
        if known is not None:
            return known
        stack = [(root, negated)]
        while stack:
            node, inverse = stack[-1]
            if (node.digest, inverse) in self._normal:
                stack.pop()
                continue
            inner = not inverse if node.op == "not" else inverse
            wanted = [(operand, inner) for operand in node.operands if node.op in ("not", "and", "or")]
            missing = [item for item in wanted if (item[0].digest, item[1]) not in self._normal]
            if missing:
                stack.extend(missing)
                continue
            parts = [self._normal[operand.digest, inner] for operand, inner in wanted]
            self._normal[node.digest, inverse] = self._rebuilt(node, inverse, parts)
            stack.pop()
        return self._normal[root.digest, negated]

    def _rebuilt(self, node: Node, inverse: bool, parts: list[Node]) -> Node:
        if node.op == "not":
            return parts[0]
        if parts:
            return self._joined("or" if (node.op == "or") is not inverse else "and", parts)
        return self.nodes.not_(node) if inverse else node

    def _joined(self, op: str, parts: Sequence[Node]) -> Node:
        """``and`` or ``or`` of conditions in normal form; each is left without what the others decide."""
        dual = "or" if op == "and" else "and"
        join, inner = (self.nodes.and_, self.nodes.or_) if op == "and" else (self.nodes.or_, self.nodes.and_)
        flat = [each for part in parts for each in (part.operands if part.op == op else (part,))]
        self.meter.step(len(flat) // PARTS_PER_STEP)
        known = {each.digest for each in flat}
        kept: list[Node] = []
        for each in flat:
            if each.op == dual:
                self.meter.step(len(each.operands) // PARTS_PER_STEP)
                if any(part.digest in known for part in each.operands):
                    continue
                left = [part for part in each.operands if self.normal(part, True).digest not in known]
                if not left:
                    return self.nodes.constant(op == "or", "bool")
                if len(left) < len(each.operands):
                    each = inner(*left)
            kept.append(each)
        remaining = {each.digest for each in kept}
        if any(self.normal(each, True).digest in remaining for each in kept):
            return self.nodes.constant(op == "or", "bool")
        return join(*kept)

    def _opposite(self, condition: Condition) -> Condition:
        return not condition if isinstance(condition, bool) else self.normal(condition, True)

    def _either(self, test: Node, yes: Condition, no: Condition) -> Condition:
        """Whether ``yes`` holds where ``test`` does, and ``no`` elsewhere."""
        if yes == no:
            return yes
        if isinstance(yes, Node) and isinstance(no, Node):
            return self.truth(Traced(self.nodes.select(test, yes, no)))
        other = self.normal(test, True)
        if isinstance(yes, bool):
            return self._any(test, no) if yes else self._all(other, no)
        return self._any(other, yes) if no else self._all(test, yes)

    def _any(self, *items: Condition) -> Condition:
        if any(item is True for item in items):
            return True
        nodes = [item for item in items if isinstance(item, Node)]
        return self.truth(Traced(self._joined("or", nodes))) if nodes else False

    def _all(self, *items: Condition) -> Condition:
        if any(item is False for item in items):
            return False
        nodes = [item for item in items if isinstance(item, Node)]
        return self.truth(Traced(self._joined("and", nodes))) if nodes else True


def conditions(name: Named | Choice) -> Mapping[Named, Condition]:
    """When a name is which."""
    return name.when if isinstance(name, Choice) else {name: True}


class ChoosingIndex(Indexing):
    """Subscripts, also of tuples of names at a place that depends on the state."""

    def subscript(self, value: Any, index: Any) -> Any:
        """``value[index]``."""
        place = self.numeric.static(index)
        if isinstance(value, Items) and isinstance(place, Traced) and place.shape == ():
            self.numeric.meter.hold(value.total)
            if holds_names(value):
                return self._chosen(self.numeric.fixed(value), place)
        return super().subscript(value, index)

    def _chosen(self, items: list[Any], index: Traced) -> Any:
        """The item at a traced position; as everywhere, one out of range is clamped, with a warning."""
        if index.dtype == "bool":
            index = self.numeric.convert(index, "int32")
        place = self._position(index, len(items))
        assert isinstance(place, Node)
        chosen = items[-1]
        for number in range(len(items) - 2, -1, -1):
            self.numeric.meter.step()
            test = self.nodes.eq(place, self.nodes.constant(number, "int32"))
            chosen = self.numeric.merge(test, items[number], chosen)
        return chosen
