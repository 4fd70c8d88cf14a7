"""The grammar as tables: which syntax a program may use, and what to say about the rest. Checked before any meaning."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator, Mapping

from engine.sharp.editions import Edition
from engine.sharp.limits import INT_MAX, LARGEST, Limits
from engine.sharp.refusals import Refused
from engine.sharp.scanning import check_text
from engine.sharp.syntax_hints import refused_form, syntax_hint, target_hint

STATEMENTS: dict[type[ast.AST], str] = {
    ast.ClassDef: "one class",
    ast.FunctionDef: "methods and helper functions without recursion",
    ast.Return: "return",
    ast.Assign: "assignment to local names, tuple unpacking",
    ast.AnnAssign: "annotated assignment (the annotation is ignored)",
    ast.AugAssign: "augmented assignment",
    ast.For: "for over static ranges, tuples, arrays and enums",
    ast.If: "if / elif / else, on values of the state too",
    ast.Pass: "pass",
    ast.Break: "break",
    ast.Continue: "continue",
    ast.Expr: "docstrings, and append to a local list",
    ast.Import: "import of names already in scope (ignored)",
    ast.ImportFrom: "import of names already in scope (ignored)",
}

EXPRESSIONS: dict[type[ast.AST], str] = {
    ast.BoolOp: "and, or",
    ast.BinOp: "+ - * / // % ** & | ^ << >>",
    ast.UnaryOp: "not - + ~",
    ast.IfExp: "x if test else y",
    ast.Compare: "comparisons, chained too, in, not in, is None",
    ast.Call: "calls of the functions listed below",
    ast.Constant: "numbers, True, False, None",
    ast.Attribute: "fields of the state, enum members, array methods",
    ast.Subscript: "indices and slices",
    ast.Name: "names",
    ast.List: "lists of static length",
    ast.Tuple: "tuples",
    ast.Set: "{a, b} after in",
    ast.Slice: "start:stop:step",
    ast.ListComp: "comprehensions over static ranges, with if",
    ast.GeneratorExp: "generators inside any, all, sum, min, max, len, tuple, list",
    ast.Lambda: "lambdas as conditions in requires",
}

CHANGED: dict[type[ast.AST], tuple[int, str]] = {
    ast.Expr: (2, "docstrings, and append to or extend of a local list"),
}
"""What a later edition says of a form instead."""


def meanings(table: Mapping[type[ast.AST], str], edition: Edition) -> list[str]:
    """What the forms of a table mean in an edition, each said once."""
    said = (CHANGED[form][1] if form in CHANGED and edition.has(CHANGED[form][0]) else table[form] for form in table)
    return list(dict.fromkeys(said))


PARTS = (
    ast.Module, ast.arguments, ast.arg, ast.keyword, ast.alias, ast.comprehension, ast.Load, ast.Store,
    ast.And, ast.Or, ast.Not, ast.USub, ast.UAdd, ast.Invert,
    ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow,
    ast.BitAnd, ast.BitOr, ast.BitXor, ast.LShift, ast.RShift,
    ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.In, ast.NotIn, ast.Is, ast.IsNot,
)  # fmt: skip

OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>",
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
    ast.In: "in", ast.NotIn: "not in", ast.Is: "is", ast.IsNot: "is not",
    ast.Not: "not", ast.USub: "-", ast.UAdd: "+", ast.Invert: "~",
}  # fmt: skip

REFUSED: dict[str, tuple[str, str | None]] = {
    "While": ("while loops are not part of the language", "use for over a static range, with break"),
    "AsyncFunctionDef": ("async functions are not part of the language", None),
    "AsyncFor": ("async loops are not part of the language", None),
    "AsyncWith": ("async blocks are not part of the language", None),
    "Await": ("await is not part of the language", None),
    "Yield": ("generators are not part of the language", "return a value"),
    "YieldFrom": ("generators are not part of the language", "return a value"),
    "Try": ("try is not part of the language: nothing raises here", "leave it out"),
    "TryStar": ("try is not part of the language: nothing raises here", "leave it out"),
    "Raise": ("raise is not part of the language", "return False"),
    "Assert": ("assert is not part of the language", "leave it out"),
    "With": ("with is not part of the language", "leave it out"),
    "Global": ("global is not part of the language: a program keeps no state", "use the previous state"),
    "Nonlocal": ("nonlocal is not part of the language: a program keeps no state", "use the previous state"),
    "Delete": ("del is not part of the language", "leave it out"),
    "Match": ("match is not part of the language", "use if / elif / else"),
    "Starred": ("star-arguments and starred targets are not part of the language", "write the items out"),
    "NamedExpr": (":= is not part of the language", "assign on a line of its own"),
    "Dict": ("dicts are not part of the language", "use tuples and comparisons"),
    "DictComp": ("dicts are not part of the language", "use tuples and comparisons"),
    "SetComp": ("set comprehensions are not part of the language", "use a list comprehension"),
    "JoinedStr": ("f-strings are not part of the language", "leave it out"),
    "FormattedValue": ("f-strings are not part of the language", "leave it out"),
    "MatMult": ("@ is not part of the language", "multiply and sum"),
    "TypeAlias": ("type aliases are not part of the language", "leave it out"),
    "Del": ("del is not part of the language", "leave it out"),
}

MAX_GENERATORS = 16

TYPES = (ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.Tuple, ast.List, ast.BinOp)
"""What an annotation is made of."""

NO_FILE = ""
"""On a syntax error CPython opens the file that the source is said to come from; a file of this name cannot exist."""


def parse(source: str, limits: Limits) -> ast.Module:
    """The syntax tree of a source within the budgets, all of it in the grammar.

    Raises:
        Refused: with the place of what is not.
    """
    check_text(source)
    try:
        tree = quiet_parse(source)
    except SyntaxError as error:
        line, column = error.lineno or 0, error.offset or 0
        hint = syntax_hint(error.msg, source, line, column)
        if "integer string conversion" in error.msg:
            raise Refused("budget", "integers must fit into 32 bits", LARGEST, line, max(column, 1)) from None
        raise Refused("syntax", f"not valid Python: {error.msg}", hint, line, max(column, 1) if line else 0) from None
    except (ValueError, OverflowError) as error:
        raise Refused("syntax", f"not valid Python: {error}") from None
    except (RecursionError, MemoryError):
        raise Refused(
            "budget", f"the syntax is nested deeper than {limits.depth} levels", "use names for parts"
        ) from None
    _check_size(tree, limits)
    if not source.isascii():
        _count_characters(tree, source)
    for node in ast.walk(tree):
        _check_node(node, limits)
    return tree


def quiet_parse(source: str) -> ast.Module:
    """``ast.parse`` without its warnings (``1if x``, ``"\\d"``), which the interpreter's flags could make errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(source, NO_FILE)


