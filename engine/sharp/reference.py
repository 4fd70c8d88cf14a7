"""The language page: what a program may contain, generated from the tables that the compiler itself uses."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from engine.sharp.callables.functions import CONSTANTS, DTYPES, Function, available, usage
from engine.sharp.callables.tables import BUILTINS, JNP, LAX, LINALG, METHODS
from engine.sharp.editions import LATEST, Edition
from engine.sharp.forms import SHARP, Form
from engine.sharp.grammar import EXPRESSIONS, REFUSED, STATEMENTS, meanings
from engine.sharp.limits import MEANINGS
from engine.worlds.schema import Constant, Field, Group, Helper, Schema

TEMPLATE = '''\
```python
class FireBricks(Sharp):
    """Take at least one new brick out of the kiln."""

    def success(self, state, previous):
        return state.basket.bricks > previous.basket.bricks

    def has_clay(self, state):
        return state.basket.clay >= 2

    def beside_kiln(self, state):
        row, column = state.walker_position
        around = state.field[row - 1 : row + 2, column - 1 : column + 2]
        return (around == Tile.KILN).any()

    requires = [(has_clay, "DigClay"), (beside_kiln, "WalkToKiln")]
```'''

_OF_A_SKILL = (
    "One program is one class. Its name is the skill's name, its docstring the description.",
    "`success(self, state, previous)` says whether the skill has just been achieved: one truth value that depends "
    "on the state. `state` is the current state, `previous` the one a step before, of the same episode. Compare "
    "the two where success is an event: `state.basket.bricks > previous.basket.bricks`.",
    "`requires` is an ordered list of pairs `(condition, prerequisite)`; leave it out for a skill that needs "
    "nothing. A condition is a method `(self, state)` or `(self, state, previous)`, named bare or as a string, or "
    "a lambda. The prerequisite is the name of an existing skill, as a string. While a condition is false, its "
    "prerequisite is pursued; the first false condition counts.",
    "Programs are parsed and compiled, never executed. `if`, `and`, `or`, `not`, chained comparisons, `any`, "
    "`all`, `min`, `max`, `sum` and early `return` work on values of the state as they do in Python. A path "
    "without `return` gives False.",
)

_COMMON = (
    "Loops and comprehensions run over static ranges, tuples, arrays, enums, `zip` and `enumerate` of those. "
    "`break`, `continue` and the `if` of a comprehension may depend on the state; how often a loop runs may not.",
    "Arithmetic is Python's: `True + True` is 2 (arrays of truth values included), `/` is true division, `//` and "
    "`%` round down. Integers are 32-bit and wrap, floats are 32-bit. Dividing an integer by a zero that depends "
    "on the state gives 0 for `//` and `%`. `~` on a truth value means `not`. `int()` cuts off, `round()` rounds "
    "halves to even.",
    "An enum member and its `.value` both mean the integer.",
    "A window `grid[i - r : i + r + 1, j - r : j + r + 1]` with a static width may lie around a place that "
    "depends on the state. Cells outside the grid belong to it but equal nothing: `==`, `<` and the like are "
    "False there, `!=` is True; `any`, `all` and `sum` of the window itself count them as false or 0, `max` and "
    "`min` leave them out. (Python would wrap or shorten here; this is the one deliberate difference.) "
    "`jax.lax.dynamic_slice` keeps the shape by shifting the slice inwards, and counts a negative start from the "
    "end.",
    "A single index that depends on the state selects; a negative one counts from the end, and one out of range "
    "is clamped, with a warning.",
    "Class constants, default arguments and names of helpers are static. A local list can grow by `append` as "
    "long as its length does not depend on the state.",
    "Helper methods are called as `self.helper(state)`; they may call each other, without recursion.",
)
"""Rules that hold for policies, too."""

_ADDED: dict[int, tuple[str, ...]] = {
    2: (
        "A list that grows by `append` can grow by `extend`, too. `sorted` and `jnp.sort` put what lies outside the "
        "grid last; `where=` leaves elements out of a reduction.",
        "Generators, `zip`, `enumerate` and `reversed` can be read more than once.",
        "Brackets nest at most 60 deep, helpers call helpers at most 16 deep, arrays have at most 16 axes, and an "
        "integer that depends on the state is raised to known powers from 0 to 8 only.",
    ),
}
"""Rules that came with an edition."""


def common_rules(edition: Edition) -> tuple[str, ...]:
    """The rules that hold for skills and policies."""
    return _COMMON + tuple(rule for since, added in _ADDED.items() if edition.has(since) for rule in added)


def language_page(schema: Schema, edition: Edition = LATEST) -> str:
    """Everything that a program of this world may contain, as Markdown: the language, then the world's own names."""
    return language_core(edition) + "\n" + world_names(schema)


