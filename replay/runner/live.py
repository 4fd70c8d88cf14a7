"""Starting and resuming a run: the same thing, on an empty or on a started ledger."""

from __future__ import annotations

import pathlib

from fm.budget import Account, Budget
from fm.embed import Embedder
from fm.errors import BudgetExceeded
from fm.transports.port import Transport
from ledger import reader
from ledger.vocabulary.ask import Ask, Part
from ledger.vocabulary.config import Config
from ledger.vocabulary.events import Fact, Session, Started, UserTemplate
from ledger.vocabulary.path import Path
from ledger.writer import Writer
from replay.progress import Display
from replay.runner.agents import Agents
from replay.runner.calls import Calls
from replay.runner.drive import Driver, Replayed
from replay.runner.experiments import EXPERIMENTS, factory_of
from replay.runner.interrupt import Interrupted, Interrupts
from replay.runner.keeper import Keeper
from replay.runner.performers import Performers
from replay.runner.recording import Recording, load
from replay.runner.retention import FACT, UNKNOWN, Retention
from replay.runner.use import LIVE


class AlreadyStarted(ValueError):
    """The folder already holds a run."""


def check_empty(directory: pathlib.Path) -> None:
    """Refuse a folder that already holds something.

    Raises:
        AlreadyStarted: then.
    """
    if directory.exists() and any(directory.iterdir()):
        raise AlreadyStarted(f"{directory} is not empty: choose another folder, or continue it with `resume`")


def create(
    directory: pathlib.Path,
    loop: str,
    config: Config,
    *,
    templates: tuple[UserTemplate, ...] = (),
    documents: tuple[Part, ...] = (),
) -> None:
    """Create a run's ledger with its ``Started`` event; nothing is performed yet.

    Raises:
        AlreadyStarted: if the folder already holds something.
    """
    check_empty(directory)
    logic = EXPERIMENTS[loop].logic
    with Writer.create(directory) as writer:
        writer.append(Started(loop, logic, config, templates, documents))
        writer.commit()


def resume(
    directory: pathlib.Path,
    *,
    transport: Transport,
    display: Display,
    interrupts: Interrupts,
    facts: tuple[Fact, ...],
    budget: Budget,
    concurrency: int,
    checkpoint_seconds: float,
    keep_checkpoints: str = "all",
    embedder: Embedder | None = None,
    performers_type: type[Performers] = Performers,
) -> Replayed:
    """Continue a run to its end. An idle resume of a finished run appends nothing.

    ``keep_checkpoints`` is the policy of ``replay.runner.retention.Retention``; what an earlier session kept beyond it
    is removed.

    Raises:
        replay.runner.divergence.Stopped: if the loop no longer yields what was recorded.
        replay.runner.interrupt.Interrupted: if the user asked to stop; the ledger is kept.
        fm.errors.FmError: if a call failed or the budget is spent; the ledger is kept.
    """
    recording = load(directory)
    agents = Agents()
    performers = performers_type(
        config=recording.started.config,
        agents=agents,
        display=display,
        interrupts=interrupts,
        embedder=embedder,
        checkpoint_seconds=checkpoint_seconds,
        resume_from=_checkpoints(recording),
    )
    try:
        if recording.finished is not None:
            return Driver(recording, performers, LIVE).drive(factory_of(recording.started))
        with Writer.open(directory) as writer:
            known = EXPERIMENTS.get(recording.started.loop)
            keeper = Keeper(writer, Retention(keep_checkpoints, known.lineage if known is not None else UNKNOWN))
            keeper.inherit(recording)
            performers.keeper = keeper
            kept = Fact(FACT, keep_checkpoints)
            keeper.event(Session("run" if not recording.steps else "resume", (*facts, *transport.facts(), kept)))
            calls = Calls(
                transport=transport,
                keeper=keeper,
                display=display,
                interrupts=interrupts,
                account=_account(budget, recording),
                concurrency=concurrency,
                unknown=set(recording.unknown),
            )
            if recording.unknown:
                display.say(
                    f"{len(recording.unknown)} request(s) of an earlier session have no recorded answer: "
                    "looking for one first, else asking again"
                )
            driver = Driver(recording, performers, LIVE, keeper=keeper, calls=calls)
            try:
                replayed = driver.drive(factory_of(recording.started))
            except (Interrupted, BudgetExceeded):
                writer.close("stopped")
                raise
            writer.close("finished")
            return replayed
    finally:
        agents.close()


def _checkpoints(recording: Recording) -> dict[Path, tuple[int, bytes]]:
    done = {each.step.effect.path for each in recording.steps}
    found: dict[Path, tuple[int, bytes]] = {}
    for path, progress in recording.progress.items():
        if path in done or progress.checkpoint is None:
            continue
        file = recording.directory / "checkpoints" / f"{progress.checkpoint}.safetensors"
        if file.is_file():
            found[path] = (progress.done, reader.load_checkpoint(recording.directory, progress.checkpoint))
    return found


def _account(budget: Budget, recording: Recording) -> Account:
    """What earlier sessions spent; a call of unknown fate stays charged at its maximum."""
    account, usages = budget.account(), dict(recording.usages)
    for path, (effect, times) in recording.attempts.items():
        if isinstance(effect, Ask):
            for _ in range(times):
                account = account.attempted(effect)
            if path not in recording.unknown:
                account = account.charge(effect, usages.get(path))
    return account