def _count_characters(tree: ast.Module, source: str) -> None:
    """Columns of the tree as characters; the parser counts bytes."""
    lines = [line.encode() for line in source.split("\n")]
    for node in ast.walk(tree):
        if isinstance(node, (ast.stmt, ast.expr, ast.arg, ast.keyword, ast.alias)):
            node.col_offset = len(lines[node.lineno - 1][: node.col_offset].decode())


def _check_size(tree: ast.Module, limits: Limits) -> None:
    count = 0
    stack: list[tuple[ast.AST, int, int]] = [(tree, 0, 0)]
    while stack:
        node, depth, line = stack.pop()
        if isinstance(node, (ast.expr_context, ast.operator, ast.boolop, ast.unaryop, ast.cmpop)):
            continue
        count += 1
        line = getattr(node, "lineno", line)
        if count > limits.nodes:
            raise Refused(
                "budget",
                f"over the budget of {limits.nodes:,} nodes of the syntax tree",
                "shorten the program",
                line,
                1,
            )
        if depth > limits.depth:
            raise Refused(
                "budget", f"over the budget of {limits.depth} levels of the syntax tree", "use names for parts", line, 1
            )
        stack.extend((child, depth + 1, line) for child in reversed(list(ast.iter_child_nodes(node))))


def _check_node(node: ast.AST, limits: Limits) -> None:
    line, column = getattr(node, "lineno", 0), getattr(node, "col_offset", -1) + 1
    name = type(node).__name__
    if (refused := refused_form(node)) is not None:
        raise refused
    if name in REFUSED:
        raise Refused("grammar", *REFUSED[name], line, column)
    if type(node) not in STATEMENTS and type(node) not in EXPRESSIONS and not isinstance(node, PARTS):
        raise Refused("grammar", f"{name} is not part of the language", None, line, column)
    for text in _identifiers(node):
        if limits.name is not None and len(text) > limits.name:
            reason = f"a name of {len(text):,} characters is over the budget of {limits.name}"
            raise Refused("budget", reason, "choose a shorter name", line, column)
        if text.startswith("__") or (text.startswith("_") and text.endswith("__")):
            raise Refused(
                "name", f"{text} is not part of the language", "names do not begin with two underscores", line, column
            )
    if isinstance(node, (ast.FunctionDef, ast.Lambda)):
        arguments = node.args
        if arguments.vararg or arguments.kwarg:
            raise Refused("grammar", *REFUSED["Starred"], line, column)
    if isinstance(node, ast.ClassDef) and node.keywords:
        raise Refused("grammar", "a class takes no keywords", "write class Name(Sharp):", line, column)
    if isinstance(node, (ast.ListComp, ast.GeneratorExp)) and len(node.generators) > MAX_GENERATORS:
        reason = f"a comprehension over {len(node.generators)} ranges is over the budget of {MAX_GENERATORS}"
        raise Refused("budget", reason, "use helper methods", line, column)
    for annotation in _annotations(node):
        _check_annotation(annotation)
    if isinstance(node, ast.comprehension) and node.is_async:
        raise Refused("grammar", "async comprehensions are not part of the language", None, line, column)
    if isinstance(node, ast.keyword) and node.arg is None:
        raise Refused("grammar", *REFUSED["Starred"], line, column)
    if isinstance(node, ast.Constant):
        if isinstance(node.value, int) and abs(node.value) > INT_MAX + 1:
            raise Refused("budget", "integers must fit into 32 bits", LARGEST, line, column)
        if isinstance(node.value, str) and any("\ud800" <= character <= "\udfff" for character in node.value):
            raise Refused("syntax", "a text with half a character", "leave the escape out", line, column)
        if isinstance(node.value, (bytes, complex)):
            raise Refused("grammar", f"a {type(node.value).__name__} is not part of the language", None, line, column)
    if isinstance(node, ast.Assign):
        targets: list[ast.expr] = list(node.targets)
    elif isinstance(node, (ast.AugAssign, ast.AnnAssign, ast.For, ast.comprehension)):
        targets = [node.target]
    else:
        targets = []
    for target in targets:
        _check_target(target, bare=isinstance(node, (ast.AugAssign, ast.AnnAssign)))


