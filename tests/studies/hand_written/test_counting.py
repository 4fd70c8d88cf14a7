"""A world that counts: positions by hand, the active step, and agreement with evaluation as it is without chains."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from attrs import evolve

from engine.evaluate import plan
from engine.sharp.route import route_batch
from engine.train.core import TrainingCore
from ledger.vocabulary.body import Body
from ledger.vocabulary.config import Agent, Routing
from ledger.vocabulary.evaluate import Evaluate, Target
from ledger.vocabulary.path import Path
from ledger.vocabulary.train import UNTRAINED, Skill
from tests.engine.train.handwritten import vector
from tests.studies.hand_written.conftest import CHAINS, flat
from tests.studies.hand_written.counting import Counting, chains_of
from tests.studies.hand_written.material import success_only
from tests.tiny_worlds import PROGRAMS, SHORTEST, Corridor

GOALS = tuple(Skill(name, Body(success_only(PROGRAMS[name])), (), vector(name)) for name in PROGRAMS)


def chain(name: str, *steps: str) -> Target:
    return Target(name, Skill(name, Body(flat(name, *steps)), steps[:-1], vector(name)))


TARGETS = tuple(chain(name, *steps) for name, steps in CHAINS.items())


def effect(targets: tuple[Target, ...], archive: tuple[Skill, ...] = GOALS, episodes: int = 64) -> Evaluate:
    return Evaluate(
        path=Path("final/flat_evaluated"),
        agent=UNTRAINED,
        world="corridor",
        archive=archive,
        targets=targets,
        episodes=episodes,
        horizon=30,
        seed=4,
        keys=Path("evaluate"),
        network=Agent(kind="mlp", hidden_size=8),
        routing=Routing(patience=15),
    )


def counting(world: Corridor, targets: tuple[Target, ...] = TARGETS) -> Counting:
    chains = chains_of(effect(targets), world.schema)
    assert chains is not None
    return Counting(world, chains)


def positions(world: Corridor, actions: tuple[int, ...]) -> list[list[int]]:
    made = counting(world)
    key = jax.random.key(0)
    step, state, seen = jax.jit(made.step), made.reset(key), []
    for action in actions:
        state = step(key, state, jnp.int32(action))[0]
        seen.append(state.positions.tolist())
    return seen


def test_positions_move_when_the_active_step_succeeds_and_stay_at_the_end() -> None:
    seen = positions(Corridor(), SHORTEST)
    # the key is taken with the second action, the door opened with the fifth, the lamp lit with the last
    assert seen == [[0, 0, 0]] + [[0, 1, 1]] * 3 + [[0, 1, 2]] * 5


def test_a_position_never_goes_back() -> None:
    """A chain that takes the key after the door: the key comes too early, and the chain waits for it in vain."""
    world = Corridor()
    made = counting(world, (chain("LightLamp", "OpenDoor", "TakeKey", "LightLamp"),))
    key = jax.random.key(0)
    step, state, seen = jax.jit(made.step), made.reset(key), []
    for action in SHORTEST:
        state = step(key, state, jnp.int32(action))[0]
        seen.append(int(state.positions[0]))
    assert seen == [0, 0, 0, 0, 1, 1, 1, 1, 1]


def test_a_success_in_the_step_that_ends_the_episode_moves_nothing() -> None:
    world = Corridor(time_limit=2)
    assert positions(world, SHORTEST[:2]) == [[0, 0, 0], [0, 0, 0]]


def test_the_active_step_is_the_one_at_the_position() -> None:
    world = Corridor()
    made = counting(world)
    wanted = effect(TARGETS)
    skills, wirings, shape = plan(wanted)
    predicates = made.compile([skill.source.text for skill in skills], world.schema)
    places = predicates.conditions
    assert [len(each) for each in places] == [0, 0, 0, 0, 1, 2]
    state = made.reset(jax.random.key(0))
    for position, expected in enumerate(("TakeKey", "OpenDoor", "LightLamp")):
        view = made.view(state._replace(positions=jnp.full(3, position, jnp.int32)))
        held = np.asarray(predicates.evaluate(view, view))
        assert held.shape == (predicates.always,)
        conditions = np.ones((1, shape.skills, shape.slots), bool)
        for row, each in enumerate(places):
            conditions[0, row, : len(each)] = held[list(each)]
        active = route_batch(jnp.array([5], jnp.int32), jnp.asarray(wirings[2]), jnp.asarray(conditions), 4)
        assert [*PROGRAMS, "TakeKey", "OpenDoor", "LightLamp"][int(active[0])] == expected


def test_chains_of_one_step_are_evaluated_as_plain_goals(corridor: Corridor) -> None:
    """Only the target's own condition matters then: the same episodes, the same counts as without any chain."""
    targets = tuple(chain(name, name) for name in PROGRAMS)
    made = counting(corridor, targets)
    flatly = TrainingCore(made, compiler=made.compile, evaluation_lanes=32)
    plainly = TrainingCore(corridor, evaluation_lanes=32)
    goals = tuple(Target(skill.name, skill) for skill in GOALS)
    first, second = (
        core.evaluate(effect(each), None, progress=lambda *_: None, stop=lambda: False)
        for core, each in ((flatly, targets), (plainly, goals))
    )
    assert first.rows == second.rows
    assert first.steps == second.steps
    assert 0 < first.rows[0].successes < 64


def test_skills_are_no_chains(corridor: Corridor) -> None:
    assert chains_of(effect(tuple(Target(skill.name, skill) for skill in GOALS)), corridor.schema) is None


def test_what_contradicts_itself_is_refused(corridor: Corridor) -> None:
    mixed = (TARGETS[0], Target("OpenDoor", GOALS[1]))
    with pytest.raises(ValueError, match="either all targets"):
        chains_of(effect(mixed), corridor.schema)
    wrong = Target("OpenDoor", evolve(TARGETS[1].skill, requires=("LightLamp",)))
    with pytest.raises(ValueError, match="OpenDoor: its prerequisites are not the steps"):
        chains_of(effect((wrong,)), corridor.schema)
