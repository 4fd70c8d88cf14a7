"""The archive Lambda_t (paper 000, section 2.1): a pure fold over completed steps, never stored as state."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, singledispatch

from attrs import evolve, field, frozen

from engine.curriculum.matching import words
from ledger.vocabulary.body import Data
from ledger.vocabulary.config import Config
from ledger.vocabulary.embed import Embed, Embedded
from ledger.vocabulary.events import Step
from ledger.vocabulary.note import (
    Admitted,
    Adopted,
    Decision,
    Failed,
    Judged,
    Kept,
    Matched,
    Note,
    Practised,
    Rate,
    Rates,
)
from ledger.vocabulary.path import Path
from ledger.vocabulary.settings import Settings
from ledger.vocabulary.survey import Survey, Surveyed
from ledger.vocabulary.train import Skill
from ledger.vocabulary.vet import Known, Program

NO_EPISODES = Rate(0, 0)


class ArchiveError(ValueError):
    """A sequence of decisions that no run of the loop can produce."""


@frozen
class Version:
    """One version of a skill's program and the path of the decision that made it current."""

    program: Program
    decided_at: Path
    heuristic: str | None


@frozen
class Entry:
    """A skill sigma = <phi, psi, rho> (paper 000, section 2.2) with its history.

    ``evaluated`` comes from fresh evaluation episodes (admission, mutation, prompts), ``practised`` from attempts as
    target in the last training phase (sampling weight B and rewards).
    """

    program: Program
    category: str
    admitted_at: Path
    evaluated: Rate
    practised: Rate
    versions: tuple[Version, ...]

    @property
    def name(self) -> str:
        """The skill's name: what the agent is conditioned on."""
        return self.program.name

    @property
    def requires(self) -> tuple[str, ...]:
        """One prerequisite per condition, in the order of the initiation set."""
        return tuple(requirement.prerequisite for requirement in self.program.requires)


@frozen
class Failure:
    """A failed proposal as later prompts show it, with the place where it was decided."""

    failed: Failed
    decided_at: Path


@frozen
class View:
    """Everything a loop may know: folded exactly up to the step whose outcome it has been sent."""

    config: Config | None = None
    surveyed: Surveyed | None = None
    entries: tuple[Entry, ...] = ()
    failures: tuple[Failure, ...] = ()
    judged: tuple[tuple[Path, Judged], ...] = ()
    kept: tuple[tuple[Path, Kept], ...] = ()
    matched: Matched | None = None
    vectors: tuple[tuple[str, Data], ...] = field(default=(), repr=False)
    steps: int = 0

    @property
    def names(self) -> tuple[str, ...]:
        """Names of archived skills in the order of admission."""
        return tuple(entry.name for entry in self.entries)

    def entry(self, name: str) -> Entry:
        """The archived skill of that name.

        Raises:
            ArchiveError: if there is none.
        """
        for entry in self.entries:
            if entry.name == name:
                return entry
        raise ArchiveError(f"no skill named {name} in the archive")

    def vector(self, text: str) -> Data:
        """The recorded embedding of a text.

        Raises:
            ArchiveError: if the text was never embedded.
        """
        for known, vector in self.vectors:
            if known == text:
                return vector
        raise ArchiveError(f"{text!r} was never embedded in this run")

    def knows_vector(self, text: str) -> bool:
        """Whether the text was embedded before."""
        return any(known == text for known, _ in self.vectors)

    def known(self, sources: bool) -> tuple[Known, ...]:
        """What vetting needs of each archived skill; its source only where the language's edition asks for it."""
        return tuple(
            Known(
                entry.name,
                entry.program.meaning,
                entry.program.requires_meaning,
                entry.requires,
                entry.program.source if sources else None,
            )
            for entry in self.entries
        )

    def skills(self) -> tuple[Skill, ...]:
        """The archive as training and evaluation need it."""
        return tuple(skill_of(entry.program, self.vector(words(entry.name)), entry.practised) for entry in self.entries)

    def fold(self, step: Step) -> View:
        """The view after one more completed step; a new value, nothing is changed."""
        return _fold_step(step.effect, step, evolve(self, steps=self.steps + 1))


