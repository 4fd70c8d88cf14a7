"""One story in the corridor, worked out on paper step by step: what routing must decide (paper 000, section 2.5).

The story is driven twice: as one scan of all its steps, and as one-step rollouts between which everything that routing
carries can be seen. Both must give the table below.
"""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from attrs import frozen

from engine.agent.step import Step
from engine.train.predicates import compile_programs
from engine.train.rollout import Episodes, Rolled, before_first, build_rollout
from engine.train.routing import reward_scale, success_rates
from engine.train.tables import Tables, assemble, longest_chain, shape_of, wire
from ledger.vocabulary.config import Ppo, Routing
from ledger.vocabulary.train import Skill
from tests.engine.train.effects import program
from tests.tiny_worlds import LENGTH, MOVES, Corridor

OWN_PROGRAMS = {
    "ReachFour": '''class ReachFour(Sharp):
    """Stand on cell 4 or beyond."""

    def success(self, state, previous):
        return state.position >= 4

    def door_is_open(self, state):
        return state.door_open

    requires = [(door_is_open, "OpenDoor")]
''',
    "BackToStart": '''class BackToStart(Sharp):
    """Be on the first cell right after one far from it."""

    def success(self, state, previous):
        return state.position == 1 and previous.position > 2
''',
    "HoldEdge": '''class HoldEdge(Sharp):
    """Stay on cell 0."""

    def success(self, state, previous):
        return state.position == 0 and previous.position == 0

    def is_near(self, state):
        return state.position <= 1

    requires = [(is_near, "TakeKey")]
''',
    "Never": '''class Never(Sharp):
    """Be on two cells at once."""

    def success(self, state, previous):
        return state.position == 0 and state.position == 1
''',
}

ARCHIVE = (
    program("TakeKey", successes=4, attempts=8),
    program("OpenDoor", "TakeKey", successes=2, attempts=8),
    program("ReachFour", "OpenDoor", source=OWN_PROGRAMS["ReachFour"], successes=1, attempts=8),
    program("BackToStart", source=OWN_PROGRAMS["BackToStart"]),
    program("HoldEdge", "TakeKey", source=OWN_PROGRAMS["HoldEdge"], successes=0, attempts=5),
)
"""In the corridor of cells 0 to 7 (start 1, key 2, locked door 5), with what each was worth in the last phase:

- TakeKey: one more key than before. rho 1/2, so its reward is 2.
- OpenDoor: the door is opened. Needs a key, else TakeKey. rho 1/4, reward 4.
- ReachFour: stands on cell 4 or beyond. Needs an open door, else OpenDoor. rho 1/8, reward 8.
- BackToStart: on cell 1, and on a cell beyond 2 one step before. No walk can do that, only the comparison of a fresh
  episode with the end of the one before. Never tried: reward 10.
- HoldEdge: on cell 0 now and before. Needs to be on cell 0 or 1, else TakeKey. rho 0, reward 10.
"""

PATIENCE, TIME_LIMIT = 4, 12

