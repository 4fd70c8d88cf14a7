"""The semantic digest: what an experiment did, whenever, wherever and at whatever price."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

from ledger import lines
from ledger.codec import canonical
from ledger.errors import Undecodable
from ledger.frame import Kind
from ledger.segments import Torn, damaged, scan
from ledger.vocabulary.events import SEMANTIC, Event


def semantic_digest(directory: Path, *, through: int | None = None) -> str:
    """SHA-256, in hexadecimal, over the stored bytes of a run's semantic events, each followed by a newline.

    Sequence numbers, times, sources, usage and reported fields stand outside those bytes; bodies are covered by their
    digests. ``through`` ends it with the event of that sequence number. Nothing is parsed. A torn tail is left out.

    Raises:
        NotARun, UnknownFormat, WrongHead, Damaged: if the run cannot be trusted.
    """
    digest = hashlib.sha256()
    for batch in scan(directory):
        if isinstance(batch, Torn):
            break
        if batch.header.kind is Kind.BLOBS:
            continue
        for sequence, line in enumerate(batch.lines(), batch.header.first):
            if through is not None and sequence > through:
                return digest.hexdigest()
            try:
                event = lines.event_bytes(line)
            except Undecodable as error:
                raise damaged(batch.at, f"event {sequence} cannot be read: {error}") from error
            if lines.is_semantic(event):
                digest.update(event + b"\n")
    return digest.hexdigest()


def digest_of(events: Iterable[Event]) -> str:
    """The semantic digest that a run of these events has once it is written."""
    digest = hashlib.sha256()
    for event in events:
        if isinstance(event, SEMANTIC):
            digest.update(canonical(event) + b"\n")
    return digest.hexdigest()
