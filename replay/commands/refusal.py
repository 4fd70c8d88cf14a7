"""A command line that is well formed but makes no sense."""

from __future__ import annotations


class Refused(Exception):
    """Arguments that contradict each other or the state of a folder; the message says what to do."""
