"""Folds: every state of an experiment is one over its events, and nothing else is ever stored."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce
from typing import Generic, TypeVar

from attrs import frozen

from ledger.errors import LedgerError
from ledger.lines import Record

S = TypeVar("S")


def fold(step: Callable[[S, Record], S], initial: S, records: Iterable[Record]) -> S:
    """The state after ``records``; ``step`` must be pure: no clock, no randomness, no files."""
    return reduce(step, records, initial)


@frozen
class Snapshot(Generic[S]):
    """A state and the sequence number of the last event in it; 0 before any."""

    state: S
    sequence: int = 0


def advance(step: Callable[[S, Record], S], snapshot: Snapshot[S], records: Iterable[Record]) -> Snapshot[S]:
    """A snapshot carried on over later records: the same state as a full fold.

    Records that it holds already are skipped, so ``read(directory)`` and ``read(directory, after=snapshot.sequence)``
    give the same.

    Raises:
        LedgerError: if a record is missing in between.
    """
    state, sequence = snapshot.state, snapshot.sequence
    for record in records:
        if record.sequence <= sequence:
            continue
        if record.sequence != sequence + 1:
            raise LedgerError(
                f"event {record.sequence} follows event {sequence} in a fold. Read the run after {sequence}."
            )
        state, sequence = step(state, record), record.sequence
    return Snapshot(state, sequence)
