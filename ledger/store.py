"""The blobs of a run on disk: found by digest, unpacked on demand, at most a few batches kept unpacked."""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path
from threading import RLock

from attrs import frozen

from ledger import frame, lines
from ledger.errors import Undecodable
from ledger.files import pread, reading
from ledger.frame import FrameError, Header
from ledger.segments import Batch, Position, damaged, segment_path

CACHE_BYTES = 32 * 2**20
"""Unpacked blob batches that are kept; one larger than this is kept alone."""


@frozen
class _Place:
    """Where a blob batch stands, and what it must hash to."""

    at: Position
    header: Header


class BlobStore:
    """Blobs by digest. It learns of batches as a reader passes them, and looks into them only when a blob is wanted."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._unread: list[_Place] = []
        self._found: dict[bytes, tuple[_Place, int]] = {}
        self._cache: OrderedDict[Position, list[bytes]] = OrderedDict()
        self._lock = RLock()

    def add(self, batch: Batch) -> None:
        """Learn that a blob batch exists; its content is not looked at and not kept."""
        with self._lock:
            self._unread.append(_Place(batch.at, batch.header))

    def load(self, digest: str) -> bytes:
        """The raw bytes of a blob, checked against its digest.

        Raises:
            Damaged: if its batch is no longer what the reader passed, or the blob is not what its digest says.
            Undecodable: if no batch passed so far holds it.
        """
        with self._lock:
            key = _key(digest)
            while key not in self._found and self._unread:
                place = self._unread.pop()  # newest first: a blob is written just before it is first named
                for number, line in enumerate(self._lines(place)):
                    self._found.setdefault(_key(self._claimed(place, line)), (place, number))
            if key not in self._found:
                raise Undecodable(f"blob {digest} is named by an event but stored nowhere before it")
            place, number = self._found[key]
            try:
                return lines.read_blob(self._lines(place)[number])
            except Undecodable as error:
                raise damaged(place.at, str(error)) from error

    def _claimed(self, place: _Place, line: bytes) -> str:
        try:
            return lines.blob_digest(line)
        except Undecodable as error:
            raise damaged(place.at, str(error)) from error

    def _lines(self, place: _Place) -> list[bytes]:
        if place.at in self._cache:
            self._cache.move_to_end(place.at)
            return self._cache[place.at]
        with reading(segment_path(self._directory, place.at.segment)) as descriptor:
            head = pread(descriptor, frame.HEADER_BYTES, place.at.offset)
            compressed = pread(descriptor, place.header.compressed_bytes, place.at.offset + frame.HEADER_BYTES)
        try:
            frame.check(place.header, head, compressed)
        except FrameError as error:
            raise damaged(place.at, f"{error}, though it had a moment ago") from error
        self._cache[place.at] = Batch(place.at, place.header, compressed).lines()
        while len(self._cache) > 1 and self._cached_bytes() > CACHE_BYTES:
            self._cache.popitem(last=False)
        return self._cache[place.at]

    def _cached_bytes(self) -> int:
        return sum(sum(map(len, kept)) for kept in self._cache.values())


def _key(digest: str) -> bytes:
    try:
        return bytes.fromhex(digest)
    except ValueError:
        raise Undecodable(f"{digest!r:.80} is no digest of a blob") from None