STORY = """
time cell holds action target      active      age | idle fired done ended reward cut closing end
   0    1 -     RIGHT  TakeKey     TakeKey       0 |    1     -    -     -      0   -       0 -
   1    2 -     TAKE   TakeKey     TakeKey       1 |    0     x    x     x      2   x     220 -
   2    2 key   RIGHT  ReachFour   OpenDoor      2 |    1     -    -     -      0   -       0 -
   3    3 key   RIGHT  ReachFour   OpenDoor      3 |    0     -    x     x      0   x     441 -
   4    4 key   OPEN   OpenDoor    OpenDoor      4 |    0     x    x     x      4   x     540 -
   5    4 door  LEFT   HoldEdge    TakeKey       5 |    1     -    -     -      0   -       0 -
   6    3 door  LEFT   HoldEdge    TakeKey       6 |    2     -    -     -      0   -       0 -
   7    2 door  LEFT   HoldEdge    TakeKey       7 |    3     -    -     -      0   -       0 -
   8    1 door  WAIT   HoldEdge    HoldEdge      8 |    0     -    -     x      0   x     914 -
   9    1 door  RIGHT  ReachFour   ReachFour     9 |    1     -    -     -      0   -       0 -
  10    2 door  RIGHT  ReachFour   ReachFour    10 |    2     -    -     -      0   -       0 -
  11    3 door  RIGHT  ReachFour   ReachFour    11 |    3     -    -     x      0   x    1242 timeout
  12    1 -     WAIT   BackToStart BackToStart   0 |    1     -    -     -      0   -       0 -
  13    1 -     RIGHT  BackToStart BackToStart   1 |    2     -    -     -      0   -       0 -
  14    2 -     RIGHT  BackToStart BackToStart   2 |    3     -    -     -      0   -       0 -
  15    3 -     WAIT   BackToStart BackToStart   3 |    0     -    -     x      0   x     433 -
  16    3 -     LEFT   HoldEdge    TakeKey       4 |    1     -    -     -      0   -       0 -
  17    2 -     LEFT   HoldEdge    TakeKey       5 |    2     -    -     -      0   -       0 -
  18    1 -     LEFT   HoldEdge    HoldEdge      6 |    3     -    -     -      0   -       0 -
  19    0 -     LEFT   HoldEdge    HoldEdge      7 |    4     -    -     x      0   x       0 death
  20    1 -     RIGHT  OpenDoor    TakeKey       0 |    1     -    -     -      0   -       0 -
  21    2 -     TAKE   OpenDoor    TakeKey       1 |    0     x    -     -      2   -       0 -
  22    2 key   RIGHT  OpenDoor    OpenDoor      2 |    1     -    -     -      0   -       0 -
  23    3 key   RIGHT  OpenDoor    OpenDoor      3 |    2     -    -     -      0   -       0 -
  24    4 key   OPEN   OpenDoor    OpenDoor      4 |    0     x    x     x      4   x     540 -
  25    4 door  LEFT   BackToStart BackToStart   5 |    1     -    -     -      0   -       0 -
"""
"""Left of the bar: where the walker is, what it holds ("key", or "door" for an open door), what is pursued. Right of
it: what the transition meant. ``idle`` is carried into the next step. ``closing`` is the value of the state reached,
conditioned as if the target had stayed; the network's value is 100 times the age, plus 10 times the cell, plus the
active skill's row. ``-`` is no and ``x`` yes.

Why, from row to row:

-  1: the target is the active skill and succeeds: reward 2, and a new target inside the episode.
-  2: the door is shut and a key is held, so ReachFour is pursued through OpenDoor.
-  3: cell 4 is reached: ReachFour is done while OpenDoor is active, which pays nothing. OpenDoor is what stays active,
      so the value is closed at age 4, on cell 4, with row 1: 441.
-  4: opening uses the key up, so OpenDoor would now be pursued through TakeKey: 540.
-  5: cell 4 is no edge, so HoldEdge is pursued through TakeKey.
-  8: on cell 1 HoldEdge is active itself. That change is no progress: the patience of 4 ends here.
- 11: cell 4 is reached with the twelfth step, which ends the episode: ReachFour holds, and is no success.
- 12: a fresh episode on cell 1 after one that ended on cell 4: BackToStart would hold across the reset. It does not.
- 19: LEFT from cell 0 is a fall, and the walker stays there: HoldEdge holds on it, and is no success. The patience ends
      in the same step; a death closes with nothing all the same.
- 21: the prerequisite succeeds: reward 2 and progress, and the attempt goes on.
"""

A, B = 1 / (1 / 2 + 0.01), 1 / (1 / 4 + 0.01)

WEIGHTS = {
    0: (1, 1, 1, 1, 1),  # a fresh episode: uniform
    1: (0, A, 1, 1, 1),  # TakeKey holds now. A key is held: OpenDoor weighs 1 / (rho of TakeKey + 0.01)
    3: (1, A, 0, 1, 1),  # ReachFour holds now
    4: (1, 0, 0, 1, 1),  # OpenDoor and ReachFour hold now. The key is used up, cell 4 is no edge
    8: (1, 1, B, 1, A),  # the door is open: ReachFour weighs 1 / (rho of OpenDoor + 0.01). Cell 1 is an edge
    12: (1, 1, 1, 1, 1),
    15: (1, 1, 1, 1, 1),  # a fresh world, on cell 3: no condition holds
    20: (1, 1, 1, 1, 1),
    24: (1, 0, 0, 1, 1),
}
"""The weights B_j, up to a constant, of each draw: at 0, 12 and 20 before the step, else after it."""

