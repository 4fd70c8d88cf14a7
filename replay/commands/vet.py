"""``vet``: is this file a program of the SHARP language that may stand in an archive?"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from replay.commands.arguments import add_json, nothing_changed
from replay.commands.refusal import Refused
from replay.exit_codes import ExitCode
from replay.output import json_text, safe, safe_lines, say

if TYPE_CHECKING:
    from ledger.vocabulary.vet import Known, Vetted

DESCRIPTION = """\
Parse, check and lower a program exactly as a run does; it is never executed. Exit code 0 if it is accepted, 1 if not.

A refusal shows the line, the reason and what would be right. With --archive, prerequisites, names and meanings are
checked against the skills that the run has admitted.
"""

MOST_FILE_BYTES = 1024 * 1024


def add(commands: Any) -> argparse.ArgumentParser:
    """Add the command to the parser."""
    parser: argparse.ArgumentParser = commands.add_parser("vet", help="check a program", description=DESCRIPTION)
    parser.add_argument("file", metavar="FILE", help="the program's file, or - for standard input")
    parser.add_argument(
        "--world", default="craftax_classic", metavar="NAME", help="its world (default: craftax_classic)"
    )
    parser.add_argument("--archive", type=Path, metavar="RUN", help="a run whose archive it would join")
    parser.add_argument("--replaces", metavar="NAME", help="the archived skill that it would replace, as a mutation")
    parser.add_argument(
        "--may-change-success", action="store_true", help="a mutation may change the success condition too"
    )
    add_json(parser)
    parser.set_defaults(run=run, after_interrupt=nothing_changed)
    return parser


def run(given: argparse.Namespace) -> ExitCode:
    """Vet and tell."""
    text = source_of(given.file)
    archive = _archive(given)
    from replay.commands.environment import prepare

    prepare()
    vetted, explanation = vet_text(text, given, archive)
    if given.json:
        from ledger.codec import plain

        say(json_text({"vetted": plain(vetted), "explanation": explanation}))
    else:
        say(f"{safe(given.file)}: {'accepted' if vetted.program is not None else 'refused'}")
        for line in safe_lines(explanation):
            say(line)
    return ExitCode.OK if vetted.program is not None else ExitCode.NO


def source_of(name: str) -> str:
    """The text of a program's file, with line feeds as they are.

    Raises:
        Refused: if it is no UTF-8 text, or far larger than any program.
        OSError: if it cannot be read.
    """
    if name == "-":
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


def _archive(given: argparse.Namespace) -> tuple[Known, ...]:
    if given.archive is None:
        if given.replaces is not None:
            raise Refused("--replaces names a skill of an archive: give the run with --archive")
        return ()
    from engine.archive.archive import View
    from replay.reproduce import Folder
    from replay.runner.recording import load

    view = View()
    for each in load(Folder(given.archive).run).steps:
        view = view.fold(each.step)
    if given.replaces is not None and given.replaces not in view.names:
        known = ", ".join(view.names) or "none"
        raise Refused(f"--replaces {given.replaces}: no such skill in {given.archive}; its skills: {known}")
    return view.known()


def vet_text(text: str, given: argparse.Namespace, archive: tuple[Known, ...]) -> tuple[Vetted, str]:
    """The verdict, and its explanation for people.

    Raises:
        engine.worlds.registry.UnknownWorld: if there is no such world.
    """
    from engine.sharp.explain import explain_program, explain_refusal
    from engine.sharp.program import parse_program
    from engine.sharp.vet import vet
    from engine.worlds.registry import world
    from engine.worlds.sampling import sampled_views
    from ledger.vocabulary.body import Body
    from ledger.vocabulary.config import Config
    from ledger.vocabulary.path import Path as StepPath
    from ledger.vocabulary.vet import Refusal, Vet
    from replay.runner.performers import SAMPLING_SEED

    there = world(given.world)
    effect = Vet(
        StepPath("vet"),
        given.world,
        Config().grammar,
        Body(text),
        archive,
        replaces=given.replaces,
        may_change_success=given.may_change_success,
    )
    vetted = vet(effect, there.schema)  # most refusals need no sampled states, which take longest
    if vetted.program is not None:
        vetted = vet(effect, there.schema, sampled_views(there, SAMPLING_SEED))
    if vetted.refusal is not None:
        return vetted, explain_refusal(vetted.refusal, text)
    compiled = parse_program(text, there.schema)
    assert vetted.program is not None
    assert not isinstance(compiled, Refusal)
    new = [each for each in vetted.program.warnings if each not in compiled.warnings]
    return vetted, "\n".join([explain_program(compiled), *(f"warning: {each}" for each in new)])
