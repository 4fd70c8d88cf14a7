"""Programs written from the schema are accepted, and mean on real states what they say."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from craftax.craftax.constants import Action

from engine.sharp.editions import LATEST
from engine.sharp.emit import predicates
from engine.sharp.program import CompiledProgram, parse_program
from engine.sharp.sampled import SampledViews
from engine.sharp.sharing import check_archive
from engine.sharp.vet import vet
from engine.worlds.craftax import Craftax
from engine.worlds.craftax.schema import SCHEMA
from engine.worlds.sampling import sampled_views
from ledger.vocabulary.body import Body
from ledger.vocabulary.path import Path
from ledger.vocabulary.vet import Known, Vet, Vetted
from tests.engine.worlds.craftax.conftest import Moves
from tests.engine.worlds.craftax.programs import PROGRAMS


def name_of(source: str) -> str:
    """The class name of a program."""
    return source.split("class ", 1)[1].split("(", 1)[0]


NAMES = tuple(map(name_of, PROGRAMS))


@pytest.fixture(scope="module")
def programs() -> list[CompiledProgram]:
    parsed = [parse_program(source, SCHEMA) for source in PROGRAMS]
    for program in parsed:
        assert isinstance(program, CompiledProgram), program
    return [program for program in parsed if isinstance(program, CompiledProgram)]


@pytest.fixture(scope="module")
def views(moves: Moves, look: Any) -> SampledViews:
    """What the sampling of this world takes, from states that are there already."""
    return SampledViews(look(moves.fresh), look(moves.before), look(moves.after))


@pytest.fixture(scope="module")
def truths(programs: list[CompiledProgram], views: SampledViews) -> tuple[np.ndarray, np.ndarray]:
    success, conditions = jax.jit(jax.vmap(predicates(programs, SCHEMA)))(views.current, views.previous)
    return np.asarray(success), np.asarray(conditions)


def vetted_in_order(views: SampledViews) -> list[Vetted]:
    """Every program is vetted against an archive of those before it."""
    archive: tuple[Known, ...] = ()
    verdicts = []
    for source in PROGRAMS:
        verdict = vet(Vet(Path("p"), "craftax", LATEST.label, Body(source), archive), SCHEMA, views)
        assert verdict.program is not None, verdict.refusal
        verdicts.append(verdict)
        requires = tuple(item.prerequisite for item in verdict.program.requires)
        archive += (Known(verdict.program.name, verdict.program.meaning, verdict.program.requires_meaning, requires),)
    return verdicts


def test_all_are_accepted_without_warnings(views: SampledViews) -> None:
    for verdict in vetted_in_order(views):
        assert verdict.program is not None
        assert verdict.program.warnings == (), verdict.program.name
        assert verdict.sampled is not None
        assert verdict.sampled.success_at_reset == 0
        assert 0 < verdict.sampled.success_visited < verdict.sampled.visited


def test_true_and_false_both_occur(truths: tuple[np.ndarray, np.ndarray], programs: list[CompiledProgram]) -> None:
    success, conditions = truths
    assert dict(zip(NAMES, success.any(0).tolist(), strict=True)) == dict.fromkeys(NAMES, True)
    assert dict(zip(NAMES, success.all(0).tolist(), strict=True)) == dict.fromkeys(NAMES, False)
    for index, program in enumerate(programs):
        for place in range(len(program.conditions)):
            assert set(conditions[:, index, place].tolist()) == {False, True}, (program.name, place)


def test_they_agree_with_the_game_on_real_states(truths: tuple[np.ndarray, np.ndarray], moves: Moves) -> None:
    """Written once more, in numpy, on the package's own states."""
    success = dict(zip(NAMES, truths[0].T, strict=True))
    before, after = (jax.tree.map(np.asarray, states) for states in (moves.before, moves.after))
    action = np.asarray(moves.actions)
    assert (success["Descend"] == (after.player_level > before.player_level)).all()
    assert (success["HitNecromancer"] == (after.boss_progress > before.boss_progress)).all()
    drunk = after.inventory.potions < before.inventory.potions
    assert (success["DrinkPotion"] == (drunk & (before.potion_mapping <= 3)).any(1)).all()
    assert (success["OpenFirstChest"] == (after.chests_opened & ~before.chests_opened).any(1)).all()
    assert (success["MineSapphire"] <= (action == Action.DO.value)).all()
    assert (success["EnchantSword"] <= (action == Action.ENCHANT_SWORD.value)).all()
    enchanted = np.flatnonzero(success["EnchantSword"])
    gems = before.inventory.ruby + before.inventory.sapphire - after.inventory.ruby - after.inventory.sapphire
    assert (gems[enchanted] == 1).all()
    shot = np.flatnonzero(success["ShootSnail"])
    assert set(action[shot].tolist()) == {Action.SHOOT_ARROW.value}
    assert set(before.player_level[shot].tolist()) <= {1, 3, 4}


def test_the_whole_archive_is_within_its_budget(programs: list[CompiledProgram]) -> None:
    check_archive(programs, SCHEMA)


def test_nothing_that_is_withheld_can_be_read() -> None:
    for field in ("achievements", "state_rng", "timestep", "fractal_noise_angles"):
        source = 'class Peek(Sharp):\n    """Peek."""\n\n    def success(self, state, previous):\n        '
        refused = parse_program(source + f"return jnp.sum(state.{field}) > 0\n", SCHEMA)
        assert not isinstance(refused, CompiledProgram)
        assert field in refused.reason


@pytest.mark.slow
def test_all_are_accepted_on_sampled_states(full: Craftax) -> None:
    views = sampled_views(full, 0)
    assert jax.tree.leaves(views.resets)[0].shape[0] == 256
    occurred = {
        verdict.program.name: verdict.sampled.success_visited
        for verdict in vetted_in_order(views)
        if verdict.program is not None and verdict.sampled is not None
    }
    assert sum(count > 0 for count in occurred.values()) >= len(PROGRAMS) - 2, occurred
    assert jnp.asarray(views.current["player_level"]).shape == (1024,)
