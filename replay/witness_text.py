"""Truth values of a program's conditions on sampled states, for people: bars, and two states at the boundary."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.sharp.explaining.excerpt import Line, Piece, Role, line, visible
from engine.sharp.explaining.readings import Reading
from engine.sharp.explaining.witnesses import SUCCESS, Truth, Witness
from engine.worlds.schema import Field, Schema
from engine.worlds.text_picture import TextPicture, named_values, text_picture

BAR = 20
MOST_SHOWN = 12
"""Elements of an array that are shown whole."""

MOST_CHANGES = 6
BETWEEN = "      "


def truth_lines(truths: Sequence[Truth]) -> list[Line]:
    """How often each condition holds on sampled states."""
    lines = [line(Piece("truth on sampled states", "heading"))]
    widest = max(len(each.name) for each in truths)
    digits = len(f"{truths[0].visited:,}")
    for each in truths:
        share = each.visited_true / each.visited if each.visited else 0.0
        full = round(share * BAR)
        full = min(max(full, each.visited_true > 0), BAR - (each.visited_true < each.visited))
        role: Role = "good" if each.visited_true else "faint"
        lines.append(
            line(
                f"  {each.name:<{widest}}  [",
                Piece("#" * full, role),
                "." * (BAR - full),
                f"]  {each.visited_true:>{digits},} of {each.visited:,} visited",
                f"  {each.resets_true:>4,} of {each.resets:,} resets",
            )
        )
    return lines


def witness_lines(truth: Truth, schema: Schema) -> list[Line]:
    """One state where a condition is true and one where it is false, with what it reads and a picture."""
    lines = []
    if truth.when_true is None:
        sampled = f" on {truth.visited:,} visited states and {truth.resets:,} resets"
        lines.append(line(Piece(f"{truth.name} is never true", "changed"), sampled))
        lines.append(line("  That is no fault in itself: short random play reaches little of what can happen."))
    else:
        lines += [_title(truth, truth.when_true, True), *_state_lines(truth.when_true, schema)]
    lines.append(line())
    if truth.when_false is None:
        lines.append(line(Piece(f"{truth.name} is never false", "changed"), " on sampled states"))
    else:
        lines += [_title(truth, truth.when_false, False), *_state_lines(truth.when_false, schema)]
    return lines


def _title(truth: Truth, witness: Witness, value: bool) -> Line:
    word = Piece("true", "good") if value else Piece("false", "bad")
    where = f"transition {witness.index}" if witness.where == "visited" else f"reset {witness.index}"
    differs = ", ".join(".".join((which, *path)) for which, path in witness.apart)
    return line(
        Piece(f"{truth.name} {'becomes' if value and witness.fresh else 'is'} ", "heading"),
        word,
        f" at {where}" + (f", the one most like it; they differ in {differs}" if differs else ""),
    )


def _state_lines(witness: Witness, schema: Schema) -> list[Line]:
    widest = max((len(each.name) for each in witness.readings), default=0)
    lines = [line(f"  {each.name:<{widest}}  ", *reading_pieces(each, schema)) for each in witness.readings]
    if not witness.readings:
        lines.append(line("  it reads no field"))
    return [*lines, line(), *_picture_lines(witness, schema)]


def reading_pieces(reading: Reading, schema: Schema) -> tuple[Piece, ...]:
    """The value of a field that is read; where it changes, the value before and after."""
    changed = reading.changed
    if reading.state.size <= MOST_SHOWN:
        after = shown(reading.state, reading.field, schema)
        if not changed.any():
            return (Piece(after),)
        return (Piece(f"{shown(reading.previous, reading.field, schema)} → {after}", "changed"),)
    if not changed.any():
        return (Piece(f"{reading.state.size:,} elements, unchanged", "faint"),)
    places = np.argwhere(changed)
    parts = [
        f"{at.tolist()} {shown(reading.previous[tuple(at)], reading.field, schema)} → "
        f"{shown(reading.state[tuple(at)], reading.field, schema)}"
        for at in places[:MOST_CHANGES]
    ]
    more = f", and {len(places) - MOST_CHANGES:,} more" if len(places) > MOST_CHANGES else ""
    return (Piece(", ".join(parts) + more, "changed"),)


def shown(value: np.ndarray, field: Field, schema: Schema) -> str:
    """A value as a program would write it: names of enum members, short floats."""
    named = named_values(field, schema)
    names = {} if named is None else {number: f"{named[0]}.{name}" for name, number in named[1].members.items()}

    def text(item: object) -> str:
        if isinstance(item, list):
            return f"[{', '.join(map(text, item))}]"
        if isinstance(item, float):
            return f"{item:.6g}"
        return names.get(item, str(item)) if isinstance(item, int) and not isinstance(item, bool) else str(item)

    return text(np.asarray(value).tolist())


def _picture_lines(witness: Witness, schema: Schema) -> list[Line]:
    """Previous state and state side by side; nothing for a world whose map is not understood."""
    before, after = text_picture(witness.previous, schema), text_picture(witness.state, schema)
    if before is None or after is None:
        return []
    width = max(before.width, len("previous"))
    lines = [line(Piece(f"  {'previous':<{width}}{BETWEEN}state", "faint"))]
    rows = zip(before.lines(), after.lines(), strict=True)
    lines += [line(f"  {left:<{width}}{BETWEEN}{right}") for left, right in rows]
    legend = ", ".join(f"{glyph} {visible(meaning)}" for glyph, meaning in _legend(before, after))
    return [*lines, line(Piece(f"  {legend}", "faint"))]


def _legend(before: TextPicture, after: TextPicture) -> list[tuple[str, str]]:
    return list(dict.fromkeys((*before.legend, *after.legend)))


def wanted(truths: Sequence[Truth], names: Sequence[str]) -> list[Truth]:
    """``success``, and the conditions that are named."""
    return [each for each in truths if each.name == SUCCESS or each.name in names]
