"""Reading a run: events in order, bodies on demand."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ledger import lines
from ledger.checkpoints import load_checkpoint
from ledger.errors import Undecodable
from ledger.frame import Kind
from ledger.lines import Record
from ledger.schema import SCHEMA, Schema
from ledger.segments import Torn, damaged, scan
from ledger.store import BlobStore

__all__ = ["Record", "load_checkpoint", "read"]


def read(directory: Path, *, after: int = 0, schema: Schema = SCHEMA) -> Iterator[Record]:
    """Every event of a run after sequence number ``after``, in order.

    Safe beside a writer: what it yields is a prefix of what the writer acknowledges, or will when it resumes. A torn
    tail ends it quietly (``verify`` reports it). Long bodies stay on disk until they are looked at, and are checked
    against their digest then, so memory does not grow with the run. Nothing is executed and nothing is written.

    Raises:
        NotARun, UnknownFormat, WrongHead, Damaged: at the place in question, after the events before it.
    """
    store = BlobStore(directory)
    for batch in scan(directory):
        if isinstance(batch, Torn):
            return
        if batch.header.kind is Kind.BLOBS:
            store.add(batch)
        elif batch.end.sequence > after:
            for sequence, line in enumerate(batch.lines(), batch.header.first):
                if sequence <= after:
                    continue
                try:
                    record = lines.read(line, batch.header.schema, schema, store.load)
                    if record.sequence != sequence:
                        raise Undecodable(f"its line says event {record.sequence}")
                except Undecodable as error:
                    raise damaged(batch.at, f"event {sequence} cannot be read: {error}") from error
                yield record
