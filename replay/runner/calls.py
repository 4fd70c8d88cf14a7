"""Foundation-model calls of a performing run: concurrent, durable before they leave and as soon as they arrive."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from attrs import define, field

from fm.budget import Account
from fm.transports.port import Transport
from ledger.vocabulary.ask import Ask, Reply
from ledger.vocabulary.events import Usage
from ledger.vocabulary.path import Path
from replay.progress import Display
from replay.runner.interrupt import Interrupted, Interrupts
from replay.runner.keeper import Keeper

POLL_SECONDS = 0.25

Answered = tuple[Reply, Usage | None]


@define
class Calls:
    """Sends a group of requests through one transport, at most ``concurrency`` at a time.

    ``unknown`` holds requests of an earlier process that were sent and whose fate is not known: the transport is asked
    for an answer that already exists before the request is sent again.
    """

    transport: Transport
    keeper: Keeper
    display: Display
    interrupts: Interrupts
    account: Account
    concurrency: int
    unknown: set[Path] = field(factory=set)
    asked_again: int = 0

    def answers(self, asks: Mapping[int, Ask]) -> Iterator[tuple[int, Answered]]:
        """Perform the requests and yield (index, answer) as they complete.

        Whatever stops the group — a failing call, a spent budget, Ctrl-C — calls that are already under way are waited
        for and yielded first, so that nothing paid for is lost; where answers persist (a mailbox) the wait is called
        off instead, since ``find`` meets them again. A second Ctrl-C abandons calls under way.

        Raises:
            fm.errors.FmError: if a call failed or a budget is spent.
            Interrupted: if the user asked to stop.
        """
        waiting = dict(asks)
        running: dict[Future[Answered], int] = {}
        failure: Exception | None = None
        pool = ThreadPoolExecutor(max_workers=self.concurrency, thread_name_prefix="ask")
        try:
            while waiting or running:
                while waiting and failure is None and len(running) < self.concurrency:
                    index, ask = next(iter(waiting.items()))
                    try:
                        self.interrupts.check()
                        found = self._found(ask)
                        if found is None:
                            self._send(ask)
                            running[pool.submit(self.transport.ask, ask)] = index
                    except Exception as error:
                        failure = error
                        break
                    del waiting[index]
                    if found is not None:
                        yield index, (found, None)
                if failure is not None and waiting:
                    waiting.clear()
                if failure is not None and self.transport.answers_persist:
                    self.transport.close()
                done, _ = wait(running, timeout=POLL_SECONDS, return_when=FIRST_COMPLETED)
                for future in done:
                    index = running.pop(future)
                    try:
                        reply, usage = future.result()
                    except Exception as error:
                        self.display.finish(str(asks[index].path))
                        if failure is not None and type(error) is not type(failure):
                            self.display.say(f"{asks[index].path}: {error}")  # only the first failure is raised
                        failure = failure or error
                        continue
                    self.account = self.account.charge(asks[index], usage)
                    self.display.finish(str(asks[index].path))
                    yield index, (reply, usage)
                if self.interrupts.requested() and failure is None:
                    failure = Interrupted("stopped on request while waiting for answers")
                    if running and not self.transport.answers_persist:
                        self.display.say(f"waiting for {len(running)} call(s) under way; Ctrl-C again abandons them")
            if failure is not None:
                raise failure
        except KeyboardInterrupt:
            self.transport.close()
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)

    def _found(self, ask: Ask) -> Reply | None:
        if ask.path not in self.unknown:
            return None
        self.unknown.discard(ask.path)
        found = self.transport.find(ask)
        if found is None:
            self.asked_again += 1
        else:
            self.account = self.account.charge(ask, None)
        return found

    def _send(self, ask: Ask) -> None:
        self.account = self.account.reserve(ask)
        self.keeper.attempt(ask)
        self.display.start(str(ask.path), f"asking ({ask.role})", 1)
