"""The chain of batches on disk, walked from the first: every reader, the writer and ``verify`` see it through here."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from attrs import frozen

from ledger import frame
from ledger.errors import Damaged, WrongHead
from ledger.files import pread, reading
from ledger.frame import FrameError, Header
from ledger.head import GENESIS, Head, check_format, read_head

_SEGMENT = re.compile(r"\d{8}\.zst")
_IGNORED = re.compile(r".*\.(torn|tmp)")


@frozen
class Position:
    """A place between two batches: the end of ``total`` bytes of events, after event ``sequence``."""

    segment: int = 0
    offset: int = 0
    total: int = 0
    sequence: int = 0
    hash: bytes = GENESIS

    def after(self, header: Header) -> Position:
        """The place behind the next batch of the same segment."""
        return Position(self.segment, self.offset + header.size, self.total + header.size, header.next - 1, header.hash)


@frozen
class Batch:
    """A batch whose hashes hold; its lines are unpacked only when asked for."""

    at: Position
    header: Header
    compressed: bytes

    @property
    def end(self) -> Position:
        """The place behind it."""
        return self.at.after(self.header)

    def lines(self) -> list[bytes]:
        """Its lines, without newlines.

        Raises:
            Damaged: if the body is not one ordinary zstd frame of the declared size.
        """
        try:
            return frame.decompress(self.header, self.compressed)
        except FrameError as error:
            raise damaged(self.at, str(error)) from error


@frozen
class Torn:
    """What stands at the end instead of a batch: ``size`` bytes that nobody was told are durable."""

    at: Position
    size: int


def damaged(at: Position, reason: str) -> Damaged:
    """The error that names a place."""
    return Damaged(at.segment, at.offset, at.sequence + 1, reason)


def segment_path(directory: Path, number: int) -> Path:
    """Where a segment is."""
    return directory / "events" / f"{number:08d}.zst"


def scan(directory: Path) -> Iterator[Batch | Torn]:
    """Every batch of a run in order, its place in the chain checked; last, if there is one, the torn tail.

    Safe beside a writer: HEAD is read first, so that at least what it acknowledges must be there; a batch that is being
    written looks like a torn tail. Bodies are hashed, not unpacked.

    Raises:
        NotARun, UnknownFormat: before the first batch.
        WrongHead: if HEAD is missing, malformed, or names another hash at its place.
        Damaged: at the first bytes that are not what was written, unless they are a torn tail.
    """
    check_format(directory)
    head = read_head(directory)
    position = Position()
    meet(head, position, position)
    while segment_path(directory, position.segment).exists():
        with reading(segment_path(directory, position.segment)) as descriptor:
            while (found := _next(directory, descriptor, position, head)) is not None:
                if isinstance(found, Torn):
                    yield found
                    return
                meet(head, position, found.end)
                yield found
                position = found.end
        if not segment_path(directory, position.segment + 1).exists():
            break
        if position.offset == 0:
            raise damaged(position, "an empty segment, though another follows")
        position = Position(position.segment + 1, 0, position.total, position.sequence, position.hash)
    end(head, position)
    foreign = foreign_files(directory)
    if foreign:
        raise damaged(position, f"events/ holds {foreign[0]!r}, which no writer makes there")


def foreign_files(directory: Path) -> list[str]:
    """Names in ``events/`` that belong to no segment up to the first gap, and to no file set aside."""
    if not (directory / "events").is_dir():  # version control drops empty folders
        return []
    names = sorted(path.name for path in (directory / "events").iterdir() if not _IGNORED.fullmatch(path.name))
    return [name for number, name in enumerate(names) if name != f"{number:08d}.zst"]


def meet(head: Head, before: Position, after: Position, name: str = "HEAD") -> None:
    """Check a HEAD where a step of the walk reaches or passes its place; the walk's start is a step to itself.

    Raises:
        WrongHead: if the events have another sequence number or hash there.
        Damaged: if there are events beyond the HEAD of a finished run.
    """
    if after.total == head.size:
        if (after.sequence, after.hash.hex()) != (head.sequence, head.hash):
            raise WrongHead(
                f"{name} has event {head.sequence} and hash {head.hash} after {head.size} bytes, "
                f"the events have {after.sequence} and {after.hash.hex()}"
            )
    elif before.total < head.size < after.total:
        raise WrongHead(f"the {head.size} bytes of {name} end inside a batch")
    elif after.total > head.size and head.status == "finished":
        raise damaged(before, f"bytes beyond the {name} of a finished run")


def end(head: Head, position: Position, name: str = "HEAD") -> None:
    """Check a HEAD at the end of the walk.

    Raises:
        Damaged: if it acknowledges bytes that are not there.
    """
    if position.total < head.size:
        raise damaged(position, f"the events end after {position.total} bytes, but {name} acknowledges {head.size}")


def _next(directory: Path, descriptor: int, at: Position, head: Head) -> Batch | Torn | None:
    """The batch at a place, ``None`` at the end of its segment, or what stands there instead.

    A writer may be at work: what is missing or half there at the first look is looked for once more *after* something
    behind it was seen, because a writer begins nothing before what precedes it is whole and synced.
    """
    try:
        found = _batch(descriptor, at)
        if found is None and segment_path(directory, at.segment + 1).exists():
            found = _batch(descriptor, at)
        return found
    except FrameError as error:
        reason = str(error)
    tail = pread(descriptor, max(0, os.fstat(descriptor).st_size - at.offset), at.offset)
    followed = frame.find_whole(tail) or segment_path(directory, at.segment + 1).exists()
    try:
        return _batch(descriptor, at)
    except FrameError:
        pass
    if at.total < head.size:
        raise damaged(at, f"{reason}, though HEAD acknowledges it")
    if head.status == "finished":
        raise damaged(at, "bytes beyond the HEAD of a finished run")
    if followed:
        raise damaged(at, f"{reason}, though whole batches follow")
    return Torn(at, len(tail))


def _batch(descriptor: int, at: Position) -> Batch | None:
    head = pread(descriptor, frame.HEADER_BYTES, at.offset)
    if not head:
        return None
    header = frame.unpack_header(head)
    if header.segment != at.segment:
        raise FrameError(f"a batch of segment {header.segment}")
    if header.first != at.sequence + 1:
        raise FrameError(f"a batch that begins at event {header.first}")
    if header.previous != at.hash:
        raise FrameError("a batch that continues another chain")
    compressed = pread(descriptor, header.compressed_bytes, at.offset + frame.HEADER_BYTES)
    frame.check(header, head, compressed)
    return Batch(at, header, compressed)
