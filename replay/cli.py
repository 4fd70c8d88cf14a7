"""The command line: one parser, one place where an error becomes a line and an exit code."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import traceback
from collections.abc import Sequence
from typing import NoReturn, TextIO

from replay.exit_codes import ExitCode, explain, table
from replay.output import safe_lines

PROGRAM = "python -m replay"
COMMANDS = ("run", "resume", "reproduce", "verify", "decide", "evaluate", "log", "vet", "expect", "doctor")
"""Each is a module of ``replay.commands`` with ``add(subparsers)``; in the order in which help lists them."""

DESCRIPTION = """\
Experiments in which a foundation model writes skills, recorded so that others can check them.

Start with somebody's recording:   python -m replay reproduce reproductions/craftax_classic --profile smoke
Make your own:                     python -m replay run runs/first --config reproductions/craftax_classic --profile cpu
Look inside:                       python -m replay log runs/first --kind Admitted
"""


class _Parser(argparse.ArgumentParser):
    """Errors of usage in the one form that all errors have."""

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        print(f"error: {message} — see `{self.prog} --help`", file=sys.stderr)
        raise SystemExit(int(ExitCode.USAGE))


def _formatter(prog: str) -> argparse.HelpFormatter:
    return argparse.RawDescriptionHelpFormatter(prog, max_help_position=28)


def parser() -> argparse.ArgumentParser:
    """The parser of the whole command line."""
    made = _Parser(
        prog=PROGRAM,
        description=DESCRIPTION,
        epilog=f"exit codes:\n{table()}",
        formatter_class=_formatter,
    )
    made.add_argument("-q", "--quiet", action="store_true", help="no progress, results only")
    made.add_argument("--debug", action="store_true", help="show the traceback of an error")
    commands = made.add_subparsers(title="commands", metavar="COMMAND", dest="name", required=True)
    for name in COMMANDS:
        added = importlib.import_module(f"replay.commands.{name}").add(commands)
        added.formatter_class = _formatter
        for option in ("--quiet", "--debug"):
            # a subparser's default would overwrite what was given before the command
            added.add_argument(option, action="store_true", default=argparse.SUPPRESS, help=argparse.SUPPRESS)
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    _escape_what_cannot_be_written(sys.stdout)
    _escape_what_cannot_be_written(sys.stderr)
    given = parser().parse_args(arguments)
    try:
        code = int(given.run(given))
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # the reader of a pipe has seen enough; what Python would flush at its end goes nowhere
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return int(ExitCode.OK)
    except (Exception, KeyboardInterrupt) as error:
        return _told(error, given)


def _escape_what_cannot_be_written(stream: TextIO) -> None:
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")


def _told(error: BaseException, given: argparse.Namespace) -> int:
    code, text = explain(error)
    if code is ExitCode.INTERRUPTED:
        text = f"{text} — {given.after_interrupt(given)}"
    if given.debug or code is ExitCode.INTERNAL:
        traceback.print_exception(error)
    for line in safe_lines(text):
        print(f"error: {line}", file=sys.stderr)
    return int(code)
