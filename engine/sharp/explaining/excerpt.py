"""Lines of source as a compiler shows them: numbered, cut to a width, with marks under the characters that are meant.

What is shown may come from anybody, so characters that are no visible text appear as escapes. Text is made of pieces
with roles, so that whoever prints it chooses the colours.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from attrs import frozen
from rich.cells import cell_len

Role = Literal["", "good", "bad", "place", "kind", "number", "mark", "help", "heading", "faint", "changed"]

TAB = 4
MOST_CELLS = 160
"""Lines that are longer are cut around the place that is meant."""


@frozen
class Piece:
    """Some text of one line, and what it is there for."""

    text: str
    role: Role = ""


Line = tuple[Piece, ...]
Span = tuple[int, int]
"""The first character and the one behind the last, counted from 0."""


def line(*parts: str | Piece) -> Line:
    """A line of pieces; plain strings have no role."""
    return tuple(part if isinstance(part, Piece) else Piece(part) for part in parts)


def plain(lines: Iterable[Line]) -> str:
    """The text alone."""
    return "\n".join("".join(piece.text for piece in each).rstrip() for each in lines)


def visible(text: str) -> str:
    """``text`` on one line, every character that is no visible text as an escape: ``\\x1b``, ``\\u202e``."""
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode("ascii") for each in text)


def numbered(lines: Sequence[str], first: int = 1) -> list[Line]:
    """All lines with their numbers, uncut."""
    width = _width(first + len(lines) - 1)
    return [_row(str(first + index), width, _Cells(each).text) for index, each in enumerate(lines)]


def excerpt(lines: Sequence[str], number: int, span: Span, focus: Span) -> list[Line]:
    """Line ``number`` (from 1) with its neighbours, ``~`` under ``span`` and ``^`` under ``focus``, which it holds.

    Marks stand under the characters whatever their widths. A neighbour is left out if there is nothing to see.
    """
    meant = _Cells(lines[number - 1])
    marks = meant.marks(span, focus)
    start = _window(meant, focus, cell_len(marks))
    width = _width(number + 1)
    rows = []
    for index in (number - 1, number, number + 1):
        if not 1 <= index <= len(lines):
            continue
        shown = _cut(_Cells(lines[index - 1]).text, start)
        if index != number and not shown.strip(" …"):
            continue
        rows.append(_row(str(index), width, shown))
        if index == number:
            under = _blank_start(marks[start : start + MOST_CELLS], start)
            rows.append(line(Piece(f"{'':>{width}} | ", "number"), Piece(under, "mark")))
    return rows


def _row(number: str, width: int, text: str) -> Line:
    return line(Piece(f"{number:>{width}} | ", "number"), text)


def _width(last: int) -> int:
    return max(4, len(str(last)))


class _Cells:
    """A line as it is shown, and the cell at which each of its characters begins."""

    def __init__(self, source: str) -> None:
        parts: list[str] = []
        self.starts: list[int] = []
        at = 0
        for character in source:
            part = " " * (TAB - at % TAB) if character == "\t" else visible(character)
            parts.append(part)
            self.starts.append(at)
            at += cell_len(part)
        self.starts.append(at)
        self.text = "".join(parts)

    def cell(self, character: int) -> int:
        """Where a character begins; places behind the end count on from it."""
        last = len(self.starts) - 1
        return self.starts[character] if character <= last else self.starts[last] + character - last

    def marks(self, span: Span, focus: Span) -> str:
        """A line of blanks, ``~`` and ``^``, one for each cell."""
        begin, end = self.cell(span[0]), self.cell(span[1])
        first, last = self.cell(focus[0]), self.cell(focus[1])
        last = max(last, first + 1)
        return "".join(
            "^" if first <= cell < last else "~" if begin <= cell < end else " " for cell in range(max(end, last))
        )


def _window(meant: _Cells, focus: Span, marked: int) -> int:
    """The first cell that is shown: 0 unless the line is long."""
    total = max(cell_len(meant.text), marked)
    if total <= MOST_CELLS:
        return 0
    centre = (meant.cell(focus[0]) + min(meant.cell(focus[1]), meant.cell(focus[0]) + MOST_CELLS // 2)) // 2
    return max(0, min(centre - MOST_CELLS // 2, total - MOST_CELLS))


def _cut(text: str, start: int) -> str:
    """The cells from ``start`` on, an ellipsis where something is left out, a blank for half a wide character."""
    if start == 0 and cell_len(text) <= MOST_CELLS:
        return text
    shown, at = [], 0
    for character in text:
        width = cell_len(character)
        if start <= at and at + width <= start + MOST_CELLS:
            shown.append(character)
        elif start < at + width and at < start + MOST_CELLS:
            shown.append(" ")
        at += width
    cut = "".join(shown)
    if start:
        cut = "…" + (" " * (cell_len(cut[:1]) - 1) + cut[1:])
    if at > start + MOST_CELLS:
        cut = cut[:-1] + " " * (cell_len(cut[-1:]) - 1) + "…"
    return cut


def _blank_start(marks: str, start: int) -> str:
    return " " + marks[1:] if start and not marks.startswith("^") else marks