def language_core(edition: Edition = LATEST) -> str:
    """The part of the page that no world changes."""
    lines = [
        f"# The SHARP language ({edition.label})",
        "",
        "A skill is written in a small, pure subset of Python. An example, of a world that does not exist:",
        "",
        TEMPLATE,
        "",
        "## Rules",
        "",
        *(f"- {rule}" for rule in (*_OF_A_SKILL, *common_rules(edition))),
        "",
        *tables(edition),
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def tables(edition: Edition, form: Form = SHARP) -> list[str]:
    """What the tables of the language say: statements, expressions, functions, what is refused, and budgets."""
    expressions = {kind: text for kind, text in EXPRESSIONS.items() if form is SHARP or kind is not ast.Lambda}
    refused = {(reason, form.advice(advice) if advice else None) for reason, advice in REFUSED.values()}
    return [
        "## Statements",
        "",
        *(f"- {meaning}" for meaning in meanings(STATEMENTS, edition)),
        "",
        "## Expressions",
        "",
        *(f"- {meaning}" for meaning in meanings(expressions, edition)),
        "",
        "## Functions",
        "",
        "Python's own: " + _functions(available(BUILTINS, edition)),
        "",
        "`jnp`: " + _functions(available(JNP, edition)),
        "",
        "`jnp.linalg`: " + _functions(available(LINALG, edition)),
        "",
        "`jax.lax`: " + _functions(available(LAX, edition)),
        "",
        "Methods of arrays: " + _functions(available(METHODS, edition), skip_first=True)
        + ", and `.shape`, `.ndim`, `.size`, `.T`",
        "",
        "Types: " + ", ".join(f"`jnp.{name}`" for name in sorted(DTYPES) if name not in ("int", "float", "bool"))
        + " (all integers are 32-bit, all floats 32-bit); numbers: "
        + ", ".join(f"`jnp.{name}`" for name in sorted(CONSTANTS) if name != "newaxis"),
        "",
        "## Not part of the language",
        "",
        *(f"- {reason}{f': {advice}' if advice else ''}" for reason, advice in sorted(refused, key=str)),
        "",
        "## Budgets",
        "",
        *budgets(edition, form),
        "",
        "Integers must fit into 32 bits. Whatever is over a budget is refused, and the costliest line is named.",
    ]  # fmt: skip


def budgets(edition: Edition, form: Form = SHARP) -> list[str]:
    """The budgets of one text."""
    named = {name: meaning for name, meaning in MEANINGS.items() if form is SHARP or name != "archive_work"}
    counted = ((getattr(edition.limits, name), meaning) for name, meaning in named.items())
    return [f"- {allowed:,} {meaning}" for allowed, meaning in counted if allowed is not None]


def world_names(schema: Schema) -> str:
    """The names that one world puts in scope."""
    lines = [f"# Names of the world {schema.world}", "", "## Fields of `state` and `previous`", ""]
    lines += [f"- {line}" for line in _fields(schema.state, ())]
    if schema.enums:
        lines += ["", "## Enums", ""]
        for name, enumeration in schema.enums.items():
            members = ", ".join(f"{member}={value}" for member, value in enumeration.members.items())
            lines.append(f"- `{name}` ({enumeration.meaning}): {members}")
    if schema.constants:
        lines += ["", "## Constants", ""]
        lines += [f"- {_constant(name, constant)}" for name, constant in schema.constants.items()]
    if schema.helpers:
        lines += ["", "## Helper functions", ""]
        lines += [f"- {_helper(name, helper)}" for name, helper in schema.helpers.items()]
    return "\n".join(lines) + "\n"


def _functions(table: Mapping[str, Function], skip_first: bool = False) -> str:
    names: dict[int, list[str]] = {}
    for name, function in table.items():
        names.setdefault(id(function), []).append(name)
    shown = []
    for group in names.values():
        function = table[group[0]]
        text = usage(group[0], function)
        if skip_first:
            inside = text[text.index("(") + 1 : -1].split(", ")[1:]
            text = f".{group[0]}({', '.join(inside)})"
        also = "".join(f" (also `{'.' if skip_first else ''}{name}`)" for name in group[1:])
        shown.append(f"`{text}`{also}")
    return ", ".join(sorted(shown, key=str.lower))


def _fields(group: Group, path: tuple[str, ...]) -> list[str]:
    lines: list[str] = []
    for name, member in group.members.items():
        where = ".".join((*path, name))
        if isinstance(member, Group):
            lines.append(f"`{where}`: {member.meaning}")
            lines += _fields(member, (*path, name))
        else:
            lines.append(f"`{where}`: {_type(member)} — {member.meaning}{_range(member)}")
    return lines


def _type(member: Field | Constant) -> str:
    return member.dtype + (f"[{', '.join(str(size) for size in member.shape)}]" if member.shape else "")


def _range(member: Field) -> str:
    parts = [member.unit] if member.unit else []
    if member.minimum is not None and member.maximum is not None:
        parts.append(f"{member.minimum:g} to {member.maximum:g}")
    elif member.minimum is not None:
        parts.append(f"at least {member.minimum:g}")
    elif member.maximum is not None:
        parts.append(f"at most {member.maximum:g}")
    return f" ({', '.join(parts)})" if parts else ""


def _constant(name: str, constant: Constant) -> str:
    size = 1
    for length in constant.shape:
        size *= length
    values = f" = {_plain(constant.values)}" if size <= 24 else ""
    return f"`{name}`: {_type(constant)}{values} — {constant.meaning}"


def _plain(values: object) -> str:
    if isinstance(values, (tuple, list)):
        return f"({', '.join(_plain(value) for value in values)}{',' if len(values) == 1 else ''})"
    return repr(values)


def _helper(name: str, helper: Helper) -> str:
    parameters = ", ".join(
        item.name if item.is_state else f"{item.name}: {item.dtype}{list(item.shape) if item.shape else ''}"
        for item in helper.parameters
    )
    return f"`{name}({parameters})` → {_type(helper.result)} — {helper.meaning}"