def _annotations(node: ast.AST) -> Iterator[ast.expr]:
    for name in ("annotation", "returns"):
        annotation = getattr(node, name, None)
        if isinstance(annotation, ast.expr):
            yield annotation


def _check_annotation(annotation: ast.expr) -> None:
    """An annotation has no effect; it stays in the source, so it may only name a type."""
    for part in ast.walk(annotation):
        if isinstance(part, ast.expr) and not isinstance(part, TYPES):
            hint = "write a name, or leave it out"
            raise Refused("grammar", "an annotation names a type", hint, part.lineno, part.col_offset + 1)


def _check_target(target: ast.expr, bare: bool) -> None:
    if isinstance(target, ast.Name):
        return
    if isinstance(target, (ast.Tuple, ast.List)) and not bare:
        for item in target.elts:
            _check_target(item, bare=False)
        return
    if isinstance(target, ast.Starred):
        raise Refused("grammar", *REFUSED["Starred"], target.lineno, target.col_offset + 1)
    reason = "only local names can be assigned to"
    raise Refused("grammar", reason, target_hint(target), target.lineno, target.col_offset + 1)


def _identifiers(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.Attribute):
        yield node.attr
    elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        yield node.name
    elif isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(node, ast.keyword) and node.arg is not None:
        yield node.arg
    elif isinstance(node, ast.alias):
        if node.name != "__future__":
            yield from node.name.split(".")
        if node.asname:
            yield node.asname


def canonical(node: ast.AST) -> str:
    """A syntax tree as text that depends on no Python version: class names, fields, constants; no places, no types."""
    parts: list[str] = [type(node).__name__]
    for name, value in ast.iter_fields(node):
        if name in ("ctx", "type_comment", "kind", "type_params", "annotation", "returns", "type_ignores"):
            continue
        if isinstance(value, ast.AST):
            parts.append(f"{name}={canonical(value)}")
        elif isinstance(value, list):
            items = [canonical(item) if isinstance(item, ast.AST) else repr(item) for item in value]
            if items:
                parts.append(f"{name}=[{','.join(items)}]")
        elif value is not None or isinstance(node, ast.Constant):
            parts.append(f"{name}={type(value).__name__}:{value!r}")
    return f"({' '.join(parts)})"