SEED = 390_755
"""Under it the scan draws the targets of the story, none of which has a probability of 1."""


WRONG: dict[str, dict[int, tuple[float, ...]]] = {
    "opportunistic at the start of an episode too": dict.fromkeys((0, 12, 20), (1, 1, 1, 1, A)),
    "uniform inside an episode too": {1: (0, 1, 1, 1, 1), 3: (1, 1, 0, 1, 1), 8: (1, 1, 1, 1, 1)},
    "nothing masked": {1: (1, A, 1, 1, 1), 3: (1, A, 1, 1, 1), 4: (1, 1, B, 1, 1), 24: (1, 1, B, 1, 1)},
    "weights turned round": {1: (0, 1 / A, 1, 1, 1), 3: (1, 1 / A, 0, 1, 1), 8: (1, 1, 1 / B, 1, 1 / A)},
}
"""Other readings of the sampling rule, none of which may give the story."""


class Row(NamedTuple):
    """A row of the story, in numbers."""

    time: int
    cell: int
    holds: str
    action: int
    target: int
    active: int
    age: int
    idle: int
    fired: bool
    done: bool
    ended: bool
    reward: float
    cut: bool
    closing: float
    end: str


def rows() -> list[Row]:
    names = [each.name for each in ARCHIVE]
    found = []
    for line in STORY.strip().splitlines()[1:]:
        time, cell, holds, action, target, active, age, _, idle, fired, done, ended, reward, cut, closing, end = (
            line.split()
        )
        found.append(
            Row(
                int(time),
                int(cell),
                holds,
                MOVES[action],
                names.index(target),
                names.index(active),
                int(age),
                int(idle),
                fired == "x",
                done == "x",
                ended == "x",
                float(reward),
                cut == "x",
                float(closing),
                end,
            )
        )
    return found


ROWS = rows()
SCRIPT = tuple(row.action for row in ROWS)


@frozen
class Clockwork:
    """A network that plays ``script`` by the clock, whatever it sees, and its last action ever after.

    Its memory is the time, ``[]``; its value is 100 times the age, plus 10 times the cell, plus the active skill's row.
    """

    script: tuple[int, ...]

    def skills(self, parameters: Any, vectors: jax.Array) -> jax.Array:
        return jnp.arange(vectors.shape[0], dtype=jnp.float32)

    def open(self, parameters: Any, memory: jax.Array) -> jax.Array:
        return memory

    def act(self, parameters: Any, cache: jax.Array, observation: jax.Array, skill: jax.Array, age: jax.Array) -> Step:
        action = jnp.asarray(self.script)[jnp.minimum(cache, len(self.script) - 1)]
        logits = jnp.where(jnp.arange(len(MOVES)) == action, 1e6, 0.0)
        cell = observation[:, :LENGTH] @ jnp.arange(LENGTH, dtype=jnp.float32)
        return Step(
            logits=jnp.broadcast_to(logits, (len(skill), len(MOVES))),
            value=100.0 * age.astype(jnp.float32) + 10.0 * cell + skill,
            cache=cache + 1,
            record=jnp.full(len(skill), cache + 1),
        )

    def rows(self, cache: jax.Array, rows: jax.Array) -> jax.Array:
        return cache

    def close(self, memory: jax.Array, records: jax.Array) -> jax.Array:
        return records[-1, 0]


class Setting(NamedTuple):
    """A compiled rollout of the story and the tables it is routed by."""

    rollout: Any
    tables: Tables

    def roll(self, episodes: Episodes, time: int, key: jax.Array) -> Rolled:
        result: Rolled = self.rollout((), episodes, jnp.int32(time), self.tables, key)
        return result


