"""Disks that fail, and a disk that loses what was not synced."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from ledger.files import Disk


class Fault(OSError):
    """The fault that a test injected."""


class FaultyDisk(Disk):
    """Fails at one of its operations, counted from 0: with an error number, or by taking only half of a write."""

    def __init__(self, at: int | None = None, how: int | str = errno.EIO) -> None:
        self.at = at
        self.how = how
        self.log: list[str] = []

    def _count(self, what: str) -> bool:
        """Whether this operation is to take a short write; raises if it is to fail."""
        self.log.append(what)
        if len(self.log) - 1 != self.at:
            return False
        if self.how == "short":
            if what == "write":
                return True
            raise Fault(errno.EIO, "injected")
        raise Fault(self.how, "injected")

    def open(self, path: Path) -> int:
        self._count("open")
        return super().open(path)

    def write(self, descriptor: int, data: bytes) -> int:
        short = self._count("write")
        return super().write(descriptor, data[: len(data) // 2] if short else data)

    def sync(self, descriptor: int) -> None:
        self._count("sync")
        super().sync(descriptor)

    def truncate(self, descriptor: int, length: int) -> None:
        self._count("truncate")
        super().truncate(descriptor, length)

    def rename(self, source: Path, target: Path) -> None:
        self._count("rename")
        super().rename(source, target)

    def sync_directory(self, path: Path) -> None:
        self._count("sync_directory")
        super().sync_directory(path)


class LossyDisk(Disk):
    """Remembers what is not synced yet, so that a power failure can be played at any moment.

    Bytes behind the last sync of a file may be there, may be missing from any byte on, or may be zeros from there on; a
    rename behind the last sync of its folder may not have happened, and a new file's name may be missing.
    """

    def __init__(self) -> None:
        self._paths: dict[int, Path] = {}
        self._synced: dict[Path, bytes] = {}
        self._names: dict[Path, dict[str, bytes]] = {}

    def open(self, path: Path) -> int:
        self._names.setdefault(path.parent, self._listing(path.parent))
        descriptor = super().open(path)
        self._paths[descriptor] = path
        self._synced.setdefault(path, path.read_bytes())
        return descriptor

    def sync(self, descriptor: int) -> None:
        super().sync(descriptor)
        self._synced[self._paths[descriptor]] = self._paths[descriptor].read_bytes()

    def rename(self, source: Path, target: Path) -> None:
        super().rename(source, target)
        self._synced[target] = self._synced.pop(source)

    def sync_directory(self, path: Path) -> None:
        super().sync_directory(path)
        self._names[path] = self._listing(path)

    @staticmethod
    def _listing(folder: Path) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}

    def crashes(self, run: Path, copy: Path) -> Iterator[None]:
        """Leave in ``copy``, one after another, every state that a power failure now could leave of ``run``."""
        unsynced = {
            path: (synced, path.read_bytes())
            for path, synced in self._synced.items()
            if path.exists() and path.read_bytes() != synced
        }
        states: list[dict[Path, bytes]] = [{}]
        for path, (synced, now) in unsynced.items():
            assert now.startswith(synced)
            for length in range(len(synced), len(now) + 1):
                states.append({path: now[:length]})
                states.append({path: now[:length] + bytes(len(now) - length)})
        for folder, names in self._names.items():
            for path in folder.iterdir():
                if path.is_file() and path.name not in names:
                    states.append({path: b""})
            for name, data in names.items():
                if not (folder / name).exists() or (name in ("HEAD", "FORMAT") and (folder / name).read_bytes() != data):
                    states.append({folder / name: data})
        for state in states:
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(run, copy)
            for path, data in state.items():
                (copy / path.relative_to(run)).write_bytes(data)
            yield


def crash_points(disk: LossyDisk) -> None:
    """A marker for readers: crashes are played between any two operations of ``disk``."""


def process_files() -> int:
    """How many file descriptors this process holds."""
    return len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else len(os.listdir("/dev/fd"))
