"""Memory of the paper's profile: measured in one process, and counted per environment from shapes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp

from engine import randomness
from engine.train.ppo import optimiser
from engine.train.rollout import before_first
from tests.benchmarks import setups
from tests.benchmarks.archives import archive
from tests.benchmarks.bench import Functions, functions
from tests.benchmarks.options import SKILLS, Options
from tests.benchmarks.results import Row, Target
from tests.benchmarks.workers import OURS, Worker

ENVIRONMENTS = 512
ESTIMATED = (512, 1024, 4096)

EPISODES = "episodes' states and counters"
MEMORY = "memory between rollouts"
TRAJECTORY = "trajectory without records"
RECORDS = "records to learn from"
TRACE = "trace of routing"
ACTING = "temporaries of the rollout"
LEARNING = "temporaries of the update"

GIB = 1 << 30
KIB = 1 << 10


def memory(options: Options) -> list[Row]:
    """Figure 8."""
    options.say("counting bytes from shapes; compiling, not running")
    parts, fixed = per_environment(functions(setups.paper(ENVIRONMENTS), archive(SKILLS)))
    rows = [Row("memory", f"per environment: {name}", size / KIB, "KiB") for name, size in parts.items()]
    each = most_at_once(parts)
    rows.append(Row("memory", "per environment: all that is held at once", each / KIB, "KiB"))
    rows.append(Row("memory", "parameters, gradients, optimiser", fixed / KIB, "KiB"))
    rows += [
        Row("memory", f"estimate for {count:,} environments on an accelerator", (count * each + fixed) / GIB, "GiB")
        for count in ESTIMATED
    ]
    options.say(f"one rollout and update of {ENVIRONMENTS} environments: minutes, and nothing is printed meanwhile")
    # One epoch: the update's memory is that of a minibatch, however many there are.
    task = {"task": "memory", "setup": "paper", "skills": SKILLS}
    with Worker(OURS, {**task, "ppo": {"environments": ENVIRONMENTS, "update_epochs": 1}}) as worker:
        seen = worker.ready()
    options.say(f"that took {seen['seconds']:.0f} s with compiling")
    rows.append(Row("memory", "resident before training", seen["before"] / GIB, "GiB"))
    rows.append(Row("memory", f"peak resident, {ENVIRONMENTS} environments", seen["peak"] / GIB, "GiB", Target("<", 8)))
    return rows


def per_environment(made: Functions) -> tuple[dict[str, float], int]:
    """Bytes per environment by what they are for, and bytes that do not depend on the number of environments."""
    ppo = made.setup.ppo
    batch = ppo.environments
    key = jax.random.key(0, impl=randomness.IMPLEMENTATION)
    episodes = jax.eval_shape(lambda: before_first(made.world, batch))
    remembered = jax.eval_shape(lambda: made.network.initial_memory(batch))
    parameters = jax.eval_shape(made.network.initialise, key)
    state = jax.eval_shape(optimiser(ppo).init, parameters)
    cache = jax.eval_shape(made.network.open, parameters, remembered)
    rollout = jax.jit(made.rollout).lower(parameters, episodes, remembered, made.tables, key)
    rolled = jax.eval_shape(made.rollout, parameters, episodes, remembered, made.tables, key)
    learned = (parameters, state, remembered, rolled.trajectory, rolled.last_value, made.tables.vectors, key)
    update = jax.jit(made.update).lower(*learned, jax.ShapeDtypeStruct((), jnp.float32))
    record = size_of(rolled.trajectory.record)
    sizes = {
        EPISODES: size_of(episodes),
        MEMORY: size_of(remembered),
        "rings of keys and values, part of the rollout's temporaries": size_of(cache),
        TRAJECTORY: size_of(rolled.trajectory) - record,
        RECORDS: record,
        TRACE: size_of(rolled.trace),
        ACTING: _temporaries(rollout),
        LEARNING: _temporaries(update),
    }
    return {name: size / batch for name, size in sizes.items()}, 2 * size_of(parameters) + size_of(state)


def most_at_once(parts: Mapping[str, float]) -> float:
    """Bytes per environment at the fuller of two moments: while acting, and while learning.

    Acting holds the episodes before and after; the memory before the rollout is learned from, so both are held always.
    """
    always = parts[EPISODES] + 2 * parts[MEMORY] + parts[TRAJECTORY] + parts[RECORDS] + parts[TRACE]
    return always + max(parts[EPISODES] + parts[ACTING], parts[LEARNING])


def size_of(tree: Any) -> int:
    """Bytes of all arrays of a tree of shapes."""

    def size(leaf: Any) -> int:
        if jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key):
            leaf = jax.eval_shape(jax.random.key_data, leaf)
        return math.prod(leaf.shape) * jnp.dtype(leaf.dtype).itemsize

    return sum(size(leaf) for leaf in jax.tree.leaves(tree))


def _temporaries(lowered: Any) -> int:
    return int(lowered.compile().memory_analysis().temp_size_in_bytes)
