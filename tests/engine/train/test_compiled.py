"""What is compiled again and what is not, and that the bits do not depend on what was compiled before."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import jax
import pytest
from attrs import evolve

from engine.train.compiled import Compiled
from engine.train.core import TrainingCore
from engine.train.predicates import Predicates
from engine.worlds.registry import world
from ledger.vocabulary.config import Agent, Ppo, Routing
from ledger.vocabulary.evaluate import Evaluate, Evaluated, Target
from ledger.vocabulary.path import Path
from ledger.vocabulary.train import UNTRAINED, Skill, Train
from tests.engine.train import test_craftax
from tests.engine.train.effects import GTRXL, MLP, PER_ROLLOUT, ROUTING, SKILLS, program, train
from tests.tiny_worlds import PROGRAMS, Corridor

HARDER = PROGRAMS["LightLamp"].replace("return state.door_open", "return state.door_open and state.position > 5")


def stands(cell: int) -> Skill:
    """A skill with a goal that no other has."""
    text = f'class StandOn{cell}(Sharp):\n    """Stand on cell {cell}."""\n\n    def success(self, state, previous):\n'
    return program(f"StandOn{cell}", source=f"{text}        return state.position == {cell}\n")


CANDIDATES = (stands(3), stands(4))


def run(core: TrainingCore, effect: Train) -> str:
    return core.train(effect, None, progress=lambda *_: None, stop=lambda: False)[0].parameters_sha256


def evaluate(core: TrainingCore, archive: tuple[Skill, ...], *targets: Skill, episodes: int = 8) -> Evaluated:
    wanted = tuple(Target(skill.name, skill) for skill in targets)
    names = (Path("evaluate"), UNTRAINED, core.world.name)
    effect = Evaluate(*names, archive, wanted, episodes, 30, 5, Path("evaluate"), MLP, ROUTING)
    return core.evaluate(effect, None, progress=lambda *_: None, stop=lambda: False)


Counted = Callable[[Callable[[], Any]], list[str]]


@pytest.fixture
def compiled() -> Iterator[Counted]:
    """Calls something and tells which functions of the core were compiled for it."""
    names: list[str] = []

    def listen(event: str, duration_secs: float, **details: Any) -> None:
        if event == "/jax/core/compile/backend_compile_duration":
            names.append(str(details["fun_name"]))

    def count(call: Callable[[], Any]) -> list[str]:
        names.clear()
        call()
        return [each for name in names for each in ("rollout", "update", "attempts") if each in name]

    jax.monitoring.register_event_duration_secs_listener(listen)
    yield count
    jax.monitoring.unregister_event_duration_listener(listen)


@pytest.fixture(scope="module")
def fresh() -> TrainingCore:
    """A core that has compiled one rollout and one update, for the three skills of the corridor."""
    core = TrainingCore(Corridor(), evaluation_lanes=8)
    run(core, train(steps=1))
    return core


def test_rewiring_compiles_nothing(fresh: TrainingCore, compiled: Counted) -> None:
    """Other prerequisites, rates, names and order of skills."""
    rewired = (program("LightLamp", "TakeKey", successes=3, attempts=4), program("OpenDoor", "TakeKey"), SKILLS[0])
    assert compiled(lambda: run(fresh, train(steps=1, skills=rewired))) == []


def test_another_meaning_compiles_one_rollout(fresh: TrainingCore, compiled: Counted) -> None:
    mutant = program("LightLamp", "OpenDoor", source=HARDER)
    assert compiled(lambda: run(fresh, train(steps=1, skills=(*SKILLS[:2], mutant)))) == ["rollout"]


def test_a_new_skill_compiles_one_rollout(fresh: TrainingCore, compiled: Counted) -> None:
    added = train(steps=1, skills=(*SKILLS, *CANDIDATES))
    assert compiled(lambda: run(fresh, added)) == ["rollout"]
    assert compiled(lambda: run(fresh, added)) == []


def test_a_rejected_candidate_stays_compiled_and_masked(compiled: Counted) -> None:
    """From more skills back to fewer, and to another choice among them, nothing is compiled."""
    core = TrainingCore(Corridor(), evaluation_lanes=8)
    assert compiled(lambda: run(core, train(steps=1, skills=(*SKILLS, *CANDIDATES)))) == ["rollout", "update"]
    assert compiled(lambda: run(core, train(steps=1))) == []
    assert compiled(lambda: run(core, train(steps=1, skills=(*SKILLS, CANDIDATES[1])))) == []
    assert compiled(lambda: run(core, train(steps=1, skills=(*SKILLS, stands(6))))) == ["rollout"]
    assert compiled(lambda: evaluate(core, SKILLS, *CANDIDATES)) == ["attempts"]
    assert compiled(lambda: evaluate(core, SKILLS, CANDIDATES[0])) == []
    assert compiled(lambda: evaluate(core, SKILLS, *SKILLS)) == []


def test_the_number_of_episodes_compiles_nothing(fresh: TrainingCore, compiled: Counted) -> None:
    assert compiled(lambda: evaluate(fresh, SKILLS, SKILLS[0])) == ["attempts"]
    assert compiled(lambda: evaluate(fresh, SKILLS, *SKILLS, episodes=50)) == []


def test_a_ninth_skill_doubles_the_capacity(compiled: Counted) -> None:
    """The update sees the table of embeddings, so a doubling compiles it too; up to 16 skills nothing does any more.

    Back at eight skills the smaller rollout is used again: a draw over more rows takes other random numbers.
    """
    many = (*SKILLS, *(stands(cell) for cell in range(7)))
    core = TrainingCore(Corridor(), evaluation_lanes=8)
    assert compiled(lambda: run(core, train(steps=1, skills=many[:9]))) == ["rollout", "update"]
    assert compiled(lambda: run(core, train(steps=1, skills=many))) == ["rollout"]
    assert compiled(lambda: run(core, train(steps=1, skills=many[:1]))) == ["rollout", "update"]


@pytest.mark.parametrize("agent", [MLP, GTRXL], ids=["mlp", "gtrxl"])
def test_the_bits_do_not_depend_on_what_was_compiled_before(agent: Agent, compiled: Counted) -> None:
    """Training and evaluating the archive, fresh, and after training with candidates that were then rejected."""
    effect = train(network=agent, steps=8 * PER_ROLLOUT)
    alone, after = TrainingCore(Corridor(), evaluation_lanes=8), TrainingCore(Corridor(), evaluation_lanes=8)
    crowded = evolve(effect, skills=(CANDIDATES[1], *SKILLS, CANDIDATES[0]))
    assert run(after, crowded) != run(alone, effect)
    assert compiled(lambda: run(after, effect)) == []
    assert run(after, effect) == run(alone, effect)
    evaluate(after, SKILLS, *CANDIDATES)
    assert evaluate(after, SKILLS, *SKILLS).rows == evaluate(alone, SKILLS, *SKILLS).rows


NEAR_TABLE = '''class StandByTable(Sharp):
    """Stand beside a table with wood, on grass, while it is light."""

    def success(self, state, previous):
        wealthier = state.inventory.wood + state.inventory.sapling > previous.inventory.wood
        return wealthier and (state.map == BlockType.GRASS).sum() > 100 and state.light_level > 0.3

    def table(self, state):
        return is_near_block(state, BlockType.CRAFTING_TABLE)

    requires = [(table, "PlaceTable")]
'''


@pytest.mark.slow
@pytest.mark.parametrize("agent", [Agent(kind="mlp"), Agent(kind="gtrxl", hidden_size=16, **test_craftax.SMALL)])
def test_the_bits_do_not_depend_on_what_was_compiled_before_in_craftax(agent: Agent, compiled: Counted) -> None:
    """With floats in programs, a real observation, and batches that the compiler divides among cores."""
    there = world("craftax_classic")
    archive = test_craftax.SKILLS
    candidate = program("StandByTable", "PlaceTable", source=NEAR_TABLE)
    ppo = Ppo(environments=128, rollout_steps=16, minibatches=4)
    effect = Train(Path("t"), UNTRAINED, there.name, archive, 16_384, 0, agent, ppo, Routing(patience=50))
    alone, after = TrainingCore(there), TrainingCore(there)
    run(after, evolve(effect, skills=(candidate, *archive), steps=1))
    assert compiled(lambda: run(after, effect)) == []
    assert run(after, effect) == run(alone, effect)


# --- the shelf itself ------------------------------------------------------------------------------------------------


def holding(*meanings: str) -> Predicates:
    """Predicates of goals with these meanings."""
    raw = tuple(meaning.encode() for meaning in meanings)
    places = tuple(range(len(raw)))
    return Predicates("".join(meanings), lambda view, _: view["held"], places, ((),) * len(raw), len(raw), raw)


def test_of_several_that_serve_the_one_with_fewest_conditions_does() -> None:
    shelf = Compiled(8)
    for held in ("abx", "abc", "abcd"):
        assert shelf.serving("small", holding(*held), lambda _: lambda: 0)[1].key == held
    assert shelf.serving("small", holding("b"), lambda _: lambda: 0)[1].key == "abc"  # the most recent of two
    assert shelf.serving("small", holding("x"), lambda _: lambda: 0)[1].key == "abx"
    assert shelf.serving("small", holding("b"), lambda _: lambda: 0)[1].key == "abx"
    assert shelf.serving("small", holding("d"), lambda _: lambda: 0)[1].success == (3,)
    assert shelf.serving("large", holding("d"), lambda _: lambda: 0)[1].key == "d"


def test_what_was_not_used_for_longest_is_dropped() -> None:
    shelf = Compiled(2)
    first = shelf.get("first", lambda: lambda: 1)
    shelf.get("second", lambda: lambda: 2)
    assert shelf.get("first", lambda: lambda: 3) is first
    shelf.serving("small", holding("a"), lambda _: lambda: 4)
    assert shelf.get("first", lambda: lambda: 5) is first
    assert shelf.get("second", lambda: lambda: 6)() == 6
