"""``expect``: measure what a faithful retraining may give."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from replay.commands.arguments import nothing_changed
from replay.commands.refusal import Refused
from replay.exit_codes import ExitCode
from replay.output import say

DESCRIPTION = """\
Train the recorded decisions again under several other training seeds, and write the success counts to
FOLDER/expected.toml. `reproduce` takes its prediction intervals from there when bits differ. Takes as long as training
the recording once per seed.
"""


def add(commands: Any) -> argparse.ArgumentParser:
    """Add the command to the parser."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "expect", help="measure success rates over training seeds", description=DESCRIPTION
    )
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="a reproduction folder")
    parser.add_argument(
        "--seeds", type=int, default=5, metavar="N", help="how many training seeds, at least 2 (default: 5)"
    )
    parser.add_argument("--force", action="store_true", help="replace an expected.toml that is there")
    parser.set_defaults(run=run, after_interrupt=nothing_changed)
    return parser


def run(given: argparse.Namespace) -> ExitCode:
    """Train, then write the file in one step."""
    from replay.commands.environment import prepare
    from replay.reproduce import Folder

    if given.seeds < 2:
        raise Refused(f"--seeds {given.seeds}: prediction intervals need at least 2 seeds; 5 or more are better")
    target = given.folder / "expected.toml"
    if target.exists() and not given.force:
        raise Refused(f"{target} is there already: it cost {given.seeds} trainings; --force replaces it")
    Folder(given.folder).run  # noqa: B018 - tells what is missing before anything is trained
    prepare()
    from replay.expect import expect
    from replay.progress import display
    from replay.runner.interrupt import Interrupts
    from replay.statistics import expected_toml

    shown = display(given.quiet)
    try:
        with Interrupts() as interrupts:
            expected = expect(given.folder, given.seeds, shown, interrupts)
    finally:
        shown.close()
    draft = target.with_name(".expected.toml.tmp")
    draft.write_text(expected_toml(expected, NOTE), encoding="utf-8")
    draft.replace(target)
    say(f"wrote {target}: {len(expected.rates)} skills under {len(expected.seeds)} training seeds")
    return ExitCode.OK


NOTE = """\
Successes in the final evaluation, per skill and training seed, of the recorded decisions trained again.
Made by `python -m replay expect`; read by `python -m replay reproduce`."""
