"""The one interpreter: drives a loop, looks outcomes up in a recording or performs them, compares, keeps, folds."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from attrs import define, field

from engine.archive.archive import View
from ledger.codec import canonical
from ledger.vocabulary.ask import Ask
from ledger.vocabulary.effect import Loop, Together
from ledger.vocabulary.embed import Embed
from ledger.vocabulary.evaluate import Evaluate
from ledger.vocabulary.events import OUTCOME_OF, AnyEffect, AnyOutcome, Finished, Step, Usage
from ledger.vocabulary.path import Path
from ledger.vocabulary.train import Train, Trained
from replay.runner.calls import Calls
from replay.runner.divergence import Divergence, DivergenceClass, DivergenceReport, Stopped
from replay.runner.keeper import Keeper
from replay.runner.matching import divergences
from replay.runner.performers import Performers
from replay.runner.recording import RecordedStep, Recording
from replay.runner.use import Use

LoopFactory = Callable[[Callable[[], View]], Loop[Finished]]

DURABLE = (Ask, Embed, Train, Evaluate)
"""Outcomes that cost something: durable before anything uses them."""


_UNUSABLE = (ArithmeticError, AssertionError, LookupError, MemoryError, TypeError, ValueError, struct.error)
"""What a loop or a fold raises over a recorded outcome that no performer gives, such as an index beyond its range."""


class RepeatedPath(ValueError):
    """A loop yielded the same path twice: a fault of the loop, since outcomes are named by paths."""


@define
class Replayed:
    """What driving a loop gave: how it ended, every difference, and what was recomputed beside what was recorded."""

    finished: Finished | None
    report: DivergenceReport
    view: View
    recorded_steps: int
    performed_steps: int
    recomputed: dict[str, tuple[AnyOutcome, AnyOutcome]]
    adopted: tuple[str, ...]
    ended: str = ""


@define
class Driver:
    """One pass over a loop. Replaying and performing differ only in ``use`` and in what lies beyond the recording."""

    recording: Recording | None
    performers: Performers
    use: Use
    keeper: Keeper | None = None
    calls: Calls | None = None
    until: Callable[[AnyEffect], bool] = field(default=lambda effect: False)
    adopt: bool = True
    _view: View = field(factory=View)
    _cursor: int = 0
    _performed: int = 0
    _seen: set[Path] = field(factory=set)
    _found: list[Divergence] = field(factory=list)
    _recomputed: dict[str, tuple[AnyOutcome, AnyOutcome]] = field(factory=dict)
    _adopted: list[str] = field(factory=list)

    def drive(self, factory: LoopFactory) -> Replayed:
        """Run the loop to its end, to the end of the recording, or to a difference that stops it.

        Raises:
            Stopped: at a difference, unless the use carries on (structure always stops).
            replay.runner.interrupt.Interrupted: if the user asked to stop.
            fm.errors.FmError: if a call failed; the run can be resumed.
        """
        body = factory(lambda: self._view)
        send: Any = None
        while True:
            try:
                with self._judging("the loop cannot go on"):
                    item = body.send(send)
            except StopIteration as stop:
                return self._finish(stop.value)
            effects: tuple[AnyEffect, ...] = _members(item)
            outcomes: list[AnyOutcome] = []
            for index, effect in enumerate(effects):
                self._refuse_repeated(effect.path)
                if self.until(effect):
                    body.close()
                    return self._result(None, f"stopped before {effect.path}")
                old = self._next_recorded()
                if old is None and not self.use.perform:
                    body.close()
                    return self._end_of_recording(effect)
                if old is None:
                    outcomes.extend(self._perform_group(effects[index:]))
                    break
                outcomes.append(self._replay(old, effect))
            with self._judging("the archive cannot be folded"):
                for effect, outcome in zip(effects, outcomes, strict=True):
                    self._view = self._view.fold(Step(effect, outcome))
            send = tuple(outcomes) if isinstance(item, Together) else outcomes[0]

    # --- looking up --------------------------------------------------------------------------------------------------

    def _next_recorded(self) -> RecordedStep | None:
        steps = self.recording.steps if self.recording is not None else ()
        if self._cursor == len(steps):
            return None
        self._cursor += 1
        return steps[self._cursor - 1]

    def _replay(self, old: RecordedStep, effect: AnyEffect) -> AnyOutcome:
        recorded = old.step.effect
        if type(recorded) is not type(effect) or recorded.path != effect.path:
            self._structure(old.sequence, effect.path, _place(recorded), _place(effect))
        self._note(divergences(recorded, old.sequence, "effect", recorded, effect))
        outcome = old.step.outcome
        if type(outcome) is not OUTCOME_OF[type(recorded)]:
            expected = OUTCOME_OF[type(recorded)].__name__
            self._structure(old.sequence, recorded.path, type(outcome).__name__, expected)
        if self._recomputes(recorded, effect):
            with self._judging("the recorded effect cannot be performed"):
                again = self.performers.perform(recorded)
            self._recomputed[str(recorded.path)] = (outcome, again)
            self._note(divergences(recorded, old.sequence, "outcome", outcome, again))
        if self.adopt and isinstance(outcome, Trained):
            self._adopt(recorded.path, outcome)
        return outcome

    def _recomputes(self, recorded: AnyEffect, effect: AnyEffect) -> bool:
        """Whether the outcome is recomputed, from the *recorded* effect.

        A host effect that differs from what the loop yields is red already, and what it would cost to perform is in the
        hands of whoever wrote it; training must go on, or nothing later could be compared.
        """
        if type(recorded) not in self.use.recompute:
            return False
        return isinstance(recorded, (Train, Evaluate)) or canonical(recorded) == canonical(effect)

    @contextmanager
    def _judging(self, what: str) -> Iterator[None]:
        """While only recorded outcomes have been used, a failure is the recording's and not this program's."""
        try:
            yield
        except _UNUSABLE as error:
            if self._performed or self._cursor == 0:
                raise
            assert self.recording is not None
            last = self.recording.steps[self._cursor - 1]
            why = f"{what}: {type(error).__name__}: {error}"
            self._structure(last.sequence, last.step.effect.path, _place(last.step.effect), why)

    def _adopt(self, path: Path, outcome: Trained) -> None:
        assert self.recording is not None
        if self.performers.agents.adopt(path, self.recording.directory, outcome.checkpoint):
            self._adopted.append(str(path))

    def _note(self, found: Sequence[Divergence]) -> None:
        self._found.extend(found)
        if found and not self.use.carry_on:
            raise Stopped(found)

    def _structure(self, sequence: int | None, path: Path, recorded: str, now: str) -> None:
        found = Divergence(DivergenceClass.STRUCTURE, sequence, str(path), "effect", "", recorded, now)
        self._found.append(found)
        raise Stopped(self._found if self.use.carry_on else [found])

    # --- performing --------------------------------------------------------------------------------------------------

    def _perform_group(self, effects: Sequence[AnyEffect]) -> list[AnyOutcome]:
        for effect in effects[1:]:
            self._refuse_repeated(effect.path)
        return self._kept_in_order(effects)

    def _kept_in_order(self, effects: Sequence[AnyEffect]) -> list[AnyOutcome]:
        """Outcomes complete in any order; steps are written in the declared one, early outcomes as ``Arrived``."""
        assert self.keeper is not None
        ready: dict[int, tuple[AnyOutcome, Usage | None]] = {}
        outcomes: list[AnyOutcome] = []
        asks: dict[int, Ask] = {}

        def keep() -> None:
            assert self.keeper is not None
            while len(outcomes) in ready:
                effect = effects[len(outcomes)]
                outcome, usage = ready.pop(len(outcomes))
                self.keeper.step(effect, outcome, usage, durable=isinstance(effect, DURABLE))
                self._performed += 1
                outcomes.append(outcome)

        for index, effect in enumerate(effects):
            early = self._arrived(effect)
            if early is not None:
                ready[index] = (early, None)
            elif isinstance(effect, Ask):
                asks[index] = effect
            keep()
        if asks:
            assert self.calls is not None, "a loop that asks needs a transport"
            for index, (reply, usage) in self.calls.answers(asks):
                ready[index] = (reply, usage)
                if index != len(outcomes):
                    self.keeper.arrived(effects[index].path, reply, usage)
                    ready[index] = (reply, None)
                keep()
        for index, effect in enumerate(effects):
            if index >= len(outcomes) and index not in ready:
                ready[index] = (self.performers.perform(effect), None)
            keep()
        return outcomes

    def _arrived(self, effect: AnyEffect) -> AnyOutcome | None:
        if self.recording is None or effect.path not in self.recording.arrived:
            return None
        sent = self.recording.attempts.get(effect.path)
        if sent is None or canonical(sent[0]) != canonical(effect):
            recorded = sent[0] if sent is not None else effect
            self._note(divergences(recorded, None, "effect", recorded, effect))
            return None
        return self.recording.arrived[effect.path].outcome

    # --- the end -----------------------------------------------------------------------------------------------------

    def _end_of_recording(self, effect: AnyEffect) -> Replayed:
        if self.recording is not None and self.recording.finished is not None:
            self._structure(None, effect.path, "the run finished", _place(effect))
        return self._result(None, f"the recording ends before {effect.path}")

    def _finish(self, finished: Finished) -> Replayed:
        left = self._next_recorded()
        if left is not None:
            self._structure(left.sequence, left.step.effect.path, _place(left.step.effect), "the loop has returned")
        recorded = self.recording.finished if self.recording is not None else None
        if recorded is not None and canonical(recorded) != canonical(finished):
            self._note(
                [Divergence(DivergenceClass.DECISION, None, "finished", "outcome", "", repr(recorded), repr(finished))]
            )
        if self.keeper is not None and recorded is None:
            self.keeper.event(finished)
        return self._result(finished, "finished")

    def _result(self, finished: Finished | None, ended: str) -> Replayed:
        return Replayed(
            finished=finished,
            report=DivergenceReport(tuple(self._found)),
            view=self._view,
            recorded_steps=self._cursor,
            performed_steps=self._performed,
            recomputed=self._recomputed,
            adopted=tuple(self._adopted),
            ended=ended,
        )

    def _refuse_repeated(self, path: Path) -> None:
        if path in self._seen:
            raise RepeatedPath(f"the loop yielded {path} twice; a path names one step")
        self._seen.add(path)


def _place(effect: AnyEffect) -> str:
    return f"{type(effect).__name__} {effect.path}"


def _members(item: AnyEffect | Together[Any]) -> tuple[Any, ...]:
    return item.effects if isinstance(item, Together) else (item,)
