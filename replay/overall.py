"""How far the training of a whole recording is, and how long the rest will take."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from attrs import define, field

from ledger.vocabulary.events import AnyEffect
from ledger.vocabulary.train import Train
from replay.progress import Display, duration

TRAINING = "training"


def training_steps(effects: Iterable[AnyEffect]) -> int:
    """Environment steps of all training effects together."""
    return sum(effect.steps for effect in effects if isinstance(effect, Train))


@define
class Overall:
    """A display that adds, beside each training phase, the share of all training done and the time left for it.

    The rate counts from the first report and includes evaluations and compilation in between, as the rest will.
    """

    inner: Display
    total: int
    clock: Callable[[], float] = time.monotonic
    _ended: int = 0
    _running: dict[str, tuple[int, int]] = field(factory=dict)
    _first: tuple[float, int] | None = None

    def start(self, path: str, kind: str, total: int) -> None:
        """See ``Display``."""
        if kind == TRAINING:
            self._running[path] = (0, total)
        self.inner.start(path, kind, total)

    def advance(self, path: str, done: int, note: str) -> None:
        """See ``Display``; the note of a training phase is preceded by the state of all training."""
        if path in self._running:
            self._running[path] = (done, self._running[path][1])
            note = f"{self._state()}  {note}".rstrip()
        self.inner.advance(path, done, note)

    def finish(self, path: str) -> None:
        """See ``Display``."""
        self._ended += self._running.pop(path, (0, 0))[1]
        self.inner.finish(path)

    def say(self, text: str) -> None:
        """See ``Display``."""
        self.inner.say(text)

    def close(self) -> None:
        """See ``Display``."""
        self.inner.close()

    def _state(self) -> str:
        done, now = self._ended + sum(each for each, _ in self._running.values()), self.clock()
        share = f"all training {100 * done // max(1, self.total)} %"
        if self._first is None:
            self._first = (now, done)
        since, before = self._first
        if now <= since or done <= before:
            return share
        left = max(0, self.total - done) * (now - since) / (done - before)
        return f"{share}, {duration(left)} left"
