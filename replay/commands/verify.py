"""``verify``: are these recordings, byte for byte, what was written?"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import asdict, frozen

from replay.commands.arguments import add_json, nothing_changed
from replay.commands.refusal import Refused
from replay.exit_codes import ExitCode, explain
from replay.output import json_text, safe, say

if TYPE_CHECKING:
    from ledger.verify import Verification
    from replay.runner.retention import Inventory

DESCRIPTION = """\
Check every byte of recorded runs against hash chains, HEADs, blobs and checkpoints. Nothing is executed or changed.

Without a HEAD from outside, a run that was shortened or written anew as a whole cannot be told: its author has the
means to make a new, valid chain. A reproduction folder keeps that HEAD beside its recording, and it is used.
"""


def add(commands: Any) -> argparse.ArgumentParser:
    """Add the command to the parser."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "verify", help="check that recordings are unaltered", description=DESCRIPTION
    )
    parser.add_argument(
        "runs", nargs="+", type=Path, metavar="RUN", help="a run, or a reproduction folder with recording/"
    )
    parser.add_argument("--head", type=Path, metavar="FILE", help="a published HEAD to check one run against")
    add_json(parser)
    parser.set_defaults(run=run, after_interrupt=nothing_changed)
    return parser


@frozen
class Verdict:
    """One run's result: its exit code, a line, and what was found if the run could be read at all."""

    run: Path
    code: ExitCode
    text: str
    head: Path | None = None
    found: Verification | None = None
    kept: Inventory | None = None


def run(given: argparse.Namespace) -> ExitCode:
    """Verify each run; the exit code is that of the first one that fails."""
    if given.head is not None and len(given.runs) > 1:
        raise Refused("--head belongs to one run: verify the others without it")
    verdicts = []
    for each in given.runs:
        verdicts.append(_verdict(each, given.head))
        if not given.json:
            _print(verdicts[-1])
    if given.json:
        say(json_text([_data(verdict) for verdict in verdicts]))
    elif len(verdicts) > 1:
        bad = sum(verdict.code is not ExitCode.OK for verdict in verdicts)
        say(f"{len(verdicts) - bad} of {len(verdicts)} runs are whole")
    return next((verdict.code for verdict in verdicts if verdict.code is not ExitCode.OK), ExitCode.OK)


def _verdict(folder: Path, head: Path | None) -> Verdict:
    from ledger.errors import LedgerError
    from ledger.verify import verify

    inner = folder / "recording"
    directory = inner if inner.is_dir() else folder
    beside = folder / "HEAD"
    if head is None and directory is inner and beside.is_file():
        head = beside
    try:
        found = verify(directory, head)
    except (LedgerError, OSError) as error:
        code, text = explain(error)
        return Verdict(folder, code, text, head)
    if found.problems:
        return Verdict(folder, ExitCode.INTEGRITY, "; ".join(map(str, found.problems)), head, found)
    if found.torn_tail is not None:
        return Verdict(folder, ExitCode.TORN_TAIL, str(found.torn_tail), head, found)
    kept = _inventory(directory)
    return Verdict(folder, ExitCode.OK, _whole(found, head, kept), head, found, kept)


def _inventory(directory: Path) -> Inventory | None:
    """What there is of a run's checkpoints; ``None`` for a whole ledger that holds no experiment of ours."""
    from ledger.errors import LedgerError
    from replay.runner.recording import Disordered, NoExperiment, load
    from replay.runner.retention import inventory

    try:
        return inventory(load(directory))
    except (NoExperiment, Disordered, LedgerError):
        return None


def _whole(found: Verification, head: Path | None, kept: Inventory | None) -> str:
    against = f"the HEAD in {head}" if head is not None else "its own HEAD only (give --head to see a shortened run)"
    parts = [
        f"{found.events:,} events, {found.blobs:,} texts, {found.batches:,} batches, "
        f"{found.raw_bytes:,} bytes stored as {found.stored_bytes:,}",
        f"status {found.status}",
        f"checked against {against}",
    ]
    if found.beyond_head:
        parts.append(f"{found.beyond_head:,} valid bytes beyond HEAD, as after a crash or beside a writer")
    if kept is not None and kept.agents + kept.intermediate:
        parts.append(kept.text())
    elif found.not_shipped:
        parts.append(f"{len(found.not_shipped)} checkpoints not shipped")
    if found.quarantined:
        parts.append(f"{len(found.quarantined)} torn tails set aside earlier")
    return "; ".join(parts)


def _print(verdict: Verdict) -> None:
    word = {ExitCode.OK: "whole", ExitCode.INTEGRITY: "ALTERED", ExitCode.TORN_TAIL: "torn tail"}.get(
        verdict.code, "not readable"
    )
    say(f"{safe(verdict.run)}: {word}: {safe(verdict.text)}")
    if verdict.code is ExitCode.OK and verdict.found is not None:
        say(f"  event {verdict.found.sequence}, hash {verdict.found.hash}")


def _data(verdict: Verdict) -> dict[str, Any]:
    found = verdict.found
    data: dict[str, Any] = {
        "run": str(verdict.run),
        "exit_code": int(verdict.code),
        "result": verdict.code.name.lower(),
        "text": verdict.text,
        "outside_head": None if verdict.head is None else str(verdict.head),
    }
    if found is not None:
        data |= {
            "status": found.status,
            "sequence": found.sequence,
            "hash": found.hash,
            "events": found.events,
            "blobs": found.blobs,
            "batches": found.batches,
            "raw_bytes": found.raw_bytes,
            "stored_bytes": found.stored_bytes,
            "beyond_head": found.beyond_head,
            "checkpoints": found.checkpoints,
            "not_shipped": list(found.not_shipped),
            "damaged_checkpoints": list(found.damaged_checkpoints),
            "problems": [str(problem) for problem in found.problems],
        }
    if verdict.kept is not None:
        data["kept"] = asdict(verdict.kept)
    return data
