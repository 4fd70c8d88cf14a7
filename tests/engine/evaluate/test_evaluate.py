"""Evaluation: attempts worked out by hand under a script, and what the agents of a core achieve."""

from __future__ import annotations

from functools import cache
from typing import Any

import jax
import numpy as np
import pytest
from attrs import evolve

from engine.evaluate import build_lanes, plan, run_lanes
from engine.train.core import Stopped, TrainingCore
from engine.train.tables import assemble
from ledger.vocabulary.config import Agent, Routing
from ledger.vocabulary.evaluate import Evaluate, Evaluated, EvaluationRow, Target
from ledger.vocabulary.path import Path
from ledger.vocabulary.train import UNTRAINED, Skill
from tests.engine.train.effects import MLP, SKILLS, program
from tests.engine.train.handwritten import CHAIN, Scripted, compile_handwritten, skill
from tests.tiny_worlds import PROGRAMS, SHORTEST, Corridor

WAIT, LEFT, RIGHT = 0, 1, 2
LANES = 4


def effect(targets: tuple[Target, ...], **changes: Any) -> Evaluate:
    values = {
        "path": Path("evaluate"),
        "agent": UNTRAINED,
        "world": "corridor",
        "archive": CHAIN,
        "targets": targets,
        "episodes": 5,
        "horizon": 30,
        "seed": 0,
        "keys": Path("keys"),
        "network": MLP,
        "routing": Routing(patience=10),
        **changes,
    }
    return Evaluate(**values)


def targets_of(*skills: Skill) -> tuple[Target, ...]:
    return tuple(Target(item.name, item) for item in skills)


def scripted(wanted: Evaluate, script: tuple[int, ...], time_limit: int = 40) -> tuple[tuple[EvaluationRow, ...], int]:
    """Evaluate a script of actions with handwritten predicates on four lanes."""
    world = Corridor(time_limit=time_limit)
    skills, prerequisite, shape = plan(wanted)
    predicates = compile_handwritten([item.source.text for item in skills], world.schema)
    blank = np.zeros(len(skills))
    tables = assemble(skills, predicates, prerequisite, shape, blank, blank)
    run = compiled(script, tuple(item.source.text for item in skills), shape, time_limit)
    return run_lanes(run, world, wanted, (), (), tables, lambda *_: None, lambda: False, LANES)


@cache
def compiled(script: tuple[int, ...], sources: tuple[str, ...], shape: Any, time_limit: int) -> Any:
    world = Corridor(time_limit=time_limit)
    predicates = compile_handwritten(sources, world.schema)
    return jax.jit(build_lanes(world, Scripted(script), predicates, shape, LANES))


def test_the_shortest_way_by_hand() -> None:
    """Key after 2 steps, door after 5, lamp after 9: five episodes each, on four lanes, take 5 * 16 steps.

    Flags are those set when the attempt ends: the key's attempts never get to the door.
    """
    rows, steps = scripted(effect(targets_of(*CHAIN)), (*SHORTEST, WAIT))
    assert rows == (
        EvaluationRow("TakeKey", 5, 5, (5, 0, 0)),
        EvaluationRow("OpenDoor", 5, 5, (5, 5, 0)),
        EvaluationRow("LightLamp", 5, 5, (5, 5, 5)),
    )
    assert steps == 5 * (2 + 5 + 9)


@pytest.mark.parametrize(
    ("horizon", "patience", "successes", "flags", "steps"),
    [
        # The lamp is lit by step 9: a horizon of nine steps is enough, of eight it is not.
        (9, 10, 5, (5, 5, 5), 45),
        (8, 10, 0, (5, 5, 0), 40),
        # Key at step 2, door at 5, lamp at 9: four idle steps at most. A patience of four bears that, of three not.
        (30, 4, 5, (5, 5, 5), 45),
        (30, 3, 0, (5, 5, 0), 40),
    ],
)
def test_horizon_and_patience_by_hand(
    horizon: int, patience: int, successes: int, flags: tuple[int, ...], steps: int
) -> None:
    """Success in the last patient step counts; the end of the horizon or of the patience alone never does."""
    wanted = effect(targets_of(CHAIN[2]), horizon=horizon, routing=Routing(patience=patience))
    assert scripted(wanted, (*SHORTEST, WAIT)) == ((EvaluationRow("LightLamp", 5, successes, flags),), steps)


def test_death_and_timeout_are_failures() -> None:
    """Always holds at every state; both scripts end the episode in the first step that could show it."""
    always = targets_of(skill("Always"))
    never = targets_of(skill("Never"))
    rows, steps = scripted(effect(always, archive=()), (LEFT, LEFT), time_limit=1)
    assert (rows[0].successes, steps) == (0, 5)
    rows, steps = scripted(effect(never, archive=()), (LEFT, LEFT))
    assert (rows[0].successes, steps) == (0, 10)
    rows, steps = scripted(effect(always, archive=()), (LEFT, LEFT))
    assert (rows[0].successes, steps) == (5, 5)


