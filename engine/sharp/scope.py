"""Names: what a world and the language put in scope, and the local names of a function while it is compiled."""

from __future__ import annotations

from typing import Any

from attrs import define, field

from engine.sharp.callables.functions import CONSTANTS, DTYPES, Table, available
from engine.sharp.callables.tables import BUILTINS, JNP, LAX, LINALG, METHODS
from engine.sharp.editions import Edition
from engine.sharp.forms import SHARP, Form
from engine.sharp.graph import Node
from engine.sharp.values import EnumValue, FunctionValue, HelperValue, ModuleValue
from engine.worlds.schema import Field, Group, Schema

MODULES: dict[str, tuple[Table, tuple[str, ...]]] = {
    "jnp": (JNP, ("linalg",)),
    "jnp.linalg": (LINALG, ()),
    "jax": (Table(), ("lax", "numpy")),
    "jax.lax": (LAX, ()),
}
ROOTS = {"jnp": "jnp", "jax": "jax", "lax": "jax.lax"}
ARRAY_ATTRIBUTES = ("shape", "ndim", "size", "T", "astype")
TYPING = frozenset(
    {"Any", "Tuple", "List", "Optional", "Union", "Callable", "Sequence", "annotations", "Final", "ClassVar"}
)


def world_scope(schema: Schema, edition: Edition) -> dict[str, Any]:
    """Every global name of a program of this world. World names win over the language's."""
    scope: dict[str, Any] = {
        name: FunctionValue(name, function) for name, function in available(BUILTINS, edition).items()
    }
    scope.update({name: ModuleValue(module) for name, module in ROOTS.items()})
    scope.update({name: schema.constants[name] for name in schema.constants})
    scope.update({name: HelperValue(name) for name in schema.helpers})
    scope.update({name: EnumValue(name, enumeration) for name, enumeration in schema.enums.items()})
    return scope


def protected(schema: Schema, form: Form = SHARP) -> frozenset[str]:
    """Names that no text of a form may give another meaning."""
    return frozenset({*schema.enums, *schema.constants, *schema.helpers, *ROOTS, *form.spellings})


def field_paths(group: Group, path: tuple[str, ...] = ()) -> dict[tuple[str, ...], Field]:
    """Every field under a group by its path."""
    found: dict[tuple[str, ...], Field] = {}
    for name, member in group.members.items():
        if isinstance(member, Group):
            found.update(field_paths(member, (*path, name)))
        else:
            found[(*path, name)] = member
    return found


def attribute_names(schema: Schema, edition: Edition) -> frozenset[str]:
    """Every attribute that any value of this world has."""
    names = {"value", "append", "at", "dtype", *ARRAY_ATTRIBUTES, *DTYPES, *CONSTANTS}
    if edition.has(2):
        names.add("extend")
    for functions in (METHODS, JNP, LAX, LINALG):
        names.update(available(functions, edition))
    names.update(name for _, inner in MODULES.values() for name in inner)
    for path in field_paths(schema.state):
        names.update(path)
    for enumeration in schema.enums.values():
        names.update(enumeration.members)
    return frozenset(names)


UNSET = object()


@define(eq=False)
class Env:
    """The state of a function under compilation: names, and which lanes have returned, broken out or continued.

    ``control`` identifies the traced tests that this point lies under, returns apart: lists grow where they were made.
    """

    names: dict[str, Any] = field(factory=dict)
    parent: Env | None = None
    assigned: frozenset[str] = frozenset()
    frame: int = 0
    control: tuple[bytes, ...] = ()
    comprehension: bool = False
    returned: bool | Node = False
    result: Any = UNSET
    broken: bool | Node = False
    continued: bool | Node = False

    def fork(self, test: bytes) -> Env:
        """A copy for one branch of a traced test."""
        return Env(
            dict(self.names), self.parent, self.assigned, self.frame, (*self.control, test), self.comprehension,
            self.returned, self.result, self.broken, self.continued,
        )  # fmt: skip

    def become(self, other: Env) -> None:
        """Take over everything but place and control from a branch or a merge."""
        self.names = other.names
        self.returned, self.result = other.returned, other.result
        self.broken, self.continued = other.broken, other.continued

    def defining(self, frame: int) -> Env | None:
        """The function's environment around this point that has this frame, comprehensions apart."""
        env: Env | None = self
        while env is not None and (env.comprehension or env.frame != frame):
            env = env.parent
        return env

    @property
    def stopped(self) -> bool:
        """Whether no lane goes on from here."""
        return self.returned is True or self.broken is True or self.continued is True
