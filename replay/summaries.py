"""One line about one event, for ``log``; texts are raw here, and made safe where they are printed."""

from __future__ import annotations

from collections.abc import Iterator
from functools import singledispatch
from typing import Any

from ledger.vocabulary.ask import Ask, Reply
from ledger.vocabulary.config import Config
from ledger.vocabulary.draw import Draw, Drawn
from ledger.vocabulary.embed import Embed, Embedded
from ledger.vocabulary.evaluate import Evaluate, Evaluated
from ledger.vocabulary.events import (
    AnyEffect,
    AnyOutcome,
    Arrived,
    Attempt,
    Event,
    Finished,
    Forked,
    Progress,
    Session,
    Started,
    Step,
)
from ledger.vocabulary.note import Admitted, Adopted, Failed, Judged, Kept, Matched, Note, Practised, Rate, Rates
from ledger.vocabulary.settings import Settings
from ledger.vocabulary.survey import Survey, Surveyed
from ledger.vocabulary.train import Train, Trained
from ledger.vocabulary.vet import Vet, Vetted

SHOWN_NAMES = 6


def kinds(event: Event) -> tuple[str, ...]:
    """What an event can be asked for as: its own kind, then its effect's, then its decision's."""
    found = [type(event).__name__]
    effect = effect_of(event)
    if effect is not None:
        found.append(type(effect).__name__)
        if isinstance(effect, Note):
            found.append(type(effect.decision).__name__)
    return tuple(found)


def kind(event: Event) -> str:
    """The most telling of :func:`kinds`: a step's decision or effect, such as ``Admitted``, else the event's own."""
    return kinds(event)[-1] if isinstance(event, Step) else type(event).__name__


def effect_of(event: Event) -> AnyEffect | None:
    """The effect that an event completes or attempts."""
    return event.effect if isinstance(event, Step | Attempt) else None


def path_of(event: Event) -> str:
    """The step's path; empty for events outside any step."""
    effect = effect_of(event)
    if effect is not None:
        return effect.path.text
    return event.path.text if isinstance(event, Arrived | Progress) else ""


def summary(event: Event) -> str:
    """One line; the length is not bounded, texts of others are in it as they are."""
    match event:
        case Started(loop=loop, logic=logic, config=config):
            return f"{loop} ({logic}) in {config.world}, seed {config.seed}, model {config.foundation_model.model}"
        case Step(effect=effect, outcome=outcome):
            return of_step(effect, outcome)
        case Finished(iterations=iterations, skills=skills, agent=agent):
            return f"{iterations} iterations, {len(skills)} skills, last agent {agent}"
        case Attempt(effect=effect):
            return f"sent: {_request(effect)}"
        case Arrived(outcome=outcome):
            return f"out of turn: {_reply(outcome) if isinstance(outcome, Reply) else type(outcome).__name__}"
        case Progress(done=done, total=total, checkpoint=checkpoint):
            return f"{done:,} of {total:,} steps" + (f", checkpoint {checkpoint[:12]}" if checkpoint else "")
        case Session(purpose=purpose, facts=facts):
            known = {fact.name: fact.value for fact in facts}
            shown = [known[name] for name in ("transport", "device", "source/commit") if name in known]
            return ", ".join([purpose, *shown, f"{len(facts)} facts"])
        case Forked(parent=parent, sequence=sequence):
            return f"from {parent} after event {sequence}"
    raise TypeError(f"{type(event).__name__} is no event")


def _request(effect: AnyEffect) -> str:
    if isinstance(effect, Ask):
        return f"{effect.role} ({effect.template}) to {effect.model}"
    return type(effect).__name__


def _reply(reply: Reply) -> str:
    if reply.refusal is not None:
        return f"refused: {reply.refusal}"
    if reply.content is None:
        return f"no content, {reply.finish}"
    text = reply.content.text
    return f"{len(reply.content.raw):,} bytes, {reply.finish}: {text.strip()}"


@singledispatch
def of_step(effect: Any, outcome: AnyOutcome) -> str:
    """One line about a completed step."""
    raise TypeError(f"{type(effect).__name__} is no effect")


@of_step.register
def _(effect: Settings, outcome: Config) -> str:
    return f"{outcome.discovery.iterations} iterations, seed {outcome.seed}"


@of_step.register
def _(effect: Survey, outcome: Surveyed) -> str:
    return f"{effect.world}: {outcome.package} {outcome.version}, {len(outcome.achievements)} achievements"


@of_step.register
def _(effect: Ask, outcome: Reply) -> str:
    return f"{effect.role} ({effect.template}): {_reply(outcome)}"


