"""Craftax (Matthews et al., 2024), the game of nine floors: the installed ``craftax`` package as a ``World``."""

from __future__ import annotations

from engine.worlds.craftax.world import Craftax

__all__ = ["Craftax"]
