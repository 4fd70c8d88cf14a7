"""Where a refusal points in the text that its author wrote, and how far what it means reaches.

A refusal's line and column belong to the normalised source. Fences, prose, marks and indentation that were taken away
come back here, so that an editor finds the place.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from attrs import frozen

from engine.sharp.editions import LATEST, Edition
from engine.sharp.explaining.excerpt import Span
from engine.sharp.explaining.reach import INDENT, better_placed, indent, reach, tree_of
from engine.sharp.normalise import normalise
from engine.sharp.refusals import Refused
from ledger.vocabulary.vet import Refusal

_IMPOSSIBLE = re.compile("[\x00\ud800-\udfff]")


@frozen
class Place:
    """A place in ``lines``: line (from 1), and the characters (from 0) of all that is meant and of its heart.

    ``own`` tells whether the lines are those of the author's text; otherwise they are those of the normalised source,
    because what the author wrote was a quoted string.
    """

    lines: tuple[str, ...]
    line: int
    span: Span
    focus: Span
    own: bool

    @property
    def column(self) -> int:
        """The column of the heart, from 1."""
        return self.focus[0] + 1


def locate(refusal: Refusal, text: str, edition: Edition = LATEST) -> Place | None:
    """The place of ``refusal`` in ``text``; None if it is about the text as a whole.

    Some refusals tell more elsewhere than where they were found: a result at the only ``return`` of its method, a
    prerequisite at its name in ``requires``, a skill's name at its class.
    """
    own = text.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    try:
        source = normalise(_IMPOSSIBLE.sub("\ufffd", text), edition.limits).source.split("\n")[:-1]
    except Refused:
        return None
    if not source:
        return None
    first = _where(own, source)
    if first is not None and (impossible := _impossible(own, first, len(source))):
        return impossible
    tree = tree_of("\n".join(source))
    if tree is not None:
        refusal = better_placed(source, tree, refusal)
    if refusal.line == 0:
        return None
    line = min(refusal.line, len(source))
    shown = source[line - 1]
    if refusal.line > len(source):  # the end of the text, where something is missing
        span = focus = (len(shown), len(shown) + 1)
    else:
        span, focus = reach(source, tree, refusal)
    if first is None:
        return Place(tuple(source), line, span, focus, own=False)
    mapped = own[first + line - 1]
    moved = indent(mapped) - indent(shown)
    return Place(tuple(own), first + line, _moved(span, moved), _moved(focus, moved), own=True)


def _where(own: Sequence[str], source: Sequence[str]) -> int | None:
    """The index at which the lines of ``source`` stand in the author's; None if nowhere or not in one place only."""
    bodies, wanted = [each.strip(INDENT) for each in own], [each.strip(INDENT) for each in source]
    starts = range(len(bodies) - len(wanted) + 1)
    found = [at for at in starts if bodies[at] == wanted[0] and bodies[at : at + len(wanted)] == wanted]
    if len(found) != 1:
        without = [_IMPOSSIBLE.sub("\ufffd", each) for each in bodies]
        found = [at for at in starts if without[at] == wanted[0] and without[at : at + len(wanted)] == wanted]
    return found[0] if len(found) == 1 else None


def _impossible(own: Sequence[str], first: int, count: int) -> Place | None:
    """The first character that no source can hold; nothing else is refused before it."""
    for index in range(first, first + count):
        if found := _IMPOSSIBLE.search(own[index]):
            return Place(tuple(own), index + 1, found.span(), found.span(), own=True)
    return None


def _moved(span: Span, by: int) -> Span:
    return max(0, span[0] + by), max(1, span[1] + by)
