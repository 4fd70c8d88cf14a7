"""``run``: start an experiment."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from replay.commands.arguments import resumable
from replay.exit_codes import ExitCode
from replay.output import note, say

DESCRIPTION = """\
Start an experiment in an empty folder and carry it to its end. Everything is recorded as it happens; whatever stops it
(Ctrl-C, a budget, a lost connection, a crash), `resume` continues it.

The foundation model is reached through an OpenAI-compatible endpoint, whose address, key and model are taken from
OPENAI_BASE_URL, OPENAI_API_KEY and OPENAI_MODEL, or through a mailbox: a folder of requests and answers for people and
for machines without a network. --dry-run tells what a run will cost and touches nothing.
"""

STEPS_PER_SECOND = {"mlp": 4_000.0, "gru": 2_600.0, "gtrxl": 1_200.0}
"""Training steps per second that two laptop cores reach, by kind of network; a guess for --dry-run only."""


def add(commands: Any) -> argparse.ArgumentParser:
    """Add the command to the parser."""
    from replay.commands.transport_options import add_transport

    parser: argparse.ArgumentParser = commands.add_parser("run", help="start an experiment", description=DESCRIPTION)
    parser.add_argument("directory", type=Path, metavar="DIR", help="the run's folder: new or empty")
    parser.add_argument(
        "--config",
        type=Path,
        required=True,
        metavar="FILE",
        help="an experiment file, or a folder with experiment.toml",
    )
    parser.add_argument("--profile", metavar="NAME", help="profiles/NAME.toml beside it, on top")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        dest="overrides",
        metavar="KEY=VALUE",
        help="a setting on top of both, such as discovery.iterations=2; may be repeated",
    )
    parser.add_argument("--dry-run", action="store_true", help="print calls, tokens, steps and hours; touch nothing")
    parser.add_argument(
        "--steps-per-second", type=float, metavar="N", help="this machine's training speed, for the hours of --dry-run"
    )
    add_transport(parser)
    parser.set_defaults(run=run, after_interrupt=resumable)
    return parser


def run(given: argparse.Namespace) -> ExitCode:
    """Load, create, carry out, summarise."""
    from replay.config_file import load_all
    from replay.operational import with_model
    from replay.runner.experiments import check

    loaded = load_all(given.config, given.profile, _overrides(given))
    operational = loaded.operational
    config = with_model(loaded.config, operational)
    check(config)
    if given.dry_run:
        return _dry(given, config, operational)
    from replay.commands import connect
    from replay.commands.environment import prepare
    from replay.commands.session import carry_out
    from replay.runner import live

    prepare(operational)
    live.check_empty(given.directory)
    templates, documents = connect.templates_of(config, operational), connect.documents_of(operational)
    if operational.transport == "http":
        connect.transport_of(
            given.directory, operational, given.served_model
        ).close()  # no key: before anything is made
    live.create(given.directory, LOOP, config, templates=templates, documents=documents)
    note(f"recording into {given.directory}", quiet=given.quiet)
    return carry_out(given, config, operational)


LOOP = "code_sharp"


def _overrides(given: argparse.Namespace) -> list[str]:
    found = list(given.overrides)
    if given.transport is not None:
        found.append(f"operational.transport={given.transport}")
    if given.mailbox is not None:
        found.append(f"operational.mailbox={given.mailbox}")
    return found


def _dry(given: argparse.Namespace, config: Any, operational: Any) -> ExitCode:
    from replay.commands.refusal import Refused
    from replay.estimate import Speed, estimate

    speed = given.steps_per_second or STEPS_PER_SECOND[config.agent.kind]
    if not speed > 0:
        raise Refused(f"--steps-per-second {given.steps_per_second}: give a positive number")
    say(
        estimate(
            config, speed=Speed(speed, 2 * speed, concurrency=operational.concurrency), operational=operational
        ).text()
    )
    say()
    source = "as given" if given.steps_per_second else "a guess for two laptop cores: give --steps-per-second for yours"
    say(f"time: {speed:,.0f} training and {2 * speed:,.0f} evaluation steps per second ({source}); 30 s per call")
    say("nothing was touched; without --dry-run this starts the run")
    return ExitCode.OK
