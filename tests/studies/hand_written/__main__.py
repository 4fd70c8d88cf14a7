"""``python -m tests.studies.hand_written``: run the study, check its recordings, report on them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from replay.output import json_text, note, say

if TYPE_CHECKING:
    from tests.studies.hand_written.record import Run

DESCRIPTION = """\
What routing by T buys on Craftax-Classic: a hand-written chain of skills in four arms, several seeds each.

`run` trains and evaluates, each arm and seed into a run folder of its own, and goes on where it was stopped (Ctrl-C,
a crash, a kill); what is finished is skipped. `check` drives the recordings again. `report` counts and draws.
"""


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(
        "python -m tests.studies.hand_written",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = made.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="train and evaluate what is not finished")
    run.add_argument("--out", type=Path, required=True, metavar="DIR", help="holds a folder per arm and seed")
    run.add_argument("--seeds", type=int, default=5, metavar="N", help="how many seeds (default: 5)")
    run.add_argument(
        "--first-seed", type=int, default=1, metavar="N", help="default: 1; 0 served to try the skills out"
    )
    run.add_argument("--steps", type=int, metavar="N", help="training steps per run, rounded to whole epochs")
    run.add_argument(
        "--arm",
        action="append",
        choices=("routed", "flat_trained"),
        help="only what is trained so; may be repeated (flat_evaluated and name_only belong to routed)",
    )
    run.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="another setting, for trials")
    run.add_argument("--quiet", action="store_true")
    check = commands.add_parser("check", help="drive finished runs again and compare")
    check.add_argument("out", type=Path, metavar="DIR")
    check.add_argument("--strict", action="store_true", help="train and evaluate again too: as long as the study")
    report = commands.add_parser("report", help="tables, figures and every count of the finished runs")
    report.add_argument("out", type=Path, metavar="DIR")
    report.add_argument("--to", "--out", dest="to", type=Path, metavar="FOLDER", help="write files here as well")
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """The whole program; returns its exit code."""
    given = parser().parse_args(arguments)
    from replay.commands.environment import prepare

    prepare()
    return {"run": run, "check": check, "report": report}[given.command](given)


def run(given: argparse.Namespace) -> int:
    """Carry on every run that is not finished: seed by seed, so that the arms stay paired whenever it is stopped."""
    from replay import fingerprint
    from replay.progress import display
    from replay.runner.interrupt import Interrupted, Interrupts
    from tests.studies.hand_written import record
    from tests.studies.hand_written.material import craftax_classic
    from tests.studies.hand_written.pace import Pace

    runs = _runs(given)
    material = craftax_classic()
    for each in runs:
        record.create(each, material)
    left = [record.work_left(each) for each in runs]
    shown, cores, facts = display(given.quiet), record.Cores(), fingerprint.facts()
    pace = Pace(sum(steps for steps, _ in left), sum(episodes for _, episodes in left), shown.say)
    try:
        with Interrupts() as interrupts:
            for number, each in enumerate(runs, start=1):
                shown.say(f"run {number} of {len(runs)}: {each.arm}, seed {each.seed}")
                done = record.carry_on(
                    each.directory, display=shown, interrupts=interrupts, facts=facts, cores=cores, pace=pace
                )
                if done is None:
                    shown.say("  is finished already")
    except Interrupted:
        note("stopped; everything up to here is kept, and the same command goes on from here")
        return 130
    finally:
        shown.close()
    say(f"{len(runs)} runs are finished; next: python -m tests.studies.hand_written report {given.out}")
    return 0


def _runs(given: argparse.Namespace) -> list[Run]:
    from tests.studies.hand_written import record
    from tests.studies.hand_written.counts import folder
    from tests.studies.hand_written.loop import TRAINED

    chosen = [arm for arm in TRAINED if not given.arm or arm in given.arm]
    steps, seeds = given.steps or record.STEPS, range(given.first_seed, given.first_seed + given.seeds)
    configs = {seed: record.config_of(seed, steps, given.set) for seed in seeds}
    return [record.Run(arm, configs[seed], folder(given.out, arm, seed)) for seed in configs for arm in chosen]


def check(given: argparse.Namespace) -> int:
    """Drive every finished run again."""
    from replay.progress import display
    from replay.report import divergence_lines
    from replay.runner.divergence import DivergenceReport, Stopped
    from replay.runner.interrupt import Interrupts
    from replay.runner.use import DECIDE, STRICT
    from tests.studies.hand_written import record
    from tests.studies.hand_written.counts import finished, folder

    cores, shown, bad = record.Cores(), display(), 0
    with Interrupts() as interrupts:
        for counts in finished(given.out):
            directory = folder(given.out, counts.arm, counts.seed)
            use = STRICT if given.strict else DECIDE
            try:
                found = record.again(directory, use, display=shown, interrupts=interrupts, cores=cores).report
            except Stopped as stopped:
                found = DivergenceReport(stopped.divergences)
            bad += bool(found.divergences)
            say(f"{directory}: {'DIFFERENT' if found.divergences else 'the same'} ({use.name})")
            for line in divergence_lines(found) if found.divergences else ():
                say(f"  {line}")
    shown.close()
    return 1 if bad else 0


def report(given: argparse.Namespace) -> int:
    """Print the tables; with ``--to``, write tables, counts and figures."""
    from replay.runner.recording import load
    from tests.studies.hand_written import figures
    from tests.studies.hand_written import report as made
    from tests.studies.hand_written.counts import finished, folder

    found = finished(given.out)
    started = load(folder(given.out, found[0].arm, found[0].seed)).started
    done = made.result(found, made.requirements(started.documents))
    say(made.text(done))
    if given.to is not None:
        given.to.mkdir(parents=True, exist_ok=True)
        (given.to / "results.md").write_text(made.text(done), "utf-8")
        (given.to / "results.json").write_text(json_text(made.data(done)) + "\n", "utf-8")
        for file in ("results.md", "results.json", *(each.name for each in figures.save(done, given.to))):
            note(f"wrote {given.to / file}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
