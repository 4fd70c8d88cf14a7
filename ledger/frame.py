"""One batch as bytes: a zstd skippable frame that holds the header, then one ordinary zstd frame of JSON lines."""

from __future__ import annotations

import hashlib
import struct
import zlib
from enum import Enum

import zstandard
from attrs import frozen

from ledger.errors import UnknownFormat

FORMAT_VERSION = 1
SKIPPABLE_MAGIC = 0x184D2A5C
SIGNATURE = b"LDGR"
ZSTD_MAGIC = bytes.fromhex("28b52ffd")
HEADER_BYTES = 152
MAX_RAW_BYTES = 64 * 2**20
"""Lines of one batch, uncompressed; a reader refuses to unpack more."""
MAX_COMPRESSED_BYTES = MAX_RAW_BYTES + 2**20
MAX_LINES = 65_536
"""Lines of one batch."""

_PREFIX = struct.pack("<II4s", SKIPPABLE_MAGIC, HEADER_BYTES - 8, SIGNATURE)
_FIELDS = struct.Struct("<HHc3xIIQQQ32s")
_FIELDS_END = len(_PREFIX) + _FIELDS.size
_LEVEL = 10


class Kind(Enum):
    """What the lines of a batch are."""

    EVENTS = b"E"
    BLOBS = b"B"


class FrameError(Exception):
    """Bytes that are no batch; whether that is a torn tail or damage depends on where they stand."""


@frozen
class Header:
    """The header of a batch. ``first`` is the sequence number of its first event, or of the next one for blobs."""

    schema: int
    kind: Kind
    segment: int
    count: int
    first: int
    raw_bytes: int
    compressed_bytes: int
    compressed_sha256: bytes
    previous: bytes
    hash: bytes

    @property
    def next(self) -> int:
        """Sequence number of the first event after this batch."""
        return self.first + self.count if self.kind is Kind.EVENTS else self.first

    @property
    def size(self) -> int:
        """Bytes of the whole batch on disk."""
        return HEADER_BYTES + self.compressed_bytes


def compress(lines: list[bytes]) -> bytes:
    """One ordinary zstd frame of lines, each ended by a newline; it declares its size and carries a checksum."""
    raw = b"".join(line + b"\n" for line in lines)
    return zstandard.ZstdCompressor(level=_LEVEL, write_checksum=True).compress(raw)


def pack(
    lines: list[bytes], compressed: bytes, *, schema: int, kind: Kind, segment: int, first: int, previous: bytes
) -> tuple[Header, bytes]:
    """The header of a batch and its bytes on disk."""
    raw_bytes = sum(len(line) + 1 for line in lines)
    sha256 = hashlib.sha256(compressed).digest()
    fields = _FIELDS.pack(
        FORMAT_VERSION, schema, kind.value, segment, len(lines), first, raw_bytes, len(compressed), sha256
    )
    chained = chain(previous, _PREFIX + fields, compressed)
    head = _PREFIX + fields + previous + chained
    header = Header(schema, kind, segment, len(lines), first, raw_bytes, len(compressed), sha256, previous, chained)
    return header, head + struct.pack("<I", zlib.crc32(head)) + compressed


def chain(previous: bytes, fields: bytes, compressed: bytes) -> bytes:
    """The next hash of the chain: SHA-256 of the previous one, the header up to ``compressed_sha256``, the body."""
    return hashlib.sha256(previous + fields + compressed).digest()


def unpack_header(head: bytes) -> Header:
    """The header in the first ``HEADER_BYTES`` of a batch, checked by itself.

    Raises:
        FrameError: if it is incomplete, foreign or altered.
        UnknownFormat: if it is whole but of another format version.
    """
    if len(head) < HEADER_BYTES:
        raise FrameError(f"a header of {len(head)} bytes instead of {HEADER_BYTES}")
    if not head.startswith(_PREFIX):
        raise FrameError("no batch begins here")
    if struct.unpack_from("<I", head, HEADER_BYTES - 4)[0] != zlib.crc32(head[: HEADER_BYTES - 4]):
        raise FrameError("the header does not have its checksum")
    version, schema, kind, segment, count, first, raw_bytes, compressed_bytes, sha256 = _FIELDS.unpack_from(
        head, len(_PREFIX)
    )
    if version != FORMAT_VERSION:
        raise UnknownFormat(f"this batch has format version {version}; this program knows {FORMAT_VERSION}")
    if kind not in (Kind.EVENTS.value, Kind.BLOBS.value):
        raise FrameError(f"the content kind {kind!r} is unknown")
    if any(head[len(_PREFIX) + 5 : len(_PREFIX) + 8]):
        raise FrameError("padding that is not zero")
    if not 1 <= count <= MAX_LINES or not count <= raw_bytes <= MAX_RAW_BYTES:
        raise FrameError(f"{count} lines in {raw_bytes} bytes are outside the limits {MAX_LINES} and {MAX_RAW_BYTES}")
    if not 1 <= compressed_bytes <= MAX_COMPRESSED_BYTES:
        raise FrameError(f"{compressed_bytes} compressed bytes are outside the limit {MAX_COMPRESSED_BYTES}")
    previous, chained = head[_FIELDS_END : _FIELDS_END + 32], head[_FIELDS_END + 32 : _FIELDS_END + 64]
    return Header(schema, Kind(kind), segment, count, first, raw_bytes, compressed_bytes, sha256, previous, chained)


def check(header: Header, head: bytes, compressed: bytes) -> None:
    """Check a batch's body against its header, without unpacking it.

    Raises:
        FrameError: if the body is short or altered, or the hash is not the chain's.
    """
    if len(compressed) < header.compressed_bytes:
        raise FrameError(f"a body of {len(compressed)} bytes instead of {header.compressed_bytes}")
    if hashlib.sha256(compressed).digest() != header.compressed_sha256:
        raise FrameError("the body does not have its hash")
    if chain(header.previous, head[:_FIELDS_END], compressed) != header.hash:
        raise FrameError("the hash is not the chain's")


def decompress(header: Header, compressed: bytes) -> list[bytes]:
    """The lines of a batch, without their newlines.

    Nothing is unpacked before the frame's own declared size equals the header's, which is under ``MAX_RAW_BYTES``.

    Raises:
        FrameError: if the body is anything but one ordinary zstd frame of so many bytes and lines.
    """
    if not compressed.startswith(ZSTD_MAGIC):
        raise FrameError("the body is no ordinary zstd frame")
    try:
        declared = zstandard.get_frame_parameters(compressed).content_size
        if declared != header.raw_bytes:
            raise FrameError(f"the body declares {declared} bytes, the header {header.raw_bytes}")
        raw = zstandard.ZstdDecompressor().decompress(compressed, allow_extra_data=False)
    except zstandard.ZstdError as error:
        raise FrameError(f"the body does not decompress: {error}") from error
    if len(raw) != header.raw_bytes or not raw.endswith(b"\n") or raw.count(b"\n") != header.count:
        raise FrameError(f"the body does not hold {header.count} lines in {header.raw_bytes} bytes")
    return raw[:-1].split(b"\n")


def find_whole(tail: bytes) -> bool:
    """Whether a whole batch stands anywhere after the first byte of ``tail``."""
    at = tail.find(_PREFIX, 1)
    while at >= 0:
        try:
            head = tail[at : at + HEADER_BYTES]
            header = unpack_header(head)
            check(header, head, tail[at + HEADER_BYTES : at + header.size])
            return True
        except UnknownFormat:
            return True
        except FrameError:
            at = tail.find(_PREFIX, at + 1)
    return False
