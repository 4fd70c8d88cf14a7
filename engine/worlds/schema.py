"""A world's program schema as data: the fields, enums, constants and helpers that a skill program may name.

Adding a world means declaring these; the language itself knows no world. The schema names no achievement, reward,
random key, step counter or bookkeeping of rewards: a program cannot read what is not declared.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from attrs import frozen

DTYPES = ("bool", "int32", "float32")


@frozen
class Field:
    """A leaf of the state: an array of ``shape`` (``()`` for a scalar) and dtype ``bool``, ``int32`` or ``float32``."""

    dtype: str
    shape: tuple[int, ...]
    meaning: str
    unit: str = ""
    minimum: float | None = None
    maximum: float | None = None


@frozen
class Group:
    """A nested part of the state, such as ``inventory``: names of fields or further groups."""

    members: Mapping[str, Field | Group]
    meaning: str


@frozen
class Enumeration:
    """Named integers, such as ``BlockType``; a member and its ``.value`` both mean the integer."""

    members: Mapping[str, int]
    meaning: str


@frozen
class Constant:
    """A constant array that honest programs read, such as ``DIRECTIONS``: nested tuples of Python numbers."""

    dtype: str
    shape: tuple[int, ...]
    values: Any
    meaning: str


@frozen
class Parameter:
    """A parameter of a helper: the state itself, a number, or an array of ``shape``."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    is_state: bool = False


@frozen
class Helper:
    """A pure function of the world that programs may call, traced as one operation.

    ``function`` takes the program view and/or arrays as its parameters say, and returns one array of ``result``.
    ``cost`` is the number of element operations charged to the budget.
    """

    parameters: tuple[Parameter, ...]
    result: Field
    function: Callable[..., Any]
    cost: int
    meaning: str


@frozen
class Schema:
    """Everything a program of one world may name."""

    world: str
    state: Group
    enums: Mapping[str, Enumeration]
    constants: Mapping[str, Constant]
    helpers: Mapping[str, Helper]


class Identified:
    """A schema as a key of a cache: the object itself, kept alive by the key."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Identified) and self.schema is other.schema

    def __hash__(self) -> int:
        return id(self.schema)
