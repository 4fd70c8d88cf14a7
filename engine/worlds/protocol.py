"""What training and evaluation need of a world: explicit reset, a step that never resets, a view for programs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from engine.worlds.schema import Schema

if TYPE_CHECKING:
    import jax

State = Any
"""A world's own state: any pytree of arrays."""

View = Mapping[str, Any]
"""What programs read: nested mappings that mirror ``Schema.state``, with the declared dtypes and shapes."""


@runtime_checkable
class World(Protocol):
    """One environment; every function works on a single state and is batched with ``jax.vmap``."""

    name: str
    num_actions: int
    observation_size: int
    schema: Schema
    achievement_names: tuple[str, ...]

    def reset(self, key: jax.Array) -> State:
        """A fresh episode's first state."""
        ...

    def step(self, key: jax.Array, state: State, action: jax.Array) -> tuple[State, jax.Array, jax.Array]:
        """One transition without any reset: ``(state, died, timed_out)``, the two flags boolean scalars.

        ``died`` is a true end of the episode; ``timed_out`` the world's own time limit, never counted as success.
        """
        ...

    def observe(self, state: State) -> jax.Array:
        """The agent's observation: float32, shape ``(observation_size,)``."""
        ...

    def view(self, state: State) -> View:
        """The part of the state that programs may read."""
        ...

    def achievements(self, state: State) -> jax.Array:
        """Evaluation only: the world's own achievement flags, bool, shape ``(len(achievement_names),)``."""
        ...
