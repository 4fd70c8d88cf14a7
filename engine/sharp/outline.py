"""The outline of a text: one class, its constants, its methods, and the list that its form has."""

from __future__ import annotations

import ast

from engine.sharp.forms import Form, form_of
from engine.sharp.hints import condition_hint, pair_hint, swapped_hint
from engine.sharp.lower import Compiler
from engine.sharp.refusals import Missing, Refused, did_you_mean, nearest
from engine.sharp.scope import Env
from engine.sharp.values import LocalFunction

Pair = tuple[ast.FunctionDef | ast.Lambda, str, str]
"""A condition, what to call it, and the prerequisite."""


def read_module(compiler: Compiler, tree: ast.Module) -> ast.ClassDef:
    """The one class; constants and functions beside it come into scope.

    Raises:
        Refused: if there is no class, several, or anything else at the top.
    """
    form = compiler.form
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
            for name, value in _module_constants(compiler, item, classes):
                compiler.module.names[name] = value
        elif isinstance(item, ast.Expr) and isinstance(item.value, ast.Constant) and isinstance(item.value.value, str):
            continue
        elif isinstance(item, ast.FunctionDef):
            raise _at(item, f"{form.noun} is one class; this is a function", form.template)
        else:
            raise _at(item, _AT_THE_TOP, _left_out(form) if classes else form.template)
    if not classes:
        raise Refused("grammar", "there is no class", form.template)
    if len(classes) > 1:
        raise _at(
            classes[1],
            f"{form.noun} is one class; here are {len(classes)}",
            f"propose the others as {form.plural} of their own",
        )
    return classes[0]


_AT_THE_TOP = "only the class, constants and helper functions stand at the top"


def _left_out(form: Form) -> str:
    return f"leave this out: the class alone is the {form.noun.partition(' ')[2]}"


def _module_constants(
    compiler: Compiler, item: ast.Assign | ast.AnnAssign, classes: list[ast.ClassDef]
) -> list[tuple[str, object]]:
    """Names and values of a constant beside the class; a use of the class itself is told to go."""
    try:
        return _constants(compiler, item)
    except Missing as missing:
        if missing.kind == "name" and missing.name in [each.name for each in classes]:
            raise _at(item, _AT_THE_TOP, _left_out(compiler.form)) from None
        raise


def read_class(compiler: Compiler, definition: ast.ClassDef) -> list[Pair]:
    """Read constants and methods of a skill into the compiler; returns the pairs of ``requires`` in order.

    Raises:
        Refused: if the class has a wrong base, name, member, or no ``success``.
    """
    requires = read_members(compiler, definition)
    return [] if requires is None else _pairs(compiler, requires)


def read_members(compiler: Compiler, definition: ast.ClassDef) -> ast.expr | None:
    """Read constants and methods into the compiler, as its form has them; returns the form's list, not yet read.

    Raises:
        Refused: if the class has a wrong base, name or member, or lacks the method that its form is about.
    """
    form = compiler.form
    _check_head(compiler, definition)
    compiler.class_name = definition.name
    listed: ast.expr | None = None
    for item in definition.body:
        if isinstance(item, ast.FunctionDef):
            _check_member(compiler, item.name, item)
            _new_name(compiler, item.name, item)
            if form.listed is not None and item.name == form.listed.name:
                reason = f"{form.listed.name} is a list of {form.listed.items}, not a method"
                raise _at(item, reason, f"write {form.listed.usage}")
            _add_method(compiler, item.name, item, item)
        elif isinstance(item, (ast.Assign, ast.AnnAssign)):
            targets = item.targets if isinstance(item, ast.Assign) else [item.target]
            names = [target.id for target in targets if isinstance(target, ast.Name)]
            for name in names:
                _check_member(compiler, name, item)
            if form.listed is not None and form.listed.name in names:
                if listed is not None or len(targets) > 1:
                    raise _at(item, f"{form.listed.name} is given twice", f"write one list of {form.listed.items}")
                listed = item.value
                continue
            if isinstance(item.value, ast.Lambda) and len(targets) == 1 and isinstance(targets[0], ast.Name):
                _new_name(compiler, targets[0].id, item)
                _add_method(compiler, targets[0].id, compiler.as_method(item.value, targets[0].id), item)
                continue
            compiler.class_values.update(_constants(compiler, item))
        elif isinstance(item, (ast.Import, ast.ImportFrom)):
            compiler.check_import(item)
        elif isinstance(item, ast.Pass) or _is_text(item):
            continue
        elif isinstance(item, ast.ClassDef):
            hint = f"one {form.noun.removeprefix('a ')} is one class"
            raise _at(item, "a class inside a class is not part of the language", hint)
        else:
            raise _at(item, f"only {form.members} stand in a class", form.template)
    if form.method is not None and form.method.name not in compiler.methods:
        close = nearest(form.method.name, compiler.methods)
        hint = f"write {form.method.usage}" if close is None else f"call {close} {form.method.name}"
        raise _at(definition, f"{definition.name} has no {form.method.name} method", hint)
    return listed


