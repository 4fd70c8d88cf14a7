"""Compiled functions kept between processes, in a folder that may be full, read-only, damaged or shared.

JAX can keep compiled functions itself; here it is given another store. An entry carries its digest, because a damaged
one could crash the process or compute something else. It appears whole or not at all, so that processes need no lock.
Trouble is told once and costs time only: what cannot be read is compiled again, and after a failed write nothing more
is written.

Whoever may write to the folder can run code in this process. It is made for its owner alone.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from jax._src import compilation_cache
from jax._src.compilation_cache_interface import CacheInterface

SUFFIX: Final = ".compiled"
UNFINISHED: Final = ".unfinished"
DIGEST_BYTES: Final = 32
ABANDONED_SECONDS: Final = 24 * 3600.0

LIMIT_BYTES: Final = 4 * 1024**3
"""Entries that were not used for longest go first."""


class Store(CacheInterface):
    """Entries of a folder: ``<key>.compiled`` holds SHA-256 of key and value, then the value.

    ``tell`` is given one sentence for people, once.
    """

    def __init__(self, folder: Path, tell: Callable[[str], None], limit: int = LIMIT_BYTES) -> None:
        self._path = folder
        self._tell = tell
        self._limit = limit
        self._told = False
        self._writes = True

    def get(self, key: str) -> bytes | None:
        """The value, or ``None`` if there is none that is whole."""
        place = self._place(key)
        try:
            data = place.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            self._trouble(f"cannot be read ({error.strerror})")
            return None
        value = data[DIGEST_BYTES:]
        if data[:DIGEST_BYTES] != _digest(key, value):
            self._trouble(f"holds a damaged entry ({place.name})")
            self._remove(place)
            return None
        self._used(place)
        return value

    def put(self, key: str, value: bytes) -> None:
        """Keep the value, unless an earlier attempt to keep one failed."""
        if not self._writes or len(value) + DIGEST_BYTES > self._limit:
            return
        unfinished: str | None = None
        try:
            self._path.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._make_room(len(value) + DIGEST_BYTES)
            handle, unfinished = tempfile.mkstemp(suffix=UNFINISHED, dir=self._path)
            with os.fdopen(handle, "wb") as file:
                file.write(_digest(key, value))
                file.write(value)
            os.replace(unfinished, self._place(key))
        except OSError as error:
            self._writes = False
            self._trouble(f"cannot be written ({error.strerror})")
            if unfinished is not None:
                self._remove(Path(unfinished))

    def _place(self, key: str) -> Path:
        return self._path / f"{key}{SUFFIX}"

    def _make_room(self, wanted: int) -> None:
        entries = []
        for file in self._path.iterdir():
            try:
                status = file.stat()
            except FileNotFoundError:  # another process made room, too
                continue
            if file.suffix == SUFFIX:
                entries.append((status.st_mtime, status.st_size, file))
            elif file.suffix == UNFINISHED and time.time() - status.st_mtime > ABANDONED_SECONDS:
                self._remove(file)
        excess = sum(size for _, size, _ in entries) + wanted - self._limit
        for _, size, file in sorted(entries):
            if excess <= 0:
                return
            self._remove(file)
            excess -= size

    def _remove(self, file: Path) -> None:
        try:
            file.unlink(missing_ok=True)
        except OSError as error:
            self._trouble(f"cannot be written ({error.strerror})")

    def _used(self, file: Path) -> None:
        try:
            os.utime(file)
        except OSError:
            # someone else's folder, or gone meanwhile: the entry only counts as unused for longer than it was
            return

    def _trouble(self, what: str) -> None:
        if not self._told:
            self._told = True
            self._tell(
                f"the folder of compiled functions {self._path} {what}: nothing is lost, starting takes longer; "
                "mend or delete the folder, name another one in operational.compile_cache_dir, or do without one: "
                "JAX_ENABLE_COMPILATION_CACHE=false"
            )


def keep_compiled(folder: Path, tell: Callable[[str], None], limit: int = LIMIT_BYTES) -> Store:
    """Keep what this process compiles from now on in ``folder``, and take from there what others compiled.

    What JAX's settings exclude (``jax_enable_compilation_cache``, quick compilations) is not kept.
    """
    store = Store(folder, tell, limit)
    compilation_cache.reset_cache()
    # JAX has no public way to give it a store of one's own; a test sees to it that this one is used.
    compilation_cache._cache = store
    compilation_cache._cache_initialized = True
    return store


def _digest(key: str, value: bytes) -> bytes:
    return hashlib.sha256(key.encode() + b"\0" + value).digest()
