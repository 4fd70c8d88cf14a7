"""What served only rewards in calls: parameters that nobody reads any more, functions that hand back what they got.

Both are looked for where the data flow has removed something, and only among functions of a module that are always
called by their plain name: wherever else they are mentioned, nothing is changed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping

from engine.worlds.syntax import functions, loads


def simplify_calls(trees: Iterable[ast.Module], loaded_before: Mapping[ast.FunctionDef, set[str]]) -> set[str]:
    """Take both out of all modules of a game, in place; return the names of those parameters and functions.

    ``loaded_before`` holds the names that each function read before anything was removed from it.
    """
    modules = tuple(trees)
    plain = _plainly_called(modules)
    gone: set[str] = set()
    for name, function in plain.items():
        parameters = [argument.arg for argument in function.args.args]
        read = loads(function)
        unread = {at for at, name in enumerate(parameters) if name in loaded_before[function] and name not in read}
        if unread:
            gone |= {parameters[at] for at in unread}
            function.args.args = [item for at, item in enumerate(function.args.args) if at not in unread]
            _Shortened(name, unread, parameters).through(modules)
        given = _handed_back(function)
        if given is not None and loaded_before[function] != read:
            gone.add(name)
            _HandedBack(name, [argument.arg for argument in function.args.args].index(given)).through(modules)
    return gone


def _plainly_called(modules: tuple[ast.Module, ...]) -> dict[str, ast.FunctionDef]:
    """Functions with plain parameters only, defined once, called somewhere, and mentioned in plain calls only."""
    defined = [item for tree in modules for item in tree.body if isinstance(item, ast.FunctionDef)]
    every = [function.name for tree in modules for function in functions(tree)]
    mentions: dict[str, int] = {}
    calls: dict[str, int] = {}
    for tree in modules:
        for node in ast.walk(tree):
            if isinstance(node, (ast.Name, ast.arg)):
                name = node.id if isinstance(node, ast.Name) else node.arg
                mentions[name] = mentions.get(name, 0) + 1
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and _is_plain(node):
                calls[node.func.id] = calls.get(node.func.id, 0) + 1
    return {
        function.name: function
        for function in defined
        if every.count(function.name) == 1
        and 0 < mentions.get(function.name, 0) == calls.get(function.name, 0)
        and not function.decorator_list
        and not any((function.args.posonlyargs, function.args.kwonlyargs, function.args.defaults))
        and function.args.vararg is None
        and function.args.kwarg is None
    }


def _is_plain(call: ast.Call) -> bool:
    starred = any(isinstance(argument, ast.Starred) for argument in call.args)
    return not starred and all(keyword.arg is not None for keyword in call.keywords)


def _handed_back(function: ast.FunctionDef) -> str | None:
    """The parameter that a function returns as it is, doing nothing else; an empty ``x.replace()`` changes nothing."""
    if len(function.body) != 1 or not isinstance(function.body[0], ast.Return):
        return None
    value = function.body[0].value
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "replace":
        value = None if value.args or value.keywords else value.func.value
    names = [argument.arg for argument in function.args.args]
    return value.id if isinstance(value, ast.Name) and value.id in names else None


class _Shortened(ast.NodeTransformer):
    """Calls of one function without the arguments at some positions."""

    def __init__(self, name: str, positions: set[int], parameters: list[str]) -> None:
        self.name, self.positions = name, positions
        self.parameters = {parameters[position] for position in positions}

    def through(self, modules: tuple[ast.Module, ...]) -> None:
        for tree in modules:
            self.visit(tree)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == self.name:
            node.args = [argument for at, argument in enumerate(node.args) if at not in self.positions]
            node.keywords = [keyword for keyword in node.keywords if keyword.arg not in self.parameters]
        return node


class _HandedBack(ast.NodeTransformer):
    """What a call of one function gave it, in place of the call; assignments of a name to itself go."""

    def __init__(self, name: str, position: int) -> None:
        self.name, self.position = name, position

    def through(self, modules: tuple[ast.Module, ...]) -> None:
        for tree in modules:
            self.visit(tree)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == self.name and len(node.args) > self.position:
            return node.args[self.position]
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST | None:
        was_call = isinstance(node.value, ast.Call)
        self.generic_visit(node)
        same = isinstance(node.value, ast.Name) and [ast.unparse(target) for target in node.targets] == [node.value.id]
        return None if was_call and same else node
