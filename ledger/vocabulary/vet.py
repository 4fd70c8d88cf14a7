"""Vet: is this text a program of the SHARP language that may stand in the archive?"""

from __future__ import annotations

from attrs import field, frozen

from ledger.vocabulary.body import Body
from ledger.vocabulary.comparison import NUMERIC, compared
from ledger.vocabulary.effect import Effect


@frozen
class Known:
    """What vetting needs to know of a skill that is already in the archive.

    ``source`` is given where the language has a budget for the archive as a whole (from ``sharp@2`` on).
    """

    name: str
    meaning: str
    requires_meaning: str
    requires: tuple[str, ...]
    source: Body | None = None


@frozen
class Requirement:
    """One pair of the initiation set (paper 000, section 2.2): a condition and the skill invoked when it is unmet."""

    condition: str
    meaning: str
    prerequisite: str


@frozen
class Program:
    """A program that was accepted.

    ``source_hash`` identifies the canonical syntax tree; ``meaning`` the operations of the success condition;
    ``requires_meaning`` the ordered pairs of condition meaning and prerequisite.
    """

    name: str
    description: str
    source: Body
    source_hash: str
    meaning: str
    requires: tuple[Requirement, ...]
    requires_meaning: str
    normalisations: tuple[str, ...]
    warnings: tuple[str, ...]


@frozen
class Refusal:
    """Why a text is no program: line and column count from 1; 0 means the text as a whole."""

    kind: str
    line: int
    column: int
    reason: str
    suggestion: str | None = None


@frozen
class Sampled:
    """How often conditions held on sampled states: integers out of ``resets`` resets and ``visited`` visited states."""

    resets: int
    success_at_reset: int
    visited: int
    success_visited: int
    conditions_visited: tuple[int, ...]


@frozen
class Vetted:
    """The verdict: a program or a refusal, never both; statistics on states are device outcomes."""

    program: Program | None
    refusal: Refusal | None
    sampled: Sampled | None = field(default=None, metadata=compared(NUMERIC))


@frozen
class Vet(Effect[Vetted]):
    """Parse, check and lower ``source``; never execute it.

    ``replaces`` names the parent when the text is a mutation: the name must stay, and so must the success condition
    unless ``may_change_success``.
    """

    world: str
    grammar: str
    source: Body
    archive: tuple[Known, ...]
    replaces: str | None = None
    may_change_success: bool = False
