"""The outline of a program: one class, its constants, its methods, and the initiation set."""

from __future__ import annotations

import ast

from engine.sharp.lower import Compiler
from engine.sharp.refusals import Refused, did_you_mean, nearest
from engine.sharp.scope import BASES, Env
from engine.sharp.values import LocalFunction

Pair = tuple[ast.FunctionDef | ast.Lambda, str, str]
"""A condition, what to call it, and the prerequisite."""

TEMPLATE = "write class Name(Sharp): with a docstring, success(self, state, previous) and requires"


def read_module(compiler: Compiler, tree: ast.Module) -> ast.ClassDef:
    """The one class; constants and functions beside it come into scope.

    Raises:
        Refused: if there is no class, several, or anything else at the top.
    """
    classes = [item for item in tree.body if isinstance(item, ast.ClassDef)]
    for item in tree.body:
        if isinstance(item, ast.ClassDef):
            continue
        if isinstance(item, (ast.Import, ast.ImportFrom)):
            compiler.check_import(item)
        elif isinstance(item, ast.FunctionDef) and classes:
            _new_name(compiler, item.name, item)
            compiler.module.names[item.name] = LocalFunction(item, 0)
        elif isinstance(item, (ast.Assign, ast.AnnAssign)) and classes:
            for name, value in _constants(compiler, item):
                compiler.module.names[name] = value
        elif isinstance(item, ast.Expr) and isinstance(item.value, ast.Constant) and isinstance(item.value.value, str):
            continue
        elif isinstance(item, ast.FunctionDef):
            raise _at(item, "a program is one class; this is a function", TEMPLATE)
        else:
            raise _at(item, "only the class, constants and helper functions stand at the top", TEMPLATE)
    if not classes:
        raise Refused("grammar", "there is no class", TEMPLATE)
    if len(classes) > 1:
        raise _at(
            classes[1],
            f"a program is one class; here are {len(classes)}",
            "propose the others as programs of their own",
        )
    return classes[0]


def read_class(compiler: Compiler, definition: ast.ClassDef) -> list[Pair]:
    """Read constants and methods into the compiler; returns the pairs of ``requires`` in order.

    Raises:
        Refused: if the class has a wrong base, name, member, or no ``success``.
    """
    _check_head(compiler, definition)
    compiler.class_name = definition.name
    requires: ast.expr | None = None
    for item in definition.body:
        if isinstance(item, ast.FunctionDef):
            _new_name(compiler, item.name, item)
            if item.name == "requires":
                raise _at(
                    item, "requires is a list of pairs, not a method", 'write requires = [(condition, "Prerequisite")]'
                )
            compiler.methods[item.name] = item
        elif isinstance(item, (ast.Assign, ast.AnnAssign)):
            targets = item.targets if isinstance(item, ast.Assign) else [item.target]
            if any(isinstance(target, ast.Name) and target.id == "requires" for target in targets):
                if requires is not None or len(targets) > 1:
                    raise _at(item, "requires is given twice", "write one list of pairs")
                requires = item.value
                continue
            if isinstance(item.value, ast.Lambda) and len(targets) == 1 and isinstance(targets[0], ast.Name):
                _new_name(compiler, targets[0].id, item)
                compiler.methods[targets[0].id] = compiler.as_method(item.value, targets[0].id)
                continue
            compiler.class_values.update(_constants(compiler, item))
        elif isinstance(item, (ast.Import, ast.ImportFrom)):
            compiler.check_import(item)
        elif isinstance(item, ast.Pass) or _is_text(item):
            continue
        elif isinstance(item, ast.ClassDef):
            raise _at(item, "a class inside a class is not part of the language", "one program is one class")
        else:
            raise _at(item, "only constants, methods and requires stand in a class", TEMPLATE)
    if "success" not in compiler.methods:
        close = nearest("success", compiler.methods)
        hint = "write def success(self, state, previous):" if close is None else f"call {close} success"
        raise _at(definition, f"{definition.name} has no success method", hint)
    return [] if requires is None else _pairs(compiler, requires)


