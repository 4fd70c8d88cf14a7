"""The Vet effect of a candidate or mutant: its text, and what the archive holds at that moment."""

from __future__ import annotations

from engine.archive.archive import View
from engine.sharp.editions import edition_of
from ledger.vocabulary.body import Body
from ledger.vocabulary.config import Config
from ledger.vocabulary.path import Path
from ledger.vocabulary.vet import Vet


def vetting(
    path: Path, source: str, view: View, config: Config, replaces: str | None = None, may_change_success: bool = False
) -> Vet:
    """Ask whether ``source`` may join the archive of ``view``, or replace a skill of it."""
    return Vet(
        path,
        config.world,
        config.grammar,
        Body(source),
        view.known(sources=edition_of(config.grammar).counts_archive),
        replaces=replaces,
        may_change_success=may_change_success,
    )
