"""Saying no so that the author can repair: a place, a reason, and the nearest right name."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, TypeVar

from ledger.vocabulary.vet import Refusal

if TYPE_CHECKING:
    from engine.sharp.editions import Edition

Accepted = TypeVar("Accepted")


class Refused(Exception):
    """Raised inside the compiler, turned into a ``Refusal`` at its edge. Line 0 means: not placed yet."""

    def __init__(self, kind: str, reason: str, suggestion: str | None = None, line: int = 0, column: int = 0) -> None:
        super().__init__(reason)
        self.kind = kind
        self.reason = reason
        self.suggestion = suggestion
        self.line = line
        self.column = column

    def placed(self, line: int, column: int) -> Refused:
        """The same refusal with a place, unless it has one."""
        if self.line == 0:
            self.line, self.column = line, column
        return self

    def refusal(self) -> Refusal:
        """The outcome's own form."""
        return Refusal(self.kind, self.line, self.column, self.reason, self.suggestion)


def settled(compiled: Callable[[], Accepted], edition: Edition) -> Accepted | Refusal:
    """What ``compiled`` makes of a text, or why it makes nothing; the edge of the compiler, which no text gets over.

    What is wrong with the text as a whole is told at its beginning (at no place in the first edition). A failure of the
    compiler itself is a refusal of the kind ``internal``: a run goes on, and the fault is in its ledger. Lack of memory
    is no property of the text and passes.
    """
    line, column = (1, 1) if edition.has(2) else (0, 0)
    try:
        return compiled()
    except Refused as refused:
        return refused.placed(line, column).refusal()
    except MemoryError:
        raise
    except Exception as fault:
        last = fault.__traceback__  # not by the module traceback, which opens the files of source
        while last is not None and last.tb_next is not None:
            last = last.tb_next
        code = None if last is None else last.tb_frame.f_code
        place = "" if code is None else f" in {code.co_name} of {PurePath(code.co_filename).name}"
        where = f"{type(fault).__name__}{place}"
        reason = f"the compiler failed on this text ({where}): the fault is the compiler's"
        return Refusal("internal", line, column, reason, "write it another way, and report the fault with the text")


class Missing(Refused):
    """A name or an attribute does not exist. ``owner`` is the value that lacks the attribute, None for a bare name.

    What is written around the name often tells what was meant, so whoever sees more can say it better.
    """

    def __init__(self, kind: str, name: str, reason: str, suggestion: str | None = None, owner: object = None) -> None:
        super().__init__(kind, reason, suggestion)
        self.name = name
        self.owner = owner


class Mismatch(Refused):
    """Arrays of these shapes do not fit together; unless the cause is known, whoever knows their names tells them."""

    def __init__(self, shapes: Sequence[tuple[int, ...]], cause: str | None = None) -> None:
        *most, last = (str(list(shape)) for shape in shapes)
        listed = f"{', '.join(most)} and {last}"
        advice = "index one of them, so that their shapes agree" if cause is None else cause
        super().__init__("shape", f"arrays of shape {listed} do not fit together", advice)
        self.shapes = tuple(shapes)
        self.explained = cause is not None


def nearest(name: str, known: Iterable[str], inside: bool = True) -> str | None:
    """The known name that ``name`` most resembles, or None; ties go to the alphabetically first.

    ``inside``: a known name that is a part of ``name`` counts, too.
    """
    lowered = {candidate.lower(): candidate for candidate in sorted(set(known), reverse=True)}
    close = difflib.get_close_matches(name.lower(), sorted(lowered), n=1, cutoff=0.7)
    if close:
        return lowered[close[0]]
    parts = [candidate for key, candidate in sorted(lowered.items()) if len(key) > 3 and key in name.lower()]
    return parts[0] if parts and inside else None


def did_you_mean(name: str, known: Iterable[str], prefix: str = "", inside: bool = True) -> str | None:
    """A suggestion line for a name that does not exist."""
    found = nearest(name, known, inside)
    return None if found is None else f"did you mean {prefix}{found}?"
