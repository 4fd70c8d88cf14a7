"""The world itself: explicit reset, a step that never resets, and the kinds of end told apart."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from craftax.craftax.constants import Achievement, Action
from craftax.craftax.craftax_state import EnvParams, EnvState, StaticEnvParams
from craftax.craftax.envs.craftax_symbolic_env import get_flat_map_obs_shape, get_inventory_obs_shape
from craftax.craftax.game_logic import craftax_step
from craftax.craftax.renderer import render_craftax_symbolic
from craftax.craftax.util.game_logic_utils import has_beaten_boss
from craftax.craftax.world_gen.world_gen import generate_world

from engine.worlds.compiler import check_compiler
from engine.worlds.craftax.picture import picture
from engine.worlds.craftax.schema import SCHEMA
from engine.worlds.craftax.staging import stage
from engine.worlds.permissive import permissive
from engine.worlds.protocol import View
from engine.worlds.states import settled, view_of

_NAMES = {achievement.value: achievement.name.lower() for achievement in Achievement}


class Craftax:
    """Craftax with the symbolic observation, from the functions its no-auto-reset environment is made of.

    A state is the package's ``EnvState``, its leaves settled (see ``states``). Use one kind of random key for resets
    and steps. Stepping a state whose episode has ended is defined and goes on; the caller resets.

    Raises:
        CompilerFault: when the compiler computes batches of worlds wrongly and its flag was not set in time.
    """

    name = "craftax"
    num_actions = len(Action)
    observation_size = get_flat_map_obs_shape() + get_inventory_obs_shape()
    schema = SCHEMA
    achievement_names = tuple(_NAMES[index] for index in range(len(_NAMES)))

    def __init__(self) -> None:
        check_compiler()
        self._params = EnvParams()
        self._static = StaticEnvParams()

    def reset(self, key: jax.Array) -> EnvState:
        """New floors (9 of 48 x 48 cells) with the player, unequipped, at the centre of the first."""
        with permissive():
            state = generate_world(key, self._params, self._static)
        return settled(state)

    def step(self, key: jax.Array, state: EnvState, action: jax.Array) -> tuple[EnvState, jax.Array, jax.Array]:
        """One transition: ``died`` when health is gone or the boss is beaten, ``timed_out`` at 100,000 steps.

        Both are true ends of the episode to the package; one of them in the very last step is not a timeout.
        ``action`` is an int32 scalar in ``[0, 43)``.
        """
        with permissive():
            following, _ = craftax_step(key, state, action, self._params, self._static)
            won = has_beaten_boss(following, self._static)
        following = settled(following)
        ended = (following.player_health <= 0) | won
        return following, ended, (following.timestep >= self._params.max_timesteps) & ~ended

    def observe(self, state: EnvState) -> jax.Array:
        """Symbolic observation: float32, shape ``(8268,)``.

        9 x 11 cells around the player with 37 block types, 5 items, 5 classes of 8 kinds of creatures and whether the
        cell is lit as 0/1 channels (all 0 in the dark), then 51 values: inventory (16), potions (6), health, food,
        drink, energy, mana, experience and attributes (9), direction (4), armour and its enchantments (8), and light,
        asleep, resting, spells known (2), floor, whether the floor is cleared, whether the boss can be hit.
        """
        with permissive():
            observation = render_craftax_symbolic(state)
        return jax.lax.convert_element_type(observation, jnp.float32)

    def view(self, state: EnvState) -> View:
        """The fields of ``schema.state``, as nested dicts of arrays."""
        return view_of(SCHEMA.state, state)

    def achievements(self, state: EnvState) -> jax.Array:
        """The package's 67 flags, set since the episode's start: bool, shape ``(67,)``; for evaluation only."""
        flags: jax.Array = state.achievements
        return flags

    def stage(self, key: jax.Array, state: EnvState) -> tuple[EnvState, jax.Array]:
        """A later moment of an episode made up from a fresh state, and an action that suits it (see ``staging``)."""
        return stage(key, state)

    def draw(self, view: View) -> np.ndarray:
        """The player's field of view and what it carries, for people: uint8, shape ``(192, 176, 3)``; one view."""
        return picture(view)
