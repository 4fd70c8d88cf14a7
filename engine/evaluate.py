"""Evaluation without learning: a queue of episodes worked off by a fixed number of lanes in one compiled function.

An episode's keys depend on the run's seed, the effect's ``keys`` and the episode's index only, never on its target or
lane, so every target meets the same worlds. Actions are sampled from the policy with those keys. A lane whose attempt
ended takes the next episode; the function returns early when the queue is empty and every lane is done.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from engine import randomness
from engine.agent.network import Network
from engine.sharp.route import route_batch
from engine.train.predicates import Predicates
from engine.train.rollout import blank_states
from engine.train.routing import judge
from engine.train.rows import put, visit
from engine.train.stopped import Stopped
from engine.train.tables import Shape, Tables, capacity, longest_chain, looking, shape_of, wire
from engine.worlds.protocol import World
from ledger.vocabulary.evaluate import Evaluate, EvaluationRow
from ledger.vocabulary.events import Metric
from ledger.vocabulary.train import Skill

CHUNK_STEPS = 128
"""Steps between two looks at progress and stop."""

LEAST_JOBS = 2_048
LEAST_WIRINGS = 32
"""Capacities that most evaluations share, so that another number of targets or episodes compiles nothing."""


class Jobs(NamedTuple):
    """The queue, J of capacity: the target's row of skills and of wirings, the episode's index; ``total`` are real."""

    target: jax.Array
    wiring: jax.Array
    episode: jax.Array
    total: jax.Array


class Results(NamedTuple):
    """Per job: whether the target succeeded ``[J]``, achievement flags at the attempt's end ``[J, achievements]``."""

    succeeded: jax.Array
    flags: jax.Array


class Work(NamedTuple):
    """The lanes between two calls, leading axis E, and what is finished. ``job`` is J for a lane without one."""

    state: Any
    job: jax.Array
    vacant: jax.Array
    active: jax.Array
    idle: jax.Array
    age: jax.Array
    cache: Any
    taken: jax.Array
    finished: jax.Array
    steps: jax.Array
    results: Results


class Limits(NamedTuple):
    """Scalars that bound an attempt, int32, in steps."""

    horizon: jax.Array
    patience: jax.Array


Lanes = Callable[[Any, Work, Jobs, Tables, Limits, jax.Array], Work]


def plan(effect: Evaluate) -> tuple[tuple[Skill, ...], np.ndarray, Shape]:
    """All programs in one table, the archive first; a wiring ``[targets, N, K]`` for every target; the shape.

    In a target's wiring its own name means the target, every other name the archive's skill.

    Raises:
        ValueError: if a name is not unique, a prerequisite unknown, or a target's wiring has a cycle.
    """
    skills = (*effect.archive, *(target.skill for target in effect.targets))
    shape = shape_of(skills, 0)
    names = {skill.name: row for row, skill in enumerate(effect.archive)}
    if len(names) < len(effect.archive):
        raise ValueError("two skills of the archive have one name: names must be unique")
    wirings = []
    depth = 0
    for index, target in enumerate(effect.targets):
        own = {**names, target.skill.name: len(effect.archive) + index}
        rows = [*range(len(effect.archive)), own[target.skill.name]]
        table = np.full((shape.skills, shape.slots), -1, np.int32)
        table[rows] = wire([skills[row] for row in rows], own, shape)[: len(rows)]
        depth = max(depth, longest_chain(table))
        wirings.append(table)
    stacked = np.full((capacity(len(wirings), LEAST_WIRINGS), shape.skills, shape.slots), -1, np.int32)
    stacked[: len(wirings)] = wirings
    return skills, stacked, shape_of(skills, depth)


