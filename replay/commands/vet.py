"""``vet``: are these files programs of the SHARP language that may stand in an archive?"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from replay.commands.arguments import add_json, nothing_changed
from replay.commands.refusal import Refused
from replay.exit_codes import ExitCode
from replay.output import json_text, note, say

if TYPE_CHECKING:
    from replay.verdicts import Verdict
    from replay.vet_files import Setting, Vetting

DESCRIPTION = """\
Parse, check and lower programs exactly as a run does; they are never executed. Exit code 0 if all are accepted, else 1.

A program is one class. Save this as wood.py:

    class CollectWood(Sharp):
        \"\"\"Collect one more piece of wood from a tree.\"\"\"
        def success(self, state, previous):
            return state.inventory.wood > previous.wood

and ask about it:

    python -m replay vet wood.py

The answer shows the place, the reason and what would be right:

    wood.py:4:48: refused (attribute): previous has no field wood
       3 |     def success(self, state, previous):
       4 |         return state.inventory.wood > previous.wood
         |                                       ~~~~~~~~~^^^^
    help: did you mean previous.inventory.wood?

Once it is accepted, see what it became, how often it holds on sampled states, and two of them at its boundary:

    python -m replay vet wood.py --explain --pictures shown

Several FILEs may require one another, whatever their order. With --archive, prerequisites, names and meanings are
checked against the skills that the run has admitted as well.
"""

MOST_FILE_BYTES = 1024 * 1024
DEFAULT_WORLD = "craftax_classic"
STDIN = "-"
STDIN_NAME = "<stdin>"


def add(commands: Any) -> argparse.ArgumentParser:
    """Add the command to the parser."""
    parser: argparse.ArgumentParser = commands.add_parser("vet", help="check programs", description=DESCRIPTION)
    parser.add_argument("files", nargs="+", metavar="FILE", help="the file of a program, or - for standard input")
    parser.add_argument(
        "--explain", action="store_true", help="show source, operations, hashes, budgets, and truth on sampled states"
    )
    parser.add_argument(
        "--condition",
        action="append",
        default=[],
        metavar="NAME",
        help="explain on two states when this condition of requires is true, and when not; may be repeated",
    )
    parser.add_argument(
        "--pictures", type=Path, metavar="FOLDER", help="explain, and draw the states that are shown into PNG files"
    )
    parser.add_argument(
        "--world", metavar="NAME", help=f"their world (default: that of --archive, else {DEFAULT_WORLD})"
    )
    parser.add_argument("--archive", type=Path, metavar="RUN", help="a run whose archive they would join")
    parser.add_argument("--replaces", metavar="NAME", help="the archived skill that it would replace, as a mutation")
    parser.add_argument(
        "--may-change-success", action="store_true", help="a mutation may change the success condition too"
    )
    add_json(parser)
    parser.set_defaults(run=run, after_interrupt=nothing_changed)
    return parser


def run(given: argparse.Namespace) -> ExitCode:
    """Vet and tell."""
    _check_usage(given)
    texts = [source_of(name) for name in given.files]
    setting = _setting(given)
    from replay.commands.environment import prepare

    prepare()
    from replay.vet_files import Vetting

    vetting = Vetting(setting, explained(given), _announce(given))
    verdicts = vetting.verdicts([STDIN_NAME if name == STDIN else name for name in given.files], texts)
    if given.condition:
        _check_conditions(verdicts[0], given.condition)
    if given.pictures is not None:
        verdicts = _drawn(verdicts, vetting, given)
    _tell(verdicts, given)
    return ExitCode.OK if all(each.accepted for each in verdicts) else ExitCode.NO


def explained(given: argparse.Namespace) -> bool:
    """Whether everything is to be shown; asking for a part of it asks for the whole."""
    return bool(given.explain or given.condition or given.pictures)


def _check_usage(given: argparse.Namespace) -> None:
    several = len(given.files) > 1
    if given.archive is None and given.replaces is not None:
        raise Refused("--replaces names a skill of an archive: give the run with --archive")
    if several and given.replaces is not None:
        raise Refused("--replaces belongs to one program: give one FILE")
    if several and given.condition:
        raise Refused("--condition belongs to one program: give one FILE")
    if given.files.count(STDIN) > 1:
        raise Refused("standard input holds one program: give - once")


def source_of(name: str) -> str:
    """The text of a program's file, with line feeds as they are.

    Raises:
        Refused: if it is no UTF-8 text, or far larger than any program.
        OSError: if it cannot be read.
    """
    if name == STDIN:
        raw = sys.stdin.buffer.read(MOST_FILE_BYTES + 1)
    else:
        with open(name, "rb") as file:
            raw = file.read(MOST_FILE_BYTES + 1)
    if len(raw) > MOST_FILE_BYTES:
        raise Refused(f"{name} is larger than {MOST_FILE_BYTES} bytes: give the file of one program")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Refused(f"{name} is not UTF-8 (byte {error.start}): save it as UTF-8 text") from None


def _setting(given: argparse.Namespace) -> Setting:
    from ledger.vocabulary.config import Config
    from replay.vet_files import Setting

    if given.archive is None:
        return Setting(given.world or DEFAULT_WORLD, Config().grammar, ())
    from engine.archive.archive import View
    from replay.reproduce import Folder
    from replay.runner.recording import load

    recording = load(Folder(given.archive).run)
    config = recording.started.config
    if given.world not in (None, config.world):
        raise Refused(f"--archive {given.archive} is a run in the world {config.world}: leave --world out")
    view = View()
    for each in recording.steps:
        view = view.fold(each.step)
    if given.replaces is not None and given.replaces not in view.names:
        names = ", ".join(view.names) or "none"
        raise Refused(f"--replaces {given.replaces}: no such skill in {given.archive}; its skills: {names}")
    return Setting(config.world, config.grammar, view.known(sources=True), given.replaces, given.may_change_success)


def _announce(given: argparse.Namespace) -> Callable[[str], None]:
    """Tells the person who waits at a terminal what takes so long."""
    quiet = given.quiet or not sys.stderr.isatty()
    return lambda text: note(text, quiet=quiet)


def _check_conditions(verdict: Verdict, asked: Sequence[str]) -> None:
    if verdict.compiled is None:
        return
    names = [each.condition for each in verdict.compiled.requires]
    for name in asked:
        if name not in names:
            known = f"its conditions: {', '.join(names)}" if names else "it has none"
            raise Refused(f"--condition {name}: no such condition in {verdict.compiled.name}; {known}")


# --- telling ---------------------------------------------------------------------------------------------------------


def _drawn(verdicts: Sequence[Verdict], vetting: Vetting, given: argparse.Namespace) -> list[Verdict]:
    from attrs import evolve

    from engine.worlds.pictures import Drawing
    from replay.witness_pictures import draw

    world = vetting.world
    if not isinstance(world, Drawing):
        note(f"the world {world.name} draws no pictures: --explain shows its map in letters", quiet=given.quiet)
        return list(verdicts)
    prefixes = [f"{index + 1}-" if len(verdicts) > 1 else "" for index in range(len(verdicts))]
    pictures = [
        draw(each, world, given.condition, given.pictures, prefix)
        for each, prefix in zip(verdicts, prefixes, strict=True)
    ]
    return [evolve(each, pictures=drawn) for each, drawn in zip(verdicts, pictures, strict=True)]


def _tell(verdicts: Sequence[Verdict], given: argparse.Namespace) -> None:
    from replay.verdicts import summary, verdict_data, verdict_lines

    full, conditions = explained(given), tuple(given.condition)
    if given.json:
        data = [verdict_data(each, full, conditions) for each in verdicts]
        say(json_text(data if len(data) > 1 else data[0]))
        return
    from replay.coloured import show_lines

    for index, each in enumerate(verdicts):
        if index:
            say()
        show_lines(verdict_lines(each, full, conditions))
    if len(verdicts) > 1:
        say(f"\n{summary(verdicts)}")
