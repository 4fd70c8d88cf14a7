"""A run read back for replay or resume: completed steps in order, and what was under way when it ended."""

from __future__ import annotations

import pathlib
from collections.abc import Mapping

from attrs import field, frozen

from ledger import reader
from ledger.head import read_head
from ledger.vocabulary.events import (
    SEMANTIC,
    AnyEffect,
    AnyOutcome,
    Arrived,
    Attempt,
    Fact,
    Finished,
    Progress,
    Session,
    Started,
    Step,
    Usage,
)
from ledger.vocabulary.path import Path


class NoExperiment(ValueError):
    """A ledger that holds no ``Started`` event: nothing to replay or resume."""


class Disordered(ValueError):
    """Semantic events in an order or number that no run writes: a second beginning, steps after the end, no end."""


@frozen
class RecordedStep:
    """One completed step with its place in the ledger.

    ``source`` is what the envelope says (``live``, ``edited``, …). It exempts nothing from recomputation: the envelope
    is not part of the semantic digest.
    """

    sequence: int
    source: str
    step: Step
    usage: Usage | None = None


@frozen
class Recording:
    """What a ledger says about one experiment.

    ``progress`` holds the latest event with a checkpoint of each phase, ``intermediate`` the names of all of them.
    """

    directory: pathlib.Path
    started: Started
    steps: tuple[RecordedStep, ...]
    finished: Finished | None
    arrived: Mapping[Path, Arrived] = field(factory=dict)
    attempts: Mapping[Path, tuple[AnyEffect, int]] = field(factory=dict)
    progress: Mapping[Path, Progress] = field(factory=dict)
    intermediate: Mapping[Path, tuple[str, ...]] = field(factory=dict)
    sessions: tuple[Session, ...] = ()
    usages: tuple[tuple[Path, Usage], ...] = ()

    @property
    def facts(self) -> tuple[Fact, ...]:
        """The fingerprint of the first session: where the experiment was recorded."""
        return self.sessions[0].facts if self.sessions else ()

    @property
    def unknown(self) -> tuple[Path, ...]:
        """Requests that were sent and whose fate is unknown: neither answered in turn nor out of turn."""
        done = {step.step.effect.path for step in self.steps}
        return tuple(path for path in self.attempts if path not in done and path not in self.arrived)

    def outcome(self, path: str) -> AnyOutcome | None:
        """The recorded outcome of the step at a path, if it was reached."""
        return next((each.step.outcome for each in self.steps if each.step.effect.path.text == path), None)


def load(directory: pathlib.Path) -> Recording:
    """Read a run.

    Raises:
        NoExperiment: if the ledger holds no ``Started`` event.
        Disordered: if semantic events stand in an order or number that no run writes.
        ledger.errors.LedgerError: if the ledger cannot be read.
    """
    started: Started | None = None
    finished: Finished | None = None
    steps: list[RecordedStep] = []
    arrived: dict[Path, Arrived] = {}
    attempts: dict[Path, tuple[AnyEffect, int]] = {}
    progress: dict[Path, Progress] = {}
    intermediate: dict[Path, tuple[str, ...]] = {}
    sessions: list[Session] = []
    usages: list[tuple[Path, Usage]] = []
    for record in reader.read(directory):
        if isinstance(record.event, SEMANTIC):
            _check_order(record, started, finished)
        match record.event:
            case Started():
                started = record.event
            case Step(effect=effect):
                steps.append(RecordedStep(record.sequence, record.source, record.event, record.usage))
                if record.usage is not None:
                    usages.append((effect.path, record.usage))
            case Finished():
                finished = record.event
            case Arrived(path=path):
                arrived[path] = record.event
                if record.usage is not None:
                    usages.append((path, record.usage))
            case Attempt(effect=effect):
                sent = attempts.get(effect.path, (effect, 0))[1]
                attempts[effect.path] = (effect, sent + 1)
            case Progress(path=path):
                if record.event.checkpoint is not None:
                    progress[path] = record.event
                    intermediate[path] = (*intermediate.get(path, ()), record.event.checkpoint)
            case Session():
                sessions.append(record.event)
            case _:
                pass
    if started is None:
        raise NoExperiment(f"{directory} holds no experiment: its ledger has no Started event; start one with `run`")
    if finished is None and read_head(directory).status == "finished":
        raise Disordered(f"{directory} is marked as finished, but its ledger has no Finished event")
    return Recording(
        directory=directory,
        started=started,
        steps=tuple(steps),
        finished=finished,
        arrived=arrived,
        attempts=attempts,
        progress=progress,
        intermediate=intermediate,
        sessions=tuple(sessions),
        usages=tuple(usages),
    )


def _check_order(record: reader.Record, started: Started | None, finished: Finished | None) -> None:
    kind = type(record.event).__name__
    if isinstance(record.event, Started) == (started is not None):
        what = "a second Started event" if started is not None else f"a {kind} event before any Started"
        raise Disordered(f"event {record.sequence} is {what}; no run writes that")
    if finished is not None:
        raise Disordered(f"event {record.sequence} is a {kind} event after Finished; no run writes that")
