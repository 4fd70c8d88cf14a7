"""The whole training core on Craftax-Classic, small: real observations, real programs, every network."""

from __future__ import annotations

import pytest

from engine.train.core import TrainingCore
from engine.worlds.registry import world
from ledger.vocabulary.body import Body
from ledger.vocabulary.config import Agent, Ppo, Routing
from ledger.vocabulary.evaluate import Evaluate, Target
from ledger.vocabulary.path import Path
from ledger.vocabulary.train import UNTRAINED, Skill, Train
from tests.engine.train.handwritten import vector

SOURCES = {
    "CollectWood": '''class CollectWood(Sharp):
    """Have more wood than before."""

    def success(self, state, previous):
        return state.inventory.wood > previous.inventory.wood
''',
    "PlaceTable": '''class PlaceTable(Sharp):
    """Stand near a new table."""

    def success(self, state, previous):
        before = (previous.map == BlockType.CRAFTING_TABLE).sum()
        return (state.map == BlockType.CRAFTING_TABLE).sum() > before

    def enough_wood(self, state):
        return state.inventory.wood >= 2

    requires = [(enough_wood, "CollectWood")]
''',
}
SKILLS = (
    Skill("CollectWood", Body(SOURCES["CollectWood"]), (), vector("CollectWood")),
    Skill("PlaceTable", Body(SOURCES["PlaceTable"]), ("CollectWood",), vector("PlaceTable")),
)
SMALL = {"layers": 1, "heads": 2, "embedding_size": 16, "qkv_size": 16, "memory_window": 8, "gradient_window": 8}


@pytest.mark.slow
@pytest.mark.parametrize(
    "agent",
    [
        Agent(kind="mlp", hidden_size=16),
        Agent(kind="gru", hidden_size=16, gradient_window=8),
        Agent(kind="gtrxl", hidden_size=16, **SMALL),
    ],
    ids=lambda agent: agent.kind,
)
def test_training_and_evaluation_on_craftax_classic(agent: Agent) -> None:
    """Random play collects wood now and then; every number is a count of something that happened."""
    core = TrainingCore(world("craftax_classic"), evaluation_lanes=32)
    ppo = Ppo(environments=32, rollout_steps=16, minibatches=4)
    effect = Train(Path("train"), UNTRAINED, "craftax_classic", SKILLS, 8_000, 0, agent, ppo, Routing(patience=50))
    trained, data = core.train(effect, None, progress=lambda *_: None, stop=lambda: False)
    assert trained.steps == 8_192
    assert sum(row.active_steps for row in trained.attempts) == trained.steps
    assert trained.attempts[0].active_successes > 0
    targets = tuple(Target(skill.name, skill) for skill in SKILLS)
    wanted = Evaluate(
        Path("evaluate"),
        Path("train"),
        "craftax_classic",
        SKILLS,
        targets,
        16,
        100,
        0,
        Path("k"),
        agent,
        Routing(patience=50),
    )
    evaluated = core.evaluate(wanted, data, progress=lambda *_: None, stop=lambda: False)
    assert [(row.label, row.episodes) for row in evaluated.rows] == [("CollectWood", 16), ("PlaceTable", 16)]
    # The flag of collecting wood is set exactly where an attempt at it succeeded.
    collect = core.world.achievement_names.index("collect_wood")
    assert evaluated.rows[0].achievements[collect] == evaluated.rows[0].successes
