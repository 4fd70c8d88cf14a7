"""One event as one line of JSON: envelope first, the event itself last, so that its bytes can be cut out unparsed."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator
from typing import Any

import attrs
from attrs import frozen

from ledger import codec
from ledger.blobs import Load
from ledger.errors import Undecodable, Unencodable
from ledger.hooks import is_blob
from ledger.schema import Schema
from ledger.vocabulary.body import BLOB_THRESHOLD_BYTES, Body, Data
from ledger.vocabulary.events import SEMANTIC, SOURCES, Event, Usage
from ledger.vocabulary.path import Path

_MARK = b',"event":'
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")
_SEMANTIC = tuple(f'{{"kind":"{kind.__name__}"'.encode("ascii") for kind in SEMANTIC)
_BLOB_START = b'{"blob":"'
_BLOB = re.compile(re.escape(_BLOB_START) + b'([0-9a-f]{64})",')


@frozen
class Record:
    """An event with its envelope: sequence number (from 1), time of writing (UTC), source, tokens spent."""

    sequence: int
    time: str
    source: str
    usage: Usage | None
    event: Event


def write(record: Record) -> bytes:
    """The line of an event, without its newline.

    Raises:
        Unencodable: if a field holds anything but its declared type, or the source is none of ``SOURCES``.
    """
    if record.source not in SOURCES:
        raise Unencodable(f"the source {record.source!r} is none of {', '.join(SOURCES)}")
    envelope: dict[str, Any] = {"seq": record.sequence, "time": record.time, "source": record.source}
    if record.usage is not None:
        envelope["usage"] = codec.plain(record.usage)
    if fields := reported(record.event):
        envelope["reported"] = fields
    event = codec.canonical(record.event)
    codec.check_size(event, Unencodable)
    return codec.dump(envelope)[:-1] + _MARK + event + b"}"


def event_bytes(line: bytes) -> bytes:
    """The stored bytes of a line's event, cut out without parsing.

    The mark cannot occur earlier: quotes inside JSON strings are escaped, and no envelope key has this name.

    Raises:
        Undecodable: if the line has no event.
    """
    at = line.find(_MARK)
    if at < 0 or not line.endswith(b"}"):
        raise Undecodable('a line without ,"event":')
    return line[at + len(_MARK) : -1]


def is_semantic(event: bytes) -> bool:
    """Whether stored event bytes are of a semantic event (``Started``, ``Step``, ``Finished``)."""
    return event.startswith(_SEMANTIC)


def starts_with(line: bytes, sequence: int) -> bool:
    """Whether a line begins with this sequence number."""
    return line.startswith(b'{"seq":%d,"time":"' % sequence)


def read(line: bytes, version: int, schema: Schema, load: Load) -> Record:
    """The record of a line that was written under schema ``version``.

    Raises:
        Undecodable: if the line is not what :func:`write` makes.
        UnknownFormat: if the schema version is newer than this program.
    """
    event = event_bytes(line)
    envelope = codec.parse(line[: len(line) - len(event) - len(_MARK) - 1] + b"}")
    if type(envelope) is not dict or [key for key in envelope if key not in ("usage", "reported")] != [
        "seq",
        "time",
        "source",
    ]:
        raise Undecodable("an envelope with other keys than seq, time, source, usage, reported")
    sequence, time, source = envelope["seq"], envelope["time"], envelope["source"]
    if type(sequence) is not int or type(time) is not str or not _TIME.fullmatch(time) or source not in SOURCES:
        raise Undecodable("an envelope whose seq, time or source is malformed")
    tree = codec.parse(event, load)
    put_back(tree, envelope.get("reported", {}))
    usage = codec.structure(envelope["usage"], Usage) if "usage" in envelope else None
    return Record(sequence, time, source, usage, codec.structure(schema.upcast(tree, version), Event))


# --- blob lines ------------------------------------------------------------------------------------------------------


def write_blob(digest: str, raw: bytes) -> bytes:
    """The line of a blob, without its newline: as text where the bytes are UTF-8, else in base64."""
    try:
        return codec.dump({"blob": digest, "text": raw.decode()})
    except UnicodeDecodeError:
        return codec.dump({"blob": digest, "base64": base64.b64encode(raw).decode("ascii")})


def blob_digest(line: bytes) -> str:
    """The digest that a blob line claims, without parsing it.

    Raises:
        Undecodable: if it is no blob line.
    """
    if not (match := _BLOB.match(line)):
        raise Undecodable("a blob line without its digest")
    return match[1].decode("ascii")


def read_blob(line: bytes) -> bytes:
    """The raw bytes of a blob line.

    Raises:
        Undecodable: if the line is not what :func:`write_blob` makes, or the bytes do not have the hash they claim.
    """
    digest = blob_digest(line)
    key, _, value = line[len(_BLOB_START) + 66 : -1].partition(b":")
    try:
        # Only a string is parsed here: a long text costs no more than its own size.
        text = json.loads(value) if value.startswith(b'"') and line.endswith(b"}") else None
        if type(text) is not str or key not in (b'"text"', b'"base64"'):
            raise Undecodable("a blob line that holds neither text nor base64")
        raw = text.encode("utf-8") if key == b'"text"' else base64.b64decode(text, validate=True)
    except ValueError as error:
        raise Undecodable(f"a blob line that is no JSON: {error}") from error
    if hashlib.sha256(raw).hexdigest() != digest:
        raise Undecodable(f"blob {digest} does not have the hash that names it")
    if len(raw) <= BLOB_THRESHOLD_BYTES:
        raise Undecodable(f"blob {digest} is short enough to stand inside its event")
    return raw


# --- what stands beside an event -------------------------------------------------------------------------------------


def bodies(value: Any) -> Iterator[Body | Data]:
    """Every body inside a value that is stored as a blob, in declared order, repeats included."""
    if isinstance(value, Body | Data):
        if is_blob(value):
            yield value
    elif isinstance(value, tuple):
        for element in value:
            yield from bodies(element)
    elif attrs.has(type(value)):
        for attribute in attrs.fields(type(value)):
            yield from bodies(getattr(value, attribute.name))


def reported(value: Any, at: str = "") -> dict[str, Any]:
    """The reported fields of a value in plain form, by dotted path: they live in the envelope, outside comparisons.

    No reported field stands inside a tuple (a test of the vocabulary checks it).
    """
    found: dict[str, Any] = {}
    if isinstance(value, Body | Data | Path):
        return found
    for attribute in attrs.fields(type(value)):
        child = getattr(value, attribute.name)
        if codec.is_reported(attribute):
            found[at + attribute.name] = codec.plain(child)
        elif attrs.has(type(child)):
            found |= reported(child, f"{at}{attribute.name}.")
    return found


def put_back(tree: Any, fields: Any) -> None:
    """Put reported fields back into a plain event, in place.

    Raises:
        Undecodable: if a path leads nowhere or to a field that is there already.
    """
    if type(fields) is not dict:
        raise Undecodable("reported fields that are no object")
    for path, value in fields.items():
        *parents, name = path.split(".")
        place = tree
        for parent in parents:
            place = place.get(parent) if type(place) is dict else None
        if type(place) is not dict or name in place:
            raise Undecodable(f"the reported field {path!r:.80} has no place in its event")
        place[name] = value
