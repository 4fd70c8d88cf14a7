"""A rollout: many episodes stepped side by side in one scan, routed by skills, reset only where one ended."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from engine.agent.network import Network
from engine.randomness import IMPLEMENTATION
from engine.sharp.route import route_batch
from engine.train.ppo import Trajectory
from engine.train.predicates import Predicates
from engine.train.routing import first_target, judge, next_target, sampling_log_weights
from engine.train.rows import put, take, visit
from engine.train.tables import Shape, Tables, looking
from engine.worlds.protocol import World
from ledger.vocabulary.config import Ppo, Routing


class Episodes(NamedTuple):
    """One episode per environment, every leaf with leading axis B.

    ``over``: the episode has ended, so the next step starts another. ``target`` and ``active``: skills pursued.
    ``idle``: steps since the last progress. ``age``: steps since the episode's start.
    """

    state: Any
    over: jax.Array
    target: jax.Array
    active: jax.Array
    idle: jax.Array
    age: jax.Array


class Trace(NamedTuple):
    """What routing decided at each step, ``[T, B]``; ``target`` and ``active`` are those during the transition."""

    target: jax.Array
    active: jax.Array
    fired: jax.Array
    succeeded: jax.Array
    attempt_ended: jax.Array
    died: jax.Array
    timed_out: jax.Array


class Rolled(NamedTuple):
    """What a rollout returns: episodes and memory to go on from, what was experienced, and what it meant."""

    episodes: Episodes
    memory: Any
    trajectory: Trajectory
    last_value: jax.Array
    trace: Trace


def blank_states(world: World, batch: int) -> Any:
    """Zeros of the shape of ``batch`` states, to be overwritten by resets."""

    def zeros(leaf: Any) -> jax.Array:
        shape = (batch, *leaf.shape)
        if jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key):
            words = jax.eval_shape(jax.random.key_data, jax.ShapeDtypeStruct(shape, leaf.dtype))
            return jax.random.wrap_key_data(jnp.zeros(words.shape, words.dtype), impl=IMPLEMENTATION)
        return jnp.zeros(shape, leaf.dtype)

    template = jax.eval_shape(world.reset, jax.random.key(0, impl=IMPLEMENTATION))
    return jax.tree.map(zeros, template)


def before_first(world: World, batch: int) -> Episodes:
    """Episodes that are all over, so that the first step of a phase starts fresh ones."""

    # Every counter is an array of its own: a compiled function may take the buffers over.
    def zeros() -> jax.Array:
        return jnp.zeros(batch, jnp.int32)

    return Episodes(blank_states(world, batch), jnp.ones(batch, bool), zeros(), zeros(), zeros(), zeros())


Rollout = Callable[[Any, Episodes, Any, Tables, jax.Array], Rolled]


def build_rollout(
    world: World, network: Network, predicates: Predicates, shape: Shape, ppo: Ppo, routing: Routing
) -> Rollout:
    """The function ``(parameters, episodes, memory, tables, key) -> Rolled`` of ``ppo.rollout_steps`` steps."""
    look = looking(world, predicates)
    batch = ppo.environments
    # One reset costs as much as dozens of steps, several at once little more; few episodes end in the same step.
    reset_rows = min(max(batch // 128, 1), 8)
    value_rows = max(batch // 16, 1)

    def rollout(parameters: Any, episodes: Episodes, memory: Any, tables: Tables, key: jax.Array) -> Rolled:
        skills = network.skills(parameters, tables.vectors)

        def route(target: jax.Array, conditions: jax.Array) -> jax.Array:
            return route_batch(target, tables.prerequisite, conditions, shape.depth)

        def draw(key: jax.Array, conditions: jax.Array, success: jax.Array) -> jax.Array:
            weights = jnp.zeros(success.shape)
            if routing.opportunistic:
                weights = sampling_log_weights(tables.prerequisite, conditions, tables.log_rates)
            return next_target(key, weights, success, tables.valid)

        def start(key: jax.Array, episodes: Episodes) -> Episodes:
            """Fresh episodes where one is over; success conditions are never asked about a reset."""

            def some(rows: jax.Array, episodes: Episodes) -> Episodes:
                keys = jax.vmap(lambda row: jax.random.split(jax.random.fold_in(key, row)))(rows)
                state = jax.vmap(world.reset)(keys[:, 0])
                _, conditions = look(tables, state, state)
                target = jax.vmap(first_target, in_axes=(0, None))(keys[:, 1], tables.valid)
                zero = jnp.zeros(len(rows), jnp.int32)
                over = jnp.zeros(len(rows), bool)
                return put(episodes, rows, Episodes(state, over, target, route(target, conditions), zero, zero))

            return visit(episodes.over, reset_rows, some, episodes)

        def step(carry: tuple[Episodes, Any], time: jax.Array) -> tuple[tuple[Episodes, Any], tuple[Trajectory, Trace]]:
            episodes, cache = carry
            reset_key, action_key, world_key, target_key = jax.random.split(jax.random.fold_in(key, time), 4)
            episodes = start(reset_key, episodes)
            before, target, active = episodes.state, episodes.target, episodes.active

            observation = jax.vmap(world.observe)(before)
            acted = network.act(parameters, cache, observation, skills[active], episodes.age)
            action = jax.random.categorical(action_key, acted.logits)
            log_probs = jax.nn.log_softmax(acted.logits)
            log_prob = jnp.take_along_axis(log_probs, action[:, None], axis=1)[:, 0]

            after, died, timed_out = jax.vmap(world.step)(jax.random.split(world_key, batch), before, action)
            ended = died | timed_out
            success, conditions = look(tables, before, after)
            judged = judge(success, target, active, episodes.idle, ended, jnp.int32(routing.patience))

            redraw = (judged.succeeded | judged.exhausted) & ~ended
            drawn = jax.vmap(draw)(jax.random.split(target_key, batch), conditions, success)
            new_target = jnp.where(redraw, drawn, target)

            changed = redraw if ppo.target_change != "ignore" else jnp.zeros_like(redraw)
            closed = (timed_out & ~died) | (changed if ppo.target_change == "bootstrap" else jnp.zeros_like(redraw))
            unchanged = route(target, conditions)

            def value(rows: jax.Array, values: jax.Array) -> jax.Array:
                """V of the state after the transition, conditioned as if the target had stayed."""
                state, skill, age = take((after, unchanged, episodes.age), rows)
                peeked = network.act(
                    parameters, network.rows(acted.cache, rows), jax.vmap(world.observe)(state), skills[skill], age + 1
                )
                return put(values, rows, peeked.value)

            cut_value = visit(closed, value_rows, value, jnp.zeros(batch))
            reward = jnp.where(judged.fired, tables.rewards[active], 0.0)
            following = Episodes(
                state=after,
                over=ended,
                target=new_target,
                active=route(new_target, conditions),
                idle=jnp.where(redraw, 0, judged.idle),
                age=episodes.age + 1,
            )
            seen = Trajectory(
                observation=observation,
                active=active,
                age=episodes.age,
                action=action,
                log_prob=log_prob,
                value=acted.value,
                reward=reward,
                cut=ended | changed,
                cut_value=cut_value,
                record=acted.record,
            )
            trace = Trace(target, active, judged.fired, judged.succeeded, judged.attempt_ended, died, timed_out)
            return (following, acted.cache), (seen, trace)

        times = jnp.arange(ppo.rollout_steps)
        (episodes, cache), (seen, trace) = jax.lax.scan(step, (episodes, network.open(parameters, memory)), times)
        observation = jax.vmap(world.observe)(episodes.state)
        last = network.act(parameters, cache, observation, skills[episodes.active], episodes.age)
        return Rolled(episodes, network.close(memory, seen.record), seen, last.value, trace)

    return rollout
