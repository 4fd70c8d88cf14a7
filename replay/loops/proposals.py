"""Propose, implement, judge, compile (paper 000, section 2.3): from categories to at most two vetted candidates."""

from __future__ import annotations

from attrs import evolve, frozen

from engine.archive.archive import View
from fm.parse import Fault
from fm.roles import implement, judge, propose, repair
from fm.roles.context import Context
from fm.roles.heuristics import CATEGORIES, Heuristic
from ledger.vocabulary.ask import Ask, Reply
from ledger.vocabulary.body import Body
from ledger.vocabulary.config import Config
from ledger.vocabulary.draw import Draw
from ledger.vocabulary.effect import Loop, do, side_by_side
from ledger.vocabulary.note import Failed, Judged, Note
from ledger.vocabulary.path import Path
from ledger.vocabulary.vet import Program, Refusal, Vetted
from replay.loops.answers import Inputs, answered
from replay.loops.vetting import vetting


@frozen
class Candidate:
    """One proposal on its way; ``fault`` says where it ended if it has no source."""

    label: str
    category: str
    proposal: propose.Proposal | None = None
    source: str | None = None
    ask: Ask | None = None
    reply: Reply | None = None
    vetted: Vetted | None = None
    fault: tuple[str, str] | None = None

    @property
    def name(self) -> str:
        """The accepted program's name, else the proposed one, else the label."""
        if self.vetted is not None and self.vetted.program is not None:
            return self.vetted.program.name
        return self.proposal.name if self.proposal is not None else self.label

    @property
    def description(self) -> str:
        """The proposed description; empty if the proposal could not be read."""
        return self.proposal.description if self.proposal is not None else ""

    def failed(self, stage: str, reason: str) -> Failed:
        """This candidate as a failed proposal."""
        return Failed(self.name, self.description, self.category, stage, reason)


@frozen
class Chosen:
    """A candidate that the judge picked and that compiles."""

    candidate: Candidate
    program: Program


def chosen_candidates(at: Path, view: View, context: Context, config: Config, inputs: Inputs) -> Loop[list[Chosen]]:
    """n candidates from n categories drawn uniformly with replacement, judged, and the chosen ones compiled.

    Every candidate that ends here is noted as a failed proposal with its stage and reason.
    """
    count = config.discovery.proposals
    uniform = (1.0,) * len(CATEGORIES)
    drawn = yield from do(Draw(at / "categories", "category", config.seed, uniform, count))
    candidates = yield from side_by_side(
        tuple(
            _candidate(at, k, CATEGORIES[index], view, context, config, inputs) for k, index in enumerate(drawn.indices)
        )
    )
    for candidate in candidates:
        if candidate.fault is not None:
            yield from do(Note(at / f"fate-{candidate.label}", candidate.failed(*candidate.fault)))
    implemented = [candidate for candidate in candidates if candidate.source is not None]
    if not implemented:
        return []
    labels = yield from _judged(at, implemented, context, config, inputs)
    chosen: list[Chosen] = []
    for candidate in implemented:
        if candidate.label not in labels:
            failed = candidate.failed("judge", "not chosen")
            yield from do(Note(at / f"fate-{candidate.label}", failed))
    for candidate in (each for label in labels for each in implemented if each.label == label):
        compiled = yield from _compiled(at, candidate, view, config, inputs)
        twin = next((other for other in chosen if _same(other.program, compiled)), None)
        if isinstance(compiled, Program) and twin is None:
            chosen.append(Chosen(candidate, compiled))
        elif isinstance(compiled, Program) and twin is not None:
            reason = f"same skill as {twin.program.name}, chosen in the same iteration"
            yield from do(Note(at / f"fate-{candidate.label}", candidate.failed("compile", reason)))
        elif isinstance(compiled, Refusal):
            failed = candidate.failed("compile", f"{compiled.kind}: {compiled.reason}")
            yield from do(Note(at / f"fate-{candidate.label}", failed))
    return chosen


def _same(left: Program, right: Program | Refusal) -> bool:
    return isinstance(right, Program) and (left.name == right.name or left.meaning == right.meaning)