@of_step.register
def _(effect: Embed, outcome: Embedded) -> str:
    return f"{len(effect.texts)} texts by {effect.model}, {outcome.dimensions} dimensions: {_some(effect.texts)}"


@of_step.register
def _(effect: Vet, outcome: Vetted) -> str:
    if outcome.program is not None:
        warned = f", {len(outcome.program.warnings)} warnings" if outcome.program.warnings else ""
        return f"accepted {outcome.program.name}{warned}"
    refusal = outcome.refusal
    if refusal is None:
        return "neither accepted nor refused"
    place = f" at line {refusal.line}, column {refusal.column}" if refusal.line else ""
    return f"refused{place}: {refusal.kind}: {refusal.reason}"


@of_step.register
def _(effect: Draw, outcome: Drawn) -> str:
    return f"{effect.purpose}: {', '.join(map(str, outcome.indices))} of {len(effect.weights)}"


@of_step.register
def _(effect: Train, outcome: Trained) -> str:
    return (
        f"{outcome.steps:,} steps on {len(effect.skills)} skills, {outcome.episodes:,} episodes, "
        f"mean reward {outcome.mean_reward:.4g}, {outcome.seconds:.0f} s"
    )


@of_step.register
def _(effect: Evaluate, outcome: Evaluated) -> str:
    rows = [f"{row.label} {row.successes}/{row.episodes}" for row in outcome.rows]
    return f"agent {effect.agent}: {_some(rows)}"


@of_step.register
def _(effect: Note, outcome: Any) -> str:
    return of_decision(effect.decision)


def of_decision(decision: Any) -> str:
    """One line about a decision of the loop."""
    match decision:
        case Judged(chosen=chosen, reason=reason):
            return f"chose {_some(chosen) or 'nothing'}: {reason.text.strip()}"
        case Admitted(program=program, category=category, before=before, after=after, chance=chance):
            return f"{program.name} ({category}): {_of(before)} to {_of(after)}, by chance {chance:.3g}"
        case Failed(name=name, stage=stage, reason=reason):
            return f"{name} at {stage}: {reason}"
        case Rates(names=names, rates=rates) | Practised(names=names, rates=rates):
            return _some([f"{name} {_of(rate)}" for name, rate in zip(names, rates, strict=False)])
        case Adopted(program=program, heuristic=heuristic, parent=parent, mutant=mutant):
            return f"{program.name} replaced by {heuristic}: {_of(parent)} to {_of(mutant)}"
        case Kept(name=name, parent=parent, best_mutant=best, valid_mutants=valid):
            return f"{name} stays at {_of(parent)}: {valid} valid mutants, best {_of(best) if best else 'none'}"
        case Matched(achievements=achievements, skills=skills):
            return _some([f"{one} as {skill}" for one, skill in zip(achievements, skills, strict=False)])
    raise TypeError(f"{type(decision).__name__} is no decision")


def _of(rate: Rate) -> str:
    return f"{rate.successes}/{rate.episodes}"


def _some(names: Any) -> str:
    listed = list(names)
    more = f" and {len(listed) - SHOWN_NAMES} more" if len(listed) > SHOWN_NAMES else ""
    return ", ".join(map(str, listed[:SHOWN_NAMES])) + more


# --- which events concern a skill ------------------------------------------------------------------------------------


def skills_of(event: Event) -> frozenset[str]:
    """Names of skills that an event is about: decided, vetted, trained, evaluated, listed."""
    found = set(event.skills) if isinstance(event, Finished) else set()
    effect = effect_of(event)
    if effect is not None:
        found.update(_of_effect(effect))
    if isinstance(event, Step) and isinstance(event.outcome, Vetted) and event.outcome.program is not None:
        found.add(event.outcome.program.name)
    return frozenset(found)


def _of_effect(effect: AnyEffect) -> Iterator[str]:
    match effect:
        case Train(skills=skills):
            yield from (skill.name for skill in skills)
        case Evaluate(targets=targets):
            yield from (target.skill.name for target in targets)
        case Vet(replaces=str(parent)):
            yield parent
        case Note(decision=Admitted(program=program) | Adopted(program=program)):
            yield program.name
        case Note(decision=Failed(name=name) | Kept(name=name)):
            yield name
        case Note(decision=Rates(names=names) | Practised(names=names) | Matched(skills=names)):
            yield from names
        case _:
            pass


def under(path: str, prefix: str) -> bool:
    """Whether a path lies at or below a prefix, by whole segments: ``iteration=1`` is no prefix of ``iteration=12``."""
    return path == prefix or path.startswith(prefix.rstrip("/") + "/")
