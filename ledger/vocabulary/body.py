"""Long texts and bytes: held whole in memory, stored once per run as a blob."""

from __future__ import annotations

import hashlib
from functools import cached_property

from attrs import define

BLOB_THRESHOLD_BYTES = 1024
"""A body of more bytes than this is stored as a blob; a shorter one stays inside its event."""


@define(frozen=True, slots=False)
class Body:
    """A text that may be long: a prompt part, a raw response, a program."""

    text: str

    @cached_property
    def raw(self) -> bytes:
        """UTF-8 bytes; lone surrogates survive (``surrogatepass``)."""
        return self.text.encode("utf-8", "surrogatepass")

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the raw bytes, in hexadecimal: the blob's name."""
        return hashlib.sha256(self.raw).hexdigest()


@define(frozen=True, slots=False)
class Data:
    """Bytes that are not text: an embedding vector (little-endian float32)."""

    raw: bytes

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the bytes, in hexadecimal: the blob's name."""
        return hashlib.sha256(self.raw).hexdigest()
