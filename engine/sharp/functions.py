"""The functions that a program may call, as tables: Python's own few, and those of ``jnp`` and ``jax.lax``.

Each entry is a function of the compiler and evaluated arguments; its Python signature is the one programs call it with.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from engine.sharp.editions import Edition
from engine.sharp.refusals import Refused, did_you_mean

if TYPE_CHECKING:
    from engine.sharp.lower import Compiler

Function = Callable[..., Any]


class Table(dict[str, Function]):
    """Functions by name; ``since`` holds the edition that brought a name, where it was not the first."""

    def __init__(self) -> None:
        super().__init__()
        self.since: dict[str, int] = {}


BUILTINS, JNP, LAX, LINALG, METHODS = Table(), Table(), Table(), Table(), Table()

DTYPES = {
    "int32": "int32", "int16": "int32", "int8": "int32", "uint8": "int32", "uint32": "int32", "int_": "int32",
    "float32": "float32", "float16": "float32", "bfloat16": "float32", "float_": "float32",
    "bool_": "bool", "bool": "bool", "int": "int32", "float": "float32",
}  # fmt: skip
"""Names of dtypes; narrower ones mean the dtype of their kind."""

CONSTANTS = {"pi": math.pi, "e": math.e, "inf": math.inf, "newaxis": None}

INSTEAD = {
    "while_loop": "use for over a static range",
    "fori_loop": "use for over a static range",
    "scan": "use for over a static range",
    "map": "use a comprehension over a static range",
    "cond": "use if/else, or x if test else y",
    "switch": "use if/elif/else",
    "vmap": "use whole-array functions, or a comprehension over a static range",
    "jit": "leave it out: every program is compiled",
    "argwhere": "count with .sum(), or test with .any(): a result's size cannot depend on the state",
    "nonzero": "count with .sum(), or test with .any(): a result's size cannot depend on the state",
    "unique": "a result's size cannot depend on the state",
    "set": "arrays do not change: use jnp.where(test, new, old)",
    "at": "arrays do not change: use jnp.where(test, new, old)",
    "isinstance": "types are known from the list of fields",
    "print": "leave it out",
    "sorted": "use min, max, or comparisons",
    "reversed": "use range with a negative step",
    "filter": "use a comprehension with if",
    "dict": "use tuples",
    "np": "use jnp",
    "numpy": "use jnp",
    "math": "use jnp",
    "random": "nothing is random in a program",
}


def table(where: Table, *names: str, since: int = 1) -> Callable[[Function], Function]:
    """Enters a function under each name, for editions from ``since`` on."""

    def enter(function: Function) -> Function:
        for name in names:
            where[name] = function
            if since > 1:
                where.since[name] = since
        return function

    return enter


def available(where: Table, edition: Edition) -> dict[str, Function]:
    """The entries of a table that an edition has."""
    return {name: function for name, function in where.items() if edition.has(where.since.get(name, 1))}


def invoke(compiler: Compiler, name: str, function: Function, arguments: list[Any], keywords: dict[str, Any]) -> Any:
    """Call an entry, with errors of the call in the author's terms."""
    signature = inspect.signature(function)
    known = list(signature.parameters)[1:]
    variadic = any(parameter.kind is parameter.VAR_POSITIONAL for parameter in signature.parameters.values())
    for keyword in keywords:
        if keyword not in known or signature.parameters[keyword].kind is inspect.Parameter.VAR_POSITIONAL:
            raise Refused("call", f"{name} has no argument called {keyword}", did_you_mean(keyword, known))
    if variadic:
        return function(compiler, *arguments, **keywords)
    try:
        bound = signature.bind(compiler, *arguments, **keywords)
    except TypeError as error:
        raise Refused("call", f"{name}: {error}", f"it is called as {usage(name, function)}") from None
    return function(*bound.args, **bound.kwargs)


def usage(name: str, function: Function) -> str:
    """How an entry is called: ``sum(a, axis=None)``."""
    parts = []
    for parameter in list(inspect.signature(function).parameters.values())[1:]:
        if parameter.kind is parameter.VAR_POSITIONAL:
            parts.append(f"*{parameter.name}")
        elif parameter.default is parameter.empty:
            parts.append(parameter.name)
        else:
            parts.append(f"{parameter.name}={parameter.default!r}")
    return f"{name}({', '.join(parts)})"


class _Missing:
    def __repr__(self) -> str:
        return "..."


MISSING = _Missing()
