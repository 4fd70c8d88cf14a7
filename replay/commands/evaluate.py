"""``evaluate``: how well does an agent of a run do now, on worlds of its own?"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from replay.commands.arguments import add_json, nothing_changed
from replay.commands.refusal import Refused
from replay.exit_codes import ExitCode
from replay.output import json_text, safe, say, show

if TYPE_CHECKING:
    from replay.evaluate import Request

DESCRIPTION = """\
Evaluate skills of a run's archive under one of its agents, from the agent's checkpoint and the ledger. The run is not
changed and does not go on.

Episodes are fresh: their worlds depend on --seed and on nothing else, so that two agents evaluated under one seed meet
the same worlds. Intervals are exact (Clopper-Pearson, 95 %) and are about further episodes of this agent; they say
nothing about other training seeds.
"""


def add(commands: Any) -> argparse.ArgumentParser:
    """Add the command to the parser."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "evaluate", help="evaluate an agent from its checkpoint", description=DESCRIPTION
    )
    parser.add_argument("directory", type=Path, metavar="RUN", help="a run, or a reproduction folder with recording/")
    parser.add_argument(
        "--agent",
        metavar="PATH",
        help="the step that trained it, such as iteration=2/train/epoch=1, or untrained (default: the run's last)",
    )
    parser.add_argument(
        "--skill",
        action="append",
        default=[],
        dest="skills",
        metavar="NAME",
        help="only this skill; may be repeated (default: the whole archive)",
    )
    parser.add_argument("--episodes", type=int, metavar="N", help="episodes per skill (default: as configured)")
    parser.add_argument("--horizon", type=int, metavar="N", help="steps at most per episode (default: as configured)")
    parser.add_argument("--seed", type=int, metavar="N", help="seed of the episodes (default: the run's)")
    parser.add_argument(
        "--checkpoint",
        type=Path,
        metavar="FILE",
        help="a checkpoint of the run that lies elsewhere; it names its agent",
    )
    add_json(parser)
    parser.set_defaults(run=run, after_interrupt=nothing_changed)
    return parser


def run(given: argparse.Namespace) -> ExitCode:
    """Evaluate and tell."""
    from replay.commands.environment import prepare
    from replay.reproduce import Folder

    request = request_of(given)
    directory = Folder(given.directory).run
    prepare()
    from replay.evaluate import Unknown, evaluate
    from replay.progress import display
    from replay.report import evaluation_table
    from replay.runner.interrupt import Interrupts
    from replay.runner.recording import load

    shown = display(given.quiet or given.json)
    try:
        with Interrupts() as interrupts:
            done = evaluate(load(directory), request, shown, interrupts)
    except Unknown as error:
        raise Refused(str(error)) from error
    finally:
        shown.close()
    if given.json:
        say(json_text(done.data()))
        return ExitCode.OK
    show(evaluation_table(done))
    say(
        f"agent {safe(done.agent)}; seed {done.seed}; at most {done.horizon:,} steps per episode; {done.steps:,} in all"
    )
    return ExitCode.OK


def request_of(given: argparse.Namespace) -> Request:
    """The arguments as a request.

    Raises:
        Refused: if one cannot be meant.
    """
    from ledger.vocabulary.path import Path as StepPath
    from replay.evaluate import Request

    try:
        return Request(
            agent=None if given.agent is None else StepPath(given.agent),
            skills=tuple(given.skills),
            episodes=given.episodes,
            horizon=given.horizon,
            seed=given.seed,
            checkpoint=given.checkpoint,
        )
    except ValueError as error:
        raise Refused(str(error)) from error
