"""What ``vet`` tells of one file: the verdict for people, and everything as data for programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from attrs import field, frozen

from engine.sharp.editions import Edition
from engine.sharp.explaining.excerpt import Line, Piece, line, plain, visible
from engine.sharp.explaining.explain import (
    budgets,
    operation_lines,
    operations_kept,
    program_lines,
    refusal_lines,
    short_lines,
)
from engine.sharp.explaining.origins import lines_of
from engine.sharp.explaining.places import locate
from engine.sharp.explaining.readings import Reading
from engine.sharp.explaining.witnesses import Truth, Witness
from engine.sharp.program import CompiledProgram
from engine.worlds.schema import Schema
from engine.worlds.text_picture import text_picture
from ledger.codec import plain as plain_data
from ledger.vocabulary.vet import Sampled, Vetted
from replay.witness_text import truth_lines, wanted, witness_lines

MOST_ELEMENTS = 64
"""Elements of an array that data holds whole; of a larger one it holds the elements that change."""


@frozen(eq=False)
class Verdict:
    """One file with its verdict. ``truths`` are there if it was to be explained and states could be sampled."""

    file: str
    text: str
    schema: Schema
    edition: Edition
    vetted: Vetted
    compiled: CompiledProgram | None
    truths: tuple[Truth, ...] = ()
    pictures: tuple[Path, ...] = field(factory=tuple)

    @property
    def accepted(self) -> bool:
        """Whether it is a program that may stand in the archive."""
        return self.vetted.program is not None


def verdict_lines(verdict: Verdict, explain: bool, conditions: Sequence[str] = ()) -> list[Line]:
    """The verdict in a few lines, or with all that is known; ``conditions`` names those to be shown on states."""
    if verdict.vetted.refusal is not None:
        lines = refusal_lines(verdict.vetted.refusal, verdict.text, verdict.file, verdict.edition)
    else:
        lines = _accepted(verdict, explain)
    if verdict.truths:
        lines += [line(), *truth_lines(verdict.truths)]
        for truth in wanted(verdict.truths, conditions):
            lines += [line(), *witness_lines(truth, verdict.schema)]
    if verdict.pictures:
        lines += [line(), *(line(Piece("picture", "heading"), f": {visible(str(each))}") for each in verdict.pictures)]
    return lines


def _accepted(verdict: Verdict, explain: bool) -> list[Line]:
    program, compiled = verdict.vetted.program, verdict.compiled
    assert program is not None
    assert compiled is not None
    head = [
        line(Piece(f"{visible(verdict.file)}: ", "place"), Piece("accepted", "good"), f": {program.name}"),
        line(visible(program.description) if program.description else Piece("(no description)", "faint")),
    ]
    if explain:
        origins = lines_of(compiled, verdict.schema, verdict.edition)
        return [*head, line(), *program_lines(compiled, verdict.edition, origins, program.warnings)]
    lines = [*head, *short_lines(compiled, verdict.edition, program.warnings)]
    return lines if verdict.vetted.sampled is None else [*lines, _sampled(verdict.vetted.sampled)]


def _sampled(found: Sampled) -> Line:
    return line(
        Piece("sampled", "heading"),
        f"  success on {found.success_visited:,} of {found.visited:,} visited states, "
        f"{found.success_at_reset:,} of {found.resets:,} resets",
    )


# --- data ------------------------------------------------------------------------------------------------------------


def verdict_data(verdict: Verdict, explain: bool, conditions: Sequence[str] = ()) -> dict[str, Any]:
    """Everything as data for JSON. ``vetted`` is the outcome as a ledger holds it, ``explanation`` the text."""
    return {
        "file": verdict.file,
        "accepted": verdict.accepted,
        "vetted": plain_data(verdict.vetted),
        "refusal": _refusal_data(verdict),
        "program": _program_data(verdict),
        "truths": [_truth_data(each, verdict.schema) for each in verdict.truths],
        "pictures": [str(each) for each in verdict.pictures],
        "explanation": plain(verdict_lines(verdict, explain, conditions)),
    }


def _refusal_data(verdict: Verdict) -> dict[str, Any] | None:
    refusal = verdict.vetted.refusal
    if refusal is None:
        return None
    place = locate(refusal, verdict.text, verdict.edition)
    own = place is not None and place.own
    return {
        "kind": refusal.kind,
        "reason": refusal.reason,
        "suggestion": refusal.suggestion,
        "line": place.line if place is not None else None,
        "column": place.column if place is not None else None,
        "end_column": place.focus[1] + 1 if place is not None else None,
        "in": None if place is None else "file" if own else "normalised source",
    }


def _program_data(verdict: Verdict) -> dict[str, Any] | None:
    compiled, program = verdict.compiled, verdict.vetted.program
    if compiled is None:
        return None
    origins = lines_of(compiled, verdict.schema, verdict.edition)
    return {
        "name": compiled.name,
        "description": compiled.description,
        "grammar": verdict.edition.label,
        "source": compiled.source,
        "operations": plain(operation_lines(compiled, origins)).split("\n"),
        "operations_kept": operations_kept(compiled),
        "source_hash": compiled.source_hash,
        "meaning": compiled.meaning,
        "requires_meaning": compiled.requires_meaning,
        "requires": [
            {"condition": each.condition, "meaning": each.meaning, "prerequisite": each.prerequisite}
            for each in compiled.requires
        ],
        "budgets": [
            {"name": each.name, "meaning": each.meaning, "used": each.used, "allowed": each.allowed}
            for each in budgets(compiled, verdict.edition)
        ],
        "normalisations": list(compiled.normalisations),
        "warnings": list(compiled.warnings if program is None else program.warnings),
    }


def _truth_data(truth: Truth, schema: Schema) -> dict[str, Any]:
    return {
        "name": truth.name,
        "prerequisite": truth.prerequisite,
        "visited": truth.visited,
        "visited_true": truth.visited_true,
        "resets": truth.resets,
        "resets_true": truth.resets_true,
        "when_true": _witness_data(truth.when_true, schema),
        "when_false": _witness_data(truth.when_false, schema),
    }


def _witness_data(witness: Witness | None, schema: Schema) -> dict[str, Any] | None:
    if witness is None:
        return None
    return {
        "where": witness.where,
        "index": witness.index,
        "fresh": witness.fresh,
        "reads": [_reading_data(each) for each in witness.readings],
        "differs_from_true_in": [".".join((which, *path)) for which, path in witness.apart],
        "previous_picture": _picture_data(witness.previous, schema),
        "state_picture": _picture_data(witness.state, schema),
    }


def _reading_data(reading: Reading) -> dict[str, Any]:
    whole = reading.state.size <= MOST_ELEMENTS
    return {
        "field": reading.name,
        "of": list(reading.of),
        "previous": _numbers(reading.previous) if whole else None,
        "state": _numbers(reading.state) if whole else None,
        "changes": [
            {
                "at": at.tolist(),
                "previous": _numbers(reading.previous[tuple(at)]),
                "state": _numbers(reading.state[tuple(at)]),
            }
            for at in np.argwhere(reading.changed)
        ],
    }


def _numbers(value: np.ndarray) -> Any:
    """Nested lists of numbers; what is no finite number as text, since JSON has none."""
    array = np.asarray(value)
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        return np.where(np.isfinite(array), array.astype(object), array.astype(str).astype(object)).tolist()
    return array.tolist()


def _picture_data(view: Mapping[str, Any], schema: Schema) -> dict[str, Any] | None:
    picture = text_picture(view, schema)
    return None if picture is None else {"rows": [list(row) for row in picture.rows], "legend": dict(picture.legend)}


def summary(verdicts: Sequence[Verdict]) -> str:
    """How many of several files were accepted."""
    accepted = sum(each.accepted for each in verdicts)
    return f"{accepted} accepted, {len(verdicts) - accepted} refused"
