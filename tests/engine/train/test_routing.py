"""Targets, rewards and success: hand-worked examples, and slow references in plain Python."""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.train.routing import (
    first_target,
    judge,
    next_target,
    reward_scale,
    sampling_log_weights,
    success_rates,
    target_logits,
)

SKILLS, SLOTS = 6, 3

weights_of = jax.jit(sampling_log_weights)
logits_of = jax.jit(target_logits)


def test_rates_and_rewards_by_hand() -> None:
    # 4 of 8: rho = 0.5, 1/rho = 2. 1 of 16: 1/rho = 16 is capped. Never tried or never done: the cap. 9 of 9: 1.
    rates = success_rates([4, 1, 0, 0, 9], [8, 16, 0, 5, 9])
    assert rates.tolist() == [0.5, 0.0625, 0.0, 0.0, 1.0]
    rewards = reward_scale(rates, adaptive=True, cap=10.0, epsilon=0.25)
    assert rewards.tolist() == [2.25, 10.0, 10.0, 10.0, 1.25]
    assert reward_scale(rates, adaptive=False, cap=10.0, epsilon=0.25).tolist() == [1.0] * 5


def test_the_epsilon_is_added_before_the_cap() -> None:
    assert reward_scale(np.array([0.1]), adaptive=True, cap=10.0, epsilon=1e-6).tolist() == [10.0]


def test_sampling_weights_by_hand() -> None:
    """Three skills; rho + epsilon = 1/2, 1/4, 1/8. B = 1 / product over distinct satisfied prerequisites."""
    prerequisite = jnp.array([[-1, -1], [0, 0], [0, 1]])
    log_rates = jnp.log(jnp.array([0.5, 0.25, 0.125]))
    cases = [
        # Both conditions of skill 1 name skill 0: it counts once. Skill 2: 2 * 4.
        ([[True, True], [True, True], [True, True]], [1.0, 2.0, 8.0]),
        # The second condition alone brings the same prerequisite in.
        ([[True, True], [False, True], [False, True]], [1.0, 2.0, 4.0]),
        ([[True, True], [False, False], [True, False]], [1.0, 1.0, 2.0]),
    ]
    for conditions, expected in cases:
        weights = jnp.exp(sampling_log_weights(prerequisite, jnp.array(conditions), log_rates))
        np.testing.assert_allclose(weights, expected, rtol=1e-6)


@st.composite
def situations(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Prerequisites (-1 without a condition), conditions, rates, success, and which rows are skills."""
    count = draw(st.integers(1, SKILLS))
    table = np.full((SKILLS, SLOTS), -1, np.int32)
    held = np.ones((SKILLS, SLOTS), bool)
    for skill in range(count):
        for slot in range(draw(st.integers(0, SLOTS if skill else 0))):
            table[skill, slot] = draw(st.integers(0, skill - 1))
            held[skill, slot] = draw(st.booleans())
    rates = np.array(draw(st.lists(st.floats(0, 1), min_size=SKILLS, max_size=SKILLS)))
    success = np.array(draw(st.lists(st.booleans(), min_size=SKILLS, max_size=SKILLS)))
    return table, held, rates, success, np.arange(SKILLS) < count


@given(situations(), st.sampled_from([0.01, 0.5]))
def test_target_distribution_agrees_with_plain_python(situation: Any, epsilon: float) -> None:
    table, held, rates, success, valid = situation
    weights = []
    for row, holds in zip(table, held, strict=True):
        distinct = {int(k) for k, fine in zip(row, holds, strict=True) if fine and k >= 0}
        weights.append(1.0 / math.prod(rates[k] + epsilon for k in sorted(distinct)))
    free = [bool(v) and not bool(s) for v, s in zip(valid, success, strict=True)]
    if any(free):
        mass = [weight if ok else 0.0 for weight, ok in zip(weights, free, strict=True)]
    else:
        mass = [float(v) for v in valid]
    expected = np.array(mass) / sum(mass)

    log_rates = jnp.asarray(np.log(rates + epsilon), jnp.float32)
    logits = logits_of(weights_of(jnp.asarray(table), jnp.asarray(held), log_rates), jnp.asarray(success), valid)
    np.testing.assert_allclose(jax.nn.softmax(logits), expected, rtol=2e-5, atol=1e-9)


def test_draws_follow_the_distribution() -> None:
    """4,000 draws: counts within four standard deviations; a masked skill and a row that is no skill never come."""
    logits = jnp.log(jnp.array([1.0, 3.0, 4.0, 100.0, 100.0]))
    success = jnp.array([False, False, False, True, False])
    valid = jnp.array([True, True, True, True, False])
    keys = jax.random.split(jax.random.key(0), 4000)
    drawn = np.bincount(jax.vmap(next_target, in_axes=(0, None, None, None))(keys, logits, success, valid), minlength=5)
    expected = np.array([1 / 8, 3 / 8, 4 / 8, 0, 0])
    assert (np.abs(drawn - 4000 * expected) <= 4 * np.sqrt(4000 * expected * (1 - expected))).all()
    first = np.bincount(jax.vmap(first_target, in_axes=(0, None))(keys, valid), minlength=5)
    assert first[4] == 0
    assert (np.abs(first[:4] - 1000) <= 4 * np.sqrt(4000 * 3 / 16)).all()


def test_every_success_condition_holds_means_uniform() -> None:
    logits = target_logits(jnp.array([0.0, 5.0, 9.0]), jnp.array([True, True, False]), jnp.array([True, True, False]))
    assert jax.nn.softmax(logits).tolist() == [0.5, 0.5, 0.0]


def one(success: list[bool], target: int, active: int, idle: int, ended: bool, patience: int = 3) -> dict[str, Any]:
    judged = judge(
        jnp.array([success]),
        jnp.array([target]),
        jnp.array([active]),
        jnp.array([idle]),
        jnp.array([ended]),
        jnp.int32(patience),
    )
    return {name: value[0].item() for name, value in judged._asdict().items()}


@pytest.mark.parametrize(
    ("success", "target", "active", "idle", "ended", "expected"),
    [
        # The active prerequisite succeeds: reward and progress, the attempt goes on.
        ([True, False], 1, 0, 2, False, (True, False, False, False, 0)),
        # The target succeeds while a prerequisite is active: the attempt is a success, nothing is paid.
        ([False, True], 1, 0, 1, False, (False, True, False, True, 2)),
        # Nothing happens: the third idle step exhausts a patience of three.
        ([False, False], 1, 0, 1, False, (False, False, False, False, 2)),
        ([False, False], 1, 0, 2, False, (False, False, True, True, 3)),
        # Success in the last patient step is a success, not exhaustion.
        ([False, True], 1, 0, 2, False, (False, True, False, True, 3)),
        # The episode ends: the attempt ends without success whatever the conditions say.
        ([True, True], 1, 1, 0, True, (False, False, False, True, 1)),
    ],
)
def test_judging_by_hand(
    success: list[bool], target: int, active: int, idle: int, ended: bool, expected: tuple[Any, ...]
) -> None:
    """Counting ends of episodes as successes (dropping the ``honest`` mask) fails the last row."""
    names = ("fired", "succeeded", "exhausted", "attempt_ended", "idle")
    assert one(success, target, active, idle, ended) == dict(zip(names, expected, strict=True))
