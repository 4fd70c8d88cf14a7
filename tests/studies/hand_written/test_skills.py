"""The hand-written skills: accepted, acyclic, and true to the game, where an ideal player turns each into its chain."""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from craftax.craftax_classic.constants import CLOSE_BLOCKS, DIRECTIONS, Action, BlockType

from engine.sharp import emit
from engine.sharp.other_forms.flat import CompiledFlat, parse_flat
from engine.sharp.program import CompiledProgram, parse_program
from engine.sharp.route import route
from engine.sharp.vet import vet
from engine.worlds.craftax_classic import CraftaxClassic
from engine.worlds.craftax_classic.schema import SCHEMA
from ledger.vocabulary.config import Config
from ledger.vocabulary.embed import Embed, Embedded
from ledger.vocabulary.vet import Known, Program
from tests.engine.train.handwritten import vector
from tests.studies.hand_written.loop import Sets, prepared
from tests.studies.hand_written.material import HERE, ORDER, Item, craftax_classic, documents, given, success_only

MATERIAL = {item.name: item for item in craftax_classic()}
NAMES = list(MATERIAL)

REQUIRES: dict[str, tuple[str, ...]] = {
    "GatherWood": (),
    "PlaceTable": ("GatherWood",),
    "MakeWoodPickaxe": ("GatherWood", "PlaceTable"),
    "MakeWoodSword": ("GatherWood", "PlaceTable"),
    "CollectStone": ("MakeWoodPickaxe",),
    "PlaceStone": ("CollectStone",),
    "MakeStonePickaxe": ("MakeWoodPickaxe", "GatherWood", "CollectStone", "PlaceTable"),
    "MakeStoneSword": ("MakeWoodPickaxe", "GatherWood", "CollectStone", "PlaceTable"),
    "CollectCoal": ("MakeWoodPickaxe",),
    "PlaceFurnace": ("CollectStone",),
    "CollectIron": ("MakeStonePickaxe",),
    "MakeIronPickaxe": ("CollectIron", "CollectCoal", "GatherWood", "CollectStone", "PlaceTable", "PlaceFurnace"),
    "CollectDiamond": ("MakeIronPickaxe",),
    "DrinkWater": (),
    "HitCow": (),
    "EatCow": ("HitCow",),
    "CollectSapling": (),
    "PlantSapling": ("CollectSapling",),
}


def compiled(text: str) -> CompiledProgram:
    program = parse_program(text, SCHEMA)
    assert isinstance(program, CompiledProgram), program
    return program


PROGRAMS = {name: compiled(item.skill) for name, item in MATERIAL.items()}


# --- the texts -------------------------------------------------------------------------------------------------------


def test_the_files_are_the_skills_that_are_listed() -> None:
    for folder in ("skills", "chains"):
        assert sorted(file.name for file in (HERE / folder).iterdir()) == sorted(f"{name}.sharp" for name in ORDER)
    assert {name: program.name for name, program in PROGRAMS.items()} == {name: name for name in ORDER}


def test_the_chain_is_the_intended_one_and_acyclic() -> None:
    found = {name: tuple(each.prerequisite for each in program.requires) for name, program in PROGRAMS.items()}
    assert found == REQUIRES
    for place, name in enumerate(NAMES):
        assert set(REQUIRES[name]) <= set(NAMES[:place]), f"{name} stands before one of its prerequisites"


def test_everything_passes_the_vetting_of_a_run() -> None:
    loop = prepared(craftax_classic(), SCHEMA, Config())
    outcome: Any = None
    while True:
        try:
            asked = loop.send(outcome)
        except StopIteration as stop:
            sets: Sets = stop.value
            break
        if isinstance(asked, Embed):
            outcome = Embedded(8, tuple(vector(text) for text in asked.texts))
        else:
            outcome = vet(asked, SCHEMA)
            assert isinstance(outcome.program, Program), outcome.refusal
            assert not outcome.program.warnings
            assert not outcome.program.normalisations
    assert [skill.name for skill in sets.skills] == NAMES
    assert {skill.name: skill.requires for skill in sets.skills} == REQUIRES
    assert all(skill.requires == () for skill in sets.goals)
    assert [skill.vector for skill in sets.goals] == [skill.vector for skill in sets.chains]


