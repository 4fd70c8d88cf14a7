"""Craftax behind the protocol: same game as the package, no hidden reset, ends told apart, nothing leaked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from craftax.craftax import constants
from craftax.craftax.constants import Achievement, Action, BlockType, ItemType
from craftax.craftax.craftax_state import EnvParams
from craftax.craftax.envs.craftax_symbolic_env import CraftaxSymbolicEnvNoAutoReset

from engine.worlds.craftax import Craftax
from engine.worlds.craftax.staging import ANY, SCENES
from engine.worlds.permissive import permissive
from engine.worlds.protocol import World
from engine.worlds.sampling import Staging, sampled_views
from tests.engine.worlds.craftax.conftest import BATCH, Moves

Advance = Callable[..., Any]


def types(state: Any) -> Any:
    return jax.tree.map(lambda leaf: (leaf.shape, leaf.dtype, leaf.weak_type), state)


def same(one: Any, other: Any) -> bool:
    return all(bool((a == b).all()) for a, b in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True))


def actions(action: Action) -> jax.Array:
    return jnp.full(BATCH, action.value, jnp.int32)


def test_obeys_the_protocol(full: Craftax) -> None:
    checked: World = full
    assert isinstance(checked, World)
    assert isinstance(full, Staging)
    assert (full.num_actions, full.observation_size) == (43, 8268)


def test_reset_stage_and_step_have_one_structure_without_weak_types(moves: Moves) -> None:
    assert types(moves.fresh) == types(moves.before) == types(moves.after)
    assert not any(leaf.weak_type for leaf in jax.tree.leaves(moves.fresh))


def test_an_observation_is_the_packages_size_and_type(full: Craftax, moves: Moves) -> None:
    observe = jax.jit(jax.vmap(full.observe))
    seen = observe(moves.before)
    assert (seen.shape, seen.dtype) == ((BATCH, full.observation_size), jnp.float32)
    assert float(seen.min()) >= 0
    asleep = np.asarray(seen[:, 9 * 11 * 83 + 44])
    assert asleep.tolist() == np.asarray(moves.before.is_sleeping).tolist()
    assert set(asleep.tolist()) == {0, 1}
    claimed = moves.before.replace(achievements=~moves.before.achievements)
    assert bool((observe(claimed) == seen).all())


@pytest.mark.slow
def test_is_the_game_of_the_package(full: Craftax, moves: Moves) -> None:
    environment = CraftaxSymbolicEnvNoAutoReset()
    params = environment.default_params
    few = slice(len(SCENES))

    def both(key: jax.Array, state: Any, action: jax.Array) -> Any:
        _, first = environment.reset_env(key, params)
        observation, following, _, done, _ = environment.step_env(key, state, action, params)
        return first, following, observation, done

    keys, before, after = jax.tree.map(lambda leaf: leaf[few], (moves.keys, moves.before, moves.after))
    with permissive():
        first, following, observation, done = jax.jit(jax.vmap(both))(keys, before, moves.actions[few])
    second_of_split = jax.vmap(jax.random.split)(keys)[:, 1]
    fresh = jax.jit(jax.vmap(full.reset))(second_of_split)
    assert same(fresh, first.replace(state_rng=jax.random.key_data(first.state_rng)))
    assert same(after, following.replace(state_rng=jax.random.key_data(following.state_rng)))
    assert bool((jax.jit(jax.vmap(full.observe))(after) == observation).all())
    assert bool(((moves.died | moves.timed_out)[few] == done).all())


def test_achievements_are_seen_through_the_evaluation_method_only(full: Craftax, moves: Moves, look: Advance) -> None:
    claimed = moves.after.replace(achievements=~moves.after.achievements)
    assert same(look(claimed), look(moves.after))
    assert bool((jax.vmap(full.achievements)(claimed) == ~moves.after.achievements).all())


def test_achievements_come_in_the_order_of_the_package(full: Craftax, moves: Moves) -> None:
    names = full.achievement_names
    assert names == tuple(item.name.lower() for item in sorted(Achievement, key=lambda item: item.value))
    gained = np.asarray(full.achievements(moves.after) & ~moves.before.achievements)
    assert gained.shape == (BATCH, 67)
    descended = np.asarray(moves.after.player_level > moves.before.player_level)
    entered = [index for index, name in enumerate(names) if name.startswith("enter_")]
    assert descended.sum() >= 5
    assert (gained[:, entered].sum(1) == descended).all()


def starving(states: Any) -> Any:
    """States whose last point of health goes in the next step."""
    zero = jnp.zeros(BATCH, jnp.int32)
    return states.replace(
        player_health=jnp.ones(BATCH, jnp.float32),
        player_food=zero,
        player_drink=zero,
        player_recover=jnp.full(BATCH, -15.0, jnp.float32),
    )


def before_the_last_hit(states: Any) -> Any:
    """On floor 8, the boss on the right, hit seven times, alone."""
    return states.replace(
        player_level=jnp.full(BATCH, 8, jnp.int32),
        map=states.map.at[:, 8, 24, 25].set(BlockType.NECROMANCER.value),
        player_position=jnp.full((BATCH, 2), 24, jnp.int32),
        player_direction=actions(Action.RIGHT),
        boss_progress=jnp.full(BATCH, 7, jnp.int32),
        boss_timesteps_to_spawn_this_round=jnp.zeros(BATCH, jnp.int32),
    )


@pytest.mark.parametrize(
    ("change", "timestep", "action", "died", "timed_out"),
    [
        (None, 0, Action.NOOP, False, False),
        (starving, 0, Action.NOOP, True, False),
        (before_the_last_hit, 0, Action.DO, True, False),
        (before_the_last_hit, 0, Action.NOOP, False, False),
        (None, 99_998, Action.NOOP, False, False),
        (None, 99_999, Action.NOOP, False, True),
        (None, 123_456, Action.NOOP, False, True),
        (starving, 99_999, Action.NOOP, True, False),
        (before_the_last_hit, 99_999, Action.DO, True, False),
    ],
    ids=["alive", "starved", "won", "not yet", "last but one", "time", "restored beyond the limit", "both", "won late"],
)
def test_ends(
    moves: Moves, advance: Advance, change: Any, timestep: int, action: Action, died: bool, timed_out: bool
) -> None:
    states = moves.fresh if change is None else change(moves.fresh)
    states = states.replace(timestep=jnp.full(BATCH, timestep, jnp.int32))
    after, is_over, is_late = advance(jax.random.split(jax.random.key(1), BATCH), states, actions(action))
    assert (is_over.dtype, is_late.dtype) == (jnp.bool_, jnp.bool_)
    assert np.asarray(is_over).tolist() == [died] * BATCH
    assert np.asarray(is_late).tolist() == [timed_out] * BATCH
    assert np.asarray(after.timestep).tolist() == [timestep + 1] * BATCH, "an end resets nothing"


def test_resets_differ_by_key(moves: Moves) -> None:
    maps = np.asarray(moves.fresh.map).reshape(BATCH, -1)
    assert len({row.tobytes() for row in maps}) == BATCH
    assert np.asarray(moves.fresh.timestep).tolist() == [0] * BATCH


def test_every_scene_is_set_up_with_its_action(moves: Moves) -> None:
    before = moves.before
    front = np.asarray(before.player_position) + np.asarray(constants.DIRECTIONS)[np.asarray(before.player_direction)]
    level, position = np.asarray(before.player_level), np.asarray(before.player_position)
    for index in range(BATCH):
        scene, at = SCENES[index % len(SCENES)], (level[index], *front[index])
        assert scene.floors[0] <= level[index] <= scene.floors[1]
        if scene.action != ANY:
            assert int(moves.actions[index]) == scene.action
        if scene.block is not None:
            assert int(before.map[(index, *at)]) == scene.block.value
        if scene.under is not ItemType.NONE:
            assert int(before.item_map[(index, level[index], *position[index])]) == scene.under.value
        assert bool(before.mob_map[(index, *at)]) == (scene.mob is not None)


def test_staged_moments_lead_to_what_random_play_does_not_reach(full: Craftax, moves: Moves) -> None:
    gained = np.asarray(full.achievements(moves.after) & ~moves.before.achievements).any(0)
    reached = {name for name, is_gained in zip(full.achievement_names, gained, strict=True) if is_gained}
    assert {
        *("enchant_sword", "enchant_armour", "open_chest", "find_bow", "fire_bow", "cast_fireball", "cast_iceball"),
        *("eat_plant", "collect_drink", "collect_sapphire", "collect_ruby", "damage_necromancer"),
    } <= reached
    assert sum(name.startswith("defeat_") for name in reached) >= 6
    assert sum(name.startswith("enter_") for name in reached) >= 4


def test_a_staged_moment_owes_no_experience(moves: Moves) -> None:
    more = np.asarray(moves.after.player_xp) - np.asarray(moves.before.player_xp)
    descended = np.asarray(moves.after.player_level) > np.asarray(moves.before.player_level)
    assert ((more > 0) == descended).all()
    assert EnvParams().max_timesteps > int(moves.before.timestep.max()) > 300


def test_picture_is_deterministic_and_shows_the_player_in_the_middle(full: Craftax, moves: Moves) -> None:
    lit = moves.before.replace(light_map=jnp.ones_like(moves.before.light_map), is_sleeping=jnp.zeros(BATCH, bool))
    one = full.view(jax.tree.map(lambda leaf: leaf[0], lit))
    picture = full.draw(one)
    assert (picture.shape, picture.dtype) == ((192, 176, 3), np.uint8)
    assert (picture == full.draw(one)).all()
    turned = full.draw({**one, "player_direction": one["player_direction"] % 4 + 1})
    changed = np.argwhere((picture != turned).any(2))
    assert (changed.min(0) >= (64, 80)).all()
    assert (changed.max(0) < (80, 96)).all()


def test_a_picture_of_every_scene_can_be_drawn(full: Craftax, moves: Moves) -> None:
    lit = moves.after.replace(light_map=jnp.ones_like(moves.after.light_map))
    views = jax.tree.map(np.asarray, jax.vmap(full.view)(lit))
    pictures = [full.draw(jax.tree.map(lambda leaf, i=index: leaf[i], views)) for index in range(len(SCENES))]
    assert len({picture.tobytes() for picture in pictures}) == len(SCENES)


def test_a_picture_is_black_in_the_dark_and_grey_off_the_map(full: Craftax, moves: Moves) -> None:
    one = full.view(jax.tree.map(lambda leaf: leaf[0], moves.fresh))
    corner = {**one, "player_position": np.zeros(2, np.int32), "light_map": np.zeros_like(one["light_map"])}
    picture = full.draw(corner)
    assert (picture[:64, :176] == 128).all()
    assert (picture[:144, :80] == 128).all()
    assert not picture[64:144, 96:].any()
    assert picture[144:160].any()


@pytest.mark.slow
def test_samples_show_late_moments_that_resets_do_not(full: Craftax) -> None:
    views = sampled_views(full, 0)
    before, after = views.previous, views.current
    assert int(views.resets["player_level"].max()) == 0
    assert int((before["player_level"] != after["player_level"]).sum()) >= 3
    assert len(np.unique(np.asarray(before["player_level"]))) == 9
    bag, later = before["inventory"], after["inventory"]
    assert sum(bool((later[name] > bag[name]).any()) for name in bag) >= 10
    assert bool((later["potions"] < bag["potions"]).any())
    assert bool((after["sword_enchantment"] != before["sword_enchantment"]).any())
    assert bool((before["is_sleeping"] & ~after["is_sleeping"]).any())
    assert bool((after["monsters_killed"] > before["monsters_killed"]).any())
    assert bool((after["chests_opened"] & ~before["chests_opened"]).any())
