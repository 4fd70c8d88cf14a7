"""The recurrent network: acting step by step equals unrolling from any cached state, and the core trains it."""

from __future__ import annotations

from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from attrs import evolve
from flax import linen as nn
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.agent.gru import GruNetwork, Recurrence
from engine.agent.network import build
from engine.train.core import TrainingCore
from ledger.vocabulary.config import Agent, Ppo
from ledger.vocabulary.evaluate import Evaluate, Target
from ledger.vocabulary.events import Metric
from ledger.vocabulary.path import Path
from ledger.vocabulary.train import Train, Trained
from tests.engine.train.effects import PER_ROLLOUT, PPO, ROUTING, SKILLS, train
from tests.tiny_worlds import Corridor

OBSERVATION, VECTOR, ACTIONS, BATCH, SKILL_COUNT = 5, 4, 3, 3, 2
ROLLOUTS, STEPS = 3, 4
TOTAL = ROLLOUTS * STEPS
SIZE = 8
TOLERANCE = {"rtol": 1e-5, "atol": 1e-5}


def tiny(gradient_window: int, **changes: Any) -> GruNetwork:
    agent = Agent(kind="gru", hidden_size=SIZE, gradient_window=gradient_window, **changes)
    network = build(agent, observation_size=OBSERVATION, vector_size=VECTOR, actions=ACTIONS)
    assert isinstance(network, GruNetwork)
    return network


@cache
def functions() -> tuple[Any, Any, Any]:
    """Noisy parameters (biases included), a compiled rollout of acting, a compiled unroll; no window enters them."""
    network = tiny(2)
    leaves, structure = jax.tree.flatten(jax.jit(network.initialise)(jax.random.key(0)))
    noise = [jax.random.normal(jax.random.key(i), leaf.shape) * 0.2 for i, leaf in enumerate(leaves)]
    parameters = jax.tree.unflatten(structure, [leaf + extra for leaf, extra in zip(leaves, noise, strict=True)])

    def rollout(memory: Any, observation: Any, skill: Any, age: Any) -> Any:
        def step(cache: Any, now: Any) -> Any:
            acted = network.act(parameters, cache, *now)
            return acted.cache, (acted.logits, acted.value, acted.record)

        opened = network.open(parameters, memory)
        _, (logits, values, records) = jax.lax.scan(step, opened, (observation, skill, age))
        return logits, values, records, network.close(memory, records)

    def unroll(memory: Any, observation: Any, skill: Any, age: Any) -> Any:
        return network.unroll(parameters, memory, observation, skill, age)

    return parameters, jax.jit(rollout), jax.jit(unroll)


