"""What long work shows while it runs: bars in a terminal, a line now and then elsewhere, or nothing.

Texts may come from foundation models and are shown as they are, never read as markup. Everything goes to the error
stream, so that results can be piped.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from typing import Protocol, TextIO

from attrs import define, field
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.text import Text

LINE_SECONDS = 10.0
"""How often a display without a terminal writes a line."""


class Display(Protocol):
    """Where long work reports; threads may share one. ``path`` names a piece of work until it is finished."""

    def start(self, path: str, kind: str, total: int) -> None:
        """A piece of work of ``total`` units begins; ``kind`` says in a word or two what it is."""
        ...

    def advance(self, path: str, done: int, note: str) -> None:
        """``done`` units of it are done (not: more); ``note`` is a short text beside it."""
        ...

    def finish(self, path: str) -> None:
        """The work ended, well or badly."""
        ...

    def say(self, text: str) -> None:
        """A line that stays."""
        ...

    def close(self) -> None:
        """Nothing more is shown; a second call does nothing."""
        ...


def display(quiet: bool = False, stream: TextIO | None = None) -> Display:
    """The display that fits ``stream`` (the error stream by default)."""
    if quiet:
        return NullDisplay()
    shown = stream if stream is not None else sys.stderr
    return RichDisplay(Console(file=shown)) if shown.isatty() else LineDisplay(shown)


class NullDisplay:
    """Shows nothing."""

    def start(self, path: str, kind: str, total: int) -> None:
        """Show nothing."""

    def advance(self, path: str, done: int, note: str) -> None:
        """Show nothing."""

    def finish(self, path: str) -> None:
        """Show nothing."""

    def say(self, text: str) -> None:
        """Show nothing."""

    def close(self) -> None:
        """Show nothing."""


class RichDisplay:
    """One bar per piece of work under way, with the time left, in a terminal."""

    def __init__(self, console: Console) -> None:
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=24),
            TextColumn("{task.fields[count]}", markup=False),
            TimeElapsedColumn(),
            TimeRemainingColumn(compact=True),
            TextColumn("{task.fields[note]}", markup=False),
            console=console,
            transient=True,
        )
        self._tasks: dict[str, TaskID] = {}
        self._totals: dict[str, int] = {}
        self._lock = threading.Lock()

    def start(self, path: str, kind: str, total: int) -> None:
        """Add a bar."""
        with self._lock:
            self._remove(path)
            self._progress.start()
            self._totals[path] = total
            # a bar without a total pulses: one unit of work has no measurable part
            shown = total if total > 1 else None
            self._tasks[path] = self._progress.add_task(f"{kind} {path}", total=shown, count="", note="")

    def advance(self, path: str, done: int, note: str) -> None:
        """Move the bar."""
        with self._lock:
            if path in self._tasks:
                count = f"{done:,}/{self._totals[path]:,}"
                self._progress.update(self._tasks[path], completed=done, count=count, note=note)

    def finish(self, path: str) -> None:
        """Take the bar away; the last one takes the live region with it."""
        with self._lock:
            self._remove(path)
            if not self._tasks:
                self._progress.stop()

    def say(self, text: str) -> None:
        """Print a line above the bars."""
        self._progress.console.print(Text(text))

    def close(self) -> None:
        """Take every bar away."""
        with self._lock:
            for path in tuple(self._tasks):
                self._remove(path)
            self._progress.stop()

    def _remove(self, path: str) -> None:
        if path in self._tasks:
            self._progress.remove_task(self._tasks.pop(path))
            del self._totals[path]


@define
class _Work:
    """Work under way. Its rate counts from the first report, so neither compiling nor a resume's lead is in it."""

    kind: str
    total: int
    started: float
    done: int = 0
    note: str = ""
    first: tuple[float, int] | None = field(default=None)

    def report(self, now: float, done: int, note: str) -> None:
        self.done, self.note = done, note
        if self.first is None:
            self.first = (now, done)

    def rate(self, now: float) -> float | None:
        """Units per second, or ``None`` while it cannot be told."""
        if self.first is None or now <= self.first[0] or self.done <= self.first[1]:
            return None
        return (self.done - self.first[1]) / (now - self.first[0])


class LineDisplay:
    """At most one line per ``seconds`` on work under way, and one when long work ends; for logs and pipes."""

    def __init__(
        self, stream: TextIO, seconds: float = LINE_SECONDS, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._stream, self._seconds, self._clock = stream, seconds, clock
        self._works: dict[str, _Work] = {}
        self._written = clock()
        self._closed = False
        self._lock = threading.Lock()

    def start(self, path: str, kind: str, total: int) -> None:
        """Remember the work."""
        with self._lock:
            self._works[path] = _Work(kind, total, self._clock())

    def advance(self, path: str, done: int, note: str) -> None:
        """Write a line if the last one is long enough ago."""
        with self._lock:
            work, now = self._works.get(path), self._clock()
            if work is None:
                return
            work.report(now, done, note)
            if now - self._written >= self._seconds:
                self._write(self._state(path, work, now))

    def finish(self, path: str) -> None:
        """Write a line if the work took long, or if the last line is long enough ago."""
        with self._lock:
            work, now = self._works.pop(path, None), self._clock()
            if work is not None and max(now - work.started, now - self._written) >= self._seconds:
                others = f"; {len(self._works)} more under way" if self._works else ""
                self._write(f"{work.kind} {path}: ended after {duration(now - work.started)}{others}")

    def say(self, text: str) -> None:
        """Write the text as a line."""
        with self._lock:
            self._write(text)

    def close(self) -> None:
        """Write nothing more."""
        with self._lock:
            self._closed = True

    def _state(self, path: str, work: _Work, now: float) -> str:
        parts = [f"{work.done:,}/{work.total:,}"]
        if work.total:
            parts[0] += f" ({100 * work.done // work.total} %)"
        rate = work.rate(now)
        if rate is not None:
            parts += [f"{rate:,.0f}/s", f"{duration(max(0, work.total - work.done) / rate)} left"]
        if work.note:
            parts.append(work.note)
        if len(self._works) > 1:
            parts.append(f"{len(self._works) - 1} more under way")
        return f"{work.kind} {path}: {', '.join(parts)}"

    def _write(self, line: str) -> None:
        if not self._closed:
            self._stream.write(f"{line}\n")
            self._stream.flush()
            self._written = self._clock()


def duration(seconds: float) -> str:
    """A length of time for people: ``8 s``, ``3 min 20 s``, ``2 h 5 min``."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
