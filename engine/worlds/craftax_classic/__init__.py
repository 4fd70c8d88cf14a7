"""Craftax-Classic (Matthews et al., 2024): the installed ``craftax`` package behind the ``World`` protocol."""

from __future__ import annotations

from engine.worlds.craftax_classic.world import CraftaxClassic

__all__ = ["CraftaxClassic"]
