"""What a performing run writes down, and when it must be durable."""

from __future__ import annotations

from contextlib import suppress

from attrs import define, field

from ledger.checkpoints import checkpoint_path
from ledger.errors import CheckpointMissing
from ledger.vocabulary.events import AnyEffect, AnyOutcome, Arrived, Attempt, Event, Metric, Progress, Step, Usage
from ledger.vocabulary.path import Path
from ledger.vocabulary.settings import Settings
from ledger.vocabulary.train import Train, Trained
from ledger.writer import Writer
from replay.runner.recording import Recording
from replay.runner.retention import Retention


@define
class Keeper:
    """Appends events; durable before an external call and after its outcome, everything else rides along.

    Checkpoints that ``retention`` no longer asks for are removed, and only once everything is durable that makes them
    superfluous: at whatever moment the process ends, what a resume needs is there. Events then name files that are no
    longer there, which ``verify`` counts.
    """

    writer: Writer
    retention: Retention = field(factory=Retention)
    _present: set[str] = field(factory=set)
    _at: Path | None = None

    def inherit(self, recording: Recording) -> None:
        """Take over what earlier sessions of this run did, and remove what they left behind."""
        for path, names in recording.intermediate.items():
            self._present.update(names)
            self.retention.under_way(path, names[-1])
        for each in recording.steps:
            self._completed(each.step.effect, each.step.outcome)
        self._remove_superfluous()
        for unfinished in (self.writer.directory / "checkpoints").glob("*.safetensors.tmp"):
            unfinished.unlink(missing_ok=True)  # a crash while it was written

    def event(self, event: Event) -> None:
        """Append without forcing."""
        self.writer.append(event)

    def attempt(self, effect: AnyEffect) -> None:
        """The request is about to leave: durable first."""
        self.writer.append(Attempt(effect))
        self.writer.commit()

    def arrived(self, path: Path, outcome: AnyOutcome, usage: Usage | None) -> None:
        """An outcome came out of turn: durable at once."""
        self.writer.append(Arrived(path, outcome), usage=usage)
        self.writer.commit()

    def step(self, effect: AnyEffect, outcome: AnyOutcome, usage: Usage | None, *, durable: bool) -> int:
        """A completed step in its declared turn."""
        sequence = self.writer.append(Step(effect, outcome), usage=usage)
        if durable:
            self.writer.commit()
        self._completed(effect, outcome)
        if isinstance(effect, Train | Settings):
            self._remove_superfluous()
        return sequence

    def progress(
        self, path: Path, done: int, total: int, checkpoint: bytes | None, metrics: tuple[Metric, ...]
    ) -> None:
        """A long step is under way; with a checkpoint it can be resumed from here."""
        name = None if checkpoint is None else self.writer.save_checkpoint(checkpoint)
        self.writer.append(Progress(path, done, total, name, metrics))
        if name is not None:
            self.writer.commit()
            self._present.add(name)
            self.retention.under_way(path, name)
            self._remove_superfluous()

    def checkpoint(self, data: bytes) -> str:
        """Save an agent's checkpoint; its name is the hash of its bytes."""
        return self.writer.save_checkpoint(data)

    def _completed(self, effect: AnyEffect, outcome: AnyOutcome) -> None:
        self._at = effect.path
        if isinstance(outcome, Trained):
            self._present.add(outcome.checkpoint)
            self.retention.made(effect.path, outcome.checkpoint)

    def _remove_superfluous(self) -> None:
        superfluous = sorted(self._present - self.retention.needed(self._at))
        if superfluous:
            self.writer.commit()
        for name in superfluous:
            with suppress(CheckpointMissing):  # a name that a ledger from elsewhere made up leads nowhere
                checkpoint_path(self.writer.directory, name).unlink(missing_ok=True)
            self._present.discard(name)
