"""What commands print: results on standard output, everything else on standard error, nothing that a terminal obeys.

A ledger may come from anybody, so its texts are shown with every unprintable character escaped, and never as markup.
"""

from __future__ import annotations

import json
import sys
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

NARROWEST_COLUMNS = 100
"""Tables need room; a pipe has no width of its own."""


def safe(text: object, limit: int | None = None) -> str:
    """``text`` on one line, unprintable characters as escapes, cut to ``limit`` characters with an ellipsis.

    Control characters, direction marks, line separators and lone surrogates are unprintable; a plain space is not.
    """
    line = "".join(each if each.isprintable() else _escape(each) for each in str(text))
    if limit is not None and len(line) > limit:
        return line[: limit - 1] + "…"
    return line


def _escape(character: str) -> str:
    code = ord(character)
    if character in "\n\r\t":
        return {"\n": "\\n", "\r": "\\r", "\t": "\\t"}[character]
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def safe_lines(text: str) -> list[str]:
    """Each line of ``text`` made safe."""
    return [safe(line) for line in text.split("\n")]


def json_text(data: Any) -> str:
    """``data`` as indented JSON in printable ASCII."""
    # DEL is the one control character that JSON leaves as it is
    return json.dumps(data, indent=2, allow_nan=False).replace("\x7f", "\\u007f")


def say(text: str = "") -> None:
    """A line of the result."""
    print(text)


def note(text: str, *, quiet: bool = False) -> None:
    """A line for the person who waits; left out when quiet."""
    if not quiet:
        print(text, file=sys.stderr)


def show(what: RenderableType) -> None:
    """A table of the result."""
    console().print(what)


def console(file: IO[str] | None = None) -> Console:
    """A console that interprets nothing in the texts that it is given."""
    from rich.console import Console

    made = Console(file=file or sys.stdout, markup=False, highlight=False, emoji=False)
    if not made.is_terminal:
        made.width = max(NARROWEST_COLUMNS, made.width)
    return made
