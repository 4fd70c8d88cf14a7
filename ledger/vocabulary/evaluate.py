"""Evaluate: success counts of skills under a frozen agent."""

from __future__ import annotations

from attrs import field, frozen

from ledger.vocabulary.comparison import NUMERIC, REPORTED, compared
from ledger.vocabulary.config import Agent, Routing
from ledger.vocabulary.effect import Effect
from ledger.vocabulary.path import Path
from ledger.vocabulary.train import Skill


@frozen
class EvaluationRow:
    """One target: ``successes`` of ``episodes``; per achievement of the world, in how many episodes its flag was set.

    ``label`` tells variants of one skill apart (``parent``, ``mutant[0]``, …); achievements are evaluation-only and
    never reach a program or a prompt.
    """

    label: str
    episodes: int
    successes: int
    achievements: tuple[int, ...] = ()


@frozen
class Evaluated:
    """One row per target, in the order asked for."""

    rows: tuple[EvaluationRow, ...] = field(metadata=compared(NUMERIC))
    steps: int = field(metadata=compared(REPORTED))
    seconds: float = field(default=0.0, metadata=compared(REPORTED))


@frozen
class Target:
    """A skill to evaluate; it stands in for the archive's skill of the same name while it is the target."""

    label: str
    skill: Skill


@frozen
class Evaluate(Effect[Evaluated]):
    """Roll out ``episodes`` episodes per target for at most ``horizon`` steps each, without gradient steps.

    Keys derive from ``seed``, ``keys`` and the episode's index only, so two evaluations that share ``keys`` (parent and
    mutants, before and after) meet the same worlds. An attempt ends by success, death, ``routing.patience`` steps
    without progress, or the horizon; at the horizon alone nothing is counted as success.
    """

    agent: Path
    world: str
    archive: tuple[Skill, ...]
    targets: tuple[Target, ...]
    episodes: int
    horizon: int
    seed: int
    keys: Path
    network: Agent
    routing: Routing
