"""What can be wrong with a ledger; every message is one line and ends with what to do next."""

from __future__ import annotations

from pathlib import Path


class LedgerError(Exception):
    """Any trouble with a ledger."""


class NotARun(LedgerError):
    """The folder holds no ledger."""

    def __init__(self, directory: Path) -> None:
        super().__init__(f"{directory} is not a run: it has no FORMAT file. Name the folder that has one.")


class AlreadyARun(LedgerError):
    """A new ledger was to be created where one is."""

    def __init__(self, directory: Path) -> None:
        super().__init__(f"{directory} already holds a run. Resume it, or name another folder.")


class UnknownFormat(LedgerError):
    """The ledger was written in a format or schema that this version does not know."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what}. Install the version that wrote this ledger, or a later one.")


class WrongHead(LedgerError):
    """HEAD is missing, malformed, or contradicts the events."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"HEAD does not fit the events: {reason}. Restore the run from a copy and verify it.")


class Damaged(LedgerError):
    """Stored bytes are not what was written.

    ``segment`` and ``offset`` name the batch (byte offset in its segment file); ``sequence`` is the first event that
    cannot be trusted.
    """

    def __init__(self, segment: int, offset: int, sequence: int, reason: str) -> None:
        self.segment, self.offset, self.sequence, self.reason = segment, offset, sequence, reason
        super().__init__(
            f"segment {segment:08d}, offset {offset}, from event {sequence}: {reason}. "
            "Nothing was changed; restore the run from a copy, or read the events before this one."
        )


class TornTail(LedgerError):
    """The last batch is unfinished, and nobody was told that it is durable: a crash, or a write under way."""

    def __init__(self, segment: int, offset: int, sequence: int, size: int) -> None:
        self.segment, self.offset, self.sequence, self.size = segment, offset, sequence, size
        super().__init__(
            f"segment {segment:08d}, offset {offset}: {size} bytes of an unfinished batch after event {sequence - 1}. "
            "Nothing acknowledged is lost; resuming the run sets these bytes aside."
        )


class Unreadable(LedgerError, OSError):
    """The system does not let a file of the run be read, or it is no regular file."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{path} cannot be read: {reason}. Check its permissions, or copy the run elsewhere.")


class Locked(LedgerError):
    """Another process writes to this run."""

    def __init__(self, directory: Path, holder: str) -> None:
        super().__init__(f"{directory} is being written by {holder}. Wait for it, or stop it, and try again.")


class Poisoned(LedgerError):
    """A write or sync failed earlier; what reached the disk is unknown until the run is opened again."""

    def __init__(self, cause: BaseException) -> None:
        super().__init__(
            f"this writer stopped at {type(cause).__name__}: {cause}. "
            "Make room or repair the disk, then resume the run: it continues at the last acknowledged event."
        )


class Closed(LedgerError):
    """The writer was closed."""

    def __init__(self) -> None:
        super().__init__("this writer is closed. Open the run again to continue it.")


class RunFinished(LedgerError):
    """A finished run takes no more events."""

    def __init__(self, directory: Path) -> None:
        super().__init__(f"{directory} is finished and takes no more events. Fork it to continue from any of them.")


class Unencodable(LedgerError):
    """A value cannot be stored exactly."""


class Undecodable(LedgerError):
    """A stored value is not of the declared type."""


class CheckpointMissing(LedgerError):
    """A checkpoint is not in the run's folder."""

    def __init__(self, sha256: str) -> None:
        super().__init__(
            f"checkpoint {sha256} is not shipped with this run. Retrain up to it, or copy the file into checkpoints/."
        )


class CheckpointDamaged(LedgerError):
    """A checkpoint's bytes do not have the hash that names it."""

    def __init__(self, sha256: str) -> None:
        super().__init__(
            f"checkpoints/{sha256}.safetensors does not have the hash that names it. Replace the file by a good copy."
        )
