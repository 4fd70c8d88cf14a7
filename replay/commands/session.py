"""Carrying a run on to its end: what ``run`` and ``resume`` share."""

from __future__ import annotations

import argparse
from pathlib import Path

from ledger.vocabulary.config import Config
from replay.exit_codes import ExitCode
from replay.operational import Operational
from replay.output import note, safe, say, show


def carry_out(given: argparse.Namespace, config: Config, operational: Operational) -> ExitCode:
    """Resume the run in ``given.directory``, started or not, and summarise it.

    Raises:
        replay.runner.interrupt.Interrupted: if the user asked to stop; the run can be resumed.
        fm.errors.FmError: if a call failed or a budget is spent; the run can be resumed.
    """
    from fm.transports.mailbox import Mailbox
    from replay import fingerprint
    from replay.commands import connect
    from replay.progress import display
    from replay.runner import live
    from replay.runner.interrupt import Interrupts

    directory: Path = given.directory
    connect.tell(directory, config, operational, quiet=given.quiet)
    transport = connect.transport_of(directory, operational, given.served_model)
    shown = display(given.quiet)
    try:
        with Interrupts() as interrupts:
            live.resume(
                directory,
                transport=transport,
                display=shown,
                interrupts=interrupts,
                facts=fingerprint.facts(),
                budget=connect.budget_of(operational),
                concurrency=operational.concurrency,
                checkpoint_seconds=operational.checkpoint_seconds,
                keep_checkpoints=operational.keep_checkpoints,
                embedder=connect.embedder_of(config, operational),
            )
    finally:
        shown.close()
        transport.close()
        if isinstance(transport, Mailbox):
            for line in transport.notices():
                note(safe(line))
    summarise(directory)
    return ExitCode.OK


def summarise(directory: Path) -> None:
    """Print the archive, the fates of proposals, tokens spent, and where to look next."""
    from engine.archive.archive import View
    from replay.history import fates
    from replay.report import archive_table, proposal_table
    from replay.runner.recording import load

    recording = load(directory)
    view = View()
    for each in recording.steps:
        view = view.fold(each.step)
    if view.entries:
        show(archive_table(view))
    counts = fates(each.step for each in recording.steps)
    if counts:
        show(proposal_table(counts))
    asked = len(recording.attempts)
    tokens = sum(usage.prompt_tokens + usage.completion_tokens for _, usage in recording.usages)
    state = "finished" if recording.finished is not None else "not finished"
    say(f"{directory}: {state}; {len(view.entries)} skills; {asked} requests, {tokens:,} tokens reported")
    say("next:")
    say(f"  python -m replay reproduce {directory}     recompute it, with figures")
    say(f"  python -m replay log {directory} --kind Note   read its decisions")
    say(f"  python -m replay verify {directory}        and keep a copy of {directory / 'HEAD'} elsewhere")
