"""``log``: the events of a run, one a line."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from replay.commands.arguments import nothing_changed
from replay.exit_codes import ExitCode
from replay.output import safe, say

if TYPE_CHECKING:
    from ledger.lines import Record

DESCRIPTION = """\
List the events of a run: number, time, source, kind, path, and what happened in a line.

Kinds are those of events (Started, Step, Attempt, Arrived, Progress, Session, Finished, Forked), of steps (Settings,
Survey, Ask, Embed, Vet, Draw, Train, Evaluate, Note) and of decisions (Judged, Admitted, Failed, Rates, Practised,
Adopted, Kept, Matched). Filters are combined. Whole texts are in the ledger itself:

    cat RUN/events/*.zst | zstd -dc
"""

SUMMARY_CHARACTERS = 160


def add(commands: Any) -> argparse.ArgumentParser:
    """Add the command to the parser."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "log", help="list the events of a run", description=DESCRIPTION
    )
    parser.add_argument("directory", type=Path, metavar="RUN", help="a run, or a reproduction folder with recording/")
    parser.add_argument("--kind", action="append", metavar="K", help="only events of this kind; may be repeated")
    parser.add_argument("--path", metavar="PREFIX", help="only steps at or below this path, such as iteration=2")
    parser.add_argument("--skill", metavar="NAME", help="only events about this skill")
    parser.add_argument("--json", action="store_true", help="JSON lines, long texts by their hash")
    parser.set_defaults(run=run, after_interrupt=nothing_changed)
    return parser


def run(given: argparse.Namespace) -> ExitCode:
    """Print the events that pass every filter; damage ends it with an error, after the events before it."""
    from ledger import lines, reader

    inner = given.directory / "recording"
    shown = 0
    for record in reader.read(inner if inner.is_dir() else given.directory):
        if not _wanted(record, given):
            continue
        shown += 1
        # JSON of ours is ASCII; DEL is the one control character that it leaves as it is
        say(lines.write(record).decode("ascii").replace("\x7f", "\\u007f") if given.json else line(record))
    if not shown and not given.json:
        say("no event fits" if (given.kind or given.path or given.skill) else "the run has no events yet")
    return ExitCode.OK


def _wanted(record: Record, given: argparse.Namespace) -> bool:
    from replay.summaries import kinds, path_of, skills_of, under

    event = record.event
    if given.kind:
        asked = {each.lower() for each in given.kind}
        if asked.isdisjoint(each.lower() for each in kinds(event)):
            return False
    if given.path is not None and not under(path_of(event), given.path):
        return False
    return given.skill is None or given.skill in skills_of(event)


def line(record: Record) -> str:
    """One line about one event, safe for a terminal."""
    from replay.summaries import kind, path_of, summary

    when = record.time[:19].replace("T", " ")
    source = "" if record.source == "live" else f" [{record.source}]"
    path = path_of(record.event)
    where = f" {path}" if path else ""
    text = safe(summary(record.event), SUMMARY_CHARACTERS)
    return f"{record.sequence:>6}  {when}{source}  {kind(record.event):<10}{safe(where)}  {text}"
