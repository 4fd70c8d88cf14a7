"""How strictly a recorded field binds a recomputed one, written on the field itself."""

from __future__ import annotations

from typing import Any, Final

KEY: Final = "comparison"

EXACT: Final = "exact"
"""Canonical bytes must be equal. The default."""

CLOSE: Final = "close"
"""A float, or floats, within 1e-12 relative or absolute: draw weights and noted distributions."""

NUMERIC: Final = "numeric"
"""Comes out of device arithmetic: bitwise equal where fingerprints match, judged statistically elsewhere."""

REPORTED: Final = "reported"
"""Kept for people (durations, counts of work); never compared."""

CLOSE_TOLERANCE: Final = 1e-12


def compared(how: str) -> dict[str, Any]:
    """Field metadata that declares ``how`` a field is compared on replay."""
    return {KEY: how}
