"""Integer outcomes of a training phase, added up on the host rollout by rollout."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from engine.train.rollout import Trace
from ledger.vocabulary.train import Attempts


class Tally(NamedTuple):
    """Per skill of capacity N, int64 ``[N]``; ``episodes`` int64 and ``reward`` float64 of shape ``()``.

    An attempt counts when it ends; one that is still open at the phase's end never counts.
    """

    attempts: np.ndarray
    successes: np.ndarray
    active_steps: np.ndarray
    active_successes: np.ndarray
    episodes: np.ndarray
    reward: np.ndarray


def empty(skills: int) -> Tally:
    """Nothing counted yet."""
    counts = [np.zeros(skills, np.int64) for _ in range(4)]
    return Tally(counts[0], counts[1], counts[2], counts[3], np.zeros((), np.int64), np.zeros((), np.float64))


def add(tally: Tally, trace: Trace, reward: np.ndarray) -> Tally:
    """The tally with one rollout counted; ``reward [T, B]``."""
    target, active, fired, succeeded, attempt_ended, died, timed_out = (np.asarray(leaf) for leaf in trace)
    skills = len(tally.attempts)

    def count(which: np.ndarray) -> np.ndarray:
        return np.bincount(which.ravel(), minlength=skills)

    return Tally(
        attempts=tally.attempts + count(target[attempt_ended]),
        successes=tally.successes + count(target[succeeded]),
        active_steps=tally.active_steps + count(active),
        active_successes=tally.active_successes + count(active[fired]),
        episodes=tally.episodes + np.sum(died | timed_out),
        reward=tally.reward + np.sum(np.asarray(reward), dtype=np.float64),
    )


def rows(tally: Tally, names: tuple[str, ...]) -> tuple[Attempts, ...]:
    """One row per skill, in the order of ``names``."""
    columns = (tally.attempts, tally.successes, tally.active_steps, tally.active_successes)
    return tuple(Attempts(name, *(int(column[row]) for column in columns)) for row, name in enumerate(names))
