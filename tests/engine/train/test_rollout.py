"""Routed rollouts in the corridor: a trace worked out by hand, a replay of every step, honest successes."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from engine.train.rollout import Rolled, before_first, build_rollout
from engine.train.routing import reward_scale, success_rates
from engine.train.tables import assemble, longest_chain, shape_of, wire
from ledger.vocabulary.config import Ppo, Routing
from ledger.vocabulary.train import Skill
from tests.engine.train.handwritten import CHAIN, Scripted, compile_handwritten, skill
from tests.tiny_worlds import SHORTEST, Corridor

WAIT, LEFT, RIGHT = 0, 1, 2
TAKE_KEY, OPEN_DOOR, LIGHT_LAMP = 0, 1, 2


def roll(
    skills: tuple[Skill, ...],
    script: tuple[int, ...],
    *,
    steps: int,
    environments: int = 1,
    seed: int = 0,
    time_limit: int = 40,
    target_change: str = "bootstrap",
    **routing: Any,
) -> Rolled:
    """One rollout of fresh episodes under a script of actions."""
    world = Corridor(time_limit=time_limit)
    settings = Routing(**{"patience": 5, **routing})
    index = {item.name: row for row, item in enumerate(skills)}
    shape = shape_of(skills, longest_chain(wire(skills, index, shape_of(skills, 0))))
    predicates = compile_handwritten([item.source.text for item in skills], world.schema)
    rates = success_rates([item.successes for item in skills], [item.attempts for item in skills])
    rewards = reward_scale(rates, adaptive=settings.adaptive_reward, cap=settings.reward_cap, epsilon=0.0)
    tables = assemble(skills, predicates, wire(skills, index, shape), shape, np.log(rates + 0.01), rewards)
    ppo = Ppo(environments=environments, rollout_steps=steps, target_change=target_change)
    rollout = jax.jit(build_rollout(world, Scripted(script), predicates, shape, ppo, settings))
    rolled: Rolled = rollout((), before_first(world, environments), (), tables, jax.random.key(seed))
    return rolled


def column(values: jax.Array, environment: int = 0) -> list[Any]:
    result: list[Any] = np.asarray(values)[:, environment].tolist()
    return result


def where(values: jax.Array, environment: int = 0) -> list[int]:
    return [step for step, value in enumerate(column(values, environment)) if value]


@pytest.fixture(scope="module")
def shortest() -> tuple[Rolled, int]:
    """The shortest way to the lamp in 16 environments, and one whose first target is the lamp.

    Rates 1/2, 1/4 and 0: rewards 2, 4 and 10.
    """
    skills = (
        skill("TakeKey", successes=4, attempts=8),
        skill("OpenDoor", "TakeKey", successes=1, attempts=4),
        skill("LightLamp", "OpenDoor"),
    )
    rolled = roll(skills, (*SHORTEST, WAIT), steps=20, environments=16)
    return rolled, np.asarray(rolled.trace.target)[0].tolist().index(LIGHT_LAMP)


def test_the_route_to_the_lamp_by_hand(shortest: tuple[Rolled, int]) -> None:
    """Key at step 1, door at step 4, lamp at step 8; each is active until it succeeds, then the next is.

    After the door is open the chain is cut there: the lamp's condition holds, whatever became of the key.
    """
    rolled, chosen = shortest
    trace, seen = rolled.trace, rolled.trajectory
    assert column(trace.active, chosen)[:9] == [TAKE_KEY] * 2 + [OPEN_DOOR] * 3 + [LIGHT_LAMP] * 4
    assert column(trace.target, chosen)[:9] == [LIGHT_LAMP] * 9
    assert where(trace.fired, chosen)[:3] == [1, 4, 8]
    assert column(seen.reward, chosen)[:9] == [0, 2, 0, 0, 4, 0, 0, 0, 10]
    assert where(trace.succeeded, chosen)[0] == 8
    assert where(trace.attempt_ended, chosen)[0] == 8
    assert column(seen.age, chosen) == list(range(20))
    assert column(seen.action, chosen) == [*SHORTEST, *[WAIT] * 11]


def test_a_new_target_is_cut_and_closed_with_the_old_conditioning(shortest: tuple[Rolled, int]) -> None:
    """At step 8 the lamp succeeded while active: its own row is 2, so the value that closes the trace is 102."""
    rolled, chosen = shortest
    seen = rolled.trajectory
    assert where(seen.cut, chosen)[0] == 8
    assert column(seen.cut_value, chosen)[8] == 102.0
    # With nothing left to do, the patience of five ends attempts at steps 13 and 18.
    assert where(rolled.trace.attempt_ended, chosen) == [8, 13, 18]
    assert where(seen.cut, chosen) == [8, 13, 18]


def test_a_target_that_succeeds_while_another_skill_is_active_pays_nothing() -> None:
    """Both targets want cell 4, reached at step 2.

    StandFar is routed through its prerequisite until cell 2 only, so it is active when its phi fires. Aim waits for a
    door that stays shut, so its prerequisite is still active when phi of the target fires.
    """
    skills = (skill("OpenDoor", source="Never"), skill("StandFar", "OpenDoor", source="StandFar"))
    rolled = roll(skills, (RIGHT, RIGHT, RIGHT, WAIT), steps=3, environments=8)
    chosen = np.asarray(rolled.trace.target)[0].tolist().index(1)
    # Cell 1, condition (cell >= 2) unmet at step 0 only.
    assert column(rolled.trace.active, chosen) == [0, 1, 1]
    assert where(rolled.trace.fired, chosen) == [2] == where(rolled.trace.succeeded, chosen)
    detour = (skill("Blocked", source="Never"), skill("Aim", "Blocked", source="NeverAimsFar"))
    rolled = roll(detour, (RIGHT, RIGHT, RIGHT, WAIT), steps=3, environments=8)
    chosen = np.asarray(rolled.trace.target)[0].tolist().index(1)
    assert column(rolled.trace.active, chosen) == [0, 0, 0]
    assert where(rolled.trace.succeeded, chosen) == [2]
    assert not where(rolled.trace.fired, chosen)
    assert sum(column(rolled.trajectory.reward, chosen)) == 0


@pytest.mark.parametrize(
    ("target_change", "cut", "value"), [("bootstrap", [4], 100.0), ("end", [4], 0.0), ("ignore", [], 0.0)]
)
def test_the_three_readings_of_a_target_change(target_change: str, cut: list[int], value: float) -> None:
    """One skill that never succeeds, patience five: the target is drawn anew after step 4."""
    rolled = roll((skill("Never"),), (WAIT,), steps=8, target_change=target_change)
    assert where(rolled.trace.attempt_ended) == [4]
    assert where(rolled.trajectory.cut) == cut
    assert column(rolled.trajectory.cut_value)[4] == value


def test_death_ends_the_trace_with_nothing_and_the_attempt_without_success() -> None:
    """LEFT twice from cell 1 is a fall at step 1; the next step starts anew, of age 0, with a fresh target."""
    rolled = roll((skill("Always"),), (LEFT,), steps=6)
    assert where(rolled.trace.died) == [1, 3, 5]
    assert where(rolled.trace.succeeded) == [0, 2, 4]
    assert where(rolled.trajectory.reward) == [0, 2, 4]
    assert [column(rolled.trajectory.cut_value)[step] for step in (1, 3, 5)] == [0.0] * 3
    assert column(rolled.trajectory.age) == [0, 1] * 3
    assert column(rolled.episodes.over[None]) == [True]


def test_a_timeout_closes_with_the_value_of_its_last_state_and_is_no_success() -> None:
    """Every fourth step times out: phi holds there too, and is not counted. The value of row 0 is 100."""
    rolled = roll((skill("Always"),), (WAIT,), steps=8, time_limit=4)
    assert where(rolled.trace.timed_out) == [3, 7]
    assert where(rolled.trace.succeeded) == [0, 1, 2, 4, 5, 6]
    assert column(rolled.trajectory.cut_value)[3] == 100.0
    assert where(rolled.trajectory.cut) == list(range(8))


def test_no_success_across_a_reset() -> None:
    """BackToStart needs a jump from beyond cell 2 to cell 1: only comparing with another episode's state sees one.

    The first step waits on cell 1, after an episode that ended on cell 4. Handing ``look`` the state before the reset
    as the previous one makes this fail.
    """
    rolled = roll((skill("BackToStart"),), (WAIT, RIGHT, RIGHT, RIGHT), steps=40, environments=4, time_limit=6)
    assert np.asarray(rolled.trace.timed_out).sum() == 4 * 6
    assert not np.asarray(rolled.trace.succeeded).any()
    assert not np.asarray(rolled.trace.fired).any()


def test_a_masked_skill_is_never_drawn_inside_an_episode() -> None:
    """StandOnStart holds as long as nobody moves: after the first attempt the target is always the other skill."""
    rolled = roll((skill("StandOnStart"), skill("Never")), (WAIT,), steps=30, environments=16)
    for environment in range(16):
        ended = where(rolled.trace.attempt_ended, environment)
        assert set(column(rolled.trace.target, environment)[ended[0] + 1 :]) == {1}


def replay(rolled: Rolled, skills: tuple[Skill, ...], patience: int, time_limit: int, environment: int) -> None:
    """Every step again in plain Python on the corridor's own step: states, routes, rewards and counters."""
    world = Corridor(time_limit=time_limit)
    step, key = jax.jit(world.step), jax.random.key(0)
    trace = [np.asarray(leaf)[:, environment] for leaf in rolled.trace]
    target, active, fired, succeeded, attempt_ended, died, timed_out = trace
    action, reward, age, cut = (
        np.asarray(getattr(rolled.trajectory, name))[:, environment] for name in ("action", "reward", "age", "cut")
    )
    state: Any = None
    idle = expected_age = 0
    for now in range(len(target)):
        if state is None:
            state, idle, expected_age = world.reset(key), 0, 0
        elif attempt_ended[now - 1]:
            idle = 0
        else:
            assert target[now] == target[now - 1]
        wanted = int(target[now])
        while True:
            if wanted == LIGHT_LAMP and not state.door_open:
                wanted = OPEN_DOOR
            elif wanted == OPEN_DOOR and state.keys < 1:
                wanted = TAKE_KEY
            else:
                break
        assert active[now] == wanted
        assert age[now] == expected_age
        after, fell, late = step(key, state, jnp.int32(action[now]))
        ended = bool(fell) or bool(late)
        phi = [
            bool(after.keys > state.keys),
            bool(after.door_open and not state.door_open),
            bool(after.lamp_lit and not state.lamp_lit),
        ]
        idle = 0 if phi[wanted] and not ended else idle + 1
        assert fired[now] == (phi[wanted] and not ended)
        assert succeeded[now] == (phi[target[now]] and not ended)
        assert (died[now], timed_out[now]) == (bool(fell), bool(late))
        assert reward[now] == (10.0 if fired[now] else 0.0)
        assert attempt_ended[now] == (ended or succeeded[now] or idle >= patience) == cut[now]
        state, expected_age = (None if ended else after), expected_age + 1


def test_random_walks_agree_with_a_replay_in_plain_python() -> None:
    """Random actions (a script of equal logits), so that routes, deaths, timeouts and exhaustion all occur."""
    rolled = roll(CHAIN, (), steps=150, environments=24, time_limit=25, seed=3)
    counts = {name: int(np.asarray(leaf).sum()) for name, leaf in rolled.trace._asdict().items()}
    assert min(counts[name] for name in ("fired", "succeeded", "died", "timed_out")) > 0, counts
    for environment in range(24):
        replay(rolled, CHAIN, patience=5, time_limit=25, environment=environment)
