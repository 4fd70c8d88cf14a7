"""Editions of the language: a run names one, and what an edition means never changes once it is released.

A later edition adds functions and forms and may tighten a budget. What is new is marked where it is defined
(``functions.table(..., since=2)``, ``Edition.has``); everything else is common to all. A program that two editions
accept has the same operation graph in both.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from attrs import evolve, frozen

from engine.sharp.limits import Limits


class UnknownEdition(ValueError):
    """No edition of the language has this name; the message lists those there are."""


@frozen
class Edition:
    """One version of the language.

    ``label`` is the name that runs record, and goes into the hashes of meanings; ``number`` counts from 1.
    """

    number: int
    limits: Limits

    @property
    def label(self) -> str:
        """What a run's configuration calls it."""
        return f"sharp@{self.number}"

    @property
    def counts_archive(self) -> bool:
        """Whether vetting holds the whole archive to its budget, for which it needs the sources of its skills."""
        return self.has(2)

    def has(self, since: int) -> bool:
        """Whether what came with edition ``since`` is part of this one."""
        return self.number >= since


FIRST: Final = Edition(1, Limits())
LATEST: Final = Edition(2, evolve(FIRST.limits, steps=80_000, chain=512, requirements=32, name=80, strict=True))

VETTED: Final = evolve(LATEST, limits=FIRST.limits)
"""Accepts whatever some edition accepts: for programs whose verdict is in the ledger already."""

EDITIONS: Final[Mapping[str, Edition]] = MappingProxyType({each.label: each for each in (FIRST, LATEST)})


def edition_of(label: str) -> Edition:
    """The edition that a run names.

    Raises:
        UnknownEdition: if there is none.
    """
    if label not in EDITIONS:
        raise UnknownEdition(f"there is no grammar {label!r}; there are {', '.join(EDITIONS)}")
    return EDITIONS[label]
