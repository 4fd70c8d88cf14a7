"""Carrying the study's runs out: one run folder per trained arm and seed, resumable, checked like any other run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import define, evolve, field, frozen

from engine.worlds.registry import world
from ledger import reader
from ledger.vocabulary.config import Config
from ledger.vocabulary.evaluate import Evaluate, Evaluated
from ledger.vocabulary.events import AnyEffect, AnyOutcome, Fact, Session, Started
from ledger.vocabulary.path import Path as StepPath
from ledger.vocabulary.train import Train
from ledger.writer import Writer
from replay.config_file import load_all
from replay.progress import Display
from replay.runner.agents import Agents
from replay.runner.drive import Driver, LoopFactory, Replayed
from replay.runner.interrupt import Interrupted, Interrupts
from replay.runner.keeper import Keeper
from replay.runner.performers import Performers
from replay.runner.recording import Recording, load
from replay.runner.retention import FACT, Lineage, Retention
from replay.runner.use import LIVE, Use
from tests.studies.hand_written.counting import Counting, chains_of
from tests.studies.hand_written.loop import EVALUATED, FEWER, LOGIC, NAME, study
from tests.studies.hand_written.material import Material, documents, given
from tests.studies.hand_written.pace import Pace

if TYPE_CHECKING:
    from engine.train.core import TrainingCore

ROOT = Path(__file__).parents[3]
PROFILE = ROOT / "reproductions" / "craftax_classic", "cpu"
SETTINGS = (
    "grammar=sharp@2",
    "discovery.iterations=4",  # parts, with an evaluation after each
    "discovery.training_epochs=3",
    "evaluation.episodes=128",
    "evaluation.horizon=600",
)
"""On top of the profile ``cpu`` of the reproduction; the same for every arm."""
STEPS = 1_277_952
"""Environment steps of a training: twelve epochs of thirteen rollouts of 256 × 32 steps."""
CHECKPOINT_SECONDS = 60.0

LATEST = Lineage(tuple, lambda made, at: frozenset(made[-1:]))
"""Every step of the study's loop names the agent that was trained last."""


class Unsuitable(ValueError):
    """A folder that holds another experiment than the one asked for."""