def skill_of(program: Program, vector: Data, practised: Rate = NO_EPISODES) -> Skill:
    """A program with its vector and rate in the form that Train and Evaluate take."""
    requires = tuple(requirement.prerequisite for requirement in program.requires)
    return Skill(program.name, program.source, requires, vector, practised.successes, practised.episodes)


@singledispatch
def _fold_step(effect: object, step: Step, view: View) -> View:
    return view


@_fold_step.register
def _(effect: Settings, step: Step, view: View) -> View:
    assert isinstance(step.outcome, Config)
    return evolve(view, config=step.outcome)


@_fold_step.register
def _(effect: Survey, step: Step, view: View) -> View:
    assert isinstance(step.outcome, Surveyed)
    return evolve(view, surveyed=step.outcome)


@_fold_step.register
def _(effect: Embed, step: Step, view: View) -> View:
    assert isinstance(step.outcome, Embedded)
    new = tuple(
        (text, vector)
        for text, vector in zip(effect.texts, step.outcome.vectors, strict=True)
        if not view.knows_vector(text)
    )
    return evolve(view, vectors=view.vectors + new)


@_fold_step.register
def _(effect: Note, step: Step, view: View) -> View:
    return _fold_decision(effect.decision, effect.path, view)


@singledispatch
def _fold_decision(decision: Decision, at: Path, view: View) -> View:
    raise ArchiveError(f"{type(decision).__name__} is no decision that the archive knows")


@_fold_decision.register
def _(decision: Judged, at: Path, view: View) -> View:
    return evolve(view, judged=(*view.judged, (at, decision)))


@_fold_decision.register
def _(decision: Admitted, at: Path, view: View) -> View:
    program = decision.program
    if program.name in view.names:
        raise ArchiveError(f"{program.name} was admitted twice")
    for requirement in program.requires:
        if requirement.prerequisite not in view.names:
            raise ArchiveError(f"{program.name} requires {requirement.prerequisite}, which is not in the archive")
    entry = Entry(
        program=program,
        category=decision.category,
        admitted_at=at,
        evaluated=decision.after,
        practised=NO_EPISODES,
        versions=(Version(program, at, None),),
    )
    return evolve(view, entries=(*view.entries, entry))


@_fold_decision.register
def _(decision: Failed, at: Path, view: View) -> View:
    return evolve(view, failures=(*view.failures, Failure(decision, at)))


@_fold_decision.register
def _(decision: Rates, at: Path, view: View) -> View:
    rates = dict(zip(decision.names, decision.rates, strict=True))
    return _with_entries(view, {name: partial(evolve, evaluated=rate) for name, rate in rates.items()})


@_fold_decision.register
def _(decision: Practised, at: Path, view: View) -> View:
    rates = dict(zip(decision.names, decision.rates, strict=True))
    return _with_entries(view, {name: partial(evolve, practised=rate) for name, rate in rates.items()})


@_fold_decision.register
def _(decision: Adopted, at: Path, view: View) -> View:
    program = decision.program
    version = Version(program, at, decision.heuristic)
    parent = view.entry(program.name)
    changed = evolve(parent, program=program, evaluated=decision.mutant, versions=(*parent.versions, version))
    return evolve(view, entries=tuple(changed if entry.name == program.name else entry for entry in view.entries))


@_fold_decision.register
def _(decision: Kept, at: Path, view: View) -> View:
    return evolve(view, kept=(*view.kept, (at, decision)))


@_fold_decision.register
def _(decision: Matched, at: Path, view: View) -> View:
    return evolve(view, matched=decision)


def _with_entries(view: View, changes: dict[str, Callable[[Entry], Entry]]) -> View:
    for name in changes:
        view.entry(name)
    return evolve(view, entries=tuple(changes.get(entry.name, _same)(entry) for entry in view.entries))


def _same(entry: Entry) -> Entry:
    return entry
