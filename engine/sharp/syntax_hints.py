"""What to write instead where a text is no Python, or is Python that the language lacks, in its author's terms."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from engine.sharp.hints import pair, shown
from engine.sharp.refusals import Refused

LEAVE_OUT = "leave this out: the class alone is the program"
KEEPS_NOTHING = "a program keeps nothing: leave it out, put constants in the class"
KEEPS_NO_STATE = "a program keeps no state: compare with previous"

_CONSTRUCTORS = ("__init__", "__new__", "__post_init__")

_CUT = "the text seems to end in the middle of the program"
_NO_CLASS = "answer with one class: class Name(Sharp):"

_QUOTES = "“”„‟‘’‚‛«»´`"
_SIGNS = {
    "≥": ">=", "≤": "<=", "≠": "!=", "×": "*", "·": "*", "÷": "/", "−": "-", "–": "-", "—": "-", "→": "->",
    "∧": "and", "∨": "or", "¬": "not", "∈": "in", "∉": "not in", "…": "...", "，": ",", "（": "(", "）": ")", "：": ":",
}  # fmt: skip

_CHARACTER = re.compile(r"invalid character '(.)'")
_OTHER_BRACKET = re.compile(r"closing parenthesis '.' does not match opening parenthesis '(.)'")
_CLOSING = {"(": ")", "[": "]", "{": "}"}

_MESSAGES = (
    ("unmatched '", "open this bracket, or leave it out"),
    ("invalid non-printable character", "use plain blanks"),
    ("Maybe you meant '=='", "write == to compare"),
    ("unterminated triple-quoted", 'close the text with """'),
    ("unterminated string", "close the text with a quote on its line"),
    ("unindent does not match", "indent the lines of a block alike"),
    ("unexpected indent", "indent the lines of a block alike"),
    ("expected an indented block", "indent what belongs to it; an empty block holds pass"),
    ("Missing parentheses in call to 'print'", "leave it out"),
    ("f-string", "f-strings are not part of the language: leave it out"),
    ("expected ':'", "put a colon here"),
    ("expected 'except'", "try is not part of the language: leave it out"),
)
"""What a message of Python's parser holds, and what to do about it."""

_WRITTEN = (
    (re.compile(r"\belse\s+if\b"), "write elif"),
    (re.compile(r"&&"), "write and"),
    (re.compile(r"\|\|"), "write or"),
    (re.compile(r"!(?!=)"), "write not"),
    (re.compile(r"\?"), "write x if test else y"),
    (re.compile(r"\+\+|--"), "write += 1 or -= 1 on a line of its own"),
    (re.compile(r"=>"), "write >= to compare"),
    (re.compile(r"=<"), "write <= to compare"),
)
"""What other languages write where Python stumbles, and what Python writes."""


def syntax_hint(message: str, source: str, line: int, column: int) -> str | None:
    """What to do about a message of Python's parser at a place of the source, or None."""
    lines = source.split("\n")[:-1]
    if not any(text.startswith("class ") for text in lines):
        return _NO_CLASS
    if found := _CHARACTER.search(message):
        character = found.group(1)
        if character in _QUOTES:
            return "use plain quotes \" or '"
        return f"write {_SIGNS[character]}" if character in _SIGNS else "use plain letters and signs"
    if found := _OTHER_BRACKET.search(message):
        return f"close {found.group(1)} with {_CLOSING[found.group(1)]}"
    if "was never closed" in message:
        return "close this bracket"
    if line > len(lines) or (line == len(lines) and _at_the_end(message, lines[line - 1], column)):
        return _CUT
    text = lines[line - 1] if line else ""
    for written, advice in _WRITTEN:
        if any(each.start() - 1 <= column - 1 <= each.end() for each in written.finditer(text)):
            return advice
    return next((advice for part, advice in _MESSAGES if part in message), None)


def _at_the_end(message: str, text: str, column: int) -> bool:
    return not text[max(column - 1, 0) :].strip() or "unterminated" in message


def refused_form(node: ast.AST) -> Refused | None:
    """The refusal of what honest authors often write and the language lacks, with what it is for; None for the rest."""
    if isinstance(node, ast.FunctionDef) and node.name in _CONSTRUCTORS:
        return _at(node, "name", f"{node.name} is not part of the language", KEEPS_NOTHING)
    if isinstance(node, ast.Name) and node.id == "__name__":
        return _at(node, "name", "__name__ is not part of the language", LEAVE_OUT)
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.decorator_list:
        decorator = node.decorator_list[0]
        text = shown(decorator)
        hint = "leave it out" if text is None else f"leave @{text} out"
        return _at(decorator, "grammar", "decorators are not part of the language", hint)
    if isinstance(node, (ast.Assign, ast.AnnAssign)) and isinstance(node.value, ast.Dict):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if any(isinstance(target, ast.Name) and target.id == "requires" for target in targets):
            return _at(node.value, "grammar", "requires is a list of pairs, not a dict", _as_pairs(node.value))
    return None


def target_hint(target: ast.expr) -> str:
    """What to do instead of an assignment to anything but a local name."""
    if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == "self":
        return KEEPS_NO_STATE
    return "programs change nothing: build a new value, for example with jnp.where or append"


def _as_pairs(node: ast.Dict) -> str:
    """The items of a dict as pairs, the condition first, whichever was the key."""
    if not node.keys:
        return "write requires = []"
    pairs = [_pair(key, value) for key, value in zip(node.keys, node.values, strict=True)]
    text = ", ".join(each for each in pairs if each is not None)
    return f"write [{text}]" if None not in pairs and len(text) <= 80 else 'write [(condition, "Prerequisite")]'


def _pair(key: ast.expr | None, value: ast.expr) -> str | None:
    sides: Sequence[ast.expr | None] = (key, value)
    if isinstance(key, ast.Constant) and not isinstance(value, ast.Constant):
        sides = (value, key)
    condition, prerequisite = sides
    return None if condition is None or prerequisite is None else pair(condition, prerequisite)


def _at(node: ast.AST, kind: str, reason: str, suggestion: str) -> Refused:
    return Refused(kind, reason, suggestion, getattr(node, "lineno", 0), getattr(node, "col_offset", -1) + 1)
