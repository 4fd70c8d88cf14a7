"""The function tables, filled: import them from here."""

from __future__ import annotations

from engine.sharp.callables import array_functions, builtin_functions, rearranging, shape_functions
from engine.sharp.callables.functions import BUILTINS, JNP, LAX, LINALG, METHODS

SOURCES = (builtin_functions, array_functions, shape_functions, rearranging)
"""The modules whose functions enter themselves into the tables when imported."""

__all__ = ["BUILTINS", "JNP", "LAX", "LINALG", "METHODS", "SOURCES"]
