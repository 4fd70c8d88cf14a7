"""The worlds by name; a world's game is imported when the world is first asked for."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Final

from attrs import frozen

from engine.worlds.description import Description
from engine.worlds.protocol import World


class UnknownWorld(ValueError):
    """No world has this name; the message lists the names and the nearest one."""


@frozen
class Entry:
    """How to build a world, and how to describe the package it comes from."""

    build: Callable[[], World]
    describe: Callable[[], Description]


def _craftax() -> World:
    from engine.worlds.craftax import Craftax

    return Craftax()


def _describe_craftax() -> Description:
    from engine.worlds.craftax.source import describe

    return describe()


def _craftax_classic() -> World:
    from engine.worlds.craftax_classic import CraftaxClassic

    return CraftaxClassic()


def _describe_craftax_classic() -> Description:
    from engine.worlds.craftax_classic.source import describe

    return describe()


WORLDS: Final[Mapping[str, Entry]] = MappingProxyType(
    {
        "craftax": Entry(_craftax, _describe_craftax),
        "craftax_classic": Entry(_craftax_classic, _describe_craftax_classic),
    }
)


def entry(name: str) -> Entry:
    """The entry of a world.

    Raises:
        UnknownWorld: if there is none.
    """
    if name not in WORLDS:
        near = difflib.get_close_matches(name, WORLDS, n=1)
        hint = f"did you mean {near[0]}? " if near else ""
        raise UnknownWorld(f"there is no world {name!r}; {hint}worlds: {', '.join(sorted(WORLDS))}")
    return WORLDS[name]


def world(name: str) -> World:
    """The world, one object per name and process, so that what was compiled for it is used again.

    Raises:
        UnknownWorld: if there is none of this name.
    """
    return _built(entry(name))


@cache
def _built(of: Entry) -> World:
    return of.build()
