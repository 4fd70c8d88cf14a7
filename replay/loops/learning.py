"""Training phases, learnability evaluation and admission (paper 000, sections 2.3 and 2.5)."""

from __future__ import annotations

from attrs import evolve, frozen

from engine.archive.archive import View, skill_of
from engine.curriculum.admission import chance_without_progress, learned
from engine.curriculum.matching import words
from ledger.vocabulary.config import Config
from ledger.vocabulary.effect import Loop, do
from ledger.vocabulary.embed import Embed
from ledger.vocabulary.evaluate import Evaluate, Evaluated, Target
from ledger.vocabulary.note import Admitted, Note, Practised, Rate, Rates
from ledger.vocabulary.path import Path
from ledger.vocabulary.train import Attempts, Skill, Train
from replay.loops.proposals import Chosen


@frozen
class Learnability:
    """What the learnability evaluation found: who entered the archive, and the copy that was trained."""

    admitted: tuple[str, ...]
    copy: Path


def practised(skills: tuple[Skill, ...], attempts: tuple[Attempts, ...]) -> tuple[Skill, ...]:
    """Skills with the success rates of the training phase that just ended.

    A skill that was no finished target in the phase keeps its earlier rate (not stated in the paper).
    """
    counts = {each.name: each for each in attempts}
    updated = []
    for skill in skills:
        count = counts.get(skill.name)
        if count is None or not count.attempts:
            updated.append(skill)
        else:
            updated.append(evolve(skill, successes=count.successes, attempts=count.attempts))
    return tuple(updated)


def phase(
    at: Path, agent: Path, skills: tuple[Skill, ...], epochs: int, config: Config
) -> Loop[tuple[Path, tuple[Skill, ...]]]:
    """Train for ``epochs`` epochs, one Train each, so that rho in B and in the rewards follows the agent."""
    for epoch in range(epochs):
        path = at / f"epoch={epoch}"
        trained = yield from do(
            Train(
                path=path,
                agent=agent,
                world=config.world,
                skills=skills,
                steps=config.discovery.epoch_steps,
                seed=config.seed,
                network=config.agent,
                ppo=config.ppo,
                routing=config.routing,
            )
        )
        agent, skills = path, practised(skills, trained.attempts)
    return agent, skills


def evaluation(
    path: Path, keys: Path, agent: Path, archive: tuple[Skill, ...], targets: tuple[Target, ...], config: Config
) -> Loop[Evaluated]:
    """Evaluate targets under a frozen agent with the configured episodes and horizon."""
    outcome = yield from do(
        Evaluate(
            path=path,
            agent=agent,
            world=config.world,
            archive=archive,
            targets=targets,
            episodes=config.evaluation.episodes,
            horizon=config.evaluation.horizon,
            seed=config.seed,
            keys=keys,
            network=config.agent,
            routing=config.routing,
        )
    )
    return outcome


def rates_of(evaluated: Evaluated) -> tuple[Rate, ...]:
    """The rows of an evaluation as rates, in their order."""
    return tuple(Rate(row.successes, row.episodes) for row in evaluated.rows)


def learnability(at: Path, view: View, agent: Path, chosen: list[Chosen], config: Config) -> Loop[Learnability]:
    """Train one copy on the archive with all chosen candidates; admit those that rose by at least tau (section 2.3)."""
    texts = tuple(words(each.program.name) for each in chosen)
    embedded = yield from do(Embed(at / "embed", config.embedding_model, texts))
    new = tuple(skill_of(each.program, vector) for each, vector in zip(chosen, embedded.vectors, strict=True))
    archive = view.skills() + new
    targets = tuple(Target(skill.name, skill) for skill in new)
    keys = at / "learnability"
    before = yield from evaluation(keys / "before", keys, agent, archive, targets, config)
    copy, _ = yield from phase(keys / "train", agent, archive, config.discovery.evaluation_epochs, config)
    after = yield from evaluation(keys / "after", keys, copy, archive, targets, config)
    admitted: list[str] = []
    for each, first, final in zip(chosen, rates_of(before), rates_of(after), strict=True):
        threshold = config.discovery.learning_progress
        path = at / f"fate-{each.candidate.label}"
        if learned(first, final, threshold):
            chance = chance_without_progress(first, final, threshold)
            yield from do(Note(path, Admitted(each.program, each.candidate.category, first, final, chance)))
            admitted.append(each.program.name)
        else:
            reason = (
                f"no learning progress: {first.successes}/{first.episodes} before, "
                f"{final.successes}/{final.episodes} after training"
            )
            failed = evolve(each.candidate.failed("learnability", reason), name=each.program.name)
            yield from do(Note(path, evolve(failed, before=first, after=final)))
    return Learnability(tuple(admitted), copy)


def archive_training(at: Path, view: View, agent: Path, config: Config) -> Loop[Path]:
    """Train the agent on the whole archive, then measure every skill on fresh evaluation episodes."""
    skills = view.skills()
    names = tuple(skill.name for skill in skills)
    agent, skills = yield from phase(at / "train", agent, skills, config.discovery.training_epochs, config)
    yield from do(
        Note(at / "practised", Practised(names, tuple(Rate(skill.successes, skill.attempts) for skill in skills)))
    )
    targets = tuple(Target(skill.name, skill) for skill in skills)
    evaluated = yield from evaluation(at / "evaluate", at / "evaluate", agent, skills, targets, config)
    yield from do(Note(at / "rates", Rates(names, rates_of(evaluated))))
    return agent
