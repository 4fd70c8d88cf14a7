"""The transformer: acting from the cache equals computing everything anew; the two second gates differ as named."""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.agent.attention import distances_to_keys, keys_to_distances, positions, window_mask
from engine.agent.gtrxl import GtrxlNetwork
from engine.agent.network import build
from engine.agent.transformer import Gate, Layer
from ledger.vocabulary.config import Agent

OBSERVATION, VECTOR, ACTIONS, BATCH, SKILLS = 5, 4, 3, 3, 2
ROLLOUTS, STEPS = 3, 4
SIZE = 16


def tiny(memory: int, **changes: Any) -> GtrxlNetwork:
    values = {
        "kind": "gtrxl",
        "layers": 2,
        "heads": 2,
        "embedding_size": SIZE,
        "qkv_size": 8,
        "hidden_size": 16,
        "memory_window": memory,
        "gradient_window": 2,
        **changes,
    }
    network = build(Agent(**values), observation_size=OBSERVATION, vector_size=VECTOR, actions=ACTIONS)
    assert isinstance(network, GtrxlNetwork)
    return network


@cache
def functions(memory: int, gating: bool, second_gate: str) -> tuple[GtrxlNetwork, Any, Any, Any]:
    """The network with noisy parameters (biases included), a compiled rollout of acting, a compiled unroll."""
    network = tiny(memory, gating=gating, second_gate=second_gate, gate_bias=0.5)
    shapes = jax.jit(network.initialise)(jax.random.key(0))
    leaves, structure = jax.tree.flatten(shapes)
    noise = [jax.random.normal(jax.random.key(i), leaf.shape) * 0.2 for i, leaf in enumerate(leaves)]
    parameters = jax.tree.unflatten(structure, [leaf + extra for leaf, extra in zip(leaves, noise, strict=True)])

    def rollout(memory: Any, observation: Any, skill: Any, age: Any) -> Any:
        def step(ring: Any, now: Any) -> Any:
            acted = network.act(parameters, ring, *now)
            return acted.cache, (acted.logits, acted.value, acted.record)

        ring, (logits, values, records) = jax.lax.scan(
            step, network.open(parameters, memory), (observation, skill, age)
        )
        del ring
        return logits, values, records, network.close(memory, records)

    def unroll(memory: Any, observation: Any, skill: Any, age: Any) -> Any:
        return network.unroll(parameters, memory, observation, skill, age)

    return network, parameters, jax.jit(rollout), jax.jit(unroll)


def ages(starts: np.ndarray) -> np.ndarray:
    """Steps since the last start ``[T, B]``; every environment begins an episode at step 0."""
    result = np.zeros(starts.shape, np.int32)
    for step in range(1, len(starts)):
        result[step] = np.where(starts[step], 0, result[step - 1] + 1)
    return result


VARIANTS = [
    (1, True, "residual"),
    (3, True, "residual"),
    (13, True, "residual"),
    (3, True, "swapped"),
    (5, False, "residual"),
]


