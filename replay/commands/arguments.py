"""Arguments that several commands share."""

from __future__ import annotations

import argparse
from pathlib import Path


def add_json(parser: argparse.ArgumentParser) -> None:
    """``--json``: the result as data."""
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def folder(text: str) -> Path:
    """A folder as given; whether it exists is found out by whoever uses it."""
    return Path(text)


def nothing_changed(given: argparse.Namespace) -> str:
    """What to do after an interrupt of a command that keeps nothing."""
    return "nothing was changed; run the same command again"


def resumable(given: argparse.Namespace) -> str:
    """What to do after an interrupt of a run."""
    return f"everything up to here is kept; continue with `python -m replay resume {given.directory}`"
