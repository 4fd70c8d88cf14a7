"""The conditions of a set of programs as one function, in an order that depends on their meanings alone.

Conditions that mean the same are computed once. Rewiring prerequisites, reordering conditions and renaming skills
change index tables, not this function, so nothing is compiled again for them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence

import jax
from attrs import evolve, frozen

from engine.sharp import emit
from engine.sharp.editions import VETTED
from engine.sharp.program import CompiledProgram, parse_program
from engine.worlds.protocol import View
from engine.worlds.schema import Schema
from ledger.vocabulary.vet import Refusal

Evaluate = Callable[[View, View], jax.Array]


@frozen
class Predicates:
    """``evaluate(view, previous_view)`` gives bool ``[m]``: every distinct condition once, success or not.

    ``success[i]`` is the place of program i's success condition, ``conditions[i]`` those of its conditions in order;
    ``always`` (= m) is the place of a condition that holds always. ``key`` identifies what is compiled.
    """

    key: str
    evaluate: Evaluate
    success: tuple[int, ...]
    conditions: tuple[tuple[int, ...], ...]
    always: int


Compile = Callable[[Sequence[str], Schema], Predicates]
"""From the sources of programs, in order, to their predicates."""


def compile_programs(sources: Sequence[str], schema: Schema) -> Predicates:
    """Parse and lower programs; their text is never executed.

    Raises:
        ValueError: if a source is no program of the language: only vetted programs may be trained on.
    """
    programs = [_program(source, schema) for source in sources]
    nodes = {node.digest: node for program in programs for node in (program.success, *program.conditions)}
    # One condition per carrier, in the order of the meanings' digests: the function depends on nothing else.
    places = {digest: place for place, digest in enumerate(sorted(nodes))}
    carriers = [evolve(programs[0], success=nodes[digest], conditions=()) for digest in sorted(nodes)]
    lowered = emit.predicates(carriers, schema)
    return Predicates(
        key=hashlib.sha256(b"".join(sorted(nodes))).hexdigest(),
        evaluate=lambda view, previous: lowered(view, previous)[0],
        success=tuple(places[program.success.digest] for program in programs),
        conditions=tuple(tuple(places[node.digest] for node in program.conditions) for program in programs),
        always=len(nodes),
    )


def _program(source: str, schema: Schema) -> CompiledProgram:
    program = parse_program(source, schema, VETTED)
    if isinstance(program, Refusal):
        raise ValueError(
            f"a skill's source is no program (line {program.line}: {program.reason}): train only on vetted programs"
        )
    return program
