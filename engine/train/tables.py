"""Skills as arrays of fixed capacity: what changes when an archive is rewired, and never what is compiled."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from attrs import frozen

from engine.train.predicates import Predicates
from engine.worlds.protocol import State, World
from ledger.vocabulary.train import Skill


class Tables(NamedTuple):
    """Arguments of the compiled functions; N skills of capacity, K condition slots, D embedding dimensions.

    ``vectors [N, D]``; ``valid [N]``; ``success [N]`` and ``conditions [N, K]`` point into the predicates' output;
    ``prerequisite [N, K]`` (or ``[G, N, K]`` for G targets with wirings of their own) is -1 without a condition;
    ``log_rates [N]`` = log(rho + epsilon); ``rewards [N]``.
    """

    vectors: jax.Array
    valid: jax.Array
    success: jax.Array
    conditions: jax.Array
    prerequisite: jax.Array
    log_rates: jax.Array
    rewards: jax.Array


@frozen
class Shape:
    """What a compiled function depends on besides its code: capacities, which double."""

    skills: int
    slots: int
    dimensions: int
    depth: int


def capacity(count: int, least: int) -> int:
    """The smallest power of two that is at least ``count`` and ``least``."""
    return max(least, 1 << max(count - 1, 0).bit_length())


def vectors_of(skills: Sequence[Skill]) -> np.ndarray:
    """Name embeddings, float32 ``[n, D]``.

    Raises:
        ValueError: if there is no skill, or the embeddings differ in length.
    """
    if not skills:
        raise ValueError("there is no skill to train on or to evaluate: the archive is empty")
    rows = [np.frombuffer(skill.vector.raw, "<f4") for skill in skills]
    sizes = sorted({len(row) for row in rows})
    if len(sizes) > 1 or sizes[0] == 0:
        raise ValueError(f"name embeddings of {sizes} dimensions: all skills need embeddings of one model")
    return np.stack(rows).astype(np.float32)


def wire(skills: Sequence[Skill], index_of: Mapping[str, int], shape: Shape) -> np.ndarray:
    """Prerequisite indices, int32 ``[N, K]``, with names resolved by ``index_of``.

    Raises:
        ValueError: if a prerequisite is no skill of the archive.
    """
    table = np.full((shape.skills, shape.slots), -1, np.int32)
    for row, skill in enumerate(skills):
        for slot, name in enumerate(skill.requires):
            if name not in index_of:
                raise ValueError(f"{skill.name} requires {name}, which is no skill of this archive")
            table[row, slot] = index_of[name]
    return table


def longest_chain(prerequisite: np.ndarray) -> int:
    """The number of edges of the longest chain of prerequisites in ``[n, K]``.

    Raises:
        ValueError: if the prerequisites form a cycle.
    """
    height = np.zeros(len(prerequisite), np.int64)
    for length in range(len(prerequisite) + 1):
        behind = np.where(prerequisite >= 0, height[np.maximum(prerequisite, 0)] + 1, 0).max(axis=1, initial=0)
        if (behind == height).all():
            return int(height.max(initial=0))
        height = behind
        if length == len(prerequisite):
            break
    raise ValueError("the prerequisites form a cycle: an archive is acyclic")


def shape_of(skills: Sequence[Skill], depth: int) -> Shape:
    """The capacities for ``skills`` whose longest chain has ``depth`` edges."""
    dimensions = vectors_of(skills).shape[1]
    slots = max(len(skill.requires) for skill in skills)
    return Shape(
        skills=capacity(len(skills), 8),
        slots=capacity(slots, 4),
        dimensions=dimensions,
        depth=capacity(depth, 4),
    )


def wired(skills: Sequence[Skill]) -> tuple[Shape, np.ndarray]:
    """The capacities of an archive, and its prerequisite indices as ``wire`` gives them.

    Raises:
        ValueError: if the archive is empty, names one skill twice, requires an unknown one, or is cyclic.
    """
    index = {skill.name: row for row, skill in enumerate(skills)}
    if len(index) < len(skills):
        raise ValueError("two skills have one name: names must be unique in an archive")
    prerequisite = wire(skills, index, shape_of(skills, 0))
    return shape_of(skills, longest_chain(prerequisite)), prerequisite


def assemble(
    skills: Sequence[Skill],
    predicates: Predicates,
    prerequisite: np.ndarray,
    shape: Shape,
    log_rates: np.ndarray,
    rewards: np.ndarray,
) -> Tables:
    """The tables of ``skills``; ``prerequisite`` from ``wire``.

    Raises:
        ValueError: if a program has another number of conditions than the skill has prerequisites.
    """
    count = len(skills)
    vectors = np.zeros((shape.skills, shape.dimensions), np.float32)
    vectors[:count] = vectors_of(skills)
    success = np.zeros(shape.skills, np.int32)
    success[:count] = predicates.success
    conditions = np.full((shape.skills, shape.slots), predicates.always, np.int32)
    for row, (skill, places) in enumerate(zip(skills, predicates.conditions, strict=True)):
        if len(places) != len(skill.requires):
            raise ValueError(f"{skill.name} has {len(places)} conditions but {len(skill.requires)} prerequisites")
        conditions[row, : len(places)] = places

    def padded(values: np.ndarray) -> jax.Array:
        result = np.zeros(shape.skills, np.float32)
        result[:count] = values
        return jnp.asarray(result)

    return Tables(
        vectors=jnp.asarray(vectors),
        valid=jnp.arange(shape.skills) < count,
        success=jnp.asarray(success),
        conditions=jnp.asarray(conditions),
        prerequisite=jnp.asarray(prerequisite),
        log_rates=padded(log_rates),
        rewards=padded(rewards),
    )


Look = Callable[[Tables, State, State], tuple[jax.Array, jax.Array]]


def looking(world: World, predicates: Predicates) -> Look:
    """``(tables, before, after)`` to success ``[B, N]`` and conditions ``[B, N, K]`` for batches of states.

    ``before`` must be of the same episode as ``after``; at an episode's start they are the same state.
    """
    asked = predicates.asked

    def look(tables: Tables, before: State, after: State) -> tuple[jax.Array, jax.Array]:
        def one(previous: State, state: State) -> tuple[jax.Array, jax.Array]:
            held = predicates.evaluate(world.view(state), world.view(previous))
            return held[:asked], held[asked:]

        first, rest = jax.vmap(one)(before, after)
        # The barriers keep the compiler from merging predicates with the network: bits must not depend on programs.
        # There are two, so that nothing of the rest is computed where nobody asks about success.
        first, rest = jax.lax.optimization_barrier(first), jax.lax.optimization_barrier(rest)
        always = jnp.ones((first.shape[0], 1), bool)
        held = jnp.concatenate([first, rest, always], axis=1)
        conditions = jnp.where(tables.conditions == predicates.always, asked, tables.conditions)
        return held[:, tables.success], jnp.concatenate([first, always], axis=1)[:, conditions]

    return look