@settings(max_examples=20)
@given(
    st.sampled_from(VARIANTS),
    st.lists(st.integers(0, 5), min_size=ROLLOUTS * STEPS * BATCH, max_size=ROLLOUTS * STEPS * BATCH),
    st.integers(0, 2**31 - 1),
)
def test_acting_from_the_cache_equals_recomputing_everything(
    variant: tuple[int, bool, str], dice: list[int], seed: int
) -> None:
    """Three rollouts of four steps with random episode starts.

    Compared: (a) acting step by step from the ring, memory carried from rollout to rollout; (b) one window over all
    twelve steps without any memory; (c) windows of two steps, each after the memory that the rollouts kept. Memories
    are shorter than, as long as, and longer than windows and rollouts. An off-by-one in the ring's distances, in the
    mask or in the carried memory makes (a), (b) or (c) differ by far more than the tolerance.
    """
    network, parameters, rollout, unroll = functions(*variant)
    starts = np.array(dice).reshape(ROLLOUTS * STEPS, BATCH) == 0
    age = jnp.asarray(ages(starts))
    noise = jax.random.key(seed)
    observation = jax.random.normal(noise, (ROLLOUTS * STEPS, BATCH, OBSERVATION))
    vectors = jax.random.normal(jax.random.fold_in(noise, 1), (SKILLS, VECTOR)) / 2.0
    active = jax.random.randint(jax.random.fold_in(noise, 2), (ROLLOUTS * STEPS, BATCH), 0, SKILLS)
    skill = network.skills(parameters, vectors)[active]

    def sequences(leaf: jax.Array) -> jax.Array:
        return jnp.swapaxes(leaf, 0, 1)

    expected_logits, expected_values = unroll(
        network.initial_memory(BATCH), sequences(observation), sequences(skill), sequences(age)
    )
    memory = network.initial_memory(BATCH)
    for index in range(ROLLOUTS):
        part = slice(index * STEPS, (index + 1) * STEPS)
        before = memory
        logits, values, records, memory = rollout(memory, observation[part], skill[part], age[part])
        np.testing.assert_allclose(sequences(logits), expected_logits[:, part], rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(sequences(values), expected_values[:, part], rtol=1e-5, atol=1e-5)

        starting = network.sequences(before, records, STEPS)
        for window in range(STEPS // 2):
            piece = slice(part.start + 2 * window, part.start + 2 * window + 2)
            own = starting[window * BATCH : (window + 1) * BATCH]
            logits, values = unroll(own, sequences(observation[piece]), sequences(skill[piece]), sequences(age[piece]))
            np.testing.assert_allclose(logits, expected_logits[:, piece], rtol=1e-5, atol=1e-5)
            np.testing.assert_allclose(values, expected_values[:, piece], rtol=1e-5, atol=1e-5)


def test_memory_matters_and_another_episode_does_not() -> None:
    """Changing step 0 changes step 2 of the same episode, and nothing of an episode that began at step 1."""
    network, parameters, _, unroll = functions(3, True, "residual")
    observation = jax.random.normal(jax.random.key(0), (1, 3, OBSERVATION))
    skill = jnp.broadcast_to(network.skills(parameters, jnp.ones((1, VECTOR)))[None], (1, 3, SIZE))
    memory = network.initial_memory(1)
    changed = observation.at[0, 0].add(1.0)
    for age, same in ((jnp.array([[0, 1, 2]]), False), (jnp.array([[0, 0, 1]]), True)):
        before, _ = unroll(memory, observation, skill, age)
        after, _ = unroll(memory, changed, skill, age)
        assert bool((before[0, 2] == after[0, 2]).all()) is same


def test_rows_of_a_cache_act_as_they_would_in_the_batch() -> None:
    network, parameters, _, _ = functions(3, True, "residual")
    memory = jax.random.normal(jax.random.key(5), (BATCH, 2, 3, SIZE))
    ring = jax.jit(network.open)(parameters, memory)
    act = jax.jit(network.act)
    observation = jax.random.normal(jax.random.key(6), (BATCH, OBSERVATION))
    skill = network.skills(parameters, jax.random.normal(jax.random.key(7), (BATCH, VECTOR)))
    age = jnp.array([0, 2, 9])
    whole = act(parameters, ring, observation, skill, age)
    some = jnp.array([2, 0])
    part = act(parameters, network.rows(ring, some), observation[some], skill[some], age[some])
    np.testing.assert_allclose(part.value, whole.value[some], rtol=1e-5, atol=1e-6)


def test_no_gradient_flows_into_the_memory() -> None:
    network, parameters, _, _ = functions(3, True, "residual")
    skill = jnp.zeros((BATCH, 2, SIZE))

    def total(memory: jax.Array) -> jax.Array:
        age = jnp.full((BATCH, 2), 9)
        return network.unroll(parameters, memory, jnp.ones((BATCH, 2, OBSERVATION)), skill, age)[1].sum()

    gradient = jax.jit(jax.grad(total))(jax.random.normal(jax.random.key(1), (BATCH, 2, 3, SIZE)))
    assert not gradient.any()


def test_second_gate_variants() -> None:
    """``residual`` is g(stream, feed-forward), ``swapped`` g(feed-forward, stream), with the same parameters.

    The strong bias keeps a gate at its first operand: the stream, or the feed-forward part that is not negative.
    """
    x = jax.random.normal(jax.random.key(0), (2, 3, 6))
    memory, mask = jnp.zeros((2, 1, 6)), jnp.zeros((2, 3, 4))
    outputs = {}
    for name in ("residual", "swapped"):
        layer = Layer(2, 6, 8, 5, True, 30.0, name)
        parameters = jax.jit(partial(layer.init, method="learn"))(jax.random.key(1), x, memory, mask)
        outputs[name] = jax.jit(partial(layer.apply, method="learn"))(parameters, x, memory, mask)
    np.testing.assert_allclose(outputs["residual"], x, atol=1e-5)
    assert (outputs["swapped"] >= -1e-6).all()
    assert (outputs["swapped"] < 1e-6).any()


def test_the_gate_by_hand() -> None:
    """One unit, every kernel 1, bias 2, x = 1, y = 0.

    r = s(1), z = s(1 - 2) = 0.26894, h = tanh(0 + r) = tanh(0.73106) = 0.62368; (1 - z) + z h = 0.89880.
    """
    gate = Gate(2.0)
    x, y = jnp.ones((1, 1)), jnp.zeros((1, 1))
    parameters = gate.init(jax.random.key(0), x, y)
    assert {name: value["kernel"].shape for name, value in parameters["params"].items() if name != "bias"} == {
        "from_y": (1, 3),
        "from_x": (1, 2),
        "from_reset": (1, 1),
    }
    ones = {
        name: value if name == "bias" else jax.tree.map(jnp.ones_like, value)
        for name, value in parameters["params"].items()
    }
    assert float(parameters["params"]["bias"][0]) == 2.0
    assert gate.apply({"params": ones}, x, y).item() == pytest.approx(0.89880, abs=1e-5)


def test_distances_to_keys_by_hand() -> None:
    """Memory 2, window 3, so 5 keys; query i sees keys i … i + 2, the last of them itself (distance 0)."""
    by_distance = jnp.array([[2.0, 1.0, 0.5, 0, 0, 0], [12.0, 11.0, 10.5, 0, 0, 0], [22.0, 21.0, 20.5, 0, 0, 0]])
    by_key = jnp.array([[2.0, 1.0, 0.5, 0.0, 0.0], [0.0, 12.0, 11.0, 10.5, 0.0], [0.0, 0.0, 22.0, 21.0, 20.5]])
    assert distances_to_keys(by_distance, 5).tolist() == by_key.tolist()
    assert keys_to_distances(by_key).tolist() == by_distance.tolist()


def test_window_mask_by_hand() -> None:
    """Memory 2, window 3; the episode is one step old at the window's start and begins anew at its last step."""
    seen = window_mask(jnp.array([[1, 2, 0]]), 2)[0] == 0
    expected = [[0, 1, 1, 0, 0], [0, 1, 1, 1, 0], [0, 0, 0, 0, 1]]
    assert seen.astype(jnp.int32).tolist() == expected


def test_positions_by_hand() -> None:
    np.testing.assert_allclose(
        positions(2, 4), [[0, 0, 1, 1], [np.sin(1), np.sin(0.01), np.cos(1), np.cos(0.01)]], atol=1e-6
    )


def test_odd_settings_are_refused() -> None:
    with pytest.raises(ValueError, match="qkv_size 7 must be a multiple of heads 2"):
        tiny(3, qkv_size=7)
    with pytest.raises(ValueError, match="rollout_steps 5 must be a multiple of gradient_window 2"):
        tiny(3).window(5)
    assert tiny(3).window(1) == 1
