"""The proximal policy update (Schulman et al. 2017, equation 7; paper 000, Table 9): one compiled function per shape.

It sees observations, actions and embeddings, never a predicate: a growing archive compiles nothing here until the
tables' capacity doubles.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax

from engine.agent.network import Network
from engine.train.gae import advantages
from ledger.vocabulary.config import Ppo

Metrics = dict[str, jax.Array]


class Trajectory(NamedTuple):
    """A rollout, time-major: ``observation [T, B, size]``, ``record`` the network's own, everything else ``[T, B]``.

    ``cut`` marks where the trace of advantages stops; ``cut_value`` is what it is closed with there.
    """

    observation: jax.Array
    active: jax.Array
    age: jax.Array
    action: jax.Array
    log_prob: jax.Array
    value: jax.Array
    reward: jax.Array
    cut: jax.Array
    cut_value: jax.Array
    record: Any


class Batch(NamedTuple):
    """Learning sequences: every leaf has leading axes ``[S, W]``."""

    observation: jax.Array
    active: jax.Array
    age: jax.Array
    action: jax.Array
    log_prob: jax.Array
    value: jax.Array
    advantage: jax.Array


def learning_rate(ppo: Ppo, steps: int) -> float:
    """Linear decay from ``learning_rate`` to ``end_learning_rate`` over ``decay_steps`` environment steps.

    ``steps`` counts every environment step that the agent was trained on before, over all phases.
    """
    return ppo.learning_rate + (ppo.end_learning_rate - ppo.learning_rate) * min(steps / ppo.decay_steps, 1.0)


def optimiser(ppo: Ppo) -> optax.GradientTransformation:
    """AdamW after clipping by global norm, without the learning rate, which is an argument of the update."""
    return optax.chain(
        optax.clip_by_global_norm(ppo.gradient_norm),
        optax.scale_by_adam(eps=ppo.adam_epsilon),
        optax.add_decayed_weights(ppo.weight_decay),
    )


def policy_loss(ratio: jax.Array, advantage: jax.Array, clip_range: float) -> jax.Array:
    """-mean min(ratio A, clip(ratio, 1 - e, 1 + e) A), shape ``()`` (equation 7)."""
    clipped = jnp.clip(ratio, 1.0 - clip_range, 1.0 + clip_range)
    return -jnp.mean(jnp.minimum(ratio * advantage, clipped * advantage))


def value_loss(value: jax.Array, old: jax.Array, target: jax.Array, clip_range: float) -> jax.Array:
    """mean max((V - R)^2, (V_clipped - R)^2) / 2, V_clipped within ``clip_range`` of the old value, shape ``()``."""
    clipped = old + jnp.clip(value - old, -clip_range, clip_range)
    return 0.5 * jnp.mean(jnp.maximum(jnp.square(value - target), jnp.square(clipped - target)))


def entropy(logits: jax.Array) -> jax.Array:
    """Mean entropy in nats of categorical distributions ``[..., actions]``, shape ``()``."""
    log_probs = jax.nn.log_softmax(logits)
    return -jnp.mean(jnp.sum(jnp.exp(log_probs) * log_probs, axis=-1))


def normalised(advantage: jax.Array) -> jax.Array:
    """Zero mean and unit deviation over the minibatch."""
    return (advantage - jnp.mean(advantage)) / (jnp.std(advantage) + 1e-8)


def loss(
    parameters: Any, network: Network, ppo: Ppo, memory: Any, batch: Batch, vectors: jax.Array
) -> tuple[jax.Array, Metrics]:
    """The objective of one minibatch and its parts."""
    skill = network.skills(parameters, vectors)[batch.active]
    logits, value = network.unroll(parameters, memory, batch.observation, skill, batch.age)
    log_probs = jnp.take_along_axis(jax.nn.log_softmax(logits), batch.action[..., None], axis=-1)[..., 0]
    difference = log_probs - batch.log_prob
    policy = policy_loss(jnp.exp(difference), normalised(batch.advantage), ppo.clip_range)
    critic = value_loss(value, batch.value, batch.value + batch.advantage, ppo.clip_range)
    spread = entropy(logits)
    total = policy + ppo.value_coefficient * critic - ppo.entropy_coefficient * spread
    divergence = jnp.mean(jnp.expm1(difference) - difference)
    return total, {"policy_loss": policy, "value_loss": critic, "entropy": spread, "divergence": divergence}


def to_sequences(leaf: jax.Array, window: int) -> jax.Array:
    """``[T, B, ...]`` to ``[T // window * B, window, ...]``, windows outermost."""
    steps, batch, *rest = leaf.shape
    split = leaf.reshape((steps // window, window, batch, *rest))
    return jnp.moveaxis(split, 2, 1).reshape((steps // window * batch, window, *rest))


Update = Callable[..., tuple[Any, Any, Metrics]]


def build_update(network: Network, ppo: Ppo) -> Update:
    """The update ``(parameters, optimiser_state, memory, trajectory, last_value, vectors, key, rate)``.

    ``memory`` is that before the rollout. Returns new parameters, new optimiser state and mean metrics. Minibatches
    are drawn over whole learning sequences: windows of environments for a network with memory, single steps without.

    Raises:
        ValueError: on tracing, if the sequences cannot be divided into the minibatches.
    """
    transform = optimiser(ppo)
    gradient = jax.grad(loss, has_aux=True)

    def update(
        parameters: Any,
        state: Any,
        memory: Any,
        trajectory: Trajectory,
        last_value: jax.Array,
        vectors: jax.Array,
        key: jax.Array,
        rate: jax.Array,
    ) -> tuple[Any, Any, Metrics]:
        steps, environments = trajectory.reward.shape
        window = network.window(steps)
        sequences = steps // window * environments
        if sequences % ppo.minibatches:
            raise ValueError(f"{sequences} learning sequences cannot be divided into {ppo.minibatches} minibatches")
        advantage = advantages(
            trajectory.reward,
            trajectory.value,
            last_value,
            trajectory.cut,
            trajectory.cut_value,
            discount=ppo.discount,
            gae_lambda=ppo.gae_lambda,
        )
        fields = [getattr(trajectory, name) for name in Batch._fields if name != "advantage"]
        whole = Batch(*(to_sequences(leaf, window) for leaf in (*fields, advantage)))
        memories = network.sequences(memory, trajectory.record, steps)

        def order(epoch: jax.Array) -> jax.Array:
            shuffled = jax.random.permutation(jax.random.fold_in(key, epoch), sequences)
            return shuffled.reshape(ppo.minibatches, sequences // ppo.minibatches)

        def minibatch(carry: tuple[Any, Any], chosen: jax.Array) -> tuple[tuple[Any, Any], Metrics]:
            parameters, state = carry
            memory, batch = jax.tree.map(lambda leaf: leaf[chosen], (memories, whole))
            gradients, metrics = gradient(parameters, network, ppo, memory, batch, vectors)
            metrics["gradient_norm"] = optax.tree.norm(gradients)
            with jax.numpy_dtype_promotion("standard"):  # optax raises a float to an integer power
                changes, state = transform.update(gradients, state, parameters)
            parameters = jax.tree.map(lambda value, change: value - rate * change, parameters, changes)
            return (parameters, state), metrics

        orders = jax.vmap(order)(jnp.arange(ppo.update_epochs))
        chosen = orders.reshape(ppo.update_epochs * ppo.minibatches, -1)
        (parameters, state), metrics = jax.lax.scan(minibatch, (parameters, state), chosen)
        return parameters, state, {name: jnp.mean(values) for name, values in metrics.items()}

    return update
