"""How long the whole study still takes, from what it has done so far."""

from __future__ import annotations

import time
from collections.abc import Callable

from attrs import define, field

from ledger.vocabulary.evaluate import Evaluate, Evaluated
from ledger.vocabulary.events import AnyEffect, AnyOutcome
from ledger.vocabulary.train import Train, Trained
from replay.progress import duration


@define
class Pace:
    """Work left, and seconds spent per unit of it: a training step, an evaluated episode per skill."""

    steps_left: int
    episodes_left: int
    say: Callable[[str], None] = lambda text: None
    clock: Callable[[], float] = time.monotonic
    _trained: list[tuple[int, float]] = field(factory=list)
    _evaluated: list[tuple[int, float]] = field(factory=list)

    def done(self, effect: AnyEffect, outcome: AnyOutcome) -> None:
        """An effect was performed: count it, and say where the study stands."""
        match effect, outcome:
            case Train(), Trained():
                self.steps_left -= effect.steps
                self._trained.append((effect.steps, outcome.seconds))
            case Evaluate(), Evaluated():
                self.episodes_left -= effect.episodes
                self._evaluated.append((effect.episodes, outcome.seconds))
            case _:
                return
        self.say(self.text())

    def seconds_left(self) -> float | None:
        """``None`` while nothing is known of a kind of work that is left."""
        total = 0.0
        for left, spent in ((self.steps_left, self._trained), (self.episodes_left, self._evaluated)):
            if left > 0 and not spent:
                return None
            if left > 0:
                total += left * sum(seconds for _, seconds in spent) / sum(units for units, _ in spent)
        return total

    def text(self) -> str:
        """One line for people."""
        left = f"{max(0, self.steps_left):,} training steps, {max(0, self.episodes_left):,} episodes per skill left"
        seconds = self.seconds_left()
        return left if seconds is None else f"{left}: about {duration(seconds)}"
