"""FORMAT and HEAD: what a run is, and how far it is acknowledged."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from attrs import frozen

from ledger.errors import NotARun, UnknownFormat, WrongHead
from ledger.files import Disk, read_small, replace

FORMAT = b'{"format":"ledger","version":1}\n'
"""The one content of a FORMAT file; its SHA-256 is the hash before the first batch."""
GENESIS = hashlib.sha256(FORMAT).digest()
STATUSES = ("open", "finished", "stopped")


@frozen
class Head:
    """The acknowledged end: last sequence number (0 before any event), its batch's hash, bytes of events/."""

    sequence: int
    hash: str
    size: int
    status: str

    def text(self) -> bytes:
        """The one byte form of a HEAD file."""
        tree = {"sequence": self.sequence, "hash": self.hash, "bytes": self.size, "status": self.status}
        return json.dumps(tree, separators=(",", ":")).encode("ascii") + b"\n"


EMPTY = Head(0, GENESIS.hex(), 0, "open")


def check_format(directory: Path) -> None:
    """Check that a folder is a run of a known format.

    Raises:
        NotARun: if there is no FORMAT file.
        UnknownFormat: if it has any other content.
    """
    if not directory.is_dir():
        raise NotARun(directory)
    try:
        found = read_small(directory / "FORMAT")
    except FileNotFoundError:
        raise NotARun(directory) from None
    if found != FORMAT:
        raise UnknownFormat(f"{directory / 'FORMAT'} holds {found[:80]!r} instead of {FORMAT!r}")


def parse_head(text: bytes, name: str) -> Head:
    """The HEAD whose byte form is ``text``.

    Raises:
        WrongHead: if it is any other text.
    """
    try:
        tree = json.loads(text)
        head = Head(tree["sequence"], tree["hash"], tree["bytes"], tree["status"])
        well_formed = (
            type(head.sequence) is int
            and type(head.size) is int
            and head.sequence >= 0
            and head.size >= 0
            and len(bytes.fromhex(head.hash)) == 32
            and head.status in STATUSES
            and head.text() == text
        )
    except (ValueError, KeyError, TypeError, RecursionError):
        well_formed = False
    if not well_formed:
        raise WrongHead(f"{name} holds {text[:80]!r}, which is no HEAD")
    return head


def read_head(directory: Path) -> Head:
    """The HEAD of a run.

    Raises:
        WrongHead: if it is missing or malformed.
    """
    try:
        return parse_head(read_small(directory / "HEAD"), "HEAD")
    except FileNotFoundError:
        raise WrongHead("there is none") from None


def write_head(disk: Disk, directory: Path, head: Head) -> None:
    """Replace HEAD in one durable step."""
    replace(disk, directory / "HEAD", head.text())


def write_format(disk: Disk, directory: Path) -> None:
    """Write FORMAT; a run exists from here on."""
    replace(disk, directory / "FORMAT", FORMAT)
