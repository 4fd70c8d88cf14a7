"""Expressions: abstract interpretation of Python over known and traced values."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from engine.sharp.access import Access
from engine.sharp.functions import INSTEAD
from engine.sharp.grammar import OPERATORS
from engine.sharp.graph import Node
from engine.sharp.indexing import SliceValue
from engine.sharp.refusals import Refused, did_you_mean
from engine.sharp.scope import Env
from engine.sharp.values import (
    BoundMethod,
    EnumValue,
    Indexer,
    Items,
    Member,
    ModuleValue,
    SelfValue,
    Traced,
    Unusable,
    kind_of,
)
from engine.worlds.schema import Constant


class Expressions(Access):
    """Evaluates expressions in an environment. One instance compiles one program."""

    def assign(self, target: ast.expr, value: Any, env: Env) -> None:
        """Bind a target."""
        raise NotImplementedError

    # --- dispatch ----------------------------------------------------------------------------------------------------

    def expression(self, node: ast.expr, env: Env) -> Any:
        """The value of an expression; refusals get its place."""
        line, self.meter.line = self.meter.line, node.lineno
        self.nesting += 1
        try:
            self.meter.step()
            if self.nesting > self.meter.limits.nesting:
                raise Refused(
                    "budget", f"over the budget of {self.meter.limits.nesting} nested evaluations, helpers included"
                )
            handler = getattr(self, f"_{type(node).__name__.lower()}")
            return self.readable(handler(node, env))
        except Refused as refused:
            raise refused.placed(node.lineno, node.col_offset + 1) from None
        finally:
            self.nesting -= 1
            self.meter.line = line

    def readable(self, value: Any) -> Any:
        """A value that can be used, or the reason why not."""
        if isinstance(value, Unusable):
            raise Refused("name", value.reason, value.suggestion)
        return value

    # --- leaves ------------------------------------------------------------------------------------------------------

    def _constant(self, node: ast.Constant, env: Env) -> Any:
        value = node.value
        if value is Ellipsis:
            raise Refused("grammar", "... is not a value here")
        if isinstance(value, (bool, int, float, str)) or value is None:
            return value
        raise Refused("grammar", f"a {type(value).__name__} is not part of the language")

    def _name(self, node: ast.Name, env: Env) -> Any:
        name = node.id
        scope: Env | None = env
        while scope is not None:
            if name in scope.names:
                return scope.names[name]
            if name in scope.assigned:
                return Unusable(f"{name} may have no value here", f"assign {name} before this on every path")
            scope = scope.parent
        if name == self.class_name:
            return SelfValue()
        if name in self.scope:
            value = self.scope[name]
            return self._world_constant(value) if isinstance(value, Constant) else value
        if name in self.methods or name in self.class_values:
            raise Refused("name", f"{name} belongs to the class", f"write self.{name}")
        if name in INSTEAD:
            raise Refused("name", f"{name} is not in scope", INSTEAD[name])
        known = {*self.scope, *self._local_names(env)}
        raise Refused("name", f"there is no name {name}", did_you_mean(name, known))

    def _local_names(self, env: Env) -> set[str]:
        names: set[str] = set()
        scope: Env | None = env
        while scope is not None:
            names.update(scope.names)
            scope = scope.parent
        return names

    def _world_constant(self, constant: Constant) -> Any:
        value = Traced(self.nodes.constant(np.array(constant.values), constant.dtype))
        return value if constant.shape else self.numeric.static(value)

    def _tuple(self, node: ast.Tuple, env: Env) -> Any:
        return Items([self.expression(item, env) for item in node.elts])

    def _list(self, node: ast.List, env: Env) -> Any:
        return self.new_list([self.expression(item, env) for item in node.elts], None, env)

    def _set(self, node: ast.Set, env: Env) -> Any:
        return Items([self.expression(item, env) for item in node.elts], "set")

    def new_list(self, items: list[Any], present: list[Node] | None, env: Env | None = None) -> Items:
        """A list that can grow where it was made."""
        place = self.env if env is None else env
        return Items(items, "list", present, place.control, place.frame)

    def whole_axis(self) -> SliceValue:
        """The slice ``:``."""
        return SliceValue(None, None, None)

    def _lambda(self, node: ast.Lambda, env: Env) -> Any:
        raise Refused(
            "grammar",
            "a lambda can only stand as a condition in requires",
            "define a helper method, or use a comprehension",
        )

    # --- operators ---------------------------------------------------------------------------------------------------

    def _binop(self, node: ast.BinOp, env: Env) -> Any:
        left, right = self.expression(node.left, env), self.expression(node.right, env)
        return self.numeric.binary(OPERATORS[type(node.op)], left, right)

    def _unaryop(self, node: ast.UnaryOp, env: Env) -> Any:
        if isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant) and node.operand.value == 2**31:
            return -(2**31)
        return self.numeric.unary(OPERATORS[type(node.op)], self.expression(node.operand, env))

    def _boolop(self, node: ast.BoolOp, env: Env) -> Any:
        conjunction = isinstance(node.op, ast.And)
        value = self.expression(node.values[0], env)
        for item in node.values[1:]:
            truth = self.numeric.truth(value)
            if isinstance(truth, bool):
                if truth is not conjunction:
                    return value
                value = self.expression(item, env)
                continue
            other = self.expression(item, env)
            value = self.readable(
                self.numeric.merge(truth, other, value) if conjunction else self.numeric.merge(truth, value, other)
            )
        return value

    def _compare(self, node: ast.Compare, env: Env) -> Any:
        left = self.expression(node.left, env)
        results: list[Any] = []
        for op, comparator in zip(node.ops, node.comparators, strict=True):
            right = self.expression(comparator, env)
            result = self._comparison(OPERATORS[type(op)], left, right)
            if len(node.ops) == 1:
                return result
            truth = self.numeric.truth(result)
            if truth is False:
                return False
            results.append(truth)
            left = right
        return self.numeric.conjunction(results)

    def _comparison(self, op: str, left: Any, right: Any) -> Any:
        if op in ("is", "is not"):
            if left is not None and right is not None:
                raise Refused("grammar", f"{op} compares with None only", "use == or !=")
            return (left is right) is (op == "is")
        if op in ("in", "not in"):
            return self._membership(op, left, right)
        for value in (left, right):
            if isinstance(value, str):
                raise Refused("type", "strings are not part of the language", "compare with an enum member or a number")
            if isinstance(value, (EnumValue, SelfValue, ModuleValue)):
                raise Refused("type", f"{kind_of(value)} cannot be compared", "name a member of it")
        if (isinstance(left, Items) and left.kind == "set") or (isinstance(right, Items) and right.kind == "set"):
            raise Refused("type", "a set can only stand after in", "use a tuple")
        if isinstance(left, Items) and isinstance(right, Items) and op not in ("==", "!="):
            raise Refused("type", f"{op} does not work on tuples", "compare the items")
        return self.numeric.binary(op, left, right)

    def _membership(self, op: str, left: Any, right: Any) -> Any:
        if isinstance(right, EnumValue):
            right = self.elements(right)
        if isinstance(right, Items):
            found = self.numeric.member(left, right.items, right.present)
        else:
            equal = self.numeric.traced("==", self.numeric.lift(right, "a tuple or an array"), self.numeric.lift(left))
            found = self.numeric.reduce("any", equal)
        return found if op == "in" else self.numeric.negation(self.numeric.truth(found))

    def _ifexp(self, node: ast.IfExp, env: Env) -> Any:
        truth = self.numeric.truth(self.expression(node.test, env))
        if isinstance(truth, bool):
            return self.expression(node.body if truth else node.orelse, env)
        return self.readable(
            self.numeric.merge(truth, self.expression(node.body, env), self.expression(node.orelse, env))
        )

    # --- subscripts --------------------------------------------------------------------------------------------------

    def _subscript(self, node: ast.Subscript, env: Env) -> Any:
        value = self.expression(node.value, env)
        if isinstance(value, EnumValue) and isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
            return self._member(value, node.slice.value)
        if isinstance(value, Indexer):
            raise Refused("grammar", "arrays do not change", INSTEAD["at"])
        if isinstance(value, Items) and value.kind == "set":
            raise Refused("type", "a set has no order", "use a tuple")
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        evaluated = [self._index(part, env) for part in parts]
        index = Items(evaluated) if isinstance(node.slice, ast.Tuple) else evaluated[0]
        return self.indexing.subscript(value, index)

    def _index(self, node: ast.expr, env: Env) -> Any:
        if isinstance(node, ast.Constant) and node.value is Ellipsis:
            return self.indexing.ellipsis
        return self.expression(node, env)

    def _slice(self, node: ast.Slice, env: Env) -> Any:
        bounds = [None if part is None else self.expression(part, env) for part in (node.lower, node.upper, node.step)]
        return SliceValue(*bounds)

    def _attribute(self, node: ast.Attribute, env: Env) -> Any:
        return self.attribute(self.expression(node.value, env), node.attr)

    def _call(self, node: ast.Call, env: Env) -> Any:
        function = self.expression(node.func, env)
        if isinstance(function, BoundMethod) and function.name == "append":
            raise Refused("grammar", "append stands on a line of its own")
        arguments = [self.expression(item, env) for item in node.args]
        keywords = {str(item.arg): self.expression(item.value, env) for item in node.keywords}
        if len(keywords) < len(node.keywords):
            raise Refused("call", "an argument is given twice")
        self.env = env
        return self.call(function, arguments, keywords, env)

    # --- iteration ---------------------------------------------------------------------------------------------------

    def elements(self, value: Any) -> Items:
        """What a loop over ``value`` sees, item by item; the count is static."""
        if isinstance(value, Items):
            if value.kind == "set":
                raise Refused("type", "a set has no order", "use a tuple")
            return value
        if isinstance(value, EnumValue):
            return Items([Member(number, f"{value.name}.{name}") for name, number in value.enumeration.members.items()])
        if isinstance(value, Traced) and value.shape:
            self.meter.hold(value.shape[0])
            self.meter.step(value.shape[0])
            return Items([self.indexing.subscript(value, index) for index in range(value.shape[0])])
        if isinstance(value, Traced):
            raise Refused("type", "a traced scalar cannot be looped over", "loop over a fixed range and test inside")
        raise Refused(
            "type", f"{kind_of(value)} cannot be looped over", "loop over a range, a tuple, an array or an enum"
        )

    def _listcomp(self, node: ast.ListComp, env: Env) -> Any:
        items = self._comprehension(node.elt, node.generators, env)
        return self.new_list(items.items, items.present, env)

    def _generatorexp(self, node: ast.GeneratorExp, env: Env) -> Any:
        return self._comprehension(node.elt, node.generators, env)

    def _comprehension(self, element: ast.expr, generators: list[ast.comprehension], env: Env) -> Items:
        values: list[Any] = []
        present: list[bool | Node] = []
        local = Env(parent=env, frame=env.frame, control=env.control, comprehension=True)
        self._generate(element, generators, local, True, values, present)
        if all(item is True for item in present):
            return Items(values)
        return Items(values, "tuple", [self.numeric.node_of(item) for item in present])

    def _generate(
        self,
        element: ast.expr,
        generators: list[ast.comprehension],
        env: Env,
        reached: bool | Node,
        values: list[Any],
        present: list[bool | Node],
    ) -> None:
        if not generators:
            values.append(self.expression(element, env))
            present.append(reached)
            self.meter.fit(len(values))
            return
        first, *rest = generators
        items = self.elements(self.expression(first.iter, env))
        self.meter.iterate(len(items.items))
        for index, item in enumerate(items.items):
            here = reached
            if items.present is not None:
                here = self.numeric.truth(self.numeric.conjunction([here, items.present[index]]))
            self.assign(first.target, item, env)
            for test in first.ifs:
                if here is False:
                    break
                here = self.numeric.truth(
                    self.numeric.conjunction([here, self.numeric.truth(self.expression(test, env))])
                )
            if here is not False:
                self._generate(element, rest, env, here, values, present)
