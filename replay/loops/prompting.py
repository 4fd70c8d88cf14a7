"""The base context that every foundation-model call receives (paper 000, section 2.3), built from the view."""

from __future__ import annotations

from engine.archive.archive import Entry, View
from fm.roles.context import Context, FailureCard, SkillCard
from ledger.vocabulary.ask import Part
from replay.loops.answers import Inputs

SHOWN_STAGES = ("compile", "learnability")
"""Failures that later prompts show: tried and failed. A candidate that was merely not chosen has not failed."""


def context_of(view: View, inputs: Inputs, *, failures_shown: int) -> Context:
    """Archive with success rates, stripped source, failed proposals of earlier iterations, optional documents."""
    assert view.surveyed is not None, "the world is surveyed before anyone is asked"
    assert view.config is not None, "settings come before anyone is asked"
    failures = [failure.failed for failure in view.failures if failure.failed.stage in SHOWN_STAGES]
    shown = failures[len(failures) - failures_shown :] if failures_shown < len(failures) else failures
    return Context(
        world=view.config.world,
        source=tuple(Part(part.name, part.text) for part in view.surveyed.source),
        language=view.surveyed.language,
        archive=tuple(card(entry) for entry in view.entries),
        failures=tuple(FailureCard(each.name, each.description, each.stage, each.reason) for each in shown),
        documents=inputs.documents,
    )


def card(entry: Entry) -> SkillCard:
    """An archived skill as prompts show it."""
    return SkillCard(
        name=entry.name,
        description=entry.program.description,
        source=entry.program.source.text,
        requires=entry.requires,
        successes=entry.evaluated.successes,
        episodes=entry.evaluated.episodes,
    )
