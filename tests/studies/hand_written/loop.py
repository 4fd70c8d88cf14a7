"""One run of the study as a generator of effects: vet, embed, train in parts, evaluate after each.

There are two runs per seed. ``routed`` trains on the skills, routed by T; ``flat_trained`` trains on their success
conditions alone. The agent of ``routed`` is evaluated in three ways on the same episodes: routed by T (``routed``),
along fixed chains (``flat_evaluated``), and conditioned on the target's name alone (``name_only``).
"""

from __future__ import annotations

from collections.abc import Callable

from attrs import evolve, frozen

from engine.archive.archive import View, skill_of
from engine.curriculum.matching import words
from engine.sharp.editions import edition_of
from engine.sharp.other_forms.flat import parse_flat
from engine.worlds.schema import Schema
from ledger.vocabulary.body import Body
from ledger.vocabulary.config import Config
from ledger.vocabulary.effect import Loop, do
from ledger.vocabulary.embed import Embed, Embedded
from ledger.vocabulary.evaluate import Target
from ledger.vocabulary.events import Finished
from ledger.vocabulary.path import Path
from ledger.vocabulary.settings import Settings
from ledger.vocabulary.train import UNTRAINED, Skill
from ledger.vocabulary.vet import Known, Program, Refusal, Vet
from replay.loops.learning import evaluation, phase
from tests.studies.hand_written.material import Material

NAME = "hand_written"
LOGIC = "hand_written@1"

ROUTED, FLAT_TRAINED = "routed", "flat_trained"
FLAT_EVALUATED, NAME_ONLY = "flat_evaluated", "name_only"
TRAINED = (ROUTED, FLAT_TRAINED)
"""What an agent is trained on: one run per seed each."""
EVALUATED = {ROUTED: (ROUTED, FLAT_EVALUATED, NAME_ONLY), FLAT_TRAINED: (FLAT_TRAINED,)}
"""The arms that a run's last agent is evaluated in."""

EPISODES = Path("evaluate")
"""Every evaluation takes its keys from here: all arms of a seed meet the same episodes."""

FEWER = 4
"""On the way, evaluations take this part of the episodes of the last one."""


@frozen
class Sets:
    """The three forms of the skills, as targets and as archives."""

    skills: tuple[Skill, ...]
    goals: tuple[Skill, ...]
    chains: tuple[Skill, ...]


def study(arm: str, material: Material, schema: Schema) -> Callable[[Callable[[], View]], Loop[Finished]]:
    """The loop of one run."""
    return lambda now: run(arm, material, schema)


def run(arm: str, material: Material, schema: Schema) -> Loop[Finished]:
    """Train one agent and evaluate it.

    ``discovery.iterations`` counts the parts of the training, ``discovery.training_epochs`` the epochs of each; success
    rates follow the agent from epoch to epoch.
    """
    config = yield from do(Settings(Path("settings")))
    sets = yield from prepared(material, schema, config)
    agent, trained = UNTRAINED, sets.skills if arm == ROUTED else sets.goals
    few = evolve(config, evaluation=evolve(config.evaluation, episodes=config.evaluation.episodes // FEWER))
    for part in range(config.discovery.iterations):
        at = Path(f"part={part}")
        agent, trained = yield from phase(at, agent, trained, config.discovery.training_epochs, config)
        if part < config.discovery.iterations - 1:
            yield from evaluation(at / arm, EPISODES, agent, *evaluated(arm, sets), few)
    for each in EVALUATED[arm]:
        yield from evaluation(Path(f"final/{each}"), EPISODES, agent, *evaluated(each, sets), config)
    return Finished(config.discovery.iterations, tuple(skill.name for skill in sets.skills), agent)


def evaluated(arm: str, sets: Sets) -> tuple[tuple[Skill, ...], tuple[Target, ...]]:
    """Archive and targets of an arm's evaluations."""
    archive = sets.skills if arm == ROUTED else sets.goals
    targets = sets.chains if arm == FLAT_EVALUATED else archive
    return archive, tuple(Target(skill.name, skill) for skill in targets)


def prepared(material: Material, schema: Schema, config: Config) -> Loop[Sets]:
    """Vet the texts and embed the names.

    Raises:
        ValueError: if a text is refused: the material is ours, so that is a fault of it.
    """
    programs = yield from vetted(Path("skills"), tuple(item.skill for item in material), config)
    goals = yield from vetted(Path("goals"), tuple(item.goal for item in material), config)
    names = tuple(words(program.name) for program in programs)
    embedded: Embedded = yield from do(Embed(Path("embed"), config.embedding_model, names))
    skills = tuple(skill_of(program, vector) for program, vector in zip(programs, embedded.vectors, strict=True))
    return Sets(
        skills,
        tuple(skill_of(program, vector) for program, vector in zip(goals, embedded.vectors, strict=True)),
        tuple(chain(item.chain, skill, skills, schema) for item, skill in zip(material, skills, strict=True)),
    )


def vetted(at: Path, texts: tuple[str, ...], config: Config) -> Loop[tuple[Program, ...]]:
    """Vet each text together with the ones before it."""
    programs: list[Program] = []
    sources = edition_of(config.grammar).counts_archive
    for index, text in enumerate(texts):
        archive = tuple(known(program, sources) for program in programs)
        verdict = yield from do(Vet(at / f"vet[{index}]", config.world, config.grammar, Body(text), archive))
        if verdict.program is None:
            raise ValueError(f"a program of the study was refused: {verdict.refusal}")
        programs.append(verdict.program)
    return tuple(programs)


def known(program: Program, sources: bool) -> Known:
    """What vetting needs of a program that was accepted before."""
    requires = tuple(each.prerequisite for each in program.requires)
    source = program.source if sources else None
    return Known(program.name, program.meaning, program.requires_meaning, requires, source)


def chain(text: str, skill: Skill, archive: tuple[Skill, ...], schema: Schema) -> Skill:
    """A skill's flat reward program in the form that an evaluation takes: its prerequisites are the chain's steps."""
    program = parse_flat(text, schema, tuple(Known(each.name, "", "", each.requires) for each in archive))
    if isinstance(program, Refusal) or program.name != skill.name:
        raise ValueError(f"no flat reward program of {skill.name}: {program}")
    return Skill(skill.name, Body(text), program.chain[:-1], skill.vector)
