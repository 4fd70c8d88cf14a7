"""Verdicts for people: a refusal under its line as a good compiler shows it, a program with what it became."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import frozen

from engine.sharp.editions import LATEST, Edition
from engine.sharp.explaining.excerpt import Line, Piece, excerpt, line, numbered, plain, visible
from engine.sharp.explaining.places import locate
from engine.sharp.graph import describe, topological
from engine.sharp.program import CompiledProgram
from engine.sharp.sharing import operation_count
from ledger.vocabulary.vet import Refusal

SHORT = 12
"""Characters of a hash that tell programs apart for people."""


@frozen
class Budget:
    """What a program used of one of its budgets, and may use."""

    name: str
    meaning: str
    used: int
    allowed: int


def refusal_lines(refusal: Refusal, source: str, file: str = "", edition: Edition = LATEST) -> list[Line]:
    """A refusal: place and reason, the author's lines with a mark under what is meant, and what would be right.

    Lines are those of ``source`` as it was written. Where they are not (the program was a quoted string), the
    normalised lines are shown, and said to be that.
    """
    place = locate(refusal, source, edition)
    where = [visible(file)] if file else []
    if place is not None and place.own:
        where += [str(place.line), str(place.column)]
    head = ":".join(where) or "the program"
    lines = [
        line(
            Piece(f"{head}: ", "place"),
            Piece("refused", "bad"),
            Piece(f" ({refusal.kind})", "kind"),
            Piece(f": {visible(refusal.reason)}", "heading"),
        )
    ]
    if place is not None:
        if not place.own:
            lines.append(
                line(f"at line {place.line}, column {place.column} of the program inside the quotes, as it is read:")
            )
        lines += excerpt(place.lines, place.line, place.span, place.focus)
    if refusal.suggestion:
        lines.append(line(Piece("help", "help"), f": {visible(refusal.suggestion)}"))
    return lines


def explain_refusal(refusal: Refusal, source: str, file: str = "", edition: Edition = LATEST) -> str:
    """``refusal_lines`` as text."""
    return plain(refusal_lines(refusal, source, file, edition))


def budgets(program: CompiledProgram, edition: Edition = LATEST) -> tuple[Budget, ...]:
    """What the program used, and what it may use."""
    used, limits = program.used, edition.limits
    return (
        Budget("bytes", "bytes of source", used.source_bytes, limits.source_bytes),
        Budget("iterations", "loop iterations", used.iterations, limits.iterations),
        Budget("evaluations", "evaluated expressions", used.steps, limits.steps),
        Budget("operations", "operations while compiling", used.operations, limits.operations),
        Budget("work", "elements × operations", used.work, limits.work),
    )


def operations_kept(program: CompiledProgram) -> int:
    """Operations of all its conditions, after equal ones are shared."""
    return operation_count([program]).after


def operation_lines(program: CompiledProgram, origins: Mapping[bytes, int] | None = None) -> list[Line]:
    """The graphs as numbered operations, each with the source line it was first needed at, and what the roots mean."""
    roots = [program.success, *program.conditions]
    order = topological(roots)
    described = describe(roots)
    width = min(72, max(map(len, described)))
    lines = []
    for node, text in zip(order, described, strict=True):
        origin = None if origins is None else origins.get(node.digest)
        lines.append(line(text) if origin is None else line(f"{text:<{width}}  ", Piece(f"line {origin}", "faint")))
    number = {node.digest: index for index, node in enumerate(order)}
    lines += [line(), line(Piece("success", "heading"), f" = %{number[program.success.digest]}")]
    for index, (requirement, node) in enumerate(zip(program.requires, program.conditions, strict=True)):
        lines.append(
            line(
                Piece(f"requires[{index}]", "heading"),
                f" = %{number[node.digest]} ({requirement.condition}), else {visible(requirement.prerequisite)}",
            )
        )
    return lines


def program_lines(
    program: CompiledProgram,
    edition: Edition = LATEST,
    origins: Mapping[bytes, int] | None = None,
    more_warnings: tuple[str, ...] = (),
) -> list[Line]:
    """Everything the compiler knows of an accepted program: source, operations, hashes, budgets, notes."""
    lines = [line(Piece("program", "heading")), *numbered(program.source.rstrip("\n").split("\n")), line()]
    lines += [line(Piece("operations", "heading"))]
    lines += [line("  ", *each) if each else each for each in operation_lines(program, origins)]
    lines += [
        line(),
        line(Piece("hashes", "heading")),
        line(f"  source            {program.source_hash}"),
        line(f"  meaning           {program.meaning}"),
        line(f"  requires meaning  {program.requires_meaning}"),
        line(),
        line(Piece("budgets", "heading")),
    ]
    found = budgets(program, edition)
    widest = max(len(each.meaning) for each in found)
    lines += [line(f"  {each.meaning:<{widest}}  {each.used:>9,} of {each.allowed:>9,}") for each in found]
    lines.append(line(f"  {'operations kept':<{widest}}  {operations_kept(program):>9,}"))
    notes = note_lines(program, more_warnings)
    return [*lines, line(), *notes] if notes else lines


def short_lines(program: CompiledProgram, edition: Edition = LATEST, more_warnings: tuple[str, ...] = ()) -> list[Line]:
    """An accepted program in a few lines: hashes, budgets, notes."""
    hashes = (("source", program.source_hash), ("meaning", program.meaning), ("requires", program.requires_meaning))
    used = ", ".join(f"{each.name} {each.used:,}/{each.allowed:,}" for each in budgets(program, edition))
    lines = [
        line(Piece("hashes", "heading"), "   " + ", ".join(f"{name} {digest[:SHORT]}" for name, digest in hashes)),
        line(Piece("budgets", "heading"), f"  {used}"),
    ]
    for index, each in enumerate(program.requires):
        word = "requires" if index == 0 else ""
        lines.append(line(Piece(f"{word:<8}", "heading"), f" {each.condition}, else {visible(each.prerequisite)}"))
    return [*lines, *note_lines(program, more_warnings)]


def note_lines(program: CompiledProgram, more_warnings: tuple[str, ...] = ()) -> list[Line]:
    """What was normalised, and what the author and the judge should know."""
    lines = [line(Piece("normalised", "faint"), f": {visible(item)}") for item in program.normalisations]
    warned = [*program.warnings, *(each for each in more_warnings if each not in program.warnings)]
    return lines + [line(Piece("warning", "changed"), f": {visible(item)}") for item in warned]


def explain_program(program: CompiledProgram, edition: Edition = LATEST) -> str:
    """Name, description and ``program_lines`` as text."""
    title = line(f"{program.name}: {visible(program.description) or '(no description)'}")
    return plain([title, line(), *program_lines(program, edition)])
