"""How many bytes training holds, counted from shapes alone: nothing is compiled and nothing is allocated.

What the compiler adds for itself (temporaries of a step, code, the runtime) is not in it. ``docs/determinism.md`` is
about bits, this about bytes: `python -m replay doctor --config FILE` shows it for a configuration.
"""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING, Any

from attrs import frozen

from ledger.vocabulary.body import Body, Data
from ledger.vocabulary.config import Config, Ppo
from ledger.vocabulary.train import Skill

if TYPE_CHECKING:
    from engine.agent.network import Network
    from engine.train.predicates import Predicates
    from engine.train.tables import Shape, Tables
    from engine.worlds.protocol import World

SKILLS = 64
"""Skills of the archive that is counted with; they hardly matter."""

DIMENSIONS = 256
"""Components of a name's embedding under the offline model."""


@frozen
class Footprint:
    """Bytes of training. The first six are per environment, the last two do not depend on their number.

    - ``state``: an episode: the world's state and the counters of routing.
    - ``memory``: the network's memory between rollouts.
    - ``cache``: what the network acts from during a rollout (a transformer: keys and values).
    - ``trajectory``: what a rollout of ``rollout_steps`` steps leaves to learn from, and its trace.
    - ``sequences``: the trajectory put into learning sequences, with the memory before each: a copy.
    - ``minibatch``: one minibatch of sequences, and what its forward pass keeps for the backward pass.
    - ``parameters``: old and new parameters, and their gradients. ``optimiser``: its old and new state.
    """

    environments: int
    state: float
    memory: float
    cache: float
    trajectory: float
    sequences: float
    minibatch: float
    parameters: int
    optimiser: int

    @property
    def acting(self) -> float:
        """Bytes per environment during a rollout: the episodes before it and now, memory, cache, trajectory."""
        return 2 * self.state + self.memory + self.cache + self.trajectory

    @property
    def learning(self) -> float:
        """Bytes per environment during an update: the memory before the rollout and after it, and what is learned."""
        return self.state + 2 * self.memory + self.trajectory + self.sequences + self.minibatch

    @property
    def total(self) -> int:
        """Bytes at the fuller of the two moments."""
        each = max(self.acting, self.learning)
        return math.ceil(self.environments * each) + self.parameters + self.optimiser

    def text(self) -> str:
        """One phrase for people."""
        parts = ", ".join(
            f"{name} {size(getattr(self, name))}"
            for name in ("state", "memory", "cache", "trajectory", "sequences", "minibatch")
        )
        fixed = size(self.parameters + self.optimiser)
        return (
            f"about {size(self.total)} for {self.environments} environments: {size(max(self.acting, self.learning))} "
            f"each ({parts}), {fixed} of parameters and optimiser"
        )


def footprint(config: Config, world: World | None = None, skills: int = SKILLS) -> Footprint:
    """Count for a configuration; ``world`` stands for the one that it names.

    Raises:
        engine.worlds.registry.UnknownWorld: if the configuration names a world that does not exist.
        ValueError: if the configuration contradicts itself, such as minibatches that do not divide the sequences.
    """
    import jax

    from engine import randomness
    from engine.agent.network import build
    from engine.train.ppo import optimiser
    from engine.train.rollout import before_first, build_rollout
    from engine.worlds import registry

    world = registry.world(config.world) if world is None else world
    ppo = config.ppo
    shape, tables, predicates = _archive(skills)
    network = build(
        config.agent,
        observation_size=world.observation_size,
        vector_size=shape.dimensions,
        actions=world.num_actions,
    )
    key = jax.random.key(0, impl=randomness.IMPLEMENTATION)
    parameters = jax.eval_shape(network.initialise, key)
    state = jax.eval_shape(optimiser(ppo).init, parameters)
    episodes = jax.eval_shape(lambda: before_first(world, ppo.environments))
    memory = jax.eval_shape(lambda: network.initial_memory(ppo.environments))
    cache = jax.eval_shape(network.open, parameters, memory)
    rollout = build_rollout(world, network, predicates, shape, ppo, config.routing)
    rolled = jax.eval_shape(rollout, parameters, episodes, memory, tables, key)
    sequences, minibatch = _learned(network, ppo, parameters, memory, rolled.trajectory, tables)

    def each(tree: Any) -> float:
        return nbytes(tree) / ppo.environments

    return Footprint(
        environments=ppo.environments,
        state=each(episodes),
        memory=each(memory),
        cache=each(cache),
        trajectory=each((rolled.trajectory, rolled.trace, rolled.last_value)),
        sequences=each(sequences),
        minibatch=each(minibatch),
        parameters=3 * nbytes(parameters),
        optimiser=2 * nbytes(state),
    )


