"""How a long computation ends early."""

from __future__ import annotations


class Stopped(Exception):
    """The caller asked to stop; what was done so far was handed over for a later resume, if a resume is possible."""
