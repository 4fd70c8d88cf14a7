"""Ctrl-C as a request: long work stops at its next safe point, with everything kept; a second Ctrl-C stops at once."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Any


class Interrupted(Exception):
    """The user asked to stop; everything up to here is in the ledger and ``resume`` continues it."""


class Interrupts:
    """While entered, the first SIGINT or SIGTERM sets ``event``; the second raises KeyboardInterrupt."""

    def __init__(self) -> None:
        self.event = threading.Event()
        self._previous: dict[int, Any] = {}

    def requested(self) -> bool:
        """Whether the user asked to stop."""
        return self.event.is_set()

    def check(self) -> None:
        """Raise Interrupted if the user asked to stop.

        Raises:
            Interrupted: then.
        """
        if self.requested():
            raise Interrupted("stopped on request")

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._previous[number] = signal.signal(number, self._handle)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)
        self._previous.clear()

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self.event.is_set():
            raise KeyboardInterrupt
        self.event.set()
