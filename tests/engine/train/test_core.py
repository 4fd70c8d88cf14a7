"""The training core: determinism, resume to the bit, what is compiled again and what is not, and that it learns."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path as File
from typing import Any

import numpy as np
import pytest
from attrs import evolve

from engine.checkpoint import CheckpointError, about, unpack
from engine.train.core import Stopped, TrainingCore
from ledger.vocabulary.config import Ppo, Routing
from ledger.vocabulary.evaluate import Evaluate, Target
from ledger.vocabulary.events import Metric
from ledger.vocabulary.path import Path
from ledger.vocabulary.train import UNTRAINED, Train, Trained
from tests.engine.train.effects import GTRXL, MLP, PER_ROLLOUT, PPO, SKILLS, program, train

Phase = tuple[Trained, bytes, list[tuple[int, bytes]]]


def silent(done: int, total: int, metrics: tuple[Metric, ...]) -> None:
    """Progress that nobody watches."""


def never() -> bool:
    return False


def run(core: TrainingCore, effect: Train, start: bytes | None = None, **options: Any) -> tuple[Trained, bytes]:
    return core.train(effect, start, **{"progress": silent, "stop": never, **options})


def plain(trained: Trained) -> Trained:
    return evolve(trained, seconds=0.0)


@pytest.fixture(scope="module")
def phase(core: TrainingCore) -> Phase:
    """One uninterrupted phase with everything it saved on its way."""
    saved: list[tuple[int, bytes]] = []
    trained, data = run(core, train(), save=lambda done, raw: saved.append((done, raw)))
    return trained, data, saved


def test_a_phase_reports_what_it_did(phase: Phase) -> None:
    trained, data, saved = phase
    assert trained.steps == 4 * PER_ROLLOUT
    assert [done for done, _ in saved] == [PER_ROLLOUT, 2 * PER_ROLLOUT, 3 * PER_ROLLOUT]
    assert trained.checkpoint == hashlib.sha256(data).hexdigest()
    assert [row.name for row in trained.attempts] == ["TakeKey", "OpenDoor", "LightLamp"]
    assert sum(row.active_steps for row in trained.attempts) == trained.steps
    assert all(0 <= row.successes <= row.attempts for row in trained.attempts)
    # Every attempt ends an episode, succeeds, or lasts ten steps at least without progress.
    ended = sum(row.attempts for row in trained.attempts)
    assert 0 < trained.episodes <= ended <= trained.steps
    # Nothing was ever tried before, so each success of an active skill paid the cap of 10.
    paid = sum(row.active_successes for row in trained.attempts)
    assert trained.mean_reward == pytest.approx(10.0 * paid / trained.steps)
    assert about(data) == {"format": "checkpoint@1", "kind": "agent", "path": "iteration=0/train"}


def test_the_same_effect_gives_the_same_bits(core: TrainingCore, phase: Phase) -> None:
    trained, data = run(core, train())
    assert plain(trained) == plain(phase[0])
    assert data == phase[1]


@pytest.mark.parametrize("change", [{"seed": 6}, {"path": Path("iteration=1/train")}])
def test_seed_and_path_make_another_run(core: TrainingCore, phase: Phase, change: dict[str, Any]) -> None:
    assert run(core, train(**change))[0].parameters_sha256 != phase[0].parameters_sha256


def test_resume_is_bitwise_from_every_save(core: TrainingCore, phase: Phase) -> None:
    """Leaving any part of the learner out of the checkpoint (episodes, memory, optimiser, tally) makes this fail."""
    trained, data, saved = phase
    for point in saved:
        again, raw = run(core, train(), resume=point)
        assert plain(again) == plain(trained)
        assert raw == data


def test_stop_hands_over_a_state_to_resume_from(core: TrainingCore, phase: Phase) -> None:
    saved: list[tuple[int, bytes]] = []
    calls = iter([False, False, True])
    with pytest.raises(Stopped, match=f"stopped after {2 * PER_ROLLOUT} of {4 * PER_ROLLOUT} steps"):
        run(core, train(), save=lambda done, raw: saved.append((done, raw)), stop=lambda: next(calls))
    assert saved[-1] == phase[2][1]
    assert run(core, train(), resume=saved[-1])[1] == phase[1]


def test_a_foreign_resume_is_refused(core: TrainingCore, phase: Phase) -> None:
    done, raw = phase[2][0]
    for effect, point in ((train(seed=6), (done, raw)), (train(), (done + 1, raw)), (train(), (done, phase[1]))):
        with pytest.raises(CheckpointError, match="another training phase or step"):
            run(core, effect, resume=point)


def test_the_next_phase_goes_on_from_the_agent(core: TrainingCore, phase: Phase) -> None:
    """Optimiser and step count are carried: the count decides the learning rate."""
    decaying = evolve(PPO, learning_rate=1e-3, end_learning_rate=1e-4, decay_steps=8 * PER_ROLLOUT)
    rates: list[float] = []

    def watch(done: int, total: int, metrics: tuple[Metric, ...]) -> None:
        rates.extend(metric.value for metric in metrics if metric.name == "learning_rate")

    following = train(agent=Path("iteration=0/train"), path=Path("iteration=1/train"), ppo=decaying)
    trained, data = run(core, following, phase[1], progress=watch)
    assert rates == pytest.approx([5.5e-4, 4.375e-4, 3.25e-4, 2.125e-4])
    assert int(unpack(data, "lineage", np.zeros((), np.int64))) == 8 * PER_ROLLOUT
    assert trained.parameters_sha256 != phase[0].parameters_sha256


def test_an_agent_of_another_shape_is_refused(core: TrainingCore, phase: Phase) -> None:
    following = train(agent=Path("iteration=0/train"), network=evolve(MLP, hidden_size=16))
    with pytest.raises(CheckpointError, match="must be those of the training"):
        run(core, following, phase[1])
    with pytest.raises(ValueError, match="give the checkpoint of the agent"):
        run(core, following, None)
    with pytest.raises(ValueError, match="none for the untrained"):
        run(core, train(), phase[1])


def test_contradictions_are_refused(core: TrainingCore) -> None:
    with pytest.raises(ValueError, match="the effect names craftax_classic"):
        run(core, train(world="craftax_classic"))
    with pytest.raises(ValueError, match="requires OpenDoor, which is no skill"):
        run(core, train(skills=(SKILLS[0], SKILLS[2])))
    with pytest.raises(ValueError, match="archive is empty"):
        run(core, train(skills=()))
    with pytest.raises(ValueError, match="names must be unique"):
        run(core, train(skills=(SKILLS[0], SKILLS[0])))
    with pytest.raises(ValueError, match="1 conditions but 0 prerequisites"):
        run(core, train(skills=(SKILLS[0], evolve(SKILLS[1], requires=()))))
    with pytest.raises(ValueError, match="form a cycle"):
        run(core, train(skills=(SKILLS[0], evolve(SKILLS[1], requires=("OpenDoor",)))))
    with pytest.raises(ValueError, match="no program"):
        run(core, train(skills=(program("TakeKey", source="import os"),)))


def test_the_transformer_resumes_to_the_bit(core: TrainingCore) -> None:
    """Memory crosses rollouts here, so it must be in the checkpoint."""
    effect = train(network=GTRXL, steps=2 * PER_ROLLOUT)
    saved: list[tuple[int, bytes]] = []
    trained, data = run(core, effect, save=lambda done, raw: saved.append((done, raw)))
    again, raw = run(core, effect, resume=saved[0])
    assert plain(again) == plain(trained)
    assert raw == data


SCRIPT = """
from tests.engine.train.effects import train
from tests.tiny_worlds import Corridor
from engine.train.core import TrainingCore
result = TrainingCore(Corridor()).train(train(), None, progress=lambda *_: None, stop=lambda: False)[0]
print(result.parameters_sha256, result.checkpoint)
"""


def fresh_processes(count: int) -> set[str]:
    """What as many fresh processes print, with the thread settings of this one and varying hash seeds."""
    root = File(__file__).parents[3]
    printed = set()
    for seed in range(count):
        environment = {**os.environ, "PYTHONHASHSEED": str(seed)}
        result = subprocess.run(
            [sys.executable, "-c", SCRIPT], cwd=root, env=environment, capture_output=True, text=True, check=True
        )
        printed.add(result.stdout)
    return printed


def test_a_fresh_process_gives_the_same_bits(phase: Phase) -> None:
    trained = phase[0]
    assert fresh_processes(1) == {f"{trained.parameters_sha256} {trained.checkpoint}\n"}


@pytest.mark.slow
def test_five_fresh_processes_give_one_digest() -> None:
    assert len(fresh_processes(5)) == 1


def test_the_small_network_learns_the_chain(core: TrainingCore) -> None:
    """From never to nearly always: 50,000 steps teach key, door and lamp, which random actions seldom reach."""
    ppo = Ppo(environments=32, rollout_steps=16, minibatches=4, learning_rate=2e-3, end_learning_rate=2e-3)
    routing = Routing(patience=20)
    effect = train(steps=50_000, ppo=ppo, routing=routing, path=Path("learn"))
    _, data = run(core, effect)

    def rates(agent: Path, checkpoint: bytes | None) -> list[int]:
        targets = tuple(Target(skill.name, skill) for skill in SKILLS)
        evaluation = Evaluate(
            Path("evaluate"), agent, "corridor", SKILLS, targets, 32, 60, 5, Path("evaluate"), MLP, routing
        )
        outcome = core.evaluate(evaluation, checkpoint, progress=silent, stop=never)
        return [row.successes for row in outcome.rows]

    assert rates(UNTRAINED, None)[2] <= 2
    assert min(rates(Path("learn"), data)) >= 29
