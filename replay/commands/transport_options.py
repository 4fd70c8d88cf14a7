"""Options of the commands that ask a foundation model."""

from __future__ import annotations

import argparse
from pathlib import Path

from replay.operational import TRANSPORTS


def add_transport(parser: argparse.ArgumentParser) -> None:
    """``--transport``, ``--mailbox``, ``--served-model``."""
    parser.add_argument(
        "--transport", choices=TRANSPORTS, help="how to reach the foundation model (default: as configured, else http)"
    )
    parser.add_argument(
        "--mailbox", type=Path, metavar="DIR", help="the mailbox's folder (default: mailbox in the run)"
    )
    parser.add_argument(
        "--served-model",
        metavar="NAME",
        help="the name under which this endpoint serves the recorded model, if another",
    )
