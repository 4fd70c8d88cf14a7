"""The counter of operations: against an example worked by hand, and against what JAX itself counts."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest
from attrs import evolve

from engine import randomness
from engine.agent.network import build
from ledger.vocabulary.config import Agent, Ppo
from tests.benchmarks.counting import Product, Sizes, acting, learning, operations, update, update_operations

TINY = Agent(
    kind="gtrxl", layers=1, heads=2, embedding_size=4, qkv_size=6, hidden_size=5, memory_window=3, gradient_window=2
)
SIZES = Sizes(observation=7, vector=8, actions=3, skills=2)

FACTORS = Agent(
    kind="gtrxl",
    layers=2,
    heads=2,
    embedding_size=64,
    qkv_size=64,
    hidden_size=64,
    memory_window=4,
    gradient_window=16,
)
"""Wide enough for products to outweigh everything else, with a short memory: less is computed that nobody needs."""


def test_a_product_and_each_of_its_gradients_cost_the_same() -> None:
    product = Product("any", rows=2, inner=3, columns=5, batch=7, times=11)
    assert product.forward == product.operations == 2 * 2 * 3 * 5 * 7 * 11
    assert evolve(product, right=True).operations == 2 * product.forward
    assert evolve(product, left=True, right=True).operations == 3 * product.forward


def test_learning_worked_by_hand() -> None:
    """Three sequences of two steps: 6 steps, a memory of 9 rows; a query reaches 4 keys, a head is 3 wide."""
    multiplications = {
        "embeddings": 2 * 2 * 8 * 4,  # forward and right gradient; two rows of capacity
        "observations": 2 * 6 * 7 * 4,
        "query, key, value of the steps": 3 * 3 * 6 * 4 * 6,
        "key, value of the memory": 2 * 2 * 9 * 4 * 6,  # no gradient into the memory
        "positions": 2 * 4 * 4 * 6,  # nor into the sinusoids
        "content scores": 3 * (3 * 2) * 2 * 3 * 4,
        "position scores": 3 * 2 * 6 * 3 * 4,
        "attended values": 3 * (3 * 2) * 2 * 4 * 3,
        "attention output": 3 * 6 * 6 * 4,
        "feed-forward": 3 * (6 * 4 * 5 + 6 * 5 * 4),
        "two gates of six": 3 * 12 * 6 * 4 * 4,
        "heads": 3 * 2 * (6 * 4 * 5 + 6 * 5 * 5),
        "policy and value": 3 * (6 * 5 * 3 + 6 * 5 * 1),
    }
    assert operations(learning(TINY, SIZES, sequences=3, window=2)) == 2 * sum(multiplications.values()) == 21_400


def test_acting_worked_by_hand() -> None:
    """Five environments; only products that every step needs."""
    multiplications = 5 * (
        7 * 4 + 3 * 4 * 6 + 3 * 2 * 3 * 4 + 6 * 4 + 4 * 5 + 5 * 4 + 12 * 4 * 4 + 2 * (4 * 5 + 5 * 5) + 5 * 3 + 5
    )
    assert operations(acting(TINY, SIZES, batch=5)) == 2 * multiplications == 5_380


def test_a_gate_less_is_counted_less() -> None:
    without = learning(evolve(TINY, gating=False), SIZES, 3, 2)
    assert operations(learning(TINY, SIZES, 3, 2)) - operations(without) == 2 * 3 * 12 * 6 * 4 * 4


def test_an_update_is_its_minibatches_times_its_epochs() -> None:
    ppo = Ppo(environments=6, rollout_steps=4, update_epochs=3, minibatches=2)
    assert update(TINY, ppo, SIZES) == learning(TINY, SIZES, sequences=6, window=2)
    assert update_operations(TINY, ppo, SIZES) == 6 * operations(update(TINY, ppo, SIZES))
    small = Agent(kind="mlp", hidden_size=5)
    assert update(small, ppo, SIZES) == learning(small, SIZES, sequences=12, window=1)


def test_a_network_that_is_not_counted_is_refused() -> None:
    class Other:
        kind = "other"

    with pytest.raises(ValueError, match="not counted"):
        learning(Other(), SIZES, 1, 1)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="not counted"):
        acting(Other(), SIZES, 1)  # type: ignore[arg-type]


@pytest.mark.parametrize("agent", [Agent(kind="mlp", hidden_size=64, layers=3), FACTORS], ids=["mlp", "gtrxl"])
def test_jax_counts_as_much_and_little_more(agent: Agent) -> None:
    """JAX counts additions, softmax, and keys out of reach as well: more than ours, by an eighth at most."""
    sizes = Sizes(observation=128, vector=64, actions=16, skills=8)
    network = build(agent, observation_size=128, vector_size=64, actions=16)
    sequences, window = (4, 16) if agent.kind == "gtrxl" else (64, 1)
    memory = jax.tree.map(lambda leaf: leaf, network.initial_memory(sequences))
    parameters = network.initialise(jax.random.key(0, impl=randomness.IMPLEMENTATION))
    observation = jnp.ones((sequences, window, 128))
    age = jnp.full((sequences, window), 99)
    active = jnp.zeros((sequences, window), jnp.int32)

    def loss(parameters: Any, vectors: jax.Array) -> jax.Array:
        start = network.sequences(memory, (), window) if agent.kind == "mlp" else memory
        skill = network.skills(parameters, vectors)[active]
        logits, value = network.unroll(parameters, start, observation, skill, age)
        return jnp.sum(logits * logits) + jnp.sum(value * value)

    analysis = jax.jit(jax.grad(loss)).lower(parameters, jnp.ones((8, 64))).cost_analysis()
    assert isinstance(analysis, dict)
    ours = operations(learning(agent, sizes, sequences, window))
    assert ours <= analysis["flops"] <= 1.125 * ours
