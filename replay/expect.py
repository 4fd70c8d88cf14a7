"""Measuring what a faithful retraining may give: the recorded history, trained again under several seeds."""

from __future__ import annotations

import pathlib

from attrs import evolve

from ledger.vocabulary.evaluate import Evaluate, Evaluated
from ledger.vocabulary.note import Rate
from ledger.vocabulary.train import Train
from replay.progress import Display
from replay.reproduce import FINAL, Folder
from replay.runner.agents import Agents
from replay.runner.drive import Driver
from replay.runner.experiments import factory_of
from replay.runner.interrupt import Interrupts
from replay.runner.performers import Performers
from replay.runner.recording import load
from replay.runner.use import FORCED
from replay.statistics import Expected

FAMILY_ERROR = 0.05


def expect(root: pathlib.Path, seeds: int, display: Display, interrupts: Interrupts) -> Expected:
    """Retrain the recorded decisions with seeds 1 … ``seeds`` added to the recorded one; nothing recorded is adopted.

    Raises:
        ValueError: if ``seeds`` is below 2, or the recording never came to its final evaluation.
        replay.runner.interrupt.Interrupted: if the user asked to stop.
    """
    if seeds < 2:
        raise ValueError("prediction intervals need at least two training seeds; five or more are better")
    recording = load(Folder(root).run)
    use = evolve(FORCED, recompute=frozenset({Train, Evaluate}))
    rates: dict[str, list[Rate]] = {}
    offsets = tuple(range(1, seeds + 1))
    for offset in offsets:
        display.say(f"training seed {offset} of {seeds}")
        agents = Agents()
        try:
            performers = Performers(recording.started.config, agents, display, interrupts, seed_offset=offset)
            replayed = Driver(recording, performers, use, adopt=False).drive(factory_of(recording.started))
        finally:
            agents.close()
        _, final = replayed.recomputed.get(FINAL, (None, None))
        if not isinstance(final, Evaluated):
            raise ValueError("the recording has no final evaluation: finish it with `python -m replay resume` first")
        for row in final.rows:
            rates.setdefault(row.label, []).append(Rate(row.successes, row.episodes))
    base = recording.started.config.seed
    return Expected(
        seeds=tuple(base + offset for offset in offsets),
        family_error=FAMILY_ERROR,
        rates={name: tuple(values) for name, values in rates.items()},
    )
