"""Advice that repeats the author's own words: what was written, turned into what was meant. Syntax only, no values."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Sequence

from engine.sharp.refusals import Mismatch, nearest

SHORT = 60
"""What is longer is not repeated."""

GENERIC_PAIR = 'write (condition, "Prerequisite")'
PLACES = {1: ("i",), 2: ("row", "column"), 3: ("i", "row", "column")}
"""What to call the parts of a position."""


def shown(node: ast.AST, most: int = SHORT) -> str | None:
    """An expression as source on one line; None if it is long."""
    text = ast.unparse(node)
    return text if len(text) <= most and text.isprintable() else None


def listed(names: Iterable[str], most: int = 24) -> str:
    """Names as a list with commas, cut behind ``most``."""
    every = list(names)
    return ", ".join(every[:most]) + (", …" if len(every) > most else "")


# --- requires --------------------------------------------------------------------------------------------------------


def pair(condition: ast.expr, prerequisite: ast.expr) -> str | None:
    """A pair of ``requires`` as it is written; None if its parts are long, or no condition and no name."""
    name = _text(prerequisite)
    said = _text(condition) if isinstance(condition, ast.Constant) else shown(condition)
    return None if name is None or said is None else f'({said}, "{name}")'


def _text(node: ast.expr) -> str | None:
    text = node.value if isinstance(node, ast.Constant) else node.id if isinstance(node, ast.Name) else None
    return text if isinstance(text, str) and text.isidentifier() and len(text) <= SHORT else None


def pair_hint(whole: ast.List | ast.Tuple, item: ast.expr, conditions: Collection[str]) -> str:
    """What to write for an item of ``requires`` that is no pair."""
    if isinstance(whole, ast.Tuple) and len(whole.elts) == 2 and (written := pair(*whole.elts)):
        return f"a single pair still needs the list around it: write [{written}]"
    if isinstance(whole, ast.Tuple) and item is whole.elts[0]:
        return "a single pair still needs the list around it"
    name = _text(item)
    if name is None:
        return GENERIC_PAIR
    return f'write ({name}, "Prerequisite")' if name in conditions else f'write (condition, "{name}")'


def swapped_hint(first: ast.expr, second: ast.expr, conditions: Collection[str]) -> str | None:
    """What to write for a pair whose prerequisite stands first."""
    if _text(second) not in conditions and not isinstance(second, ast.Lambda):
        return None
    written = pair(second, first)
    return "the condition comes first" + ("" if written is None else f": {written}")


def condition_hint(node: ast.expr, conditions: Sequence[str]) -> str:
    """What to write for a condition that is neither a name nor a lambda."""
    names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
    if isinstance(node, ast.Call):
        called = _last_name(node.func)
        given = [*node.args, *(keyword.value for keyword in node.keywords)]
        plain = all(isinstance(each, ast.Name) and each.id in ("self", "state", "previous") for each in given)
        if called in conditions and plain:
            return f"write {called} without the call"
    text = shown(node)
    if "state" in names or "previous" in names:
        parameters = [name for name in ("self", "state", "previous") if name in names or name == "state"]
        if text is None:
            taken = ", ".join(dict.fromkeys(("self", *parameters)))
            return f"make it a method ready({taken}), and write ready"
        return f"write lambda {', '.join(parameters)}: {text}"
    if conditions:
        return f'write ({conditions[0]}, "Prerequisite")'
    return 'write (ready, "Prerequisite") for a method ready(self, state)'


def _last_name(node: ast.expr) -> str | None:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else None


# --- calls -----------------------------------------------------------------------------------------------------------


def callable_hint(name: str, functions: Collection[str], methods: Collection[str], helpers: Sequence[str]) -> str:
    """What to call instead of a function that does not exist."""
    close = nearest(name, {*functions, *methods, *helpers}, inside=False)
    if close is not None:
        return f"did you mean {'self.' if close in methods else ''}{close}?"
    if helpers:
        return f"the helpers are: {listed(helpers)}"
    return f"write a method {name}(self, …), and call self.{name}(…)"


def method_hint(node: ast.Call, of_list: bool) -> str | None:
    """What to write instead of a method of Python's lists that arrays, or the lists of programs, have not."""
    if not isinstance(node.func, ast.Attribute) or len(node.args) != 1 or node.keywords:
        return None
    array, value = shown(node.func.value, SHORT // 2) or "array", shown(node.args[0], SHORT // 2) or "value"
    if of_list and node.func.attr == "count":
        return f"count with sum(x == {value} for x in {array})"
    written = {
        "count": f"count with ({array} == {value}).sum()",
        "index": f"find the first with jnp.argmax({array} == {value})",
        "contains": f"write {value} in {array}",
    }
    return None if of_list else written.get(node.func.attr)


# --- arrays ----------------------------------------------------------------------------------------------------------


def cell_hint(array: ast.expr, index: ast.expr, position: ast.expr, count: int) -> str:
    """How one cell is picked, where ``position`` holds the ``count`` parts of its place in ``array[index]``."""
    parts = PLACES.get(count, tuple(f"i{number}" for number in range(count)))
    first = f"{', '.join(parts)} = {shown(position, SHORT // 2) or 'position'}; "
    if isinstance(position, ast.List):
        first, parts = "", tuple(shown(each, SHORT // 2) or "…" for each in position.elts)
    others = index.elts if isinstance(index, ast.Tuple) else [index]
    inside = [", ".join(parts) if each is position else shown(each, SHORT // 4) or "…" for each in others]
    return f"write {first}{shown(array, SHORT // 2) or 'array'}[{', '.join(inside)}]"


def sides_hint(mismatch: Mismatch, left: ast.expr, right: ast.expr) -> str | None:
    """What the two sides of an operator are, and how one of them becomes like the other."""
    if mismatch.explained or len(mismatch.shapes) != 2:
        return mismatch.suggestion
    first, second = mismatch.shapes
    a, b = shown(left, SHORT // 2), shown(right, SHORT // 2)
    sizes = f"{a or 'the left side'} has shape {list(first)}, {b or 'the right side'} has {list(second)}: "
    if a is None or b is None:
        return f"{sizes}index one of them"
    a, b = _postfix(left, a), _postfix(right, b)
    for (name, shape), (other, reference) in (((a, first), (b, second)), ((b, second), (a, first))):
        if len(reference) > len(shape) >= 1 and reference[: len(shape)] == shape:
            news = ", None" * (len(reference) - len(shape))
            return f"{sizes}write {name}[:{news}] for one number per row of {other}"
        if len(shape) >= 2 and len(reference) >= 2 and shape[-1] == len(reference) and shape[-1] in PLACES:
            parts = ", ".join(PLACES[shape[-1]])
            every = ", ".join(["k"] * (len(shape) - 1))
            return f"{sizes}one cell is {parts} = {name}[{every}]; {other}[{parts}]"
    larger = max((a, first), (b, second), key=lambda side: len(side[1]))[0]
    return f"{sizes}index one of them, such as {larger}[0]"


def _postfix(node: ast.expr, text: str) -> str:
    """An expression as it stands before an index."""
    return text if isinstance(node, (ast.Name, ast.Attribute, ast.Call, ast.Subscript)) else f"({text})"
