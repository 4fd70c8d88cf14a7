"""The port that every transport implements: one blocking call that threads may share."""

from __future__ import annotations

from typing import Protocol

from ledger.vocabulary.ask import Ask, Reply
from ledger.vocabulary.events import Fact, Usage


class Transport(Protocol):
    """A way to get a call answered."""

    @property
    def name(self) -> str:
        """A word for the kind of transport: ``openai``, ``mailbox``."""
        ...

    @property
    def answers_persist(self) -> bool:
        """Whether a wait that is called off loses nothing, because ``find`` meets the answer later."""
        ...

    def facts(self) -> tuple[Fact, ...]:
        """What a session records about the endpoint; never a key, at most its fingerprint."""
        ...

    def find(self, ask: Ask) -> Reply | None:
        """An answer that already exists for a call whose fate is unknown, without asking again.

        Raises:
            TransportFailure: if an answer exists but cannot be used.
        """
        ...

    def ask(self, ask: Ask) -> tuple[Reply, Usage | None]:
        """Send the call and wait for its reply; usage is ``None`` where nothing reports it. Thread-safe.

        A refusal or a useless text is a reply. Everything else that goes wrong stops the run, which can be resumed.

        Raises:
            TransportFailure: if no reply can be had; ``Cancelled`` if the wait was called off.
        """
        ...

    def close(self) -> None:
        """Call off every wait and free what is held; a second call does nothing."""
        ...
