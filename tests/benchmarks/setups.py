"""The settings that are measured: the paper's transformer, and the small agents of the profile ``cpu``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from attrs import evolve, frozen

from ledger.vocabulary.config import AGENT_KINDS, Agent, Evaluation, Ppo, Routing
from ledger.vocabulary.path import Path as StepPath
from ledger.vocabulary.train import UNTRAINED, Skill, Train
from replay import config_file

WORLD = "craftax_classic"

REPRODUCTION = Path(__file__).parent.parent.parent / "reproductions" / WORLD


@frozen
class Setup:
    """A network with the settings of its training and evaluation; ``epoch_steps`` is the length of a phase."""

    agent: Agent
    ppo: Ppo
    routing: Routing
    evaluation: Evaluation
    epoch_steps: int


def paper(environments: int = 64) -> Setup:
    """Network and settings of the paper (the defaults of the configuration), with this many environments."""
    return Setup(Agent(), Ppo(environments=environments), Routing(), Evaluation(), 1_000_000)


def cpu(kind: str = "mlp") -> Setup:
    """The profile ``cpu`` of the reproduction, with its own network or with another small one of its sizes.

    Raises:
        ValueError: if there is no such kind of network.
    """
    config = config_file.load(REPRODUCTION, "cpu")
    if kind not in AGENT_KINDS:
        raise ValueError(f"there is no network {kind!r}; there are {', '.join(AGENT_KINDS)}")
    agent = evolve(config.agent, kind=kind)
    return Setup(agent, config.ppo, config.routing, config.evaluation, config.discovery.epoch_steps)


def named(name: str, changes: dict[str, Any]) -> Setup:
    """``paper`` or the kind of a small network, with fields of ``Ppo`` changed; what a worker is told."""
    setup = paper() if name == "paper" else cpu(name)
    return evolve(setup, ppo=evolve(setup.ppo, **changes))


def phase(setup: Setup, skills: tuple[Skill, ...], steps: int, seed: int = 0) -> Train:
    """A training phase of the untrained agent on ``skills``."""
    return Train(
        path=StepPath("benchmark/train"),
        agent=UNTRAINED,
        world=WORLD,
        skills=skills,
        steps=steps,
        seed=seed,
        network=setup.agent,
        ppo=setup.ppo,
        routing=setup.routing,
    )