def setting(skills: tuple[Skill, ...], steps: int, network: Clockwork, world: Corridor, routing: Routing) -> Setting:
    index = {item.name: row for row, item in enumerate(skills)}
    shape = shape_of(skills, longest_chain(wire(skills, index, shape_of(skills, 0))))
    predicates = compile_programs([item.source.text for item in skills], world.schema)
    rates = success_rates([item.successes for item in skills], [item.attempts for item in skills])
    rewards = reward_scale(rates, adaptive=True, cap=routing.reward_cap, epsilon=0.0)
    log_rates = np.log(rates + routing.sampling_epsilon)
    tables = assemble(skills, predicates, wire(skills, index, shape), shape, log_rates, rewards)
    ppo = Ppo(environments=1, rollout_steps=steps)
    return Setting(jax.jit(build_rollout(world, network, predicates, shape, ppo, routing)), tables)


def story(steps: int) -> Setting:
    return setting(ARCHIVE, steps, Clockwork(SCRIPT), Corridor(TIME_LIMIT), Routing(patience=PATIENCE))


def told(rolled: Rolled, step: int) -> dict[str, Any]:
    """What a rollout of one environment says about one of its steps, in the names of ``Row``; ``idle`` apart."""
    seen, trace = jax.tree.map(lambda leaf: np.asarray(leaf)[step, 0].tolist(), (rolled.trajectory, rolled.trace))
    cells, (keys, door, _) = seen.observation[:LENGTH], seen.observation[LENGTH:]
    assert seen.value == 100.0 * seen.age + 10.0 * cells.index(1.0) + trace.active
    assert seen.active == trace.active
    return {
        "cell": cells.index(1.0),
        "holds": "key" if keys else "door" if door else "-",
        "action": seen.action,
        "target": trace.target,
        "active": trace.active,
        "age": seen.age,
        "fired": trace.fired,
        "done": trace.succeeded,
        "ended": trace.attempt_ended,
        "reward": seen.reward,
        "cut": seen.cut,
        "closing": seen.cut_value,
        "end": {(True, False): "death", (False, True): "timeout", (False, False): "-"}[trace.died, trace.timed_out],
    }


def expected(row: Row) -> dict[str, Any]:
    return {name: value for name, value in row._asdict().items() if name not in ("time", "idle")}


def draw(key: jax.Array, time: int, weights: tuple[float, ...]) -> int:
    """The target that ``weights`` give under the noise of the rollout's step ``time``, whose key is ``key``.

    A step has four keys, for resets first and for targets last; a categorical draw is the largest of logarithms plus
    Gumbel noise over the tables' capacity of eight.
    """
    reset, _, _, target = jax.random.split(key, 4)
    if ROWS[time].age == 0:
        theirs = jax.random.split(jax.random.fold_in(reset, 0))[1]
    else:
        theirs = jax.random.split(target, 1)[0]
    noise = np.asarray(jax.random.gumbel(theirs, (8,)))[: len(ARCHIVE)]
    with np.errstate(divide="ignore"):
        return int(np.argmax(np.log(weights) + noise))


def wanted(time: int) -> int:
    """The target that the story has after the draw at ``time``."""
    return ROWS[time if ROWS[time].age == 0 else time + 1].target


def test_targets_change_exactly_where_the_story_draws() -> None:
    """A guard of the table itself: it must hold every kind of change, and no change without a reason."""
    for row, after in itertools.pairwise(ROWS):
        fresh = row.end != "-"
        assert (after.age == 0) == fresh
        if after.target != row.target:
            assert row.time in WEIGHTS or after.time in WEIGHTS
    assert {row.end for row in ROWS} == {"-", "timeout", "death"}
    assert any(row.done and row.fired for row in ROWS)
    assert any(row.done and not row.fired for row in ROWS)
    assert any(row.fired and not row.done for row in ROWS)
    assert any(row.ended and not row.done and row.end == "-" for row in ROWS)
    draws = {row.time for row in ROWS if row.age == 0 or (row.ended and row.end == "-")}
    assert draws == WEIGHTS.keys()
    assert len({tuple(weights) for weights in WEIGHTS.values()}) == 5


@pytest.mark.parametrize("reading", WRONG)
def test_another_sampling_rule_would_tell_another_story(reading: str) -> None:
    key = jax.random.key(SEED)
    drawn = {time: draw(jax.random.fold_in(key, time), time, weights) for time, weights in WRONG[reading].items()}
    assert drawn != {time: wanted(time) for time in drawn}


