"""From ledgers to counts: what every run of the study recorded, and nothing that it did not."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from attrs import evolve, frozen

from ledger.head import read_head
from ledger.vocabulary.config import Config
from ledger.vocabulary.evaluate import Evaluate, Evaluated
from ledger.vocabulary.events import Fact
from ledger.vocabulary.train import Attempts, Train, Trained
from replay.runner.recording import load
from tests.studies.hand_written.loop import EVALUATED, TRAINED
from tests.studies.hand_written.material import given


class Incomplete(ValueError):
    """A folder whose runs cannot be reported on together."""


@frozen
class Measured:
    """One evaluation: successes per skill, out of ``episodes`` each, after ``steps`` steps of training."""

    arm: str
    steps: int
    episodes: int
    successes: Mapping[str, int]


@frozen
class Epoch:
    """One epoch of training: attempts and successes per skill as target."""

    steps: int
    attempts: tuple[Attempts, ...]


@frozen
class Counts:
    """Everything that one run counted, and which ledger says so."""

    arm: str
    seed: int
    config: Config
    head: str
    facts: tuple[Fact, ...]
    last: tuple[Measured, ...]
    underway: tuple[Measured, ...]
    epochs: tuple[Epoch, ...]


def folder(out: Path, arm: str, seed: int) -> Path:
    """Where a run is recorded."""
    return out / arm / f"seed={seed}"


def finished(out: Path) -> tuple[Counts, ...]:
    """The counts of every finished run of a study's folder, by arm and seed.

    Raises:
        Incomplete: if there is none, if two runs differ in more than arm and seed, or if the arms' seeds differ.
    """
    found: list[Counts] = []
    for arm in TRAINED:
        folders = sorted((out / arm).glob("seed=*"), key=lambda each: int(each.name.partition("=")[2]))
        found += [counts for each in folders if (counts := read(each)) is not None]
    if not found:
        raise Incomplete(f"{out} holds no finished run of this study: make some with `run --out {out}`")
    if len({evolve(counts.config, seed=0) for counts in found}) > 1:
        raise Incomplete(f"the runs in {out} have different settings: report on one set at a time")
    seeds = {arm: [counts.seed for counts in found if counts.arm == arm] for arm in TRAINED}
    if len({tuple(each) for each in seeds.values() if each}) > 1:
        raise Incomplete(f"the arms have different finished seeds, {seeds}: finish the study with `run --out {out}`")
    return tuple(found)


def read(directory: Path) -> Counts | None:
    """The counts of one run; ``None`` if it is not finished."""
    recording = load(directory)
    if recording.finished is None:
        return None
    arm, _ = given(recording.started.documents)
    last: list[Measured] = []
    underway: list[Measured] = []
    epochs: list[Epoch] = []
    steps = 0
    for each in recording.steps:
        match each.step.effect, each.step.outcome:
            case Train(), Trained() as trained:
                steps += trained.steps
                epochs.append(Epoch(steps, trained.attempts))
            case Evaluate(path=path, episodes=episodes), Evaluated(rows=rows):
                place, _, which = path.text.partition("/")
                successes = {row.label: row.successes for row in rows}
                (last if place == "final" else underway).append(Measured(which, steps, episodes, successes))
            case _:
                pass
    return Counts(
        arm,
        recording.started.config.seed,
        recording.started.config,
        read_head(directory).hash,
        recording.facts,
        tuple(last),
        tuple(underway),
        tuple(epochs),
    )


def skills(found: tuple[Counts, ...]) -> tuple[str, ...]:
    """The skills' names in their order."""
    return tuple(found[0].last[0].successes)


def arms(found: tuple[Counts, ...]) -> tuple[str, ...]:
    """The arms that were evaluated at the end, in their order."""
    have = {counts.arm for counts in found}
    return tuple(each for trained, several in EVALUATED.items() if trained in have for each in several)


def rates(found: tuple[Counts, ...], arm: str) -> np.ndarray:
    """Success rates of an arm at the end of training: ``[seeds, skills]``."""
    rows = [measured for counts in found for measured in counts.last if measured.arm == arm]
    return np.array([[successes / row.episodes for successes in row.successes.values()] for row in rows])


def curve(found: tuple[Counts, ...], arm: str) -> tuple[list[int], np.ndarray]:
    """Steps of training and success rates ``[seeds, points, skills]`` of an arm whose agent is its own."""
    lines = [
        [each for each in (*counts.underway, *counts.last) if each.arm == arm] for counts in found if counts.arm == arm
    ]
    values = [
        [[successes / point.episodes for successes in point.successes.values()] for point in line] for line in lines
    ]
    return [point.steps for point in lines[0]], np.array(values)
