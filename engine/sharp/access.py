"""What a dot and a call mean: fields, enum members, array methods, tables of functions, helpers of the world."""

from __future__ import annotations

import ast
from typing import Any

from engine.sharp.callables.functions import CONSTANTS, DTYPES, available, invoke
from engine.sharp.callables.instead import OF_ARRAYS, OF_MODULES, OF_NUMBERS, instead_of_function, instead_of_member
from engine.sharp.editions import Edition
from engine.sharp.graph import Node
from engine.sharp.hints import listed
from engine.sharp.indexing import Indexing
from engine.sharp.lifting import is_number
from engine.sharp.limits import Meter
from engine.sharp.numeric import Numeric
from engine.sharp.refusals import Missing, Refused, did_you_mean, nearest
from engine.sharp.scope import ARRAY_ATTRIBUTES, MODULES, Env, field_paths
from engine.sharp.shaping import Shaping
from engine.sharp.values import (
    BoundMethod,
    DtypeValue,
    EnumValue,
    FunctionValue,
    HelperValue,
    Indexer,
    Items,
    LocalFunction,
    Member,
    MethodValue,
    ModuleValue,
    SelfValue,
    StateValue,
    Traced,
    kind_of,
)
from engine.worlds.schema import Field, Group, Schema

FORBIDDEN = ("achievement", "reward", "timestep", "rng", "random", "step_count")


def _is_forbidden(name: str) -> bool:
    return any(word in name.lower() for word in FORBIDDEN)


