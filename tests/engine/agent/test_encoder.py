"""The encoder equals one dense layer on the concatenation; the small network."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from engine.agent.heads import Encoder
from engine.agent.network import build
from ledger.vocabulary.config import Agent


def test_encoder_equals_a_dense_layer_on_the_concatenation() -> None:
    encoder = Encoder(5, 4, 7, 1.0)
    observation = jax.random.normal(jax.random.key(0), (3, 5))
    vectors = jax.random.normal(jax.random.key(1), (2, 4))
    active = jnp.array([1, 0, 1])
    parameters = encoder.init(jax.random.key(2), observation, jnp.zeros((3, 7)))
    parameters = jax.tree.map(lambda leaf: leaf + 0.1, parameters)
    skills = encoder.apply(parameters, vectors, method="skills")
    out = encoder.apply(parameters, observation, skills[active])
    # Unit-length embeddings of four dimensions have a mean square of 1/4; twice them, of 1.
    together = jnp.concatenate([observation, 2.0 * vectors[active]], axis=1)
    kernel, bias = parameters["params"]["kernel"], parameters["params"]["bias"]
    np.testing.assert_allclose(out, together @ kernel + bias[None], rtol=1e-5, atol=1e-5)


def test_mlp_acts_and_learns_alike_and_sees_the_active_skill() -> None:
    network = build(Agent(kind="mlp", hidden_size=8, layers=3), observation_size=5, vector_size=4, actions=3)
    parameters = network.initialise(jax.random.key(0))
    skills = network.skills(parameters, jax.random.normal(jax.random.key(1), (2, 4)))
    observation = jnp.ones((2, 5))
    acted = network.act(parameters, (), observation, skills, jnp.zeros(2, jnp.int32))
    logits, values = network.unroll(parameters, (), observation[:, None], skills[:, None], jnp.zeros((2, 1), jnp.int32))
    np.testing.assert_allclose(acted.logits, logits[:, 0], rtol=1e-6)
    np.testing.assert_allclose(acted.value, values[:, 0], rtol=1e-6)
    assert (acted.logits[0] != acted.logits[1]).any()
    assert len(jax.tree.leaves(parameters)) == 2 + 2 * (2 * 2 + 2)
