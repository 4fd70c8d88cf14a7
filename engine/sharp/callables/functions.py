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


class Table:
    """Functions by name, each with the editions that brought or changed it."""

    def __init__(self) -> None:
        self.history: dict[str, list[tuple[int, Function]]] = {}


BUILTINS, JNP, LAX, LINALG, METHODS = Table(), Table(), Table(), Table(), Table()

DTYPES = {
    "int32": "int32", "int16": "int32", "int8": "int32", "uint8": "int32", "uint32": "int32", "int_": "int32",
    "float32": "float32", "float16": "float32", "bfloat16": "float32", "float_": "float32",
    "bool_": "bool", "bool": "bool", "int": "int32", "float": "float32",
}  # fmt: skip
"""Names of dtypes; narrower ones mean the dtype of their kind."""

CONSTANTS = {"pi": math.pi, "e": math.e, "inf": math.inf, "newaxis": None}


def table(where: Table, *names: str, since: int = 1) -> Callable[[Function], Function]:
    """Enters a function under each name, for editions from ``since`` on."""

    def enter(function: Function) -> Function:
        for name in names:
            where.history.setdefault(name, []).append((since, function))
        return function

    return enter


def available(where: Table, edition: Edition) -> dict[str, Function]:
    """The entries of a table as an edition has them."""
    found: dict[str, Function] = {}
    for name, versions in where.history.items():
        for since, function in versions:
            if edition.has(since):
                found[name] = function
    return found


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
