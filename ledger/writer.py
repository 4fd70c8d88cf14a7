"""The one writer of a run: append, commit, and never go on after a fault."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType

from ledger import frame, lines
from ledger.checkpoints import save_checkpoint
from ledger.errors import AlreadyARun, Closed, LedgerError, Poisoned, RunFinished, Undecodable, Unencodable
from ledger.files import Disk, pread, reading, replace, write_whole
from ledger.frame import Kind
from ledger.head import EMPTY, STATUSES, Head, check_format, read_head, write_format, write_head
from ledger.lines import Record
from ledger.lock import Lock
from ledger.schema import SCHEMA
from ledger.segments import Position, Torn, damaged, scan, segment_path
from ledger.vocabulary.events import Event, Usage

SEGMENT_BYTES = 64 * 2**20
"""A segment takes no further batch beyond this size; a single larger batch stands alone."""
_BATCH_BYTES = 4 * 2**20
_BUFFER_BYTES = 16 * 2**20

Clock = Callable[[], datetime]


def now() -> datetime:
    """The time in UTC."""
    return datetime.now(UTC)


class Writer:
    """Appends events to a run; a context manager that commits and closes at its end.

    ``append`` only buffers. What ``commit`` returned for is durable; so is a checkpoint once ``save_checkpoint``
    returned. After any failed write, sync or rename the writer is poisoned: nothing is tried again, every later call
    raises ``Poisoned``, and opening the run anew finds what reached the disk.
    """

    def __init__(self, directory: Path, lock: Lock, *, clock: Clock, segment_bytes: int, disk: Disk) -> None:
        """Use :meth:`create` or :meth:`open`."""
        self.directory = directory
        self.quarantined: Path | None = None
        """Where a torn tail was set aside when the run was opened, if there was one."""
        self._lock = lock
        self._clock = clock
        self._segment_bytes = segment_bytes
        self._disk = disk
        self._head = read_head(directory)
        self._at = Position()
        self._descriptor: int | None = None
        self._stored: set[bytes] = set()
        self._events: list[bytes] = []
        self._blobs: list[bytes] = []
        self._buffered = 0
        self._cause: BaseException | None = None
        self._closed = False

    # --- opening -----------------------------------------------------------------------------------------------------

    @classmethod
    def create(
        cls, directory: Path, *, clock: Clock = now, segment_bytes: int = SEGMENT_BYTES, disk: Disk | None = None
    ) -> Writer:
        """Begin a run in a new folder, or in one that holds no run.

        Raises:
            AlreadyARun: if the folder holds a run, or events.
            Locked: if another writer is at work there.
            OSError: if it cannot be written; the folder then holds no run yet, or an empty one.
        """
        disk = disk or Disk()
        _make_folders(directory)
        lock = Lock(directory)
        try:
            if (directory / "FORMAT").exists() or any((directory / "events").iterdir()):
                raise AlreadyARun(directory)
            write_head(disk, directory, EMPTY)
            write_format(disk, directory)  # last: before it, the folder is no run
            disk.sync_directory(directory.parent)
            return cls(directory, lock, clock=clock, segment_bytes=segment_bytes, disk=disk)
        except BaseException:
            lock.release()
            raise

    @classmethod
    def open(
        cls, directory: Path, *, clock: Clock = now, segment_bytes: int = SEGMENT_BYTES, disk: Disk | None = None
    ) -> Writer:
        """Continue a run at its last whole batch; a torn tail is moved into a file beside its segment.

        Raises:
            NotARun, UnknownFormat: if this is no run that this program can continue.
            Locked: if another writer is at work.
            WrongHead, Damaged: if anything but the tail is not what was written; nothing is changed then.
            OSError: if the tail cannot be set aside.
        """
        check_format(directory)
        lock = Lock(directory)
        try:
            writer = cls(directory, lock, clock=clock, segment_bytes=segment_bytes, disk=disk or Disk())
            _make_folders(directory)
            writer._recover()
            return writer
        except BaseException:
            lock.release()
            raise

    def _recover(self) -> None:
        torn: Torn | None = None
        for found in scan(self.directory):
            if isinstance(found, Torn):
                torn = found
                continue
            for line in found.lines():
                if found.header.kind is Kind.BLOBS:
                    try:
                        self._stored.add(bytes.fromhex(lines.blob_digest(line)))
                    except Undecodable as error:
                        raise damaged(found.at, str(error)) from error
            self._at = found.end
        if torn is not None:
            self._at = torn.at
            self._set_aside(torn)
        while segment_path(self.directory, self._at.segment + 1).exists():  # begun, and still empty
            self._at = Position(self._at.segment + 1, 0, self._at.total, self._at.sequence, self._at.hash)
        if self._at.total != self._head.size:
            # Whole batches beyond HEAD: readers have seen them, so they are acknowledged now.
            self._sync_segment()
            self._write_head("open")

    def _set_aside(self, torn: Torn) -> None:
        path = segment_path(self.directory, torn.at.segment)
        with reading(path) as descriptor:
            tail = pread(descriptor, torn.size, torn.at.offset)
        name = f"{path.stem}.{torn.at.offset}.{hashlib.sha256(tail).hexdigest()[:16]}.torn"
        replace(self._disk, path.with_name(name), tail)
        descriptor = self._disk.open(path)
        try:
            self._disk.truncate(descriptor, torn.at.offset)
            self._disk.sync(descriptor)
        finally:
            os.close(descriptor)
        self.quarantined = path.with_name(name)

    # --- writing -----------------------------------------------------------------------------------------------------

    @property
    def sequence(self) -> int:
        """Sequence number of the last event appended, committed or not; 0 before any."""
        return self._at.sequence + len(self._events)

    @property
    def status(self) -> str:
        """The run's status as HEAD has it: ``open``, ``finished`` or ``stopped``."""
        return self._head.status

    def append(self, event: Event, *, source: str = "live", usage: Usage | None = None) -> int:
        """Buffer an event and return its sequence number; its long bodies go with it, each once per run.

        A buffer that has grown large is committed at once.

        Raises:
            Unencodable: if the event is too large or a field holds anything but its declared type; nothing is kept.
            RunFinished, Closed, Poisoned: if this writer takes no more events.
        """
        self._check_usable()
        if self._head.status == "finished":
            raise RunFinished(self.directory)
        time = self._clock().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        line = lines.write(Record(self.sequence + 1, time, source, usage, event))
        fresh = {}
        for body in lines.bodies(event):
            key = bytes.fromhex(body.digest)
            if key not in self._stored and key not in fresh:
                fresh[key] = lines.write_blob(body.digest, body.raw)
        for text in (line, *fresh.values()):
            if len(text) >= frame.MAX_RAW_BYTES:
                raise Unencodable(f"a line of {len(text)} bytes is longer than {frame.MAX_RAW_BYTES}. Split the text.")
        self._stored |= fresh.keys()
        self._blobs += fresh.values()
        self._events.append(line)
        self._buffered += len(line) + sum(map(len, fresh.values()))
        sequence = self.sequence
        if self._buffered > _BUFFER_BYTES:
            self.commit()
        return sequence

    def commit(self) -> None:
        """Make every appended event durable, HEAD included; does nothing if there is none.

        Raises:
            Poisoned: if the disk refused; what reached it is unknown until the run is opened again.
            Closed: if the writer was closed.
        """
        self._check_usable()
        if self._events:
            with self._poisoning():
                for kind, waiting in ((Kind.BLOBS, self._blobs), (Kind.EVENTS, self._events)):
                    for batch in _batches(waiting):
                        self._write_batch(kind, batch)
                self._blobs, self._events, self._buffered = [], [], 0
                self._write_head("open")

    def save_checkpoint(self, data: bytes) -> str:
        """Store a checkpoint durably and return the SHA-256 that names it.

        Raises:
            Poisoned: if the disk refused.
            Closed: if the writer was closed.
        """
        self._check_usable()
        with self._poisoning():
            return save_checkpoint(self._disk, self.directory, data)

    def close(self, status: str = "open") -> None:
        """Commit, record the run's status in HEAD, and let the lock go. A finished run stays finished.

        ``finished``: the loop returned. ``stopped``: a budget or a person ended it, and it can be resumed. ``open``:
        neither.

        Raises:
            Poisoned: if the disk refused now or before; the lock is free all the same.
        """
        if status not in STATUSES:
            raise LedgerError(f"the status {status!r} is none of {', '.join(STATUSES)}. Use one of them.")
        if self._closed:
            return
        try:
            self.commit()
            if self._head.status not in ("finished", status):
                with self._poisoning():
                    self._write_head(status)
        finally:
            self._release()

    def __enter__(self) -> Writer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._cause is not None and error is not None:
            self._release()  # the error that is on its way tells it
        else:
            self.close()

    # --- below -------------------------------------------------------------------------------------------------------

    def _check_usable(self) -> None:
        if self._cause is not None:
            raise Poisoned(self._cause)
        if self._closed:
            raise Closed()

    @contextmanager
    def _poisoning(self) -> Iterator[None]:
        try:
            yield
        except BaseException as error:  # an interrupt leaves a write as unknown as a fault does
            self._cause = error
            if isinstance(error, OSError):
                raise Poisoned(error) from error
            raise

    def _release(self) -> None:
        self._closed = True
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
        self._lock.release()

    def _write_batch(self, kind: Kind, batch: list[bytes]) -> None:
        compressed = frame.compress(batch)
        size = frame.HEADER_BYTES + len(compressed)
        if self._at.offset and self._at.offset + size > self._segment_bytes:
            if self._descriptor is not None:
                os.close(self._descriptor)
                self._descriptor = None
            self._at = Position(self._at.segment + 1, 0, self._at.total, self._at.sequence, self._at.hash)
        header, data = frame.pack(
            batch,
            compressed,
            schema=SCHEMA.version,
            kind=kind,
            segment=self._at.segment,
            first=self._at.sequence + 1,
            previous=self._at.hash,
        )
        write_whole(self._disk, self._open_segment(), data)
        # One sync per batch: a whole batch then proves that those before it were whole, wherever the power fails.
        self._sync_segment()
        self._at = self._at.after(header)

    def _open_segment(self) -> int:
        if self._descriptor is None:
            self._descriptor = self._disk.open(segment_path(self.directory, self._at.segment))
            self._disk.sync_directory(self.directory / "events")
        return self._descriptor

    def _sync_segment(self) -> None:
        self._disk.sync(self._open_segment())

    def _write_head(self, status: str) -> None:
        head = Head(self._at.sequence, self._at.hash.hex(), self._at.total, status)
        write_head(self._disk, self.directory, head)
        self._head = head


def _make_folders(directory: Path) -> None:
    # On opening too: version control drops folders that are empty.
    (directory / "events").mkdir(parents=True, exist_ok=True)
    (directory / "checkpoints").mkdir(exist_ok=True)


def _batches(waiting: list[bytes]) -> Iterator[list[bytes]]:
    batch: list[bytes] = []
    size = 0
    for line in waiting:
        if batch and (size + len(line) + 1 > _BATCH_BYTES or len(batch) == frame.MAX_LINES):
            yield batch
            batch, size = [], 0
        batch.append(line)
        size += len(line) + 1
    if batch:
        yield batch
