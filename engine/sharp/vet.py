"""The performer of Vet: compile, compare with the archive, count on sampled states. Text in, verdict out."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

import jax
import jax.numpy as jnp
import numpy as np
from attrs import evolve

from engine.sharp.editions import VETTED, Edition, edition_of
from engine.sharp.emit import predicates
from engine.sharp.explaining.reach import better_placed, tree_of
from engine.sharp.program import CompiledProgram, parse_program
from engine.sharp.refusals import Refused, did_you_mean
from engine.sharp.sampled import SampledViews
from engine.sharp.sharing import check_archive
from engine.worlds.schema import Schema
from ledger.vocabulary.body import Body
from ledger.vocabulary.vet import Known, Program, Refusal, Sampled, Vet, Vetted

REFUSED_AT_RESET = (19, 20)
"""Success at this share of resets, or more, is a refusal."""

WARNED_AT_RESET = (1, 20)
"""Success at this share of resets, or more, is a warning."""


def vet(effect: Vet, schema: Schema, states: SampledViews | None = None) -> Vetted:
    """The verdict on ``effect.source``. Statistics are taken only if ``states`` are given; no code of the text runs.

    Raises:
        ValueError: if the effect names another world, an unknown grammar, or replaces a skill that the archive lacks:
            these are errors of the caller, never verdicts.
    """
    if effect.world != schema.world:
        raise ValueError(f"the program is for the world {effect.world!r}, the schema is of {schema.world!r}")
    edition = edition_of(effect.grammar)
    compiled = parse_program(effect.source.text, schema, edition)
    if isinstance(compiled, Refusal):
        return Vetted(None, compiled)
    try:
        check_archive_place(compiled, effect)
        if edition.counts_archive:
            check_archive([*_others(effect, schema), compiled], schema, edition.limits)
    except Refused as refused:
        return Vetted(None, _placed(refused.refusal(), compiled, edition))
    if states is None:
        return Vetted(program_of(compiled), None)
    sampled, implied = count(compiled, schema, states)
    if _at_least(sampled.success_at_reset, sampled.resets, REFUSED_AT_RESET):
        reason = f"success holds at {sampled.success_at_reset} of {sampled.resets} resets: there is nothing to learn"
        hint = "compare with the previous state, so that success is the moment of achieving it"
        return Vetted(None, _placed(Refusal("sampled", 0, 0, reason, hint), compiled, edition), sampled)
    return Vetted(program_of(compiled, sampled_warnings(compiled, sampled, implied)), None, sampled)


def _placed(refusal: Refusal, compiled: CompiledProgram, edition: Edition) -> Refusal:
    """A refusal of a program as a whole at the part that it is about; the first edition gave it no place."""
    tree = tree_of(compiled.source) if edition.has(2) else None
    if tree is None:
        return refusal
    placed = better_placed(compiled.source.split("\n"), tree, refusal)
    if placed.line:
        return placed
    first = next(item for item in tree.body if isinstance(item, ast.ClassDef))
    return evolve(refusal, line=first.lineno, column=1)


def program_of(compiled: CompiledProgram, warnings: Sequence[str] = ()) -> Program:
    """The accepted program as the ledger keeps it."""
    return Program(
        name=compiled.name,
        description=compiled.description,
        source=Body(compiled.source),
        source_hash=compiled.source_hash,
        meaning=compiled.meaning,
        requires=compiled.requires,
        requires_meaning=compiled.requires_meaning,
        normalisations=compiled.normalisations,
        warnings=(*compiled.warnings, *warnings),
    )


# --- the archive -----------------------------------------------------------------------------------------------------


def check_archive_place(compiled: CompiledProgram, effect: Vet) -> None:
    """Refuse a program that the archive cannot take.

    Raises:
        Refused: name taken, prerequisite unknown or cyclic, meaning known, or a mutation that is none.
        ValueError: if ``effect.replaces`` is not in the archive.
    """
    archive = {known.name: known for known in effect.archive}
    if effect.replaces is not None and effect.replaces not in archive:
        raise ValueError(f"{effect.replaces} is to be replaced, but the archive has no such skill")
    _check_name(compiled, archive, effect.replaces)
    _check_prerequisites(compiled, archive)
    _check_meaning(compiled, archive, effect)


def _others(effect: Vet, schema: Schema) -> list[CompiledProgram]:
    """The programs that the archive would hold besides the new one."""
    programs = []
    for known in effect.archive:
        if known.source is None or known.name == effect.replaces:
            continue
        program = parse_program(known.source.text, schema, VETTED)
        if isinstance(program, Refusal):
            raise ValueError(f"the archived skill {known.name} is no program (line {program.line}: {program.reason})")
        programs.append(program)
    return programs


def _check_name(compiled: CompiledProgram, archive: Mapping[str, Known], replaces: str | None) -> None:
    if replaces is not None:
        if compiled.name != replaces:
            raise Refused(
                "archive",
                f"a mutation of {replaces} keeps its name; this is called {compiled.name}",
                f"call the class {replaces}",
            )
        return
    if compiled.name in archive:
        raise Refused(
            "archive",
            f"the archive has a skill called {compiled.name} already",
            "choose another name for another skill",
        )


def _check_prerequisites(compiled: CompiledProgram, archive: Mapping[str, Known]) -> None:
    for requirement in compiled.requires:
        prerequisite = requirement.prerequisite
        if prerequisite == compiled.name:
            raise Refused("archive", f"{compiled.name} requires itself", "name a skill that comes before it")
        if prerequisite not in archive:
            known = ", ".join(sorted(archive)) or "none yet, so requires must be empty"
            hint = did_you_mean(prerequisite, archive) or f"the skills are: {known}"
            raise Refused("archive", f"the prerequisite {prerequisite} is no skill of the archive", hint)
        cycle = _path(prerequisite, compiled.name, archive)
        if cycle is not None:
            chain = " requires ".join((compiled.name, *cycle))
            raise Refused(
                "archive",
                f"the prerequisites form a cycle: {chain}",
                f"name a skill that does not need {compiled.name}",
            )


def _path(start: str, goal: str, archive: Mapping[str, Known]) -> tuple[str, ...] | None:
    """A chain of prerequisites from ``start`` to ``goal``, if there is one."""
    stack: list[tuple[str, ...]] = [(start,)]
    seen = {start}
    while stack:
        path = stack.pop()
        for name in archive[path[-1]].requires if path[-1] in archive else ():
            if name == goal:
                return (*path, goal)
            if name not in seen:
                seen.add(name)
                stack.append((*path, name))
    return None


def _check_meaning(compiled: CompiledProgram, archive: Mapping[str, Known], effect: Vet) -> None:
    parent = archive.get(effect.replaces) if effect.replaces is not None else None
    if parent is not None:
        same_success = compiled.meaning == parent.meaning
        if not same_success and not effect.may_change_success:
            raise Refused(
                "archive",
                f"the success condition of {parent.name} has changed; a mutation changes requirements only",
                "keep the success method as it was",
            )
        if same_success and compiled.requires_meaning == parent.requires_meaning:
            raise Refused(
                "archive",
                f"this means the same as {parent.name} as it is",
                "change a condition, its prerequisite or their order",
            )
        if same_success:
            return
    for known in effect.archive:
        if known is not parent and known.meaning == compiled.meaning:
            alike = (
                "the same"
                if known.requires_meaning == compiled.requires_meaning
                else "the same success condition with other requirements"
            )
            raise Refused(
                "archive",
                f"{compiled.name} is {alike} as the skill {known.name}",
                "propose a skill with another success condition",
            )


# --- sampled states --------------------------------------------------------------------------------------------------


def count(compiled: CompiledProgram, schema: Schema, states: SampledViews) -> tuple[Sampled, tuple[bool, ...]]:
    """How often conditions hold, and which of them imply success wherever they hold.

    At a reset the previous state is the reset state itself.
    """
    evaluate = jax.jit(jax.vmap(predicates([compiled], schema)))
    at_reset, _ = evaluate(states.resets, states.resets)
    success, conditions = evaluate(states.current, states.previous)
    reached = np.asarray(success)[:, 0]
    holds = np.asarray(conditions)[:, 0, : len(compiled.conditions)]
    implied = tuple(bool(holds[:, index].any() and reached[holds[:, index]].all()) for index in range(holds.shape[1]))
    sampled = Sampled(
        resets=int(at_reset.shape[0]),
        success_at_reset=int(jnp.sum(at_reset)),
        visited=int(reached.shape[0]),
        success_visited=int(reached.sum()),
        conditions_visited=tuple(int(holds[:, index].sum()) for index in range(holds.shape[1])),
    )
    return sampled, implied


def sampled_warnings(compiled: CompiledProgram, sampled: Sampled, implied: Sequence[bool]) -> list[str]:
    """What the judge should know about the counts."""
    warnings: list[str] = []
    if _at_least(sampled.success_at_reset, sampled.resets, WARNED_AT_RESET):
        warnings.append(f"success holds at {sampled.success_at_reset} of {sampled.resets} resets")
    for index, requirement in enumerate(compiled.requires):
        held = sampled.conditions_visited[index]
        if implied[index]:
            warnings.append(
                f"wherever the condition {requirement.condition} holds, success holds "
                f"({held} of {sampled.visited} sampled states)"
            )
        if sampled.visited and held == sampled.visited:
            warnings.append(
                f"the condition {requirement.condition} never fails on {sampled.visited} sampled states, "
                f"so {requirement.prerequisite} is never invoked"
            )
    return warnings


def _at_least(part: int, whole: int, share: tuple[int, int]) -> bool:
    return whole > 0 and part * share[1] >= whole * share[0]
