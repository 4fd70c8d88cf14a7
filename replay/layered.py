"""A graph in layers: columns by depth, rows near the neighbours' (Sugiyama's method), edges led through gaps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from attrs import frozen

from engine.archive.graph import depth


@frozen
class Layout:
    """Where a graph is drawn: column (depth) and row of each skill, the way of each edge, and how many rows there are.

    A way is a list of (column, row): from the prerequisite through gaps in the columns between to the skill.
    """

    places: Mapping[str, tuple[int, float]]
    ways: Mapping[tuple[str, str], tuple[tuple[int, float], ...]]
    rows: float


Node = tuple[str, str, int]
"""A skill (name, "", 0), or the place where the edge (prerequisite, skill) crosses a column."""

SWEEPS = 8


def layout(requires: Mapping[str, Sequence[str]]) -> Layout:
    """Layers by depth; rows by barycentres of neighbours (Sugiyama's method), long edges led through gaps.

    Raises:
        ValueError: if the graph has a cycle or an unknown prerequisite.
    """
    depths = depth(requires)
    layers: list[list[Node]] = [[] for _ in range(1 + max(depths.values()))]
    for name in requires:
        layers[depths[name]].append((name, "", 0))
    chains: dict[tuple[str, str], tuple[Node, ...]] = {}
    for name in requires:
        for each in dict.fromkeys(requires[name]):
            between = [(each, name, x) for x in range(depths[each] + 1, depths[name])]
            for node in between:
                layers[node[2]].append(node)
            chains[each, name] = ((each, "", 0), *between, (name, "", 0))
    before: dict[Node, list[Node]] = {}
    after: dict[Node, list[Node]] = {}
    for chain in chains.values():
        for left, right in pairwise(chain):
            before.setdefault(right, []).append(left)
            after.setdefault(left, []).append(right)
    for sweep in range(SWEEPS):
        forward = sweep % 2 == 0
        neighbours = before if forward else after
        for x in range(1, len(layers)) if forward else range(len(layers) - 2, -1, -1):
            beside = {node: row for row, node in enumerate(layers[x - 1 if forward else x + 1])}
            layers[x] = _by_barycentre(layers[x], neighbours, beside)
    rows, height = _rows(layers, before, after)
    return Layout(
        places={name: (depths[name], rows[name, "", 0]) for name in requires},
        ways={
            edge: tuple((depths[edge[0]] + step, rows[node]) for step, node in enumerate(chain))
            for edge, chain in chains.items()
        },
        rows=height,
    )


def _by_barycentre(
    layer: Sequence[Node], neighbours: Mapping[Node, Sequence[Node]], beside: Mapping[Node, int]
) -> list[Node]:
    """A layer sorted by the mean row of its neighbours; those without any go to the end."""
    means = {
        node: _mean([beside[each] for each in neighbours[node]]) if node in neighbours else float(len(beside))
        for node in layer
    }
    return sorted(layer, key=lambda node: means[node])


def _rows(
    layers: Sequence[Sequence[Node]], before: Mapping[Node, Sequence[Node]], after: Mapping[Node, Sequence[Node]]
) -> tuple[dict[Node, float], float]:
    """Rows near the mean of the neighbours, in the given order and without overlap; and the height of the drawing."""
    heights = [sum(_height(node) for node in layer) for layer in layers]
    tallest = max(heights)
    rows: dict[Node, float] = {}
    for layer, height in zip(layers, heights, strict=True):
        top = (tallest - height) / 2
        for node in layer:
            rows[node] = top + _height(node) / 2
            top += _height(node)
    for _ in range(SWEEPS):
        for layer in layers:
            wanted = {
                node: _mean([rows[each] for each in (*before.get(node, ()), *after.get(node, ()))]) for node in layer
            }
            linked = {node: wanted[node] if node in before or node in after else rows[node] for node in layer}
            rows.update(_spread(layer, linked, tallest))
    return rows, tallest


def _height(node: Node) -> float:
    return 0.4 if node[1] else 1.0


def _spread(layer: Sequence[Node], wanted: Mapping[Node, float], tallest: float) -> dict[Node, float]:
    """Rows as wanted where possible: never overlapping, never outside the drawing."""
    placed: list[float] = []
    free = 0.0
    for node in layer:
        half = _height(node) / 2
        placed.append(max(free + half, wanted[node]))
        free = placed[-1] + half
    limit = tallest
    for index in range(len(layer) - 1, -1, -1):
        half = _height(layer[index]) / 2
        placed[index] = min(placed[index], limit - half)
        limit = placed[index] - half
    return dict(zip(layer, placed, strict=True))


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
