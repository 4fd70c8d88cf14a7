"""Integrity of a run: everything that hashes and counts can show, without reading what the events say."""

from __future__ import annotations

import re
from pathlib import Path

from attrs import define, field, frozen

from ledger import lines, segments
from ledger.checkpoints import checkpoint_is_whole, checkpoint_path
from ledger.errors import (
    CheckpointDamaged,
    CheckpointMissing,
    LedgerError,
    TornTail,
    Undecodable,
    Unreadable,
    WrongHead,
)
from ledger.files import read_small
from ledger.frame import Kind
from ledger.head import Head, check_format, parse_head, read_head
from ledger.segments import Batch, Position, Torn, damaged

# Quotes inside JSON strings are escaped, so that no text can look like these.
_BLOB = re.compile(rb'\{"blob":"([^"]*)"')
_CHECKPOINT = re.compile(rb'"checkpoint":"([^"]*)"')


@frozen
class Verification:
    """What a verification found.

    ``beyond_head`` counts bytes of whole, chained batches that HEAD does not acknowledge yet: normal after a crash, and
    beside a writer. ``not_shipped`` are checkpoints that events name and the folder does not hold: a recording may ship
    only some. ``torn_tail`` is the trace of a crash, or of a write under way. ``quarantined`` are files that earlier
    torn tails were moved to.
    """

    status: str
    events: int
    blobs: int
    batches: int
    raw_bytes: int
    stored_bytes: int
    sequence: int
    hash: str
    beyond_head: int
    torn_tail: TornTail | None
    checkpoints: int
    not_shipped: tuple[str, ...]
    damaged_checkpoints: tuple[str, ...]
    quarantined: tuple[str, ...]
    problems: tuple[LedgerError, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing is damaged; a torn tail is no damage."""
        return not self.problems

    def check(self) -> None:
        """Raise the first problem, or else the torn tail.

        Raises:
            LedgerError: if anything is damaged.
            TornTail: if only the tail is unfinished.
        """
        for error in (*self.problems, self.torn_tail):
            if error is not None:
                raise error


@define
class _Tally:
    """What has been seen so far of a run that is being verified."""

    at: Position = field(factory=Position)
    batches: int = 0
    events: int = 0
    raw_bytes: int = 0
    torn: Torn | None = None
    blobs: set[str] = field(factory=set)
    checkpoints: set[str] = field(factory=set)


def verify(directory: Path, head: Path | None = None) -> Verification:
    """Check every byte of a run against its chain, its HEAD, its blobs' names and its checkpoints' names.

    ``head`` is a HEAD file from outside the run (committed, published): only that shows that the run was not cut at a
    batch or written anew as a whole. If its status is ``finished``, the run must end there. Event lines are counted and
    their numbers compared, not parsed. Beside a writer, a write under way shows as a torn tail.

    Raises:
        NotARun, UnknownFormat: if there is nothing to verify. Everything else is in the result.
    """
    check_format(directory)
    problems: list[LedgerError] = []
    inside: Head | None = None
    outside: Head | None = None
    try:
        inside = read_head(directory)
        if head is not None:
            outside = _outside(head, inside)
    except WrongHead as error:
        problems.append(error)
    tally = _Tally()
    try:
        _walk(directory, outside, tally)
    except LedgerError as error:
        if inside is not None or not problems:
            problems.append(error)
    not_shipped, broken = _check_checkpoints(directory, tally.checkpoints)
    problems.extend(CheckpointDamaged(name) for name in broken)
    return Verification(
        status=inside.status if inside else "unknown",
        events=tally.events,
        blobs=len(tally.blobs),
        batches=tally.batches,
        raw_bytes=tally.raw_bytes,
        stored_bytes=tally.at.total,
        sequence=tally.at.sequence,
        hash=tally.at.hash.hex(),
        beyond_head=max(0, tally.at.total - inside.size) if inside else 0,
        torn_tail=_torn_tail(tally.torn),
        checkpoints=len(tally.checkpoints) - len(not_shipped) - len(broken),
        not_shipped=not_shipped,
        damaged_checkpoints=broken,
        quarantined=tuple(sorted(path.name for path in (directory / "events").glob("*.torn"))),
        problems=tuple(problems),
    )


def _outside(path: Path, inside: Head) -> Head:
    try:
        outside = parse_head(read_small(path), str(path))
    except FileNotFoundError as error:
        raise WrongHead(f"the given one, {path}, is not there") from error
    if outside.status == "finished" and inside != outside:
        raise WrongHead(f"the given one is {outside.text()!r}, the run's own is {inside.text()!r}")
    return outside


def _walk(directory: Path, outside: Head | None, tally: _Tally) -> None:
    if outside is not None:
        segments.meet(outside, tally.at, tally.at, "the given HEAD")
    for found in segments.scan(directory):
        if isinstance(found, Torn):
            tally.torn = found
            continue
        if outside is not None:
            segments.meet(outside, tally.at, found.end, "the given HEAD")
        content = found.lines()
        if found.header.kind is Kind.BLOBS:
            _check_blobs(found, content, tally)
        else:
            _check_events(found, content, tally)
        tally.batches += 1
        tally.raw_bytes += found.header.raw_bytes
        tally.at = found.end
    if outside is not None:
        segments.end(outside, tally.at, "the given HEAD")


def _check_blobs(batch: Batch, content: list[bytes], tally: _Tally) -> None:
    for line in content:
        try:
            raw = lines.read_blob(line)
        except Undecodable as error:
            raise damaged(batch.at, str(error)) from error
        digest = lines.blob_digest(line)
        if line != lines.write_blob(digest, raw):
            raise damaged(batch.at, f"blob {digest} is not in its one stored form")
        if digest in tally.blobs:
            raise damaged(batch.at, f"blob {digest} is stored twice")
        tally.blobs.add(digest)


def _check_events(batch: Batch, content: list[bytes], tally: _Tally) -> None:
    for sequence, line in enumerate(content, batch.header.first):
        try:
            event = lines.event_bytes(line)
        except Undecodable as error:
            raise damaged(batch.at, f"event {sequence} cannot be read: {error}") from error
        if not lines.starts_with(line, sequence):
            raise damaged(batch.at, f"the line of event {sequence} has another number")
        for named in _BLOB.findall(event):
            if named.decode("ascii", "replace") not in tally.blobs:
                raise damaged(batch.at, f"event {sequence} names blob {named!r:.80}, which is stored nowhere before it")
        tally.checkpoints.update(name.decode("ascii", "replace") for name in _CHECKPOINT.findall(event))
        tally.events += 1


def _check_checkpoints(directory: Path, names: set[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The named checkpoints that are not shipped, and those that are not what their name says."""
    missing, broken = [], []
    for name in sorted(names):
        try:
            if not checkpoint_is_whole(checkpoint_path(directory, name), name):
                broken.append(name)
        except CheckpointMissing:
            missing.append(name)
        except Unreadable:
            broken.append(name)
    return tuple(missing), tuple(broken)


def _torn_tail(torn: Torn | None) -> TornTail | None:
    if torn is None:
        return None
    return TornTail(torn.at.segment, torn.at.offset, torn.at.sequence + 1, torn.size)
