"""Training is bitwise on the same stack: fresh processes give one digest (docs/determinism.md has the measurements)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path as File

import pytest

from engine.train.core import TrainingCore
from engine.worlds.registry import world
from ledger.vocabulary.config import Agent, Ppo, Routing
from ledger.vocabulary.evaluate import Evaluate, Evaluated, Target
from ledger.vocabulary.path import Path
from ledger.vocabulary.train import UNTRAINED, Train, Trained
from replay.fingerprint import facts, fingerprint
from tests.engine.train.effects import GTRXL, MLP, train
from tests.engine.train.test_craftax import SKILLS, SMALL
from tests.tiny_worlds import Corridor

ROOT = File(__file__).parents[3]
NETWORKS = {"mlp": Agent(kind="mlp", hidden_size=64), "gtrxl": Agent(kind="gtrxl", hidden_size=16, **SMALL)}


def phase(setting: str, network: str) -> tuple[Trained, Evaluated | None]:
    """A tiny phase: in the corridor, or in Craftax-Classic followed by an evaluation."""
    if setting == "corridor":
        effect = train(network={"mlp": MLP, "gtrxl": GTRXL}[network])
        return TrainingCore(Corridor()).train(effect, None, progress=lambda *_: None, stop=lambda: False)[0], None
    core, agent, routing = TrainingCore(world("craftax_classic")), NETWORKS[network], Routing(patience=20)
    ppo = Ppo(environments=64, rollout_steps=16, update_epochs=2, minibatches=2)
    effect = Train(Path("train"), UNTRAINED, "craftax_classic", SKILLS, 3_000, 5, agent, ppo, routing)
    trained, data = core.train(effect, None, progress=lambda *_: None, stop=lambda: False)
    targets = tuple(Target(skill.name, skill) for skill in SKILLS)
    names = (Path("evaluate"), Path("train"), "craftax_classic")
    wanted = Evaluate(*names, SKILLS, targets, 16, 100, 5, Path("evaluate"), agent, routing)
    return trained, core.evaluate(wanted, data, progress=lambda *_: None, stop=lambda: False)


def told(setting: str, network: str) -> str:
    """Every outcome of the phase that must be equal, on one line; then the fingerprint that promises it."""
    trained, evaluated = phase(setting, network)
    rows = () if evaluated is None else evaluated.rows
    outcomes = (trained.parameters_sha256, trained.checkpoint, trained.attempts, trained.mean_reward.hex(), rows)
    return f"{outcomes} | {fingerprint(facts())}\n"


def fresh(setting: str, network: str, seed: int, **environment: str) -> str:
    """What ``told`` says in a process of its own, under another hash seed."""
    command = f"from tests.engine.train.test_determinism import told; print(told({setting!r}, {network!r}), end='')"
    done = subprocess.run(
        [sys.executable, "-c", command],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": str(seed), **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


@pytest.mark.parametrize("network", ["mlp", "gtrxl"])
def test_a_fresh_process_gives_the_bits_of_this_one(network: str) -> None:
    assert fresh("corridor", network, 1) == told("corridor", network)


@pytest.mark.slow
@pytest.mark.parametrize("network", ["mlp", "gtrxl"])
def test_five_fresh_processes_on_craftax_classic_give_one_digest(network: str) -> None:
    """Parameters, optimiser state, attempts, rewards and evaluation; the last process compiles everything itself."""
    found = [fresh("craftax_classic", network, seed) for seed in range(4)]
    found.append(fresh("craftax_classic", network, 4, JAX_ENABLE_COMPILATION_CACHE="false"))
    assert len(set(found)) == 1


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="cores cannot be chosen on this system")
def test_what_changes_bits_changes_the_fingerprint() -> None:
    """Other cores or another pool of threads: if any outcome differs, so must the fingerprint.

    Equal outcomes under another fingerprint are allowed: the promise goes one way.
    """
    cores = sorted(os.sched_getaffinity(0))
    plain, plain_print = fresh("craftax_classic", "mlp", 0).rsplit(" | ", 1)
    os.sched_setaffinity(0, cores[:1])
    try:
        others = [fresh("craftax_classic", "mlp", 0)]
    finally:
        os.sched_setaffinity(0, cores)
    others += [fresh("craftax_classic", "mlp", 0, NPROC="1"), fresh("craftax_classic", "mlp", 0, PJRT_NPROC="4")]
    for other in others:
        outcomes, print_of_it = other.rsplit(" | ", 1)
        assert outcomes == plain or print_of_it != plain_print
