"""Craftax-Classic behind the protocol: same game as the package, no hidden reset, ends told apart, nothing leaked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from craftax.craftax_classic.constants import Achievement, Action, BlockType
from craftax.craftax_classic.envs.craftax_state import EnvParams, EnvState
from craftax.craftax_classic.envs.craftax_symbolic_env import CraftaxClassicSymbolicEnvNoAutoReset

from engine.worlds.craftax_classic import CraftaxClassic
from engine.worlds.craftax_classic.schema import SCHEMA, WITHHELD
from engine.worlds.permissive import permissive
from engine.worlds.protocol import World
from engine.worlds.schema import Field, Group
from tests.engine.worlds.conftest import BATCH, Moves

Advance = Callable[..., Any]


def leaves(group: Group, view: Any, path: str = "") -> Iterator[tuple[str, Field, Any]]:
    assert set(view) == set(group.members), path
    for name, member in group.members.items():
        if isinstance(member, Field):
            yield f"{path}{name}", member, view[name]
        else:
            yield from leaves(member, view[name], f"{path}{name}.")


def types(state: Any) -> Any:
    return jax.tree.map(lambda leaf: (leaf.shape, leaf.dtype, leaf.weak_type), state)


def same(one: Any, other: Any) -> bool:
    return all(bool((a == b).all()) for a, b in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True))


def test_obeys_the_protocol(classic: CraftaxClassic) -> None:
    checked: World = classic
    assert isinstance(checked, World)
    assert (classic.num_actions, classic.observation_size) == (17, 1345)


def test_reset_stage_and_step_have_one_structure_without_weak_types(moves: Moves) -> None:
    assert types(moves.fresh) == types(moves.before) == types(moves.after)
    assert not any(leaf.weak_type for leaf in jax.tree.leaves(moves.fresh))


def test_is_the_game_of_the_package(moves: Moves, observe: Advance) -> None:
    environment = CraftaxClassicSymbolicEnvNoAutoReset()
    params = environment.default_params

    def both(key: jax.Array, state: EnvState, action: jax.Array) -> Any:
        _, first = environment.reset_env(key, params)
        observation, following, _, done, _ = environment.step_env(key, state, action, params)
        return first, following, observation, done

    with permissive():
        first, following, observation, done = jax.jit(jax.vmap(both))(moves.keys, moves.before, moves.actions)
    raw = {"state_rng": jax.random.key_data(first.state_rng)}
    assert same(moves.fresh, first.replace(**raw))
    assert same(moves.after, following.replace(state_rng=jax.random.key_data(following.state_rng)))
    assert bool((observe(moves.after) == observation).all())
    assert bool(((moves.died | moves.timed_out) == done).all())


def test_a_world_does_not_depend_on_its_place_in_the_batch(classic: CraftaxClassic, moves: Moves) -> None:
    alone = jax.jit(classic.reset)
    for index in (0, 8, BATCH - 1):
        assert same(alone(moves.keys[index]), jax.tree.map(lambda leaf, i=index: leaf[i], moves.fresh)), index


def test_every_field_of_the_package_is_declared_or_withheld() -> None:
    declared = set(SCHEMA.state.members)
    assert declared | set(WITHHELD) == set(EnvState.__dataclass_fields__)
    assert declared.isdisjoint(WITHHELD)


def test_view_has_the_declared_types_and_ranges(classic: CraftaxClassic, moves: Moves) -> None:
    for states in (moves.fresh, moves.before, moves.after):
        view = jax.vmap(classic.view)(states)
        for path, declared, value in leaves(SCHEMA.state, view):
            assert (str(value.dtype), value.shape[1:]) == (declared.dtype, declared.shape), path
            assert not value.weak_type, path
            assert declared.minimum is None or declared.minimum <= float(value.min()), path
            assert declared.maximum is None or float(value.max()) <= declared.maximum, path


def test_achievements_are_seen_through_the_evaluation_method_only(
    classic: CraftaxClassic, moves: Moves, observe: Advance
) -> None:
    claimed = moves.after.replace(achievements=~moves.after.achievements)
    assert same(jax.vmap(classic.view)(claimed), jax.vmap(classic.view)(moves.after))
    assert bool((observe(claimed) == observe(moves.after)).all())
    assert bool((jax.vmap(classic.achievements)(claimed) == ~moves.after.achievements).all())


def test_achievements_come_in_the_order_of_the_package(classic: CraftaxClassic, quiet: Any, advance: Advance) -> None:
    names = classic.achievement_names
    assert names == tuple(item.name.lower() for item in sorted(Achievement, key=lambda item: item.value))
    tree = quiet.replace(map=jnp.full_like(quiet.map, BlockType.TREE.value))
    after, _, _ = advance(jax.random.split(jax.random.key(0), BATCH), tree, actions(Action.DO))
    flags = np.asarray(classic.achievements(after))
    assert flags.shape == (BATCH, len(names))
    assert flags[:, names.index("collect_wood")].all()
    assert flags.sum() == BATCH


def actions(action: Action) -> jax.Array:
    return jnp.full(BATCH, action.value, jnp.int32)


def starving(states: Any) -> Any:
    """States whose last point of health goes in the next step."""
    zero = jnp.zeros(BATCH, jnp.int32)
    return states.replace(
        player_health=zero + 1, player_food=zero, player_drink=zero, player_recover=jnp.full(BATCH, -15.0, jnp.float32)
    )


def lava_on_the_right(states: Any) -> Any:
    return states.replace(map=states.map.at[:, 32, 33].set(BlockType.LAVA.value))


def at_step(states: Any, timestep: int) -> Any:
    return states.replace(timestep=jnp.full(BATCH, timestep, jnp.int32))


@pytest.mark.parametrize(
    ("change", "timestep", "action", "died", "timed_out"),
    [
        (None, 0, Action.RIGHT, False, False),
        (lava_on_the_right, 0, Action.RIGHT, True, False),
        (lava_on_the_right, 0, Action.LEFT, False, False),
        (starving, 0, Action.NOOP, True, False),
        (None, 9_998, Action.NOOP, False, False),
        (None, 9_999, Action.NOOP, False, True),
        (None, 12_345, Action.NOOP, False, True),
        (starving, 9_999, Action.NOOP, True, False),
    ],
    ids=["alive", "lava", "beside lava", "starved", "last but one", "time", "restored beyond the limit", "both"],
)
def test_ends(
    quiet: Any, advance: Advance, change: Any, timestep: int, action: Action, died: bool, timed_out: bool
) -> None:
    states = at_step(quiet if change is None else change(quiet), timestep)
    _, is_dead, is_late = advance(jax.random.split(jax.random.key(1), BATCH), states, actions(action))
    assert (is_dead.dtype, is_late.dtype) == (jnp.bool_, jnp.bool_)
    assert np.asarray(is_dead).tolist() == [died] * BATCH
    assert np.asarray(is_late).tolist() == [timed_out] * BATCH


def test_an_end_keeps_its_observation_and_resets_nothing(quiet: Any, advance: Advance, observe: Advance) -> None:
    keys = jax.random.split(jax.random.key(2), BATCH)
    states = lava_on_the_right(at_step(quiet, 500))
    after, died, _ = advance(keys, states, actions(Action.RIGHT))
    assert bool(died.all())
    assert np.asarray(after.timestep).tolist() == [501] * BATCH
    assert np.asarray(after.player_position).tolist() == [[32, 33]] * BATCH
    cells = np.asarray(observe(after))[:, : 7 * 9 * 21].reshape(BATCH, 7, 9, 21)
    assert (cells[:, 3, 4, BlockType.LAVA.value] == 1).all()
    later, still_dead, _ = advance(keys, after, actions(Action.NOOP))
    assert bool(still_dead.all())
    assert np.asarray(later.timestep).tolist() == [502] * BATCH


def test_a_reset_is_a_function_of_its_key(classic: CraftaxClassic, moves: Moves) -> None:
    again = jax.jit(jax.vmap(classic.reset))(moves.keys)
    assert same(again, moves.fresh)
    maps = np.asarray(moves.fresh.map).reshape(BATCH, -1)
    assert len({row.tobytes() for row in maps}) == BATCH
    assert np.asarray(moves.fresh.timestep).tolist() == [0] * BATCH


def test_staged_moments_are_varied_and_apt(classic: CraftaxClassic, moves: Moves) -> None:
    assert not bool(moves.before.achievements.any())
    reached = np.asarray(jax.vmap(classic.achievements)(moves.after)).sum(0)
    assert (reached > 0).sum() >= 8
    assert len(set(np.asarray(moves.actions).tolist())) >= 8
    assert EnvParams().max_timesteps > int(moves.before.timestep.max()) > 300


def test_picture_is_deterministic_and_shows_the_player_in_the_middle(classic: CraftaxClassic, moves: Moves) -> None:
    one = jax.tree.map(lambda leaf: leaf[0], moves.before)
    picture = classic.picture(one)
    assert (picture.shape, picture.dtype) == ((144, 144, 3), np.uint8)
    assert (picture == classic.picture(one)).all()
    turned = classic.picture(one.replace(player_direction=one.player_direction % 4 + 1))
    changed = np.argwhere((picture != turned).any(2))
    assert (changed.min(0) >= (48, 64)).all()
    assert (changed.max(0) < (64, 80)).all()


def test_picture_is_black_below_an_empty_bag_and_grey_off_the_map(classic: CraftaxClassic, moves: Moves) -> None:
    one = jax.tree.map(lambda leaf: leaf[0], moves.fresh)
    corner = one.replace(player_position=jnp.array([0, 0], jnp.int32))
    picture = classic.picture(corner)
    outside = picture[:48, :, :]
    assert len(np.unique(outside.reshape(3, 16, 9, 16, 3).transpose(0, 2, 1, 3, 4).reshape(27, -1), axis=0)) == 1
    assert not picture[128:].any()
