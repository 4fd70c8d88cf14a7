"""Disks that fail, and a disk that loses what was not synced."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from ledger.files import Disk


class Fault(OSError):
    """The fault that a test injected."""


class QuickDisk(Disk):
    """Syncs nothing: for tests that recover thousands of runs and lose no power meanwhile."""

    def sync(self, descriptor: int) -> None:
        pass

    def sync_directory(self, path: Path) -> None:
        pass


class FaultyDisk(QuickDisk):
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


class LossyDisk(QuickDisk):
    """Keeps account of what is not synced, and calls ``after`` behind every operation so that a test can pull the plug.

    Bytes behind the last sync of a file may survive, be cut at any place, or be zeros from any place on. A new name or
    a rename survives for sure only once its folder was synced.
    """

    def __init__(self, after: Callable[[LossyDisk], None]) -> None:
        self._after = after
        self._paths: dict[int, Path] = {}
        self._synced: dict[Path, bytes] = {}
        self._names: dict[Path, dict[str, bytes]] = {}

    def open(self, path: Path) -> int:
        self._names.setdefault(path.parent, _listing(path.parent))
        descriptor = super().open(path)
        self._paths[descriptor] = path
        self._synced.setdefault(path, path.read_bytes())
        self._after(self)
        return descriptor

    def write(self, descriptor: int, data: bytes) -> int:
        taken = super().write(descriptor, data)
        self._after(self)
        return taken

    def sync(self, descriptor: int) -> None:
        self._after(self)
        self._synced[self._paths[descriptor]] = self._paths[descriptor].read_bytes()

    def rename(self, source: Path, target: Path) -> None:
        super().rename(source, target)
        self._synced[target] = self._synced.pop(source)
        self._after(self)

    def sync_directory(self, path: Path) -> None:
        self._after(self)
        self._names[path] = _listing(path)

    def crashes(self, run: Path, copy: Path, *, stride: int) -> Iterator[None]:
        """Leave in ``copy``, one after another, the states that a power failure now could leave of ``run``.

        Unsynced bytes are cut at every ``stride``-th place.
        """
        all_lost: dict[Path, bytes | None] = {}
        states: list[dict[Path, bytes | None]] = [{}, all_lost]
        for path, synced in self._synced.items():
            now = path.read_bytes() if path.exists() else synced
            all_lost[path] = synced
            for length in range(len(synced), len(now), stride):
                states += [{path: now[:length]}, {path: now[:length] + bytes(len(now) - length)}]
        for folder, names in self._names.items():
            for path in folder.iterdir():
                if path.is_file() and names.get(path.name) != path.read_bytes():
                    # A name may be new, or a rename may have given it other content.
                    old = names.get(path.name)
                    if old is None or path.name in ("HEAD", "FORMAT"):
                        all_lost[path] = old
                        states.append({path: old})
        for state in states:
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(run, copy)
            for path, data in state.items():
                lost = copy / path.relative_to(run)
                if data is None:
                    lost.unlink(missing_ok=True)
                else:
                    lost.write_bytes(data)
            yield


def _listing(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
