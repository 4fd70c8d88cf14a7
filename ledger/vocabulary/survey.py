"""Survey: what the installed world shows to a foundation model and to the evaluation."""

from __future__ import annotations

from attrs import frozen

from ledger.vocabulary.body import Body
from ledger.vocabulary.effect import Effect


@frozen
class SourcePart:
    """One file of the world's source, stripped of rewards and achievements."""

    name: str
    text: Body


@frozen
class Surveyed:
    """The world as installed. A difference on replay is of class ``environment``: another package, another world."""

    package: str
    version: str
    source_sha256: str
    source: tuple[SourcePart, ...]
    language: Body
    achievements: tuple[str, ...]


@frozen
class Survey(Effect[Surveyed]):
    """Describe a world: stripped source, the language its programs are written in, its evaluation-only achievements."""

    world: str
    grammar: str
