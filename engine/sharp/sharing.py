"""What an archive costs when equal sub-expressions of its programs are computed once, and what it may cost. No JAX."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from engine.sharp.editions import LATEST
from engine.sharp.graph import Node, operations, topological, work
from engine.sharp.limits import Limits
from engine.sharp.program import CompiledProgram
from engine.sharp.refusals import Refused
from engine.worlds.schema import Schema


@frozen
class OperationCount:
    """Operations of an archive: summed over programs, and after equal ones are shared."""

    before: int
    after: int


def operation_count(programs: Sequence[CompiledProgram]) -> OperationCount:
    """How much sharing saves. Inputs, constants and broadcasts do not count."""
    alone = sum(len(operations([program.success, *program.conditions])) for program in programs)
    return OperationCount(alone, len(operations(roots_of(programs))))


def archive_work(programs: Sequence[CompiledProgram], schema: Schema) -> int:
    """Element operations of one evaluation of all programs for one state, after sharing."""
    nodes = topological(roots_of(programs))
    return sum(schema.helpers[str(node.attributes[0])].cost if node.op == "helper" else work(node) for node in nodes)


def check_archive(programs: Sequence[CompiledProgram], schema: Schema, limits: Limits = LATEST.limits) -> None:
    """Raise if the archive as a whole is over its budget.

    Raises:
        Refused: naming the costliest program.
    """
    total = archive_work(programs, schema)
    if total > limits.archive_work:
        costliest = max(programs, key=lambda program: (archive_work([program], schema), program.name))
        raise Refused(
            "budget",
            f"the archive is over its budget of {limits.archive_work:,} elements × operations with {total:,}; "
            f"the costliest program is {costliest.name}",
            "use whole-array functions, or fewer and shorter loops",
        )


def roots_of(programs: Sequence[CompiledProgram]) -> list[Node]:
    """Success and conditions of every program, in order."""
    return [node for program in programs for node in (program.success, *program.conditions)]
