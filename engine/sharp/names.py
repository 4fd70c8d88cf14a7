"""Names in code that no path reaches: dead helpers and branches may not name what a live one could not."""

from __future__ import annotations

import ast
from collections.abc import Collection

from engine.sharp.callables.instead import instead_of_member, instead_of_name
from engine.sharp.editions import Edition
from engine.sharp.forms import SHARP
from engine.sharp.hints import callable_hint
from engine.sharp.refusals import Refused, did_you_mean
from engine.sharp.scope import TYPING, attribute_names, world_scope
from engine.sharp.values import FunctionValue
from engine.worlds.schema import Schema


def check_names(
    tree: ast.Module,
    schema: Schema,
    edition: Edition,
    also: Collection[str] = SHARP.spellings,
    members_also: Collection[str] = (),
) -> None:
    """Refuse the first name or attribute that nothing in the program or its world has.

    ``also`` are further names, ``members_also`` further attributes.

    Raises:
        Refused: with its place and the nearest right name.
    """
    bound, members = _bound_names(tree)
    if edition.has(2):
        members |= _unpacked(tree)
    names = {*bound, *world_scope(schema, edition), *also, *TYPING}
    attributes = {*attribute_names(schema, edition), *members, *members_also}
    live = _live(tree)
    called = {id(node.func) for node in live if isinstance(node, ast.Call)}
    for node in live:
        if isinstance(node, ast.Name) and node.id not in names:
            hint = instead_of_name(node.id)
            if hint is None and id(node) in called:
                scope = world_scope(schema, edition)
                functions = [name for name, value in scope.items() if isinstance(value, FunctionValue)]
                hint = callable_hint(node.id, functions, members & _defined(tree), list(schema.helpers))
            hint = hint or did_you_mean(node.id, names)
            raise Refused("name", f"there is no name {node.id}", hint, node.lineno, node.col_offset + 1)
        if isinstance(node, ast.Attribute) and node.attr not in attributes:
            hint = instead_of_member(node.attr) or did_you_mean(node.attr, attributes)
            raise Refused("attribute", f"nothing has an attribute {node.attr}", hint, node.lineno, node.col_offset + 1)


def _bound_names(tree: ast.Module) -> tuple[set[str], set[str]]:
    bound: set[str] = set()
    members: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            bound.add(node.name)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound.add(node.id)
        if isinstance(node, ast.ClassDef):
            for item in node.body:
                members.update(_class_names(item))
    return bound, members


def _defined(tree: ast.Module) -> set[str]:
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def _class_names(item: ast.stmt) -> list[str]:
    if isinstance(item, ast.FunctionDef):
        return [item.name]
    targets = item.targets if isinstance(item, ast.Assign) else [item.target] if isinstance(item, ast.AnnAssign) else []
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _unpacked(tree: ast.Module) -> set[str]:
    """Class constants that are assigned as a tuple: ``LOW, HIGH = 2, 7``."""
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    targets = [to for node in classes for item in node.body if isinstance(item, ast.Assign) for to in item.targets]
    return {name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)}


def _live(tree: ast.Module) -> list[ast.AST]:
    """Every node but annotations and the pairs of ``requires``, whose names are skills."""
    found: list[ast.AST] = []
    stack: list[ast.AST] = [tree]
    while stack:
        node = stack.pop()
        found.append(node)
        for field, value in ast.iter_fields(node):
            if field in ("annotation", "returns"):
                continue
            children = value if isinstance(value, list) else [value]
            stack.extend(child for child in children if isinstance(child, ast.AST) and not _is_requires(child))
    return sorted(found, key=_place)


def _place(node: ast.AST) -> tuple[int, int, bool]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0), not isinstance(node, ast.Name)


def _is_requires(node: ast.AST) -> bool:
    return isinstance(node, (ast.Assign, ast.AnnAssign)) and "requires" in _class_names(node)
