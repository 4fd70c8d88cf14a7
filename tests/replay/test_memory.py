"""The count of bytes against arrays that exist, and by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest
from attrs import evolve

from engine.agent.network import build
from engine.train.ppo import optimiser
from engine.train.rollout import before_first, build_rollout
from ledger.vocabulary.config import Agent, Config, Ppo
from replay import doctor as doctor_module
from replay import memory
from replay.doctor import check_memory
from replay.memory import Footprint, _archive, footprint, nbytes, size
from tests.tiny_worlds import LENGTH, Corridor

STEPS, BATCH = 8, 4
MLP = Config(world="corridor", agent=Agent(kind="mlp", hidden_size=8, layers=1), ppo=Ppo(BATCH, STEPS, minibatches=2))
GTRXL = evolve(
    MLP,
    agent=Agent(
        kind="gtrxl", layers=2, heads=2, embedding_size=8, qkv_size=8, hidden_size=8, memory_window=4, gradient_window=4
    ),
)


def held(tree: Any) -> int:
    """Bytes of arrays that exist."""
    return sum(int(np.asarray(leaf).nbytes) for leaf in jax.tree.leaves(tree))


@pytest.mark.parametrize("config", [MLP, GTRXL], ids=["mlp", "gtrxl"])
def test_the_count_is_that_of_real_arrays(config: Config) -> None:
    """A rollout really run: episodes, memory, cache, trajectory, parameters and optimiser have these bytes."""
    world, count = Corridor(), 3
    shape, tables, predicates = _archive(count)
    network = build(
        config.agent,
        observation_size=world.observation_size,
        vector_size=shape.dimensions,
        actions=world.num_actions,
    )
    parameters = network.initialise(jax.random.key(0))
    episodes, kept = before_first(world, BATCH), network.initial_memory(BATCH)
    rollout = jax.jit(build_rollout(world, network, predicates, shape, config.ppo, config.routing))
    rolled = rollout(parameters, episodes, kept, tables, jax.random.key(1))
    found = footprint(config, world, skills=count)
    assert found.state * BATCH == held(episodes) == held(rolled.episodes)
    assert found.memory * BATCH == held(kept) == held(rolled.memory)
    assert found.cache * BATCH == held(network.open(parameters, kept))
    assert found.trajectory * BATCH == held((rolled.trajectory, rolled.trace, rolled.last_value))
    assert found.parameters == 3 * held(parameters)
    assert found.optimiser == 2 * held(optimiser(config.ppo).init(parameters))


def test_a_small_network_by_hand() -> None:
    """Corridor, one hidden layer: every number from the definitions of state, trajectory and batch.

    State: 8 + 5 int32, 3 + 2 bool and a float32; then over, target, active, idle, age. Trajectory, per step:
    observation, five int32 or float32 for action, age, active, log_prob, value, reward and cut_value (seven in all)
    and cut; the trace has two int32 and five bool. One last value.
    """
    found = footprint(MLP, Corridor(), skills=3)
    observation = 4 * (LENGTH + 3)
    assert found.state == 4 * (LENGTH + 3) + 5 + 4 + (1 + 4 * 4)
    assert found.memory == found.cache == 0
    assert found.trajectory == STEPS * (observation + 7 * 4 + 1 + 2 * 4 + 5) + 4
    # The advantage stands beside observation, active, age, action, log_prob and value.
    assert found.sequences == STEPS * (observation + 6 * 4)
    # One of two minibatches, and at least its inputs and hidden layers for the backward pass.
    assert found.minibatch >= found.sequences / 2 + STEPS / 2 * 4 * 8
    assert found.acting == 2 * found.state + found.trajectory
    assert found.learning == found.state + found.trajectory + found.sequences + found.minibatch
    assert found.total == BATCH * found.learning + found.parameters + found.optimiser


def test_per_environment_means_per_environment() -> None:
    """Twice the environments: the same bytes each, twice the whole but for parameters and optimiser.

    What a backward pass keeps of the parameters themselves does not grow, so its share per environment falls.
    """
    one = footprint(GTRXL, Corridor(), skills=3)
    two = footprint(evolve(GTRXL, ppo=evolve(GTRXL.ppo, environments=2 * BATCH)), Corridor(), skills=3)
    for name in ("state", "memory", "trajectory", "sequences"):
        assert getattr(one, name) == getattr(two, name)
    assert one.minibatch * 0.5 < two.minibatch <= one.minibatch
    assert (one.parameters, one.optimiser) == (two.parameters, two.optimiser)
    assert one.total < two.total < 2 * one.total


def test_more_minibatches_hold_less() -> None:
    few, many = (footprint(evolve(MLP, ppo=evolve(MLP.ppo, minibatches=n)), Corridor()) for n in (1, 4))
    assert many.minibatch < few.minibatch
    assert many.sequences == few.sequences
    with pytest.raises(ValueError, match="32 learning sequences cannot be divided into 5 minibatches"):
        footprint(evolve(MLP, ppo=evolve(MLP.ppo, minibatches=5)), Corridor())


def test_counting_compiles_nothing(request: pytest.FixtureRequest) -> None:
    events: list[str] = []

    def listen(event: str, duration_secs: float, **details: Any) -> None:
        events.append(event)

    jax.monitoring.register_event_duration_secs_listener(listen)
    request.addfinalizer(lambda: jax.monitoring.unregister_event_duration_listener(listen))
    jax.jit(lambda x: x * 3.0)(1.0)
    assert any("backend_compile" in event for event in events)
    footprint(GTRXL, Corridor(), skills=5)  # the tables themselves are small arrays that are made
    events.clear()
    footprint(GTRXL, Corridor(), skills=5)
    assert [event for event in events if "backend_compile" in event] == []


HELD = Footprint(512, 1024.0, 2048.0, 0.0, 4096.0, 4096.0, 1024.0, 2**20, 2**20)


def test_the_doctor_compares_with_what_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor_module, "footprint", lambda config: HELD)
    monkeypatch.setattr(doctor_module, "available", lambda: 2**30)
    fine = check_memory(MLP)
    assert fine.status == "ok"
    assert fine.found == (
        "about 9.0 MiB for 512 environments: 14.0 KiB each (state 1.0 KiB, memory 2.0 KiB, cache 0 bytes, "
        "trajectory 4.0 KiB, sequences 4.0 KiB, minibatch 1.0 KiB), 2.0 MiB of parameters and optimiser; "
        "1.0 GiB available"
    )
    monkeypatch.setattr(doctor_module, "available", lambda: 2**20)
    tight = check_memory(MLP)
    assert tight.status == "warning"
    assert "ppo.environments" in tight.advice
    monkeypatch.setattr(doctor_module, "available", lambda: None)
    assert check_memory(MLP).status == "ok"


def test_what_is_available_is_a_plausible_number() -> None:
    there = memory.available()
    assert there is None or there > 2**20


def test_sizes_have_units() -> None:
    assert [size(value) for value in (12, 2048, 3 * 2**20, 5.5 * 2**30)] == [
        "12 bytes",
        "2.0 KiB",
        "3.0 MiB",
        "5.5 GiB",
    ]


def test_random_keys_count_their_words() -> None:
    assert nbytes(jax.eval_shape(lambda: jax.random.split(jax.random.key(0), 3))) == 3 * 8


def test_the_command_counts_the_configuration_that_it_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from replay.cli import main
    from replay.commands import environment

    seen: list[int] = []

    def counted(config: Config) -> Footprint:
        seen.append(config.ppo.environments)
        return HELD

    monkeypatch.setattr(doctor_module, "footprint", counted)
    monkeypatch.setattr(environment, "prepare", lambda *given: None)
    file = tmp_path / "experiment.toml"
    file.write_text("[ppo]\nenvironments = 77\n", encoding="utf-8")
    main(["doctor", "--folder", str(tmp_path), "--config", str(file)])
    assert seen == [77]
    assert "about 9.0 MiB for 512 environments" in capsys.readouterr().out