def _check_head(compiler: Compiler, definition: ast.ClassDef) -> None:
    form = compiler.form
    _check_form(compiler, definition)
    try:
        compiler.check_class_name(definition.name)
    except Refused as refused:
        raise refused.placed(definition.lineno, definition.col_offset + 1) from None
    if len(definition.bases) > 1:
        raise _at(definition, f"{form.noun} has one base class", f"write {form.head}")
    if not definition.bases:
        compiler.note(f"base class {form.base} added")
        return
    base = definition.bases[0]
    if not isinstance(base, ast.Name) or base.id not in (*form.spellings, "object"):
        raise _at(base, f"the base class is {form.base}", f"write {form.head}")
    if base.id != form.base:
        compiler.note(f"base class {base.id} read as {form.base}")


def _check_form(compiler: Compiler, definition: ast.ClassDef) -> None:
    """Refuse a text of another form than the one that was asked for. (The first edition knew one form only.)"""
    form = compiler.form
    for base in definition.bases[:1]:
        found = form_of(base.id) if isinstance(base, ast.Name) else None
        if found is not None and found is not form and compiler.edition.has(2):
            raise _at(base, f"this is {found.noun}, and {form.noun} is asked for", form.template)


def _check_member(compiler: Compiler, name: str, item: ast.stmt) -> None:
    """Refuse what belongs to another form."""
    if name in compiler.form.foreign:
        raise _at(item, *compiler.form.foreign[name])


def _add_method(compiler: Compiler, name: str, method: ast.FunctionDef, item: ast.stmt) -> None:
    form = compiler.form
    if form.method is None:
        raise _at(item, f"{form.noun} has no methods", form.template)
    compiler.methods[name] = method


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
    conditions = _conditions(compiler)
    limits = compiler.edition.limits
    if limits.requirements is not None and len(node.elts) > limits.requirements:
        reason = f"{len(node.elts)} requirements are over the budget of {limits.requirements}"
        raise _at(node, reason, "name the immediate ones")
    pairs: list[Pair] = []
    for index, item in enumerate(node.elts):
        if not isinstance(item, (ast.List, ast.Tuple)) or len(item.elts) != 2:
            reason = "an item of requires is a pair of a condition and a prerequisite"
            raise _at(item, reason, pair_hint(node, item, conditions))
        condition, prerequisite = item.elts
        try:
            source, what = _condition(compiler, condition, index)
        except Refused as refused:
            refused.suggestion = swapped_hint(condition, prerequisite, conditions) or refused.suggestion
            raise
        name = _prerequisite(prerequisite)
        if limits.strict and not (name.isascii() and name.isidentifier()):
            raise _at(prerequisite, "a prerequisite is the name of a skill", 'write it as it stands, such as "DigClay"')
        pairs.append((source, what, name))
    return pairs


def _conditions(compiler: Compiler) -> list[str]:
    """Names of what can be a condition, in the order of the text."""
    method = compiler.form.method
    methods = [name for name in compiler.methods if method is None or name != method.name]
    return methods + [name for name, value in compiler.module.names.items() if isinstance(value, LocalFunction)]


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
        raise _at(node, "a condition is a method's name or a lambda", condition_hint(node, _conditions(compiler)))
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
    raise _at(node, "a prerequisite is the name of a skill", 'write it as a string, such as "DigClay"')


def _is_text(item: ast.stmt) -> bool:
    return (
        isinstance(item, ast.Expr)
        and isinstance(item.value, ast.Constant)
        and isinstance(item.value.value, (str, type(...)))
    )


def _at(node: ast.AST, reason: str, suggestion: str | None = None) -> Refused:
    return Refused("grammar", reason, suggestion, getattr(node, "lineno", 0), getattr(node, "col_offset", -1) + 1)
