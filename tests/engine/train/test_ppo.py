"""The update: advantages and losses against hand-worked numbers and against rlax, distrax and optax."""

from __future__ import annotations

import warnings

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.train.gae import advantages
from engine.train.ppo import (
    entropy,
    learning_rate,
    normalised,
    optimiser,
    policy_loss,
    to_sequences,
    value_loss,
)
from ledger.vocabulary.config import Ppo

with warnings.catch_warnings():
    # Deprecations inside the oracles and what they import are none of ours.
    warnings.simplefilter("ignore")
    import distrax
    import rlax

STEPS = 6
advantages_of = jax.jit(advantages, static_argnames=("discount", "gae_lambda"))


def test_advantages_by_hand() -> None:
    """gamma = 1/2, lambda = 1/2, five steps of one environment; step 1 is a true end, step 3 a truncation worth 8.

    deltas: 1 + 2/2 - 1 = 1;  0 + 0 - 2 = -2;  2 + 4/2 - 0 = 4;  0 + 8/2 - 4 = 0;  1 + 6/2 - 2 = 2.
    A_4 = 2;  A_3 = 0 (cut);  A_2 = 4 + A_3/4 = 4;  A_1 = -2 (cut);  A_0 = 1 + A_1/4 = 1/2.
    """
    result = advantages(
        rewards=jnp.array([[1.0], [0.0], [2.0], [0.0], [1.0]]),
        values=jnp.array([[1.0], [2.0], [0.0], [4.0], [2.0]]),
        last_value=jnp.array([6.0]),
        cut=jnp.array([[False], [True], [False], [True], [False]]),
        cut_value=jnp.array([[0.0], [0.0], [0.0], [8.0], [0.0]]),
        discount=0.5,
        gae_lambda=0.5,
    )
    assert result[:, 0].tolist() == [0.5, -2.0, 4.0, 0.0, 2.0]


numbers = st.lists(st.floats(-4, 4, width=32), min_size=STEPS, max_size=STEPS)


@given(
    numbers,
    numbers,
    st.floats(-4, 4, width=32),
    st.lists(st.booleans(), min_size=STEPS, max_size=STEPS),
    numbers,
    st.sampled_from([0.0, 0.8, 1.0]),
)
def test_advantages_agree_with_rlax(
    rewards: list[float],
    values: list[float],
    last: float,
    cut: list[bool],
    closing: list[float],
    gae_lambda: float,
) -> None:
    """rlax knows ends by a discount of zero; what closes a truncated trace is folded into its last reward."""
    ours = advantages_of(
        jnp.array(rewards)[:, None],
        jnp.array(values)[:, None],
        jnp.array([last]),
        jnp.array(cut)[:, None],
        jnp.array(closing)[:, None],
        discount=0.9,
        gae_lambda=gae_lambda,
    )[:, 0]
    folded = jnp.array(rewards) + jnp.where(jnp.array(cut), 0.9 * jnp.array(closing), 0.0)
    discounts = jnp.where(jnp.array(cut), 0.0, 0.9)
    theirs = rlax.truncated_generalized_advantage_estimation(
        folded, discounts, gae_lambda, jnp.array([*values, last], jnp.float32)
    )
    np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-5)


def test_nothing_after_a_cut_reaches_back_over_it() -> None:
    """Changing everything after a cut leaves every advantage up to it as it was."""
    key = jax.random.key(0)
    rewards, values, closing = (jax.random.normal(k, (STEPS, 3)) for k in jax.random.split(key, 3))
    cut = jnp.zeros((STEPS, 3), bool).at[2].set(True)
    settings = {"discount": 0.99, "gae_lambda": 0.95}
    base = advantages_of(rewards, values, values[0], cut, closing, **settings)
    later = jnp.arange(STEPS)[:, None] > 2
    other = advantages_of(
        jnp.where(later, 9.0, rewards), jnp.where(later, -9.0, values), values[1] + 7.0, cut, closing, **settings
    )
    assert (base[:3] == other[:3]).all()
    assert (base[3:] != other[3:]).all()


