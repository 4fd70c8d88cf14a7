"""Archives of real programs: the honest and the authored corpora for Craftax-Classic, one skill per program."""

from __future__ import annotations

import hashlib
from functools import cache

import numpy as np

from engine.sharp.editions import VETTED
from engine.sharp.program import CompiledProgram, parse_program
from engine.worlds.craftax_classic.schema import SCHEMA
from ledger.vocabulary.body import Body, Data
from ledger.vocabulary.train import Skill
from tests.engine.sharp import honest_classic
from tests.engine.sharp.authored import answers

DIMENSIONS = 256
"""Length of a name's embedding, that of the default embedding model."""


def archive(count: int) -> tuple[Skill, ...]:
    """The first ``count`` skills; a smaller archive is the beginning of a larger one.

    Names are unique. A prerequisite that is no earlier skill is replaced by the first skill, which requires nothing:
    the number of conditions is the program's, and the graph has no cycle.

    Raises:
        ValueError: if there are not so many programs.
    """
    programs = _programs()
    if count > len(programs):
        raise ValueError(f"there are {len(programs)} distinct programs for Craftax-Classic, not {count}")
    skills: list[Skill] = []
    for program in programs[:count]:
        names = {skill.name for skill in skills}
        wanted = (requirement.prerequisite for requirement in program.requires)
        requires = tuple(name if name in names else skills[0].name for name in wanted)
        skills.append(Skill(program.name, Body(program.source), requires, _vector(program.name), 1, 2))
    return tuple(skills)


@cache
def _programs() -> tuple[CompiledProgram, ...]:
    found: dict[str, CompiledProgram] = {}
    for text in (*honest_classic.PROGRAMS, *answers("classic").values()):
        program = parse_program(text, SCHEMA, VETTED)
        if isinstance(program, CompiledProgram):
            found.setdefault(program.name, program)
    return tuple(found.values())


def _vector(name: str) -> Data:
    """A unit vector that depends on the name alone; what it says is of no matter to a benchmark."""
    seed = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "little")
    values = np.random.default_rng(seed).normal(size=DIMENSIONS)
    return Data((values / np.linalg.norm(values)).astype("<f4").tobytes())
