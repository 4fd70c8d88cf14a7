"""The game's source as a foundation model may see it: without rewards and achievements (paper 000, sections 3 and 3.1).

What is taken out is *derived from the data flow of the source*, not from a list of words. Given where rewards enter (a
function that returns one, the fields of the state that keep the score, the enums that name them):

1. *Forward*: whatever is computed from them is forbidden too: variables, functions that return it, keywords that pass
   it on, names under which it is unpacked.
2. *Backward*: whatever was computed only for them (it was read before and is read by nothing afterwards) goes as well:
   variables, parameters with the arguments given for them, functions that now only hand back what they are given.
3. Definitions that the roots no longer reach are dropped, and with ``ast.unparse`` all comments. So are docstrings.

The result parses, is a fixed point (stripping it again changes nothing) and is checked once more: a forbidden name
left anywhere, in a string too, is an error and never a leak.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from attrs import frozen

from engine.worlds.stripping_calls import simplify_calls
from engine.worlds.syntax import defines, functions, loads, returns, stored, words


class StrippingFailed(ValueError):
    """The source could not be stripped without leaving a forbidden name; the message says where it stands."""


@frozen
class Origin:
    """Where rewards enter a game's source.

    ``returned`` maps a function to the positions, in the tuple it returns, that hold rewards. ``fields`` are members of
    the state that keep the score, ``enums`` the enumerations that name its parts. ``roots`` are the definitions that
    must stay; whatever they reach stays with them.
    """

    returned: Mapping[str, tuple[int, ...]]
    fields: tuple[str, ...]
    enums: tuple[str, ...]
    roots: tuple[str, ...]


@frozen
class Stripped:
    """Stripped texts by file name, and the names that the data flow forbids (sorted)."""

    texts: Mapping[str, str]
    forbidden: tuple[str, ...]


def strip(sources: Mapping[str, str], origin: Origin) -> Stripped:
    """Strip the modules of one game together: ``sources`` maps file names to Python source.

    Raises:
        SyntaxError: if a source does not parse.
        StrippingFailed: if a root is not defined in the sources, or a forbidden name would remain.
    """
    trees = {name: ast.parse(text, name) for name, text in sources.items()}
    defined = {name for tree in trees.values() for statement in tree.body for name in defines(statement)}
    if missing := sorted(set(origin.roots) - defined):
        raise StrippingFailed(f"not defined in the game's source: {', '.join(missing)}; correct the roots")
    known = set().union(*(words(text) for text in sources.values()))
    members = _unshared_members(trees, origin.enums)
    taint = _Taint(origin, tuple(trees.values()))
    taint.spread(tuple(trees.values()))
    forbidden = taint.names | members
    before = {function: loads(function) for tree in trees.values() for function in functions(tree)}
    for name, tree in trees.items():
        trees[name] = taint.visit(tree)
    size = -1
    while size != (size := len(forbidden)):
        for function, loaded in before.items():
            forbidden |= _drop_unread(function, loaded)
        forbidden |= simplify_calls(trees.values(), before)
    for tree in trees.values():
        _tidy(tree)
    _keep_reachable(tuple(trees.values()), origin.roots)
    texts = {name: ast.unparse(ast.fix_missing_locations(tree)) + "\n" for name, tree in trees.items()}
    # A name that served rewards in one function may be an honest variable of another: forbidden means gone everywhere.
    remaining = {name for text in texts.values() for name in words(text)}
    if leaks := sorted((taint.names | members) & remaining):
        where = next(name for name, text in texts.items() if set(leaks) & set(words(text)))
        raise StrippingFailed(f"{', '.join(leaks)} would remain in {where}; the game's source needs a closer look")
    return Stripped(texts, tuple(sorted((forbidden & known) - remaining)))


class _Taint(ast.NodeTransformer):
    """Names that rewards flow into, and the removal of every statement and keyword that carries them."""

    def __init__(self, origin: Origin, trees: tuple[ast.Module, ...]) -> None:
        self.names = {*origin.fields, *origin.enums}
        pairs = {
            function.name
            for tree in trees
            for function in functions(tree)
            if any(isinstance(value, ast.Tuple) for value in returns(function))
        }
        self.returned = {name: set(positions) for name, positions in origin.returned.items() if name in pairs}

    def spread(self, trees: tuple[ast.Module, ...]) -> None:
        """Follow the flow forward through assignments, unpacked calls and returned values until nothing is added."""
        size = -1
        while size != (size := len(self.names) + sum(map(len, self.returned.values()))):
            for tree in trees:
                for function in functions(tree):
                    self._spread_returns(function)
                for node in ast.walk(tree):
                    self._spread_assignment(node)
        for tree in trees:
            self._refuse_unfollowed(tree)

    def _refuse_unfollowed(self, tree: ast.Module) -> None:
        """A pair with a reward in it must be unpacked where it is returned: elsewhere the flow cannot be followed."""
        unpacked = {
            id(node.value)
            for node in ast.walk(tree)
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and self._dropped(node) and id(node) not in unpacked:
                raise StrippingFailed(
                    f"line {node.lineno}: {ast.unparse(node)} is not unpacked; the reward is lost sight of"
                )

    def _spread_returns(self, function: ast.FunctionDef) -> None:
        for value in returns(function):
            if not isinstance(value, ast.Tuple):
                if self._tainted(value):
                    self.names.add(function.name)
                continue
            positions = self.returned.setdefault(function.name, set())
            for position, element in enumerate(value.elts):
                if position in positions and isinstance(element, ast.Name):
                    self.names.add(element.id)
                if self._tainted(element):
                    positions.add(position)

    def _spread_assignment(self, node: ast.AST) -> None:
        if not isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)) or node.value is None:
            return
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for target in targets:
            dropped = self._dropped(node.value)
            if dropped and isinstance(target, ast.Tuple):
                self.names |= {name for position in dropped for name in stored(target.elts[position])}
            elif self._tainted(node.value):
                self.names |= set(stored(target))

    def _dropped(self, value: ast.expr) -> set[int]:
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
            return self.returned.get(value.func.id, set())
        return set()

    def _tainted(self, value: ast.AST) -> bool:
        """Whether anything forbidden is mentioned, apart from keyword arguments, which can be taken out."""
        if isinstance(value, ast.Name):
            return value.id in self.names
        if isinstance(value, ast.Attribute) and value.attr in self.names:
            return True
        children = ast.iter_child_nodes(value)
        if isinstance(value, ast.Call):
            children = iter([value.func, *value.args])
        return any(self._tainted(child) for child in children)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        node.keywords = [
            keyword for keyword in node.keywords if keyword.arg not in self.names and not self._tainted(keyword.value)
        ]
        return self.generic_visit(node)

    def visit_Return(self, node: ast.Return) -> ast.AST | None:
        if node.value is not None and not isinstance(node.value, ast.Tuple) and self._tainted(node.value):
            return None
        return self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST | None:
        if node.name in self.names:
            return None
        for value in returns(node):
            if isinstance(value, ast.Tuple):
                _drop_elements(value, self.returned.get(node.name, set()))
        self.generic_visit(node)
        for inner in ast.walk(node):
            if isinstance(inner, ast.Return) and isinstance(inner.value, ast.Tuple) and len(inner.value.elts) == 1:
                inner.value = inner.value.elts[0]
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST | None:
        return None if node.name in self.names else self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | None:
        return self._assignment(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST | None:
        return self._assignment(node)

    def visit_Assign(self, node: ast.Assign) -> ast.AST | None:
        if (dropped := self._dropped(node.value)) and isinstance(node.targets[0], ast.Tuple):
            _drop_elements(node.targets[0], dropped)
            if len(node.targets[0].elts) == 1:
                node.targets[0] = node.targets[0].elts[0]
        return self._assignment(node)

    def _assignment(self, node: ast.Assign | ast.AnnAssign | ast.AugAssign) -> ast.AST | None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        names = [name for target in targets for name in stored(target)]
        if names and self.names.issuperset(names):
            return None
        update = isinstance(node.value, ast.Call) and bool(node.value.keywords) and not node.value.args
        self.generic_visit(node)
        emptied = update and isinstance(node.value, ast.Call) and not node.value.keywords
        if emptied and isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Attribute):
            owner = node.value.func.value  # x = x.replace(forbidden=...) has become x = x.replace()
            if isinstance(owner, ast.Name) and [owner.id] == names:
                return None
        return node


def _drop_elements(sequence: ast.Tuple, positions: set[int]) -> None:
    sequence.elts = [element for position, element in enumerate(sequence.elts) if position not in positions]


def _drop_unread(function: ast.FunctionDef, loaded_before: set[str]) -> set[str]:
    """Remove assignments to names that used to be read and no longer are; return those names."""
    dropped: set[str] = set()
    while unread := {
        name
        for node in ast.walk(function)
        if isinstance(node, ast.Assign)
        for names in [[name for target in node.targets for name in stored(target)]]
        if names and loaded_before.issuperset(names) and loads(function).isdisjoint(names)
        for name in names
    }:
        _Unread(unread).visit(function)
        dropped |= unread
    return dropped


class _Unread(ast.NodeTransformer):
    def __init__(self, names: set[str]) -> None:
        self.names = names

    def visit_Assign(self, node: ast.Assign) -> ast.AST | None:
        names = [name for target in node.targets for name in stored(target)]
        return None if names and self.names.issuperset(names) else node


def _keep_reachable(trees: tuple[ast.Module, ...], roots: tuple[str, ...]) -> None:
    """Keep the roots, whatever they mention by name, and the imports that what is kept still uses."""
    definitions = [(statement, defines(statement)) for tree in trees for statement in tree.body]
    kept, todo = set(roots), list(roots)
    while todo:
        name = todo.pop()
        for statement, names in definitions:
            if name in names:
                reached = loads(statement) - kept
                kept |= reached
                todo.extend(reached)
    for tree in trees:
        tree.body = [statement for statement in tree.body if not defines(statement) or kept & defines(statement)]
    used = set().union(*map(loads, trees))  # of all modules: one may star-import what another imports
    for tree in trees:
        tree.body = [statement for statement in tree.body if _still_needed(statement, used)]


def _still_needed(statement: ast.stmt, used: set[str]) -> bool:
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        statement.names = [
            alias
            for alias in statement.names
            if alias.name == "*" or (alias.asname or alias.name.partition(".")[0]) in used
        ]
        return bool(statement.names)
    return not isinstance(statement, (ast.Assert, ast.If, ast.Expr))


def _tidy(tree: ast.Module) -> None:
    """Drop docstrings, and put ``pass`` where a block has lost all its statements."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.FunctionDef, ast.ClassDef)):
            node.body = [item for item in node.body if not _is_text(item)]
        if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.If, ast.For, ast.While, ast.With)) and not node.body:
            node.body = [ast.Pass()]


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _unshared_members(trees: Mapping[str, ast.Module], enums: tuple[str, ...]) -> set[str]:
    """Members of the forbidden enums that no other class of the game has: an action may share its name with a score."""
    members: dict[bool, set[str]] = {True: set(), False: set()}
    for tree in trees.values():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                for statement in node.body:
                    members[node.name in enums] |= defines(statement)
    return members[True] - members[False]
