"""Saying no so that the author can repair: a place, a reason, and the nearest right name."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from ledger.vocabulary.vet import Refusal


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


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that ``name`` most resembles, or None; ties go to the alphabetically first."""
    lowered = {candidate.lower(): candidate for candidate in sorted(set(known), reverse=True)}
    close = difflib.get_close_matches(name.lower(), sorted(lowered), n=1, cutoff=0.7)
    if close:
        return lowered[close[0]]
    inside = [candidate for key, candidate in sorted(lowered.items()) if len(key) > 3 and (key in name.lower())]
    return inside[0] if inside else None


def did_you_mean(name: str, known: Iterable[str], prefix: str = "") -> str | None:
    """A suggestion line for a name that does not exist."""
    found = nearest(name, known)
    return None if found is None else f"did you mean {prefix}{found}?"