def test_variants_are_routed_by_their_own_wiring() -> None:
    """Three variants of one skill: patience three allows the lamp only if progress on the way is counted.

    Through key and door there are four idle steps before the lamp. A variant without its condition sees no progress
    at all; a mutant that is routed through a skill which succeeds at every step never runs out of patience.
    """
    lamp = CHAIN[2]
    cooled = skill("Cooled")
    direct = Skill("LightLamp", skill("Lamp", source="LampOnly").source, (), lamp.vector)
    warmed = Skill("LightLamp", skill("Lamp", source="LampBehindCell7").source, ("Cooled",), lamp.vector)
    variants = (Target("parent", lamp), Target("mutant[0]", direct), Target("mutant[1]", warmed))
    wanted = effect(variants, archive=(*CHAIN, cooled), routing=Routing(patience=3))
    rows, steps = scripted(wanted, (*SHORTEST, WAIT))
    assert [(row.label, row.successes) for row in rows] == [("parent", 0), ("mutant[0]", 0), ("mutant[1]", 5)]
    assert steps == 5 * (8 + 3 + 9)


def test_a_skill_that_requires_the_target_meets_the_variant() -> None:
    """The archive's OpenDoor is routed through its own TakeKey, the variant of LightLamp through the archive's door."""
    skills, prerequisite, _ = plan(effect((Target("mutant", CHAIN[1]), Target("lamp", CHAIN[2]))))
    assert [item.name for item in skills] == ["TakeKey", "OpenDoor", "LightLamp", "OpenDoor", "LightLamp"]
    # While the mutant of OpenDoor (row 3) is the target, LightLamp (row 2) requires row 3; otherwise row 1.
    assert prerequisite[:2, :5, 0].tolist() == [[-1, 0, 3, 0, -1], [-1, 0, 1, -1, 1]]


def test_a_cycle_through_a_variant_is_refused() -> None:
    looped = skill("TakeKey", "LightLamp")
    with pytest.raises(ValueError, match="form a cycle"):
        plan(effect((Target("mutant", looped),)))


def test_an_archive_with_one_name_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="names must be unique"):
        plan(effect(targets_of(CHAIN[0]), archive=(*CHAIN, CHAIN[0])))


# --- with the core's own agents --------------------------------------------------------------------------------------


def evaluate(core: TrainingCore, wanted: Evaluate) -> Evaluated:
    return core.evaluate(wanted, None, progress=lambda *_: None, stop=lambda: False)


def of_programs(*targets: Target, **changes: Any) -> Evaluate:
    return effect(targets, archive=SKILLS, episodes=24, **changes)


def test_equal_targets_meet_equal_worlds(core: TrainingCore) -> None:
    """Two labels of one skill, on different lanes at different times: equal rows. Other keys or seed: other ones."""
    first, second = Target("parent", SKILLS[0]), Target("mutant[0]", SKILLS[0])
    base = evaluate(core, of_programs(first, second, routing=Routing(patience=40), horizon=40))
    assert evolve(base.rows[0], label="mutant[0]") == base.rows[1]
    assert 0 < base.rows[0].successes < 24
    again = evaluate(core, of_programs(first, second, routing=Routing(patience=40), horizon=40, path=Path("later")))
    assert (again.rows, again.steps) == (base.rows, base.steps)
    others = [{"keys": Path("other")}, {"seed": 1}]
    for change in others:
        other = evaluate(core, of_programs(first, second, routing=Routing(patience=40), horizon=40, **change))
        assert other.steps != base.steps


def test_lanes_do_not_matter(core: TrainingCore) -> None:
    wanted = of_programs(*targets_of(*SKILLS))
    wide = TrainingCore(core.world, evaluation_lanes=64)
    assert evaluate(core, wanted).rows == evaluate(wide, wanted).rows


def test_a_candidate_need_not_be_in_the_archive(core: TrainingCore) -> None:
    rows = evaluate(core, of_programs(Target("candidate", SKILLS[1]), routing=Routing(patience=40), horizon=40)).rows
    wanted = effect((Target("candidate", SKILLS[1]),), archive=SKILLS[:1], episodes=24, horizon=40)
    assert evaluate(core, evolve(wanted, routing=Routing(patience=40))).rows == rows


def test_no_target(core: TrainingCore) -> None:
    assert evaluate(core, of_programs()).rows == ()


def test_the_transformer_is_evaluated(core: TrainingCore) -> None:
    network = Agent(
        kind="gtrxl", layers=1, heads=2, embedding_size=8, qkv_size=8, hidden_size=8, memory_window=4, gradient_window=4
    )
    rows = evaluate(core, of_programs(*targets_of(SKILLS[0]), network=network)).rows
    assert rows[0].episodes == 24


def test_stop_and_progress(core: TrainingCore) -> None:
    """A long evaluation reports episodes after every chunk and can be stopped between two."""
    wanted = of_programs(*targets_of(*SKILLS))
    seen: list[tuple[int, int]] = []
    core.evaluate(wanted, None, progress=lambda done, total, _: seen.append((done, total)), stop=lambda: False)
    assert seen[-1] == (72, 72)
    assert seen == sorted(seen)
    with pytest.raises(Stopped, match="stopped after 0 of 72 episodes"):
        core.evaluate(wanted, None, progress=lambda *_: None, stop=lambda: True)


def test_a_refused_program_is_no_target(core: TrainingCore) -> None:
    broken = program("TakeKey", source=PROGRAMS["TakeKey"].replace("state.bag.keys", "state.bag.rings"))
    with pytest.raises(ValueError, match="train only on vetted programs"):
        evaluate(core, of_programs(Target("broken", broken)))
