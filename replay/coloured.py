"""Lines of pieces on standard output: in colour on a terminal, unless the variable NO_COLOR is set; never wrapped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from replay.output import console, safe

if TYPE_CHECKING:
    from engine.sharp.explaining.excerpt import Line, Role

STYLES: Mapping[Role, str] = MappingProxyType(
    {
        "": "",
        "good": "bold green",
        "bad": "bold red",
        "place": "bold",
        "kind": "",
        "number": "blue",
        "mark": "bold red",
        "help": "bold cyan",
        "heading": "bold",
        "faint": "dim",
        "changed": "yellow",
    }
)


def show_lines(lines: Iterable[Line]) -> None:
    """Print lines; marks stay under what they mean, so a long line is left to the terminal."""
    from rich.text import Text

    shown = console()
    for pieces in lines:
        text = Text()
        for piece in pieces:
            text.append(safe(piece.text), STYLES[piece.role])
        text.rstrip()
        shown.print(text, soft_wrap=True)
