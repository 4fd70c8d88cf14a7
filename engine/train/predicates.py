"""The conditions of a set of programs as one function, in an order that depends on their meanings alone.

Conditions that mean the same are computed once. Rewiring prerequisites, reordering conditions and renaming skills
change index tables, not this function, so nothing is compiled again for them. A function that was compiled for more
conditions serves fewer as well: the tables point past those that nobody asks about.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence

import jax
import jax.numpy as jnp
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
    ``always`` (= m) is the place of a condition that holds always. ``key`` identifies what is compiled. ``meanings``
    are the digests of what stands at the first places; a function without them serves its own ``key`` only.
    """

    key: str
    evaluate: Evaluate
    success: tuple[int, ...]
    conditions: tuple[tuple[int, ...], ...]
    always: int
    meanings: tuple[bytes, ...] = ()

    @property
    def asked(self) -> int:
        """How many first places hold every condition of an initiation set; what follows is asked after steps only."""
        return 1 + max((place for places in self.conditions for place in places), default=-1)

    def serving(self, wanted: Predicates) -> Predicates | None:
        """This function with the places of ``wanted``; ``None`` if it lacks one of its conditions."""
        if self.key == wanted.key:
            return wanted
        own = {meaning: place for place, meaning in enumerate(self.meanings)}
        success = [_moved(place, wanted, own) for place in wanted.success]
        conditions = [[_moved(place, wanted, own) for place in places] for places in wanted.conditions]
        if not all(0 <= place < self.always for place in success):
            return None
        if not all(0 <= place < self.asked for places in conditions for place in places):
            return None
        return evolve(self, success=tuple(success), conditions=tuple(map(tuple, conditions)))


def _moved(place: int, wanted: Predicates, own: dict[bytes, int]) -> int:
    """Where the condition at ``place`` of ``wanted`` stands among one's own; -1 if nowhere."""
    return own.get(wanted.meanings[place], -1) if place < len(wanted.meanings) else -1


Compile = Callable[[Sequence[str], Schema], Predicates]
"""From the sources of programs, in order, to their predicates."""


def compile_programs(sources: Sequence[str], schema: Schema) -> Predicates:
    """Parse and lower programs; their text is never executed.

    Raises:
        ValueError: if a source is no program of the language: only vetted programs may be trained on.
    """
    programs = [_program(source, schema) for source in sources]
    conditions = {node.digest: node for program in programs for node in program.conditions}
    goals = {node.digest: node for node in (program.success for program in programs) if node.digest not in conditions}
    # The order of the meanings' digests: the function depends on nothing else. What a reset asks about comes first, so
    # that the rest need not be computed there.
    meanings = (*sorted(conditions), *sorted(goals))
    nodes = {**conditions, **goals}
    places = {meaning: place for place, meaning in enumerate(meanings)}
    lowered = emit.scalars([nodes[meaning] for meaning in meanings], schema)
    return Predicates(
        key=hashlib.sha256(b"".join(meanings) + len(conditions).to_bytes(4, "big")).hexdigest(),
        evaluate=lambda view, previous: jnp.stack(lowered(view, previous)),
        success=tuple(places[program.success.digest] for program in programs),
        conditions=tuple(tuple(places[node.digest] for node in program.conditions) for program in programs),
        always=len(meanings),
        meanings=meanings,
    )


def _program(source: str, schema: Schema) -> CompiledProgram:
    program = parse_program(source, schema, VETTED)
    if isinstance(program, Refusal):
        raise ValueError(
            f"a skill's source is no program (line {program.line}: {program.reason}): train only on vetted programs"
        )
    return program
