"""The schema of Craftax: all of the state but what is withheld, honest ranges, the package's own names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from craftax.craftax import constants
from craftax.craftax.craftax_state import EnvParams, EnvState, Inventory, Mobs, StaticEnvParams

from engine.worlds.craftax import names, schema
from engine.worlds.craftax.schema import SCHEMA, WITHHELD
from engine.worlds.schema import Field, Group
from tests.engine.worlds.craftax.conftest import PLAYED, Moves

MOBS = ("melee_mobs", "passive_mobs", "ranged_mobs", "mob_projectiles", "player_projectiles")


def leaves(group: Group, view: Any, path: str = "") -> Iterator[tuple[str, Field, Any]]:
    assert set(view) == set(group.members), path
    for name, member in group.members.items():
        if isinstance(member, Field):
            yield f"{path}{name}", member, view[name]
        else:
            yield from leaves(member, view[name], f"{path}{name}.")


def test_every_field_of_the_package_is_declared_or_withheld() -> None:
    declared = set(SCHEMA.state.members)
    assert declared | set(WITHHELD) == set(EnvState.__dataclass_fields__)
    assert declared.isdisjoint(WITHHELD)
    for name, package in (("inventory", Inventory), *((name, Mobs) for name in MOBS)):
        group = SCHEMA.state.members[name]
        assert isinstance(group, Group)
        assert set(group.members) == set(package.__dataclass_fields__)


def test_the_numbers_of_the_schema_are_the_packages() -> None:
    params, static = EnvParams(), StaticEnvParams()
    assert schema.MAP == (static.num_levels, *static.map_size)
    assert names.STEPS == params.max_timesteps
    assert params.max_attribute == 5
    assert float(constants.MOB_TYPE_HEALTH_MAPPING.max()) == schema.TOUGHEST


def test_views_have_the_declared_types_and_ranges(moves: Moves, played: list[Any], look: Any) -> None:
    views = [look(states) for states in (moves.fresh, moves.before, moves.after)] + played
    assert len(views) == 3 + PLAYED
    for view in views:
        for path, declared, value in leaves(SCHEMA.state, view):
            assert (str(value.dtype), value.shape[1:]) == (declared.dtype, declared.shape), path
            assert not value.weak_type, path
            assert (declared.minimum is None) == (declared.maximum is None) == (declared.dtype == "bool"), path
            if declared.minimum is not None and declared.maximum is not None:
                low, high = float(np.min(value)), float(np.max(value))
                assert declared.minimum <= low <= high <= declared.maximum, path


def test_what_the_schema_calls_unused_never_changes(moves: Moves, played: list[Any], look: Any) -> None:
    unused = {path for path, declared, _ in leaves(SCHEMA.state, look(moves.fresh)) if "not used" in declared.meaning}
    unused |= {"mob_projectiles.health", "player_projectiles.health"}
    assert len(unused) == 5
    first = {path: np.unique(value) for path, _, value in leaves(SCHEMA.state, look(moves.fresh)) if path in unused}
    for view in (look(moves.after), played[-1]):
        for path, _, value in leaves(SCHEMA.state, view):
            if path in unused:
                assert np.unique(value).tolist() == first[path].tolist(), path


def test_enums_and_constants_are_the_packages() -> None:
    packages = ("BlockType", "ItemType", "Action", "MobType", "ProjectileType")
    for name in packages:
        theirs = {member.name: member.value for member in getattr(constants, name)}
        assert dict(SCHEMA.enums[name].members) == theirs
    for name, constant in SCHEMA.constants.items():
        theirs = np.asarray(getattr(constants, name))
        assert np.array_equal(np.asarray(constant.values, constant.dtype), theirs.astype(constant.dtype))
        assert np.array_equal(theirs.astype(constant.dtype), theirs), "nothing is lost in the declared type"
        assert np.asarray(constant.values).shape == constant.shape == theirs.shape


def test_the_names_of_creatures_and_floors_are_those_that_the_package_scores_by() -> None:
    """The package numbers creatures; it names them where it scores, with other words for two of them."""
    by_value = {item.value: item.name for item in constants.Achievement}
    words = {"ORC_SOLDIER": "ORC_SOLIDER", "KNIGHT_ARCHER": "ARCHER"}
    for row, enum, verb in ((0, "PassiveMob", "EAT"), (1, "MeleeMob", "DEFEAT"), (2, "RangedMob", "DEFEAT")):
        for name, value in SCHEMA.enums[enum].members.items():
            scored = by_value[int(constants.MOB_ACHIEVEMENT_MAP[row][value])]
            assert scored == f"{verb}_{words.get(name, name)}"
    for name, value in SCHEMA.enums["Level"].members.items():
        if value:
            scored = by_value[int(constants.LEVEL_ACHIEVEMENT_MAP[value])]
            assert scored == f"ENTER_{name.removesuffix('S') if name == 'VAULTS' else name}"
    assert list(SCHEMA.enums["Level"].members.values()) == list(range(9))
    potions = [action.name.removeprefix("DRINK_POTION_") for action in constants.Action if "POTION" in action.name]
    assert list(SCHEMA.enums["Potion"].members) == potions


def test_every_meaning_is_told() -> None:
    from engine.sharp.reference import world_names

    shown = world_names(SCHEMA)
    for name in (*SCHEMA.enums, *SCHEMA.constants, *SCHEMA.helpers, *SCHEMA.state.members):
        assert f"`{name}" in shown
    assert not any(word in shown for word in ("achievement", "reward", "state_rng", "`timestep", "fractal_noise"))
    assert len(shown) < 20_000
