"""Bodies that are stored apart from their event, and fetched when somebody looks at them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attrs import frozen

from ledger.errors import Undecodable
from ledger.vocabulary.body import Body, Data

Load = Callable[[str], bytes]
"""From a blob's digest to its raw bytes."""


@frozen
class Reference:
    """A blob named in an event, and the way to its bytes."""

    digest: str
    load: Load


def nowhere(digest: str) -> bytes:
    """The way to the bytes of a blob when no ledger is at hand.

    Raises:
        Undecodable: always.
    """
    raise Undecodable(f"blob {digest} was named without its ledger. Read its event through ledger.reader.")


class StoredBody(Body):
    """A ``Body`` that stays on disk: equal to the same text in memory, and loaded anew at every look.

    Nothing is kept, so a fold over a long run holds only what it copies out; the ledger's reader has a bounded cache.
    """

    @classmethod
    def at(cls, reference: Reference) -> StoredBody:
        body = cls.__new__(cls)
        vars(body).update(reference=reference, digest=reference.digest)
        return body

    @property
    def raw(self) -> bytes:
        reference: Reference = vars(self)["reference"]
        return reference.load(reference.digest)

    @property
    def text(self) -> str:
        try:
            return self.raw.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError as error:
            raise Undecodable(f"blob {self.digest} is no text: {error}. Restore the run from a copy.") from error

    def __eq__(self, other: object) -> bool:
        return self.digest == other.digest if isinstance(other, Body) else NotImplemented

    __hash__ = Body.__hash__

    def __repr__(self) -> str:
        return f"StoredBody({self.digest})"

    def __reduce__(self) -> Any:
        return Body, (self.text,)


class StoredData(Data):
    """A ``Data`` that stays on disk; see :class:`StoredBody`."""

    @classmethod
    def at(cls, reference: Reference) -> StoredData:
        data = cls.__new__(cls)
        vars(data).update(reference=reference, digest=reference.digest)
        return data

    @property
    def raw(self) -> bytes:
        reference: Reference = vars(self)["reference"]
        return reference.load(reference.digest)

    def __eq__(self, other: object) -> bool:
        return self.digest == other.digest if isinstance(other, Data) else NotImplemented

    __hash__ = Data.__hash__

    def __repr__(self) -> str:
        return f"StoredData({self.digest})"

    def __reduce__(self) -> Any:
        return Data, (self.raw,)
