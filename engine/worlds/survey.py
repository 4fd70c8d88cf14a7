"""The Survey effect: a world as installed, for the prompts of a foundation model and for the evaluation."""

from __future__ import annotations

from engine.sharp.editions import edition_of
from engine.sharp.reference import language_page
from engine.worlds.registry import entry, world
from ledger.vocabulary.body import Body
from ledger.vocabulary.survey import SourcePart, Survey, Surveyed


def survey(effect: Survey) -> Surveyed:
    """Describe ``effect.world``: version and hash of its package, stripped source, language page, achievements.

    The achievements are for the evaluation only; neither the source nor the language page names them.

    Raises:
        UnknownWorld: if there is no such world.
        StrippingFailed: if the installed game's rewards cannot be taken out of its source safely.
    """
    description = entry(effect.world).describe()
    surveyed = world(effect.world)
    return Surveyed(
        package=description.package,
        version=description.version,
        source_sha256=description.source_sha256,
        source=tuple(SourcePart(part.name, Body(part.text)) for part in description.parts),
        language=Body(language_page(surveyed.schema, edition_of(effect.grammar))),
        achievements=surveyed.achievement_names,
    )
