"""Where agents are found: by the path of the Train that made them, never by content."""

from __future__ import annotations

import pathlib
import tempfile

from attrs import define, field

from ledger import reader
from ledger.vocabulary.path import Path
from ledger.vocabulary.train import UNTRAINED


class NoAgent(LookupError):
    """An effect names an agent that no earlier Train of this replay made."""


def _scratch() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="replay-agents-")


@define
class Agents:
    """Checkpoints by path: own ones on scratch disk, recorded ones read from their run."""

    _files: dict[Path, pathlib.Path] = field(factory=dict)
    _recorded: dict[Path, tuple[pathlib.Path, str]] = field(factory=dict)
    _scratch: tempfile.TemporaryDirectory[str] = field(factory=_scratch)

    def keep(self, path: Path, data: bytes) -> None:
        """Keep a checkpoint made here."""
        file = pathlib.Path(self._scratch.name) / f"{len(self._files):06d}"
        file.write_bytes(data)
        self._files[path] = file

    def adopt(self, path: Path, run: pathlib.Path, checkpoint: str) -> bool:
        """Use the recorded checkpoint from now on, if the run ships it; says whether it does."""
        if not (run / "checkpoints" / f"{checkpoint}.safetensors").is_file():
            return False
        self._recorded[path] = (run, checkpoint)
        return True

    def data(self, path: Path) -> bytes | None:
        """The checkpoint of the agent made at ``path``; ``None`` for the untrained agent.

        Raises:
            NoAgent: if no such agent is known.
        """
        if path == UNTRAINED:
            return None
        if path in self._recorded:
            return reader.load_checkpoint(*self._recorded[path])
        if path in self._files:
            return self._files[path].read_bytes()
        raise NoAgent(f"no checkpoint for the agent trained at {path}: it was neither trained here nor shipped")

    def close(self) -> None:
        """Remove the scratch files."""
        self._scratch.cleanup()