def test_one_scan_gives_the_story_step_by_step() -> None:
    key = jax.random.key(SEED)
    for time in WEIGHTS:
        assert draw(jax.random.fold_in(key, time), time, WEIGHTS[time]) == wanted(time), f"the draw at {time}"
    rolled = story(len(ROWS)).roll(before_first(Corridor(TIME_LIMIT), 1), 0, key)
    for row in ROWS:
        assert told(rolled, row.time) == expected(row), f"step {row.time}"
    # The next step would walk on towards BackToStart, row 3, at age 6 from cell 3, with one idle step behind it.
    assert rolled.last_value.tolist() == [633.0]
    episodes = rolled.episodes
    assert [leaf.item() for leaf in (episodes.target, episodes.active, episodes.idle, episodes.age)] == [3, 3, 1, 6]
    assert not episodes.over.item()


def test_step_by_step_everything_that_is_carried_is_that_of_the_story() -> None:
    """Rollouts of one step each, under keys that draw the story's targets; what is carried is read in between."""
    one, world = story(1), Corridor(TIME_LIMIT)
    episodes = before_first(world, 1)
    for row, after in zip(ROWS, [*ROWS[1:], None], strict=True):
        seeds = (seed for seed in itertools.count() if row.time not in WEIGHTS or fits(seed, row.time))
        rolled = one.roll(episodes, row.time, jax.random.key(next(seeds)))
        episodes = rolled.episodes
        assert told(rolled, 0) == expected(row), f"step {row.time}"
        assert episodes.idle.item() == row.idle, f"step {row.time}"
        assert episodes.over.item() == (row.end != "-"), f"step {row.time}"
        assert episodes.age.item() == row.age + 1
        if row.end != "-":
            assert episodes.target.item() == row.target, "an episode that is over draws nothing"
        elif after is not None:
            assert (episodes.target.item(), episodes.active.item()) == (after.target, after.active), f"step {row.time}"
            assert rolled.last_value.item() == 100.0 * after.age + 10.0 * after.cell + after.active


def fits(seed: int, time: int) -> bool:
    return draw(jax.random.fold_in(jax.random.key(seed), 0), time, WEIGHTS[time]) == wanted(time)


@pytest.mark.parametrize(("time_limit", "ends"), [(1_000, [199, 399]), (150, [149, 299])])
def test_the_patience_of_the_paper_is_two_hundred_steps(time_limit: int, ends: list[int]) -> None:
    """A new target after 200 environment steps without progress; a fresh episode starts the count anew."""
    never = program("Never", source=OWN_PROGRAMS["Never"])
    waiting = setting((never,), 401, Clockwork((MOVES["WAIT"],)), Corridor(time_limit), Routing())
    rolled = waiting.roll(before_first(Corridor(time_limit), 1), 0, jax.random.key(0))
    assert np.flatnonzero(rolled.trace.attempt_ended).tolist() == ends
    assert rolled.episodes.idle.tolist() == [1 if time_limit == 1_000 else 101]


@pytest.mark.parametrize("opportunistic", [True, False])
def test_weights_are_those_of_the_state_that_was_reached(opportunistic: bool) -> None:
    """The story's first draw inside an episode, under a key by which the weights decide it.

    TAKE makes the condition of OpenDoor hold: its weight draws it. Without opportunism, or with the conditions of the
    state before TAKE, the draw would be uniform between four skills, and another.
    """
    uniform = (0.0, 1.0, 1.0, 1.0, 1.0)

    def decides(key: jax.Array) -> bool:
        first = draw(jax.random.fold_in(key, 0), 0, WEIGHTS[0])
        then = [draw(jax.random.fold_in(key, 1), 1, weights) for weights in (WEIGHTS[1], uniform)]
        return first == 0 and then[0] == 1 != then[1]

    key = next(key for key in map(jax.random.key, itertools.count()) if decides(key))
    routing, world = Routing(patience=PATIENCE, opportunistic=opportunistic), Corridor(TIME_LIMIT)
    rolled = setting(ARCHIVE, 2, Clockwork(SCRIPT), world, routing).roll(before_first(world, 1), 0, key)
    assert rolled.trace.succeeded[:, 0].tolist() == [False, True]
    drawn = draw(jax.random.fold_in(key, 1), 1, WEIGHTS[1] if opportunistic else uniform)
    assert rolled.episodes.target.item() == drawn
