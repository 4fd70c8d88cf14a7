"""``doctor``: is everything here that a run leans on?"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from replay.commands.arguments import add_json, nothing_changed
from replay.exit_codes import ExitCode
from replay.output import safe_lines, say

DESCRIPTION = """\
Look at packages, device, compilation cache, endpoint, embedding model and disk. Nothing is changed.
Exit code 1 if a check failed; warnings let a run go on.

With an experiment file, the bytes that its training will hold are counted from shapes and compared with the memory
that there is: per environment the episode's state, the network's memory and cache, the trajectory, the learning
sequences and one minibatch; then parameters and optimiser. Temporaries of the compiler come on top.
"""


def add(commands: Any) -> argparse.ArgumentParser:
    """Add the command to the parser."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "doctor", help="check this machine's installation", description=DESCRIPTION
    )
    parser.add_argument(
        "--folder", type=Path, default=Path(), metavar="DIR", help="where runs are to be written (default: here)"
    )
    parser.add_argument(
        "--config",
        type=Path,
        metavar="FILE",
        help="an experiment file: its operational settings count, and the memory of its training is counted",
    )
    parser.add_argument("--profile", metavar="NAME", help="a profile beside that file")
    add_json(parser)
    parser.set_defaults(run=run, after_interrupt=nothing_changed)
    return parser


def run(given: argparse.Namespace) -> ExitCode:
    """Make every check and print what was found."""
    from replay.commands.environment import prepare
    from replay.config_file import load_all
    from replay.operational import Operational

    loaded = None if given.config is None else load_all(given.config, given.profile)
    operational = Operational() if loaded is None else loaded.operational
    prepare(operational)
    from replay.doctor import doctor

    report = doctor(operational, given.folder, config=None if loaded is None else loaded.config)
    for line in safe_lines(report.json() if given.json else report.text()):
        say(line)
    return report.exit_code
