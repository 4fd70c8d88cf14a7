"""The compiler of one program: methods inlined, each condition lowered to one boolean scalar node."""

from __future__ import annotations

import ast
from typing import Any, ClassVar

from attrs import define, frozen

from engine.sharp.callables.functions import available
from engine.sharp.callables.tables import METHODS
from engine.sharp.editions import Edition
from engine.sharp.forms import SHARP, Form
from engine.sharp.graph import Graph, Node, scalar_of
from engine.sharp.indexing import Indexing
from engine.sharp.lifting import is_number
from engine.sharp.limits import Meter
from engine.sharp.numeric import Numeric
from engine.sharp.refusals import Refused
from engine.sharp.scope import TYPING, UNSET, Env, protected, world_scope
from engine.sharp.shaping import Shaping
from engine.sharp.statements import Statements
from engine.sharp.values import Items, LocalFunction, SelfValue, StateValue, Traced, Unusable, kind_of
from engine.worlds.schema import Schema

OBJECTS = frozenset({"self", "cls", "this", "_self", "_"})
MAX_CALLS = 16


@frozen
class Signature:
    """Which parameters of a condition are the object, the state and the previous state."""

    has_self: bool
    states: int


@define(eq=False)
class _Frames:
    """Counts calls, so that lists and local functions know where they belong."""

    last: int = 0


