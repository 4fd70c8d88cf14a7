"""Checkpoints: opaque bytes beside the events, named by their SHA-256."""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

from ledger.errors import CheckpointDamaged, CheckpointMissing
from ledger.files import Disk, reading, replace

_NAME = re.compile(r"[0-9a-f]{64}")
_PIECE = 2**20


def checkpoint_path(directory: Path, sha256: str) -> Path:
    """Where a checkpoint is; a name that is no hash cannot lead anywhere else.

    Raises:
        CheckpointMissing: if ``sha256`` is not 64 lower-case hexadecimal digits.
    """
    if not _NAME.fullmatch(sha256):
        raise CheckpointMissing(repr(sha256)[:80])
    return directory / "checkpoints" / f"{sha256}.safetensors"


def load_checkpoint(directory: Path, sha256: str) -> bytes:
    """The bytes of a checkpoint.

    Raises:
        CheckpointMissing: if the run does not hold it.
        CheckpointDamaged: if its bytes have another hash.
    """
    path = checkpoint_path(directory, sha256)
    if not checkpoint_is_whole(path, sha256):
        raise CheckpointDamaged(sha256)
    data = path.read_bytes()
    if hashlib.sha256(data).hexdigest() != sha256:
        raise CheckpointDamaged(sha256)
    return data


def checkpoint_is_whole(path: Path, sha256: str) -> bool:
    """Whether a checkpoint file has the hash that names it, read in pieces.

    Raises:
        CheckpointMissing: if there is none.
    """
    digest = hashlib.sha256()
    try:
        with reading(path) as descriptor:
            while piece := os.read(descriptor, _PIECE):
                digest.update(piece)
    except FileNotFoundError:
        raise CheckpointMissing(sha256) from None
    return digest.hexdigest() == sha256


def save_checkpoint(disk: Disk, directory: Path, data: bytes) -> str:
    """Store a checkpoint durably and return its SHA-256; one that is there already is left alone.

    Raises:
        OSError: if it cannot be written.
    """
    sha256 = hashlib.sha256(data).hexdigest()
    path = checkpoint_path(directory, sha256)
    try:
        if checkpoint_is_whole(path, sha256):
            disk.sync_directory(path.parent)  # its name may be younger than the last crash
            return sha256
    except CheckpointMissing:
        pass
    replace(disk, path, data)
    return sha256