@pytest.mark.parametrize("name", NAMES)
def test_a_goal_is_the_success_condition_and_nothing_else(name: str) -> None:
    goal = compiled(MATERIAL[name].goal)
    assert goal.success.digest == PROGRAMS[name].success.digest
    assert goal.requires == ()
    assert goal.description == PROGRAMS[name].description
    assert "requires" not in MATERIAL[name].goal


def test_conditions_go_and_helpers_stay() -> None:
    text = (
        "class A(Sharp):\n    LEAST = 2\n\n    def success(self, state):\n        return self.rich(state)\n\n"
        "    def rich(self, state):\n        return state.inventory.wood > self.LEAST\n\n"
        "    def armed(self, state):\n        return state.inventory.wood_sword > 0\n\n"
        '    requires = [(armed, "B"), (lambda self, state: True, "C")]\n'
    )
    assert success_only(text) == text[: text.index("    def armed")].rstrip() + "\n"
    with pytest.raises(ValueError, match="one class"):
        success_only("x = 1\n")


def test_a_ledger_gives_the_material_back() -> None:
    assert given(documents("routed", craftax_classic())) == ("routed", craftax_classic())
    assert given(documents("routed", ())) == ("routed", ())
    assert isinstance(craftax_classic()[0], Item)


# --- in the game -----------------------------------------------------------------------------------------------------