class Compiler(Statements):
    """Compiles one class against one world's schema. Not reusable."""

    form: ClassVar[Form] = SHARP
    numeric_type: ClassVar[type[Numeric]] = Numeric
    indexing_type: ClassVar[type[Indexing]] = Indexing

    def __init__(self, schema: Schema, edition: Edition) -> None:
        self.schema = schema
        self.edition = edition
        self.scope = world_scope(schema, edition)
        self.array_methods = available(METHODS, edition)
        self.guarded = protected(schema, self.form)
        self.meter = Meter(edition.limits)
        self.nodes = Shaping(Graph(self.meter))
        self.numeric = self.numeric_type(self.nodes, self.meter)
        self.warnings: list[str] = []
        self.normalisations: list[str] = []
        self.indexing = self.indexing_type(self.numeric, self.warn)
        self.class_name = ""
        self.class_values: dict[str, Any] = {}
        self.methods: dict[str, ast.FunctionDef] = {}
        self.nesting = 0
        self.module = Env()
        self.env = self.module
        self.calls: list[ast.FunctionDef] = []
        self._frames = _Frames()
        self._assigned: dict[ast.FunctionDef, frozenset[str]] = {}

    # --- notes -------------------------------------------------------------------------------------------------------

    def warn(self, text: str) -> None:
        """A warning that the judge sees, with its line, once."""
        line = f"line {self.meter.line}: {text}"
        if line not in self.warnings:
            self.warnings.append(line)

    def note(self, text: str) -> None:
        """A normalisation, once."""
        if text not in self.normalisations:
            self.normalisations.append(text)

    def check_import(self, node: ast.Import | ast.ImportFrom) -> None:
        """Accept an import that only names what is in scope, and drop it."""
        for alias in node.names:
            bound = alias.asname or alias.name.split(".")[0]
            if isinstance(node, ast.Import):
                fine = (alias.name, bound) in (
                    ("jax.numpy", "jnp"),
                    ("jax", "jax"),
                    ("jax.numpy", "jax"),
                    ("jax.lax", "lax"),
                    ("jax.lax", "jax"),
                )
                fine = fine or (alias.name == "typing" and alias.asname is None)
            elif node.module in ("__future__", "typing"):
                fine = alias.name in TYPING and alias.asname is None
            elif node.module == "jax":
                fine = (alias.name, bound) in (("numpy", "jnp"), ("lax", "lax"))
            else:
                known = {*self.schema.enums, *self.schema.constants, *self.schema.helpers, *self.form.spellings}
                fine = alias.name in known and bound == alias.name
            if not fine:
                module = getattr(node, "module", None)
                name = f"{module}.{alias.name}" if module else alias.name
                hint = (
                    "use jnp, which is in scope"
                    if "numpy" in name
                    else "leave it out: everything a program may use is in scope"
                )
                raise Refused(
                    "grammar", f"import of {name} is not part of the language", hint, node.lineno, node.col_offset + 1
                )
        self.note("imports dropped")

    def check_class_name(self, name: str) -> None:
        """Refuse a class name that means something else."""
        if name in self.scope or name in self.guarded:
            raise Refused(
                "grammar",
                f"{name} has a meaning already, so no {self.form.named} can be called so",
                "choose another name",
            )

    # --- calls -------------------------------------------------------------------------------------------------------

    def call_method(self, name: str, arguments: list[Any], keywords: dict[str, Any]) -> Any:
        """Inline a method with the object bound to its first parameter, if it has one."""
        definition = self.methods[name]
        parameters = definition.args.posonlyargs + definition.args.args
        given = bool(arguments) and isinstance(arguments[0], SelfValue)
        takes = bool(parameters) and (
            parameters[0].arg in OBJECTS or len(parameters) == len(arguments) + len(keywords) + 1
        )
        if takes and not given:
            arguments = [SelfValue(), *arguments]
        return self._inline(definition, arguments, keywords, self.module)

    def call_local(self, function: LocalFunction, arguments: list[Any], keywords: dict[str, Any], env: Env) -> Any:
        """Inline a function where its names are known."""
        if function.frame == 0:
            return self._inline(function.definition, arguments, keywords, self.module)
        around = env.defining(function.frame)
        if around is None:
            raise Refused(
                "grammar", f"{function.definition.name} was not defined here", "make it a method of the class"
            )
        return self._inline(function.definition, arguments, keywords, around)

    def _inline(self, definition: ast.FunctionDef, arguments: list[Any], keywords: dict[str, Any], parent: Env) -> Any:
        name = definition.name
        if any(definition is running for running in self.calls):
            raise Refused(
                "grammar", f"{name} calls itself", "recursion is not part of the language: use for over a static range"
            )
        if len(self.calls) >= MAX_CALLS:
            raise Refused("budget", f"helpers call helpers more than {MAX_CALLS} deep")
        self._frames.last += 1
        assigned = self._assigned.get(definition)
        if assigned is None:
            assigned = self._assigned[definition] = assigned_names(definition)
        env = Env(parent=parent, assigned=assigned, frame=self._frames.last)
        self._bind(definition, arguments, keywords, env)
        self.calls.append(definition)
        before = self.env
        try:
            self.block(definition.body, env)
        finally:
            self.calls.pop()
            self.env = before
        value = self.result_of(definition, env)
        if isinstance(value, Unusable):
            raise Refused("type", f"{name}: {value.reason}", value.returned or value.suggestion)
        if isinstance(value, LocalFunction):
            raise Refused("grammar", "a function cannot be returned")
        return value

    def result_of(self, definition: ast.FunctionDef, env: Env) -> Any:
        """What a function has returned at its end; None in lanes that returned nothing."""
        if env.returned is False or env.result is UNSET:
            return None
        if env.returned is True:
            return env.result
        return self.numeric.merge(self.numeric.node_of(env.returned), env.result, None)

    def _bind(self, definition: ast.FunctionDef, arguments: list[Any], keywords: dict[str, Any], env: Env) -> None:
        args = definition.args
        positional = args.posonlyargs + args.args
        name = definition.name
        if len(arguments) > len(positional):
            raise Refused("call", f"{name} takes {len(positional)} arguments, not {len(arguments)}")
        values = {parameter.arg: value for parameter, value in zip(positional, arguments, strict=False)}
        allowed = [parameter.arg for parameter in args.args + args.kwonlyargs]
        for keyword, value in keywords.items():
            if keyword not in allowed or keyword in values:
                raise Refused("call", f"{name} has no free argument called {keyword}")
            values[keyword] = value
        defaults = dict(
            zip(
                [parameter.arg for parameter in positional[len(positional) - len(args.defaults) :]],
                args.defaults,
                strict=True,
            )
        )
        defaults.update(
            {
                parameter.arg: default
                for parameter, default in zip(args.kwonlyargs, args.kw_defaults, strict=True)
                if default is not None
            }
        )
        for parameter in positional + args.kwonlyargs:
            if parameter.arg in self.scope or parameter.arg in self.guarded:
                raise Refused(
                    "name", f"the parameter {parameter.arg} hides a name in scope", f"call it {parameter.arg}_",
                    parameter.lineno, parameter.col_offset + 1,
                )  # fmt: skip
            if parameter.arg not in values:
                if parameter.arg not in defaults:
                    raise Refused("call", f"{name} needs its argument {parameter.arg}")
                values[parameter.arg] = self.constant_expression(defaults[parameter.arg], "a default")
        env.names.update(values)

    def constant_expression(self, node: ast.expr, what: str) -> Any:
        """A value that does not depend on the state, evaluated where class constants are known."""
        env = Env(names=dict(self.class_values), parent=self.module)
        value = self.expression(node, env)
        if isinstance(value, Items) and value.kind == "list":
            return Items(list(value.items), "list", value.present, frame=-1)  # shared between calls: it cannot grow
        if is_number(value) or value is None or isinstance(value, (Items, Traced, str)):
            return value
        raise Refused(
            "type",
            f"{what} must be a number, a tuple or an array, not {kind_of(value)}",
            None,
            node.lineno,
            node.col_offset + 1,
        )

    # --- conditions --------------------------------------------------------------------------------------------------

    def signature(self, arguments: ast.arguments, what: str) -> Signature:
        """How a condition takes its states; parameter names are free, their order is not."""
        names = _state_parameters(arguments)
        if any(default is None for default in arguments.kw_defaults):
            raise Refused("call", f"{what} takes (self, state, previous)")
        has_self = bool(names) and (names[0] in OBJECTS or len(names) == 3)
        states = len(names) - has_self
        if not 1 <= states <= 2:
            raise Refused(
                "call", f"{what} takes {len(names)} parameters", "write (self, state, previous) or (self, state)"
            )
        if states == 2 and names[has_self].lower().startswith(("prev", "old", "last", "before")):
            self.warn(
                f"{what} gets the current state first and the previous one second; its parameter {names[has_self]} "
                "gets the current one"
            )
        if not has_self:
            self.note(f"{what} without self")
        return Signature(has_self, states)

    def as_method(self, source: ast.Lambda, name: str) -> ast.FunctionDef:
        """A lambda as the method that it stands for."""
        body = ast.copy_location(ast.Return(source.body), source)
        return ast.copy_location(ast.FunctionDef(name, source.args, [body], []), source)

    def condition(self, source: ast.FunctionDef | ast.Lambda, what: str) -> Node:
        """The boolean scalar that a success method or a condition computes."""
        states = [StateValue("state", self.schema.state, ()), StateValue("previous", self.schema.state, ())]
        if self.edition.has(2):
            self.meter.line = source.lineno
        try:
            signature = self.signature(source.args, what)
            arguments: list[Any] = [SelfValue()] if signature.has_self else []
            arguments.extend(states[: signature.states])
            self.meter.line = source.lineno
            definition = self.as_method(source, what) if isinstance(source, ast.Lambda) else source
            return self.output(self._inline(definition, arguments, {}, self.module), what)
        except Refused as refused:
            raise refused.placed(source.lineno, source.col_offset + 1) from None

    def output(self, value: Any, what: str) -> Node:
        """A result as a boolean scalar; integers that can only be 0 or 1 count."""
        advice = "return a comparison, such as state.x >= 1"
        if isinstance(value, Traced):
            if value.shape != ():
                hint = self.numeric.rows_of(value) or "add .any() or .all()"
                raise Refused("output", f"{what} returns {kind_of(value)}, not one truth value", hint)
            if (
                value.dtype == "int32"
                and value.node.bounds is not None
                and 0 <= value.node.bounds[0] <= value.node.bounds[1] <= 1
            ):
                self.note(f"{what} made a truth value")
            elif value.dtype != "bool":
                raise Refused("output", f"{what} returns {kind_of(value)}, not a truth value", advice)
            node = self.nodes.cast(self.numeric.fill(value, 0), "bool")
        elif value is None or isinstance(value, bool) or (isinstance(value, int) and value in (0, 1)):
            node = self.nodes.constant(bool(value), "bool")
        else:
            raise Refused("output", f"{what} returns {kind_of(value)}, not a truth value", advice)
        known = scalar_of(node)
        if known is not None:
            hint = "compare a field of state, or leave the pair out"
            if self.form.method is not None and what == self.form.method.name:
                hint = "compare a field of state, or of state with previous"
            if value is None:
                hint = f"does every path return a value? {hint}"
            raise Refused("output", f"{what} is always {bool(known)}: it does not depend on the state", hint)
        return node


def _state_parameters(arguments: ast.arguments) -> list[str]:
    """The parameters that receive the object and the states: those without a default, or with the default None."""
    positional = arguments.posonlyargs + arguments.args
    required = len(positional) - len(arguments.defaults)
    names = [parameter.arg for parameter in positional[:required]]
    for parameter, default in zip(positional[required:], arguments.defaults, strict=True):
        if not (isinstance(default, ast.Constant) and default.value is None):
            break
        names.append(parameter.arg)
    return names


def assigned_names(definition: ast.FunctionDef) -> frozenset[str]:
    """Names that are local to a function because it binds them somewhere, as Python decides."""
    found = {
        parameter.arg for parameter in definition.args.posonlyargs + definition.args.args + definition.args.kwonlyargs
    }
    stack: list[ast.AST] = list(definition.body)
    while stack:
        node = stack.pop()
        if isinstance(node, ast.FunctionDef):
            found.add(node.name)
            continue
        if isinstance(node, (ast.ListComp, ast.GeneratorExp, ast.Lambda)):
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        stack.extend(ast.iter_child_nodes(node))
    return frozenset(found)