@frozen
class Run:
    """One training with its evaluations, and where it is recorded."""

    arm: str
    config: Config
    directory: Path

    @property
    def seed(self) -> int:
        """The seed of everything random in it."""
        return self.config.seed

    @property
    def planned(self) -> tuple[int, int]:
        """Training steps and evaluated episodes per skill."""
        discovery = self.config.discovery
        episodes = self.config.evaluation.episodes
        steps = discovery.iterations * discovery.training_epochs * discovery.epoch_steps
        return steps, (discovery.iterations - 1) * (episodes // FEWER) + len(EVALUATED[self.arm]) * episodes


def config_of(seed: int, steps: int = STEPS, more: Sequence[str] = ()) -> Config:
    """The settings of a run of about ``steps`` training steps; whole rollouts, the same number in every epoch."""
    config = load_all(*PROFILE, (*SETTINGS, *more)).config
    epochs = config.discovery.iterations * config.discovery.training_epochs
    rollout = config.ppo.environments * config.ppo.rollout_steps
    epoch_steps = max(1, round(steps / epochs / rollout)) * rollout
    return evolve(config, seed=seed, discovery=evolve(config.discovery, epoch_steps=epoch_steps))


def create(run: Run, material: Material) -> None:
    """Begin a run's ledger, unless it is there.

    Raises:
        Unsuitable: if the folder holds a run of other settings or of another material.
    """
    started = Started(NAME, LOGIC, run.config, (), documents(run.arm, material))
    if (run.directory / "FORMAT").exists():
        if load(run.directory).started != started:
            raise Unsuitable(
                f"{run.directory} holds a run of other settings, skills or logic: give another --out, or the same ones"
            )
        return
    with Writer.create(run.directory) as writer:
        writer.append(started)
        writer.commit()


def factory_of(recording: Recording) -> LoopFactory:
    """The loop that a recorded run started with.

    Raises:
        Unsuitable: if it is no run of this study, or of another version of its logic.
    """
    started = recording.started
    if (started.loop, started.logic) != (NAME, LOGIC):
        raise Unsuitable(f"{recording.directory} is a run of {started.loop} ({started.logic}), not of {LOGIC}")
    arm, material = given(started.documents)
    return study(arm, material, world(started.config.world).schema)


@define
class StudyPerformers(Performers):
    """The project's performers; an evaluation of flat programs goes to a core whose world counts."""

    _counting: dict[str, TrainingCore] = field(factory=dict)
    done: Callable[[AnyEffect, AnyOutcome], None] = field(default=lambda effect, outcome: None)

    def perform(self, effect: AnyEffect) -> AnyOutcome:
        """As the project's, and tell ``done``."""
        outcome = Performers.perform(self, effect)
        self.done(effect, outcome)
        return outcome

    def _evaluate(self, effect: Evaluate) -> Evaluated:
        chains = chains_of(effect, world(effect.world).schema)
        if chains is None:
            return Performers._evaluate(self, effect)
        if chains.digest not in self._counting:
            from engine.train.core import TrainingCore

            counting = Counting(world(effect.world), chains)
            self._counting[chains.digest] = TrainingCore(counting, compiler=counting.compile)
        core = {effect.world: self._counting[chains.digest]}
        outcome = Performers(self.config, self.agents, self.display, self.interrupts, cores=core).perform(effect)
        assert isinstance(outcome, Evaluated)
        return outcome


@define
class Cores:
    """What is compiled, shared by the runs of one process."""

    plain: dict[str, TrainingCore] = field(factory=dict)
    counting: dict[str, TrainingCore] = field(factory=dict)


def carry_on(
    directory: Path, *, display: Display, interrupts: Interrupts, facts: tuple[Fact, ...], cores: Cores, pace: Pace
) -> Replayed | None:
    """Continue a run to its end; ``None`` if it is finished already.

    Only the latest agent's checkpoint is kept.

    Raises:
        Interrupted: if the user asked to stop; the ledger is kept.
    """
    recording = load(directory)
    if recording.finished is not None:
        return None
    agents = Agents()
    performers = StudyPerformers(
        recording.started.config,
        agents,
        display,
        interrupts,
        checkpoint_seconds=CHECKPOINT_SECONDS,
        resume_from=_under_way(recording),
        cores=cores.plain,
        counting=cores.counting,
        done=pace.done,
    )
    try:
        with Writer.open(directory) as writer:
            keeper = performers.keeper = Keeper(writer, Retention("last", LATEST))
            keeper.inherit(recording)
            kept = Fact(FACT, keeper.retention.policy)
            keeper.event(Session("run" if not recording.steps else "resume", (*facts, kept)))
            try:
                replayed = Driver(recording, performers, LIVE, keeper=keeper).drive(factory_of(recording))
            except Interrupted:
                writer.close("stopped")
                raise
            writer.close("finished")
    finally:
        agents.close()
    return replayed


def again(directory: Path, use: Use, *, display: Display, interrupts: Interrupts, cores: Cores) -> Replayed:
    """Drive a recorded run again under a use: ``DECIDE`` recomputes decisions, ``STRICT`` training and evaluation too.

    Raises:
        replay.runner.divergence.Stopped: at the first difference of ``STRICT``, or at one of structure.
    """
    recording = load(directory)
    agents = Agents()
    try:
        performers = StudyPerformers(
            recording.started.config, agents, display, interrupts, cores=cores.plain, counting=cores.counting
        )
        return Driver(recording, performers, use).drive(factory_of(recording))
    finally:
        agents.close()


def _under_way(recording: Recording) -> dict[StepPath, tuple[int, bytes]]:
    """The training that was interrupted, with its latest checkpoint."""
    done = {each.step.effect.path for each in recording.steps}
    return {
        path: (progress.done, reader.load_checkpoint(recording.directory, progress.checkpoint))
        for path, progress in recording.progress.items()
        if path not in done and progress.checkpoint is not None
    }


def work_left(run: Run) -> tuple[int, int]:
    """Training steps and evaluated episodes per skill that a run, started or not, still has to do."""
    steps, episodes = run.planned
    if not (run.directory / "FORMAT").exists():
        return steps, episodes
    for each in load(run.directory).steps:
        match each.step.effect:
            case Train(steps=trained):
                steps -= trained
            case Evaluate(episodes=evaluated):
                episodes -= evaluated
            case _:
                pass
    return steps, episodes
