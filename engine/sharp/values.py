"""What an expression can be while a program is compiled: a Python number that is known, or a value that is traced.

Known scalars are plain ``bool``, ``int``, ``float`` and ``None``; an enum member is an ``int`` that remembers its name.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any

from attrs import define, field, frozen

from engine.sharp.graph import Node, scalar_of
from engine.sharp.refusals import Refused
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


class Named(str):
    """A string where strings are names of skills (in policies and chains), with its place; line 0: not in the text."""

    line: int
    column: int

    def __new__(cls, text: str, line: int = 0, column: int = 0) -> Named:
        """The name that stands at a place."""
        name = super().__new__(cls, text)
        name.line, name.column = line, column
        return name


@frozen(eq=False)
class Choice:
    """A name of a skill that depends on the state: for each name, the states in which it is the one.

    Conditions are boolean scalars, no two of which hold at once, and none is constant. One of them always holds, except
    for what a function has returned so far.
    """

    when: Mapping[Named, Node]


@frozen
class Traced:
    """A value that may depend on the state. ``mask`` marks the cells of a window that lie on the map; None: all do.

    ``optional``: a truth value that stands for None on some paths, where it counts as False.
    """

    node: Node
    mask: Node | None = None
    optional: bool = False

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
        nested = [] if self.kind == "range" else [item for item in self.items if isinstance(item, Items)]
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

    @property
    def members(self) -> list[str]:
        """Its fields and groups as a program writes them."""
        return [".".join((self.which, *self.path, name)) for name in self.group.members]


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
    """A method of an array, or ``append`` or ``extend`` of a list."""

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
    """A name that cannot be read here, and why; ``returned`` is what to do where a function returns it."""

    reason: str
    suggestion: str | None = None
    kind: str = "name"
    returned: str | None = None

    def refused(self) -> Refused:
        """The refusal where it is read."""
        return Refused(self.kind, self.reason, self.suggestion)


DEPENDS = " that depends on the state"


def either(yes: Any, no: Any) -> str:
    """What to call a name that is one of two values, which cannot be one."""
    first, second = (kind_of(value).removesuffix(DEPENDS) for value in (yes, no))
    return f"this is {first} or {second}, depending on the state"


def kind_of(value: Any) -> str:
    """What to call a value in a message."""
    if value is None:
        return "None"
    if isinstance(value, bool):
        return "a truth value"
    if isinstance(value, (int, float)):
        return "a number"
    if isinstance(value, (Named, Choice)):
        return "the name of a skill"
    if isinstance(value, str):
        return "a string"
    if isinstance(value, Traced):
        word = {"bool": "truth value", "int32": "integer", "float32": "float"}[value.dtype]
        if value.shape != ():
            return f"an array of {word}s of shape {list(value.shape)}"
        article = "an" if word == "integer" else "a"
        return f"{article} {word}" + (DEPENDS if scalar_of(value.node) is None else "")
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
