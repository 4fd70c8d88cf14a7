"""The few file operations that durability rests on, behind one object so that tests can make each of them fail."""

from __future__ import annotations

import fcntl
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ledger.errors import Unreadable

SMALL_FILE_BYTES = 4096


class Disk:
    """Effects on files. Every method raises ``OSError`` where the system does."""

    def open(self, path: Path) -> int:
        """Open for appending; create if absent. Symbolic links are refused: they lead out of the run."""
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)

    def write(self, descriptor: int, data: bytes) -> int:
        """Write once; returns how many bytes were taken."""
        return os.write(descriptor, data)

    def sync(self, descriptor: int) -> None:
        """Bring a file's bytes to the disk itself."""
        if hasattr(fcntl, "F_FULLFSYNC"):  # there, fsync alone stops at the drive's cache
            fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
        else:
            os.fsync(descriptor)

    def truncate(self, descriptor: int, length: int) -> None:
        """Cut a file."""
        os.ftruncate(descriptor, length)

    def rename(self, source: Path, target: Path) -> None:
        """Replace ``target`` by ``source`` in one step."""
        os.replace(source, target)

    def sync_directory(self, path: Path) -> None:
        """Make names in a folder durable."""
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def write_whole(disk: Disk, descriptor: int, data: bytes) -> None:
    """Write ``data`` in one call.

    Raises:
        OSError: if the system took fewer bytes: a regular file does that when its disk is full.
    """
    taken = disk.write(descriptor, data)
    if taken != len(data):
        raise OSError(f"only {taken} of {len(data)} bytes were written")


def replace(disk: Disk, path: Path, data: bytes) -> None:
    """Give a file new content in one durable step: temporary file, sync, rename, sync of the folder."""
    temporary = path.with_name(path.name + ".tmp")
    descriptor = disk.open(temporary)
    try:
        disk.truncate(descriptor, 0)  # what a crash left behind
        write_whole(disk, descriptor, data)
        disk.sync(descriptor)
    finally:
        os.close(descriptor)
    disk.rename(temporary, path)
    disk.sync_directory(path.parent)


@contextmanager
def reading(path: Path) -> Iterator[int]:
    """Open a regular file for reading.

    Raises:
        FileNotFoundError: if there is none.
        Unreadable: if it is a pipe, a device or a folder, or the system refuses.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise Unreadable(path, "it is no regular file")
            yield descriptor
        finally:
            os.close(descriptor)
    except (FileNotFoundError, Unreadable):
        raise
    except OSError as error:
        raise Unreadable(path, error.strerror or str(error)) from error


def pread(descriptor: int, size: int, offset: int) -> bytes:
    """Up to ``size`` bytes at ``offset``; fewer only at the end of the file."""
    pieces = []
    while size and (piece := os.pread(descriptor, size, offset)):
        pieces.append(piece)
        size -= len(piece)
        offset += len(piece)
    return b"".join(pieces)


def read_small(path: Path) -> bytes:
    """A file of at most ``SMALL_FILE_BYTES``; of a longer one, one byte more than that."""
    with reading(path) as descriptor:
        return pread(descriptor, SMALL_FILE_BYTES + 1, 0)
