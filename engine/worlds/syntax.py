"""What a syntax tree defines, reads and assigns."""

from __future__ import annotations

import ast
from collections.abc import Iterator


def defines(statement: ast.stmt) -> set[str]:
    """The names that a statement of a module defines."""
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        return {statement.name}
    if isinstance(statement, (ast.Assign, ast.AnnAssign)):
        return set(stored(statement))
    return set()


def functions(tree: ast.AST) -> list[ast.FunctionDef]:
    """Every function under ``tree``, those inside others too."""
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]


def returns(function: ast.FunctionDef) -> Iterator[ast.expr]:
    """The values a function returns itself, not those of functions inside it."""
    todo: list[ast.AST] = list(function.body)
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Return) and node.value is not None:
            yield node.value
        if not isinstance(node, (ast.FunctionDef, ast.Lambda, ast.ClassDef)):
            todo.extend(ast.iter_child_nodes(node))


def loads(node: ast.AST) -> set[str]:
    """The names that are read under ``node``."""
    return {item.id for item in ast.walk(node) if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Load)}


def stored(target: ast.AST) -> list[str]:
    """The names that are assigned under ``target``, in order."""
    return [node.id for node in ast.walk(target) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]


def words(text: str) -> set[str]:
    """Every identifier of a source, and every word of its strings."""
    words: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        for value in (getattr(node, field, None) for field in ("id", "attr", "arg", "name", "asname", "value")):
            if isinstance(value, str):
                words |= set(value.replace("/", " ").replace(".", " ").split())
    return words
