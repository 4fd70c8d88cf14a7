"""Verdicts against an archive, and on sampled states."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from attrs import evolve

from engine.sharp.editions import LATEST
from engine.sharp.program import CompiledProgram
from engine.sharp.sampled import SampledViews
from engine.sharp.sharing import archive_work
from engine.sharp.vet import vet
from ledger.vocabulary.body import Body
from ledger.vocabulary.path import Path
from ledger.vocabulary.vet import Known, Program, Refusal, Vet, Vetted
from tests.engine.sharp.invented import SCHEMA, stacked
from tests.engine.sharp.programs import compiled, source_of

HAS_CLAY = "def clay(self, state):\n    return state.basket.clay >= 1"


def known(program: CompiledProgram) -> Known:
    """An archived skill."""
    requires = tuple(item.prerequisite for item in program.requires)
    return Known(program.name, program.meaning, program.requires_meaning, requires, Body(program.source))


REST = compiled("return state.resting and not previous.resting", name="Rest")
DIG = compiled(
    "return state.basket.clay > previous.basket.clay", name="Dig", requires='(lambda s: s.stamina > 2, "Rest")'
)
FIRE = compiled(
    "return state.basket.bricks > previous.basket.bricks", name="Fire", extra=HAS_CLAY, requires='(clay, "Dig")'
)
ARCHIVE = (known(REST), known(DIG), known(FIRE))


def effect_of(source: str, **keywords: Any) -> Vet:
    """A Vet effect against the archive above."""
    return Vet(Path("p"), "invented", "sharp@2", Body(source), keywords.pop("archive", ARCHIVE), **keywords)


def verdict(source: str, states: SampledViews | None = None, **keywords: Any) -> Vetted:
    """The verdict; exactly one of program and refusal is set."""
    found = vet(effect_of(source, **keywords), SCHEMA, states)
    assert (found.program is None) != (found.refusal is None)
    return found


def refusal(source: str, states: SampledViews | None = None, **keywords: Any) -> Refusal:
    """The refusal, or a failure."""
    found = verdict(source, states, **keywords).refusal
    assert found is not None
    return found


def accepted(source: str, states: SampledViews | None = None, **keywords: Any) -> Program:
    """The program, or a failure that shows the refusal."""
    found = verdict(source, states, **keywords)
    assert found.program is not None, found.refusal
    return found.program


def test_a_new_skill_is_accepted_with_everything_the_ledger_keeps() -> None:
    source = source_of("return state.basket.reeds > 3", name="Cut", requires='(lambda s: s.stamina > 2, "Rest")')
    program = accepted("```python\n" + source + "```")
    assert (program.name, program.description) == ("Cut", "A probe.")
    assert program.requires[0].prerequisite == "Rest"
    assert program.requires[0].meaning == DIG.requires[0].meaning
    assert "text outside the code block removed" in program.normalisations
    again = accepted(program.source.text)
    assert again.source_hash == program.source_hash
    assert again.source == program.source
    assert again.normalisations == tuple(
        item for item in program.normalisations if item != "text outside the code block removed"
    )


def test_a_broken_text_is_refused_by_the_compiler() -> None:
    assert refusal("class").kind == "syntax"


@pytest.mark.parametrize(
    ("source", "part", "hint"),
    [
        (source_of("return state.basket.reeds > 3", name="Rest"), "has a skill called Rest", "another name"),
        (
            source_of("return state.basket.reeds > 3", requires='(lambda s: s.resting, "Resst")'),
            "Resst is no skill",
            "did you mean Rest?",
        ),
        (
            source_of("return state.basket.reeds > 3", requires='(lambda s: s.resting, "Zzz")'),
            "Zzz is no skill",
            "Dig, Fire, Rest",
        ),
        (
            source_of("return state.basket.reeds > 3", requires='(lambda s: s.resting, "Probe")'),
            "requires itself",
            "before it",
        ),
        (
            source_of("return previous.basket.clay < state.basket.clay"),
            "other requirements as the skill Dig",
            "another success",
        ),
        (
            source_of("return not previous.resting and state.resting"),
            "is the same as the skill Rest",
            "another success",
        ),
    ],
)
def test_refused_by_the_archive(source: str, part: str, hint: str) -> None:
    found = refusal(source)
    assert found.kind == "archive"
    assert part in found.reason
    assert hint in str(found.suggestion)


def test_prerequisites_of_an_empty_archive() -> None:
    found = refusal(source_of("return state.resting", requires='(lambda s: s.stamina > 1, "Rest")'), archive=())
    assert "requires must be empty" in str(found.suggestion)


def mutant(text: str = "return state.basket.clay > previous.basket.clay", requires: str = "", **keywords: Any) -> str:
    """A rewriting of Dig."""
    return source_of(text, name=keywords.pop("name", "Dig"), requires=requires, **keywords)


def test_a_mutation_may_change_requirements() -> None:
    program = accepted(mutant(requires='(lambda s: s.stamina > 4, "Rest")'), replaces="Dig")
    assert program.meaning == DIG.meaning
    assert program.requires_meaning != DIG.requires_meaning
    assert accepted(mutant(), replaces="Dig").requires == ()


@pytest.mark.parametrize(
    ("source", "part"),
    [
        (mutant(name="Dug"), "keeps its name"),
        (mutant(requires='(lambda s: s.stamina >= 3, "Rest")'), "means the same as Dig"),
        (mutant("return state.basket.clay > 4"), "the success condition of Dig has changed"),
        (mutant(requires='(lambda s: s.stamina > 2, "Fire")'), "cycle: Dig requires Fire requires Dig"),
        (mutant(requires='(lambda s: s.stamina > 2, "Dig")'), "Dig requires itself"),
    ],
)
def test_a_mutation_is_refused(source: str, part: str) -> None:
    assert part in refusal(source, replaces="Dig").reason


def test_a_mutation_may_change_success_only_where_allowed() -> None:
    source = mutant("return state.basket.clay > 4", requires='(lambda s: s.stamina > 2, "Rest")')
    assert accepted(source, replaces="Dig", may_change_success=True).meaning != DIG.meaning
    twin = mutant("return state.resting and not previous.resting")
    assert "as the skill Rest" in refusal(twin, replaces="Dig", may_change_success=True).reason


def test_errors_of_the_caller_are_no_verdicts() -> None:
    with pytest.raises(ValueError, match="no such skill"):
        verdict(mutant(), replaces="Gone")
    with pytest.raises(ValueError, match="world"):
        vet(evolve(effect_of(mutant()), world="other"), SCHEMA)
    with pytest.raises(ValueError, match="there are sharp@1, sharp@2"):
        vet(evolve(effect_of(mutant()), grammar="sharp@9"), SCHEMA)


def heavy(name: str, salt: int) -> CompiledProgram:
    """A program of some nine thousand element operations, none of them shared with another salt's."""
    return compiled(
        f"return sum((state.field * k + {salt} == previous.field).sum() for k in range(2, 32)) > 40", name=name
    )