def _learned(
    network: Network, ppo: Ppo, parameters: Any, memory: Any, trajectory: Any, tables: Tables
) -> tuple[Any, Any]:
    """Shapes of all learning sequences with their memories; of one minibatch of them with its forward pass."""
    import jax

    from engine.train.ppo import Batch, to_sequences

    steps, environments = trajectory.reward.shape
    window = network.window(steps)
    count = steps // window * environments
    if count % ppo.minibatches:
        raise ValueError(f"{count} learning sequences cannot be divided into {ppo.minibatches} minibatches")
    # The advantage has the shape of the reward, and no network learns from the rest of the trajectory.
    fields = [getattr(trajectory, "reward" if name == "advantage" else name) for name in Batch._fields]
    whole = jax.eval_shape(lambda: Batch(*(to_sequences(_zeros(leaf), window) for leaf in fields)))
    memories = jax.eval_shape(lambda kept, record: network.sequences(kept, record, steps), memory, trajectory.record)

    def part(leaf: Any) -> Any:
        return jax.ShapeDtypeStruct((count // ppo.minibatches, *leaf.shape[1:]), leaf.dtype)

    batch, remembered = jax.tree.map(part, (whole, memories))

    def forward(parameters: Any, remembered: Any, batch: Any, vectors: Any) -> Any:
        def outputs(parameters: Any) -> Any:
            skill = network.skills(parameters, vectors)[batch.active]
            return network.unroll(parameters, remembered, batch.observation, skill, batch.age)

        return jax.vjp(outputs, parameters)[1]

    kept = jax.eval_shape(forward, parameters, remembered, batch, tables.vectors)
    return (whole, memories), (batch, remembered, kept)


def _zeros(leaf: Any) -> Any:
    import jax.numpy as jnp

    return jnp.zeros(leaf.shape, leaf.dtype)


def _archive(skills: int) -> tuple[Shape, Tables, Predicates]:
    """An archive of ``skills`` skills that never succeed, each with one condition on the one before."""
    import jax.numpy as jnp
    import numpy as np

    from engine.train.predicates import Predicates
    from engine.train.tables import assemble, longest_chain, shape_of, wire

    vector = Data(np.ones(DIMENSIONS, "<f4").tobytes())
    archive = tuple(
        Skill(f"S{index}", Body(""), (f"S{index - 1}",) if index else (), vector) for index in range(skills)
    )
    index_of = {skill.name: row for row, skill in enumerate(archive)}
    shape = shape_of(archive, longest_chain(wire(archive, index_of, shape_of(archive, 0))))
    predicates = Predicates(
        key="",
        evaluate=lambda view, previous: jnp.zeros(2 * skills, bool),
        success=tuple(range(skills)),
        conditions=tuple((skills + index,) if index else () for index in range(skills)),
        always=2 * skills,
    )
    blank = np.zeros(skills)
    return shape, assemble(archive, predicates, wire(archive, index_of, shape), shape, blank, blank), predicates


def nbytes(tree: Any) -> int:
    """Bytes of all arrays of a tree of arrays or of their shapes; a random key counts its words."""
    import jax

    def one(leaf: Any) -> int:
        if jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key):
            leaf = jax.eval_shape(jax.random.key_data, jax.ShapeDtypeStruct(leaf.shape, leaf.dtype))
        return math.prod(leaf.shape) * int(leaf.dtype.itemsize)

    return sum(one(leaf) for leaf in jax.tree.leaves(tree))


def available() -> int | None:
    """Bytes that the first device may use: an accelerator's own limit, else the machine's free memory, if known."""
    import jax

    statistics = jax.devices()[0].memory_stats()
    if statistics and "bytes_limit" in statistics:
        return int(statistics["bytes_limit"])
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None


def size(count: float) -> str:
    """A number of bytes in the unit that fits."""
    amount = float(count)
    for unit in ("bytes", "KiB", "MiB"):
        if amount < 1024:
            return f"{amount:.0f} {unit}" if unit == "bytes" else f"{amount:.1f} {unit}"
        amount /= 1024
    return f"{amount:.1f} GiB"
