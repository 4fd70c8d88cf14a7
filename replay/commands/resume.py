"""``resume``: continue an experiment where it stopped."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from replay.commands.arguments import resumable
from replay.commands.transport_options import add_transport
from replay.exit_codes import ExitCode
from replay.output import note

if TYPE_CHECKING:
    from replay.operational import Operational
    from replay.runner.recording import Recording

DESCRIPTION = """\
Continue a run to its end. Nothing that was answered is asked again, and training goes on from its last checkpoint.

What the experiment is was recorded when it started and cannot be changed here. How it is carried out can: give the
experiment file again, or another one, for its [operational] settings (transport, budgets, concurrency). Without one,
the transport of the last session is used, without limits.
"""


def add(commands: Any) -> argparse.ArgumentParser:
    """Add the command to the parser."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "resume", help="continue an experiment that stopped", description=DESCRIPTION
    )
    parser.add_argument("directory", type=Path, metavar="DIR", help="the run's folder")
    parser.add_argument("--config", type=Path, metavar="FILE", help="a file whose [operational] settings count")
    parser.add_argument("--profile", metavar="NAME", help="a profile beside that file")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        dest="overrides",
        metavar="KEY=VALUE",
        help="an operational setting on top, such as operational.budget.calls=500; may be repeated",
    )
    add_transport(parser)
    parser.set_defaults(run=run, after_interrupt=resumable)
    return parser


def run(given: argparse.Namespace) -> ExitCode:
    """Continue, or summarise a run that is finished."""
    from replay.commands.session import carry_out, summarise
    from replay.runner.recording import load

    recording = load(given.directory)
    if recording.finished is not None:
        note("the run is finished: nothing is left to do", quiet=given.quiet)
        summarise(given.directory)
        return ExitCode.OK
    from replay.commands.environment import prepare

    operational = operational_of(given, recording)
    prepare(operational)
    return carry_out(given, recording.started.config, operational)


def operational_of(given: argparse.Namespace, recording: Recording) -> Operational:
    """The settings of the given file, else defaults with the last session's transport; options on top.

    Raises:
        replay.config_file.ConfigError: if a file or a setting cannot be used.
        replay.commands.refusal.Refused: if a setting is not operational.
    """
    from attrs import evolve

    from replay.commands.refusal import Refused
    from replay.config_file import OPERATIONAL, load_all
    from replay.operational import Operational

    strange = [each for each in given.overrides if not each.strip().startswith(f"{OPERATIONAL}.")]
    if strange:
        raise Refused(f"--set {strange[0]}: the experiment is recorded; only {OPERATIONAL}.… can be set on resume")
    if given.config is None and (given.overrides or given.profile):
        raise Refused("--set and --profile go on top of a file: give it with --config")
    if given.config is not None:
        operational = load_all(given.config, given.profile, given.overrides).operational
    else:
        operational = Operational(transport=_last_transport(recording))
    if given.transport is not None:
        operational = evolve(operational, transport=given.transport)
    if given.mailbox is not None:
        operational = evolve(operational, mailbox=str(given.mailbox))
    return operational


def _last_transport(recording: Recording) -> str:
    for session in reversed(recording.sessions):
        for fact in session.facts:
            if fact.name == "transport":
                return "mailbox" if fact.value == "mailbox" else "http"
    return "http"