def build_lanes(world: World, network: Network, predicates: Predicates, shape: Shape, lanes: int) -> Lanes:
    """The function ``(parameters, work, jobs, tables, limits, key) -> work`` of at most ``CHUNK_STEPS`` steps."""
    look = looking(world, predicates)
    reset_rows = min(max(lanes // 64, 1), 8)

    def attempts(parameters: Any, work: Work, jobs: Jobs, tables: Tables, limits: Limits, key: jax.Array) -> Work:
        skills = network.skills(parameters, tables.vectors)
        last = jobs.target.shape[0] - 1

        def of(job: jax.Array, column: jax.Array) -> jax.Array:
            return column[jnp.minimum(job, last)]

        def keys(job: jax.Array, age: jax.Array) -> jax.Array:
            episode = jax.vmap(lambda index: jax.random.fold_in(key, index))(of(job, jobs.episode))
            return jax.vmap(jax.random.fold_in)(episode, age)

        def route(job: jax.Array, conditions: jax.Array) -> jax.Array:
            def one(target: jax.Array, wiring: jax.Array, holds: jax.Array) -> jax.Array:
                return route_batch(target[None], tables.prerequisite[wiring], holds[None], shape.depth)[0]

            return jax.vmap(one)(of(job, jobs.target), of(job, jobs.wiring), conditions)

        def start(work: Work) -> Work:
            """Vacant lanes take the next jobs in the order of lanes; without a job they stay idle."""
            job = jnp.where(work.vacant, work.taken + jnp.cumsum(work.vacant) - 1, work.job)
            job = jnp.where(work.vacant & (job >= jobs.total), last + 1, job)
            wanted = work.vacant & (job <= last)

            def some(rows: jax.Array, held: tuple[Any, jax.Array]) -> tuple[Any, jax.Array]:
                theirs = job.at[rows].get(mode="clip")
                state = jax.vmap(world.reset)(keys(theirs, jnp.zeros(len(rows), jnp.int32)))
                _, conditions = look(tables, state, state)
                return put(held, rows, (state, route(theirs, conditions)))

            state, active = visit(wanted, reset_rows, some, (work.state, work.active))
            return work._replace(
                state=state,
                job=job,
                active=active,
                vacant=jnp.zeros_like(work.vacant),
                idle=jnp.where(wanted, 0, work.idle),
                age=jnp.where(wanted, 0, work.age),
                taken=work.taken + jnp.sum(wanted),
            )

        def step(work: Work) -> Work:
            work = start(work)
            live = work.job <= last
            action_key, world_key = jnp.unstack(jax.vmap(jax.random.split)(keys(work.job, work.age + 1)), axis=1)
            observation = jax.vmap(world.observe)(work.state)
            acted = network.act(parameters, work.cache, observation, skills[work.active], work.age)
            action = jax.vmap(jax.random.categorical)(action_key, acted.logits)
            after, died, timed_out = jax.vmap(world.step)(world_key, work.state, action)
            success, conditions = look(tables, work.state, after)
            target = of(work.job, jobs.target)
            judged = judge(success, target, work.active, work.idle, died | timed_out, limits.patience)
            ended = live & (judged.attempt_ended | (work.age + 1 >= limits.horizon))
            # A job's index marks its row; lanes that go on write out of range, which is dropped.
            rows = jnp.where(ended, work.job, last + 1)
            flags = jax.vmap(world.achievements)(after)
            return Work(
                state=after,
                job=work.job,
                vacant=ended,
                active=route(work.job, conditions),
                idle=judged.idle,
                age=work.age + 1,
                cache=acted.cache,
                taken=work.taken,
                finished=work.finished + jnp.sum(ended),
                steps=work.steps + jnp.sum(live),
                results=put(work.results, rows, Results(judged.succeeded, flags)),
            )

        def more(state: tuple[jax.Array, Work]) -> jax.Array:
            return (state[0] < CHUNK_STEPS) & (state[1].finished < jobs.total)

        return jax.lax.while_loop(more, lambda state: (state[0] + 1, step(state[1])), (jnp.int32(0), work))[1]

    return attempts


def run_lanes(
    run: Lanes,
    world: World,
    effect: Evaluate,
    parameters: Any,
    cache: Any,
    tables: Tables,
    progress: Callable[[int, int, tuple[Metric, ...]], None],
    stop: Callable[[], bool],
    lanes: int,
) -> tuple[tuple[EvaluationRow, ...], int]:
    """Work off every episode of every target; ``cache`` is an opened, empty one for ``lanes`` episodes.

    Returns:
        One row per target, and the environment steps taken.

    Raises:
        Stopped: when ``stop()`` was true between two chunks.
    """
    first = len(effect.archive)
    count = len(effect.targets) * effect.episodes
    size = capacity(count, LEAST_JOBS)

    def column(values: np.ndarray) -> jax.Array:
        padded = np.zeros(size, np.int32)
        padded[:count] = values
        return jnp.asarray(padded)

    which = np.repeat(np.arange(len(effect.targets)), effect.episodes)
    jobs = Jobs(
        target=column(first + which),
        wiring=column(which),
        episode=column(np.tile(np.arange(effect.episodes), len(effect.targets))),
        total=jnp.int32(count),
    )

    def zeros() -> jax.Array:
        return jnp.zeros(lanes, jnp.int32)

    work = Work(
        state=blank_states(world, lanes),
        job=jnp.full(lanes, size, jnp.int32),
        vacant=jnp.ones(lanes, bool),
        active=zeros(),
        idle=zeros(),
        age=zeros(),
        cache=cache,
        taken=jnp.int32(0),
        finished=jnp.int32(0),
        steps=jnp.int32(0),
        results=Results(jnp.zeros(size, bool), jnp.zeros((size, len(world.achievement_names)), bool)),
    )
    limits = Limits(jnp.int32(effect.horizon), jnp.int32(effect.routing.patience))
    key = randomness.key(effect.seed, effect.keys, "evaluate")
    steps = 0
    while int(work.finished) < count:
        if stop():
            raise Stopped(f"stopped after {int(work.finished)} of {count} episodes of {effect.path}")
        work = run(parameters, work._replace(steps=jnp.int32(0)), jobs, tables, limits, key)
        steps += int(work.steps)
        progress(int(work.finished), count, ())
    succeeded = np.asarray(work.results.succeeded)[:count].reshape(-1, effect.episodes)
    flags = np.asarray(work.results.flags)[:count].reshape(len(effect.targets), effect.episodes, -1)
    rows = tuple(
        EvaluationRow(
            target.label,
            effect.episodes,
            int(succeeded[row].sum()),
            tuple(int(sum_) for sum_ in flags[row].sum(axis=0)),
        )
        for row, target in enumerate(effect.targets)
    )
    return rows, steps
