"""One writer per run: a lock that ends with its holder, however that dies."""

from __future__ import annotations

import fcntl
import os
import re
import weakref
from pathlib import Path

from ledger.errors import Locked
from ledger.files import SMALL_FILE_BYTES, pread

_HOLDER = re.compile(rb"(process \d+)\n")


class Lock:
    """An exclusive lock on a run, held from construction to :meth:`release`.

    The kernel holds it (``flock``) and drops it with the last descriptor, so a killed process keeps nothing. The file's
    text only tells people who holds it; the file itself stays.

    Raises:
        Locked: if another writer holds it, in this process or another.
    """

    def __init__(self, directory: Path) -> None:
        self._descriptor: int | None = os.open(
            directory / "LOCK", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644
        )
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.ftruncate(self._descriptor, 0)
            os.pwrite(self._descriptor, f"process {os.getpid()}\n".encode("ascii"), 0)
        except BlockingIOError:
            holder = _HOLDER.fullmatch(pread(self._descriptor, SMALL_FILE_BYTES, 0))
            self.release()
            raise Locked(directory, holder[1].decode("ascii") if holder else "another process") from None
        except OSError:
            self.release()
            raise
        _HELD.add(self)

    def release(self) -> None:
        """Give the lock back; more than once does no harm."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


_HELD: weakref.WeakSet[Lock] = weakref.WeakSet()


def _forget_in_child() -> None:
    # A forked child shares its parent's lock: it would hold it on after the parent's death.
    for lock in list(_HELD):
        lock.release()


os.register_at_fork(after_in_child=_forget_in_child)
