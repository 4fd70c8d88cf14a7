"""What happened to proposals and skills, iteration by iteration: folds over completed steps for tables and figures."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from attrs import frozen

from ledger.vocabulary.events import Step
from ledger.vocabulary.note import Admitted, Adopted, Failed, Kept, Note, Rate, Rates
from ledger.vocabulary.path import Path

FATES = ("admitted", "no learning progress", "refused", "not chosen", "unreadable", "other")
"""How a proposal can end, best first; the last is for stages that this version does not know."""

_FATE_OF_STAGE = {
    "learnability": "no learning progress",
    "compile": "refused",
    "judge": "not chosen",
    "implement": "unreadable",
    "propose": "unreadable",
}

_ITERATION = re.compile(r"iteration=(\d{1,9})(?:/|\Z)")


def iteration_of(path: Path) -> int | None:
    """The iteration that a step belongs to, or ``None`` outside any."""
    match = _ITERATION.match(path.text)
    return int(match[1]) if match else None


@frozen
class RatePoint:
    """A skill's success rate on fresh evaluation episodes after one iteration."""

    iteration: int
    rate: Rate


@frozen
class Mutations:
    """Outcomes of the mutations of one iteration."""

    adopted: int = 0
    kept: int = 0


def fates(steps: Iterable[Step]) -> dict[int, Mapping[str, int]]:
    """Per iteration, how many proposals ended in which of ``FATES`` (only those that occur)."""
    counts: dict[int, Counter[str]] = {}
    for step in steps:
        if not isinstance(step.effect, Note):
            continue
        decision, iteration = step.effect.decision, iteration_of(step.effect.path)
        if iteration is None or not isinstance(decision, Admitted | Failed):
            continue
        fate = "admitted" if isinstance(decision, Admitted) else _FATE_OF_STAGE.get(decision.stage, "other")
        counts.setdefault(iteration, Counter())[fate] += 1
    return {iteration: dict(counts[iteration]) for iteration in sorted(counts)}


def mutations(steps: Iterable[Step]) -> dict[int, Mutations]:
    """Per iteration with a mutation, how many were adopted and how often the parent was kept."""
    found: dict[int, Mutations] = {}
    for step in steps:
        if not isinstance(step.effect, Note):
            continue
        decision, iteration = step.effect.decision, iteration_of(step.effect.path)
        if iteration is None or not isinstance(decision, Adopted | Kept):
            continue
        before = found.get(iteration, Mutations())
        adopted = isinstance(decision, Adopted)
        found[iteration] = Mutations(before.adopted + adopted, before.kept + (not adopted))
    return found


def rate_history(steps: Iterable[Step]) -> dict[str, tuple[RatePoint, ...]]:
    """Per skill, its rates after each iteration, in the order in which skills first appear."""
    points: dict[str, list[RatePoint]] = {}
    for step in steps:
        if not isinstance(step.effect, Note) or not isinstance(step.effect.decision, Rates):
            continue
        iteration = iteration_of(step.effect.path)
        if iteration is None:
            continue
        for name, rate in zip(step.effect.decision.names, step.effect.decision.rates, strict=False):
            points.setdefault(name, []).append(RatePoint(iteration, rate))
    return {name: tuple(each) for name, each in points.items()}
