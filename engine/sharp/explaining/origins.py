"""Which line of the source each operation came from: the program is compiled again, with a graph that takes notes."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import define, field

from engine.sharp.editions import LATEST, Edition
from engine.sharp.grammar import parse
from engine.sharp.graph import Attributes, Bounds, Graph, Node
from engine.sharp.lower import Compiler
from engine.sharp.outline import read_class, read_module
from engine.sharp.program import CompiledProgram
from engine.worlds.schema import Schema


@define
class _NotingGraph(Graph):
    """A graph that remembers at which line each node was first made."""

    lines: dict[bytes, int] = field(factory=dict)

    def make(
        self,
        op: str,
        operands: tuple[Node, ...],
        dtype: str,
        shape: tuple[int, ...],
        attributes: Attributes = (),
        bounds: Bounds | None = None,
        cost: int | None = None,
    ) -> Node:
        """The node of this operation."""
        node = super().make(op, operands, dtype, shape, attributes, bounds, cost)
        self.lines.setdefault(node.digest, self.meter.line)
        return node


def lines_of(program: CompiledProgram, schema: Schema, edition: Edition = LATEST) -> Mapping[bytes, int]:
    """The line of ``program.source`` at which each node of its graphs was first needed, by the node's digest."""
    compiler = Compiler(schema, edition)
    graph = _NotingGraph(compiler.meter)
    compiler.nodes.graph = graph
    tree = parse(program.source, edition.limits)
    pairs = read_class(compiler, read_module(compiler, tree))
    compiler.condition(compiler.methods["success"], "success")
    for source, what, _ in pairs:
        compiler.condition(source, what)
    return graph.lines
