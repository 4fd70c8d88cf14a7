"""Sampled views: pinned, inside one episode each, and rich enough to judge a condition by."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from attrs import frozen

from engine.worlds.craftax_classic import CraftaxClassic
from engine.worlds.sampling import sampled_views
from tests.tiny_worlds import DOOR_CELL, MOVES, Corridor, CorridorState


@frozen
class StagedCorridor(Corridor):
    """A corridor that can stage the moment before the door is opened."""

    def stage(self, key: jax.Array, state: CorridorState) -> tuple[CorridorState, jax.Array]:
        del key
        position, keys = jnp.int32(DOOR_CELL - 1), jnp.int32(1)
        return state._replace(position=position, keys=keys), jnp.int32(MOVES["OPEN"])


def rows(view: Any) -> list[tuple[Any, ...]]:
    flat = [np.asarray(leaf).tolist() for leaf in jax.tree.leaves(view)]
    return list(zip(*flat, strict=True))


def test_shapes_and_first_states() -> None:
    views = sampled_views(Corridor(), 0, resets=5, episodes=4, steps=3)
    assert {leaf.shape[0] for leaf in jax.tree.leaves(views.resets)} == {5}
    assert {leaf.shape[0] for leaf in jax.tree.leaves((views.previous, views.current))} == {12}
    assert views.resets["cells"].shape == (5, 8)
    assert views.resets["position"].tolist() == [1] * 5
    assert views.previous["position"][:4].tolist() == [1] * 4


def test_every_pair_is_one_step_of_the_world() -> None:
    """Each transition of the corridor, deterministic as it is, follows from its previous view under some action."""
    world = Corridor()
    views = sampled_views(world, 1, resets=1, episodes=16, steps=12)
    start = world.reset(jax.random.key(0))
    step = jax.jit(world.step)
    for before, after in zip(rows(views.previous), rows(views.current), strict=True):
        keys, cells, is_open, lit, position, warmth = before
        state = start._replace(
            position=jnp.int32(position),
            cells=jnp.asarray(cells, jnp.int32),
            keys=jnp.int32(keys),
            door_open=jnp.bool_(is_open),
            lamp_lit=jnp.bool_(lit),
            warmth=jnp.float32(warmth),
        )
        reachable = []
        for action in MOVES.values():
            following, _, _ = step(jax.random.key(0), state, jnp.int32(action))
            reachable += rows(jax.tree.map(lambda leaf: leaf[None], world.view(following)))
        assert after in reachable


def test_an_ended_episode_keeps_its_last_view_and_starts_over() -> None:
    views = sampled_views(Corridor(time_limit=2), 0, resets=1, episodes=8, steps=6)
    warm_before = np.asarray(views.previous["warmth"]).reshape(6, 8)
    warm_after = np.asarray(views.current["warmth"]).reshape(6, 8)
    assert (warm_after == warm_before - 1 / 64).all()
    assert set(warm_before[1::2].ravel().tolist()) <= {1.0, 1 - 1 / 64}
    assert (warm_before.min(), warm_after.min()) == (1 - 1 / 64, 1 - 2 / 64)
    fallen_or_late = warm_after == 1 - 2 / 64
    assert (warm_before[1:][fallen_or_late[:-1]] == 1.0).all()


def test_three_of_four_episodes_open_with_a_staged_moment() -> None:
    views = sampled_views(StagedCorridor(), 0, resets=4, episodes=8, steps=2)
    first = slice(0, 8)
    staged = [True, True, True, False] * 2
    assert (np.asarray(views.previous["bag"]["keys"])[first] == 1).tolist() == staged
    assert np.asarray(views.current["door_open"])[first].tolist() == staged
    assert views.resets["position"].tolist() == [1] * 4


def test_a_seed_pins_everything_and_another_differs() -> None:
    world = Corridor(random_start=True)
    first = sampled_views(world, 3, resets=16, episodes=16, steps=4)
    assert sampled_views(world, 3, resets=16, episodes=16, steps=4) is first
    assert rows(sampled_views(Corridor(), 3, resets=16, episodes=16, steps=4).current) != rows(first.current)
    again = sampled_views(Corridor(random_start=True, time_limit=41), 3, resets=16, episodes=16, steps=4)
    assert again is not first
    assert rows(again.current) == rows(first.current)
    other = sampled_views(world, 4, resets=16, episodes=16, steps=4)
    assert rows(other.current) != rows(first.current)


@pytest.mark.parametrize("wrong", [{"resets": 0}, {"episodes": 0}, {"steps": 0}, {"seed": -1}])
def test_counts_are_checked(wrong: dict[str, int]) -> None:
    arguments = {"seed": 0, "resets": 1, "episodes": 1, "steps": 1} | wrong
    with pytest.raises(ValueError, match="at least one reset"):
        sampled_views(Corridor(), **arguments)


def test_craftax_samples_show_late_moments_that_resets_do_not(classic: CraftaxClassic) -> None:
    views = sampled_views(classic, 0)
    before, after = views.previous, views.current
    assert int(views.resets["inventory"]["wood"].sum()) == 0
    gained = [int((after["inventory"][name] > before["inventory"][name]).sum()) for name in after["inventory"]]
    assert sum(count > 0 for count in gained) >= 6
    assert int((before["inventory"]["iron_pickaxe"] > 0).sum()) >= 20
    assert bool((before["is_sleeping"] & ~after["is_sleeping"]).any())
    assert bool((after["player_health"] == 0).any())
    killed = [(before[kind]["mask"] & ~after[kind]["mask"]).any() for kind in ("zombies", "cows", "skeletons")]
    assert all(map(bool, killed))
