"""What part of a program a refusal means: from the place where something was found wrong to all that is meant by it.

A refusal has a place and no end. The syntax tree, the kind of the refusal and the names in its reason tell the rest.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from attrs import evolve

from engine.sharp.explaining.excerpt import Span
from engine.sharp.grammar import OPERATORS, quiet_parse
from ledger.vocabulary.vet import Refusal

INDENT = " \t\f"
_TOKEN = re.compile(r"\w+|\*\*|//|<<|>>|[<>=!]=|:=|->|[^\w\s]")
_WORD = re.compile(r"\w+")
_MISSING = re.compile(r"(?:has no(?: field| member| method or constant)?|an attribute) (\w+)$|(\w+) is not in ")
"""How reasons name the attribute that does not exist."""


def tree_of(source: str) -> ast.Module | None:
    """The syntax tree; None for what is no Python."""
    try:
        return quiet_parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def indent(line: str) -> int:
    """How many characters a line is indented by."""
    return len(line) - len(line.lstrip(INDENT))


# --- better places ---------------------------------------------------------------------------------------------------


def better_placed(source: Sequence[str], tree: ast.Module, refusal: Refusal) -> Refusal:
    """The refusal at the part of the program that its author has to look at."""
    found: ast.AST | None = None
    classes = [each for each in tree.body if isinstance(each, ast.ClassDef)]
    if refusal.kind == "archive" and classes:
        found = _prerequisite(classes[0], refusal.reason) or classes[0]
    elif refusal.kind in ("output", "sampled"):
        methods = [each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef)]
        if refusal.kind == "sampled":
            found = next((each for each in methods if each.name == "success"), None)
        else:
            found = next((_only_return(each) for each in methods if each.lineno == refusal.line), None)
    if found is None:
        return refusal
    line = getattr(found, "lineno", 0)
    return evolve(refusal, line=line, column=_character(source, line, getattr(found, "col_offset", 0)) + 1)


def _prerequisite(definition: ast.ClassDef, reason: str) -> ast.AST | None:
    """The name in ``requires`` that the reason speaks of."""
    for item in definition.body:
        if isinstance(item, ast.Assign) and any(
            isinstance(to, ast.Name) and to.id == "requires" for to in item.targets
        ):
            for node in ast.walk(item.value):
                name = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None
                if name and (f"prerequisite {name.strip()} " in reason or reason == f"{name.strip()} requires itself"):
                    return node
    return None


def _only_return(method: ast.FunctionDef) -> ast.AST | None:
    """What a method returns, if it returns in one place only."""
    found: list[ast.Return] = []
    stack: list[ast.AST] = list(method.body)
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Return):
            found.append(node)
        elif not isinstance(node, (ast.FunctionDef, ast.Lambda)):
            stack.extend(ast.iter_child_nodes(node))
    return found[0].value if len(found) == 1 else None


# --- how far it reaches ----------------------------------------------------------------------------------------------


def reach(source: Sequence[str], tree: ast.Module | None, refusal: Refusal) -> tuple[Span, Span]:
    """The characters that are meant, and their heart: a name, an operator, a keyword or a first character."""
    text = source[refusal.line - 1]
    start = min(max(refusal.column - 1, 0), len(text))
    if refusal.kind == "budget" and refusal.column == 1:  # a line as a whole
        start = indent(text)
        return (start, len(text.rstrip())), (start, start + 1)
    if refusal.kind == "syntax" and text[start:].strip():  # a wrong indentation is shown at what is indented
        start += len(text[start:]) - len(text[start:].lstrip())
    found = _Reach(source, refusal, start)
    chosen = None if tree is None else found.chosen(tree)
    return found.token() if chosen is None else chosen


def _character(source: Sequence[str], line: int, offset: int) -> int:
    """An offset in bytes, as the parser counts, as one in characters."""
    return len(source[line - 1].encode("utf-8", "surrogatepass")[:offset].decode("utf-8", "replace"))


class _Reach:
    """The part of a program that begins where a refusal points and is of the kind that it speaks about."""

    def __init__(self, source: Sequence[str], refusal: Refusal, start: int) -> None:
        self.source = source
        self.refusal = refusal
        self.text = source[refusal.line - 1]
        self.start = start
        self.words = frozenset(_WORD.findall(refusal.reason))
        self.operator = refusal.reason.split(" ", 1)[0]
        missing = _MISSING.search(refusal.reason)
        self.missing = self.words if missing is None else frozenset(missing.groups())

    def token(self) -> tuple[Span, Span]:
        """The name or sign that stands there."""
        match = _TOKEN.match(self.text, self.start)
        span = match.span() if match else (self.start, self.start + 1)
        return span, span

    def chosen(self, tree: ast.Module) -> tuple[Span, Span] | None:
        """The part of the tree that is meant, if one is known to be."""
        here = [node for node in ast.walk(tree) if self._begins(node)]
        expressions = sorted((node for node in here if isinstance(node, ast.expr)), key=self._end)
        for statement in here:
            if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
                return self._defined(statement)
            if isinstance(statement, ast.If) and self.refusal.kind in ("shape", "type"):
                return self._whole(statement.test)
            if isinstance(statement, (ast.Import, ast.ImportFrom, ast.arg, ast.keyword)):
                return self._whole(statement)
        if self.refusal.kind == "attribute":
            members = [each for each in expressions if self._is_member(each)]
            return self._member(members[-1]) if members else None
        named = self.refusal.kind == "name" and not self.refusal.reason.startswith("this ")
        if named or not expressions:
            return None
        if self.refusal.kind == "output":
            return self._whole(expressions[-1])
        return self._expression(expressions)

    def _expression(self, expressions: list[ast.expr]) -> tuple[Span, Span]:
        for each in expressions:
            if self.operator in self._operators(each):
                return self._joined(each)
        wanted = self._wanted()
        for each in expressions:
            if isinstance(each, wanted):
                return self._whole(each)
        composite = [each for each in expressions if not isinstance(each, (ast.Name, ast.Attribute, ast.Constant))]
        return self._whole(composite[0] if composite else expressions[-1])

    def _wanted(self) -> tuple[type[ast.expr], ...]:
        """Which expressions the reason speaks about."""
        reason = self.refusal.reason
        if self.refusal.kind == "call":
            return (ast.Call,)
        if "fit together" in reason:
            return (ast.BinOp, ast.Compare, ast.Call)
        if "truth value" in reason:
            return (ast.BoolOp, ast.UnaryOp, ast.IfExp, ast.Compare, ast.Call)
        if {"index", "indices", "slice", "axis", "window"} & self.words:
            return (ast.Subscript, ast.Call)
        return ()

    def _is_member(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Attribute) and node.attr in self.missing

    def _member(self, node: ast.expr) -> tuple[Span, Span]:
        """``owner.member``, with the member as its heart."""
        assert isinstance(node, ast.Attribute)
        begin, end = span = self._span(node)
        name = end - len(node.attr)
        return span, (name, end) if node.end_lineno == self.refusal.line and name > begin else span

    def _joined(self, node: ast.expr) -> tuple[Span, Span]:
        """An operation, with its operator as its heart if it stands on the line."""
        begin, end = span = self._span(node)
        left = node.left if isinstance(node, (ast.BinOp, ast.Compare)) else node
        if left is node or left.end_lineno != self.refusal.line:
            return span, (begin, begin + 1)
        at = self.text.find(self.operator, self._character(left.end_lineno, left.end_col_offset), end)
        return span, (at, at + len(self.operator)) if at >= 0 else (begin, begin + 1)

    def _operators(self, node: ast.expr) -> tuple[str, ...]:
        found: list[ast.AST] = []
        if isinstance(node, (ast.BinOp, ast.UnaryOp)):
            found = [node.op]
        elif isinstance(node, ast.Compare):
            found = [node.ops[0]]
        return tuple(OPERATORS[type(each)] for each in found if type(each) in OPERATORS)

    def _defined(self, node: ast.FunctionDef | ast.ClassDef) -> tuple[Span, Span]:
        """``def name``, with the name as its heart."""
        at = self.text.find(node.name, self.start + len("def"))
        if at < 0:
            return self.token()
        return (self.start, at + len(node.name)), (at, at + len(node.name))

    def _whole(self, node: ast.AST) -> tuple[Span, Span]:
        begin, end = self._span(node)
        return (begin, end), (begin, begin + 1)

    def _span(self, node: ast.AST) -> Span:
        begin = self._character(self.refusal.line, getattr(node, "col_offset", 0))
        end = self._end(node)[1] if self._end(node)[0] == self.refusal.line else len(self.text.rstrip())
        return begin, max(end, begin + 1)

    def _end(self, node: ast.AST) -> tuple[int, int]:
        line: int = getattr(node, "end_lineno", None) or self.refusal.line
        return line, self._character(line, getattr(node, "end_col_offset", None) or 0)

    def _begins(self, node: ast.AST) -> bool:
        line = getattr(node, "lineno", None)
        return line == self.refusal.line and self._character(line, getattr(node, "col_offset", 0)) == self.start

    def _character(self, line: int | None, offset: int | None) -> int:
        return _character(self.source, line or 1, offset or 0)