def _check_head(compiler: Compiler, definition: ast.ClassDef) -> None:
    name = definition.name
    if name in compiler.scope or name in compiler.guarded:
        raise _at(definition, f"{name} has a meaning already, so no skill can be called so", "choose another name")
    if len(definition.bases) > 1:
        raise _at(definition, "a program has one base class", "write class Name(Sharp):")
    if not definition.bases:
        compiler.note("base class Sharp added")
        return
    base = definition.bases[0]
    if not isinstance(base, ast.Name) or base.id not in (*BASES, "object"):
        raise _at(base, "the base class is Sharp", "write class Name(Sharp):")
    if base.id != "Sharp":
        compiler.note(f"base class {base.id} read as Sharp")


def _constants(compiler: Compiler, item: ast.Assign | ast.AnnAssign) -> list[tuple[str, object]]:
    """Names and values of a constant assignment."""
    if item.value is None:
        return []
    targets = item.targets if isinstance(item, ast.Assign) else [item.target]
    value = compiler.constant_expression(item.value, "a class constant")
    scratch = Env()
    for target in targets:
        compiler.assign(target, value, scratch)
    for name in scratch.names:
        _new_name(compiler, name, item)
    return list(scratch.names.items())


def _new_name(compiler: Compiler, name: str, node: ast.stmt) -> None:
    compiler.check_free(name, node)
    if name in compiler.methods or name in compiler.class_values or name in compiler.module.names:
        raise _at(node, f"{name} is defined twice", "keep one of them")


def _pairs(compiler: Compiler, node: ast.expr) -> list[Pair]:
    if not isinstance(node, (ast.List, ast.Tuple)):
        raise _at(node, "requires is a list of pairs", 'write requires = [(condition, "Prerequisite")]')
    pairs: list[Pair] = []
    for index, item in enumerate(node.elts):
        if not isinstance(item, (ast.List, ast.Tuple)) or len(item.elts) != 2:
            hint = "a single pair still needs the list around it" if isinstance(node, ast.Tuple) else None
            raise _at(item, "an item of requires is a pair of a condition and a prerequisite", hint)
        condition, prerequisite = item.elts
        source, what = _condition(compiler, condition, index)
        pairs.append((source, what, _prerequisite(prerequisite)))
    return pairs


def _condition(compiler: Compiler, node: ast.expr, index: int) -> tuple[ast.FunctionDef | ast.Lambda, str]:
    if isinstance(node, ast.Lambda):
        return node, f"lambda[{index}]"
    name = None
    if isinstance(node, ast.Name):
        name = node.id
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        name = node.value
    elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        if node.value.id in ("self", compiler.class_name):
            name = node.attr
    if name is None:
        raise _at(
            node,
            "a condition is a method's name or a lambda",
            "write (has_wood, ...) for a method has_wood(self, state)",
        )
    if name in compiler.methods:
        return compiler.methods[name], name
    function = compiler.module.names.get(name)
    if isinstance(function, LocalFunction):
        return function.definition, name
    raise _at(node, f"there is no condition {name} in the class", did_you_mean(name, compiler.methods))


def _prerequisite(node: ast.expr) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value.strip()
    if isinstance(node, ast.Name):
        return node.id
    raise _at(node, "a prerequisite is the name of a skill", 'write it as a string, such as "GatherWood"')


def _is_text(item: ast.stmt) -> bool:
    return (
        isinstance(item, ast.Expr)
        and isinstance(item.value, ast.Constant)
        and isinstance(item.value.value, (str, type(...)))
    )


def _at(node: ast.AST, reason: str, suggestion: str | None = None) -> Refused:
    return Refused("grammar", reason, suggestion, getattr(node, "lineno", 0), getattr(node, "col_offset", -1) + 1)