class Player:
    """The real game, in which everything is at hand: trees, stone or an animal stand where the player looks.

    What is gathered is far from what was built: going there leaves tables and furnaces behind.
    """

    FRONT: ClassVar[dict[str, BlockType]] = {
        "GatherWood": BlockType.TREE,
        "CollectStone": BlockType.STONE,
        "CollectCoal": BlockType.COAL,
        "CollectIron": BlockType.IRON,
        "CollectDiamond": BlockType.DIAMOND,
        "DrinkWater": BlockType.WATER,
    }
    ACTIONS: ClassVar[dict[str, Action]] = {
        "PlaceTable": Action.PLACE_TABLE,
        "PlaceStone": Action.PLACE_STONE,
        "PlaceFurnace": Action.PLACE_FURNACE,
        "PlantSapling": Action.PLACE_PLANT,
        "MakeWoodPickaxe": Action.MAKE_WOOD_PICKAXE,
        "MakeWoodSword": Action.MAKE_WOOD_SWORD,
        "MakeStonePickaxe": Action.MAKE_STONE_PICKAXE,
        "MakeStoneSword": Action.MAKE_STONE_SWORD,
        "MakeIronPickaxe": Action.MAKE_IRON_PICKAXE,
    }

    def __init__(self) -> None:
        self.world = CraftaxClassic()
        self.step = jax.jit(self.world.step)
        evaluate = emit.predicates(list(PROGRAMS.values()), SCHEMA)
        self._evaluate = jax.jit(lambda after, before: evaluate(self.world.view(after), self.world.view(before)))

    @cached_property
    def start(self) -> Any:
        """On a meadow without end or animals, with empty pockets."""
        state = jax.jit(self.world.reset)(jax.random.key(0))
        return self.alone(state).replace(map=jnp.full_like(state.map, BlockType.GRASS.value))

    @staticmethod
    def alone(state: Any) -> Any:
        """No animal is near, and nothing is lacking but a little water and food."""
        mobs = {name: getattr(state, name) for name in ("zombies", "cows", "skeletons", "arrows")}
        gone = {name: each.replace(mask=jnp.zeros_like(each.mask)) for name, each in mobs.items()}
        return state.replace(
            **gone,
            mob_map=jnp.zeros_like(state.mob_map),
            player_health=jnp.int32(9),
            player_food=jnp.int32(5),
            player_drink=jnp.int32(5),
        )

    def truth(self, after: Any, before: Any) -> tuple[dict[str, bool], dict[str, tuple[bool, ...]]]:
        """Success of every skill on a transition, and its conditions after it."""
        success, conditions = (np.asarray(each) for each in self._evaluate(after, before))
        return (
            {name: bool(held) for name, held in zip(NAMES, success, strict=True)},
            {
                name: tuple(bool(held) for held in row[: len(REQUIRES[name])])
                for name, row in zip(NAMES, conditions, strict=True)
            },
        )

    def active(self, target: str, state: Any) -> str:
        """T."""
        return route(target, REQUIRES, self.truth(state, state)[1])

    def pursue(self, name: str, state: Any, seed: int) -> tuple[Any, Any]:
        """The game before and after the one action that suits a skill."""
        before = self.facing_something_else(self.alone(state))
        front = before.player_position + DIRECTIONS[before.player_direction]
        block = before.map
        if name not in self.ACTIONS:
            away = (block == BlockType.CRAFTING_TABLE.value) | (block == BlockType.FURNACE.value)
            block = jnp.where(away, BlockType.GRASS.value, block)
        if name not in self.ACTIONS or name.startswith(("Place", "Plant")):
            block = block.at[front[0], front[1]].set(self.FRONT.get(name, BlockType.GRASS).value)
        before = before.replace(map=block)
        if name in ("HitCow", "EatCow"):  # the same cow each time, as weak as it was left
            cows = before.cows.replace(
                position=before.cows.position.at[0].set(front), mask=before.cows.mask.at[0].set(True)
            )
            before = before.replace(cows=cows, mob_map=before.mob_map.at[front[0], front[1]].set(True))
        action = self.ACTIONS.get(name, Action.DO)
        after, died, timed_out = self.step(jax.random.key(seed), before, jnp.int32(action.value))
        assert not died
        assert not timed_out
        return before, after

    @staticmethod
    def facing_something_else(state: Any) -> Any:
        """Turned to a side where neither a table nor a furnace stands, so that nothing is built over."""
        for direction in (Action.LEFT, Action.RIGHT, Action.UP, Action.DOWN):
            row, column = state.player_position + DIRECTIONS[direction.value]
            if int(state.map[row, column]) not in (BlockType.CRAFTING_TABLE.value, BlockType.FURNACE.value):
                return state.replace(player_direction=jnp.int32(direction.value))
        raise AssertionError("tables and furnaces all around")

    def play(self, target: str) -> list[str]:
        """The skills that succeed one after the other while T leads to the target."""
        state, done = self.start, []
        for seed in range(200):
            active = self.active(target, state)
            before, state = self.pursue(active, state, seed)
            success, _ = self.truth(state, before)
            if success[active]:
                done.append(active)
                if active == target:
                    return done
            else:
                assert active == "CollectSapling", f"{active} was done and did not succeed"
        raise AssertionError(f"{target} was not reached: {done}")


@pytest.fixture(scope="module")
def player() -> Player:
    return Player()


@pytest.mark.parametrize("name", NAMES)
def test_an_ideal_player_turns_a_skill_into_its_flat_chain(player: Player, name: str) -> None:
    """So every success condition fires in the game, every cost is covered, and no chain is misspecified."""
    known = tuple(Known(each, "", "", REQUIRES[each]) for each in NAMES)
    flat = parse_flat(MATERIAL[name].chain, SCHEMA, known)
    assert isinstance(flat, CompiledFlat), flat
    assert (flat.name, flat.description) == (name, PROGRAMS[name].description)
    assert flat.warnings == flat.normalisations == ()
    assert list(flat.chain) == player.play(name)


def test_nothing_holds_at_the_start_and_everything_once_it_is_at_hand(player: Player) -> None:
    success, conditions = player.truth(player.start, player.start)
    assert not any(success.values())
    assert not any(held for row in conditions.values() for held in row)
    rich = equipped(player, dict.fromkeys(("wood", "stone", "coal", "iron", "sapling"), 9), table=True, furnace=True)
    pickaxes = {f"{kind}_pickaxe": 1 for kind in ("wood", "stone", "iron")}
    rich = with_inventory(rich, pickaxes)
    rich = rich.replace(cows=rich.cows.replace(mask=jnp.ones(3, bool), health=jnp.ones(3, jnp.int32)))
    success, conditions = player.truth(rich, rich)
    assert not any(success.values()), "a success condition holds without a transition"
    assert all(held for row in conditions.values() for held in row)


