"""The transition operator T: which skill to pursue now, so that the target becomes possible (paper 000, section 2.2).

T returns the prerequisite of the first unmet condition, and is applied to what it returned until nothing is unmet.
Only conditions route: whether the success condition of a prerequisite holds plays no part.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import jax
import jax.numpy as jnp


def route(target: str, requires: Mapping[str, Sequence[str]], satisfied: Mapping[str, Sequence[bool]]) -> str:
    """The active skill for ``target``: the reference that the tables are tested against.

    ``requires[name]`` lists the prerequisite of each condition in order; ``satisfied[name]`` whether each holds now.

    Raises:
        KeyError: if a skill is missing from a table.
        ValueError: if a skill has more conditions than prerequisites, or the prerequisites form a cycle.
    """
    seen = {target}
    active = target
    while True:
        pairs = zip(requires[active], satisfied[active], strict=True)
        unmet = next((prerequisite for prerequisite, holds in pairs if not holds), None)
        if unmet is None:
            return active
        if unmet in seen:
            raise ValueError(f"the prerequisites of {target} form a cycle through {unmet}: an archive is acyclic")
        seen.add(unmet)
        active = unmet


def route_batch(
    target: jax.Array, prerequisite: jax.Array, conditions: jax.Array, depth: int | None = None
) -> jax.Array:
    """The active skills of a batch of environments.

    Args:
        target: int32 ``(b,)``, indices into the tables.
        prerequisite: int32 ``(n, k)``, the prerequisite of each condition; entries of absent conditions are never read.
        conditions: bool ``(b, n, k)``, which conditions hold; absent ones must be True (as ``emit.predicates`` pads).
        depth: how many edges the longest chain of prerequisites has; ``n - 1`` when not given.

    Returns:
        int32 ``(b,)``.
    """
    count = prerequisite.shape[0]
    rows = jnp.arange(count, dtype=jnp.int32)
    first_unmet = jnp.argmin(conditions, axis=-1).astype(jnp.int32)
    unmet = jnp.take_along_axis(jnp.broadcast_to(prerequisite, conditions.shape), first_unmet[..., None], axis=-1)
    onward = jnp.where(jnp.all(conditions, axis=-1), rows[None, :], unmet[..., 0])

    def follow(_: int, active: jax.Array) -> jax.Array:
        return jnp.take_along_axis(onward, active[:, None], axis=1)[:, 0]

    steps = max(count - 1, 0) if depth is None else depth
    return jax.lax.fori_loop(0, steps, follow, target.astype(jnp.int32))
