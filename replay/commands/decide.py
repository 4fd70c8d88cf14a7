"""``decide``: do the recorded decisions follow from the recorded answers?"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from replay.commands.arguments import add_json, nothing_changed
from replay.exit_codes import ExitCode
from replay.output import json_text, safe, say

if TYPE_CHECKING:
    from replay.runner.divergence import DivergenceReport
    from replay.runner.drive import Replayed

DESCRIPTION = """\
Drive the experiment's loop again with every recorded outcome, and compare everything that it asks, draws and decides.

Works on any machine in seconds: nothing is trained, no program runs, no model is asked. It does not show that programs
are judged as recorded or that training gives the recorded numbers; `reproduce` does. The exit code tells the class of
the first difference.
"""


def add(commands: Any) -> argparse.ArgumentParser:
    """Add the command to the parser."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "decide", help="recompute every decision of a recording", description=DESCRIPTION
    )
    parser.add_argument("directory", type=Path, metavar="RUN", help="a run, or a reproduction folder with recording/")
    add_json(parser)
    parser.set_defaults(run=run, after_interrupt=nothing_changed)
    return parser


def run(given: argparse.Namespace) -> ExitCode:
    """Recompute and compare."""
    from replay.report import divergence_data, divergence_lines
    from replay.reproduce import Folder
    from replay.runner.divergence import DivergenceReport, Stopped

    try:
        replayed = replay(Folder(given.directory).run)
        report, ended, steps = replayed.report, replayed.ended, replayed.recorded_steps
    except Stopped as stopped:
        report, ended, steps = DivergenceReport(stopped.divergences), "stopped at a difference of structure", None
    code = _code(report)
    if given.json:
        data = {"exit_code": int(code), "ended": ended, "steps": steps, "divergences": divergence_data(report)}
        say(json_text(data))
        return code
    if steps is not None:
        say(f"{steps:,} recorded steps, {safe(ended)}")
    for line in divergence_lines(report):
        say(line)
    if code is ExitCode.OK:
        say("decisions: every request, draw and decision of this recording came out the same")
    return code


def replay(directory: Path) -> Replayed:
    """The loop driven over a recording, with every outcome but settings and draws taken from it."""
    from replay.progress import NullDisplay
    from replay.runner.agents import Agents
    from replay.runner.drive import Driver
    from replay.runner.experiments import factory_of
    from replay.runner.interrupt import Interrupts
    from replay.runner.performers import Performers
    from replay.runner.recording import load
    from replay.runner.use import DECIDE

    recording = load(directory)
    agents = Agents()
    try:
        performers = Performers(recording.started.config, agents, NullDisplay(), Interrupts())
        return Driver(recording, performers, DECIDE, adopt=False).drive(factory_of(recording.started))
    finally:
        agents.close()


def _code(report: DivergenceReport) -> ExitCode:
    return ExitCode[report.divergences[0].kind.name] if report.divergences else ExitCode.OK