def _candidate(
    at: Path, k: int, category: Heuristic, view: View, context: Context, config: Config, inputs: Inputs
) -> Loop[Candidate]:
    candidate = Candidate(label=f"candidate[{k}]", category=category.name)
    model = config.foundation_model
    proposed = yield from answered(
        propose.ask(at / f"propose[{k}]", context, category.name, inputs.library, model),
        lambda reply: propose.read(reply, view.names),
        config,
        inputs,
    )
    if isinstance(proposed.value, Fault):
        return evolve(candidate, fault=("propose", proposed.value.reason))
    candidate = evolve(candidate, proposal=proposed.value)
    written = yield from answered(
        implement.ask(at / f"implement[{k}]", context, proposed.value, inputs.library, model),
        implement.read,
        config,
        inputs,
    )
    candidate = evolve(candidate, ask=written.ask, reply=written.reply)
    if isinstance(written.value, Fault):
        return evolve(candidate, fault=("implement", written.value.reason))
    vetted = yield from do(vetting(at / f"vet[{k}]", written.value, view, config))
    return evolve(candidate, source=written.value, vetted=vetted)


def _judged(
    at: Path, implemented: list[Candidate], context: Context, config: Config, inputs: Inputs
) -> Loop[tuple[str, ...]]:
    shown = tuple(
        judge.Candidate(each.label, each.name, each.description, each.source or "", verdict_text(each.vetted))
        for each in implemented
    )
    labels = tuple(each.label for each in implemented)
    most = config.discovery.max_chosen
    answer = yield from answered(
        judge.ask(at / "judge", context, shown, most, inputs.library, config.foundation_model),
        lambda reply: judge.read(reply, labels, most),
        config,
        inputs,
    )
    if isinstance(answer.value, Fault):
        decision = Judged((), Body(f"the judge's answer could not be read: {answer.value.reason}"))
    else:
        decision = Judged(answer.value.chosen, Body(answer.value.reason))
    yield from do(Note(at / "judged", decision))
    return decision.chosen


def _compiled(at: Path, candidate: Candidate, view: View, config: Config, inputs: Inputs) -> Loop[Program | Refusal]:
    """The candidate's program; a refused one goes back to the implementor with the reason, at most three times."""
    assert candidate.vetted is not None
    assert candidate.ask is not None
    assert candidate.reply is not None
    assert candidate.source is not None
    vetted, ask, reply, source = candidate.vetted, candidate.ask, candidate.reply, candidate.source
    for attempt in range(1, config.discovery.max_repairs + 1):
        if vetted.program is not None:
            break
        assert vetted.refusal is not None
        ask = repair.ask(
            at / candidate.label / f"compile={attempt}",
            ask,
            reply,
            repair.explain(vetted.refusal, source),
            inputs.library,
            config.foundation_model,
        )
        reply = yield from do(ask)
        written = implement.read(reply)
        if isinstance(written, Fault):
            vetted = Vetted(None, Refusal("unreadable", 0, 0, written.reason))
        else:
            source = written
            vetted = yield from do(vetting(ask.path / "vet", source, view, config))
    if vetted.program is not None:
        return vetted.program
    assert vetted.refusal is not None
    return vetted.refusal


def refusal_text(refusal: Refusal) -> str:
    """A refusal as the model reads it: place, reason, suggestion."""
    place = f"line {refusal.line}, column {refusal.column}: " if refusal.line else ""
    hint = f" ({refusal.suggestion})" if refusal.suggestion else ""
    return f"{place}{refusal.reason}{hint}"


def verdict_text(vetted: Vetted | None) -> str:
    """A verdict as the judge reads it: accepted with warnings, or the refusal."""
    if vetted is None:
        return "not compiled"
    if vetted.program is None:
        assert vetted.refusal is not None
        return f"does not compile: {refusal_text(vetted.refusal)}"
    warnings = "".join(f"\n- warning: {warning}" for warning in vetted.program.warnings)
    return f"compiles{warnings}"
