"""Comparisons: of known and traced values, with membership, and with what can be told of them before a program runs."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any, ClassVar

from engine.sharp.access import Access
from engine.sharp.forms import SHARP, Form
from engine.sharp.grammar import OPERATORS
from engine.sharp.hints import shown, sides_hint
from engine.sharp.operators import PYTHON
from engine.sharp.refusals import Mismatch, Refused
from engine.sharp.scope import Env, field_paths
from engine.sharp.values import EnumValue, Items, ModuleValue, SelfValue, Traced, kind_of

MIRRORED = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
"""Comparisons, and the same with their sides exchanged."""


class Comparisons(Access):
    """Comparisons of evaluated expressions."""

    form: ClassVar[Form]

    def expression(self, node: ast.expr, env: Env) -> Any:
        """The value of an expression."""
        raise NotImplementedError

    def elements(self, value: Any) -> Items:
        """What a loop over ``value`` sees."""
        raise NotImplementedError

    def warn(self, text: str) -> None:
        """A warning that the judge sees."""
        raise NotImplementedError

    @contextmanager
    def sides(self, left: ast.expr, right: ast.expr) -> Iterator[None]:
        """Around an operation on two expressions: if their shapes differ, the refusal says which is which."""
        try:
            yield
        except Mismatch as mismatch:
            mismatch.suggestion = sides_hint(mismatch, left, right)
            raise

    def _compare(self, node: ast.Compare, env: Env) -> Any:
        left = self.expression(node.left, env)
        results: list[Any] = []
        sides = [node.left, *node.comparators]
        for op, (before, comparator) in zip(node.ops, pairwise(sides), strict=True):
            right = self.expression(comparator, env)
            with self.sides(before, comparator):
                result = self._comparison(OPERATORS[type(op)], left, right)
            self._foresee(node, OPERATORS[type(op)], (before, left), (comparator, right))
            if len(node.ops) == 1:
                return result
            truth = self.numeric.truth(result)
            if truth is False:
                return False
            results.append(truth)
            left = right
        return self.numeric.conjunction(results)

    def _foresee(self, node: ast.Compare, op: str, left: tuple[ast.expr, Any], right: tuple[ast.expr, Any]) -> None:
        """Warn of a field compared with a written number, if its declared bounds tell the result.

        A part of a chain that always holds is no news: ``0 <= x < n`` is how a range is written. Policies are told of
        sides of a test that no sampled state takes, instead.
        """
        if not self.edition.has(2) or self.form is not SHARP or op not in MIRRORED:
            return
        for (field, value), (written, known), sign in ((left, right, op), (right, left, MIRRORED[op])):
            number = self.numeric.static(known)
            if not (isinstance(value, Traced) and value.node.op == "input" and isinstance(number, (int, float))):
                continue
            if value.dtype != "int32" or value.node.bounds is None or not self._is_written(written):
                continue
            low, high = value.node.bounds
            ends = {PYTHON[sign](low, number), PYTHON[sign](high, number)}
            inside = sign in ("==", "!=") and low <= number <= high
            if len(ends) == 1 and not inside and (len(node.ops) == 1 or ends == {False}):
                how = "always" if True in ends else "never"
                self.warn(f"{shown(field) or 'a field'} is {low} to {high}: {shown(node) or 'this'} is {how} true")

    def _is_written(self, node: ast.expr) -> bool:
        """Whether a number stands in the text: as itself, as a member of an enum, or as a constant."""
        while isinstance(node, (ast.Attribute, ast.UnaryOp)):
            node = node.value if isinstance(node, ast.Attribute) else node.operand
        return isinstance(node, ast.Constant) or (
            isinstance(node, ast.Name) and (node.id in self.scope or node.id in ("self", self.class_name))
        )

    def _comparison(self, op: str, left: Any, right: Any) -> Any:
        told = any(isinstance(side, Traced) and side.optional for side in (left, right))
        if told and op not in ("<", "<=", ">", ">="):
            reason = "on some paths this is None, which counts as False here and equals nothing"
            raise Refused("type", reason, "start with False instead of None, and use not")
        if op in ("is", "is not"):
            if left is not None and right is not None:
                raise Refused("grammar", f"{op} compares with None only", "use == or !=")
            return (left is right) is (op == "is")
        if op in ("in", "not in"):
            return self._membership(op, left, right)
        for value, other in ((left, right), (right, left)):
            if isinstance(value, str):
                raise self._text(value, other)
            if isinstance(value, (EnumValue, SelfValue, ModuleValue)):
                raise Refused("type", f"{kind_of(value)} cannot be compared", "name a member of it")
        if (isinstance(left, Items) and left.kind == "set") or (isinstance(right, Items) and right.kind == "set"):
            raise Refused("type", "a set can only stand after in", "use a tuple")
        if isinstance(left, Items) and isinstance(right, Items) and op not in ("==", "!="):
            raise Refused("type", f"{op} does not work on tuples", "compare the items")
        return self.numeric.binary(op, left, right)

    def _text(self, text: str, other: Any) -> Refused:
        """The refusal of a string that is compared with a value."""
        hint = "compare with an enum member or a number"
        member = text.rpartition(".")[2].upper()
        found = [name for name, each in self.schema.enums.items() if member in each.members]
        if found:
            unit = self._unit(other)
            hint = f"did you mean {unit if unit in found else found[0]}.{member}?"
        return Refused("type", "strings are not part of the language", hint)

    def _unit(self, value: Any) -> str | None:
        """The unit of a field."""
        if not isinstance(value, Traced) or value.node.op != "input":
            return None
        field = field_paths(self.schema.state).get(tuple(str(item) for item in value.node.attributes[1:]))
        return None if field is None else field.unit

    def _membership(self, op: str, left: Any, right: Any) -> Any:
        if isinstance(right, EnumValue):
            right = self.elements(right)
        if isinstance(right, Items):
            try:
                found = self.numeric.member(left, right.items, right.present)
            except Refused as refused:
                texts = [item for item in (left, *right.items) if isinstance(item, str)]
                if texts and refused.kind == "type":
                    raise self._text(texts[0], left) from None
                raise
        else:
            array = self.numeric.lift(right, "a tuple or an array")
            if not array.shape:
                raise Refused("type", f"{kind_of(right)} has no elements to look among", "use == to compare")
            equal = self.numeric.traced("==", array, self.numeric.lift(left))
            found = self.numeric.reduce("any", equal)
        return found if op == "in" else self.numeric.negation(self.numeric.truth(found))
