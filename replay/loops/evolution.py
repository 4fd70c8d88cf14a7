"""Archive evolution (paper 000, section 2.4): mutate one skill, evaluate without gradient steps, replace if better."""

from __future__ import annotations

from attrs import frozen

from engine.archive.archive import View, skill_of
from engine.curriculum.admission import best_mutant, mutation_weights
from engine.curriculum.matching import words
from fm.parse import Fault
from fm.roles import implement_mutation, mutate
from fm.roles.context import Context, SkillCard
from fm.roles.heuristics import MUTATION_HEURISTICS, Heuristic
from ledger.vocabulary.config import Config
from ledger.vocabulary.draw import Draw
from ledger.vocabulary.effect import Loop, do, side_by_side
from ledger.vocabulary.evaluate import Target
from ledger.vocabulary.note import Adopted, Kept, Note
from ledger.vocabulary.path import Path
from ledger.vocabulary.vet import Program
from replay.loops.answers import Inputs, answered
from replay.loops.learning import evaluation, rates_of
from replay.loops.prompting import card
from replay.loops.vetting import vetting


@frozen
class Mutant:
    """A mutation that compiles, with the heuristic that it was conditioned on."""

    label: str
    heuristic: str
    program: Program


def evolved(at: Path, view: View, agent: Path, context: Context, config: Config, inputs: Inputs) -> Loop[None]:
    """Draw a skill with P(k) proportional to 1 - rho_k, mutate it m times, keep the best strictly better version."""
    weights = mutation_weights([entry.evaluated for entry in view.entries])
    drawn = yield from do(Draw(at / "skill", "mutated skill", config.seed, weights))
    parent = view.entries[drawn.indices[0]]
    uniform = (1.0,) * len(MUTATION_HEURISTICS)
    count = config.discovery.mutations
    heuristics = yield from do(Draw(at / "heuristics", "mutation heuristic", config.seed, uniform, count))
    tried = yield from side_by_side(
        tuple(
            _mutant(at, k, MUTATION_HEURISTICS[index], card(parent), view, context, config, inputs)
            for k, index in enumerate(heuristics.indices)
        )
    )
    mutants = _distinct([mutant for mutant in tried if mutant is not None])
    archive = view.skills()
    vector = view.vector(words(parent.name))
    parent_skill = next(skill for skill in archive if skill.name == parent.name)
    if not mutants:
        yield from do(Note(at / "outcome", Kept(parent.name, parent.evaluated, None, 0)))
        return
    targets = (
        Target("parent", parent_skill),
        *(Target(each.label, skill_of(each.program, vector, parent.practised)) for each in mutants),
    )
    evaluated = yield from evaluation(at / "evaluate", at / "evaluate", agent, archive, targets, config)
    parent_rate, *mutant_rates = rates_of(evaluated)
    best = best_mutant(parent_rate, mutant_rates)
    if best is None:
        highest = max(mutant_rates, key=lambda rate: rate.successes)
        yield from do(Note(at / "outcome", Kept(parent.name, parent_rate, highest, len(mutants))))
    else:
        adopted = Adopted(mutants[best].program, mutants[best].heuristic, parent_rate, mutant_rates[best])
        yield from do(Note(at / "outcome", adopted))


def _distinct(mutants: list[Mutant]) -> list[Mutant]:
    first: dict[tuple[str, str], Mutant] = {}
    for mutant in mutants:
        first.setdefault((mutant.program.meaning, mutant.program.requires_meaning), mutant)
    return list(first.values())


def _mutant(
    at: Path,
    k: int,
    heuristic: Heuristic,
    parent: SkillCard,
    view: View,
    context: Context,
    config: Config,
    inputs: Inputs,
) -> Loop[Mutant | None]:
    model, may_change = config.foundation_model, config.discovery.mutation_may_change_success
    allowed = mutate.eligible(context, parent.name)
    mutation = yield from answered(
        mutate.ask(at / f"mutate[{k}]", context, parent, heuristic.name, inputs.library, model, may_change),
        lambda reply: mutate.read(reply, parent.name, allowed),
        config,
        inputs,
    )
    if isinstance(mutation.value, Fault):
        return None
    written = yield from answered(
        implement_mutation.ask(
            at / f"implement[{k}]", context, parent, mutation.value, inputs.library, model, may_change
        ),
        implement_mutation.read,
        config,
        inputs,
    )
    if isinstance(written.value, Fault):
        return None
    vetted = yield from do(
        vetting(at / f"vet[{k}]", written.value, view, config, replaces=parent.name, may_change_success=may_change)
    )
    return Mutant(f"mutant[{k}]", heuristic.name, vetted.program) if vetted.program is not None else None
