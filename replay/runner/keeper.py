"""What a performing run writes down, and when it must be durable."""

from __future__ import annotations

from attrs import define, field

from ledger.checkpoints import checkpoint_path
from ledger.vocabulary.events import AnyEffect, AnyOutcome, Arrived, Attempt, Event, Metric, Progress, Step, Usage
from ledger.vocabulary.path import Path
from ledger.vocabulary.train import Train
from ledger.writer import Writer


@define
class Keeper:
    """Appends events; durable before an external call and after its outcome, everything else rides along.

    A training step's intermediate checkpoints are removed once the step itself is durable: ``Progress`` events then
    name files that are no longer there, which ``verify`` reports as not shipped.
    """

    writer: Writer
    _intermediate: dict[Path, list[str]] = field(factory=dict)

    def inherited(self, path: Path, checkpoint: str) -> None:
        """An earlier process left this intermediate checkpoint; it goes once its step is durable."""
        self._intermediate.setdefault(path, []).append(checkpoint)

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
        if isinstance(effect, Train):
            self._discard(effect.path)
        return sequence

    def progress(
        self, path: Path, done: int, total: int, checkpoint: bytes | None, metrics: tuple[Metric, ...]
    ) -> None:
        """A long step is under way; with a checkpoint it can be resumed from here."""
        name = None if checkpoint is None else self.writer.save_checkpoint(checkpoint)
        self.writer.append(Progress(path, done, total, name, metrics))
        if name is not None:
            self.writer.commit()
            self._intermediate.setdefault(path, []).append(name)

    def checkpoint(self, data: bytes) -> str:
        """Save an agent's checkpoint; its name is the hash of its bytes."""
        return self.writer.save_checkpoint(data)

    def _discard(self, path: Path) -> None:
        for name in self._intermediate.pop(path, []):
            checkpoint_path(self.writer.directory, name).unlink(missing_ok=True)
