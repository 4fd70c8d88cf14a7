"""The prerequisite graph of an archive: edges (u_i, sigma) of paper 000, section 2.2."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

Requires = Mapping[str, Sequence[str]]
"""Per skill, its prerequisites in the order of the initiation set."""


def depth(requires: Requires) -> dict[str, int]:
    """Per skill, the number of edges on its longest prerequisite chain; 0 without prerequisites.

    Raises:
        ValueError: if the graph has a cycle or names a prerequisite that is no skill.
    """
    depths: dict[str, int] = {}
    open_: set[str] = set()

    def visit(name: str) -> int:
        if name in depths:
            return depths[name]
        if name in open_:
            raise ValueError(f"{name} is among its own prerequisites")
        if name not in requires:
            raise ValueError(f"{name} is a prerequisite but no skill of the archive")
        open_.add(name)
        depths[name] = 1 + max((visit(prerequisite) for prerequisite in requires[name]), default=-1)
        open_.discard(name)
        return depths[name]

    for name in requires:
        visit(name)
    return depths


def ancestors(requires: Requires, name: str) -> tuple[str, ...]:
    """Every skill that ``name`` can be routed to, itself excluded, in order of first visit."""
    seen: dict[str, None] = {}
    stack = list(reversed(requires[name]))
    while stack:
        prerequisite = stack.pop()
        if prerequisite not in seen:
            seen[prerequisite] = None
            stack.extend(reversed(requires[prerequisite]))
    return tuple(seen)