def test_the_archive_as_a_whole_has_a_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    """From the second edition on; equal parts count once, and the sources of the archive are what is counted."""
    programs = [heavy(f"Heavy{salt}", salt) for salt in range(3)]
    total = archive_work(programs, SCHEMA)
    archive = tuple(known(program) for program in programs[:2])
    for allowed, fits in ((total, True), (total - 1, False)):
        edition = evolve(LATEST, limits=evolve(LATEST.limits, archive_work=allowed))
        monkeypatch.setattr("engine.sharp.vet.edition_of", lambda label, edition=edition: edition)
        found = verdict(programs[2].source, archive=archive)
        assert (found.program is not None) is fits
        if found.refusal is not None:
            assert found.refusal.kind == "budget"
            assert f"{total - 1:,}" in found.refusal.reason
            assert found.refusal.line >= 1
        shared = verdict(heavy("Twin", 0).source.replace("> 40", "> 41"), archive=archive)
        assert shared.program is not None  # all but the comparison is there already
    without = tuple(evolve(item, source=None) for item in archive)
    assert verdict(programs[2].source, archive=without).program is not None


def test_a_replaced_skill_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    old = heavy("Heavy", 0)
    new = heavy("Heavy", 1)
    allowed = archive_work([new], SCHEMA)
    edition = evolve(LATEST, limits=evolve(LATEST.limits, archive_work=allowed))
    monkeypatch.setattr("engine.sharp.vet.edition_of", lambda label: edition)
    assert accepted(new.source, archive=(known(old),), replaces="Heavy", may_change_success=True).name == "Heavy"
    assert "archive is over" in refusal(heavy("Other", 2).source, archive=(known(old),)).reason


