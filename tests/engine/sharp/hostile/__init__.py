"""Hostile and broken programs, our own variants, by class and mechanism. None of them is ever executed.

``HOSTILE`` and ``BROKEN`` must be refused by the compiler, ``FORBIDDEN_BY_ARCHIVE`` and ``WON_AT_RESET`` by the vet;
``REPAIRED`` must be read as the program that was meant; of ``HARMLESS`` either verdict is right.
"""

from __future__ import annotations

from tests.engine.sharp.hostile.archived import FORBIDDEN_BY_ARCHIVE, WON_AT_RESET
from tests.engine.sharp.hostile.broken import BROKEN, CLEAN, REPAIRED
from tests.engine.sharp.hostile.costly import COSTLY
from tests.engine.sharp.hostile.harmless import HARMLESS
from tests.engine.sharp.hostile.integrity import INTEGRITY
from tests.engine.sharp.hostile.introspection import INTROSPECTION
from tests.engine.sharp.hostile.modules import MODULES
from tests.engine.sharp.hostile.nesting import NESTING
from tests.engine.sharp.hostile.objects import OBJECTS
from tests.engine.sharp.hostile.shapes import body, expression

HOSTILE = {**INTROSPECTION, **OBJECTS, **MODULES, **COSTLY, **NESTING, **INTEGRITY}
"""Texts by class; the classes are numbered from 1 to 34."""

__all__ = [
    "BROKEN", "CLEAN", "FORBIDDEN_BY_ARCHIVE", "HARMLESS", "HOSTILE", "REPAIRED", "WON_AT_RESET", "body", "expression",
]  # fmt: skip
