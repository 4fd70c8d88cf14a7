"""Statements: control flow on traced tests becomes selects between the states that its branches leave behind."""

from __future__ import annotations

import ast
from typing import Any

from engine.sharp.expressions import Expressions
from engine.sharp.grammar import OPERATORS
from engine.sharp.graph import Node
from engine.sharp.refusals import Refused
from engine.sharp.scope import UNSET, Env
from engine.sharp.values import BoundMethod, Items, LocalFunction, Traced, Unusable, kind_of


def ends_with(body: list[ast.stmt], node: ast.stmt) -> bool:
    """Whether a block ends with a statement on one of its paths."""
    last = body[-1] if body else None
    return last is node or (isinstance(last, ast.If) and (ends_with(last.body, node) or ends_with(last.orelse, node)))


NAMES_PER_STEP = 8
"""A branch copies and merges the local names; so many cost as much as an expression."""


class Statements(Expressions):
    """Executes blocks of statements in an environment."""

    guarded: frozenset[str]

    # --- blocks ------------------------------------------------------------------------------------------------------

    def block(self, statements: list[ast.stmt], env: Env) -> None:
        """Run statements. Lanes that broke out or continued keep what they had, lanes that returned their result."""
        suspended: list[tuple[Node, Env]] = []
        control = env.control
        for statement in statements:
            if env.stopped:
                break
            skip = self.numeric.truth(self.numeric.disjunction([env.broken, env.continued]))
            if isinstance(skip, Node):
                self.meter.step(len(env.names) // NAMES_PER_STEP)
                suspended.append((skip, env.fork(skip.digest)))
                env.broken = env.continued = False
                env.control = (*env.control, skip.digest)
            self.statement(statement, env)
        for skip, before in reversed(suspended):
            env.become(self.merged(skip, before, env))
        env.control = control

    def statement(self, node: ast.stmt, env: Env) -> None:
        """Run one statement; refusals get its place."""
        line, self.meter.line = self.meter.line, node.lineno
        self.nesting += 1
        self.env = env
        try:
            self.meter.step()
            if self.nesting > self.meter.limits.nesting:
                raise Refused(
                    "budget", f"over the budget of {self.meter.limits.nesting} nested evaluations, helpers included"
                )
            getattr(self, f"_{type(node).__name__.lower()}")(node, env)
        except Refused as refused:
            raise refused.placed(node.lineno, node.col_offset + 1) from None
        finally:
            self.nesting -= 1
            self.meter.line = line

    def merged(self, test: Node, yes: Env, no: Env) -> Env:
        """The environment after two branches: ``yes`` where ``test`` holds."""
        after = no.fork(b"")
        if yes.returned is True and no.returned is not True:
            after.names = dict(no.names)
        elif no.returned is True and yes.returned is not True:
            after.names = dict(yes.names)
        else:
            after.names = {}
            for name in {**yes.names, **no.names}:
                if name in yes.names and name in no.names:
                    after.names[name] = self.numeric.merge(test, yes.names[name], no.names[name])
                else:
                    after.names[name] = Unusable(
                        f"{name} may have no value here", f"assign {name} before the branch, too"
                    )
        after.result = self.results(test, yes.result, no.result)
        after.returned = self._merged_flag(test, yes.returned, no.returned)
        after.broken = self._merged_flag(test, yes.broken, no.broken)
        after.continued = self._merged_flag(test, yes.continued, no.continued)
        return after

    def results(self, test: Node, yes: Any, no: Any) -> Any:
        """What two branches have returned, as one result; it counts in lanes that returned."""
        if yes is UNSET or no is UNSET:
            return no if yes is UNSET else yes
        return self.numeric.merge(test, yes, no)

    def returning(self, value: Any, env: Env) -> Any:
        """The result after a return of ``value``, which lanes that returned before do not see."""
        if isinstance(env.returned, Node) and env.result is not UNSET:
            return self.numeric.merge(env.returned, env.result, value)
        return value

    def _merged_flag(self, test: Node, yes: bool | Node, no: bool | Node) -> bool | Node:
        if isinstance(yes, bool) and isinstance(no, bool) and yes == no:
            return yes
        return self.numeric.truth(Traced(self.nodes.select(test, self.numeric.node_of(yes), self.numeric.node_of(no))))

    # --- simple statements -------------------------------------------------------------------------------------------

    def _pass(self, node: ast.Pass, env: Env) -> None:
        return

    def _break(self, node: ast.Break, env: Env) -> None:
        env.broken = True

    def _continue(self, node: ast.Continue, env: Env) -> None:
        env.continued = True

    def _import(self, node: ast.Import, env: Env) -> None:
        self.check_import(node)

    def _importfrom(self, node: ast.ImportFrom, env: Env) -> None:
        self.check_import(node)

    def check_import(self, node: ast.Import | ast.ImportFrom) -> None:
        """Accept an import that brings nothing new."""
        raise NotImplementedError

    def _return(self, node: ast.Return, env: Env) -> None:
        value = None if node.value is None else self.expression(node.value, env)
        if isinstance(value, Items) and value.kind == "list":  # other paths may append after this one has returned
            value = Items(list(value.items), value.kind, value.present, frame=-1)
        env.result = self.returning(value, env)
        env.returned = True

    def _expr(self, node: ast.Expr, env: Env) -> None:
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, (str, type(Ellipsis))):
            return
        if isinstance(node.value, ast.Call):
            call = node.value
            function = self.expression(call.func, env)
            if isinstance(function, BoundMethod) and function.name in ("append", "extend"):
                if len(call.args) != 1 or call.keywords:
                    raise Refused("call", f"{function.name} takes one value")
                given = self.expression(call.args[0], env)
                many = function.name == "extend"
                self._extend(
                    function.receiver, list(self.numeric.fixed(self.elements(given))) if many else [given], env
                )
                return
        last = bool(self.calls) and ends_with(self.calls[-1].body, node)
        hint = "return it, assign it, or leave it out" if last else "assign it, return it, or leave it out"
        raise Refused("grammar", "the value of this line is not used", hint)

    def _extend(self, target: Items, values: list[Any], env: Env) -> None:
        if target.frame != env.frame:
            raise Refused("grammar", "this list was not made here", "make the list where it grows, or return a new one")
        if target.control != env.control or target.present is not None:
            raise Refused(
                "shape",
                "the length of a list cannot depend on the state",
                "append x if test else a neutral value, or use sum(... for ... if test)",
            )
        if target.nested or any(value is target for value in values):
            raise Refused("grammar", "this list is inside another one already", "put it there when it is complete")
        added = sum(item.total if isinstance(item, Items) else 1 for item in values)
        deepest = max((item.depth for item in values if isinstance(item, Items)), default=0)
        self.meter.fit(target.total + added + len(values))
        for item in values:
            if isinstance(item, Items):
                item.nested = True
        target.items.extend(values)
        target.total += added + len(values)
        target.depth = max(target.depth, deepest + 1)

    def _assign(self, node: ast.Assign, env: Env) -> None:
        target = node.targets[0]
        if isinstance(node.value, ast.Tuple) and isinstance(target, ast.Tuple) and len(node.targets) == 1:
            if len(node.value.elts) == len(target.elts):
                values = [self.expression(item, env) for item in node.value.elts]
                for part, value in zip(target.elts, values, strict=True):
                    self.assign(part, value, env)
                return
        value = self.expression(node.value, env)
        for target in node.targets:
            self.assign(target, value, env)

    def _annassign(self, node: ast.AnnAssign, env: Env) -> None:
        if node.value is not None:
            self.assign(node.target, self.expression(node.value, env), env)

    def _augassign(self, node: ast.AugAssign, env: Env) -> None:
        assert isinstance(node.target, ast.Name)
        old = self.expression(ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target), env)
        value = self.expression(node.value, env)
        if isinstance(old, Items) and old.kind == "list" and isinstance(node.op, ast.Add):
            self._extend(old, list(self.numeric.fixed(self.elements(value))), env)
            return
        with self.sides(node.target, node.value):
            result = self.numeric.binary(OPERATORS[type(node.op)], old, value)
        self.assign(node.target, result, env)

    def assign(self, target: ast.expr, value: Any, env: Env) -> None:
        """Bind a name, or the names of a tuple."""
        if isinstance(target, ast.Name):
            self.check_free(target.id, target)
            if isinstance(value, Items) and value.depth > 16:
                raise Refused("budget", "tuples nested deeper than 16", None, target.lineno, target.col_offset + 1)
            env.names[target.id] = value
            return
        assert isinstance(target, (ast.Tuple, ast.List))
        try:
            items = self.numeric.fixed(self.elements(value))
        except Refused as refused:
            raise refused.placed(target.lineno, target.col_offset + 1) from None
        if len(items) != len(target.elts):
            reason = f"{kind_of(value)} does not unpack into {len(target.elts)} names"
            raise Refused("shape", reason, None, target.lineno, target.col_offset + 1)
        for part, item in zip(target.elts, items, strict=True):
            self.assign(part, item, env)

    def check_free(self, name: str, node: ast.expr | ast.stmt | ast.arg) -> None:
        """Refuse a name that means something else already."""
        if name in self.guarded:
            raise Refused(
                "name",
                f"{name} has a meaning already",
                f"choose another name than {name}",
                node.lineno,
                node.col_offset + 1,
            )

    def _functiondef(self, node: ast.FunctionDef, env: Env) -> None:
        self.check_free(node.name, node)
        env.names[node.name] = LocalFunction(node, env.frame)

    def _classdef(self, node: ast.ClassDef, env: Env) -> None:
        raise Refused(
            "grammar", "a class inside a class or function is not part of the language", "one program is one class"
        )

    # --- control flow ------------------------------------------------------------------------------------------------

    def _if(self, node: ast.If, env: Env) -> None:
        test = self.numeric.truth(self.expression(node.test, env))
        if isinstance(test, bool):
            self.block(node.body if test else node.orelse, env)
            return
        self.meter.step(len(env.names) // NAMES_PER_STEP)
        yes, no = env.fork(test.digest), env.fork(self.nodes.not_(test).digest)
        with self.arm(node, test, True, env):
            self.block(node.body, yes)
        with self.arm(node, test, False, env):
            self.block(node.orelse, no)
        env.become(self.merged(test, yes, no))

    def _for(self, node: ast.For, env: Env) -> None:
        items = self.elements(self.expression(node.iter, env))
        values = list(items.items)
        self.meter.iterate(len(values))
        outer = env.broken, env.continued
        env.broken = env.continued = False
        for index, value in enumerate(values):
            if env.stopped:
                break
            skips: list[bool | Node] = [env.broken]
            if items.present is not None:
                skips.append(self.nodes.not_(items.present[index]))
            skip = self.numeric.truth(self.numeric.disjunction(skips))
            if skip is True:
                continue
            if skip is False:
                self.assign(node.target, value, env)
                self.block(node.body, env)
            else:
                self.meter.step(len(env.names) // NAMES_PER_STEP)
                before = env.fork(b"")
                inside = env.fork(self.numeric.node_of(skip).digest)
                inside.broken = False
                self.assign(node.target, value, inside)
                self.block(node.body, inside)
                inside.continued = False
                env.become(self.merged(self.numeric.node_of(skip), before, inside))
            env.continued = False
            if len(items.items) != len(values):
                raise Refused("grammar", "this list grows while it is looped over", "append to another list")
        unbroken = env.broken
        env.broken, env.continued = outer
        if node.orelse and not env.stopped and unbroken is not True:
            if unbroken is False:
                self.block(node.orelse, env)
            else:
                test = self.numeric.node_of(unbroken)
                inside = env.fork(test.digest)
                self.block(node.orelse, inside)
                env.become(self.merged(test, env.fork(b""), inside))
