"""The world itself: explicit reset, a step that never resets, and two kinds of end told apart."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from craftax.craftax_classic.constants import OBS_DIM, Achievement, Action, BlockType
from craftax.craftax_classic.envs.craftax_state import EnvParams, EnvState, StaticEnvParams
from craftax.craftax_classic.envs.craftax_symbolic_env import get_flat_map_obs_shape, get_inventory_obs_shape
from craftax.craftax_classic.game_logic import craftax_step
from craftax.craftax_classic.renderer import render_craftax_symbolic
from craftax.craftax_classic.world_gen import generate_world

from engine.worlds.compiler import check_compiler
from engine.worlds.craftax_classic.picture import picture
from engine.worlds.craftax_classic.schema import SCHEMA
from engine.worlds.craftax_classic.staging import stage
from engine.worlds.permissive import permissive
from engine.worlds.protocol import View
from engine.worlds.states import settled, view_of

_NAMES = {achievement.value: achievement.name.lower() for achievement in Achievement}


class CraftaxClassic:
    """Craftax-Classic with the symbolic observation, from the functions its no-auto-reset environment is made of.

    A state is the package's ``EnvState`` with strongly typed leaves and its random key as raw data, so that a reset and
    a step have the same structure, shapes and types (``lax.scan``, ``where``, checkpoints). Use one kind of random key
    for resets and steps. Stepping a state whose episode has ended is defined and goes on; the caller resets.

    Raises:
        CompilerFault: when the compiler computes batches of worlds wrongly and its flag was not set in time.
    """

    name = "craftax_classic"
    num_actions = len(Action)
    observation_size = get_flat_map_obs_shape() + get_inventory_obs_shape()
    schema = SCHEMA
    achievement_names = tuple(_NAMES[index] for index in range(len(_NAMES)))

    def __init__(self) -> None:
        check_compiler()
        self._params = EnvParams()
        self._static = StaticEnvParams()

    def reset(self, key: jax.Array) -> EnvState:
        """A new world (64 x 64 cells) with the player, unequipped, at its centre."""
        with permissive():
            state = generate_world(key, self._params, self._static)
        return settled(state)

    def step(self, key: jax.Array, state: EnvState, action: jax.Array) -> tuple[EnvState, jax.Array, jax.Array]:
        """One transition: ``died`` when health is gone or the player stands in lava, ``timed_out`` at 10,000 steps.

        A death in the very last step is a death, not a timeout. ``action`` is an int32 scalar in ``[0, 17)``.
        """
        with permissive():
            following, _ = craftax_step(key, state, action, self._params, self._static)
        following = settled(following)
        under = following.map[following.player_position[0], following.player_position[1]]
        died = (following.player_health <= 0) | (under == BlockType.LAVA.value)
        return following, died, (following.timestep >= self._params.max_timesteps) & ~died

    def observe(self, state: EnvState) -> jax.Array:
        """Symbolic observation: float32, shape ``(1345,)``.

        7 x 9 cells around the player with 17 block types and 4 kinds of mobs as 0/1 channels, then 22 values: inventory
        (12), health, food, drink, energy, direction (4), light, asleep; all between 0 and 1.
        """
        with permissive():
            observation = render_craftax_symbolic(state)
        return jax.lax.convert_element_type(observation, jnp.float32)

    def view(self, state: EnvState) -> View:
        """The fields of ``schema.state``, as nested dicts of arrays."""
        return view_of(SCHEMA.state, state)

    def achievements(self, state: EnvState) -> jax.Array:
        """The package's 22 flags, set since the episode's start: bool, shape ``(22,)``; for evaluation only."""
        flags: jax.Array = state.achievements
        return flags

    def stage(self, key: jax.Array, state: EnvState) -> tuple[EnvState, jax.Array]:
        """A later moment of an episode made up from a fresh state, and an action that suits it (see ``staging``)."""
        return stage(key, state)

    def picture(self, state: EnvState) -> np.ndarray:
        """The player's field of view and what it carries, for people: uint8, shape ``(144, 144, 3)``; one state."""
        return self.draw(self.view(state))

    def draw(self, view: View) -> np.ndarray:
        """The same picture, from the view of a single state."""
        return picture(view, OBS_DIM)
