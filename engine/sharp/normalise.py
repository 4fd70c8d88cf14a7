"""From the text of a reply to the source of one class: fences, marks and quotes go, and what went is written down."""

from __future__ import annotations

import ast
import json
import re
import warnings

from attrs import frozen

from engine.sharp.limits import Limits
from engine.sharp.refusals import Refused

_FENCE = re.compile(r"^[ ]{0,3}(`{3,}|~{3,})[ \t]*([A-Za-z0-9_+-]*)$")

_CLASS = re.compile(r"\s*class\s+\w+\s*[:(]")


@frozen
class Normalised:
    """Source with ``\\n`` line ends and no tabs, and the names of the steps that led to it."""

    source: str
    steps: tuple[str, ...]


def normalise(text: str, limits: Limits) -> Normalised:
    """The source inside ``text``. Applied to its own result it changes nothing.

    Raises:
        Refused: if the text is too long, holds several programs in fences, or characters no source can hold.
    """
    if len(text.encode("utf-8", "surrogatepass")) > limits.source_bytes:
        raise Refused(
            "budget", f"the source is over the budget of {limits.source_bytes:,} bytes", "shorten it; comments count"
        )
    steps: list[str] = []

    def changed(name: str, after: str) -> None:
        nonlocal text
        if after != text:
            text = after
            if name not in steps:
                steps.append(name)

    changed("byte order mark removed", text.lstrip("\ufeff"))
    changed("line ends made \\n", text.replace("\r\n", "\n").replace("\r", "\n"))
    changed("quotes around the source removed", _unquoted(text))
    changed("line ends made \\n", text.replace("\r\n", "\n").replace("\r", "\n"))
    changed("text outside the code block removed", _block(text))
    changed("tabs made spaces", "\n".join(_untabbed(line) for line in text.split("\n")))
    changed("common indentation removed", _dedented(text))
    for index, character in enumerate(text):
        if character == "\x00" or 0xD800 <= ord(character) <= 0xDFFF:
            line = text.count("\n", 0, index) + 1
            raise Refused("syntax", f"a character that no source can hold: U+{ord(character):04X}", None, line, 1)
    stripped = text.strip("\n").rstrip()
    text = stripped + "\n" if stripped else ""
    return Normalised(text, tuple(steps))


def _unquoted(text: str) -> str:
    """The content of a text that is one string literal, of JSON or Python, with a program inside."""
    body = text.strip()
    if len(body) < 2 or body[0] not in "\"'" or body[-1] != body[0] or "class" not in body:
        return text
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree = ast.parse(body, "", mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return text
        content = tree.value if isinstance(tree, ast.Constant) else None
    return content if isinstance(content, str) else text


def _block(text: str) -> str:
    """The one fenced block that holds a class; the text itself where nothing is fenced."""
    blocks: list[list[str]] = []
    outside: list[str] = []
    fence: str | None = None
    for line in text.split("\n"):
        match = _FENCE.match(line.rstrip(" \t"))
        if fence is None and match:
            fence = match.group(1)
            blocks.append([])
        elif fence is not None and match and match.group(1).startswith(fence) and not match.group(2):
            fence = None
        elif fence is not None:
            blocks[-1].append(line)
        else:
            outside.append(line)
    if any(_CLASS.match(line) for line in outside):
        return text  # the fences are inside a docstring or comment of the program
    programs = ["\n".join(block) for block in blocks if any(_CLASS.match(line) for line in block)]
    if len(programs) > 1:
        raise Refused(
            "syntax", f"{len(programs)} code blocks hold a class", "answer with one block that holds one class"
        )
    if programs:
        return programs[0]
    if len(blocks) == 1:
        return "\n".join(blocks[0])
    return text


def _untabbed(line: str) -> str:
    body = line.lstrip(" \t\f")
    indent = line[: len(line) - len(body)]
    return indent.replace("\f", "").expandtabs(8) + body


def _dedented(text: str) -> str:
    lines = text.split("\n")
    first = next((line for line in lines if line.strip() and not line.lstrip().startswith("#")), "")
    width = len(first) - len(first.lstrip(" "))
    if width == 0:
        return text
    if any(line.strip() and line[:width].strip() and not line.lstrip().startswith("#") for line in lines):
        return text
    return "\n".join(line[width:] if not line[:width].strip() else line for line in lines)
