"""``reproduce``: recompute somebody's recording, and say how far it holds."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from replay.commands.refusal import Refused
from replay.exit_codes import ExitCode
from replay.output import note, safe, say, show

if TYPE_CHECKING:
    from replay.reproduce import Reproduction

LEVELS = ("integrity", "decisions", "programs", "training")

DESCRIPTION = """\
Recompute a recording level by level, and say which level was reached, what that shows and what it does not.

  integrity   every byte is what was published
  decisions   every request, draw and decision follows from the recorded outcomes
  programs    every program is judged as recorded
  training    every phase gives the recorded bits, or rates inside prediction intervals

Profiles: cpu repeats all training from the recorded decisions; smoke repeats the first training phase and stops at any
difference, in minutes; any other one (paper) is a file in FOLDER/profiles and *retrains* the recorded history at
another scale, which is no level of replay. Tables are printed; figures and report.json go to --out.
"""


def add(commands: Any) -> argparse.ArgumentParser:
    """Add the command to the parser."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "reproduce", help="recompute a recording and report how far it holds", description=DESCRIPTION
    )
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="a reproduction folder, or a run")
    parser.add_argument("--profile", default="cpu", metavar="NAME", help="cpu (default), smoke, or paper: see above")
    parser.add_argument("--level", choices=LEVELS, default="training", help="how far to go (default: training)")
    parser.add_argument(
        "--localise",
        action="store_true",
        help="start every phase from the recorded checkpoint where one is shipped, to find where drift arises",
    )
    parser.add_argument(
        "--out", type=Path, metavar="DIR", help="where figures and report.json go (default: reports/FOLDER)"
    )
    parser.set_defaults(run=run, after_interrupt=_after_interrupt)
    return parser


def _after_interrupt(given: argparse.Namespace) -> str:
    return "the recording was not touched; run the same command again"


def run(given: argparse.Namespace) -> ExitCode:
    """Reproduce, print, draw, write."""
    from replay.commands.environment import prepare

    prepare()
    banner = banner_of(given.folder)
    if banner:
        say(safe(banner))
    done = _reproduced(given)
    from replay.figures import save
    from replay.report import as_json

    out = given.out or Path("reports") / given.folder.resolve().name
    out.mkdir(parents=True, exist_ok=True)
    drawn = save(done, out, banner)
    (out / "report.json").write_text(as_json(done, banner), encoding="utf-8")
    _print(done)
    for left in drawn.left:
        note(f"not drawn: {safe(left.name)}: {safe(left.reason)}", quiet=given.quiet)
    say(f"{len(drawn.files)} figures and report.json are in {out}")
    if banner:
        say(safe(banner))
    return done.exit_code


def banner_of(folder: Path) -> str:
    """What ``BANNER.txt`` beside a recording says about its standing, on one line; empty without one."""
    file = folder / "BANNER.txt"
    return " ".join(file.read_text(encoding="utf-8").split()) if file.is_file() else ""


def _reproduced(given: argparse.Namespace) -> Reproduction:
    from replay.progress import display
    from replay.report import REPLAY_PROFILES
    from replay.reproduce import reproduce
    from replay.runner.interrupt import Interrupts

    shown = display(given.quiet)
    try:
        with Interrupts() as interrupts:
            if given.profile in REPLAY_PROFILES:
                return reproduce(
                    given.folder,
                    profile=given.profile,
                    display=shown,
                    interrupts=interrupts,
                    upto=given.level,
                    localise=given.localise,
                    paper=paper,
                )
            if given.level != "training":
                raise Refused(f"--level {given.level} needs no profile: leave --profile {given.profile} out")
            from replay.config_file import load
            from replay.retrain import retrain

            scale = load(given.folder, given.profile)
            return retrain(given.folder, given.profile, scale, display=shown, interrupts=interrupts, paper=paper)
    finally:
        shown.close()


def paper(world: str, achievement: str) -> str:
    """What the text of paper 000 says about an achievement of a world."""
    from engine.worlds.achievements_table import NOT_PUBLIC, paper_number

    return paper_number(achievement).text if world == "craftax_classic" else NOT_PUBLIC.text


def _print(done: Reproduction) -> None:
    from replay.progress import duration
    from replay.report import (
        SHOWS,
        SHOWS_NOT,
        achievement_table,
        caveats,
        divergence_lines,
        is_retraining,
        skill_table,
    )

    second = "retrained" if is_retraining(done) else "reproduced"
    if done.skills:
        show(skill_table(done.skills, second))
    if done.achievements:
        show(achievement_table(done.achievements, second))
    if done.report.divergences:
        for line in divergence_lines(done.report):
            say(line)
    if done.changes:
        say("changed since the recording:")
        for change in done.changes:
            say(f"  {safe(change)}")
    say()
    say(f"level reached: {done.level.value}" + ("; the numbers above are a retraining" if is_retraining(done) else ""))
    say(f"  because:       {safe(done.explanation)}")
    say(f"  it shows:      {SHOWS[done.level]}")
    say(f"  it shows not:  {SHOWS_NOT[done.level]}")
    for caveat in caveats(done):
        say(f"  note:          {caveat}")
    say(f"took {duration(done.seconds)}")
