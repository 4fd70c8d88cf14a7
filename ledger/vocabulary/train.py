"""Train: one phase of reinforcement learning on the rewards of a set of skills."""

from __future__ import annotations

from attrs import field, frozen

from ledger.vocabulary.body import Body, Data
from ledger.vocabulary.comparison import NUMERIC, REPORTED, compared
from ledger.vocabulary.config import Agent, Ppo, Routing
from ledger.vocabulary.effect import Effect
from ledger.vocabulary.path import Path

UNTRAINED = Path("untrained")
"""Names the agent before any training: parameters drawn from the run seed."""


@frozen
class Skill:
    """A skill as training and evaluation need it.

    ``requires`` holds one prerequisite name per condition of the program, in order. ``vector`` is the recorded
    embedding of the name (little-endian float32). ``successes`` of ``attempts`` as target in the last training phase
    give rho in the sampling weight B and in the reward (paper 000, section 2.5).
    """

    name: str
    source: Body
    requires: tuple[str, ...]
    vector: Data
    successes: int = 0
    attempts: int = 0


@frozen
class Attempts:
    """Integer outcomes of one skill in a training phase, as routed target and as active skill."""

    name: str
    attempts: int
    successes: int
    active_steps: int
    active_successes: int


@frozen
class Trained:
    """What a phase did. ``parameters_sha256`` digests all parameters by name; ``checkpoint`` names the file."""

    steps: int
    episodes: int = field(metadata=compared(NUMERIC))
    attempts: tuple[Attempts, ...] = field(metadata=compared(NUMERIC))
    parameters_sha256: str = field(metadata=compared(NUMERIC))
    checkpoint: str = field(metadata=compared(NUMERIC))
    mean_reward: float = field(metadata=compared(NUMERIC))
    seconds: float = field(default=0.0, metadata=compared(REPORTED))


@frozen
class Train(Effect[Trained]):
    """Continue training the agent made at ``agent`` for ``steps`` environment steps on ``skills``.

    The result is named by this effect's own path. Device randomness is derived from ``seed`` and that path.
    """

    agent: Path
    world: str
    skills: tuple[Skill, ...]
    steps: int
    seed: int
    network: Agent
    ppo: Ppo
    routing: Routing
