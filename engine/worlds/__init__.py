"""The environments that skills are trained in, behind one protocol."""

from __future__ import annotations

from engine.worlds.compiler import settle_compiler

settle_compiler()