def ages(first: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Steps since the last start ``[T, B]``, from ``first [B]`` at step 0."""
    result = np.zeros(starts.shape, np.int32)
    result[0] = first
    for step in range(1, len(starts)):
        result[step] = np.where(starts[step], 0, result[step - 1] + 1)
    return result


def by_sequence(leaf: jax.Array) -> jax.Array:
    return jnp.swapaxes(leaf, 0, 1)


@settings(max_examples=25)
@given(
    window=st.sampled_from([1, 2, 4, 9]),
    first=st.lists(st.integers(0, 2), min_size=BATCH, max_size=BATCH),
    dice=st.lists(st.integers(0, 4), min_size=TOTAL * BATCH, max_size=TOTAL * BATCH),
    seed=st.integers(0, 2**31 - 1),
)
def test_acting_step_by_step_equals_unrolling(window: int, first: list[int], dice: list[int], seed: int) -> None:
    """Three rollouts of four steps, episodes that begin anywhere, some of them before the first rollout.

    Compared: (a) acting, the memory carried from rollout to rollout; (b) one window over all twelve steps; (c) every
    learning sequence of every rollout, from the state that the rollout kept for it; (d) a loop in numpy over flax's own
    cell, which begins each episode with zeros. The memory before the first step is noise: where an episode begins at
    step 0 it must not matter. A record too early or too late, or a reset too many or too few, shows.
    """
    network = tiny(window)
    parameters, rollout, unroll = functions()
    age = jnp.asarray(ages(np.array(first), np.array(dice).reshape(TOTAL, BATCH) == 0))
    noise = jax.random.key(seed)
    observation = jax.random.normal(noise, (TOTAL, BATCH, OBSERVATION))
    vectors = jax.random.normal(jax.random.fold_in(noise, 1), (SKILL_COUNT, VECTOR)) / 2.0
    active = jax.random.randint(jax.random.fold_in(noise, 2), (TOTAL, BATCH), 0, SKILL_COUNT)
    skill = network.skills(parameters, vectors)[active]
    memory = jax.random.normal(jax.random.fold_in(noise, 3), (BATCH, SIZE))

    expected_logits, expected_values = unroll(memory, by_sequence(observation), by_sequence(skill), by_sequence(age))
    states = by_the_library(parameters, memory, observation, skill, age)
    for index in range(ROLLOUTS):
        part = slice(index * STEPS, (index + 1) * STEPS)
        before = memory
        logits, values, records, memory = rollout(memory, observation[part], skill[part], age[part])
        np.testing.assert_allclose(records, states[part], **TOLERANCE)
        np.testing.assert_allclose(by_sequence(logits), expected_logits[:, part], **TOLERANCE)
        np.testing.assert_allclose(by_sequence(values), expected_values[:, part], **TOLERANCE)

        starting = network.sequences(before, records, STEPS)
        length = network.window(STEPS)
        assert starting.shape == (STEPS // length * BATCH, SIZE)
        for position in range(STEPS // length):
            piece = slice(part.start + length * position, part.start + length * (position + 1))
            own = starting[position * BATCH : (position + 1) * BATCH]
            inputs = (by_sequence(leaf[piece]) for leaf in (observation, skill, age))
            logits, values = unroll(own, *inputs)
            np.testing.assert_allclose(logits, expected_logits[:, piece], **TOLERANCE)
            np.testing.assert_allclose(values, expected_values[:, piece], **TOLERANCE)


def as_library(recurrence: Any) -> Any:
    """Our parameters in the form of ``flax.linen.GRUCell``."""
    kernel, bias, recurrent = (
        np.split(np.asarray(recurrence[name]), 3, axis=-1) for name in ("kernel", "bias", "recurrent_kernel")
    )
    cell: dict[str, Any] = {}
    for gate, name in enumerate("rzn"):
        cell[f"i{name}"] = {"kernel": kernel[gate], "bias": bias[gate]}
        cell[f"h{name}"] = {"kernel": recurrent[gate]}
    cell["hn"]["bias"] = recurrence["recurrent_bias"]
    return {"params": cell}


@jax.jit
def library_step(cell: Any, hidden: jax.Array, x: jax.Array) -> jax.Array:
    result: jax.Array = nn.GRUCell(SIZE).apply(cell, hidden, x)[0]
    return result


def by_the_library(parameters: Any, memory: Any, observation: Any, skill: Any, age: Any) -> np.ndarray:
    """States after every step ``[T, B, size]``."""
    own = parameters["params"]
    cell = as_library(own["recurrence"])
    hidden = np.asarray(memory)
    states = []
    for step in range(len(age)):
        hidden = np.where(np.asarray(age[step])[:, None] == 0, np.float32(0.0), hidden)
        x = np.maximum(observation[step] @ own["encoder"]["kernel"][:OBSERVATION] + skill[step], 0.0)
        hidden = np.asarray(library_step(cell, hidden, x))
        states.append(hidden)
    return np.stack(states)


def test_one_step_by_hand() -> None:
    """One unit, W = (1, -1, 2), U = (1, 2, -1) for r, z, n, recurrent bias 1, x = 1, h = 0.5.

    r = s(1 + 0.5) = 0.81757, z = s(-1 + 1) = 0.5, n = tanh(2 + r (-0.5 + 1)) = tanh(2.40879) = 0.98395, and so
    h' = 0.5 * 0.98395 + 0.5 * 0.5 = 0.74198. At age 0 h counts as 0: r = s(1) = 0.73106, z = s(-1) = 0.26894,
    n = tanh(2 + r) = 0.99155, h' = 0.73106 * 0.99155 = 0.72488.
    """
    unit = Recurrence(1)
    parameters = {
        "params": {
            "kernel": jnp.array([[1.0, -1.0, 2.0]]),
            "bias": jnp.zeros(3),
            "recurrent_kernel": jnp.array([[1.0, 2.0, -1.0]]),
            "recurrent_bias": jnp.ones(1),
        }
    }
    inputs = unit.apply(parameters, jnp.ones((2, 1)), method="inputs")
    assert inputs.tolist() == [[1.0, -1.0, 2.0], [1.0, -1.0, 2.0]]
    hidden = unit.apply(parameters, jnp.full((2, 1), 0.5), inputs, jnp.array([7, 0]))
    np.testing.assert_allclose(hidden[:, 0], [0.74198, 0.72488], atol=1e-5)


def test_it_begins_as_the_library_does() -> None:
    """The same shapes and zeros; every gate's recurrent kernel is orthogonal, the inputs' have variance 1 / size."""
    size = 64
    own = Recurrence(size).init(
        jax.random.key(0), jnp.zeros((1, size)), jnp.zeros((1, 3 * size)), jnp.zeros(1, jnp.int32)
    )["params"]
    library = nn.GRUCell(size).init(jax.random.key(0), jnp.zeros((1, size)), jnp.zeros((1, size)))
    assert jax.tree.map(np.shape, as_library(own)) == jax.tree.map(np.shape, dict(library))
    assert not own["bias"].any()
    assert not own["recurrent_bias"].any()
    gates = np.split(np.asarray(own["recurrent_kernel"]), 3, axis=1)
    for gate in gates:
        np.testing.assert_allclose(gate.T @ gate, np.eye(size), atol=1e-5)
    assert (gates[0] != gates[1]).any()
    assert np.var(own["kernel"]) == pytest.approx(1.0 / size, rel=0.05)


def test_memory_matters_and_another_episode_does_not() -> None:
    """Changing memory or step 0 changes step 2 of the same episode, and nothing of one that began at step 1."""
    _, _, unroll = functions()
    observation = jax.random.normal(jax.random.key(0), (1, 3, OBSERVATION))
    skill = jnp.zeros((1, 3, SIZE))
    memory = jax.random.normal(jax.random.key(1), (1, SIZE))
    variants = ((memory, observation.at[0, 0].add(1.0)), (memory + 1.0, observation))
    for age, same in ((jnp.array([[4, 5, 6]]), False), (jnp.array([[4, 0, 1]]), True)):
        before, _ = unroll(memory, observation, skill, age)
        for other_memory, other_observation in variants:
            after, _ = unroll(other_memory, other_observation, skill, age)
            assert bool((before[0, 2] == after[0, 2]).all()) is same


def test_gradients_flow_through_the_window_and_not_into_the_memory() -> None:
    """Three sequences: all of one episode, one that begins at step 1, one that begins at the last step."""
    network = tiny(4)
    parameters, _, _ = functions()
    age = jnp.array([[9, 10, 11], [9, 0, 1], [9, 10, 0]])

    def last_value(memory: jax.Array, observation: jax.Array) -> jax.Array:
        return network.unroll(parameters, memory, observation, jnp.zeros((BATCH, 3, SIZE)), age)[1][:, -1].sum()

    memory = jax.random.normal(jax.random.key(1), (BATCH, SIZE))
    observation = jax.random.normal(jax.random.key(2), (BATCH, 3, OBSERVATION))
    into_memory, into_steps = jax.jit(jax.grad(last_value, argnums=(0, 1)))(memory, observation)
    assert not into_memory.any()
    reached = (into_steps != 0).any(axis=2)
    assert reached.tolist() == [[True, True, True], [False, True, True], [False, False, True]]


def test_rows_of_a_cache_act_as_they_would_in_the_batch() -> None:
    network = tiny(2)
    parameters, _, _ = functions()
    act = jax.jit(network.act)
    hidden = jax.random.normal(jax.random.key(5), (BATCH, SIZE))
    observation = jax.random.normal(jax.random.key(6), (BATCH, OBSERVATION))
    skill = network.skills(parameters, jax.random.normal(jax.random.key(7), (BATCH, VECTOR)))
    age = jnp.array([0, 2, 9])
    whole = act(parameters, hidden, observation, skill, age)
    some = jnp.array([2, 0])
    part = act(parameters, network.rows(hidden, some), observation[some], skill[some], age[some])
    np.testing.assert_allclose(part.value, whole.value[some], rtol=1e-5, atol=1e-6)
    assert network.rows(hidden, jnp.array([1, BATCH + 4])).tolist() == hidden[jnp.array([1, 2])].tolist()


def test_layers_count_as_in_the_small_network() -> None:
    """The encoder is the first layer; the others stand in both heads. The unit itself has four arrays."""
    for layers in (1, 3):
        parameters = jax.eval_shape(tiny(2, layers=layers).initialise, jax.random.key(0))
        assert len(jax.tree.leaves(parameters)) == 2 + 4 + 2 * 2 * layers


def test_odd_windows_are_refused() -> None:
    with pytest.raises(ValueError, match="rollout_steps 5 must be a multiple of gradient_window 2"):
        tiny(2).window(5)
    assert [tiny(2).window(steps) for steps in (1, 2, 6)] == [1, 2, 2]


GRU = Agent(kind="gru", hidden_size=16, gradient_window=4)
WHOLE = Ppo(
    environments=PPO.environments,
    rollout_steps=PPO.rollout_steps,
    update_epochs=1,
    minibatches=1,
    learning_rate=1e-2,
    end_learning_rate=1e-2,
)
EFFECT = train(network=GRU, ppo=WHOLE)
Seen = list[tuple[Metric, ...]]
Phase = tuple[Trained, bytes, list[tuple[int, bytes]], Seen]


def never() -> bool:
    return False


@pytest.fixture(scope="module")
def core() -> TrainingCore:
    return TrainingCore(Corridor(), save_every_seconds=0.0, evaluation_lanes=8)


def run(core: TrainingCore, effect: Train, resume: tuple[int, bytes] | None = None) -> Phase:
    saved: list[tuple[int, bytes]] = []
    seen: Seen = []
    trained, data = core.train(
        effect,
        None,
        progress=lambda done, total, metrics: seen.append(metrics),
        save=lambda done, raw: saved.append((done, raw)),
        resume=resume,
        stop=never,
    )
    return evolve(trained, seconds=0.0), data, saved, seen


@pytest.fixture(scope="module")
def phase(core: TrainingCore) -> Phase:
    """Four rollouts of eight steps, learned in windows of four: states are cached inside and between rollouts."""
    return run(core, EFFECT)


def test_learning_sees_the_policy_that_acted(phase: Phase) -> None:
    """With one minibatch and one epoch the update begins at the parameters that acted: nothing has diverged yet.

    Sequences that begin at another step's state, or at none, show here.
    """
    divergences = [{metric.name: metric.value for metric in metrics}["divergence"] for metrics in phase[3]]
    assert len(divergences) == 4
    assert max(abs(value) for value in divergences) < 1e-9


def test_it_resumes_to_the_bit(core: TrainingCore, phase: Phase) -> None:
    """The state crosses rollouts, so it must be in the checkpoint."""
    trained, data, saved, _ = phase
    assert [done for done, _ in saved] == [PER_ROLLOUT, 2 * PER_ROLLOUT, 3 * PER_ROLLOUT]
    for point in saved:
        again, raw, _, _ = run(core, EFFECT, resume=point)
        assert again == trained
        assert raw == data


def test_it_is_evaluated(core: TrainingCore, phase: Phase) -> None:
    targets = tuple(Target(skill.name, skill) for skill in SKILLS[:2])
    wanted = Evaluate(Path("evaluate"), EFFECT.path, "corridor", SKILLS, targets, 12, 20, 5, Path("keys"), GRU, ROUTING)

    def evaluate() -> Any:
        return core.evaluate(wanted, phase[1], progress=lambda *_: None, stop=never)

    first = evaluate()
    assert [(row.label, row.episodes) for row in first.rows] == [("TakeKey", 12), ("OpenDoor", 12)]
    assert first.rows[0].successes > 0
    assert evaluate().rows == first.rows
