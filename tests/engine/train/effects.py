"""Small Train effects in the corridor, with programs of the language."""

from __future__ import annotations

from typing import Any

from ledger.vocabulary.body import Body
from ledger.vocabulary.config import Agent, Ppo, Routing
from ledger.vocabulary.path import Path
from ledger.vocabulary.train import UNTRAINED, Skill, Train
from tests.engine.train.handwritten import vector
from tests.tiny_worlds import PROGRAMS

MLP = Agent(kind="mlp", hidden_size=32)
GTRXL = Agent(
    kind="gtrxl", layers=1, heads=2, embedding_size=8, qkv_size=8, hidden_size=8, memory_window=4, gradient_window=4
)
PPO = Ppo(environments=16, rollout_steps=8, update_epochs=2, minibatches=4)
PER_ROLLOUT = PPO.environments * PPO.rollout_steps
ROUTING = Routing(patience=10)


def program(name: str, *requires: str, source: str | None = None, successes: int = 0, attempts: int = 0) -> Skill:
    """A skill of the corridor, with its own program unless another is given."""
    return Skill(name, Body(source or PROGRAMS[name]), requires, vector(name), successes, attempts)


SKILLS = (program("TakeKey"), program("OpenDoor", "TakeKey"), program("LightLamp", "OpenDoor"))


def train(**changes: Any) -> Train:
    """A phase of four rollouts."""
    values = {
        "path": Path("iteration=0/train"),
        "agent": UNTRAINED,
        "world": "corridor",
        "skills": SKILLS,
        "steps": 4 * PER_ROLLOUT,
        "seed": 5,
        "network": MLP,
        "ppo": PPO,
        "routing": ROUTING,
        **changes,
    }
    return Train(**values)