def with_inventory(state: Any, items: dict[str, int]) -> Any:
    return state.replace(inventory=state.inventory.replace(**{name: jnp.int32(count) for name, count in items.items()}))


def equipped(player: Player, items: dict[str, int], *, table: bool = False, furnace: bool = False) -> Any:
    state = with_inventory(player.start, items)
    for index, (there, block) in enumerate(((table, BlockType.CRAFTING_TABLE), (furnace, BlockType.FURNACE))):
        row, column = state.player_position + jnp.asarray(CLOSE_BLOCKS)[2 * index]
        if there:
            state = state.replace(map=state.map.at[row, column].set(block.value))
    return state


TOOLS = {"wood_pickaxe": 1, "stone_pickaxe": 1}


@pytest.mark.parametrize(
    ("target", "items", "near", "active"),
    [
        # a table costs two pieces of wood, and one is needed to craft with
        ("MakeWoodPickaxe", {"wood": 2}, "", "GatherWood"),
        ("MakeWoodPickaxe", {"wood": 3}, "", "PlaceTable"),
        ("MakeWoodPickaxe", {"wood": 1}, "table", "MakeWoodPickaxe"),
        ("MakeWoodPickaxe", {}, "table", "GatherWood"),
        # without a table in reach the player does not go back to an old one but gathers for another
        ("MakeStonePickaxe", {"wood_pickaxe": 1, "wood": 1, "stone": 1}, "", "GatherWood"),
        ("MakeStonePickaxe", {"wood_pickaxe": 1, "wood": 3}, "", "CollectStone"),
        ("MakeStonePickaxe", {"wood_pickaxe": 1, "wood": 1, "stone": 1}, "table", "MakeStonePickaxe"),
        # the furnace costs a stone as well
        ("MakeIronPickaxe", {**TOOLS, "iron": 1, "coal": 1, "wood": 3, "stone": 1}, "", "CollectStone"),
        ("MakeIronPickaxe", {**TOOLS, "iron": 1, "coal": 1, "wood": 3, "stone": 2}, "", "PlaceTable"),
        ("MakeIronPickaxe", {**TOOLS, "iron": 1, "coal": 1, "wood": 1, "stone": 2}, "table", "PlaceFurnace"),
        ("MakeIronPickaxe", {**TOOLS, "iron": 1, "coal": 1, "wood": 1, "stone": 1}, "table furnace", "MakeIronPickaxe"),
        ("MakeIronPickaxe", {**TOOLS, "coal": 1, "wood": 1, "stone": 1}, "table furnace", "CollectIron"),
        # T goes all the way down: nothing but a table and some wood is there
        ("CollectDiamond", {"wood": 1}, "table", "MakeWoodPickaxe"),
        ("CollectDiamond", {**TOOLS, "iron": 1}, "", "CollectCoal"),
    ],
)
def test_t_in_constructed_states(player: Player, target: str, items: dict[str, int], near: str, active: str) -> None:
    state = equipped(player, items, table="table" in near, furnace="furnace" in near)
    assert player.active(target, state) == active


@pytest.mark.parametrize(
    ("action", "held"),
    [(Action.LEFT, False), (Action.PLACE_TABLE, True)],
)
def test_turning_towards_a_table_does_not_place_one(player: Player, action: Action, held: bool) -> None:
    state = with_inventory(player.start, {"wood": 5})
    if action is Action.LEFT:
        left = state.player_position + DIRECTIONS[Action.LEFT.value]
        state = state.replace(
            map=state.map.at[left[0], left[1]].set(BlockType.CRAFTING_TABLE.value),
            player_direction=jnp.int32(Action.RIGHT.value),
        )
    after, _, _ = player.step(jax.random.key(0), state, jnp.int32(action.value))
    assert player.truth(after, state)[0]["PlaceTable"] is held
