"""What an expression can be while a program is compiled: a Python number that is known, or a value that is traced.

Known scalars are plain ``bool``, ``int``, ``float`` and ``None``; an enum member is an ``int`` that remembers its name.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from attrs import define, field, frozen

from engine.sharp.graph import Node
from engine.worlds.schema import Enumeration, Group

Static = bool | int | float | None


class Member(int):
    """An enum member: its integer, with the right to ``.value``."""

    label: str

    def __new__(cls, value: int, label: str) -> Member:
        """The member called ``label``."""
        member = super().__new__(cls, value)
        member.label = label
        return member


@frozen
class Traced:
    """A value that may depend on the state. ``mask`` marks the cells of a window that lie on the map; None: all do."""

    node: Node
    mask: Node | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """Static shape."""
        return self.node.shape

    @property
    def dtype(self) -> str:
        """``bool``, ``int32`` or ``float32``."""
        return self.node.dtype


@define(eq=False)
class Items:
    """A tuple, list or set display of static length.

    ``present`` (of a comprehension with a traced filter) says item by item whether it is there. ``total`` and ``depth``
    bound what nesting can hold. ``control`` is where a list was made: it can grow there only, and no more once it is
    ``nested`` in another one, whose measures would be wrong.
    """

    items: list[Any]
    kind: str = "tuple"
    present: list[Node] | None = None
    control: tuple[bytes, ...] = ()
    frame: int = 0
    nested: bool = field(init=False, default=False)
    total: int = field(init=False)
    depth: int = field(init=False)

    def __attrs_post_init__(self) -> None:
        """Measure the nesting."""
        nested = [item for item in self.items if isinstance(item, Items)]
        self.total = len(self.items) + sum(item.total for item in nested)
        self.depth = 1 + max((item.depth for item in nested), default=0)
        for item in nested:
            item.nested = True


@frozen
class StateValue:
    """The current or previous state, or a group inside it."""

    which: str
    group: Group
    path: tuple[str, ...]


@frozen
class EnumValue:
    """An enum of the world."""

    name: str
    enumeration: Enumeration


@frozen
class SelfValue:
    """The object (or the class) that a method belongs to."""


@frozen
class ModuleValue:
    """``jnp``, ``jax`` or one of their submodules: a table of names."""

    name: str


@frozen
class FunctionValue:
    """A function of a table; ``call`` takes the compiler and evaluated arguments."""

    name: str
    call: Callable[..., Any]


@frozen
class HelperValue:
    """A helper of the world."""

    name: str


@frozen
class MethodValue:
    """A method of the class."""

    name: str


@frozen(eq=False)
class LocalFunction:
    """A function defined inside a method; it can be called there and cannot leave."""

    definition: ast.FunctionDef
    frame: int


@frozen
class BoundMethod:
    """A method of an array, or ``append`` of a list."""

    receiver: Any
    name: str


@frozen
class DtypeValue:
    """A dtype, named where arrays are made or converted."""

    dtype: str


@frozen
class Indexer:
    """``array.at``: known only to be refused well."""

    receiver: Any


@frozen
class Unusable:
    """A name that cannot be read here, and why."""

    reason: str
    suggestion: str | None = None


def kind_of(value: Any) -> str:
    """What to call a value in a message."""
    if value is None:
        return "None"
    if isinstance(value, bool):
        return "a truth value"
    if isinstance(value, (int, float)):
        return "a number"
    if isinstance(value, str):
        return "a string"
    if isinstance(value, Traced):
        word = {"bool": "truth value", "int32": "integer", "float32": "float"}[value.dtype]
        return f"a traced {word}" if value.shape == () else f"an array of {word}s of shape {list(value.shape)}"
    if isinstance(value, Items):
        return f"a {value.kind} of {len(value.items)} items"
    if isinstance(value, StateValue):
        return (
            f"the group {'.'.join(value.path)}"
            if value.path
            else f"the {value.which}".replace("the state", "the state itself")
        )
    if isinstance(value, EnumValue):
        return f"the enum {value.name}"
    if isinstance(value, (FunctionValue, HelperValue, MethodValue, LocalFunction, BoundMethod)):
        return "a function that is not called"
    if isinstance(value, ModuleValue):
        return f"the module {value.name}"
    if isinstance(value, DtypeValue):
        return f"the type {value.dtype}"
    return "something without a value"