class Access:
    """Attributes and calls of evaluated values."""

    schema: Schema
    edition: Edition
    array_methods: dict[str, Any]
    scope: dict[str, Any]
    numeric: Numeric
    indexing: Indexing
    nodes: Shaping
    meter: Meter
    class_name: str
    class_values: dict[str, Any]
    methods: dict[str, ast.FunctionDef]
    nesting: int
    env: Env

    def call_method(self, name: str, arguments: list[Any], keywords: dict[str, Any]) -> Any:
        """Inline a method of the class."""
        raise NotImplementedError

    def call_local(self, function: LocalFunction, arguments: list[Any], keywords: dict[str, Any], env: Env) -> Any:
        """Inline a function defined inside a method or beside the class."""
        raise NotImplementedError

    # --- attributes --------------------------------------------------------------------------------------------------

    def attribute(self, value: Any, name: str) -> Any:
        """``value.name``."""
        if isinstance(value, StateValue):
            return self._field(value, name)
        if isinstance(value, EnumValue):
            return self._member(value, name)
        if isinstance(value, ModuleValue):
            return self._module_attribute(value, name)
        if isinstance(value, SelfValue):
            if name in self.class_values:
                return self.class_values[name]
            if name in self.methods:
                return MethodValue(name)
            hint = did_you_mean(name, {*self.class_values, *self.methods}, "self.")
            if name in self.scope:
                hint = f"write {name} without self"
            raise Missing("attribute", name, f"the class has no method or constant {name}", hint, value)
        if isinstance(value, Member) and name == "value":
            return int(value)
        if isinstance(value, Items):
            if value.kind == "list" and (name == "append" or (name == "extend" and self.edition.has(2))):
                return BoundMethod(value, name)
            hint = "lists have append and extend only" if self.edition.has(2) else "lists have append only"
            raise Missing("attribute", name, f"{kind_of(value)} has no {name}", hint, value)
        if isinstance(value, Traced) or is_number(value):
            return self._array_attribute(self.numeric.lift(value), name)
        raise Refused("attribute", f"{kind_of(value)} has no {name}")

    def _array_attribute(self, value: Traced, name: str) -> Any:
        if name == "shape":
            return Items(list(value.shape))
        if name == "ndim":
            return len(value.shape)
        if name == "size":
            return value.node.size
        if name == "dtype":
            return DtypeValue(value.dtype)
        if name == "T":
            return self.array_methods["transpose"](self, value)
        if name == "at":
            return Indexer(value)
        if name in self.array_methods:
            return BoundMethod(value, name)
        if name == "value":
            hint = "leave .value out: this is a number already"
        else:
            close = did_you_mean(name, {*ARRAY_ATTRIBUTES, *self.array_methods}, ".", inside=False)
            hint = instead_of_member(name) or close or (OF_ARRAYS if value.shape else OF_NUMBERS)
        raise Missing("attribute", name, f"{kind_of(value)} has no {name}", hint, value)

    def _member(self, value: EnumValue, name: str) -> Any:
        members = value.enumeration.members
        if name in members:
            return Member(members[name], f"{value.name}.{name}")
        suggestion = did_you_mean(name, members, f"{value.name}.")
        if suggestion is None:
            listed = ", ".join(list(members)[:24])
            suggestion = f"its members are {listed}{', …' if len(members) > 24 else ''}"
        raise Refused("attribute", f"{value.name} has no member {name}", suggestion)

    def _module_attribute(self, value: ModuleValue, name: str) -> Any:
        entries, inner = MODULES[value.name]
        functions = available(entries, self.edition)
        if name in functions:
            return FunctionValue(f"{value.name}.{name}", functions[name])
        if name in inner:
            return ModuleValue("jnp" if name == "numpy" else f"{value.name}.{name}")
        if value.name == "jnp" and name in DTYPES:
            return DtypeValue(DTYPES[name])
        if value.name == "jnp" and name in CONSTANTS:
            return CONSTANTS[name]
        known = {*functions, *inner}
        suggestion = instead_of_function(name) or did_you_mean(name, known, f"{value.name}.", inside=False)
        if isinstance(self.scope.get(name), FunctionValue):
            suggestion = f"write {name} without {value.name}"
        elif suggestion is None and value.name != "jnp":
            suggestion = f"use jnp.{name}" if name in available(MODULES["jnp"][0], self.edition) else "use jnp"
        elif suggestion is None:
            suggestion = OF_MODULES
        raise Refused("attribute", f"{value.name}.{name} is not in the table of functions", suggestion)

    def _field(self, value: StateValue, name: str) -> Any:
        member = value.group.members.get(name)
        path = (*value.path, name)
        if isinstance(member, Group):
            return StateValue(value.which, member, path)
        if isinstance(member, Field):
            return Traced(self.input(value.which, path, member))
        where = ".".join((value.which, *value.path))
        raise Missing("attribute", name, f"{where} has no field {name}", self._field_hint(value, name), value)

    def field_of_another_group(self, missing: Missing, name: str) -> Refused:
        """The refusal of ``state.<missing>.<name>``, with the path of the field that is called so in another group."""
        owner = missing.owner
        if not isinstance(owner, StateValue) or _is_forbidden(missing.name) or name in self.array_methods:
            return missing
        paths = field_paths(self.schema.state)
        leaf = nearest(name, [path[-1] for path in paths], inside=False)
        close = nearest(missing.name, owner.group.members)
        found = [path for path in paths if path[-1] == leaf and (close is None or close in path[:-1])]
        if found:
            written = sorted(".".join((owner.which, *path)) for path in found)
            missing.suggestion = f"did you mean {'one of ' if len(written) > 1 else ''}{listed(written, 4)}?"
        return missing

    def _field_hint(self, value: StateValue, name: str) -> str | None:
        if _is_forbidden(name):
            return "programs read the game's state, and none of achievements, rewards, random keys or counters of steps"
        paths = field_paths(self.schema.state)
        same = sorted(".".join(path) for path in paths if path[-1] == name)
        if same:
            return f"did you mean {value.which}.{same[0]}?"
        close = nearest(name, value.group.members)
        if close is not None:
            return f"did you mean {'.'.join((value.which, *value.path, close))}?"
        leaf = nearest(name, [path[-1] for path in paths])
        if leaf is None:
            return f"its fields are {', '.join(list(value.group.members)[:24])}"
        return f"did you mean {value.which}.{sorted('.'.join(path) for path in paths if path[-1] == leaf)[0]}?"

    def input(self, which: str, path: tuple[str, ...], leaf: Field) -> Node:
        """The node that reads a field."""
        bounds = None
        if leaf.dtype == "int32" and leaf.minimum is not None and leaf.maximum is not None:
            bounds = (int(leaf.minimum), int(leaf.maximum))
        return self.nodes.graph.make("input", (), leaf.dtype, leaf.shape, (which, *path), bounds)

    # --- calls -------------------------------------------------------------------------------------------------------

    def call(self, function: Any, arguments: list[Any], keywords: dict[str, Any], env: Env) -> Any:
        """A call with evaluated arguments."""
        if isinstance(function, FunctionValue):
            return invoke(self, function.name, function.call, arguments, keywords)  # type: ignore[arg-type]
        if isinstance(function, BoundMethod):
            method, given = self.array_methods[function.name], [function.receiver, *arguments]
            return invoke(self, f".{function.name}", method, given, keywords)  # type: ignore[arg-type]
        if isinstance(function, MethodValue):
            return self.call_method(function.name, arguments, keywords)
        if isinstance(function, LocalFunction):
            return self.call_local(function, arguments, keywords, env)
        if isinstance(function, HelperValue):
            return self._helper(function.name, arguments, keywords)
        if isinstance(function, DtypeValue) and len(arguments) == 1 and not keywords:
            return self.numeric.convert(self.numeric.lift(arguments[0]), function.dtype)
        if isinstance(function, EnumValue):
            raise Refused(
                "call", f"{function.name}(...) is not needed", "compare the integer with a member of the enum"
            )
        raise Refused("call", f"{kind_of(function)} cannot be called")

    def _helper(self, name: str, arguments: list[Any], keywords: dict[str, Any]) -> Any:
        helper = self.schema.helpers[name]
        names = [parameter.name for parameter in helper.parameters]
        given = dict(zip(names, arguments, strict=False))
        usage = f"it is called as {name}({', '.join(names)})"
        for keyword, value in keywords.items():
            if keyword not in names or keyword in given:
                raise Refused("call", f"{name} has no free argument called {keyword}", usage)
            given[keyword] = value
        if len(arguments) > len(names) or set(given) != set(names):
            raise Refused("call", f"{name} takes {len(names)} arguments", usage)
        states: list[str] = []
        operands: list[Node] = []
        for parameter in helper.parameters:
            value = given[parameter.name]
            if parameter.is_state:
                if not isinstance(value, StateValue) or value.path:
                    raise Refused("type", f"{name}: {parameter.name} is the whole state, not {kind_of(value)}", usage)
                states.append(value.which)
                continue
            traced = self.numeric.lift(value)
            if traced.shape != parameter.shape:
                raise Refused(
                    "shape",
                    f"{name}: {parameter.name} has shape {list(parameter.shape)}, not {list(traced.shape)}",
                    usage,
                )
            if traced.dtype == "float32" and parameter.dtype != "float32":
                raise Refused("type", f"{name}: {parameter.name} is {parameter.dtype}, not a float", usage)
            operands.append(self.nodes.materialise(self.nodes.cast(self.numeric.fill(traced, 0), parameter.dtype)))
        result = helper.result
        bounds = None
        if result.dtype == "int32" and result.minimum is not None and result.maximum is not None:
            bounds = (int(result.minimum), int(result.maximum))
        node = self.nodes.graph.make(
            "helper", tuple(operands), result.dtype, result.shape, (name, *states), bounds, cost=helper.cost
        )
        return Traced(node)