def test_losses_by_hand() -> None:
    # Ratios 1.5 and 0.5, clipped to 1.2 and 0.8: min(1.5*2, 1.2*2) = 2.4; min(0.5*-1, 0.8*-1) = -0.8. Mean 0.8.
    assert policy_loss(jnp.array([1.5, 0.5]), jnp.array([2.0, -1.0]), 0.2) == pytest.approx(-0.8)
    # Value 3 from 1, clipped to 1.5; target 1: max(4, 0.25) = 4. Value 1 from 1, target 3: 4. Half the mean: 2.
    assert value_loss(jnp.array([3.0, 1.0]), jnp.array([1.0, 1.0]), jnp.array([1.0, 3.0]), 0.5) == pytest.approx(2.0)
    # Clipping is the pessimistic side: value 0 from 1 is clipped to 0.5; target 0: max(0, 0.25).
    assert value_loss(jnp.array([0.0]), jnp.array([1.0]), jnp.array([0.0]), 0.5) == pytest.approx(0.125)


def test_losses_agree_with_rlax_and_distrax() -> None:
    key = jax.random.key(1)
    logits = jax.random.normal(key, (7, 5)) * 3.0
    ratio = jnp.exp(jax.random.normal(jax.random.fold_in(key, 1), (7,)) / 2.0)
    advantage = jax.random.normal(jax.random.fold_in(key, 2), (7,))
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        theirs = rlax.clipped_surrogate_pg_loss(ratio, advantage, 0.2)
        spread = distrax.Categorical(logits=logits).entropy().mean()
    np.testing.assert_allclose(policy_loss(ratio, advantage, 0.2), theirs, rtol=1e-6)
    np.testing.assert_allclose(entropy(logits), spread, rtol=1e-6)


def test_normalised_advantages() -> None:
    values = normalised(jnp.array([1.0, 2.0, 3.0, 6.0]))
    np.testing.assert_allclose([values.mean(), values.std()], [0.0, 1.0], atol=1e-6)
    assert normalised(jnp.zeros(4)).tolist() == [0.0] * 4


def test_learning_rate_by_hand() -> None:
    ppo = Ppo(learning_rate=4.0, end_learning_rate=2.0, decay_steps=100)
    assert [learning_rate(ppo, steps) for steps in (0, 25, 100, 10**12)] == [4.0, 3.5, 2.0, 2.0]


def test_the_optimiser_is_adamw_behind_a_norm_clip() -> None:
    """Five steps with gradients larger and smaller than the clip."""
    ppo = Ppo(weight_decay=0.1, gradient_norm=0.5, adam_epsilon=1e-5)
    ours, theirs = (
        optimiser(ppo),
        optax.chain(optax.clip_by_global_norm(0.5), optax.adamw(0.01, eps=1e-5, weight_decay=0.1)),
    )
    parameters = expected = {"w": jnp.array([1.0, -2.0, 3.0])}
    state, reference = ours.init(parameters), theirs.init(parameters)
    with jax.numpy_dtype_promotion("standard"):
        for size in (10.0, 0.01, 1.0, 0.1, 5.0):
            gradients = {"w": size * jnp.array([1.0, -1.0, 0.5])}
            changes, state = ours.update(gradients, state, parameters)
            parameters = jax.tree.map(lambda value, change: value - 0.01 * change, parameters, changes)
            changes, reference = theirs.update(gradients, reference, expected)
            expected = optax.apply_updates(expected, changes)
    np.testing.assert_allclose(parameters["w"], expected["w"], rtol=1e-6)


def test_sequences_are_windows_of_single_environments() -> None:
    """T = 4, B = 3, window 2: entry (t, b) is 10 t + b; windows outermost, then environments."""
    leaf = 10 * jnp.arange(4)[:, None] + jnp.arange(3)[None, :]
    expected = [[0, 10], [1, 11], [2, 12], [20, 30], [21, 31], [22, 32]]
    assert to_sequences(leaf, 2).tolist() == expected
    assert to_sequences(leaf, 1)[:, 0].tolist() == [0, 1, 2, 10, 11, 12, 20, 21, 22, 30, 31, 32]
    assert to_sequences(leaf[..., None], 4).shape == (3, 4, 1)
