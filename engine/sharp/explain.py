"""Verdicts as text for people: a refusal under its line, an accepted program with what it became."""

from __future__ import annotations

from engine.sharp.emit import operation_count
from engine.sharp.graph import describe, topological
from engine.sharp.limits import LIMITS, Limits
from engine.sharp.normalise import normalise
from engine.sharp.program import CompiledProgram
from engine.sharp.refusals import Refused
from ledger.vocabulary.vet import Refusal

MAX_SHOWN = 200


def explain_refusal(refusal: Refusal, source: str) -> str:
    """A refusal with the line it is about and a mark under the column. Lines are those of the normalised source."""
    lines: list[str] = []
    place = f"line {refusal.line}, column {refusal.column}" if refusal.line else "the program"
    lines.append(f"{place}: {refusal.reason}  [{refusal.kind}]")
    try:
        text = normalise(source, LIMITS).source.split("\n")
    except Refused:
        text = source.split("\n")
    if 0 < refusal.line <= len(text):
        shown = text[refusal.line - 1]
        start = max(0, refusal.column - 1 - MAX_SHOWN // 2)
        gutter = f"{refusal.line:4} | "
        lines.append(gutter + shown[start : start + MAX_SHOWN])
        if refusal.column:
            lines.append(" " * (len(gutter) + refusal.column - 1 - start) + "^")
    if refusal.suggestion:
        lines.append(f"  hint: {refusal.suggestion}")
    return "\n".join(lines)


def explain_program(program: CompiledProgram, limits: Limits = LIMITS) -> str:
    """Everything the compiler knows of an accepted program: source, operations, hashes, budgets, notes."""
    used = program.used
    kept = operation_count([program]).after
    roots = [program.success, *program.conditions]
    number = {node.digest: index for index, node in enumerate(topological(roots))}
    sections = [
        f"{program.name}: {program.description or '(no description)'}",
        "",
        program.source.rstrip("\n"),
        "",
        "operations",
        *(f"  {line}" for line in describe(roots)),
        "",
        f"  success = %{number[program.success.digest]}",
    ]
    for index, (requirement, node) in enumerate(zip(program.requires, program.conditions, strict=True)):
        sections.append(
            f"  requires[{index}] = %{number[node.digest]} ({requirement.condition}), else {requirement.prerequisite}"
        )
    sections += [
        "",
        f"source            {program.source_hash}",
        f"meaning           {program.meaning}",
        f"requires meaning  {program.requires_meaning}",
        "",
        f"source bytes      {used.source_bytes:>9,} of {limits.source_bytes:,}",
        f"loop iterations   {used.iterations:>9,} of {limits.iterations:,}",
        f"evaluations       {used.steps:>9,} of {limits.steps:,}",
        f"operations        {used.operations:>9,} of {limits.operations:,} while compiling, {kept:,} kept",
        f"elements × ops    {used.work:>9,} of {limits.work:,}",
    ]
    sections += [f"normalised: {item}" for item in program.normalisations]
    sections += [f"warning: {item}" for item in program.warnings]
    return "\n".join(sections)