# --- sampled states --------------------------------------------------------------------------------------------------


def states_with(views: list[Any], resets: list[int], pairs: list[tuple[int, int]]) -> SampledViews:
    """States that differ in stamina only: at resets, and before and after transitions."""

    def at(stamina: int) -> Any:
        return {**views[0], "stamina": np.int32(stamina), "resting": np.bool_(False)}

    return SampledViews(
        stacked([at(value) for value in resets]),
        stacked([at(before) for before, _ in pairs]),
        stacked([at(after) for _, after in pairs]),
    )


def test_counts_by_hand(views: list[Any]) -> None:
    """Success is stamina > 5; the condition is stamina > 3. Resets 1..20 minus ones; transitions end at 2, 4, 6, 8."""
    states = states_with(views, [0] * 39 + [9], [(0, 2), (0, 4), (0, 6), (9, 8)])
    found = verdict(source_of("return state.stamina > 5", requires='(lambda s: s.stamina > 3, "Rest")'), states)
    assert found.sampled is not None
    assert (found.sampled.resets, found.sampled.success_at_reset) == (40, 1)
    assert (found.sampled.visited, found.sampled.success_visited) == (4, 2)
    assert found.sampled.conditions_visited == (3,)
    assert found.program is not None
    assert found.program.warnings == ()


@pytest.mark.parametrize(
    ("held", "outcome"), [(0, "fine"), (1, "warned"), (18, "warned"), (19, "refused"), (20, "refused")]
)
def test_success_at_resets(views: list[Any], held: int, outcome: str) -> None:
    """Of 20 resets: warned from 1 (5 %), refused from 19 (95 %)."""
    states = states_with(views, [9] * held + [0] * (20 - held), [(0, 2)])
    found = verdict(source_of("return state.stamina > 5"), states)
    assert found.sampled is not None
    if outcome == "refused":
        assert found.refusal is not None
        assert f"{held} of 20 resets" in found.refusal.reason
    else:
        assert found.program is not None
        assert any("of 20 resets" in text for text in found.program.warnings) == (outcome == "warned")


def test_a_condition_that_implies_success(views: list[Any]) -> None:
    states = states_with(views, [0], [(0, 2), (0, 6), (0, 8)])
    source = source_of(
        "return state.stamina > 5", requires='(lambda s: s.stamina > 7, "Rest"), (lambda s: s.stamina > 1, "Dig")'
    )
    warnings = accepted(source, states).warnings
    assert any("lambda[0] holds, success holds" in text for text in warnings)
    assert any("lambda[1] never fails on 3 sampled states" in text for text in warnings)
    assert len(warnings) == 2


def test_never_true_is_no_fault(views: list[Any]) -> None:
    states = states_with(views, [0], [(0, 1)])
    assert accepted(source_of("return state.stamina > 8"), states).warnings == ()


def test_success_at_a_reset_sees_the_reset_as_previous(views: list[Any]) -> None:
    states = states_with(views, [3, 5], [(0, 1)])
    found = verdict(source_of("return state.stamina > previous.stamina"), states)
    assert found.sampled is not None
    assert found.sampled.success_at_reset == 0
