"""Expressions: abstract interpretation of Python over known and traced values."""

from __future__ import annotations

import ast
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from engine.sharp.callables.functions import available
from engine.sharp.callables.instead import PARAMETERS, instead_of_name
from engine.sharp.comparisons import Comparisons
from engine.sharp.grammar import OPERATORS
from engine.sharp.graph import Node
from engine.sharp.hints import callable_hint, cell_hint, listed, method_hint
from engine.sharp.indexing import SliceValue, picks_rows
from engine.sharp.refusals import Missing, Refused, did_you_mean
from engine.sharp.scope import MODULES, Env
from engine.sharp.values import (
    BoundMethod,
    EnumValue,
    FunctionValue,
    Indexer,
    Items,
    LocalFunction,
    Member,
    SelfValue,
    StateValue,
    Traced,
    Unusable,
    kind_of,
)
from engine.worlds.schema import Constant


def _is_least(node: ast.expr) -> bool:
    """Whether a written number is one beyond the largest integer: with a minus before it, it is the least."""
    return isinstance(node, ast.Constant) and type(node.value) is int and node.value == 2**31


class Expressions(Comparisons):
    """Evaluates expressions in an environment. One instance compiles one program."""

    calls: list[ast.FunctionDef]

    def assign(self, target: ast.expr, value: Any, env: Env) -> None:
        """Bind a target."""
        raise NotImplementedError

    def arm(self, node: ast.If | ast.IfExp, test: Node, holds: bool, env: Env) -> AbstractContextManager[None]:
        """Around what is evaluated for the lanes in which a traced test holds, or does not."""
        return nullcontext()

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
            raise value.refused()
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
        instead = instead_of_name(name)
        if name in PARAMETERS:
            hint = instead if self.calls else "a constant cannot depend on the state: compute it in a method"
            raise Refused("name", f"there is no name {name}", hint)
        if instead is not None:
            raise Refused("name", f"{name} is not in scope", instead)
        known = {*self.scope, *self._local_names(env)}
        raise Missing("name", name, f"there is no name {name}", did_you_mean(name, known))

    def _local_names(self, env: Env) -> dict[str, Any]:
        names: dict[str, Any] = {}
        scope: Env | None = env
        while scope is not None:
            names = {**scope.names, **names}
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
        with self.sides(node.left, node.right):
            return self.numeric.binary(OPERATORS[type(node.op)], left, right)

    def _unaryop(self, node: ast.UnaryOp, env: Env) -> Any:
        if isinstance(node.op, ast.USub) and _is_least(node.operand):
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
            merged = self.numeric.merge(truth, other, value) if conjunction else self.numeric.merge(truth, value, other)
            if isinstance(merged, Unusable) and isinstance(other, Traced) and other.shape != ():
                advice = self.numeric.rows_of(other) or "add .any() or .all() to the array"
                raise Refused("shape", f"{kind_of(other)} has no single truth value", advice)
            value = self.readable(merged)
        return value

    def _ifexp(self, node: ast.IfExp, env: Env) -> Any:
        truth = self.numeric.truth(self.expression(node.test, env))
        if isinstance(truth, bool):
            return self.expression(node.body if truth else node.orelse, env)
        with self.arm(node, truth, True, env):
            yes = self.expression(node.body, env)
        with self.arm(node, truth, False, env):
            no = self.expression(node.orelse, env)
        return self.readable(self.numeric.merge(truth, yes, no))

    # --- subscripts --------------------------------------------------------------------------------------------------

    def _subscript(self, node: ast.Subscript, env: Env) -> Any:
        value = self.expression(node.value, env)
        if isinstance(value, EnumValue) and isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
            return self._member(value, node.slice.value)
        if isinstance(value, StateValue) and isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
            key = node.slice.value
            hint = f"write {'.'.join((value.which, *value.path, key))}" if key in value.group.members else None
            raise Refused("type", f"{kind_of(value)} has no elements", hint or self._field_hint(value, key))
        if isinstance(value, Indexer):
            raise Refused("grammar", "arrays do not change", "use jnp.where(test, new, old)")
        if isinstance(value, Items) and value.kind == "set":
            raise Refused("type", "a set has no order", "use a tuple")
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        evaluated = [self._index(part, env) for part in parts]
        index = Items(evaluated) if isinstance(node.slice, ast.Tuple) else evaluated[0]
        picked = self.indexing.subscript(value, index)
        if (place := picks_rows(value, index)) is not None:
            self._note_rows(node, place, len(value.shape), picked)
        return picked

    def _note_rows(self, node: ast.Subscript, place: int, rank: int, picked: Traced) -> None:
        """Remember, and warn, that a position has picked rows where a cell was meant."""
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if place >= len(parts):
            return  # a tuple that was made elsewhere
        count = rank - len(parts) + 1
        advice = cell_hint(node.value, node.slice, parts[place], count)
        many = {2: "two", 3: "three"}.get(count, str(count))
        advice = f"{many} numbers index {many} rows, not one cell: {advice}"
        self.numeric.rows[picked.node.digest] = advice
        if self.edition.has(2):
            self.warn(advice)

    def _index(self, node: ast.expr, env: Env) -> Any:
        if isinstance(node, ast.Constant) and node.value is Ellipsis:
            return self.indexing.ellipsis
        return self.expression(node, env)

    def _slice(self, node: ast.Slice, env: Env) -> Any:
        bounds = [None if part is None else self.expression(part, env) for part in (node.lower, node.upper, node.step)]
        return SliceValue(*bounds)

    def _attribute(self, node: ast.Attribute, env: Env) -> Any:
        try:
            value = self.expression(node.value, env)
        except Missing as missing:
            if isinstance(node.value, ast.Attribute) and missing.name == node.value.attr:
                raise self.field_of_another_group(missing, node.attr) from None
            raise
        return self.attribute(value, node.attr)

    def _called(self, node: ast.Call, env: Env) -> Any:
        """What is called; the refusal of what does not exist tells what could be."""
        try:
            return self.expression(node.func, env)
        except Missing as missing:
            if isinstance(node.func, ast.Name) and missing.kind == "name":
                missing.suggestion = self._callable_hint(missing.name, env)
            elif isinstance(node.func, ast.Attribute) and missing.name == node.func.attr:
                owner = missing.owner
                if isinstance(owner, Items) or (isinstance(owner, Traced) and owner.shape != ()):
                    missing.suggestion = method_hint(node, isinstance(owner, Items)) or missing.suggestion
            raise

    def _callable_hint(self, name: str, env: Env) -> str:
        if name in available(MODULES["jnp"][0], self.edition):
            return f"write jnp.{name}"
        functions = {
            known
            for known, value in {**self.scope, **self._local_names(env)}.items()
            if isinstance(value, (FunctionValue, LocalFunction))
        }
        methods = [method for method in self.methods if self.form.method is None or method != self.form.method.name]
        return callable_hint(name, functions, methods, list(self.schema.helpers))

    def _call(self, node: ast.Call, env: Env) -> Any:
        function = self._called(node, env)
        if isinstance(function, BoundMethod) and function.name in ("append", "extend"):
            raise Refused("grammar", f"{function.name} stands on a line of its own")
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
            raise Refused("type", f"{kind_of(value)} cannot be looped over", "loop over a fixed range and test inside")
        if isinstance(value, StateValue):
            advice = f"name its fields: ({listed(value.members, 2)})"
            raise Refused("type", f"{kind_of(value)} cannot be looped over", advice)
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
